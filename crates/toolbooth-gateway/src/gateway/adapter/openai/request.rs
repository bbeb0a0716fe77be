//! Requests to OpenAI and to providers with its format: the client's own, with as few changes as possible.

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::gateway::adapter::schema::ClientSchema;
use crate::gateway::adapter::{GatewayError, TranslateOptions};
use crate::gateway::fields::{Fields, Notes};
use crate::gateway::{ChatRequest, FunctionTool, HistoryItem, Role, Tool, ToolChoice, ids};
use crate::providers::openai::{PLAIN, STRICT};
use crate::wire::Json;
use crate::wire::openai::ToolMessage;
use crate::wire::openai::request::{
    AllowedChoice, Members, NamedFunction, Request, ToolChoice as Choice,
};
use toolbooth::json::{self, Value};

/// The members of an assistant message that OpenAI knows.
const MESSAGE_MEMBERS: &[&str] =
    &["role", "content", "refusal", "name", "audio", "function_call", "tool_calls"];

/// The members of a call that OpenAI knows.
const CALL_MEMBERS: &[&str] = &["id", "type", "function", "custom"];

/// The body of a request. `strict` is for OpenAI itself, which rejects members that it does not know.
pub(super) fn translate(
    request: &ChatRequest,
    options: &TranslateOptions<'_>,
    strict: bool,
    notes: &mut Notes,
) -> Result<Vec<u8>, GatewayError> {
    let mut body = Request { model: options.model, stream: options.stream, ..Request::default() };
    for (index, item) in request.history.iter().enumerate() {
        history_item(item, index, strict, &mut body.messages, notes)?;
    }
    for (index, tool) in request.tools.iter().enumerate() {
        body.tools.push(match tool {
            Tool::Function(function) if strict => function_tool(function, index, options, notes)?,
            Tool::Function(FunctionTool { json, .. }) | Tool::Other { json, .. } => {
                (&**json).into()
            }
        });
    }
    body.tools.extend(options.server_tools.iter().map(|json| Json::Text((*json).into())));
    let has_tools = !body.tools.is_empty();
    match &request.tool_choice {
        Some(choice) if has_tools => {
            body.tool_choice = Some(tool_choice(choice, options.may_force))
        }
        Some(_) => notes.drop_member("tool_choice"),
        None => {}
    }
    for (name, json) in &request.members {
        match name.as_str() {
            "parallel_tool_calls" if !has_tools => notes.drop_member(name),
            "stream_options" if options.stream => {}
            "stream_options" => notes.drop_member(name),
            _ => body.members.0.push((name.into(), (&**json).into())),
        }
    }
    if options.stream {
        let mut wanted = Members(vec![("include_usage".into(), Json::Value(Value::Bool(true)))]);
        if let Some(json) = request.member("stream_options") {
            let mut fields = Fields::of_json(json, String::new())?;
            fields.take("include_usage");
            let others = fields.into_object().into_iter();
            wanted.0.extend(others.map(|(name, value)| (name, Json::Value(value))));
        }
        body.stream_options = Some(wanted);
    }
    Ok(json::to_vec(&body))
}

fn parse(json: &RawValue) -> Result<Value<'_>, GatewayError> {
    json::parse_within(json.get(), &mut { usize::MAX })
        .map_err(|_| GatewayError::expected("the body", "valid JSON"))
}

fn history_item<'t>(
    item: &'t HistoryItem,
    index: usize,
    strict: bool,
    messages: &mut Vec<Json<'t>>,
    notes: &mut Notes,
) -> Result<(), GatewayError> {
    let turn = match item {
        HistoryItem::Message { role: Role::System | Role::Developer | Role::User, json } => {
            messages.push((&**json).into());
            return Ok(());
        }
        HistoryItem::Message { role: Role::Assistant, json } => {
            messages.push(assistant(json.get(), index, strict, notes)?);
            return Ok(());
        }
        HistoryItem::Message { role: Role::Tool, json } => {
            messages.push(tool_message(json, strict)?);
            return Ok(());
        }
        HistoryItem::Turn(turn) => turn,
    };
    messages.push(assistant(&turn.message, index, strict, notes)?);
    for result in &turn.results {
        let id = accepted_id(Cow::Borrowed(&result.call_id), strict);
        let message = ToolMessage::new(&id, result.content.as_str());
        messages.push(Json::Text(json::to_string(&message).into()));
    }
    Ok(())
}

/// The id of a call in a form that the provider accepts.
fn accepted_id(id: Cow<'_, str>, strict: bool) -> Cow<'_, str> {
    if strict { ids::portable(id) } else { ids::short(id) }
}

fn tool_message(json: &RawValue, strict: bool) -> Result<Json<'_>, GatewayError> {
    let Value::Object(mut message) = parse(json)? else { return Ok(json.into()) };
    let Some(Value::String(id)) = message.get("tool_call_id") else { return Ok(json.into()) };
    let accepted = accepted_id(id.clone(), strict);
    if accepted == *id {
        return Ok(json.into());
    }
    message.insert("tool_call_id".into(), Value::String(accepted));
    Ok(Value::Object(message).into())
}

/// An assistant message without what only the gateway or another provider understands.
fn assistant<'t>(
    json: &'t str,
    index: usize,
    strict: bool,
    notes: &mut Notes,
) -> Result<Json<'t>, GatewayError> {
    let value = json::parse_within(json, &mut { usize::MAX })
        .map_err(|_| GatewayError::expected("messages", "valid JSON"))?;
    let Value::Object(mut message) = value else { return Ok(Json::Text(json.into())) };
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
            notes.drop_member(&format!("{path}.{name}"));
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
                    notes.drop_member(&format!("{path}.tool_calls[].{name}"));
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
        return Ok(Json::Text(json.into()));
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
    notes: &mut Notes,
) -> Result<Json<'t>, GatewayError> {
    let unchanged = || Ok(Json::from(&*tool.json));
    let Some(schema) = ClientSchema::of_tool(tool, &format!("tools[{index}]")) else {
        return unchanged();
    };
    let target = if tool.strict { &STRICT } else { &PLAIN };
    let converted = schema.convert(target, true, options.target, notes)?;
    let Json::Value(parameters) = converted else { return unchanged() };
    let Value::Object(mut definition) = parse(&tool.json)? else { return unchanged() };
    if let Some(Value::Object(mut function)) = definition.take("function") {
        function.insert("parameters".into(), parameters);
        definition.insert("function".into(), Value::Object(function));
    }
    Ok(Value::Object(definition).into())
}

fn tool_choice(choice: &ToolChoice, may_force: bool) -> Choice<'_> {
    match choice {
        ToolChoice::None => Choice::Word("none"),
        ToolChoice::Required if may_force => Choice::Word("required"),
        ToolChoice::Function(name) if may_force => Choice::Function(NamedFunction::new(name)),
        ToolChoice::Other(json) if may_force => Choice::Verbatim(Json::Text(json.into())),
        ToolChoice::Allowed { required, names } => {
            Choice::Allowed(AllowedChoice::new(*required && may_force, names))
        }
        ToolChoice::Auto
        | ToolChoice::Required
        | ToolChoice::Function(_)
        | ToolChoice::Other(_) => Choice::Word("auto"),
    }
}
