//! JSON-RPC 2.0, and its responses as OpenTool's endpoints give them.

use serde_json::{Map, Value};

use super::{Answer, ensure, members};

pub(super) fn check(answer: &Answer<'_>) -> Result<(), String> {
    match answer.status {
        _ if answer.method == "HEAD" => Ok(()),
        204 => Ok(()),
        200 => responses(answer, false),
        _ => refused(answer),
    }
}

/// One response, or those of a batch.
pub(super) fn responses(answer: &Answer<'_>, opentool: bool) -> Result<(), String> {
    match serde_json::from_slice(answer.body) {
        Ok(Value::Object(one)) => response(&one, opentool, opentool),
        Ok(Value::Array(several)) if !several.is_empty() => {
            several.iter().try_for_each(|one| match one {
                Value::Object(one) => response(one, opentool, false),
                _ => Err("a response that is no object".to_owned()),
            })
        }
        _ => Err("neither a response nor some".to_owned()),
    }
}

/// A response. `lenient` lets an empty result stand beside an error to a string id, and demands it.
pub(super) fn response(
    response: &Map<String, Value>,
    objects: bool,
    lenient: bool,
) -> Result<(), String> {
    members(response, &["jsonrpc"], &["result", "error", "id"])?;
    let is = |name: &str, form: fn(&Value) -> bool| response.get(name).is_some_and(form);
    ensure(is("jsonrpc", |version| version == "2.0"), "jsonrpc is not 2.0")?;
    ensure(is("id", |id| id.is_string() || id.is_number() || id.is_null()), "no id")?;
    let empty = |result: &Value| result.as_object().is_some_and(Map::is_empty);
    match (response.get("result"), response.get("error")) {
        (Some(result), None) => ensure(!objects || result.is_object(), "result is no object"),
        (Some(result), Some(Value::Object(told))) => {
            let allowed = lenient && is("id", Value::is_string) && empty(result);
            ensure(allowed, "a result beside an error")?;
            error(told)
        }
        (None, Some(Value::Object(told))) => {
            ensure(!(lenient && is("id", Value::is_string)), "an error without result")?;
            error(told)
        }
        _ => Err("neither a result nor an error".to_owned()),
    }
}

fn error(error: &Map<String, Value>) -> Result<(), String> {
    let mut texts = error.clone();
    let code = texts.remove("code").and_then(|code| code.as_i64());
    ensure(code.is_some(), "code is no integer")?;
    let data = texts.remove("data");
    ensure(data.is_none_or(|data| data.is_object()), "data is no object")?;
    members(&texts, &["message"], &[])
}

/// What every refusal before a request is read has in common: an error to the id null.
pub(super) fn refused(answer: &Answer<'_>) -> Result<(), String> {
    let body = answer.object()?;
    let known = [400, 401, 403, 404, 405, 413, 429, 503].contains(&answer.status);
    ensure(known, "a status that no answer has")?;
    ensure(body.get("id").is_some_and(Value::is_null), "an id where none was read")?;
    ensure(body.contains_key("error"), "no error")?;
    response(&body, false, false)
}
