//! Rounds of the tool loop that a client carries between two requests, sealed: when a model calls compiled-in tools
//! and tools of the client in one answer, the client's next request continues after both.

use serde::{Deserialize, Serialize};

use crate::gateway::conversation::request::ChatRequest;
use crate::gateway::conversation::{Assistant, HistoryItem, ToolResult, Turn};
use crate::gateway::error::{GatewayError, Result};
use crate::gateway::notes::Notes;
use crate::gateway::provider_state::ProviderState;
use crate::gateway::raw_json::{nested, parse};
use crate::gateway::relay::chat::Sender;
use crate::wire::ToolCall;
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
pub(in crate::gateway) fn in_order(
    calls: &[ToolCall<'_>],
    mut results: Vec<ToolResult>,
) -> Vec<ToolResult> {
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
pub(in crate::gateway) fn seal(
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
pub(in crate::gateway) fn token(sender: &Sender<'_>, now_ms: u64) -> Option<ContinuationToken> {
    let codec = sender.pipeline.request_state.as_ref()?;
    let token = codec.token_for((&sender.principal, None), &["chat"], now_ms);
    Some(token.until(now_ms.saturating_add(LIFE_MS)))
}

/// Sets the result of a call that is still empty.
pub(in crate::gateway) fn fill(
    history: &mut [HistoryItem],
    call_id: &str,
    content: &str,
    is_error: bool,
) {
    let mut results = history.iter_mut().rev().flat_map(HistoryItem::results_mut);
    if let Some(result) = results.find(|it| it.call_id == call_id) {
        result.content = content.to_owned().into();
        result.is_error = is_error;
    }
}

/// Adds the state to a call, which clients send back unchanged.
pub(in crate::gateway) fn attach(call: &mut ToolCall<'_>, state: &str) {
    let mut content = match call.extra.take("extra_content") {
        Some(Value::Object(content)) => content,
        _ => Object::default(),
    };
    content.insert(MEMBER.into(), nested("state", Value::String(state.to_owned().into())));
    call.extra.insert("extra_content".into(), Value::Object(content));
}

/// Replaces each answer that carries rounds by these rounds, with the client's results. The error: this server
/// has not sealed a state for the caller, or a result is missing.
pub(in crate::gateway) fn restore(
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
        let item = request.history.get_mut(position);
        let Some(assistant) = item.and_then(HistoryItem::assistant_mut) else { continue };
        let Some(state) = state_of(assistant, &mut own) else { continue };
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
    for assistant in request.history.iter_mut().filter_map(HistoryItem::assistant_mut) {
        let own = assistant.extra_content.take(MEMBER);
        let sealed = own.as_ref().and_then(|own| own.get("sealed")?.as_str());
        let opened = match (sealed, &token) {
            (None, _) => continue,
            (Some(_), None) => {
                notes.warn("STATE_KEY is not set, so sealed reasoning was ignored");
                continue;
            }
            (Some(sealed), Some(token)) => match token.open(sealed, now_ms) {
                Ok(opened) => opened.state,
                Err(EXPIRED_STATE) => {
                    notes.warn("Sealed reasoning has expired and was ignored");
                    continue;
                }
                Err(reason) => {
                    let message = format!("The encrypted_content {reason}");
                    return Err(GatewayError::invalid("input", message));
                }
            },
        };
        let opened = opened.as_ref().and_then(|state| state.as_str()).unwrap_or("{}");
        if let Value::Object(opened) = parse(opened, "input")?.into_owned() {
            unseal(assistant, opened);
        }
    }
    Ok(())
}

/// Gives a message, its calls and its pictures what was sealed for the provider.
fn unseal(assistant: &mut Assistant, mut opened: Object<'static>) {
    if let (Some(Value::String(from)), Some(Value::Object(members))) =
        (opened.take("from"), opened.take("members"))
    {
        ProviderState { from: from.into_owned(), members }.attach(assistant);
    }
    let Some(Value::Object(mut of_items)) = opened.take("calls") else { return };
    for call in &mut assistant.calls {
        if let Some(of_call) = of_items.take(&call.id) {
            call.extra.insert("extra_content".into(), of_call);
        }
    }
    for part in &mut assistant.content {
        let own =
            part.extra_content.as_ref().and_then(|extra| extra.get(MEMBER)?.get("item")?.as_str());
        if let Some(of_part) = own.and_then(|id| of_items.take(id)) {
            part.extra_content = Some(of_part);
        }
    }
}

/// The state of an answer: in its first call, or that of the request for the last answer with calls.
fn state_of(assistant: &Assistant, own: &mut Option<String>) -> Option<String> {
    if assistant.calls.is_empty() {
        return None;
    }
    let sent = assistant.calls.iter().find_map(|call| {
        let own = call.extra.get("extra_content")?.get(MEMBER)?;
        own.get("state")?.as_str().map(str::to_owned)
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
    let results: Vec<_> = after.map_while(HistoryItem::result).collect();
    let end = position + 1 + results.len();
    let last = turns.last_mut().map(|turn| &mut turn.results);
    for result in last.into_iter().flatten().filter(|it| pending.contains(&it.call_id)) {
        let Some(sent) = results.iter().find(|sent| sent.call_id == result.call_id) else {
            let message = format!("There is no result of the call {}", result.call_id);
            return Err(GatewayError::invalid("messages", message));
        };
        result.content = sent.content.clone();
        result.is_error = sent.is_error;
    }
    history.splice(position..end, turns.into_iter().map(HistoryItem::Turn));
    Ok(())
}
