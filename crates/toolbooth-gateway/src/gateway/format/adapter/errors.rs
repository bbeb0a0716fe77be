//! Errors of providers, which are alike in all formats.

use std::borrow::Cow;

use crate::gateway::answer::completion::UpstreamError;
use crate::gateway::format::adapter::minimax;
use crate::gateway::relay::optional_members::{complaints, described};
use crate::wire::fields::{count, text};
use toolbooth::json::{self, Value};
use toolbooth::schema::text::cut;

/// The longest error message that is passed on, in characters.
const MAX_MESSAGE: usize = 2000;

/// Decodes the body of a response with an error status. All providers' errors are alike.
pub(in crate::gateway) fn decode_error(status: u16, body: &[u8]) -> UpstreamError {
    reported(status, &json::parse_bytes(body).unwrap_or_else(|| words(body)))
}

/// A body that is not JSON: its words, unless it is a page for people.
fn words(body: &[u8]) -> Value<'_> {
    let text = std::str::from_utf8(body).unwrap_or_default().trim();
    let is_text = !text.is_empty() && !text.starts_with(['<', '{', '[']);
    if is_text { Value::String(text.into()) } else { Value::Null }
}

/// The error in a body or in an event. Without a status of its own, it has `status`; an error within an answer with
/// the status 200 gets the status that fits its type.
pub(in crate::gateway::format) fn reported(status: u16, whole: &Value<'_>) -> UpstreamError {
    // Gemini sends an array if the request was for a stream.
    let value = whole.as_array().and_then(<[_]>::first).unwrap_or(whole);
    let error = value.get("error").filter(|error| !error.is_null());
    let own = || value.get("base_resp").filter(|_| minimax::code(value).is_some());
    let error = error.or_else(own).unwrap_or(value);
    let first = |names: &[&str]| names.iter().find_map(|name| text(error.get(name)));
    let message = error.as_str().or_else(|| first(&["message", "detail", "status_msg"]));
    let message = message.map(Cow::Borrowed);
    let message = message.or_else(|| described(error).map(Cow::Owned));
    let message = message.unwrap_or("The provider reported an error without a message".into());
    let kind = first(&["type", "status", "code"]).unwrap_or_default();
    let code = count(error.get("code")).and_then(|code| u16::try_from(code).ok());
    let code = code.filter(|it| (400..600).contains(it));
    // Gemini answers a wrong key with 400.
    let details = error.get("details").and_then(Value::as_array).unwrap_or_default();
    let is_key_invalid = |detail: &Value<'_>| text(detail.get("reason")) == Some("API_KEY_INVALID");
    let status = match status {
        400 if details.iter().any(is_key_invalid) => 401,
        200 => code
            .or_else(|| minimax::code(value).map(minimax::status))
            .unwrap_or_else(|| status_of(kind)),
        status => status,
    };
    let message = cut(&message, MAX_MESSAGE);
    let complaints = if matches!(status, 400 | 422) { complaints(whole) } else { Vec::new() };
    match complaints.is_empty() {
        true => UpstreamError::Reported { status, message },
        false => UpstreamError::Rejected { status, message, complaints },
    }
}

/// The status that fits a type of error.
fn status_of(kind: &str) -> u16 {
    match kind {
        "invalid_request_error"
        | "invalid_prompt"
        | "invalid_value"
        | "unknown_parameter"
        | "unsupported_parameter"
        | "unsupported_value"
        | "context_length_exceeded"
        | "INVALID_ARGUMENT"
        | "FAILED_PRECONDITION" => 400,
        "authentication_error" | "UNAUTHENTICATED" => 401,
        "billing_error" => 402,
        "permission_error" | "PERMISSION_DENIED" => 403,
        "not_found_error" | "NOT_FOUND" => 404,
        "request_too_large" => 413,
        "rate_limit_error"
        | "rate_limit_exceeded"
        | "insufficient_quota"
        | "RESOURCE_EXHAUSTED" => 429,
        "UNAVAILABLE" => 503,
        "overloaded_error" => 529,
        "timeout_error" | "DEADLINE_EXCEEDED" => 504,
        _ => 500,
    }
}
