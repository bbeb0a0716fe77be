//! What Anthropic rejects of a conversation that other models have taken part in: ids that it has twice or whose characters it does not
//! know, and texts of white space.

use std::collections::BTreeSet;

use serde_json::value::RawValue;

use crate::gateway::error::Result;
use crate::gateway::ids::{self, UniqueIds};
use crate::gateway::raw_json::{raw_items, raw_member, raw_members, to_raw};
use crate::wire::{Json, Members};
use toolbooth::json::{self, Value};

/// Whether something must change.
pub(super) fn is_needed(messages: &[Value<'_>]) -> bool {
    let mut known = BTreeSet::new();
    messages.iter().filter_map(|message| message.get("content")).any(|content| match content {
        Value::String(text) => is_blank(text),
        content => content.as_array().unwrap_or_default().iter().any(|block| {
            let text = |name| block.get(name).and_then(Value::as_str).unwrap_or_default();
            match text("type") {
                "text" => is_blank(text("text")),
                "tool_use" => !ids::is_plain(text("id")) || !known.insert(text("id")),
                _ => false,
            }
        }),
    })
}

/// The messages as Anthropic takes them. All else is as the client wrote it.
pub(super) fn messages(messages: &[&RawValue]) -> Result<Vec<Box<RawValue>>> {
    let mut ids = UniqueIds::default();
    let mut repaired = Vec::with_capacity(messages.len());
    for json in messages {
        repaired.extend(message(json, &mut ids)?);
    }
    Ok(repaired)
}

/// The blocks of `system` without texts of white space; `None` if there are none of these.
pub(super) fn system(json: &RawValue) -> Option<Vec<Json<'_>>> {
    let blocks = raw_items(Some(json));
    let is_blank_text = |json: &RawValue| {
        let text =
            raw_member(json, &["text"]).map(|text| json::read::<String>(text.get().as_bytes()));
        text.flatten().is_some_and(|text| is_blank(&text))
    };
    let kept = blocks.iter().filter(|json| !is_blank_text(json)).map(|json| Json::from(*json));
    let kept: Vec<_> = kept.collect();
    (kept.len() < blocks.len()).then_some(kept)
}

/// Whether a message has nothing but white space, so that Anthropic does not get it.
pub(super) fn is_left_out(message: &Value<'_>) -> bool {
    match message.get("content") {
        Some(Value::String(text)) => is_blank(text),
        Some(Value::Array(blocks)) => {
            let text = |block: &Value<'_>| block.get("text")?.as_str().map(is_blank);
            !blocks.is_empty() && blocks.iter().all(|block| text(block) == Some(true))
        }
        _ => false,
    }
}

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

/// A message; `None` if it has nothing but white space.
fn message(json: &RawValue, ids: &mut UniqueIds) -> Result<Option<Box<RawValue>>> {
    let mut members = Members::default();
    for (name, json) in raw_members(json.get()).unwrap_or_default() {
        if name != "content" {
            members.0.push((name.into(), json.into()));
            continue;
        }
        if let Some(text) = json::read::<String>(json.get().as_bytes()) {
            if is_blank(&text) {
                return Ok(None);
            }
            members.0.push((name.into(), json.into()));
            continue;
        }
        let blocks = raw_items(Some(json));
        let repaired: Vec<_> = blocks.iter().filter_map(|json| block(json, ids)).collect();
        if repaired.is_empty() && !blocks.is_empty() {
            return Ok(None);
        }
        members.0.push((name.into(), Json::Text(json::to_string(&repaired).into())));
    }
    to_raw(&members).map(Some)
}

/// A block; `None` if it is a text of white space.
fn block<'t>(json: &'t RawValue, ids: &mut UniqueIds) -> Option<Json<'t>> {
    let members = raw_members(json.get()).unwrap_or_default();
    let text = |name: &str| {
        let found = members.iter().rfind(|(known, _)| known == name);
        found.and_then(|(_, json)| json::read::<String>(json.get().as_bytes())).unwrap_or_default()
    };
    let (place, new) = match text("type").as_str() {
        "text" if is_blank(&text("text")) => return None,
        "tool_use" => ("id", ids.of_call(&text("id")).or_else(|| other(&text("id")))),
        "tool_result" => {
            let id = text("tool_use_id");
            ("tool_use_id", ids.of_result(&id).or_else(|| other(&id)))
        }
        _ => return Some(json.into()),
    };
    let Some(new) = new else { return Some(json.into()) };
    let mut changed = Members::default();
    for (name, json) in members {
        let value =
            if name == place { Value::String(new.clone().into()).into() } else { json.into() };
        changed.0.push((name.into(), value));
    }
    Some(Json::from(&changed))
}

/// Another id, if Anthropic does not know the characters of this one.
fn other(id: &str) -> Option<String> {
    (!ids::is_plain(id)).then(|| ids::portable(id.into()).into_owned())
}
