//! Reasoning in the members that compatible providers have for it.

use crate::wire::fields::text;
use toolbooth::json::{Object, Value};

/// The members that have it as text. Several of them have the same text: the first counts.
pub(super) const NAMES: [&str; 3] = ["reasoning_content", "reasoning", "thinking"];

/// OpenRouter's form of reasoning, with its signatures and what is encrypted, which it needs back.
const DETAILS: &str = "reasoning_details";

/// The reasoning of a message, or of a part of one.
pub(super) fn read(message: &Object<'_>) -> String {
    let named = NAMES.iter().find_map(|name| text(message.get(name)));
    named.map_or_else(|| texts(message), str::to_owned)
}

/// That of a whole message whose members with text have other names than those that clients know.
pub(super) fn unnamed(message: &Object<'_>) -> String {
    match NAMES.iter().find(|name| text(message.get(name)).is_some()) {
        Some(&"thinking") | None => read(message),
        Some(_) => String::new(),
    }
}

/// The readable texts of the details.
fn texts(message: &Object<'_>) -> String {
    let details = message.get(DETAILS).and_then(Value::as_array).unwrap_or_default();
    let of = |detail: &Value<'_>| {
        let text = ["text", "summary"].iter().find_map(|name| text(detail.get(name)));
        text.map(str::to_owned)
    };
    details.iter().filter_map(of).collect()
}

/// Keeps the details of a part of a message with those before it. A text that comes in pieces is one detail.
pub(super) fn keep_details(delta: &Object<'_>, kept: &mut Object<'static>) {
    let Some(Value::Array(more)) = delta.get(DETAILS) else { return };
    let mut details = match kept.take(DETAILS) {
        Some(Value::Array(details)) => details,
        _ => Vec::new(),
    };
    for detail in more {
        let detail = detail.clone().into_owned();
        match (details.last_mut(), detail) {
            (Some(Value::Object(last)), Value::Object(more)) if continues(last, &more) => {
                extend(last, more);
            }
            (_, detail) => details.push(detail),
        }
    }
    kept.insert(DETAILS.into(), Value::Array(details));
}

/// Whether a detail is a further piece of the text of another one.
fn continues(last: &Object<'_>, more: &Object<'_>) -> bool {
    let has_text = |detail: &Object<'_>| detail.contains("text") || detail.contains("summary");
    let is_same = |name| last.get(name) == more.get(name);
    let has_other_id = text(more.get("id")).is_some_and(|id| text(last.get("id")) != Some(id));
    let is_signed = text(last.get("signature")).is_some();
    has_text(last) && !is_signed && !has_other_id && is_same("type") && is_same("index")
}

fn extend(last: &mut Object<'static>, more: Object<'static>) {
    for (name, value) in more {
        let value = match (&*name, last.get(&name), value) {
            (_, Some(_), Value::Null) => continue,
            ("text" | "summary", Some(Value::String(text)), Value::String(more)) => {
                Value::String(format!("{text}{more}").into())
            }
            (_, _, value) => value,
        };
        last.insert(name, value);
    }
}
