//! Prompts: words that a user can pick, given with a tool's definition.

use serde::Serialize;
use serde_json::{Value, json};

use super::message::McpRequest;
use super::reply::{Code, Error, members};
use super::result::{self, RunPurpose};
use super::{Step, tools};
use crate::call::{RequestContext, ToolSelector};
use crate::catalog::{ListForm, Listed, Prompt, PromptArgument, Rendering};
use crate::http::Response;
use crate::json::{self, Object};
use crate::text::excerpt;

/// What `prompts/list` says: the prompts of the latest version of each tool.
pub(super) const LIST: ListForm = ListForm { name: "mcp-prompts", head: "[", tail: "]", entry };

/// The prompts whole, for `prompts/get`.
pub(super) const TEXTS: ListForm =
    ListForm { name: "mcp-prompt-texts", head: "[", tail: "]", entry: whole };

/// `prompts/list`.
pub(super) fn list(
    request: &McpRequest<'_>,
    context: &RequestContext<'_>,
) -> Result<Response, Error> {
    tools::page(request, context, LIST.name, "prompts")
}

/// `prompts/get`: the prompt with its arguments in their places, or what its tool makes of them.
pub(super) fn get<'t>(
    mut request: McpRequest<'t>,
    context: &RequestContext<'_>,
) -> Result<Step<'t>, Error> {
    let (id, prompt) = find(request.text("name")?, context)?;
    let arguments = tools::arguments(&mut request)?;
    match &prompt.text {
        Some(text) => filled(&request, &prompt, text, &arguments).map(Step::Respond),
        None => {
            let purpose = RunPurpose::Prompt(prompt.description);
            let input = json::Value::Object(arguments);
            tools::run(request, context, ToolSelector::Id(id.into()), input, purpose)
        }
    }
}

/// The prompt with its arguments in their places.
fn filled(
    request: &McpRequest<'_>,
    prompt: &Prompt,
    text: &str,
    arguments: &Object<'_>,
) -> Result<Response, Error> {
    let mut filled = String::new();
    for part in parts(text) {
        let (before, name) = match part {
            Part::Words(words) => (words, None),
            Part::Argument(name) => ("", Some(name)),
        };
        filled.push_str(before);
        let Some(name) = name else { continue };
        let argument = prompt.arguments.iter().find(|argument| argument.name == name);
        match arguments.get(name) {
            Some(json::Value::String(value)) => filled.push_str(value),
            None if argument.is_none_or(|argument| !argument.required) => {}
            given => {
                let what = if given.is_some() { "must be a string" } else { "is missing" };
                let message = format!("The argument {name} {what}");
                return Err(Error::new(Code::InvalidParams, message));
            }
        }
    }
    let message = result::said(result::text(filled));
    Ok(request.complete(&members(&json::object([
        ("description", prompt.description.as_str().into()),
        ("messages", vec![message].into()),
    ]))))
}

/// The prompt `name` with the id of its tool, if the caller may run that.
///
/// # Errors
/// There is no such prompt.
pub(super) fn find(name: &str, context: &RequestContext<'_>) -> Result<(String, Prompt), Error> {
    let mut prompts = tools::each::<(String, Prompt)>(context, TEXTS.name)?;
    prompts.find(|(_, prompt)| prompt.name == name).ok_or_else(|| {
        let message = format!("Unknown prompt: {}", excerpt(name));
        Error::new(Code::InvalidParams, message)
    })
}

/// A piece of a prompt's text.
#[derive(Debug, PartialEq, Eq)]
enum Part<'a> {
    Words(&'a str),
    Argument(&'a str),
}

/// The pieces of a text in which `{name}` stands for an argument.
fn parts(text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        parts.push(Part::Words(before));
        match after.split_once('}') {
            Some((name, after)) => {
                parts.push(Part::Argument(name));
                rest = after;
            }
            None => rest = after,
        }
    }
    parts.push(Part::Words(rest));
    parts
}

fn entry(listed: &Listed<'_>) -> Rendering {
    #[derive(Serialize)]
    struct Shown<'a> {
        name: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<&'a str>,
        description: &'a str,
        arguments: Vec<Value>,
    }
    rendered(listed, |prompt| {
        let argument = |one: &PromptArgument| json!({ "name": one.name, "description": one.description, "required": one.required });
        json!(Shown {
            name: &prompt.name,
            title: prompt.title.as_deref(),
            description: &prompt.description,
            arguments: prompt.arguments.iter().map(argument).collect(),
        })
    })
}

fn whole(listed: &Listed<'_>) -> Rendering {
    rendered(listed, |prompt| json!([listed.definition.id, prompt]))
}

/// The prompts of a tool, with commas between.
fn rendered(listed: &Listed<'_>, one: impl Fn(&Prompt) -> Value) -> Rendering {
    let prompts = &listed.definition.prompts;
    if !listed.latest || prompts.is_empty() {
        return Rendering::LeftOut;
    }
    let texts: Vec<_> = prompts.iter().map(|prompt| one(prompt).to_string()).collect();
    Rendering::Fits { json: texts.join(","), warnings: Vec::new() }
}
