//! Prompts: texts that a user can pick, declared in a tool's definition.

use serde_json::json;

use super::call::{self, Action};
use super::error::McpError;
use super::message::McpRequest;
use super::outcome::CallTarget;
use super::pagination;
use super::response::{Content, GetPromptResult, PromptMessage};
use super::skills;
use crate::call::{RequestContext, ToolSelector};
use crate::catalog::{Definition, ListForm, Listed, Prompt, PromptArgument, Rendering};
use crate::json::{Object, Value};
use crate::protocol::definition::{array, latest};
use crate::text::excerpt;

/// The prompts of each tool's latest version, for `prompts/list`.
pub(super) const LIST: ListForm = array("mcp-prompts", |it| latest(it, render));

/// The prompts with the ids of their tools and the names of their required arguments, for `prompts/get`.
pub(super) const TEXTS: ListForm = array("mcp-prompt-texts", |it| latest(it, render_declared));

/// `prompts/get`: the text of a prompt with its arguments filled in, or what its tool returns.
#[inline(never)]
pub(super) fn get<'t>(
    mut request: McpRequest<'t>,
    context: &RequestContext<'_>,
) -> Result<Action<'t>, McpError> {
    let prompt = find(&request.take_string("name")?, context)?;
    let member = |name: &str| prompt.get(name).and_then(Value::as_str);
    let description = member("description").unwrap_or_default();
    let arguments = call::arguments(&mut request)?;
    let text = match (member("text"), member("tool")) {
        (Some(text), Some(_)) => fill_in(&prompt, text, &arguments)?,
        // The braces of a skill are part of its text.
        (Some(text), None) => text.to_owned(),
        (None, tool) => {
            let target = CallTarget::Prompt { description: description.to_owned() };
            let tool = ToolSelector::Id(tool.unwrap_or_default().to_owned().into());
            return call::of_tool(request, context, tool, Value::Object(arguments), target);
        }
    };
    let messages = vec![PromptMessage::User { content: Content::text(text) }];
    let result = GetPromptResult { description, messages };
    Ok(Action::Respond(request.result(&result)))
}

/// The text of a prompt with the arguments in place of their names in braces.
fn fill_in(prompt: &Value<'_>, text: &str, arguments: &Object<'_>) -> Result<String, McpError> {
    let required = prompt.get("required").and_then(Value::texts).unwrap_or_default();
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        rest = after;
        let Some((name, after)) = after.split_once('}') else { continue };
        rest = after;
        let is_required = || required.iter().any(|it| it == name);
        let problem = match arguments.get(name).filter(|value| !value.is_null()) {
            Some(Value::String(value)) => {
                filled.push_str(value);
                continue;
            }
            None if !is_required() => continue,
            None => "is missing",
            Some(_) => "must be a string",
        };
        return Err(McpError::invalid_params(format!("The argument {name} {problem}")));
    }
    Ok(filled + rest)
}

/// The prompt of this name, if the caller may run its tool; or a skill, which has no tool.
pub(super) fn find(name: &str, context: &RequestContext<'_>) -> Result<Value<'static>, McpError> {
    let mut prompts = pagination::items(context, TEXTS.name)?;
    let found = prompts.find(|it| it.get("name").and_then(Value::as_str) == Some(name));
    let found = found.or_else(|| skills::prompt(name, context));
    found.ok_or_else(|| McpError::invalid_params(format!("Unknown prompt: {}", excerpt(name))))
}

/// Renders prompts without their texts, which are for `prompts/get`.
fn render(listed: &Listed<'_>) -> Rendering {
    pagination::render_items(
        listed
            .definition
            .prompts
            .iter()
            .map(|prompt| json!(Prompt { text: None, ..without_completions(prompt) })),
    )
}

fn render_declared(listed: &Listed<'_>) -> Rendering {
    let Definition { id, prompts, .. } = listed.definition;
    pagination::render_array(prompts.iter().map(|prompt| {
        let Prompt { name, description, text, arguments, .. } = prompt;
        let required = arguments.iter().filter(|it| it.required).map(|it| &it.name);
        json!({
            "tool": id,
            "name": name,
            "description": description,
            "text": text,
            "required": required.collect::<Vec<_>>(),
        })
    }))
}

/// Without what only completion needs.
fn without_completions(prompt: &Prompt) -> Prompt {
    let arguments = prompt.arguments.iter().cloned();
    let arguments = arguments.map(|it| PromptArgument { values: vec![], complete: None, ..it });
    Prompt { arguments: arguments.collect(), ..prompt.clone() }
}
