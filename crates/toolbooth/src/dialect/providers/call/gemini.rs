//! Gemini generateContent. Its members are read in both spellings, `functionCall` and
//! `function_call`, as the provider's own libraries write both.

use serde_json::{Map, Value, json};

use super::turn::{Arguments, Ending, ToolCall, Turn, list, object, take, text};
use super::{Answered, Format, exchange};
use crate::dialect::{Action, Endpoint};

/// `POST /providers/gemini/call`.
pub(in super::super) const GEMINI: Endpoint =
    Endpoint { path: "/call", action: Action::Call(|posted| exchange(posted, &FORMAT)) };

static FORMAT: Format = Format { read, write, pairs_by_id: false };

const EXPECTED: &str = "The body must be a response (an object with candidates), a candidate (with \
    content), its content (with parts) or the array of its parts";

fn read(body: Value) -> Result<Turn, String> {
    let mut turn = Turn::default();
    match body {
        Value::Array(items) => parts(&mut turn, items, "")?,
        Value::Object(mut body) => {
            // A prompt that was blocked has feedback and no candidate.
            let blocked =
                body.contains_key("promptFeedback") || body.contains_key("prompt_feedback");
            if blocked || body.contains_key("candidates") {
                let mut candidates = list(&mut body, &["candidates"], "")?.into_iter();
                if let Some(first) = candidates.next() {
                    candidate(&mut turn, object(first, "candidates[0]")?, "candidates[0].")?;
                }
                turn.alternatives = candidates.next().is_some();
            } else if body.contains_key("parts") {
                content(&mut turn, body, "")?;
            } else if body.contains_key("content") {
                candidate(&mut turn, body, "")?;
            } else {
                return Err(EXPECTED.to_owned());
            }
        }
        _ => return Err(EXPECTED.to_owned()),
    }
    Ok(turn)
}

fn candidate(turn: &mut Turn, mut body: Map<String, Value>, place: &str) -> Result<(), String> {
    turn.ending = match text(&mut body, &["finishReason", "finish_reason"]).as_deref() {
        None | Some("STOP") => Ending::Regular,
        Some("MAX_TOKENS") => Ending::CutOff,
        Some(_) => Ending::Other,
    };
    match body.remove("content") {
        None | Some(Value::Null) => Ok(()),
        Some(found) => {
            let place = format!("{place}content");
            content(turn, object(found, &place)?, &format!("{place}."))
        }
    }
}

fn content(turn: &mut Turn, mut body: Map<String, Value>, place: &str) -> Result<(), String> {
    let found = list(&mut body, &["parts"], place)?;
    parts(turn, found, &format!("{place}parts"))
}

fn parts(turn: &mut Turn, items: Vec<Value>, place: &str) -> Result<(), String> {
    let mut call_is_last = false;
    for (at, item) in items.into_iter().enumerate() {
        let place = format!("{place}[{at}]");
        let mut part = object(item, &place)?;
        call_is_last = false;
        if let Some(call) = take(&mut part, &["functionCall", "function_call"]) {
            turn.calls.push(function_call(object(call, &format!("{place}.functionCall"))?));
            call_is_last = true;
        } else if part.contains_key("name") && part.contains_key("args") {
            // The libraries give the calls without the parts around them.
            turn.calls.push(function_call(part));
            call_is_last = true;
        } else if part.contains_key("executableCode") || part.contains_key("executable_code") {
            turn.hosted.push("executableCode".to_owned());
        } else if part.contains_key("candidates") || part.contains_key("role") {
            return Err(format!(
                "{place} is not a part; of a streamed answer or a conversation, post the model's last content"
            ));
        }
    }
    if call_is_last && turn.ending == Ending::CutOff {
        turn.last_call_was_cut();
    }
    Ok(())
}

fn function_call(mut call: Map<String, Value>) -> ToolCall {
    let pieces = take(&mut call, &["partialArgs", "partial_args"]).is_some()
        || take(&mut call, &["willContinue", "will_continue"]) == Some(Value::Bool(true));
    ToolCall {
        id: text(&mut call, &["id"]),
        name: text(&mut call, &["name"]).unwrap_or_default(),
        arguments: if pieces {
            Arguments::Unreadable("The arguments came in pieces that were not put together.")
        } else {
            Arguments::object(call.remove("args"))
        },
    }
}

/// All results in one content. A result has an id only where its call had one: older models refuse
/// it. Its name is the declared one, whatever the id.
fn write(answered: Vec<Answered>) -> (&'static str, Value) {
    let part = |Answered { handle, result }: Answered| {
        let response = match result {
            Ok(value) => json!({"output": value}),
            Err(text) => json!({"error": text}),
        };
        let mut part = json!({"name": handle.name, "response": response});
        if handle.id_sent
            && let Some(part) = part.as_object_mut()
        {
            part.insert("id".to_owned(), Value::String(handle.id));
        }
        json!({"functionResponse": part})
    };
    let parts: Vec<_> = answered.into_iter().map(part).collect();
    let content = json!({"role": "user", "parts": parts});
    ("contents", if parts.is_empty() { json!([]) } else { json!([content]) })
}
