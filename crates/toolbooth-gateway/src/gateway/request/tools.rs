//! The tools of a request, and which of them the model may call.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::{Fields, GatewayError, Notes, Result, items};
use crate::gateway::fields::raw_member;
use toolbooth::json::Value;
use toolbooth::schema::text::excerpt;

/// A tool that the client runs.
#[derive(Debug, Clone)]
pub(crate) enum Tool {
    Function(FunctionTool),
    /// A kind of tool that only OpenAI-compatible providers know, such as `custom`.
    Other {
        name: Option<String>,
        /// The whole definition.
        json: Box<RawValue>,
    },
}

/// A function that the client runs (2api.ai, 2.1).
#[derive(Debug, Clone)]
pub(crate) struct FunctionTool {
    pub name: String,
    pub description: Option<String>,
    /// The schema of its arguments; `None` if it has none.
    pub parameters: Option<Box<RawValue>>,
    /// Whether the provider must enforce the schema.
    pub strict: bool,
    /// The whole definition.
    pub json: Box<RawValue>,
}

/// Which tools the model may or must call (2api.ai, 3.1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ToolChoice {
    None,
    /// Any number of any.
    Auto,
    /// At least one of any.
    Required,
    /// This function.
    Function(String),
    /// Any number of these, or at least one.
    Allowed {
        required: bool,
        names: Vec<String>,
    },
    /// A choice that only OpenAI-compatible providers know, such as a custom tool: its JSON.
    Other(String),
}

impl ToolChoice {
    /// Whether the model must call a tool.
    pub(crate) fn forces_call(&self) -> bool {
        match self {
            Self::Required | Self::Function(_) | Self::Other(_) => true,
            Self::Allowed { required, .. } => *required,
            Self::None | Self::Auto => false,
        }
    }
}

/// The client's tools, and the entries that select compiled-in tools.
pub(super) fn tools(
    definitions: Option<Value<'_>>,
    raw: Option<&RawValue>,
    notes: &Notes,
) -> Result<(Vec<Tool>, Vec<Box<RawValue>>)> {
    let (mut tools, mut gateway_tools) = (Vec::new(), Vec::new());
    let definitions = match definitions {
        None => return Ok((tools, gateway_tools)),
        Some(Value::Array(definitions)) => definitions,
        Some(_) => return Err(GatewayError::expected("tools", "an array")),
    };
    for (index, (json, definition)) in items(raw).into_iter().zip(definitions).enumerate() {
        let json = json.to_owned();
        let mut definition = Fields::of(definition, format!("tools[{index}]"), notes)?;
        let kind = definition.name("type", "\"function\"")?;
        let server = definition.take("server_url");
        let is_this_server = server.as_ref().and_then(Value::as_str) == Some("toolbooth");
        match kind.as_str() {
            "toolbooth" => gateway_tools.push(json),
            "mcp" if is_this_server => gateway_tools.push(json),
            "function" => tools.push(Tool::Function(function_tool(definition, json)?)),
            kind => {
                let own = definition.take(kind);
                let name = own.and_then(|own| own.get("name")?.as_str().map(str::to_owned));
                tools.push(Tool::Other { name, json });
            }
        }
    }
    let mut names: Vec<&str> = tools.iter().filter_map(Tool::name).collect();
    names.sort_unstable();
    let repeated = names.windows(2).find_map(|pair| match pair {
        [one, other] if one == other => Some(*one),
        _ => None,
    });
    if let Some(name) = repeated {
        let message = format!("There are several tools named \"{}\"", excerpt(name));
        return Err(GatewayError::invalid("tools", message));
    }
    Ok((tools, gateway_tools))
}

fn function_tool(mut definition: Fields<'_>, json: Box<RawValue>) -> Result<FunctionTool> {
    let mut function = definition.required_fields("function")?;
    let parameters = match function.take("parameters") {
        None => None,
        Some(Value::Object(_)) => raw_member(&json, &["function", "parameters"]),
        Some(_) => return function.expected("parameters", "a JSON Schema object"),
    };
    Ok(FunctionTool {
        name: function.name("name", "the tool's name")?,
        description: function.text("description")?.map(Cow::into_owned),
        parameters: parameters.map(RawValue::to_owned),
        strict: function.boolean("strict")?.unwrap_or(false),
        json,
    })
}

impl Tool {
    /// Its name, if it has one.
    pub(crate) fn name(&self) -> Option<&str> {
        match self {
            Self::Function(tool) => Some(&tool.name),
            Self::Other { name, .. } => name.as_deref(),
        }
    }
}

/// `tool_choice` (2api.ai, 3.1).
pub(super) fn tool_choice(
    choice: Option<Value<'_>>,
    raw: Option<&RawValue>,
    tools: &[Tool],
    has_gateway_tools: bool,
) -> Result<Option<ToolChoice>> {
    const EXPECTED: &str = "\"none\", \"auto\", \"required\", a function or allowed_tools";
    let invalid = || GatewayError::expected("tool_choice", EXPECTED);
    let other = || ToolChoice::Other(raw.map(|json| json.get().to_owned()).unwrap_or_default());
    let choice = match choice {
        None => return Ok(None),
        Some(Value::String(word)) => match word.as_ref() {
            "none" => ToolChoice::None,
            "auto" => ToolChoice::Auto,
            "required" => ToolChoice::Required,
            _ => return Err(invalid()),
        },
        Some(Value::Object(choice)) => {
            let function = choice.get("function").and_then(|function| function.get("name"));
            let allowed = choice.get("allowed_tools");
            match choice.get("type").and_then(Value::as_str) {
                Some("function") | None if function.is_some() => {
                    let name = function.and_then(Value::as_str).ok_or_else(invalid)?;
                    ToolChoice::Function(name.to_owned())
                }
                Some("allowed_tools") => allowed_tools(allowed.ok_or_else(invalid)?)
                    .ok_or_else(invalid)?
                    .unwrap_or_else(other),
                Some("function") | None => return Err(invalid()),
                Some(_) => other(),
            }
        }
        Some(_) => return Err(invalid()),
    };
    let names: &[String] = match &choice {
        ToolChoice::Function(name) => std::slice::from_ref(name),
        ToolChoice::Allowed { names, .. } => names,
        ToolChoice::None | ToolChoice::Auto | ToolChoice::Required | ToolChoice::Other(_) => &[],
    };
    let is_unknown = |name: &&String| !tools.iter().any(|tool| tool.name() == Some(name.as_str()));
    if let Some(name) = names.iter().find(is_unknown).filter(|_| !has_gateway_tools) {
        let message = format!("tool_choice names \"{}\", which is not in tools", excerpt(name));
        return Err(GatewayError::invalid("tool_choice", message));
    }
    Ok(Some(choice))
}

/// `tool_choice.allowed_tools`; `None` if it is invalid, `Some(None)` if it has tools other than functions.
fn allowed_tools(allowed: &Value<'_>) -> Option<Option<ToolChoice>> {
    let required = match allowed.get("mode")?.as_str()? {
        "auto" => false,
        "required" => true,
        _ => return None,
    };
    let mut names = Vec::new();
    for tool in allowed.get("tools")?.as_array()? {
        if tool.get("type").and_then(Value::as_str) != Some("function") {
            return Some(None);
        }
        names.push(tool.get("function")?.get("name")?.as_str()?.to_owned());
    }
    if names.is_empty() {
        return None;
    }
    Some(Some(ToolChoice::Allowed { required, names }))
}
