//! Reasoning in the members that compatible providers have for it.

use std::borrow::Cow;

use crate::gateway::answer::builder::Builder;
use crate::gateway::answer::completion::Read;
use crate::gateway::provider_state::{REASONING, is_empty};
use crate::wire::fields::text;
use toolbooth::json::{Object, Value};

/// The members that have it as text. Several of them have the same text: the first counts.
pub(super) const NAMES: [&str; 3] = ["reasoning_content", "reasoning", "thinking"];

/// OpenRouter's form of reasoning, with its signatures and what is encrypted, which it needs back.
const DETAILS: &str = "reasoning_details";

/// The reasoning of a message, or of a part of one.
pub(super) fn read<'t>(message: &'t Object<'_>) -> Cow<'t, str> {
    let named = NAMES.iter().find_map(|name| text(message.get(name)));
    named.map_or_else(|| texts(message).into(), Cow::Borrowed)
}

/// That of a whole message whose members with text have other names than those that clients know.
pub(super) fn unnamed<'t>(message: &'t Object<'_>) -> Cow<'t, str> {
    match NAMES.iter().find(|name| text(message.get(name)).is_some()) {
        Some(&"thinking") | None => read(message),
        Some(_) => "".into(),
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

/// Keeps the members of a part of a message that the provider must get back.
pub(super) fn keep(delta: &Object<'_>, builder: &mut Builder) -> Read {
    REASONING.into_iter().try_for_each(|name| {
        match delta.get(name).filter(|more| !is_empty(more)) {
            Some(more) => builder.state(name, more),
            None => Ok(()),
        }
    })
}
