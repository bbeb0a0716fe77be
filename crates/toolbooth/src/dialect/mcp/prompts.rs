//! Prompts: words that a user can pick, given with a tool's definition.

use serde::Serialize;
use serde_json::{Value, json};

use super::message::Request;
use super::reply::{Code, Error, members};
use super::tools;
use crate::call::excerpt;
use crate::catalog::{ListForm, Listed, Prompt, PromptArgument, Rendering};
use crate::dialect::Posted;
use crate::http::Outbound;
use crate::json;

/// What `prompts/list` says: the prompts of the latest version of each tool.
pub(super) const LIST: ListForm = ListForm { name: "mcp-prompts", head: "[", tail: "]", entry };

/// The prompts whole, for `prompts/get`.
pub(super) const TEXTS: ListForm =
    ListForm { name: "mcp-prompt-texts", head: "[", tail: "]", entry: whole };

/// `prompts/list`.
pub(super) fn list(request: &Request, posted: &Posted<'_>) -> Result<Outbound, Error> {
    tools::page(request, posted, LIST.name, "prompts")
}

/// `prompts/get`: the prompt with its arguments in their places.
pub(super) fn get(request: &Request, posted: &Posted<'_>) -> Result<Outbound, Error> {
    let prompt = find(request.text("name")?, posted)?;
    let arguments = match request.params.get("arguments") {
        None => None,
        Some(Value::Object(arguments)) => Some(arguments),
        Some(_) => return Err(Error::new(Code::InvalidParams, "arguments must be an object")),
    };
    let mut text = String::new();
    for part in parts(text_of(&prompt, "text")) {
        let (before, name) = match part {
            Part::Words(words) => (words, None),
            Part::Argument(name) => ("", Some(name)),
        };
        text.push_str(before);
        let Some(name) = name else { continue };
        let is_required =
            argument(&prompt, name).and_then(|one| one.get("required")) == Some(&Value::Bool(true));
        match arguments.and_then(|arguments| arguments.get(name)) {
            Some(Value::String(value)) => text.push_str(value),
            None if !is_required => {}
            given => {
                let what = if given.is_some() { "must be a string" } else { "is missing" };
                let message = format!("The argument {name} {what}");
                return Err(Error::new(Code::InvalidParams, message));
            }
        }
    }
    Ok(request.complete(&members(&json!({
        "description": text_of(&prompt, "description"),
        "messages": [{ "role": "user", "content": { "type": "text", "text": text } }],
    }))))
}

/// The prompt `name`, if the caller may run its tool.
///
/// # Errors
/// There is no such prompt.
pub(super) fn find(name: &str, posted: &Posted<'_>) -> Result<Value, Error> {
    let page = posted.reading().page(TEXTS.name).map_err(Error::refused)?;
    // This crate has written it, at build time. The reader of strangers' JSON is linked anyway.
    let prompts = json::parse(page.body.as_bytes()).unwrap_or_default();
    named(&prompts, name).cloned().ok_or_else(|| {
        let message = format!("Unknown prompt: {}", excerpt(name));
        Error::new(Code::InvalidParams, message)
    })
}

/// The argument `name` of a prompt.
pub(super) fn argument<'a>(prompt: &'a Value, name: &str) -> Option<&'a Value> {
    named(prompt.get("arguments")?, name)
}

/// The one of a list that has this name.
fn named<'a>(list: &'a Value, name: &str) -> Option<&'a Value> {
    list.as_array()?.iter().find(|one| text_of(one, "name") == name)
}

fn text_of<'a>(object: &'a Value, name: &str) -> &'a str {
    object.get(name).and_then(Value::as_str).unwrap_or_default()
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
    rendered(listed, |prompt| json!(prompt))
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
