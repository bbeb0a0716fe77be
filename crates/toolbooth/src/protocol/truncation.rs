//! Cuts results for models at 64 KB (2api.ai, 8.3), with a notice.

use serde_json::Value;

use crate::json;

const MAX_BYTES: usize = 64 * 1024;
/// How many bytes of a larger result are kept.
const KEPT_BYTES: usize = 60_000;
const TRUNCATED: &str = "\n\n[Truncated: Result exceeded 64KB limit]";

/// The value itself, or the beginning of its JSON as a string if it is too large.
pub fn truncate_value(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(truncate(text)),
        Value::Null | Value::Bool(_) | Value::Number(_) => value,
        Value::Array(_) | Value::Object(_) => {
            let text = json::to_string(&value);
            if text.len() > MAX_BYTES { Value::String(truncate(text)) } else { value }
        }
    }
}

/// Truncates a text that is too large at a character boundary, with a notice.
pub fn truncate(mut text: String) -> String {
    if text.len() > MAX_BYTES {
        text.truncate(text.floor_char_boundary(KEPT_BYTES));
        text.push_str(TRUNCATED);
    }
    text
}
