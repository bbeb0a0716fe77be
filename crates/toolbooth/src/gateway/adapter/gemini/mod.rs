//! Gemini generateContent.

mod contents;
mod request;
mod response;
mod stream;

pub(super) use request::translate;
pub(super) use response::decode;
pub(in crate::gateway) use stream::Stream;

use std::fmt::Write;

/// The path and query of a request. A model's name is one segment; other characters are escaped.
pub(super) fn path(model: &str, stream: bool) -> String {
    let mut path = "/v1beta/models/".to_owned();
    for byte in model.strip_prefix("models/").unwrap_or(model).bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~@".contains(&byte) {
            path.push(char::from(byte));
        } else {
            let _ = write!(path, "%{byte:02X}");
        }
    }
    path.push_str(if stream { ":streamGenerateContent?alt=sse" } else { ":generateContent" });
    path
}

/// The generation of a model, such as 2 for `gemini-2.5-flash`; `None` for names without one, such as
/// `gemini-flash-latest`.
fn generation(model: &str) -> Option<u64> {
    let rest = model.strip_prefix("models/").unwrap_or(model).strip_prefix("gemini-")?;
    rest.split(['.', '-']).next()?.parse().ok()
}
