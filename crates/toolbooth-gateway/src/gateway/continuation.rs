//! Rounds of the tool loop that a client carries between two requests, sealed: when a model calls compiled-in tools
//! and tools of the client in one answer, the client's next request continues after both.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::raw_json::{nested, parse, to_raw};
use super::{
    ChatRequest, GatewayError, HistoryItem, Notes, Result, Role, Sender, ToolContent, ToolResult,
    Turn,
};
use crate::wire::ToolCall;
use crate::wire::openai::ToolMessage;
use toolbooth::json::{self, Object, Value};
use toolbooth::seal::{ContinuationToken, EXPIRED_STATE, RequestState};

/// How long a client may take until its next request.
const LIFE_MS: u64 = 24 * 60 * 60 * 1000;
/// The member of `extra_content` that has the state.
const MEMBER: &str = "toolbooth";

/// The rounds that a client does not see.
#[derive(Serialize, Deserialize)]
struct Rounds {
    turns: Vec<Turn>,
    /// The calls of the last round that the client answers.
    pending: Vec<String>,
}

/// The results of all calls, in the order of the calls; empty for those that the gateway has not run.
pub(super) fn in_order(calls: &[ToolCall<'_>], mut results: Vec<ToolResult>) -> Vec<ToolResult> {
    let result = |call: &ToolCall<'_>| match results.iter().position(|it| it.call_id == call.id) {
        Some(at) => results.swap_remove(at),
        None => ToolResult {
            call_id: call.id.to_string(),
            name: call.name.to_string(),
            content: String::new().into(),
            is_error: false,
        },
    };
    calls.iter().map(result).collect()
}

/// Seals the rounds that this request has added for the answer with these calls; `None` if there are none. If the
/// last round is that of the answer, the calls are its open ones. Without a key, the error is a warning for the client.
pub(super) fn seal(
    added: &[HistoryItem],
    calls: &[ToolCall<'_>],
    sender: &Sender<'_>,
) -> Option<Result<String, &'static str>> {
    let turns: Vec<_> = added.iter().filter_map(HistoryItem::turn).cloned().collect();
    let last = turns.last()?;
    let is_open = |call: &&ToolCall<'_>| last.results.iter().any(|it| it.call_id == call.id);
    let pending = calls.iter().filter(is_open).map(|call| call.id.to_string()).collect();
    // As text: a second deserializer would take more space in the Worker.
    let state = serde_json::Value::String(json::to_string(&Rounds { turns, pending }));
    Some(match token(sender, sender.host.now_ms()) {
        Some(token) => {
            Ok(token.seal(RequestState { state: Some(state), ..RequestState::default() }))
        }
        None => {
            Err("STATE_KEY is not set, so the next request has no results of this server's tools")
        }
    })
}

/// The token of a principal, if the server has a key.
pub(super) fn token(sender: &Sender<'_>, now_ms: u64) -> Option<ContinuationToken> {
    let codec = sender.pipeline.request_state.as_ref()?;
    let token = codec.token_for((&sender.principal, None), &["chat"], now_ms);
    Some(token.until(now_ms.saturating_add(LIFE_MS)))
}

/// Sets the result of a call that is still empty.
pub(super) fn fill(
    history: &mut [HistoryItem],
    call_id: &str,
    content: &str,
    is_error: bool,
) -> Result<()> {
    for item in history.iter_mut().rev() {
        match item {
            HistoryItem::Turn(turn) => {
                let mut results = turn.results.iter_mut();
                if let Some(result) = results.find(|it| it.call_id == call_id) {
                    result.content = content.to_owned().into();
                    result.is_error = is_error;
                    return Ok(());
                }
            }
            HistoryItem::Message { role: Role::Tool, json } if answers(json, call_id) => {
                // In the gateway's form, this is how the result of a failed call begins.
                let content = match is_error && !content.starts_with("Error:") {
                    true => format!("Error: {content}"),
                    false => content.to_owned(),
                };
                let message = ToolMessage { tool_call_id: call_id, content };
                *json = to_raw(&message)?;
                return Ok(());
            }
            HistoryItem::Message { .. } => {}
        }
    }
    Ok(())
}

/// Whether a result is that of a call.
fn answers(message: &RawValue, call_id: &str) -> bool {
    let message = json::parse(message.get()).unwrap_or_default();
    message.get("tool_call_id").and_then(Value::as_str) == Some(call_id)
}

/// Adds the state to a call, which clients send back unchanged.
pub(super) fn attach(call: &mut ToolCall<'_>, state: &str) {
    let mut content = match call.extra.take("extra_content") {
        Some(Value::Object(content)) => content,
        _ => Object::default(),
    };
    content.insert(MEMBER.into(), nested("state", Value::String(state.to_owned().into())));
    call.extra.insert("extra_content".into(), Value::Object(content));
}

/// Replaces each answer that carries rounds by these rounds, with the client's results. The error: this server
/// has not sealed a state for the caller, or a result is missing.
pub(super) fn restore(
    request: &mut ChatRequest,
    sender: &Sender<'_>,
    now_ms: u64,
    notes: &Notes,
) -> Result<()> {
    let mut own = request.state.take();
    // What the client calls the conversation.
    let conversation = if request.responses.is_some() { "input" } else { "messages" };
    open_extra(request, sender, now_ms, notes)?;
    // From the end, so that the positions before stay the same.
    for position in (0..request.history.len()).rev() {
        let item = request.history.get(position);
        let Some(HistoryItem::Message { role: Role::Assistant, json }) = item else { continue };
        let Some(state) = state_of(json, &mut own) else { continue };
        let Some(token) = token(sender, now_ms) else {
            notes.warn("STATE_KEY is not set, so a state was ignored");
            continue;
        };
        match token.open(&state, now_ms) {
            Err(EXPIRED_STATE) => notes.warn("A state has expired and was ignored"),
            Err(reason) => {
                return Err(GatewayError::invalid(conversation, format!("The state {reason}")));
            }
            Ok(opened) => {
                let state = opened.state.as_ref().and_then(|state| state.as_str());
                if let Some(rounds) = state.and_then(|text| json::read(text.as_bytes())) {
                    replace(&mut request.history, position, rounds)?;
                }
            }
        }
    }
    Ok(())
}

/// Opens what this server has sealed for the provider: `extra_content` of messages and of their calls.
fn open_extra(
    request: &mut ChatRequest,
    sender: &Sender<'_>,
    now_ms: u64,
    notes: &Notes,
) -> Result<()> {
    if request.responses.is_none() {
        return Ok(());
    }
    let token = token(sender, now_ms);
    for item in &mut request.history {
        let HistoryItem::Message { role: Role::Assistant, json } = item else { continue };
        if !json.get().contains("\"sealed\"") {
            continue;
        }
        let Value::Object(mut message) = parse(json.get(), "input")? else { continue };
        let Some(Value::Object(mut extra)) = message.take("extra_content") else { continue };
        let own = extra.take(MEMBER);
        let sealed = own.as_ref().and_then(|own| own.get("sealed")?.as_str());
        let opened = match (sealed, &token) {
            (None, _) => continue,
            (Some(_), None) => {
                notes.warn("STATE_KEY is not set, so sealed reasoning was ignored");
                None
            }
            (Some(sealed), Some(token)) => match token.open(sealed, now_ms) {
                Ok(opened) => opened.state,
                Err(EXPIRED_STATE) => {
                    notes.warn("Sealed reasoning has expired and was ignored");
                    None
                }
                Err(reason) => {
                    let message = format!("The encrypted_content {reason}");
                    return Err(GatewayError::invalid("input", message));
                }
            },
        };
        let opened = opened.as_ref().and_then(|state| state.as_str()).unwrap_or("{}");
        let Value::Object(mut opened) = parse(opened, "input")? else { continue };
        if let Some(Value::Object(of_message)) = opened.take("message") {
            of_message.into_iter().for_each(|(name, value)| extra.insert(name, value));
        }
        if !extra.is_empty() {
            message.insert("extra_content".into(), Value::Object(extra));
        }
        let of_calls = opened.take("calls");
        if let Some(Value::Array(mut calls)) = message.take("tool_calls") {
            for call in &mut calls {
                let Value::Object(call) = call else { continue };
                let id = call.get("id").and_then(Value::as_str).unwrap_or_default();
                let of_call = of_calls.as_ref().and_then(|all| all.get(id)).cloned();
                if let Some(of_call) = of_call {
                    call.insert("extra_content".into(), of_call);
                }
            }
            message.insert("tool_calls".into(), Value::Array(calls));
        }
        *json = to_raw(&Value::Object(message))?;
    }
    Ok(())
}

/// The state of an answer: in its first call, or that of the request for the last answer with calls.
fn state_of(message: &RawValue, own: &mut Option<String>) -> Option<String> {
    if !message.get().contains("\"tool_calls\"") {
        return None;
    }
    let message = json::parse(message.get()).ok()?;
    let calls = message.get("tool_calls").and_then(Value::as_array)?;
    let sent = calls.iter().find_map(|call| {
        call.get("extra_content")?.get(MEMBER)?.get("state")?.as_str().map(str::to_owned)
    });
    let own = own.take();
    sent.or(own)
}

/// Replaces the answer at `position` and the results that follow it.
fn replace(history: &mut Vec<HistoryItem>, position: usize, rounds: Rounds) -> Result<()> {
    let Rounds { mut turns, pending } = rounds;
    if pending.is_empty() {
        // The answer is a round after these, which the client has.
        history.splice(position..position, turns.into_iter().map(HistoryItem::Turn));
        return Ok(());
    }
    let after = history.iter().skip(position + 1);
    let results = after.map_while(|item| match item {
        HistoryItem::Message { role: Role::Tool, json } => json::parse(json.get()).ok(),
        _ => None,
    });
    let results = Vec::from_iter(results);
    let end = position + 1 + results.len();
    let last = turns.last_mut().map(|turn| &mut turn.results);
    for result in last.into_iter().flatten().filter(|it| pending.contains(&it.call_id)) {
        let is_own = |message: &&Value<'_>| {
            message.get("tool_call_id").and_then(Value::as_str) == Some(&result.call_id)
        };
        let Some(message) = results.iter().find(is_own) else {
            let message = format!("There is no result of the call {}", result.call_id);
            return Err(GatewayError::invalid("messages", message));
        };
        let mut first = None;
        match message.get("content") {
            None | Some(Value::Null) => {}
            Some(Value::String(text)) => {
                result.content = ToolContent::Text(text.to_string());
                first = Some(&**text);
            }
            Some(content) => {
                result.content = ToolContent::Parts(content.text());
                let parts = content.as_array().and_then(<[_]>::first);
                first = parts.and_then(|part| part.get("text")?.as_str());
            }
        }
        result.is_error = first.is_some_and(|text| text.starts_with("Error:"));
    }
    history.splice(position..end, turns.into_iter().map(HistoryItem::Turn));
    Ok(())
}
