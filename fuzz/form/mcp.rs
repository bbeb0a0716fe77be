//! MCP: one JSON-RPC response to a request, after notifications in a stream or alone, and nothing to a
//! notification. An error before the message was read has no id. Below `/.well-known`, the metadata of the resource.

use serde_json::{Map, Value};

use super::{Answer, EVENTS, ensure, members, oxp};

pub(super) fn check(answer: &Answer<'_>) -> Result<(), String> {
    if answer.status == 202 {
        return ensure(answer.body.is_empty(), "a body where none may be");
    }
    if answer.status == 204 || answer.method == "HEAD" {
        return Ok(());
    }
    if answer.all("content-type").any(|kind| kind == EVENTS) {
        return stream(answer);
    }
    let body = answer.object()?;
    response(answer.status, &body)
}

/// Notifications, then the response.
fn stream(answer: &Answer<'_>) -> Result<(), String> {
    let text = str::from_utf8(answer.body).map_err(|error| error.to_string())?;
    let events = text.strip_suffix("\n\n").ok_or("a stream that is cut off")?.split("\n\n");
    let data = |event: &str| -> Result<Map<String, Value>, String> {
        let data = event.strip_prefix("event: message\ndata: ").ok_or("another event")?;
        serde_json::from_str(data).map_err(|error| format!("an event of no JSON: {error}"))
    };
    let mut told: Vec<_> = events.map(data).collect::<Result<_, _>>()?;
    let last = told.pop().ok_or("no event")?;
    ensure(!told.is_empty(), "a stream of a response alone")?;
    for mut note in told {
        let params = note.remove("params");
        ensure(params.is_some_and(|params| params.is_object()), "params is no object")?;
        members(&note, &["jsonrpc", "method"], &[])?;
        let kinds = ["notifications/progress", "notifications/message"];
        let known = note.get("method").is_some_and(|method| kinds.iter().any(|one| method == one));
        ensure(known, "another notification")?;
    }
    response(answer.status, &last)
}

fn response(status: u16, body: &Map<String, Value>) -> Result<(), String> {
    members(body, &["jsonrpc"], &["id", "result", "error"])?;
    ensure(body.get("jsonrpc").is_some_and(|version| version == "2.0"), "jsonrpc is not 2.0")?;
    let id = body.get("id");
    let good = |id: &Value| id.is_string() || id.is_i64() || id.is_u64();
    ensure(id.is_none_or(good), "an id that is neither a text nor an integer")?;
    match (body.get("result"), body.get("error")) {
        (Some(Value::Object(told)), None) => {
            ensure(status == 200 && id.is_some(), "a result with another status, or no id")?;
            result(told)
        }
        (None, Some(Value::Object(told))) => error(status, told),
        _ => Err("neither a result nor an error".to_owned()),
    }
}

fn result(result: &Map<String, Value>) -> Result<(), String> {
    let modern = result.get("resultType");
    let kinds = ["complete", "input_required"];
    let known = modern.is_none_or(|kind| kinds.iter().any(|one| kind == one));
    ensure(known, "another resultType")?;
    let named = result
        .get("_meta")
        .is_some_and(|meta| meta.get("io.modelcontextprotocol/serverInfo").is_some());
    ensure(modern.is_none() || named, "a modern result that does not name the server")?;
    let keeps = result.contains_key("ttlMs");
    ensure(keeps == result.contains_key("cacheScope"), "half of what is said of caching")?;
    ensure(!keeps || modern.is_some(), "caching in a legacy result")?;
    let blocks = result.get("content").and_then(Value::as_array);
    let kinds = ["text", "image", "audio", "resource", "resource_link"];
    let block =
        |block: &Value| block.get("type").is_some_and(|kind| kinds.iter().any(|one| kind == one));
    let known = |blocks: &Vec<Value>| blocks.iter().all(block);
    ensure(blocks.is_none_or(known), "content of another kind")?;
    let failed = result.get("isError") == Some(&Value::Bool(true));
    let structured = result.get("structuredContent");
    ensure(structured.is_none_or(Value::is_object), "structuredContent is no object")?;
    ensure(!(failed && structured.is_some()), "a call has a value, or it has failed")?;
    let text = |block: &Value| block.get("text").is_some_and(Value::is_string);
    let words = |blocks: &Vec<Value>| !blocks.is_empty() && blocks.iter().all(text);
    ensure(!failed || blocks.is_some_and(words), "a failure without words")
}

fn error(status: u16, error: &Map<String, Value>) -> Result<(), String> {
    let mut texts = error.clone();
    let code = texts.remove("code").and_then(|code| code.as_i64()).unwrap_or_default();
    let data = texts.remove("data");
    ensure(data.is_none_or(|data| data.is_object()), "data is no object")?;
    members(&texts, &["message"], &[])?;
    let statuses: &[u16] = match code {
        -32700 | -32020 | -32021 | -32022 => &[400],
        -32600 => &[400, 401, 403, 404, 405, 413, 415, 429],
        -32601 => &[200, 404],
        -32602 => &[200, 400],
        -32603 => &[200, 500, 503],
        -32042 | -32002 => &[200],
        _ => return Err(format!("{code} is no code of ours")),
    };
    ensure(statuses.contains(&status), "a status that does not go with the code")
}

/// The metadata of the resource; everything else has the form of the root.
pub(super) fn well_known(answer: &Answer<'_>) -> Result<(), String> {
    if answer.status != 200 || answer.method == "HEAD" {
        return oxp::check(answer);
    }
    let body = answer.object()?;
    for list in ["authorization_servers", "bearer_methods_supported"] {
        ensure(body.get(list).is_some_and(Value::is_array), "a list is not there")?;
    }
    ensure(body.get("resource").is_some_and(Value::is_string), "no resource")
}
