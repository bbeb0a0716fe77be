//! Requests to OpenAI and to providers with its format: the client's own, with as few changes as possible.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::{from_anthropic, limit_member, results};
use crate::gateway::adapter::schema::ClientSchema;
use crate::gateway::adapter::{Job, Result};
use crate::gateway::raw_json::{parse, take_extra};
use crate::gateway::{
    ChatRequest, Fields, Format, FunctionTool, HistoryItem, Notes, Role, Tool, ToolChoice, ids,
};
use crate::providers::openai::{PLAIN, STRICT};
use crate::wire::openai::ToolMessage;
use crate::wire::openai::request::{AllowedTools, Name, Request, ToolChoice as Choice};
use crate::wire::{Json, Members};
use toolbooth::json::{self, Object, Value};

/// The members of an assistant message that OpenAI knows.
const MESSAGE_MEMBERS: &[&str] = &["role", "content", "refusal", "name", "audio", "tool_calls"];

/// The members of a call that OpenAI knows.
const CALL_MEMBERS: &[&str] = &["id", "type", "function", "custom"];

/// The body of a request. `strict` is for OpenAI itself, which rejects members that it does not know.
pub(super) fn translate(job: &Job<'_>, strict: bool) -> Result<Vec<u8>> {
    let Job { request, options, notes, .. } = job;
    // A client of Chat Completions writes for its provider.
    let rewritten = match &request.native {
        Some(native) if native.format == Format::Anthropic => {
            Some(from_anthropic::rewrite(job, strict)?)
        }
        Some(_) if results::have_parts(&request.history) => {
            let history = results::show(request.history.clone())?;
            Some(ChatRequest { history, native: None, ..(*request).clone() })
        }
        _ => None,
    };
    if let Some(request) = rewritten {
        return translate(&Job { request: &request, names: job.names.clone(), ..*job }, strict);
    }
    let mut body = Request { model: options.model, stream: options.stream, ..Request::default() };
    for (index, item) in request.history.iter().enumerate() {
        history_item(item, index, strict, &mut body.messages, notes)?;
    }
    for (index, tool) in request.tools.iter().enumerate() {
        body.tools.push(match tool {
            Tool::Function(function) if strict => function_tool(function, index, job)?,
            tool => tool.json().into(),
        });
    }
    body.tools.extend(job.server_tools());
    let has_tools = !body.tools.is_empty();
    match &request.tool_choice {
        Some(choice) if has_tools => {
            body.tool_choice = Some(tool_choice(choice, options.may_force))
        }
        Some(_) => notes.drop_member("tool_choice"),
        None => {}
    }
    let limit = limit_member(strict);
    let has_limit = |name: &str| request.members.get(name).is_some();
    let must_obey = options.max_output_tokens.is_some() || options.needs_limit;
    let is_renamed = must_obey && !strict && !has_limit(limit);
    for (name, json) in request.members.iter() {
        match name {
            "max_completion_tokens" if is_renamed => {
                body.members.0.push((limit.into(), json.into()));
            }
            "parallel_tool_calls" if !has_tools => notes.drop_member(name),
            "stream_options" if options.stream => {}
            "stream_options" => notes.drop_member(name),
            _ => body.members.0.push((name.into(), json.into())),
        }
    }
    let is_limited = ["max_completion_tokens", "max_tokens"].into_iter().any(has_limit);
    if let Some(most) = options.max_output_tokens.filter(|_| !is_limited) {
        body.members.0.push((limit.into(), Json::Value(Value::Number(most.into()))));
    }
    if options.stream {
        let mut wanted = Members(vec![("include_usage".into(), Json::Value(Value::Bool(true)))]);
        if let Some(json) = request.members.get("stream_options") {
            let mut fields = Fields::of_json(json.get(), String::new(), notes)?;
            fields.take("include_usage");
            let others = fields.into_object().into_iter();
            wanted.0.extend(others.map(|(name, value)| (name, Json::Value(value))));
        }
        body.stream_options = Some(wanted);
    }
    Ok(json::to_vec(&body))
}

fn history_item<'t>(
    item: &'t HistoryItem,
    index: usize,
    strict: bool,
    messages: &mut Vec<Json<'t>>,
    notes: &Notes,
) -> Result<()> {
    match item {
        HistoryItem::Message { role: Role::System | Role::Developer | Role::User, json } => {
            messages.push((&**json).into());
        }
        HistoryItem::Message { role: Role::Assistant, json } => {
            messages.push(assistant(json.get(), index, strict, notes)?);
        }
        HistoryItem::Message { role: Role::Tool, json } => {
            messages.push(tool_message(json, strict)?);
        }
        HistoryItem::Turn(turn) => {
            messages.push(assistant(&turn.message, index, strict, notes)?);
            for result in &turn.results {
                let id = accepted_id(Cow::Borrowed(&result.call_id), strict);
                let message = ToolMessage { tool_call_id: &id, content: result.content.json() };
                messages.push(Json::Text(json::to_string(&message).into()));
            }
        }
    }
    Ok(())
}

/// The id of a call in a form that the provider accepts.
fn accepted_id(id: Cow<'_, str>, strict: bool) -> Cow<'_, str> {
    if strict { ids::portable(id) } else { ids::short(id) }
}

/// Gives the member `name`, the id of a call, a form that the provider accepts. Returns whether it had another.
fn change_id(object: &mut Object<'_>, name: &'static str, strict: bool) -> bool {
    let Some(Value::String(id)) = object.get(name) else { return false };
    let accepted = accepted_id(id.clone(), strict);
    let is_changed = accepted != *id;
    if is_changed {
        object.insert(name.into(), Value::String(accepted));
    }
    is_changed
}

fn tool_message(json: &RawValue, strict: bool) -> Result<Json<'_>> {
    let Value::Object(mut message) = parse(json.get(), "the body")? else { return Ok(json.into()) };
    let is_changed = change_id(&mut message, "tool_call_id", strict);
    Ok(if is_changed { Value::Object(message).into() } else { json.into() })
}

/// An assistant message without what only the gateway or another provider understands.
fn assistant<'t>(json: &'t str, index: usize, strict: bool, notes: &Notes) -> Result<Json<'t>> {
    let Value::Object(mut message) = parse(json, "messages")? else {
        return Ok(Json::Text(json.into()));
    };
    let path = format!("messages[{index}]");
    let mut is_changed = !strict && drop_foreign(&mut message, &path, notes);
    // Reports what is dropped, unless it means nothing to the provider. Returns whether anything is.
    let clean = |object: &mut Object<'_>, path: &str, known: &[&str], own: Own| {
        let before = object.len();
        object.retain(|name, value| {
            let is_own = own(name, value) || is_gateway_only(name, value);
            let keep = !is_own && (!strict || known.contains(&name));
            if !keep && !is_own && !value.is_null() {
                notes.drop_member(&format!("{path}.{name}"));
            }
            keep
        });
        object.len() < before
    };
    is_changed |= clean(&mut message, &path, MESSAGE_MEMBERS, |name, value| match name {
        "_2api" => true,
        "tool_calls" => value.as_array().is_some_and(<[_]>::is_empty),
        _ => false,
    });
    if let Some(Value::Array(mut calls)) = message.take("tool_calls") {
        let path = format!("{path}.tool_calls[]");
        for call in &mut calls {
            let Value::Object(call) = call else { continue };
            is_changed |= clean(call, &path, CALL_MEMBERS, |name, _| name == "index");
            is_changed |= change_id(call, "id", strict);
        }
        message.insert("tool_calls".into(), Value::Array(calls));
    }
    if !is_changed {
        return Ok(Json::Text(json.into()));
    }
    Ok(Value::Object(message).into())
}

/// Takes out what Anthropic and OpenAI have thought: other providers reject it, and must not see it. Returns whether anything was.
fn drop_foreign(message: &mut Object<'_>, path: &str, notes: &Notes) -> bool {
    let [anthropic, openai] = ["anthropic", "openai"].map(|provider| {
        let is_there = take_extra(message, provider).is_some();
        if is_there {
            notes.drop_member(&format!("{path}.extra_content.{provider}"));
        }
        is_there
    });
    // The same thoughts as text.
    if anthropic && message.take("reasoning_content").is_some() {
        notes.drop_member(&format!("{path}.reasoning_content"));
    }
    anthropic || openai
}

/// Whether a member is for the gateway or for clients.
type Own = fn(&str, &Value<'_>) -> bool;

/// Whether this is an `extra_content` with nothing but what the gateway itself put there.
fn is_gateway_only(name: &str, value: &Value<'_>) -> bool {
    name == "extra_content"
        && value
            .as_object()
            .is_some_and(|members| members.iter().all(|(name, _)| name == "toolbooth"))
}

fn function_tool<'t>(tool: &'t FunctionTool, index: usize, job: &Job<'_>) -> Result<Json<'t>> {
    let unchanged = || Ok(Json::from(&*tool.json));
    let Some(mut schema) = ClientSchema::of_tool(tool, &format!("tools[{index}]")) else {
        return unchanged();
    };
    let target = if tool.strict { &STRICT } else { &PLAIN };
    schema.needs_type = false;
    let Json::Value(parameters) = schema.convert(target, job)? else { return unchanged() };
    let definition = parse(tool.json.get(), "the body")?;
    let Value::Object(mut definition) = definition else { return unchanged() };
    if let Some(Value::Object(mut function)) = definition.take("function") {
        function.insert("parameters".into(), parameters);
        definition.insert("function".into(), Value::Object(function));
    }
    Ok(Value::Object(definition).into())
}

fn tool_choice(choice: &ToolChoice, may_force: bool) -> Choice<'_> {
    let function = |name| Choice::Function { function: Name { name } };
    match choice {
        ToolChoice::None => Choice::Word("none"),
        ToolChoice::Required if may_force => Choice::Word("required"),
        ToolChoice::Function(name) if may_force => function(name),
        ToolChoice::Other(json) if may_force => Choice::Verbatim(Json::Text(json.into())),
        ToolChoice::Allowed { required, names } => {
            let mode = if *required && may_force { "required" } else { "auto" };
            let tools = names.iter().map(|name| function(name)).collect();
            Choice::AllowedTools { allowed_tools: AllowedTools { mode, tools } }
        }
        ToolChoice::Auto
        | ToolChoice::Required
        | ToolChoice::Function(_)
        | ToolChoice::Other(_) => Choice::Word("auto"),
    }
}
