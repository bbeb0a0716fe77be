//! One exchange with the server: the request that some bytes stand for, and what an answer must be.
//!
//! The fuzz target and the native tests of crates/toolbooth share this file, so that a corpus file
//! means the same request to both. It names nothing of the library.

use serde_json::{Map, Value};

/// A request.
pub(crate) struct Request<'a> {
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    pub(crate) headers: &'static [(&'static str, &'static str)],
    pub(crate) body: &'a [u8],
}

const JSON: (&str, &str) = ("content-type", "application/json");

/// Reads a request: the first byte picks the endpoint, the rest is the body.
///
/// The letters are for the people who read the corpus; every other byte is a plain call.
pub(crate) fn request(bytes: &[u8]) -> Request<'_> {
    let (first, body) = bytes.split_first().map_or((b'c', bytes), |(first, rest)| (*first, rest));
    let call: &[_] = &[JSON];
    let (method, path, headers): (_, _, &[_]) = match first {
        b'a' => ("POST", "/call", call),
        b'b' => ("POST", "/oxp/tools/call", call),
        b'v' => ("POST", "/tools/call", &[JSON, ("oxp-version", "2.0")]),
        b'p' => ("POST", "/tools/call", &[("content-type", "text/plain")]),
        b't' => ("GET", "/tools", &[]),
        b'h' => ("GET", "/health", &[]),
        b'n' => ("POST", "/nowhere", call),
        b'm' => ("PUT", "/tools/call", call),
        b'o' => ("OPTIONS", "/tools/call", &[]),
        _ => ("POST", "/tools/call", call),
    };
    Request { method, path, headers, body }
}

/// Checks the form of an answer, whatever was asked.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn check(
    method: &str,
    status: u16,
    headers: &[(&str, &str)],
    body: &[u8],
) -> Result<(), String> {
    let all = |name| headers.iter().filter(move |(key, _)| *key == name).map(|(_, value)| *value);
    let ensure = |good: bool, what: &str| if good { Ok(()) } else { Err(what.to_owned()) };

    ensure(all("oxp-version").eq(["1.0"]), "OXP-Version: 1.0 is not there exactly once")?;
    for (name, value) in headers {
        ensure(all(name).count() == 1, &format!("{name} is there more than once"))?;
        let plain = !value.contains(|c: char| c.is_control());
        ensure(plain, &format!("{name} has a control character: {value:?}"))?;
    }
    if status == 204 || status == 304 || method == "HEAD" {
        return ensure(body.is_empty(), "a body where none may be");
    }
    ensure(all("content-type").eq(["application/json"]), "the content type is not JSON")?;
    let body: Map<String, Value> =
        serde_json::from_slice(body).map_err(|error| format!("not a JSON object: {error}"))?;
    match status {
        200 if body.contains_key("items") => list(&body),
        200 if body.contains_key("status") => members(&body, &["status"], &[]),
        200 => ran(&body),
        503 => members(&body, &["status"], &["problems"]),
        400 => members(&body, &["message"], &["developer_message", "missing_requirements"]),
        403 | 404 | 405 | 413 | 415 => members(&body, &["message"], &["developer_message"]),
        422 => invalid(&body),
        _ => Err("a status that no answer has".to_owned()),
    }
}

/// An object has these members and no others; the required ones are texts.
fn members(
    object: &Map<String, Value>,
    required: &[&str],
    optional: &[&str],
) -> Result<(), String> {
    for name in required {
        if object.get(*name).and_then(Value::as_str).is_none_or(str::is_empty) {
            return Err(format!("{name} is not a text"));
        }
    }
    let known =
        |name: &&String| required.contains(&name.as_str()) || optional.contains(&name.as_str());
    match object.keys().find(|name| !known(name)) {
        None => Ok(()),
        Some(name) => Err(format!("{name} is not a member of this answer")),
    }
}

fn list(body: &Map<String, Value>) -> Result<(), String> {
    match body.get("items") {
        Some(Value::Array(_)) if body.len() == 1 => Ok(()),
        _ => Err("not a list of tools".to_owned()),
    }
}

/// A `CallToolResponse`: a value or an error, never both.
fn ran(body: &Map<String, Value>) -> Result<(), String> {
    let is = |name: &str, form: fn(&Value) -> bool| body.get(name).is_some_and(form);
    if !is("call_id", Value::is_string) || !is("duration", Value::is_u64) || body.len() != 4 {
        return Err("call_id, duration, success and one more were expected".to_owned());
    }
    match (body.get("success"), body.get("value"), body.get("error")) {
        (Some(Value::Bool(true)), Some(_), None) => Ok(()),
        (Some(Value::Bool(false)), None, Some(Value::Object(error))) => {
            let optional =
                ["can_retry", "developer_message", "additional_prompt_content", "retry_after_ms"];
            members(error, &["message"], &optional)
        }
        _ => Err("success does not agree with value and error".to_owned()),
    }
}

fn invalid(body: &Map<String, Value>) -> Result<(), String> {
    members(body, &["message"], &["parameter_errors"])?;
    match body.get("parameter_errors") {
        Some(Value::Object(errors)) if !errors.is_empty() && errors.len() <= 32 => {
            let names: Vec<_> = errors.keys().map(String::as_str).collect();
            members(errors, &names, &[])
        }
        _ => Err("parameter_errors is not an object of 1 to 32 entries".to_owned()),
    }
}
