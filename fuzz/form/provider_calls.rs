//! Calls of model providers: results to append to a conversation, or an error.

use serde_json::{Map, Value};

use super::{Answer, ensure, members};

pub(super) fn check(answer: &Answer<'_>) -> Result<(), String> {
    if answer.status == 204 || answer.method == "HEAD" {
        return Ok(());
    }
    let mut body = answer.object()?;
    match answer.status {
        200 => {
            let beside = body.remove("_toolbooth").ok_or("_toolbooth is not there")?;
            let told = calls(&beside)?;
            let results = results(answer.path, &body)?;
            ensure(results == told, "another number of results than of calls")
        }
        400 | 401 | 403 | 404 | 405 | 413 | 415 | 429 | 500 | 503 => match body.get("error") {
            Some(Value::Object(error)) if body.len() == 1 => {
                members(error, &["code", "message", "type"], &[])
            }
            _ => Err("an error was expected, and nothing beside it".to_owned()),
        },
        _ => Err("a status that no answer has".to_owned()),
    }
}

/// What is said of the calls; gives their number.
fn calls(beside: &Value) -> Result<usize, String> {
    let list = |name: &str| {
        beside.get(name).and_then(Value::as_array).ok_or(format!("{name} is not a list"))
    };
    for call in list("calls")? {
        let call = call.as_object().ok_or("a call is not an object")?;
        // The name is what the model wrote, and that may be nothing.
        members(call, &["id"], &["name", "success"])?;
        let told = call.get("name").is_some_and(Value::is_string)
            && call.get("success").is_some_and(Value::is_boolean);
        ensure(told, "a call without name or success")?;
    }
    let warned = list("warnings")?.iter().all(Value::is_string);
    ensure(warned, "a warning is not a text")?;
    Ok(list("calls")?.len())
}

/// The results that are to be appended; gives their number.
fn results(path: &str, body: &Map<String, Value>) -> Result<usize, String> {
    let (member, within) = match path {
        "/providers/openai/call" => ("messages", None),
        "/providers/openai-responses/call" => ("input", None),
        "/providers/anthropic/call" => ("messages", Some("content")),
        "/providers/gemini/call" => ("contents", Some("parts")),
        _ => return Err("nothing is at this address".to_owned()),
    };
    ensure(body.len() == 1, "more than the results")?;
    let list = body.get(member).and_then(Value::as_array).ok_or("no list of results")?;
    let Some(within) = within else {
        list.iter().try_for_each(result)?;
        return Ok(list.len());
    };
    match list.as_slice() {
        [] => Ok(0),
        [one] => {
            ensure(one.get("role").is_some_and(|role| role == "user"), "not the user's turn")?;
            let results = one.get(within).and_then(Value::as_array).ok_or("no results")?;
            ensure(!results.is_empty(), "a turn without results")?;
            results.iter().try_for_each(result)?;
            Ok(results.len())
        }
        _ => Err("results in several turns".to_owned()),
    }
}

fn result(result: &Value) -> Result<(), String> {
    let text = |name: &str| result.get(name).is_some_and(Value::is_string);
    let is = |name: &str, value: &str| result.get(name).is_some_and(|found| found == value);
    let function = result.get("functionResponse").and_then(Value::as_object);
    let good = match function {
        Some(function) => {
            let response = function.get("response").and_then(Value::as_object);
            function.get("name").is_some_and(Value::is_string)
                && function.get("id").is_none_or(Value::is_string)
                && response.is_some_and(|response| {
                    response.len() == 1
                        && (response.contains_key("output")
                            || response.get("error").is_some_and(Value::is_string))
                })
        }
        None => {
            is("role", "tool") && text("tool_call_id") && text("content")
                || is("type", "function_call_output") && text("call_id") && text("output")
                || is("type", "tool_result")
                    && text("tool_use_id")
                    && text("content")
                    && result.get("is_error").is_some_and(Value::is_boolean)
        }
    };
    ensure(good, "a result of no provider's form")
}
