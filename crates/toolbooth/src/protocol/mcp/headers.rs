//! Checks the headers that repeat parts of the body, so that proxies can route a request without reading it.
//! If a header and the body differ, the request is rejected: a proxy might have allowed something else.
//!
//! Modern requests must have these headers. Legacy requests may leave them out.

use std::cell::Cell;

use base64ct::{Base64, Encoding};
use serde_json::Number;

use super::error::{ErrorCode, McpError};
use super::message::{Era, MODERN, McpRequest, meta};
use crate::catalog::Tool;
use crate::http::Headers;
use crate::json::{self, Value};

const VERSION: &str = "mcp-protocol-version";
pub(super) const METHOD: &str = "mcp-method";

const VERSION_HEADER: &str = "MCP-Protocol-Version";

/// What is wrong with a header: ends a sentence that begins with its name.
pub(super) type HeaderProblem = &'static str;

/// The spaces that may be around the values of a header (RFC 9110, 5.6.3).
const BLANKS: [char; 2] = [' ', '\t'];

/// The version that the header names; `None` if there is no value.
///
/// Several headers with this name are one text with commas here, whoever has joined them (RFC 9110, 5.3): clients and the
/// libraries that they use both set it. The same version twice is that version.
///
/// # Errors
/// It names different versions, or has characters that no version has.
pub(super) fn version(headers: &dyn Headers) -> Result<Option<String>, HeaderProblem> {
    let Some(sent) = headers.get(VERSION) else { return Ok(None) };
    check_characters(&sent)?;
    let mut named = sent.split(',').map(|one| one.trim_matches(BLANKS)).filter(|it| !it.is_empty());
    let Some(version) = named.next() else { return Ok(None) };
    if named.any(|other| other != version) {
        return Err("names different versions");
    }
    Ok(Some(version.to_owned()))
}

/// Checks the headers of a request, and what a modern request must have in `_meta`.
///
/// The version header of a legacy request repeats nothing.
///
/// # Errors
/// In this order: the version header is malformed, is missing from a modern request or differs from `_meta` (-32020), the version
/// is not supported (-32022), `_meta` lacks a required member (-32602), `Mcp-Method` or `Mcp-Name` differs, or is missing from a
/// modern request (-32020).
pub(super) fn check(request: &McpRequest<'_>, headers: &dyn Headers) -> Result<(), McpError> {
    let era = request.era;
    let version = request.version.as_ref().map_err(|problem| mismatch(VERSION_HEADER, problem))?;
    if era == Era::Modern {
        check_version(request, version.as_deref())?;
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
    compare_decoded("Mcp-Name", &|sent| sent == named, headers.get("mcp-name"), era)
}

fn check_version(request: &McpRequest<'_>, version: Option<&str>) -> Result<(), McpError> {
    let Some(version) = version else {
        return Err(mismatch(VERSION_HEADER, "is missing"));
    };
    let missing = |member: &str| {
        let message = format!("params._meta must have {member}");
        Err(McpError::invalid_params(message).status(400))
    };
    match request.meta.protocol_version.as_ref().map(Value::as_str) {
        Some(Some(requested)) if requested != version => {
            return Err(mismatch(VERSION_HEADER, "differs from _meta"));
        }
        // Clients of a version that is not served may know no such member, and choose from those that are.
        Some(Some(_)) | None if version != MODERN => {
            return Err(McpError::unsupported_version(version));
        }
        Some(Some(_)) => {}
        Some(None) | None => return missing(concat!("the string ", meta!("protocolVersion"))),
    }
    match request.meta.client_capabilities {
        Some(Value::Object(_)) => Ok(()),
        _ => missing(concat!("the object ", meta!("clientCapabilities"))),
    }
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
            Some(Value::String(text)) => compare_decoded(name, &|sent| sent == text, sent, era),
            Some(Value::Bool(truth)) => compare_decoded(name, &|sent| sent == truth.to_string(), sent, era),
            Some(Value::Number(number)) => {
                // `str::parse` would add its own tables for numbers to the Worker.
                let is_equal = |sent: &str| {
                    matches!(json::parse(sent), Ok(Value::Number(sent)) if equal(number, &sent))
                };
                compare_decoded(name, &is_equal, sent, era)
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

/// Checks that the value of a header is that of the body.
fn compare(
    name: &str,
    is_expected: &dyn Fn(&str) -> bool,
    sent: Option<String>,
    era: Era,
) -> Result<(), McpError> {
    let Some(sent) = sent else {
        return if era == Era::Legacy { Ok(()) } else { Err(mismatch(name, "is missing")) };
    };
    check_characters(&sent).map_err(|problem| mismatch(name, problem))?;
    if repeats(&sent, is_expected) { Ok(()) } else { Err(mismatch(name, "differs from the body")) }
}

/// Like [`compare`], for a header whose value may be encoded as `=?base64?…?=`.
fn compare_decoded(
    name: &str,
    is_expected: &dyn Fn(&str) -> bool,
    sent: Option<String>,
    era: Era,
) -> Result<(), McpError> {
    let is_invalid = Cell::new(false);
    let is_value = |sent: &str| match wrapped(sent) {
        None => is_expected(sent),
        Some(wrapped) => {
            let text = decode(wrapped);
            is_invalid.set(text.is_none());
            text.is_some_and(|text| is_expected(&text))
        }
    };
    compare(name, &is_value, sent, era).map_err(|error| match is_invalid.get() {
        true => mismatch(name, "is not valid Base64 of a text"),
        false => error,
    })
}

/// Whether a text is a value, or several copies of it that were joined with commas (RFC 9110, 5.3). A value may contain
/// commas itself.
fn repeats(text: &str, is_value: &dyn Fn(&str) -> bool) -> bool {
    let mut rest = text.trim_matches(BLANKS);
    if is_value(rest) {
        return true;
    }
    let mut has_value = false;
    while !rest.is_empty() {
        let mut ends = rest.match_indices(',').map(|(at, _)| at).chain([rest.len()]);
        let copy = ends.find_map(|end| {
            let (copy, rest) = rest.split_at_checked(end)?;
            is_value(copy.trim_matches(BLANKS)).then_some(rest)
        });
        let after = match copy {
            Some(after) => after,
            // Recipients ignore empty elements (RFC 9110, 5.6.1.2).
            None if rest.starts_with(',') => rest,
            None => return false,
        };
        has_value |= copy.is_some();
        rest = after.trim_start_matches([' ', '\t', ',']);
    }
    has_value
}

/// The Base64 of a value that is encoded as `=?base64?…?=`. It has no commas.
fn wrapped(sent: &str) -> Option<&str> {
    let wrapped = sent.strip_prefix("=?base64?")?.strip_suffix("?=")?;
    (!wrapped.contains(',')).then_some(wrapped)
}

#[inline(never)]
fn decode(wrapped: &str) -> Option<String> {
    String::from_utf8(Base64::decode_vec(wrapped).ok()?).ok()
}

/// Checks that a header has only printable ASCII characters, spaces and tabs: proxies read other bytes in different ways.
fn check_characters(sent: &str) -> Result<(), HeaderProblem> {
    let is_allowed = |byte: u8| matches!(byte, b'\t' | b' '..=b'~');
    if sent.bytes().all(is_allowed) {
        return Ok(());
    }
    Err(
        "has characters other than printable ASCII; Mcp-Name and Mcp-Param-… take them as =?base64?…?=",
    )
}

#[inline(never)]
fn mismatch(name: &str, problem: &str) -> McpError {
    McpError::new(ErrorCode::HEADER_MISMATCH, format!("The header {name} {problem}"))
}
