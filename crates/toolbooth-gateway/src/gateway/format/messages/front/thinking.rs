//! Thinking blocks: those of Anthropic, and ours, which have what other providers must get back. Clients return both unchanged.

use serde_json::value::RawValue;

use crate::gateway::provider_state::ProviderState;
use crate::wire::Members;
use toolbooth::json::{self, Object, Value};

/// What signatures and data of ours begin with. Anthropic's are base64, which has no colon.
const MARK: &str = "toolbooth:";

/// The signature of reasoning that is not Anthropic's. Whether a provider must get it back, a block with a state says.
pub(super) const SIGNATURE: &str = "toolbooth:reasoning";

/// The data of a `redacted_thinking` block that precedes a call, and has its `extra_content`.
pub(super) fn data(extra_content: &Value<'_>) -> String {
    format!("{MARK}{}", extra_content.text())
}

/// The data of a `redacted_thinking` block that has what the provider must get back with the message; `None` if there is nothing.
pub(super) fn state_data(state: &ProviderState) -> Option<String> {
    let mut state = state.clone();
    // Anthropic's blocks are in the message, and no call of Gemini needs the signature of a text.
    let extra = state.take_extra(&["anthropic", "google"]);
    let mut members = state.members;
    if let Some(extra) = extra {
        members.insert("extra_content".into(), Value::Object(extra));
    }
    if members.is_empty() || state.from.is_empty() {
        return None;
    }
    let mut data = Members::default();
    data.add("from", Some(Value::from(state.from.as_str())));
    data.add("state", Some(Value::Object(members)));
    Some(format!("{MARK}{}", json::to_string(&data)))
}

/// What a thinking block is.
pub(super) enum Thinking {
    /// Anthropic's own.
    Anthropic,
    /// Reasoning of a different model.
    Reasoning,
    /// What the provider of that model must get back with the message.
    State(ProviderState),
    /// The `extra_content` of the call that follows.
    ExtraContent(Value<'static>),
}

pub(super) fn read(block: &Object<'_>) -> Thinking {
    let text = |name| block.get(name).and_then(Value::as_str).unwrap_or_default();
    if let Some(content) = text("data").strip_prefix(MARK) {
        return ours(content);
    }
    match text("signature").starts_with(MARK) {
        true => Thinking::Reasoning,
        false => Thinking::Anthropic,
    }
}

/// What the data of a block of ours is.
fn ours(content: &str) -> Thinking {
    let Ok(Value::Object(mut content)) = json::parse(content) else {
        return Thinking::Reasoning;
    };
    let from = content.get("from").and_then(Value::as_str).map(str::to_owned);
    let Some(from) = from else {
        return Thinking::ExtraContent(Value::Object(content.into_owned()));
    };
    match content.take("state") {
        Some(Value::Object(members)) => {
            Thinking::State(ProviderState { from, members: members.into_owned() })
        }
        _ => Thinking::Reasoning,
    }
}

/// Whether JSON can have a block of ours.
pub(super) fn may_contain(json: &str) -> bool {
    json.contains(MARK)
}

/// Whether a block is one of ours, whose signature Anthropic would reject.
pub(super) fn is_ours(block: &RawValue) -> bool {
    if !may_contain(block.get()) {
        return false;
    }
    let block = json::parse_within(block.get(), &mut { usize::MAX }).unwrap_or_default();
    let kind = block.get("type").and_then(Value::as_str).unwrap_or_default();
    let is_anthropics = |block| matches!(read(block), Thinking::Anthropic);
    kind.ends_with("thinking") && !block.as_object().is_some_and(is_anthropics)
}
