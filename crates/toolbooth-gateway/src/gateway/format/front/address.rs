//! The addresses in the parts of messages: of images, sounds, videos and files. A model on the operator's own machines may fetch
//! them from there, so they must not lead to a private service or a file.

use crate::gateway::error::{GatewayError, Result};
use toolbooth::json::Value;
use toolbooth::schema::text::excerpt;

/// Members with text that nothing fetches, and with the sources that a model has named.
const TEXTS: [&str; 12] = [
    "text",
    "content",
    "refusal",
    "thinking",
    "title",
    "context",
    "citations",
    "annotations",
    "logprobs",
    "logs",
    "stdout",
    "stderr",
];

/// Checks all addresses in the parts at `path`.
///
/// # Errors
/// One of them is neither an `https` nor a `data` URL.
pub(in crate::gateway::format) fn check(path: &str, parts: &Value<'_>) -> Result<()> {
    let Some(place) = forbidden("", parts) else { return Ok(()) };
    let expected = "an https URL, or a data URL such as data:image/png;base64,…";
    Err(GatewayError::expected(&format!("{path}{place}"), expected))
}

/// Where the first address is that is not allowed, below the value of the member `name`.
fn forbidden(name: &str, value: &Value<'_>) -> Option<String> {
    match value {
        Value::String(text) => (!is_allowed(name, text)).then(String::new),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .find_map(|(index, item)| Some(format!("[{index}]{}", forbidden(name, item)?))),
        Value::Object(members) => {
            let mut members = members.iter().filter(|(name, _)| !TEXTS.contains(&&**name));
            members.find_map(|(name, value)| {
                Some(format!(".{}{}", excerpt(name), forbidden(name, value)?))
            })
        }
        _ => None,
    }
}

/// A member whose name says that it is an address must be one that is allowed. Others may have one, too: some servers read images from
/// `image`, or files from `file_data`.
fn is_allowed(name: &str, text: &str) -> bool {
    let (scheme, rest) = text.trim_start().split_once(':').unwrap_or_default();
    let is = |other: &&str| scheme.eq_ignore_ascii_case(other);
    if ["https", "data"].iter().any(is) {
        return true;
    }
    !(name.ends_with("url") || rest.starts_with("//") || is(&"file"))
}
