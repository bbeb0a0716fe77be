//! Custom tools for providers that lack them: functions whose only argument is the text.

use serde_json::value::RawValue;

use crate::gateway::conversation::request::ChatRequest;
use crate::gateway::conversation::tool::{FunctionTool, Tool, ToolChoice};
use crate::gateway::error::Result;
use crate::gateway::format::adapter::Format;
use crate::gateway::raw_json::{nested, parse, raw_member, to_raw};
use crate::wire::Json;
use toolbooth::json::{self, Rendered, Value};

/// The argument of such a function.
const INPUT: &str = "input";

/// The parameters of such a function.
const PARAMETERS: &str = r#"{"type":"object","properties":{"input":{"type":"string","description":"The input of the tool, as plain text."}},"required":["input"],"additionalProperties":false}"#;

/// Whether a provider with this format lacks custom tools.
pub(in crate::gateway::format) fn is_lacked(request: &ChatRequest, format: Format) -> bool {
    match format {
        Format::OpenAi | Format::Responses => false,
        // A client of the chat front writes for its provider, which may know them.
        Format::OpenAiCompatible => request.native.is_some(),
        Format::Anthropic | Format::Gemini | Format::WorkersAi => true,
    }
}

/// The custom tools of a request that a provider with this format gets as functions.
pub(in crate::gateway::format) fn wrapped(request: &ChatRequest, format: Format) -> Vec<String> {
    let custom = request.tools.iter().filter(|_| is_lacked(request, format));
    let custom = custom.filter_map(|tool| match tool {
        Tool::Custom { name, .. } => Some(name.clone()),
        Tool::Function(_) | Tool::Hosted { .. } => None,
    });
    custom.collect()
}

/// The arguments of a call of such a function.
pub(in crate::gateway::format) fn arguments(input: &str) -> Json<'static> {
    Json::Value(nested(INPUT, Value::String(input.to_owned().into())))
}

/// The function that stands for a custom tool.
pub(in crate::gateway::format) fn function(
    name: &str,
    description: Option<&str>,
    json: &RawValue,
) -> Result<FunctionTool> {
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
    Ok(FunctionTool {
        name: name.to_owned(),
        description: Some(description),
        parameters: Some(parameters),
        strict: None,
        cache_control: None,
        written: None,
    })
}

/// A choice that names custom tools.
pub(in crate::gateway::format) fn choice(json: &str) -> Result<ToolChoice> {
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
