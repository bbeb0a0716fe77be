//! OXP with flat bodies.

use serde_json::{Map, Value};

use super::{Answer, ensure, members};

pub(super) fn check(answer: &Answer<'_>) -> Result<(), String> {
    ensure(answer.all("oxp-version").eq(["1.0"]), "OXP-Version: 1.0 is not there exactly once")?;
    if answer.status == 204 || answer.status == 304 || answer.method == "HEAD" {
        return Ok(());
    }
    let body = answer.object()?;
    match answer.status {
        200 if body.contains_key("items") => list(&body),
        200 if body.contains_key("status") => members(&body, &["status"], &[]),
        200 => ran(&body),
        422 => invalid(&body),
        _ => refused(answer.status, &body),
    }
}

/// What every refusal of OXP and OTC has in common.
pub(super) fn refused(status: u16, body: &Map<String, Value>) -> Result<(), String> {
    match status {
        503 => members(body, &["status"], &["problems"]),
        400 => members(body, &["message"], &["developer_message", "missing_requirements"]),
        401 | 403 | 404 | 405 | 413 | 415 | 429 | 500 => {
            members(body, &["message"], &["developer_message"])
        }
        _ => Err("a status that no answer has".to_owned()),
    }
}

fn list(body: &Map<String, Value>) -> Result<(), String> {
    match body.get("items") {
        Some(Value::Array(_)) if body.len() == 1 => Ok(()),
        _ => Err("not a list of tools".to_owned()),
    }
}

/// A `CallToolResponse`: a value or an error, never both.
pub(super) fn ran(body: &Map<String, Value>) -> Result<(), String> {
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

pub(super) fn invalid(body: &Map<String, Value>) -> Result<(), String> {
    members(body, &["message"], &["parameter_errors"])?;
    match body.get("parameter_errors") {
        Some(Value::Object(errors)) if !errors.is_empty() && errors.len() <= 32 => {
            let names: Vec<_> = errors.keys().map(String::as_str).collect();
            members(errors, &names, &[])
        }
        _ => Err("parameter_errors is not an object of 1 to 32 entries".to_owned()),
    }
}
