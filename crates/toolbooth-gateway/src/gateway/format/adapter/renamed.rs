//! Requests to providers that do not accept all names of functions.

use serde_json::value::RawValue;

use crate::gateway::conversation::request::ChatRequest;
use crate::gateway::conversation::tool::{FunctionTool, Tool, ToolChoice};
use crate::gateway::conversation::{HistoryItem, Message, MessageBody, Turn};
use crate::gateway::error::Result;
use crate::gateway::format::adapter::{Format, Names};
use crate::gateway::raw_json::{parse, raw_items, to_raw};
use crate::wire::Json;
use toolbooth::json::Value;

/// The members of tools, choices, calls and items that lead to the names of functions.
const PLACES: &[&str] =
    &["function", "custom", "function_call", "tool_calls", "tools", "allowed_tools", "content"];

/// The members of requests in the formats of Responses and Messages with names of functions.
const NATIVE: &[&str] = &["tools", "tool_choice", "input", "messages"];

/// The request with the names that the provider accepts, wherever they are.
pub(in crate::gateway::format) fn renamed(
    request: &ChatRequest,
    format: Format,
    names: &Names,
) -> Result<ChatRequest> {
    let mut request = request.clone();
    for tool in &mut request.tools {
        rename_tool(tool, names)?;
    }
    match &mut request.tool_choice {
        Some(ToolChoice::Function(name)) => rename(name, names),
        Some(ToolChoice::Allowed { names: allowed, .. }) => {
            allowed.iter_mut().for_each(|name| rename(name, names));
        }
        Some(ToolChoice::Other(json)) => rename_text(json, names)?,
        None | Some(ToolChoice::None | ToolChoice::Auto | ToolChoice::Required) => {}
    }
    for item in &mut request.history {
        match item {
            HistoryItem::Message(message) => rename_message(message, names)?,
            // What the provider itself has written has its names.
            HistoryItem::Turn(Turn { message, results, .. }) => {
                rename_text(message, names)?;
                results.iter_mut().for_each(|result| rename(&mut result.name, names));
            }
        }
    }
    let Some(native) = &mut request.native else { return Ok(request) };
    native.unloaded.iter_mut().for_each(|name| rename(name, names));
    if native.format == format {
        for name in NATIVE {
            if let Some(json) = native.members.get_mut(name) {
                rename_items(json, names)?;
            }
        }
    }
    Ok(request)
}

fn rename(name: &mut String, names: &Names) {
    if let Some(sent) = names.sent(name) {
        sent.clone_into(name);
    }
}

fn rename_tool(tool: &mut Tool, names: &Names) -> Result<()> {
    match tool {
        Tool::Function(FunctionTool { name, written, .. }) => {
            rename(name, names);
            written.as_mut().map_or(Ok(()), |json| rename_raw(json, names))
        }
        Tool::Custom { name, json, .. } => {
            rename(name, names);
            rename_raw(json, names)
        }
        Tool::Hosted { .. } => Ok(()),
    }
}

fn rename_message(message: &mut Message, names: &Names) -> Result<()> {
    match &mut message.body {
        MessageBody::Assistant(assistant) => {
            for call in &mut assistant.calls {
                if let Some(sent) = names.sent(&call.name) {
                    call.name = sent.to_owned().into();
                }
            }
        }
        MessageBody::Result(result) => rename(&mut result.name, names),
        MessageBody::System(_) | MessageBody::Developer(_) | MessageBody::User(_) => return Ok(()),
    }
    message.written.as_mut().map_or(Ok(()), |json| rename_raw(json, names))
}

fn rename_text(json: &mut String, names: &Names) -> Result<()> {
    if names.are_in(json) {
        *json = written(json, names)?.text();
    }
    Ok(())
}

fn rename_raw(json: &mut Box<RawValue>, names: &Names) -> Result<()> {
    if names.are_in(json.get()) {
        *json = to_raw(&written(json.get(), names)?)?;
    }
    Ok(())
}

/// The same for each item of an array, so that the others stay as they were written.
fn rename_items(json: &mut Box<RawValue>, names: &Names) -> Result<()> {
    if !json.get().starts_with('[') {
        return rename_raw(json, names);
    }
    let mut items = Vec::new();
    for item in raw_items(Some(json)) {
        items.push(match names.are_in(item.get()) {
            true => Json::Value(written(item.get(), names)?),
            false => Json::from(item),
        });
    }
    *json = to_raw(&items)?;
    Ok(())
}

fn written<'t>(json: &'t str, names: &Names) -> Result<Value<'t>> {
    let mut value = parse(json, "the body")?;
    rename_in(&mut value, names);
    Ok(value)
}

/// Renames an object, and those that are at its [`PLACES`]: schemas and arguments may have the same names for something else.
fn rename_in(value: &mut Value<'_>, names: &Names) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| rename_in(item, names)),
        Value::Object(members) => members.retain(|name, value| {
            match value {
                Value::String(known) if name == "name" => {
                    if let Some(sent) = names.sent(known) {
                        *known = sent.to_owned().into();
                    }
                }
                value if PLACES.contains(&name) => rename_in(value, names),
                _ => {}
            }
            true
        }),
        _ => {}
    }
}
