//! The tools of a request, and which of them the model may call.

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::gateway::conversation::tool::{FunctionTool, Selection, Tool, ToolChoice};
use crate::gateway::error::{GatewayError, Result};
use crate::gateway::fields::Fields;
use crate::gateway::notes::Notes;
use crate::gateway::raw_json::raw_member;
use toolbooth::json::Value;
use toolbooth::schema::text::excerpt;

/// The client's tools, and the entries that select compiled-in tools.
pub(super) fn tools(
    definitions: Option<Value<'_>>,
    raw: Option<&RawValue>,
    notes: &Notes,
) -> Result<(Vec<Tool>, Vec<Selection>)> {
    let (mut tools, mut selections) = (Vec::new(), Vec::new());
    for definition in Fields::of_array(definitions, raw, "tools", notes)? {
        let (mut definition, json) = definition?;
        let json = json.to_owned();
        let kind = definition.name("type", "\"function\"")?;
        let server = definition.get("server_url").and_then(Value::as_str);
        match kind.as_str() {
            "toolbooth" => selections.push(selection(definition, "search", &[])?),
            "mcp" if server == Some("toolbooth") => {
                selections.push(selection(definition, "defer_loading", MCP_MEMBERS)?);
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
    Tool::check_names(&tools)?;
    Ok((tools, selections))
}

/// The members of an entry for an MCP server that mean nothing here.
const MCP_MEMBERS: &[&str] = &["server_url", "server_label", "server_description"];

/// An entry that selects compiled-in tools. Its `member` says whether the model must search for them. Members that are not known,
/// apart from `ignored`, are an error: one of them could be a misspelled `require_approval`.
fn selection(mut entry: Fields<'_>, member: &str, ignored: &[&str]) -> Result<Selection> {
    let allowed = match entry.texts("allowed")? {
        None => entry.tool_names("allowed_tools")?,
        allowed => allowed,
    };
    let approval = entry.approval()?;
    let search = entry.search(member)?;
    for name in ignored {
        entry.take(name);
    }
    let path = entry.path.clone();
    entry.reject_others(&format!("allowed (or allowed_tools), require_approval and {member}"))?;
    Ok(Selection { path, allowed, approval, search })
}

fn function_tool(mut definition: Fields<'_>, json: Box<RawValue>) -> Result<FunctionTool> {
    let of_definition = definition.take("cache_control");
    let mut function = definition.required_fields("function")?;
    let parameters = match function.take("parameters") {
        None => None,
        Some(Value::Object(_)) => raw_member(&json, &["function", "parameters"]),
        Some(_) => return function.expected("parameters", "a JSON Schema object"),
    };
    let parameters = parameters.map(RawValue::to_owned);
    let name = function.name("name", "the tool's name")?;
    let description = function.text("description")?.map(Cow::into_owned);
    let strict = function.boolean("strict")?;
    let cache_control = of_definition.or_else(|| function.take("cache_control"));
    let cache_control = cache_control.map(Value::into_owned);
    function.finish();
    definition.finish();
    let written = Some(json);
    Ok(FunctionTool { name, description, parameters, strict, cache_control, written })
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
    let read = read_choice(&value, raw.map_or("", RawValue::get));
    let (choice, chosen) = read.ok_or_else(|| GatewayError::expected("tool_choice", EXPECTED))?;
    // A function may also be one of this server's tools, if some are selected.
    let is_known = |(kind, name): &&(&str, &str)| {
        (has_selections && *kind == "function")
            || tools.iter().any(|tool| match tool {
                Tool::Function(function) => *kind == "function" && function.name == *name,
                Tool::Custom { name: known, .. } => *kind == "custom" && known == name,
                Tool::Hosted { kind: known, .. } => known == kind,
            })
    };
    if let Some((_, name)) = chosen.iter().find(|it| !is_known(it)) {
        let message = format!("tool_choice names \"{}\", which is not in tools", excerpt(name));
        return Err(GatewayError::invalid("tool_choice", message));
    }
    Ok(Some(choice))
}

/// A choice, which is `json`, with the kind and the name of each tool in it; `None` if it is invalid.
fn read_choice<'v>(
    choice: &'v Value<'_>,
    json: &str,
) -> Option<(ToolChoice, Vec<(&'v str, &'v str)>)> {
    if let Value::String(word) = choice {
        let choice = match word.as_ref() {
            "none" => ToolChoice::None,
            "auto" => ToolChoice::Auto,
            "required" => ToolChoice::Required,
            _ => return None,
        };
        return Some((choice, Vec::new()));
    }
    if choice.get("type").and_then(Value::as_str) != Some("allowed_tools") {
        let (kind, name) = chosen(choice)?;
        let choice = match kind {
            "function" => ToolChoice::Function(name.to_owned()),
            _ => ToolChoice::Other(json.to_owned()),
        };
        return Some((choice, vec![(kind, name)]));
    }
    let allowed = choice.get("allowed_tools")?;
    let required = match allowed.get("mode")?.as_str()? {
        "auto" => false,
        "required" => true,
        _ => return None,
    };
    let tools = allowed.get("tools")?.as_array()?.iter().map(chosen);
    let tools = tools.collect::<Option<Vec<_>>>().filter(|tools| !tools.is_empty())?;
    let choice = match tools.iter().all(|(kind, _)| *kind == "function") {
        true => {
            let names = tools.iter().map(|(_, name)| (*name).to_owned()).collect();
            ToolChoice::Allowed { required, names }
        }
        false => ToolChoice::Other(json.to_owned()),
    };
    Some((choice, tools))
}

/// The kind and the name of a tool in a choice. A tool that the provider runs has no name but its kind.
fn chosen<'v>(tool: &'v Value<'_>) -> Option<(&'v str, &'v str)> {
    let kind = tool.as_object()?.get("type").and_then(Value::as_str).unwrap_or("function");
    let name = tool.get(kind).and_then(|it| it.get("name")?.as_str());
    match kind {
        "function" => Some((kind, name?)),
        _ => Some((kind, name.unwrap_or(kind))),
    }
}
