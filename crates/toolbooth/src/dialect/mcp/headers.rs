//! What a modern request repeats in headers, so that whatever routes requests on the way need not
//! read bodies. A body that says something else is refused: two readers would disagree on it.

use std::borrow::Cow;

use base64ct::{Base64, Encoding};
use serde_json::Number;

use super::message::{MODERN, Request, meta};
use super::reply::{Code, Error};
use crate::call::excerpt;
use crate::catalog::Tool;
use crate::http::Headers;
use crate::json::{self, Value};

/// The revision of a request.
pub(super) const VERSION: &str = "mcp-protocol-version";
/// The method.
pub(super) const METHOD: &str = "mcp-method";
/// The tool, the prompt or the resource.
const NAME: &str = "mcp-name";

/// Checks the headers of a modern request and what its `_meta` must say. `version` is the header
/// that names its revision.
///
/// # Errors
/// In this order: the header is missing or differs from `_meta` (-32020), `_meta` lacks what it must
/// say (-32602), the revision is not served (-32022), `Mcp-Method` or `Mcp-Name` is missing or
/// differs (-32020).
pub(super) fn check(
    request: &Request<'_>,
    version: &Option<String>,
    headers: &dyn Headers,
) -> Result<(), Error> {
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
    same("Mcp-Method", &request.method, headers.get(METHOD))?;
    let named = match &*request.method {
        "tools/call" | "prompts/get" => request.params.get("name"),
        "resources/read" => request.params.get("uri"),
        _ => return Ok(()),
    };
    // Where the body names nothing, that is the fault to tell.
    named.and_then(Value::as_str).map_or(Ok(()), |named| same("Mcp-Name", named, headers.get(NAME)))
}

/// Checks the headers that repeat parameters of a tool.
///
/// # Errors
/// One is missing, differs, or is there without its parameter (-32020).
pub(super) fn parameters(
    tool: &Tool,
    input: &Value<'_>,
    headers: &dyn Headers,
) -> Result<(), Error> {
    tool.headers.iter().try_for_each(|parameter| {
        let value = parameter.path.iter().try_fold(input, |value, name| value.get(name));
        let sent = headers.get(parameter.header);
        match (value, sent) {
            (None | Some(Value::Null), None) => Ok(()),
            (None | Some(Value::Null), Some(_)) => {
                Err(mismatch(parameter.header, "is there, and its parameter is not"))
            }
            (Some(Value::String(text)), sent) => same(parameter.header, text, sent),
            (Some(Value::Bool(truth)), sent) => {
                same(parameter.header, if *truth { "true" } else { "false" }, sent)
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
            (Some(Value::Number(_)), None) => Err(mismatch(parameter.header, "is missing")),
            // No header can repeat these; the tool's schema refuses them.
            (Some(Value::Array(_) | Value::Object(_)), _) => Ok(()),
        }
    })
}

/// Checks that a header says what the body says.
fn same(name: &str, expected: &str, sent: Option<String>) -> Result<(), Error> {
    let Some(sent) = sent else { return Err(mismatch(name, "is missing")) };
    if decoded(name, &sent)? == expected {
        Ok(())
    } else {
        Err(mismatch(name, "differs from the body"))
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
