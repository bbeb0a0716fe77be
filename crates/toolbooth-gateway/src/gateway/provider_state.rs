//! What a provider must get back with an assistant message: what its model has thought, in members of the message that clients may not
//! have. Clients of Chat Completions send them back as they are; for all others they are sealed.

use crate::gateway::conversation::Assistant;
use crate::wire::fields::text;
use toolbooth::json::{Object, Value};

/// The members of messages in which providers with the format of Chat Completions write what a model has thought.
pub(crate) const REASONING: [&str; 4] =
    ["reasoning_content", "reasoning", "thinking", "reasoning_details"];

/// The member with what all other providers must get back.
const EXTRA: &str = "extra_content";

/// Members of a message, as a provider has written them.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ProviderState {
    /// The id of the provider. No other may get them. It is empty if the client does not say it.
    pub from: String,
    pub members: Object<'static>,
}

impl ProviderState {
    /// What the provider `from` must get back of a message with these members.
    pub(crate) fn of(from: &str, message: &Object<'_>) -> Self {
        let mut members = message.clone().into_owned();
        members
            .retain(|name, value| (REASONING.contains(&name) || name == EXTRA) && !is_empty(value));
        Self { from: from.to_owned(), members }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Adds a further part of a message: texts and lists grow.
    pub(crate) fn add(&mut self, name: &str, more: Value<'static>) {
        let value = match (self.members.take(name), more) {
            (Some(Value::String(text)), Value::String(more)) => {
                Value::String((text.into_owned() + &more).into())
            }
            (Some(Value::Array(list)), Value::Array(more)) => Value::Array(extended(list, more)),
            (None, Value::Array(more)) => Value::Array(extended(Vec::new(), more)),
            (_, more) => more,
        };
        self.members.insert(name.to_owned().into(), value);
    }

    /// Adds what came later. That of another provider replaces it.
    pub(crate) fn join(&mut self, more: Self) {
        if self.from != more.from {
            *self = more;
            return;
        }
        for (name, value) in more.members {
            self.add(&name, value);
        }
    }

    /// Takes what all providers have in `extra_content`, apart from what belongs to `others`.
    pub(crate) fn take_extra(&mut self, others: &[&str]) -> Option<Object<'static>> {
        let Some(Value::Object(mut extra)) = self.members.take(EXTRA) else { return None };
        extra.retain(|owner, _| !others.contains(&owner));
        (!extra.is_empty()).then_some(extra)
    }

    /// Gives it to the message that a client has sent back.
    pub(crate) fn attach(mut self, assistant: &mut Assistant) {
        for (owner, value) in self.take_extra(&[]).into_iter().flatten() {
            assistant.extra_content.insert(owner, value);
        }
        assistant.state = self;
    }
}

/// Whether a member says nothing.
pub(crate) fn is_empty(value: &Value<'_>) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        _ => false,
    }
}

/// OpenRouter's details with those that come later. A text that comes in pieces is one detail.
fn extended(mut details: Vec<Value<'static>>, more: Vec<Value<'static>>) -> Vec<Value<'static>> {
    for detail in more {
        match (details.last_mut(), detail) {
            (Some(Value::Object(last)), Value::Object(more)) if continues(last, &more) => {
                extend(last, more);
            }
            (_, detail) => details.push(detail),
        }
    }
    details
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
