//! Requests and responses of each provider's route, with the tools of `testing::echo`.
//!
//! docs/PROTOCOLS.md explains the clauses PC1 to PC21.

mod limits;
mod messages;
mod nulls;
mod outcomes;
mod parts;
mod requests;

use serde_json::{Value, json};

use toolbooth::Server;
use toolbooth::http::{Body, Method, Request};
use toolbooth::testing::Pairs;
use toolbooth::testing::echo::CATALOG;
use toolbooth::testing::{FakeHost, ready};

const PROVIDERS: [&str; 4] = ["openai", "openai-responses", "anthropic", "gemini"];

/// Posts `body` to `/providers/{address}`. Returns the status and the JSON.
fn post(host: &FakeHost, address: &str, body: &Value) -> (u16, Value) {
    let path = format!("/providers/{address}");
    let (path, query) = path.split_once('?').unwrap_or((&path, ""));
    let request = Request {
        own_origin: None,
        method: Method::Post,
        path,
        query,
        headers: &Pairs(&[("content-type", "application/json")]),
        body: Body::from(body.to_string().as_str()),
    };
    let response =
        ready(Server::new(CATALOG, crate::tests::CAPABILITIES, host).answer(request, host)).head;
    let is_private = response.headers.contains(&("cache-control", "no-store".into()));
    assert!(is_private, "{address}: a cache may keep results");
    (response.status, serde_json::from_slice(&response.body).unwrap())
}

/// The body of a successful response without `_toolbooth`, and `_toolbooth` itself.
fn call_ok(host: &FakeHost, address: &str, body: &Value) -> (Value, Value) {
    let (status, mut response) = post(host, address, body);
    assert_eq!(status, 200, "{address} {body}: {response}");
    let report = response.as_object_mut().unwrap().remove("_toolbooth").unwrap();
    (response, report)
}

/// Calls in a provider's format, from their id (if any), name, and arguments as JSON text.
fn calls(provider: &str, calls: &[(Option<&str>, &str, &str)]) -> Value {
    let call = |(id, name, text): &(Option<&str>, &str, &str)| {
        let read = || serde_json::from_str::<Value>(text).unwrap();
        let (mut call, key) = match provider {
            "openai" => {
                (json!({"type": "function", "function": {"name": name, "arguments": text}}), "id")
            }
            "openai-responses" => {
                (json!({"type": "function_call", "name": name, "arguments": text}), "call_id")
            }
            "anthropic" => (json!({"type": "tool_use", "name": name, "input": read()}), "id"),
            _ => (json!({"name": name, "args": read()}), "id"),
        };
        if let Some(id) = id {
            call[key] = json!(id);
        }
        if provider == "gemini" { json!({"functionCall": call}) } else { call }
    };
    calls.iter().map(call).collect()
}

/// The results in a response, in the same form for all providers: the id, the text, and whether it is an error.
fn read_results(provider: &str, response: &Value) -> Vec<(Option<String>, String, bool)> {
    let list = |pointer| response.pointer(pointer).and_then(Value::as_array).unwrap().iter();
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let by_prefix = |id: &Value, content: &Value| {
        let content = text(content).unwrap();
        (text(id), content.clone(), content.starts_with("Error: "))
    };
    match provider {
        "openai" => list("/messages")
            .map(|message| by_prefix(&message["tool_call_id"], &message["content"]))
            .collect(),
        "openai-responses" => {
            list("/input").map(|item| by_prefix(&item["call_id"], &item["output"])).collect()
        }
        "anthropic" => list("/messages/0/content")
            .map(|block| {
                let content = text(&block["content"]).unwrap();
                (text(&block["tool_use_id"]), content, block["is_error"] == true)
            })
            .collect(),
        _ => list("/contents/0/parts")
            .map(|part| {
                let response = &part["functionResponse"]["response"];
                let (content, is_error) = match text(&response["error"]) {
                    Some(error) => (error, true),
                    None => (text(&response["output"]).unwrap(), false),
                };
                (text(&part["functionResponse"]["id"]), content, is_error)
            })
            .collect(),
    }
}
