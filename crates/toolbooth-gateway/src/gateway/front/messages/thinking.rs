//! Thinking blocks: those of Anthropic, and ours, which have what other providers must get back. Clients return both unchanged.

use serde_json::value::RawValue;

use toolbooth::json::{self, Object, Value};

/// What signatures and data of ours begin with. Anthropic's are base64, which has no colon.
const MARK: &str = "toolbooth:";

/// The signature of reasoning that is not Anthropic's, so that no model gets it back.
pub(super) const SIGNATURE: &str = "toolbooth:reasoning";

/// The data of a `redacted_thinking` block that precedes a call, and has its `extra_content`.
pub(super) fn data(extra_content: &Value<'_>) -> String {
    format!("{MARK}{}", extra_content.text())
}

/// What a thinking block is.
pub(super) enum Thinking {
    /// Anthropic's own.
    Anthropic,
    /// Reasoning of a different model.
    Reasoning,
    /// The `extra_content` of the call that follows.
    ExtraContent(Value<'static>),
}

pub(super) fn read(block: &Object<'_>) -> Thinking {
    let text = |name| block.get(name).and_then(Value::as_str).unwrap_or_default();
    if let Some(content) = text("data").strip_prefix(MARK) {
        return match json::parse(content) {
            Ok(content @ Value::Object(_)) => Thinking::ExtraContent(content.into_owned()),
            _ => Thinking::Reasoning,
        };
    }
    match text("signature").starts_with(MARK) {
        true => Thinking::Reasoning,
        false => Thinking::Anthropic,
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
