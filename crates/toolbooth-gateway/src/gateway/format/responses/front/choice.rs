//! `tool_choice`: which tools the model may call.

use crate::gateway::conversation::tool::{Tool, ToolChoice};
use crate::gateway::error::{GatewayError, Result};
use crate::gateway::format::responses::front::tools::{SEARCH, Tools, flat_name};
use toolbooth::json::Value;
use toolbooth::schema::text::excerpt;

/// `tool_choice`.
/// `lost` of the tools gets those that it cannot express.
pub(super) fn tool_choice(
    choice: Option<Value<'_>>,
    tools: &mut Tools,
) -> Result<Option<ToolChoice>> {
    const EXPECTED: &str =
        "\"none\", \"auto\", \"required\", or an object with the type of a tool, or allowed_tools";
    let Some(choice) = choice else { return Ok(None) };
    if let Value::String(word) = &choice {
        return Ok(Some(match word.as_ref() {
            "none" => ToolChoice::None,
            "auto" => ToolChoice::Auto,
            "required" => ToolChoice::Required,
            _ => return Err(GatewayError::expected("tool_choice", EXPECTED)),
        }));
    }
    let expected = || GatewayError::expected("tool_choice", EXPECTED);
    if choice.get("type").and_then(Value::as_str) != Some("allowed_tools") {
        return Ok(Some(match chosen(&choice, tools)?.ok_or_else(expected)? {
            Chosen::Function(name) => ToolChoice::Function(name),
            Chosen::Custom(name) => ToolChoice::Other(custom_choice(&name)),
            Chosen::Server => ToolChoice::Required,
            Chosen::Hosted => ToolChoice::Other(choice.text()),
        }));
    }
    let required = match choice.get("mode").and_then(Value::as_str) {
        Some("auto") => false,
        Some("required") => true,
        _ => return Err(GatewayError::expected("tool_choice.mode", "auto or required")),
    };
    let listed = choice.get("tools").and_then(Value::as_array).unwrap_or_default();
    let mut names = Vec::new();
    for tool in listed {
        match chosen(tool, tools)?.ok_or_else(expected)? {
            Chosen::Function(name) | Chosen::Custom(name) => names.push(name),
            Chosen::Hosted | Chosen::Server => {
                let kind = tool.get("type").and_then(Value::as_str).unwrap_or_default();
                tools.lost.push(format!("tool_choice.tools[] ({})", excerpt(kind)));
            }
        }
    }
    if names.is_empty() {
        return Err(GatewayError::expected("tool_choice.tools", "an array with functions"));
    }
    Ok(Some(ToolChoice::Allowed { required, names }))
}

/// A tool that `tool_choice` names.
enum Chosen {
    Function(String),
    Custom(String),
    /// All of this server's tools.
    Server,
    /// One that the provider runs, or that only OpenAI's models know.
    Hosted,
}

/// The choice of a custom tool in the form of OpenAI Chat Completions.
fn custom_choice(name: &str) -> String {
    let own = Value::from(name).text();
    format!(r#"{{"type":"custom","custom":{{"name":{own}}}}}"#)
}

/// The tool that a choice names. The error: there is no such tool.
fn chosen(choice: &Value<'_>, tools: &Tools) -> Result<Option<Chosen>> {
    let text = |name| choice.get(name).and_then(Value::as_str);
    let Some(kind) = text("type") else { return Ok(None) };
    let name = text("name").map(|name| flat_name(text("namespace"), name));
    let unknown = |name: &str| {
        let message = format!("tool_choice names \"{}\", which is not in tools", excerpt(name));
        Err(GatewayError::invalid("tool_choice", message))
    };
    let is_own = tools.server.as_ref().is_some_and(|it| Some(&*it.label) == text("server_label"));
    Ok(match (kind, name) {
        ("mcp", None) if is_own => Some(Chosen::Server),
        ("mcp", Some(name)) if is_own => Some(Chosen::Function(name)),
        ("function" | "custom", None) => None,
        ("function" | "custom", Some(name)) => {
            let tool = tools.list.iter().find(|tool| tool.name() == Some(&*name));
            match tool {
                Some(Tool::Custom { .. }) => Some(Chosen::Custom(name)),
                Some(_) => Some(Chosen::Function(name)),
                None if !tools.selections.is_empty() => Some(Chosen::Function(name)),
                None => return unknown(&name),
            }
        }
        (SEARCH, _) if tools.list.iter().any(|tool| tool.name() == Some(SEARCH)) => {
            Some(Chosen::Function(SEARCH.to_owned()))
        }
        _ => {
            let is_known =
                |tool: &Tool| matches!(tool, Tool::Hosted { kind: known, .. } if known == kind);
            if !tools.client_run_types.contains(kind) && !tools.list.iter().any(is_known) {
                return unknown(kind);
            }
            Some(Chosen::Hosted)
        }
    })
}
