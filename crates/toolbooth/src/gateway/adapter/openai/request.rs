//! Requests to OpenAI and to providers with its format: the client's own, with as few changes as possible.

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::gateway::adapter::report::{Fields, Report};
use crate::gateway::adapter::schema::ClientSchema;
use crate::gateway::adapter::{TranslateError, TranslateOptions};
use crate::gateway::ids;
use crate::gateway::node::{Members, Node, members_of, object};
use crate::gateway::{ChatRequest, FunctionTool, HistoryItem, Role, Tool, ToolChoice};
use crate::json::{self, Value};
use crate::protocol::providers::openai::{PLAIN, STRICT};

/// The members of an assistant message that OpenAI knows.
const MESSAGE_MEMBERS: &[&str] =
    &["role", "content", "refusal", "name", "audio", "function_call", "tool_calls"];

/// The members of a call that OpenAI knows.
const CALL_MEMBERS: &[&str] = &["id", "type", "function", "custom"];

/// The body of a request. `strict` is for OpenAI itself, which rejects members that it does not know.
pub(in crate::gateway::adapter) fn translate<'t>(
    request: &'t ChatRequest,
    options: &TranslateOptions<'t>,
    strict: bool,
    report: &mut Report,
) -> Result<Members<'t>, TranslateError> {
    let mut body = members_of([("model", options.model.into())]);
    let mut messages = Vec::new();
    for (index, item) in request.history.iter().enumerate() {
        history_item(item, index, strict, &mut messages, report)?;
    }
    body.put("messages", messages);
    let mut tools = Vec::new();
    for (index, tool) in request.tools.iter().enumerate() {
        tools.push(match tool {
            Tool::Function(function) if strict => function_tool(function, index, options, report)?,
            Tool::Function(FunctionTool { json, .. }) | Tool::Other { json, .. } => raw(json),
        });
    }
    tools.extend(options.server_tools.iter().map(|json| Node::Raw((*json).into())));
    let has_tools = !tools.is_empty();
    if has_tools {
        body.put("tools", tools);
        let choice = request.tool_choice.as_ref();
        body.put_some("tool_choice", choice.map(|choice| tool_choice(choice, options.may_force)));
    } else if request.tool_choice.is_some() {
        report.drop_member("tool_choice");
    }
    for (name, json) in &request.members {
        match name.as_str() {
            "parallel_tool_calls" if !has_tools => report.drop_member(name),
            "stream_options" => {}
            _ => body.put(name.as_str(), raw(json)),
        }
    }
    let stream_options = request.members.iter().find(|(name, _)| name == "stream_options");
    if options.stream {
        let mut wanted = members_of([("include_usage", true.into())]);
        if let Some((name, json)) = stream_options {
            let mut fields = Fields::of(parse(json)?, name.clone())?;
            fields.take("include_usage");
            for (name, value) in fields.into_object() {
                wanted.put(name, value);
            }
        }
        body.put("stream", true);
        body.put("stream_options", wanted);
    } else if stream_options.is_some() {
        report.drop_member("stream_options");
    }
    Ok(body)
}

fn raw(json: &RawValue) -> Node<'_> {
    Node::Raw(json.get().into())
}

fn parse(json: &RawValue) -> Result<Value<'_>, TranslateError> {
    json::parse_within(json.get(), &mut { usize::MAX })
        .map_err(|_| TranslateError::expected("the body", "valid JSON"))
}

fn history_item<'t>(
    item: &'t HistoryItem,
    index: usize,
    strict: bool,
    messages: &mut Vec<Node<'t>>,
    report: &mut Report,
) -> Result<(), TranslateError> {
    let turn = match item {
        HistoryItem::Message { role: Role::System | Role::Developer | Role::User, json } => {
            messages.push(raw(json));
            return Ok(());
        }
        HistoryItem::Message { role: Role::Assistant, json } => {
            messages.push(assistant(json.get(), index, strict, report)?);
            return Ok(());
        }
        HistoryItem::Message { role: Role::Tool, json } => {
            messages.push(tool_message(json, strict)?);
            return Ok(());
        }
        HistoryItem::Turn(turn) => turn,
    };
    messages.push(assistant(&turn.message, index, strict, report)?);
    for result in &turn.results {
        messages.push(object([
            ("role", "tool".into()),
            ("tool_call_id", accepted_id(Cow::Borrowed(&result.call_id), strict).into()),
            ("content", result.content.as_str().into()),
        ]));
    }
    Ok(())
}

/// The id of a call in a form that the provider accepts.
fn accepted_id(id: Cow<'_, str>, strict: bool) -> Cow<'_, str> {
    if strict { ids::portable(id) } else { ids::short(id) }
}

fn tool_message(json: &RawValue, strict: bool) -> Result<Node<'_>, TranslateError> {
    let Value::Object(mut message) = parse(json)? else { return Ok(raw(json)) };
    let Some(Value::String(id)) = message.get("tool_call_id") else { return Ok(raw(json)) };
    let accepted = accepted_id(id.clone(), strict);
    if accepted == *id {
        return Ok(raw(json));
    }
    message.insert("tool_call_id".into(), Value::String(accepted));
    Ok(Value::Object(message).into())
}

/// An assistant message without what only the gateway or another provider understands.
fn assistant<'t>(
    json: &'t str,
    index: usize,
    strict: bool,
    report: &mut Report,
) -> Result<Node<'t>, TranslateError> {
    let value = json::parse_within(json, &mut { usize::MAX })
        .map_err(|_| TranslateError::expected("messages", "valid JSON"))?;
    let Value::Object(mut message) = value else { return Ok(Node::Raw(json.into())) };
    let mut is_changed = false;
    let path = format!("messages[{index}]");
    message.retain(|name, value| {
        let keep = match name {
            "_2api" => false,
            "tool_calls" => value.as_array().is_none_or(|calls| !calls.is_empty()),
            _ if is_gateway_only(name, value) => false,
            _ => !strict || MESSAGE_MEMBERS.contains(&name),
        };
        let is_own = matches!(name, "_2api" | "tool_calls") || is_gateway_only(name, value);
        if !keep && !value.is_null() && !is_own {
            report.drop_member(&format!("{path}.{name}"));
        }
        is_changed |= !keep;
        keep
    });
    if let Some(Value::Array(mut calls)) = message.take("tool_calls") {
        for call in &mut calls {
            let Value::Object(call) = call else { continue };
            call.retain(|name, value| {
                let keep = match name {
                    "index" => false,
                    _ if is_gateway_only(name, value) => false,
                    _ => !strict || CALL_MEMBERS.contains(&name),
                };
                let is_own = name == "index" || is_gateway_only(name, value);
                if !keep && !value.is_null() && !is_own {
                    report.drop_member(&format!("{path}.tool_calls[].{name}"));
                }
                is_changed |= !keep;
                keep
            });
            if let Some(Value::String(id)) = call.get("id") {
                let accepted = accepted_id(id.clone(), strict);
                if accepted != *id {
                    is_changed = true;
                    call.insert("id".into(), Value::String(accepted));
                }
            }
        }
        message.insert("tool_calls".into(), Value::Array(calls));
    }
    if !is_changed {
        return Ok(Node::Raw(json.into()));
    }
    Ok(Value::Object(message).into())
}

/// Whether this is an `extra_content` with nothing but what the gateway itself put there.
fn is_gateway_only(name: &str, value: &Value<'_>) -> bool {
    name == "extra_content"
        && value
            .as_object()
            .is_some_and(|members| members.iter().all(|(name, _)| name == "toolbooth"))
}

fn function_tool<'t>(
    tool: &'t FunctionTool,
    index: usize,
    options: &TranslateOptions<'_>,
    report: &mut Report,
) -> Result<Node<'t>, TranslateError> {
    let Some(parameters) = tool.parameters.as_deref() else { return Ok(raw(&tool.json)) };
    let schema = ClientSchema {
        json: parameters,
        owner: format!("Tool '{}'", tool.name),
        path: format!("tools[{index}].function.parameters"),
    };
    let target = if tool.strict { &STRICT } else { &PLAIN };
    let converted = schema.convert(target, true, options.target, report)?;
    if matches!(&converted, Node::Raw(Cow::Borrowed(text)) if *text == parameters.get()) {
        return Ok(raw(&tool.json));
    }
    let Value::Object(mut definition) = parse(&tool.json)? else { return Ok(raw(&tool.json)) };
    let mut members = Members::default();
    if let Some(Value::Object(function)) = definition.take("function") {
        let mut changed = Members::default();
        for (name, value) in function {
            match name.as_ref() {
                "parameters" => changed.put(name, converted.clone()),
                _ => changed.put(name, value),
            }
        }
        members.put("function", changed);
    }
    for (name, value) in definition {
        members.put(name, value);
    }
    Ok(members.into())
}

fn tool_choice(choice: &ToolChoice, may_force: bool) -> Node<'_> {
    let named = |name: &'_ str| {
        let name = Value::String(Cow::Owned(name.to_owned()));
        object([("type", "function".into()), ("function", object([("name", name.into())]))])
    };
    match choice {
        ToolChoice::None => "none".into(),
        ToolChoice::Auto => "auto".into(),
        ToolChoice::Required if may_force => "required".into(),
        ToolChoice::Function(name) if may_force => named(name),
        ToolChoice::Other(json) if may_force => Node::Raw(json.as_str().into()),
        ToolChoice::Required | ToolChoice::Function(_) | ToolChoice::Other(_) => "auto".into(),
        ToolChoice::Allowed { required, names } => {
            let mode = if *required && may_force { "required" } else { "auto" };
            let tools: Vec<Node<'_>> = names.iter().map(|name| named(name)).collect();
            let allowed = object([("mode", mode.into()), ("tools", tools.into())]);
            object([("type", "allowed_tools".into()), ("allowed_tools", allowed)])
        }
    }
}
