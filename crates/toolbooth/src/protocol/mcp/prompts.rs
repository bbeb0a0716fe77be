//! Prompts: texts that a user can pick, declared in a tool's definition.

use serde::Serialize;
use serde_json::{Value, json};

use super::call::{self, Action};
use super::error::{ErrorCode, McpError};
use super::message::McpRequest;
use super::outcome::CallTarget;
use super::pagination::{self, ListPage};
use super::response::{CacheScope, Content, GetPromptResult, PromptMessage};
use crate::call::{RequestContext, ToolSelector};
use crate::catalog::{ListForm, Listed, Prompt, Rendering};
use crate::http::Response;
use crate::json::{self, Object, Rendered};
use crate::text::excerpt;

/// The prompts of each tool's latest version, for `prompts/list`.
pub(super) const LIST: ListForm =
    ListForm { name: "mcp-prompts", head: "[", tail: "]", entry: render };

/// The prompts as they are declared, with the id of their tool, for `prompts/get`.
pub(super) const TEXTS: ListForm =
    ListForm { name: "mcp-prompt-texts", head: "[", tail: "]", entry: render_declared };

/// `prompts/list`.
pub(super) fn list(
    request: &McpRequest<'_>,
    context: &RequestContext<'_>,
) -> Result<Response, McpError> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct ListPromptsResult<'a> {
        prompts: Rendered<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        next_cursor: Option<String>,
    }
    let ListPage { items, next_cursor } = pagination::page(request, context, &LIST)?;
    let result = ListPromptsResult { prompts: Rendered(&items), next_cursor };
    Ok(request.cacheable_result(&result, CacheScope::of(context.pipeline.same_for_all)))
}

/// `prompts/get`: the text of a prompt with its arguments filled in, or what its tool returns.
pub(super) fn get<'t>(
    mut request: McpRequest<'t>,
    context: &RequestContext<'_>,
) -> Result<Action<'t>, McpError> {
    let (id, prompt) = find(request.string("name")?, context)?;
    let arguments = call::arguments(&mut request)?;
    match &prompt.text {
        Some(text) => {
            let text = fill_in(&prompt, text, &arguments)?;
            let messages = vec![PromptMessage::user(Content::text(text))];
            let result = GetPromptResult { description: &prompt.description, messages };
            Ok(Action::Respond(request.result(&result)))
        }
        None => {
            let target = CallTarget::Prompt { description: prompt.description };
            let input = json::Value::Object(arguments);
            call::run(request, context, ToolSelector::Id(id.into()), input, target)
        }
    }
}

/// The text of a prompt with the arguments in place of their names.
fn fill_in(prompt: &Prompt, text: &str, arguments: &Object<'_>) -> Result<String, McpError> {
    let mut filled = String::new();
    for part in template_parts(text) {
        let name = match part {
            TemplatePart::Text(text) => {
                filled.push_str(text);
                continue;
            }
            TemplatePart::Argument(name) => name,
        };
        let argument = prompt.arguments.iter().find(|argument| argument.name == name);
        let problem = match arguments.get(name) {
            Some(json::Value::String(value)) => {
                filled.push_str(value);
                continue;
            }
            None if argument.is_none_or(|argument| !argument.required) => continue,
            None => "is missing",
            Some(_) => "must be a string",
        };
        let message = format!("The argument {name} {problem}");
        return Err(McpError::new(ErrorCode::InvalidParams, message));
    }
    Ok(filled)
}

/// The prompt of this name and the id of its tool, if the caller may run the tool.
///
/// # Errors
/// There is no such prompt.
pub(super) fn find(name: &str, context: &RequestContext<'_>) -> Result<(String, Prompt), McpError> {
    let mut prompts = pagination::items::<(String, Prompt)>(context, &TEXTS)?;
    prompts.find(|(_, prompt)| prompt.name == name).ok_or_else(|| {
        let message = format!("Unknown prompt: {}", excerpt(name));
        McpError::new(ErrorCode::InvalidParams, message)
    })
}

/// A part of a prompt's text.
#[derive(Debug, PartialEq, Eq)]
enum TemplatePart<'a> {
    Text(&'a str),
    Argument(&'a str),
}

/// The parts of a text in which `{name}` means an argument.
fn template_parts(text: &str) -> Vec<TemplatePart<'_>> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        parts.push(TemplatePart::Text(before));
        match after.split_once('}') {
            Some((name, after)) => {
                parts.push(TemplatePart::Argument(name));
                rest = after;
            }
            None => rest = after,
        }
    }
    parts.push(TemplatePart::Text(rest));
    parts
}

/// A prompt in `prompts/list`.
#[derive(Serialize)]
struct ListedPrompt<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
    description: &'a str,
    arguments: Vec<ListedArgument<'a>>,
}

#[derive(Serialize)]
struct ListedArgument<'a> {
    name: &'a str,
    description: &'a str,
    required: bool,
}

fn render(listed: &Listed<'_>) -> Rendering {
    render_each(listed, |prompt| {
        let arguments = prompt.arguments.iter().map(|argument| ListedArgument {
            name: &argument.name,
            description: &argument.description,
            required: argument.required,
        });
        json!(ListedPrompt {
            name: &prompt.name,
            title: prompt.title.as_deref(),
            description: &prompt.description,
            arguments: arguments.collect(),
        })
    })
}

fn render_declared(listed: &Listed<'_>) -> Rendering {
    render_each(listed, |prompt| json!([listed.definition.id, prompt]))
}

fn render_each(listed: &Listed<'_>, render: impl Fn(&Prompt) -> Value) -> Rendering {
    let prompts = listed.definition.prompts.iter().filter(|_| listed.latest);
    pagination::render_items(&prompts.map(render).collect::<Vec<_>>())
}
