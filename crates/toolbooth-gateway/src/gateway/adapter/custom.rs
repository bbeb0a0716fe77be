//! Custom tools for providers that lack them: functions whose only argument is the text.

use serde_json::value::RawValue;

use super::{Format, Result};
use crate::gateway::raw_json::{nested, pair, parse, raw_member, to_raw};
use crate::gateway::{ChatRequest, FunctionTool, HistoryItem, Role, Tool, ToolChoice};
use toolbooth::json::{self, Rendered, Value};

/// The argument of such a function.
const INPUT: &str = "input";

/// The parameters of such a function.
const PARAMETERS: &str = r#"{"type":"object","properties":{"input":{"type":"string","description":"The input of the tool, as plain text."}},"required":["input"],"additionalProperties":false}"#;

/// The custom tools of a request that a provider with this format gets as functions.
pub(super) fn wrapped(request: &ChatRequest, format: Format) -> Vec<String> {
    let lacks_them = match format {
        Format::OpenAi | Format::Responses => false,
        // A client of the chat front writes for its provider, which may know them.
        Format::OpenAiCompatible => request.native.is_some(),
        Format::Anthropic | Format::Gemini | Format::WorkersAi => true,
    };
    let custom = request.tools.iter().filter(|_| lacks_them);
    let custom = custom.filter_map(|tool| match tool {
        Tool::Custom { name, .. } => Some(name.clone()),
        Tool::Function(_) | Tool::Hosted { .. } => None,
    });
    custom.collect()
}

/// The request with functions in place of custom tools and their calls.
pub(super) fn as_functions(request: &ChatRequest) -> Result<ChatRequest> {
    let mut request = request.clone();
    for tool in &mut request.tools {
        if let Tool::Custom { name, description, json } = tool {
            *tool = Tool::Function(function(name, description.as_deref(), json)?);
        }
    }
    for item in &mut request.history {
        match item {
            HistoryItem::Message { role: Role::Assistant, json } => {
                if let Some(changed) = assistant(json.get())? {
                    *json = to_raw(&changed)?;
                }
            }
            HistoryItem::Turn(turn) => {
                if let Some(changed) = assistant(&turn.message)? {
                    turn.message = changed.text();
                }
            }
            HistoryItem::Message { .. } => {}
        }
    }
    if let Some(ToolChoice::Other(json)) = &request.tool_choice {
        request.tool_choice = Some(choice(json)?);
    }
    Ok(request)
}

fn function(name: &str, description: Option<&str>, json: &RawValue) -> Result<FunctionTool> {
    let mut description = description.unwrap_or_default().to_owned();
    let grammar = |member| {
        let json = raw_member(json, &["custom", "format", "grammar", member])?;
        json::parse(json.get()).ok()?.as_str().map(str::to_owned)
    };
    if let Some(definition) = grammar("definition") {
        let syntax = grammar("syntax").unwrap_or_default();
        if !description.is_empty() {
            description.push_str("\n\n");
        }
        description.push_str(&format!(
            "The input must follow this grammar, whose syntax is {syntax}:\n{definition}"
        ));
    }
    let parameters = to_raw(&Rendered(PARAMETERS))?;
    FunctionTool::new(name.to_owned(), Some(description), Some(parameters), None, None)
}

/// An assistant message with functions in place of custom tools; `None` if it calls none.
fn assistant(json: &str) -> Result<Option<Value<'_>>> {
    if !json.contains("\"custom\"") {
        return Ok(None);
    }
    let Value::Object(mut message) = parse(json, "messages")? else { return Ok(None) };
    let Some(Value::Array(mut calls)) = message.take("tool_calls") else { return Ok(None) };
    for call in &mut calls {
        let Value::Object(call) = call else { continue };
        let Some(Value::Object(mut custom)) = call.take("custom") else { continue };
        let name = custom.take("name").unwrap_or_default();
        let input = nested(INPUT, custom.take("input").unwrap_or_default());
        let function = pair(("name", name), ("arguments", Value::String(input.text().into())));
        call.insert("type".into(), Value::from("function"));
        call.insert("function".into(), Value::Object(function));
    }
    message.insert("tool_calls".into(), Value::Array(calls));
    Ok(Some(Value::Object(message)))
}

/// A choice that names custom tools.
fn choice(json: &str) -> Result<ToolChoice> {
    let choice = parse(json, "tool_choice")?;
    let name = |tool: &Value<'_>| {
        let own = tool.get("custom").or_else(|| tool.get("function"))?;
        own.get("name")?.as_str().map(str::to_owned)
    };
    if let Some(name) = name(&choice) {
        return Ok(ToolChoice::Function(name));
    }
    let Some(allowed) = choice.get("allowed_tools") else {
        return Ok(ToolChoice::Other(json.to_owned()));
    };
    let tools = allowed.get("tools").and_then(Value::as_array).unwrap_or_default();
    let names = tools.iter().map(name).collect::<Option<Vec<_>>>();
    let required = allowed.get("mode").and_then(Value::as_str) == Some("required");
    Ok(match names {
        Some(names) => ToolChoice::Allowed { required, names },
        None => ToolChoice::Other(json.to_owned()),
    })
}

/// The text that a model has passed to such a function. What is not in its form is passed on as it is.
pub(in crate::gateway) fn input(arguments: &str) -> String {
    let value = json::parse(arguments).ok();
    let text = value.as_ref().and_then(|it| it.get(INPUT)).and_then(Value::as_str);
    text.map_or_else(|| arguments.to_owned(), str::to_owned)
}
