//! Xaibo: a list of its `Tool`, and its `ToolResult` for everything else.

use serde_json::{Map, Value};

use super::{Answer, ensure, members};

pub(super) fn check(answer: &Answer<'_>) -> Result<(), String> {
    if answer.status == 204 || answer.status == 304 || answer.method == "HEAD" {
        return Ok(());
    }
    if answer.status == 200 && answer.method == "GET" {
        let tools: Vec<Value> = serde_json::from_slice(answer.body)
            .map_err(|error| format!("not a JSON array: {error}"))?;
        return tools.iter().try_for_each(tool);
    }
    let body = answer.object()?;
    match answer.status {
        200 => result(&body),
        400 | 401 | 403 | 404 | 405 | 413 | 415 | 429 | 500 | 503 => {
            ensure(body.get("success") == Some(&Value::Bool(false)), "a refusal with success")?;
            result(&body)
        }
        _ => Err("a status that no answer has".to_owned()),
    }
}

fn result(body: &Map<String, Value>) -> Result<(), String> {
    ensure(body.len() == 3, "success, result and error were expected")?;
    match (body.get("success"), body.get("result"), body.get("error")) {
        (Some(Value::Bool(true)), Some(_), Some(Value::Null)) => Ok(()),
        (Some(Value::Bool(false)), Some(Value::Null), Some(Value::String(error))) => {
            ensure(!error.is_empty() && error.len() < 65_536, "an empty or an endless error")
        }
        _ => Err("success does not agree with result and error".to_owned()),
    }
}

fn tool(tool: &Value) -> Result<(), String> {
    let tool = tool.as_object().ok_or("a tool that is no object")?;
    members(tool, &["name", "description"], &["parameters"])?;
    let parameters = tool.get("parameters").and_then(Value::as_object).ok_or("no parameters")?;
    parameters.values().try_for_each(|parameter| {
        let parameter = parameter.as_object().ok_or("a parameter that is no object")?;
        members(parameter, &["type", "description"], &["required", "default", "enum"])?;
        let is_text = |options: &Value| {
            options.as_array().is_some_and(|options| options.iter().all(Value::is_string))
        };
        ensure(parameter.get("required").is_some_and(Value::is_boolean), "required is no boolean")?;
        ensure(parameter.get("enum").is_none_or(is_text), "an enum that is not of texts")
    })
}
