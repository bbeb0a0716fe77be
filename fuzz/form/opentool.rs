//! OpenTool 1.0, below `/opentool` and where the root has the same endpoints.

use serde_json::{Map, Value};

use super::jsonrpc::{refused, response, responses};
use super::{Answer, ensure, members};

pub(super) fn check(answer: &Answer<'_>) -> Result<(), String> {
    let path = answer.path.strip_prefix("/opentool").unwrap_or(answer.path);
    match answer.status {
        _ if answer.method == "HEAD" => Ok(()),
        204 | 304 => Ok(()),
        200 => match path {
            "/version" => members(&answer.object()?, &["version"], &[]),
            "/load" => document(&answer.object()?),
            "/streamCall" => stream(answer.body),
            _ => responses(answer, true),
        },
        _ => refused(answer),
    }
}

fn document(body: &Map<String, Value>) -> Result<(), String> {
    let mut texts = body.clone();
    let functions = texts.remove("functions");
    ensure(functions.is_some_and(|functions| functions.is_array()), "no functions")?;
    ensure(texts.remove("info").is_some_and(|info| info.is_object()), "no info")?;
    members(&texts, &["opentool"], &[])
}

/// Exactly what the client's pattern reads: `start`, then `data` and `done`, or `error`.
fn stream(body: &[u8]) -> Result<(), String> {
    let text = std::str::from_utf8(body).map_err(|error| error.to_string())?;
    ensure(!text.contains(['\r', '\u{2028}', '\u{2029}']), "a line end that is not LF")?;
    let events: Option<Vec<_>> = text.strip_suffix("\n\n").map(|text| text.split("\n\n").collect());
    let mut names = Vec::new();
    for event in events.ok_or("an event without end")? {
        let parts = event.strip_prefix("event:").and_then(|rest| rest.split_once("\ndata:"));
        let (name, data) = parts.ok_or_else(|| format!("no event: {event:?}"))?;
        let data: Map<String, Value> =
            serde_json::from_str(data).map_err(|error| format!("{name}: {error}"))?;
        match name {
            "start" | "done" => ensure(data.get(name).is_some_and(Value::is_string), "no name")?,
            _ => {
                ensure(data.get("id").is_some_and(Value::is_string), "the id is no string")?;
                ensure(data.contains_key("error") == (name == "error"), "an event's wrong name")?;
                response(&data, true, true)?;
            }
        }
        names.push(name);
    }
    let known = [vec!["start", "data", "done"], vec!["start", "error"]].contains(&names);
    ensure(known, "events in another order")
}
