//! The same call in every protocol has the same result.

use serde_json::{Value, json};
use toolbooth::Server;
use toolbooth::catalog::Tool;
use toolbooth::http::{Body, Headers, Method, Request};
use toolbooth::testing::{FakeHost, ready};

use crate::CATALOG;
use crate::tests::{Examples, examples, world};

/// The caller is nobody in particular, and may call everything.
const ALL_SCOPES: (&str, &str) = ("ANONYMOUS_SCOPES", "*");

/// How a protocol writes a call, and where its answer has the value or the error.
struct Sample {
    path: &'static str,
    ask: fn(&Tool, &Value) -> Value,
    read: fn(Value) -> TokenCache,
}

impl Sample {
    /// Whether a call has a place for what tools require.
    fn carries_context(&self) -> bool {
        let mounts = ["/tools/", "/oxp/", "/otc/", "/xaibo/", "/mcp"];
        mounts.iter().any(|mount| self.path.starts_with(mount))
            || self.path == "/call" && {
                let tool = CATALOG.tools.first().expect("a tool");
                (self.ask)(tool, &json!({})).get("request").is_some()
            }
    }
}

/// What a client sees of a call.
#[derive(Debug)]
enum TokenCache {
    Value(Value),
    /// The value as text for a model: a string as it is, anything else as JSON.
    Text(String),
    /// The value in an object, as OpenTool wants it.
    Wrapped(Value),
    Error(String),
}

const PROTOCOLS: &[Sample] = &[
    Sample { path: "/tools/call", ask: flat, read: ran },
    Sample { path: "/oxp/call", ask: flat, read: ran },
    Sample { path: "/oxp/1.0/tools/call", ask: enveloped, read: |answer| ran(open(answer)) },
    Sample { path: "/otc/tools/call", ask: enveloped, read: |answer| ran(open(answer)) },
    Sample { path: "/call", ask: enveloped, read: |answer| ran(open(answer)) },
    Sample {
        path: "/opentool/call",
        ask: |tool, input| json!({"jsonrpc": "2.0", "method": tool.id(), "params": input, "id": "1"}),
        read: |answer| rpc(answer, TokenCache::Wrapped),
    },
    Sample {
        path: "/opentool/streamCall",
        ask: |tool, input| json!({"jsonrpc": "2.0", "method": tool.id(), "params": input, "id": "1"}),
        read: |answer| rpc(answer, TokenCache::Wrapped),
    },
    Sample {
        path: "/call",
        ask: |tool, input| json!({"jsonrpc": "2.0.0", "method": tool.id(), "params": input, "id": "1"}),
        read: |answer| rpc(answer, TokenCache::Wrapped),
    },
    Sample {
        path: "/jsonrpc",
        ask: |tool, input| json!({"jsonrpc": "2.0", "method": tool.id(), "params": input, "id": 1}),
        read: |answer| rpc(answer, TokenCache::Value),
    },
    Sample {
        path: "/mcp",
        ask: |tool, input| {
            let meta = json!({"toolbooth/context": context(tool)});
            let params = json!({"name": tool.id(), "arguments": input, "_meta": meta});
            json!({"jsonrpc": "2.0", "method": "tools/call", "params": params, "id": 1})
        },
        read: |answer| {
            let result = &answer["result"];
            match (result["isError"].as_bool(), &result["structuredContent"]) {
                (Some(true), _) => TokenCache::Error(text(&result["content"][0]["text"])),
                (_, nothing) if *nothing == json!({"result": null}) => {
                    TokenCache::Wrapped(json!({}))
                }
                (_, value) => TokenCache::Wrapped(value.clone()),
            }
        },
    },
    Sample {
        path: "/xaibo/execute",
        ask: |tool, input| json!({"tool_name": tool.id(), "parameters": input, "context": context(tool)}),
        read: |mut answer| match answer["success"].as_bool() {
            Some(true) => TokenCache::Value(answer["result"].take()),
            _ => TokenCache::Error(text(&answer["error"])),
        },
    },
    Sample {
        path: "/providers/openai/call",
        ask: |tool, input| {
            json!({"role": "assistant", "tool_calls": [{
                "id": "c1", "type": "function",
                "function": {"name": versioned(tool), "arguments": input.to_string()}
            }]})
        },
        read: |answer| content(&answer["messages"][0]["content"]),
    },
    Sample {
        path: "/providers/openai-responses/call",
        ask: |tool, input| {
            json!([{
                "type": "function_call", "call_id": "c1",
                "name": versioned(tool), "arguments": input.to_string()
            }])
        },
        read: |answer| content(&answer["input"][0]["output"]),
    },
    Sample {
        path: "/providers/anthropic/call",
        ask: |tool, input| {
            json!({"role": "assistant", "content": [
                {"type": "tool_use", "id": "c1", "name": versioned(tool), "input": input}
            ]})
        },
        read: |answer| {
            let result = &answer["messages"][0]["content"][0];
            match result["is_error"].as_bool() {
                Some(true) => TokenCache::Error(text(&result["content"])),
                _ => content(&result["content"]),
            }
        },
    },
    Sample {
        path: "/providers/gemini/call",
        ask: |tool, input| json!({"role": "model", "parts": [{"functionCall": {"name": versioned(tool), "args": input}}]}),
        read: |mut answer| {
            let response = &mut answer["contents"][0]["parts"][0]["functionResponse"]["response"];
            match &response["error"] {
                Value::Null => TokenCache::Value(response["output"].take()),
                error => TokenCache::Error(text(error)),
            }
        },
    },
];

fn flat(tool: &Tool, input: &Value) -> Value {
    json!({"tool_id": tool.id(), "input": input, "context": context(tool)})
}

/// Made-up tokens, secrets and user of a call.
fn context(tool: &Tool) -> Value {
    let tokens = tool.authorization.iter().map(|need| json!({"id": need.id, "token": "t"}));
    let secrets = tool.secrets.iter().map(|id| json!({"id": id, "value": "s"}));
    json!({
        "user_id": "ada",
        "authorization": tokens.collect::<Vec<_>>(),
        "secrets": secrets.collect::<Vec<_>>(),
    })
}

/// What a call lacks that has no place for it, or nothing.
fn lacks(protocol: &Sample, tool: &Tool) -> Vec<&'static str> {
    let required = tool.authorization.iter().map(|need| need.id);
    let required = required.chain(tool.secrets.iter().copied());
    if protocol.carries_context() { Vec::new() } else { required.collect() }
}

fn enveloped(tool: &Tool, input: &Value) -> Value {
    json!({"request": flat(tool, input)})
}

/// Takes the answer out of its envelope; a rejection has none.
fn open(mut answer: Value) -> Value {
    match answer.get_mut("result") {
        Some(result) => result.take(),
        None => answer,
    }
}

fn ran(mut answer: Value) -> TokenCache {
    match answer["success"].as_bool() {
        Some(true) => TokenCache::Value(answer["value"].take()),
        Some(false) => TokenCache::Error(text(&answer["error"]["message"])),
        None => TokenCache::Error(answer.to_string()),
    }
}

fn rpc(mut answer: Value, good: fn(Value) -> TokenCache) -> TokenCache {
    match &answer["error"] {
        Value::Null => good(answer["result"].take()),
        error => TokenCache::Error(error.to_string()),
    }
}

fn content(content: &Value) -> TokenCache {
    let content = text(content);
    if content.starts_with("Error: ") {
        TokenCache::Error(content)
    } else {
        TokenCache::Text(content)
    }
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}

fn versioned(tool: &Tool) -> String {
    toolbooth::catalog::versioned_name(tool.name, &tool.version)
}

struct Json;

impl Headers for Json {
    fn get(&self, name: &str) -> Option<String> {
        (name == "content-type").then(|| "application/json".to_owned())
    }
}

/// What a client of the protocol sees of a call.
fn call(protocol: &Sample, tool: &Tool, input: &Value) -> TokenCache {
    let host = FakeHost { upstream: world, ..FakeHost::with(&[ALL_SCOPES]) };
    let body = Body::from((protocol.ask)(tool, input).to_string().as_str());
    let request =
        Request { method: Method::Post, path: protocol.path, query: "", headers: &Json, body };
    let answer = ready(Server::new(&CATALOG, &host).answer(request, &host));
    let body = str::from_utf8(&answer.body).expect("text");
    // Of a stream, the second event is what came of the call.
    let event = body.split("\n\n").nth(1).and_then(|event| event.split_once("\ndata:"));
    let json = event.map_or(body, |(_, data)| data);
    (protocol.read)(serde_json::from_str(json).expect("JSON"))
}

/// Whether a client saw the value that the definition promises.
fn is(seen: &TokenCache, value: &Value) -> bool {
    match (seen, value) {
        (TokenCache::Value(got), _) => got == value,
        (TokenCache::Text(got), Value::String(value)) => got == value,
        // A model is told in words that there is nothing.
        (TokenCache::Text(got), Value::Null) => !got.is_empty(),
        (TokenCache::Text(got), _) => {
            serde_json::from_str(got).is_ok_and(|got: Value| got == *value)
        }
        (TokenCache::Wrapped(got), Value::Object(_)) => got == value,
        (TokenCache::Wrapped(got), Value::Null) => *got == json!({}),
        (TokenCache::Wrapped(got), _) => *got == json!({ "result": value }),
        (TokenCache::Error(_), _) => false,
    }
}

/// What the server at `path` says.
fn get(path: &str) -> Value {
    let host = FakeHost::with(&[ALL_SCOPES]);
    let body = Body::from("");
    let request = Request { method: Method::Get, path, query: "", headers: &Json, body };
    let answer = ready(Server::new(&CATALOG, &host).answer(request, &host));
    serde_json::from_slice(&answer.body).expect("a JSON body")
}

#[test]
fn every_address_that_takes_calls_is_compared() {
    let index = get("/");
    let protocols = index["protocols"].as_array().expect("protocols");
    let endpoints =
        protocols.iter().flat_map(|one| one["endpoints"].as_array().expect("endpoints"));
    let aliases = ["/otc/call", "/oxp/tools/call", "/oxp/1.0/call"];
    for endpoint in endpoints.filter(|endpoint| endpoint["method"] == "POST") {
        let path = endpoint["path"].as_str().expect("a path");
        let known = PROTOCOLS.iter().any(|protocol| protocol.path == path);
        let stops = path == "/opentool/stop";
        assert!(known || stops || aliases.contains(&path), "{path} is in no row");
    }
}

fn every_tool() -> impl Iterator<Item = (&'static Tool, Examples)> {
    CATALOG
        .tools
        .iter()
        .zip(examples())
        .inspect(|(tool, examples)| assert_eq!(tool.id(), examples.id))
}

#[test]
fn every_example_has_its_outcome_in_every_protocol() {
    for (tool, Examples { examples, id }) in every_tool() {
        for example in examples {
            for protocol in PROTOCOLS {
                let seen = call(protocol, tool, &example.input);
                let lacks = lacks(protocol, tool);
                if !lacks.is_empty() {
                    let told = matches!(&seen, TokenCache::Error(text) if lacks.iter().all(|id| text.contains(id)));
                    assert!(told, "{id} by {} lacks {lacks:?}: {seen:?}", protocol.path);
                    continue;
                }
                let same = match (&example.value, &example.error, &seen) {
                    (Some(value), _, seen) => is(seen, value),
                    (None, Some(error), TokenCache::Error(text)) => text.contains(&error.message),
                    _ => false,
                };
                assert!(same, "{id} {} by {}: {seen:?}", example.input, protocol.path);
            }
        }
    }
}

#[test]
fn a_wrong_input_is_refused_in_every_protocol_with_the_parameter() {
    for (tool, _) in every_tool() {
        for protocol in PROTOCOLS {
            if !lacks(protocol, tool).is_empty() {
                continue;
            }
            let seen = call(protocol, tool, &json!({"no_such_parameter": 1}));
            let told =
                matches!(&seen, TokenCache::Error(text) if text.contains("no_such_parameter"));
            assert!(told, "{} by {}: {seen:?}", tool.id(), protocol.path);
        }
    }
}
