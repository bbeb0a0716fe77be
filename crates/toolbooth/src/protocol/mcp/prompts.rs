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
use crate::json::{self, Object};
use crate::protocol::definition::{array, latest};
use crate::text::excerpt;

/// The prompts of each tool's latest version, for `prompts/list`.
pub(super) const LIST: ListForm = array("mcp-prompts", |it| latest(it, render));

/// The prompts as they are declared, with the id of their tool, for `prompts/get`.
pub(super) const TEXTS: ListForm = array("mcp-prompt-texts", |it| latest(it, render_declared));

/// `prompts/get`: the text of a prompt with its arguments filled in, or what its tool returns.
#[inline(never)]
pub(super) fn get<'t>(
    mut request: McpRequest<'t>,
    context: &RequestContext<'_>,
) -> Result<Action<'t>, McpError> {
    let (id, prompt) = find(&request.take_string("name")?, context)?;
    let arguments = call::arguments(&mut request)?;
    let Some(text) = &prompt.text else {
        let target = CallTarget::Prompt { description: prompt.description };
        let input = json::Value::Object(arguments);
        return call::of_tool(request, context, ToolSelector::Id(id.into()), input, target);
    };
    // The braces of a skill are part of its text.
    let text = if id.is_empty() { text.clone() } else { fill_in(&prompt, text, &arguments)? };
    let messages = vec![PromptMessage::User { content: Content::text(text) }];
    let result = GetPromptResult { description: &prompt.description, messages };
    Ok(Action::Respond(request.result(&result)))
}

/// The text of a prompt with the arguments in place of their names in braces.
fn fill_in(prompt: &Prompt, text: &str, arguments: &Object<'_>) -> Result<String, McpError> {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        rest = after;
        let Some((name, after)) = after.split_once('}') else { continue };
        rest = after;
        let is_required = || prompt.arguments.iter().any(|it| it.name == name && it.required);
        let problem = match arguments.get(name) {
            Some(json::Value::String(value)) => {
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

/// The prompt of this name and the id of its tool, if the caller may run the tool; or a skill, without an id.
pub(super) fn find(name: &str, context: &RequestContext<'_>) -> Result<(String, Prompt), McpError> {
    let mut prompts = pagination::items::<(String, Prompt)>(context, TEXTS.name)?;
    let found = prompts.find(|(_, prompt)| prompt.name == name);
    let found = found.or_else(|| Some((String::new(), skills::prompt(name, context)?)));
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
    pagination::render_items(prompts.iter().map(|prompt| json!([id, without_completions(prompt)])))
}

/// Without what only completion needs.
fn without_completions(prompt: &Prompt) -> Prompt {
    let arguments = prompt.arguments.iter().cloned();
    let arguments = arguments.map(|it| PromptArgument { values: vec![], complete: None, ..it });
    Prompt { arguments: arguments.collect(), ..prompt.clone() }
}
