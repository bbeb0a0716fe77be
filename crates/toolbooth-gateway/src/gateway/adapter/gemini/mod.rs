//! Gemini generateContent.

mod answer;
mod contents;
mod request;

use std::fmt::Write;

use super::Adapter;

pub(super) static ADAPTER: Adapter = Adapter {
    list: "gemini",
    path,
    headers: |key| key.map(|key| ("x-goog-api-key", key.to_owned())).into_iter().collect(),
    translate: request::translate,
    decode: answer::decode,
    decoder: || Box::<answer::Stream>::default(),
};

/// The path and query of a request. A model's name is one segment; other characters are escaped.
fn path(model: &str, stream: bool) -> String {
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
