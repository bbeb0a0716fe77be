//! OTC, and OXP as published: bodies that name their version, and calls in envelopes.

use serde_json::{Map, Value};

use super::{Answer, ensure, members, oxp};

pub(super) fn otc(answer: &Answer<'_>) -> Result<(), String> {
    check(answer, "otc://1.0", "tools")
}

pub(super) fn oxp(answer: &Answer<'_>) -> Result<(), String> {
    check(answer, "urn:oxp:1.0", "items")
}

/// `marker` is that of the mount, and `list` what its lists call the array.
fn check(answer: &Answer<'_>, marker: &str, list: &str) -> Result<(), String> {
    ensure(answer.all("oxp-version").next().is_none(), "OXP-Version belongs to flat bodies")?;
    if answer.status == 204 || answer.status == 304 || answer.method == "HEAD" {
        return Ok(());
    }
    let body = answer.object()?;
    let marked = body.get("$schema").and_then(Value::as_str) == Some(marker);
    match (answer.status, body.get(list)) {
        // Not the protocol's own: health has no form.
        (200, _) if body.contains_key("status") => members(&body, &["status"], &[]),
        (503, _) => oxp::refused(503, &body),
        (200, Some(Value::Array(_))) => ensure(marked && body.len() == 2, "not a list of tools"),
        (200 | 400 | 422, _) => call(answer.status, body),
        _ => ensure(marked, "not marked as the mount's").and(call(answer.status, body)),
    }
}

/// What is answered to a call in an envelope.
pub(super) fn call(status: u16, mut body: Map<String, Value>) -> Result<(), String> {
    let marker = match body.remove("$schema") {
        Some(Value::String(marker)) => marker,
        _ => return Err("$schema is not a text".to_owned()),
    };
    let address = marker.starts_with("https://") && marker.ends_with("/http/1.0/openapi.json");
    let known = address || ["otc://1.0", "urn:oxp:1.0"].contains(&&*marker);
    ensure(known, "$schema names a version that is not served")?;
    match (status, body.get("result")) {
        (200, Some(Value::Object(result))) if body.len() == 1 => oxp::ran(result),
        (200, _) => Err("result was expected, and nothing beside it".to_owned()),
        (422, _) => oxp::invalid(&body),
        _ if marker.starts_with("otc:") => members(&body, &["message"], &["developer_message"]),
        _ => oxp::refused(status, &body),
    }
}
