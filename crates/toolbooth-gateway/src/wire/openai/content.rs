//! The content of an answer: a text or, from Mistral's models, a list of parts.

use crate::wire::Item;
use crate::wire::fields::{take, take_text};
use toolbooth::json::{Object, Value};

/// Adds what a content consists of.
pub(crate) fn read<'t>(content: Value<'t>, items: &mut Vec<Item<'t>>) {
    match content {
        Value::String(text) => items.push(Item::Text(text)),
        Value::Array(parts) => parts.into_iter().for_each(|part| read(part, items)),
        Value::Object(part) => read_part(part, items),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Thoughts are parts themselves; a reference has no text.
fn read_part<'t>(mut part: Object<'t>, items: &mut Vec<Item<'t>>) {
    let kind = take_text(&mut part, &["type"]);
    match kind.as_deref() {
        Some("thinking" | "reasoning") => {
            let mut thoughts = Vec::new();
            if let Some(value) = take(&mut part, &["thinking", "reasoning", "text"]) {
                read(value, &mut thoughts);
            }
            items.extend(thoughts.into_iter().map(|item| match item {
                Item::Text(text) => Item::Reasoning(text),
                item => item,
            }));
        }
        Some("refusal") => items.extend(take_text(&mut part, &["refusal"]).map(Item::Refusal)),
        None | Some("text" | "output_text") => {
            items.extend(take_text(&mut part, &["text"]).map(Item::Text));
        }
        Some(_) => {
            let text = take_text(&mut part, &["text"]).map(Item::Text);
            items.extend(text.or_else(|| kind.map(Item::Other)));
        }
    }
}
