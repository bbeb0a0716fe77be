//! The root: its index, OXP with flat bodies, and the other forms that a call may have there.

use serde_json::{Map, Value};

use super::{Answer, ensure, envelope, members, opentool, oxp};

pub(super) fn check(answer: &Answer<'_>) -> Result<(), String> {
    ensure(answer.all("oxp-version").eq(["1.0"]), "OXP-Version: 1.0 is not there exactly once")?;
    let opentool = ["/version", "/load"].contains(&answer.path) && answer.status == 200;
    match serde_json::from_slice(answer.body) {
        Ok(Value::Object(body)) if answer.path == "/" && answer.status == 200 => index(&body),
        Ok(Value::Object(body)) if body.contains_key("$schema") => {
            envelope::call(answer.status, body)
        }
        Ok(Value::Object(body)) if opentool || body.contains_key("jsonrpc") => {
            opentool::check(answer)
        }
        Ok(Value::Array(_)) => opentool::check(answer),
        _ => oxp::check(answer),
    }
}

fn index(body: &Map<String, Value>) -> Result<(), String> {
    members(body, &["name", "version"], &["protocols"])?;
    let protocols = body.get("protocols").and_then(Value::as_array);
    ensure(protocols.is_some_and(|all| !all.is_empty()), "no protocols")
}
