//! Checks the headers that repeat parts of the body, so that proxies can route a request without reading it.
//! If a header and the body differ, the request is rejected: a proxy might have allowed something else.
//!
//! Modern requests must have these headers. Legacy requests may leave them out.

use std::borrow::Cow;

use base64ct::{Base64, Encoding};
use serde_json::Number;

use super::error::{ErrorCode, McpError};
use super::message::{Era, MODERN, McpRequest, meta};
use crate::catalog::Tool;
use crate::http::Headers;
use crate::json::{self, Value};

pub(super) const VERSION: &str = "mcp-protocol-version";
pub(super) const METHOD: &str = "mcp-method";

/// Checks the headers of a request, and what a modern request must have in `_meta`.
///
/// The version header of a legacy request repeats nothing: with `initialize`, a client may send the version
/// of an earlier connection and ask for a newer one.
///
/// # Errors
/// In this order: the version header is missing or differs from `_meta` (-32020), `_meta` lacks a
/// required member (-32602), the version is not supported (-32022), `Mcp-Method` or `Mcp-Name` differs, or
/// is missing from a modern request (-32020).
pub(super) fn check(request: &McpRequest<'_>, headers: &dyn Headers) -> Result<(), McpError> {
    let era = request.era;
    if era == Era::Modern {
        check_version(request)?;
    }
    compare("Mcp-Method", &|sent| sent == request.method, headers.get(METHOD), era)?;
    let named = match &*request.method {
        "tools/call" | "prompts/get" => request.params.get("name"),
        "resources/read" => request.params.get("uri"),
        "tasks/get" | "tasks/update" | "tasks/cancel" => request.params.get("taskId"),
        _ => return Ok(()),
    };
    // A body without the name is the more useful error.
    let Some(named) = named.and_then(Value::as_str) else { return Ok(()) };
    compare("Mcp-Name", &|sent| sent == named, headers.get("mcp-name"), era)
}

fn check_version(request: &McpRequest<'_>) -> Result<(), McpError> {
    let requested = request.meta.protocol_version.as_ref().and_then(Value::as_str);
    let Some(version) = &request.version else {
        return Err(mismatch("MCP-Protocol-Version", "is missing"));
    };
    if requested.is_some_and(|requested| requested != version) {
        return Err(mismatch("MCP-Protocol-Version", "differs from _meta"));
    }
    let missing = |member: &str| {
        let message = format!("params._meta must have {member}");
        Err(McpError::invalid_params(message).status(400))
    };
    if requested.is_none() {
        return missing(concat!("the string ", meta!("protocolVersion")));
    }
    if !matches!(request.meta.client_capabilities, Some(Value::Object(_))) {
        return missing(concat!("the object ", meta!("clientCapabilities")));
    }
    if version == MODERN { Ok(()) } else { Err(McpError::unsupported_version(version)) }
}

/// Checks that no header of a tool's parameters differs, lacks its parameter, or is missing from a modern request.
pub(super) fn check_parameters(
    tool: &Tool,
    input: &Value<'_>,
    headers: &dyn Headers,
    era: Era,
) -> Result<(), McpError> {
    tool.headers.iter().try_for_each(|parameter| {
        let value = parameter.path.iter().try_fold(input, |value, name| value.get(name));
        let (name, sent) = (parameter.header, headers.get(parameter.header));
        match value {
            None | Some(Value::Null) if sent.is_none() => Ok(()),
            None | Some(Value::Null) => Err(mismatch(name, "was sent without its parameter")),
            Some(Value::String(text)) => compare(name, &|sent| sent == text, sent, era),
            Some(Value::Bool(truth)) => compare(name, &|sent| sent == truth.to_string(), sent, era),
            Some(Value::Number(number)) => {
                // `str::parse` would add its own tables for numbers to the Worker.
                let is_equal = |sent: &str| {
                    matches!(json::parse(sent), Ok(Value::Number(sent)) if equal(number, &sent))
                };
                compare(name, &is_equal, sent, era)
            }
            // The build allows headers of strings, numbers and booleans only: the schema rejects these.
            Some(Value::Array(_) | Value::Object(_)) => Ok(()),
        }
    })
}

/// Whether two numbers are equal. Integers are compared exactly: as doubles, large neighbours are equal.
fn equal(one: &Number, other: &Number) -> bool {
    let is_integer = |number: &Number| number.as_i64().is_some() || number.as_u64().is_some();
    if is_integer(one) && is_integer(other) { one == other } else { one.as_f64() == other.as_f64() }
}

/// Checks that the text of a header is that of the body.
fn compare(
    name: &str,
    is_expected: &dyn Fn(&str) -> bool,
    sent: Option<String>,
    era: Era,
) -> Result<(), McpError> {
    match sent {
        Some(sent) if is_expected(&decoded(name, &sent)?) => Ok(()),
        Some(_) => Err(mismatch(name, "differs from the body")),
        None if era == Era::Legacy => Ok(()),
        None => Err(mismatch(name, "is missing")),
    }
}

/// The text of a header, which may be encoded as `=?base64?…?=`.
fn decoded<'a>(name: &str, sent: &'a str) -> Result<Cow<'a, str>, McpError> {
    let sent = sent.trim();
    let wrapped = sent.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?="));
    wrapped.map_or(Ok(sent.into()), |wrapped| decode(name, wrapped).map(Cow::Owned))
}

#[inline(never)]
fn decode(name: &str, wrapped: &str) -> Result<String, McpError> {
    let bytes = Base64::decode_vec(wrapped).ok();
    let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    text.ok_or_else(|| mismatch(name, "is not valid Base64 of a text"))
}

#[inline(never)]
fn mismatch(name: &str, problem: &str) -> McpError {
    McpError::new(ErrorCode::HEADER_MISMATCH, format!("The header {name} {problem}"))
}
