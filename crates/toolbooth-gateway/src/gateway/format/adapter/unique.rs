//! Ids of calls that are unique in the whole conversation. Some models count the calls of each answer from zero, and providers reject a
//! conversation in which an id comes twice.

use serde_json::value::RawValue;

use crate::gateway::conversation::request::{ChatRequest, repeats_ids};
use crate::gateway::conversation::{HistoryItem, Message, MessageBody};
use crate::gateway::error::Result;
use crate::gateway::ids::UniqueIds;
use crate::gateway::raw_json::{parse, to_raw};
use toolbooth::json::{Object, Value};

/// The request with an id of its own for each call; `None` if nothing changes.
pub(in crate::gateway::format) fn ids(request: &ChatRequest) -> Result<Option<ChatRequest>> {
    if !repeats_ids(&request.history) {
        return Ok(None);
    }
    let mut request = request.clone();
    // Rounds of the loop keep theirs: the provider has written them.
    let turns = request.history.iter().filter_map(HistoryItem::turn);
    let mut ids = UniqueIds::except(turns.flat_map(|turn| &turn.results).map(|it| &it.call_id));
    for item in &mut request.history {
        let HistoryItem::Message(Message { body, written, .. }) = item else { continue };
        match body {
            MessageBody::Assistant(assistant) => {
                let mut is_changed = false;
                for call in &mut assistant.calls {
                    let new = ids.of_call(&call.id);
                    is_changed |= new.is_some();
                    call.id = new.map_or_else(|| std::mem::take(&mut call.id), Into::into);
                }
                let new: Vec<_> = assistant.calls.iter().map(|call| &*call.id).collect();
                if let Some(json) = written.as_mut().filter(|_| is_changed) {
                    rewrite(json, |message| set_ids(message, &new))?;
                }
            }
            MessageBody::Result(result) => {
                let Some(new) = ids.of_result(&result.call_id) else { continue };
                if let Some(json) = written {
                    let id = Value::String(new.clone().into());
                    rewrite(json, |message| message.insert("tool_call_id".into(), id))?;
                }
                result.call_id = new;
            }
            MessageBody::System(_) | MessageBody::Developer(_) | MessageBody::User(_) => {}
        }
    }
    Ok(Some(request))
}

/// Changes a message that a client of Chat Completions wrote.
fn rewrite(json: &mut Box<RawValue>, change: impl FnOnce(&mut Object<'_>)) -> Result<()> {
    let Value::Object(mut message) = parse(json.get(), "messages")?.into_owned() else {
        return Ok(());
    };
    change(&mut message);
    *json = to_raw(&Value::Object(message))?;
    Ok(())
}

fn set_ids(message: &mut Object<'_>, ids: &[&str]) {
    let Some(Value::Array(mut calls)) = message.take("tool_calls") else { return };
    for (call, id) in calls.iter_mut().zip(ids) {
        if let Value::Object(call) = call {
            call.insert("id".into(), Value::String((*id).to_owned().into()));
        }
    }
    message.insert("tool_calls".into(), Value::Array(calls));
}
