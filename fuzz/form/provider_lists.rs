//! The model providers' lists, the page of what they can do, and their common form of errors.

use serde_json::{Map, Value};

use super::{Answer, ensure, members};

/// Pages below the providers' mounts.
pub(super) fn check(answer: &Answer<'_>) -> Result<(), String> {
    let warnings = answer.all("toolbooth-warning").all(|text| text.is_ascii() && text.len() < 1100);
    ensure(warnings, "toolbooth-warning is not a short line of ASCII")?;
    if answer.status == 204 || answer.status == 304 || answer.method == "HEAD" {
        return Ok(());
    }
    match (answer.status, answer.path) {
        (200, "/providers" | "/providers/") => {
            members(&answer.object()?, &["as_of"], &["sources", "features"])
        }
        (200, path) => list(path, answer.body),
        (status, _) => error(status, &answer.object()?),
    }
}

/// What every error of the providers' addresses has.
pub(super) fn error(status: u16, body: &Map<String, Value>) -> Result<(), String> {
    let known = [400, 401, 403, 404, 405, 413, 415, 429, 500, 503].contains(&status);
    ensure(known, "a status that no error has")?;
    let Some(Value::Object(error)) = body.get("error") else {
        return Err("no error object".to_owned());
    };
    ensure(body.len() == 1, "something beside error")?;
    members(error, &["code", "message", "type"], &["incompatible_features", "tools"])?;
    let incompatible = error.get("code").is_some_and(|code| code == "tool_schema_incompatible");
    let told = ["incompatible_features", "tools"].iter().all(|name| {
        error.get(*name).is_some_and(|list| list.as_array().is_some_and(|list| !list.is_empty()))
            == incompatible
    });
    ensure(told, "tools and their features do not belong to the code")
}

/// An array of tools in the form of the provider whose path it is.
fn list(path: &str, body: &[u8]) -> Result<(), String> {
    let tools: Vec<Map<String, Value>> =
        serde_json::from_slice(body).map_err(|error| format!("not a list of tools: {error}"))?;
    for tool in &tools {
        match path {
            "/providers/openai/tools" => {
                members(tool, &["type"], &["function"])?;
                function(tool.get("function"), "parameters", &["strict"])?;
            }
            "/providers/openai-responses/tools" => {
                members(tool, &["type", "name", "description"], &["parameters", "strict"])?;
            }
            "/providers/anthropic/tools" => {
                members(tool, &["name", "description"], &["input_schema", "strict"])?;
            }
            "/providers/gemini/tools" => {
                members(tool, &[], &["functionDeclarations"])?;
                let all = tool.get("functionDeclarations").and_then(Value::as_array);
                for one in all.ok_or("no functionDeclarations")? {
                    function(Some(one), "parametersJsonSchema", &[])?;
                }
            }
            _ => return Err("a page where none is".to_owned()),
        }
    }
    ensure(path != "/providers/gemini/tools" || tools.len() == 1, "not one tool of Gemini's")
}

fn function(function: Option<&Value>, schema: &str, optional: &[&str]) -> Result<(), String> {
    let Some(Value::Object(function)) = function else { return Err("no function".to_owned()) };
    ensure(function.get(schema).is_some_and(Value::is_object), "a function without a schema")?;
    members(function, &["name", "description"], &[&[schema], optional].concat())
}
