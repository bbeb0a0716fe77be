//! What a request repeats in headers, so that a proxy can route it without reading the body. If header
//! and body differ, the request is refused: the proxy and this server would act on different things.
//!
//! A modern request must have these headers. An older one need not, but those that it has must fit.

use std::borrow::Cow;

use base64ct::{Base64, Encoding};
use serde_json::Number;

use super::message::{Era, MODERN, McpRequest, meta};
use super::reply::{Code, Error};
use crate::catalog::Tool;
use crate::http::Headers;
use crate::json::{self, Value};
use crate::text::excerpt;

/// The revision of a request.
pub(super) const VERSION: &str = "mcp-protocol-version";
/// The method.
pub(super) const METHOD: &str = "mcp-method";
/// The tool, the prompt or the resource.
const NAME: &str = "mcp-name";

/// Checks the headers of a request, and of a modern one also what its `_meta` must say.
///
/// The version header of an older request is not compared: it repeats nothing. At `initialize` a
/// client may send what it settled on before, and ask for something newer.
///
/// # Errors
/// In this order: the version header is missing or differs from `_meta` (-32020), `_meta` lacks what
/// it must say (-32602), the revision is not served (-32022), `Mcp-Method` or `Mcp-Name` differs, or
/// is missing from a modern request (-32020).
pub(super) fn check(request: &McpRequest<'_>, headers: &dyn Headers) -> Result<(), Error> {
    if let Some(version) = &request.modern {
        revision(request, version.as_deref())?;
    }
    let era = request.era();
    same("Mcp-Method", &request.method, headers.get(METHOD), era)?;
    let named = match &*request.method {
        "tools/call" | "prompts/get" => request.params.get("name"),
        "resources/read" => request.params.get("uri"),
        _ => return Ok(()),
    };
    // Where the body names nothing, that is the fault to tell.
    let Some(named) = named.and_then(Value::as_str) else { return Ok(()) };
    same("Mcp-Name", named, headers.get(NAME), era)
}

/// Checks the revision of a modern request; `version` is the header that names it.
fn revision(request: &McpRequest<'_>, version: Option<&str>) -> Result<(), Error> {
    let asked = request.meta.protocol_version.as_ref();
    let Some(version) = version else {
        return Err(mismatch("MCP-Protocol-Version", "is missing"));
    };
    if asked.and_then(Value::as_str).is_some_and(|asked| asked != version) {
        return Err(mismatch("MCP-Protocol-Version", "differs from _meta"));
    }
    let lacking = |what: &str| {
        let message = format!("params._meta must have {what}");
        Err(Error::new(Code::InvalidParams, message).status(400))
    };
    if asked.and_then(Value::as_str).is_none() {
        return lacking(concat!("the string ", meta!("protocolVersion")));
    }
    if !matches!(request.meta.client_capabilities, Some(Value::Object(_))) {
        return lacking(concat!("the object ", meta!("clientCapabilities")));
    }
    if version != MODERN {
        let message = format!("This version is not supported; {MODERN} is");
        let supported = vec![MODERN].into();
        let data = json::object([("supported", supported), ("requested", excerpt(version).into())]);
        return Err(Error::new(Code::UnsupportedVersion, message).data(data));
    }
    Ok(())
}

/// Checks the headers that repeat parameters of a tool.
///
/// # Errors
/// One differs, is there without its parameter, or is missing from a modern request (-32020).
pub(super) fn parameters(
    tool: &Tool,
    input: &Value<'_>,
    headers: &dyn Headers,
    era: Era,
) -> Result<(), Error> {
    tool.headers.iter().try_for_each(|parameter| {
        let value = parameter.path.iter().try_fold(input, |value, name| value.get(name));
        let sent = headers.get(parameter.header);
        match (value, sent) {
            (None | Some(Value::Null), None) => Ok(()),
            (None | Some(Value::Null), Some(_)) => {
                Err(mismatch(parameter.header, "is there, and its parameter is not"))
            }
            (Some(Value::String(text)), sent) => same(parameter.header, text, sent, era),
            (Some(Value::Bool(truth)), sent) => {
                same(parameter.header, if *truth { "true" } else { "false" }, sent, era)
            }
            (Some(Value::Number(number)), Some(sent)) => {
                let sent = decoded(parameter.header, &sent)?;
                // By the reader that is linked anyway: that of the standard library has tables of its own.
                let sent = json::parse(&sent).unwrap_or_default();
                let whole =
                    |number: &Number| number.as_i64().is_some() || number.as_u64().is_some();
                let equal = matches!(&sent, Value::Number(sent) if {
                    // Whole numbers are compared as such: as doubles, large ones fall together.
                    if whole(number) && whole(sent) {
                        number == sent
                    } else {
                        number.as_f64() == sent.as_f64()
                    }
                });
                if equal {
                    Ok(())
                } else {
                    Err(mismatch(parameter.header, "differs from the body"))
                }
            }
            (Some(Value::Number(_)), None) => absent(parameter.header, era),
            // No header can repeat these; the tool's schema refuses them.
            (Some(Value::Array(_) | Value::Object(_)), _) => Ok(()),
        }
    })
}

/// Checks that a header says what the body says.
fn same(name: &str, expected: &str, sent: Option<String>, era: Era) -> Result<(), Error> {
    let Some(sent) = sent else { return absent(name, era) };
    if decoded(name, &sent)? == expected {
        Ok(())
    } else {
        Err(mismatch(name, "differs from the body"))
    }
}

/// A header that repeats something of the body is not there.
fn absent(name: &str, era: Era) -> Result<(), Error> {
    match era {
        Era::Legacy => Ok(()),
        Era::Modern => Err(mismatch(name, "is missing")),
    }
}

/// What a header says: itself, or the text that stands in it as `=?base64?…?=`.
fn decoded<'a>(name: &str, sent: &'a str) -> Result<Cow<'a, str>, Error> {
    let sent = sent.trim();
    let wrapped = sent.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?="));
    let Some(wrapped) = wrapped else { return Ok(sent.into()) };
    let bytes = Base64::decode_vec(wrapped).ok();
    let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    text.map(Cow::Owned).ok_or_else(|| mismatch(name, "is not base64 of a text"))
}

fn mismatch(name: &str, what: &str) -> Error {
    Error::new(Code::HeaderMismatch, format!("The header {name} {what}"))
}
