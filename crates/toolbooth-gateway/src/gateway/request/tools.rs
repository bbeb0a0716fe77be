//! The tools of a request, and which of them the model may call.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde_json::value::RawValue;

use super::{Fields, GatewayError, Notes, Result, items};
use crate::gateway::fields::raw_member;
use toolbooth::json::Value;
use toolbooth::schema::text::excerpt;

#[derive(Debug, Clone)]
pub(crate) enum Tool {
    Function(FunctionTool),
    /// A tool with plain text as input, which the client runs. Only OpenAI-compatible providers know it.
    Custom {
        name: String,
        description: Option<String>,
        json: Box<RawValue>,
    },
    /// A tool that the provider itself runs, such as `web_search` or `mcp`.
    Hosted {
        kind: String,
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
    pub json: Box<RawValue>,
}

/// An entry of `tools` that selects compiled-in tools: `{"type": "toolbooth", "allowed": ["Weather.*"],
/// "require_approval": "never"}`, or that of an MCP server with the `server_url` `toolbooth`.
#[derive(Debug, Clone)]
pub(crate) struct Selection {
    /// Where it is in the request.
    pub path: String,
    /// Ids, names or `Toolkit.*`; `None`: all tools that the caller may call.
    pub allowed: Option<Vec<String>>,
    pub approval: Approval,
}

/// Which calls the user must approve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Approval {
    Never,
    /// Those of tools that are not read-only: what applies if the entry says nothing.
    UnlessReadOnly,
    Always,
}

/// Which tools the model may or must call (2api.ai, 3.1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ToolChoice {
    None,
    Auto,
    Required,
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
) -> Result<(Vec<Tool>, Vec<Selection>)> {
    let (mut tools, mut selections) = (Vec::new(), Vec::new());
    let definitions = match definitions {
        None => return Ok((tools, selections)),
        Some(Value::Array(definitions)) => definitions,
        Some(_) => return Err(GatewayError::expected("tools", "an array")),
    };
    for (index, (json, definition)) in items(raw).into_iter().zip(definitions).enumerate() {
        let json = json.to_owned();
        let mut definition = Fields::of(definition, format!("tools[{index}]"), notes)?;
        let kind = definition.name("type", "\"function\"")?;
        let server = definition.get("server_url").and_then(Value::as_str);
        match kind.as_str() {
            "toolbooth" => selections.push(selection(definition, &[])?),
            "mcp" if server == Some("toolbooth") => {
                selections.push(selection(definition, MCP_MEMBERS)?);
            }
            "function" => tools.push(Tool::Function(function_tool(definition, json)?)),
            "custom" => {
                let mut custom = definition.required_fields("custom")?;
                let name = custom.name("name", "the tool's name")?;
                let description = custom.text("description")?.map(Cow::into_owned);
                tools.push(Tool::Custom { name, description, json });
            }
            _ => tools.push(Tool::Hosted { kind, json }),
        }
    }
    let mut names = BTreeSet::new();
    let repeated = tools.iter().filter_map(Tool::name).find(|name| !names.insert(*name));
    if let Some(name) = repeated {
        let message = format!("There are several tools named \"{}\"", excerpt(name));
        return Err(GatewayError::invalid("tools", message));
    }
    Ok((tools, selections))
}

/// The members of an entry for an MCP server that mean nothing here.
const MCP_MEMBERS: &[&str] = &["server_url", "server_label", "server_description"];

/// An entry that selects compiled-in tools. Members that are not known, apart from `ignored`, are an error: one of them could
/// be a misspelled `require_approval`.
fn selection(mut entry: Fields<'_>, ignored: &[&str]) -> Result<Selection> {
    let allowed = match entry.texts("allowed")? {
        None => entry.texts("allowed_tools")?,
        allowed => allowed,
    };
    let approval = match entry.text("require_approval")?.as_deref() {
        None => Approval::UnlessReadOnly,
        Some("never") => Approval::Never,
        Some("always") => Approval::Always,
        Some(_) => return entry.expected("require_approval", "never or always"),
    };
    for name in ignored {
        entry.take(name);
    }
    let path = entry.path.clone();
    entry.reject_others("allowed (or allowed_tools) and require_approval")?;
    Ok(Selection { path, allowed, approval })
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
    pub(crate) fn name(&self) -> Option<&str> {
        match self {
            Self::Function(tool) => Some(&tool.name),
            Self::Custom { name, .. } => Some(name),
            Self::Hosted { .. } => None,
        }
    }
}

/// `tool_choice` (2api.ai, 3.1).
pub(super) fn tool_choice(
    choice: Option<Value<'_>>,
    raw: Option<&RawValue>,
    tools: &[Tool],
    has_selections: bool,
) -> Result<Option<ToolChoice>> {
    const EXPECTED: &str = "\"none\", \"auto\", \"required\", a function or allowed_tools";
    let Some(value) = choice else { return Ok(None) };
    let json = raw.map_or("", RawValue::get);
    let choice =
        read_choice(&value, json).ok_or_else(|| GatewayError::expected("tool_choice", EXPECTED))?;
    let is_list = value.get("type").and_then(Value::as_str) == Some("allowed_tools");
    let allowed = value.get("allowed_tools").filter(|_| is_list);
    let allowed = allowed.and_then(|it| it.get("tools")?.as_array());
    if allowed.is_some_and(|allowed| allowed.iter().any(|it| it.as_object().is_none())) {
        return Err(GatewayError::expected("tool_choice", EXPECTED));
    }
    let mut chosen = allowed.unwrap_or(std::slice::from_ref(&value)).iter();
    if let Some(name) = chosen.find_map(|chosen| unknown(chosen, tools, has_selections)) {
        let message = format!("tool_choice names \"{}\", which is not in tools", excerpt(name));
        return Err(GatewayError::invalid("tool_choice", message));
    }
    Ok(Some(choice))
}

/// What a choice names that is not in `tools`: a name, or the type of a hosted tool. A function may also be one of this
/// server's tools, if some are selected.
fn unknown<'v>(chosen: &'v Value<'_>, tools: &[Tool], has_selections: bool) -> Option<&'v str> {
    let kind = chosen.as_object()?.get("type").and_then(Value::as_str).unwrap_or("function");
    let name = || chosen.get(kind)?.get("name")?.as_str();
    let (named, is_known) = match kind {
        "function" => {
            let name = name().unwrap_or(kind);
            let is_it = |tool: &Tool| matches!(tool, Tool::Function(it) if it.name == name);
            (name, has_selections || tools.iter().any(is_it))
        }
        "custom" => {
            let name = name().unwrap_or(kind);
            let is_it = |tool: &Tool| matches!(tool, Tool::Custom { name: it, .. } if it == name);
            (name, tools.iter().any(is_it))
        }
        _ => {
            let is_it = |tool: &Tool| matches!(tool, Tool::Hosted { kind: it, .. } if it == kind);
            (kind, tools.iter().any(is_it))
        }
    };
    (!is_known).then_some(named)
}

/// A choice, which is `json`; `None` if it is invalid.
fn read_choice(choice: &Value<'_>, json: &str) -> Option<ToolChoice> {
    let name = |value: &Value<'_>| Some(value.get("function")?.get("name")?.as_str()?.to_owned());
    if let Value::String(word) = choice {
        return match word.as_ref() {
            "none" => Some(ToolChoice::None),
            "auto" => Some(ToolChoice::Auto),
            "required" => Some(ToolChoice::Required),
            _ => None,
        };
    }
    match choice.get("type").and_then(Value::as_str) {
        Some("function") | None => Some(ToolChoice::Function(name(choice)?)),
        Some("allowed_tools") => {
            let allowed = choice.get("allowed_tools")?;
            let required = match allowed.get("mode")?.as_str()? {
                "auto" => false,
                "required" => true,
                _ => return None,
            };
            let mut names = Vec::new();
            for tool in allowed.get("tools")?.as_array()? {
                if tool.get("type").and_then(Value::as_str) != Some("function") {
                    return Some(ToolChoice::Other(json.to_owned()));
                }
                names.push(name(tool)?);
            }
            (!names.is_empty()).then_some(ToolChoice::Allowed { required, names })
        }
        Some(_) => Some(ToolChoice::Other(json.to_owned())),
    }
}
