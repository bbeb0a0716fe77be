//! Property tests: whatever a client sends, the response of any tool, prompt or resource is valid MCP.

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};
use server_tests::exchange;
use toolbooth::Server;
use toolbooth::http::{Body, Headers, Method, Request, Response};
use toolbooth::testing::{FakeHost, patient};

use super::CATALOG;

struct Pairs<'a>(&'a [(&'a str, &'a str)]);

impl Headers for Pairs<'_> {
    fn get(&self, name: &str) -> Option<String> {
        self.0.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
    }
}

/// Sends a request and returns the response, after validating it.
fn answer(method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Response {
    let host = FakeHost::with(&[("STATE_KEY", "0123456789abcdef0123456789abcdef")]);
    let request = Request {
        method: Method::from(method),
        path,
        query: "",
        own_origin: None,
        headers: &Pairs(headers),
        body: Body::from(body.to_vec()),
    };
    let answer =
        patient(Server::new(&CATALOG, server_tests::CAPABILITIES, &host).answer(request, &host))
            .head;
    let headers: Vec<_> = answer.headers.iter().map(|(name, value)| (*name, &**value)).collect();
    let (status, body) = (answer.status, &answer.body);
    let form = exchange::check(&exchange::Answer { method, path, status, headers: &headers, body });
    assert_eq!(form, Ok(()), "{}", String::from_utf8_lossy(body));
    answer
}

/// Sends a modern request with its headers and returns the response as text.
fn asked(body: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (method, params) = (text(&body["method"]), &body["params"]);
    let name = text(if method == "resources/read" { &params["uri"] } else { &params["name"] });
    let headers = [
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", &*method),
        ("mcp-name", &*name),
    ];
    let answer = answer("POST", "/mcp", &headers, body.to_string().as_bytes());
    String::from_utf8_lossy(&answer.body).into_owned()
}

/// A request of a client that declares all capabilities and requests all notifications.
fn request(method: &str, params: Value) -> Value {
    let mut body = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
    body["params"]["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {
            "elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}
        },
        "io.modelcontextprotocol/logLevel": "debug",
        "progressToken": 1
    });
    body
}

/// The keys of the tools' questions, and an unknown one.
const KEYS: [&str; 8] =
    ["user_name", "greeting", "client_roots", "confirm", "step1", "step2", "user_context", "other"];

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
        select(vec!["accept", "decline", "cancel", "text", "file:///a"]).prop_map(Value::from),
    ];
    let keys = select(vec!["action", "content", "name", "type", "text", "roots", "uri", "ok"]);
    leaf.prop_recursive(4, 24, 4, move |inner| {
        let members = prop::collection::vec((keys.clone(), inner.clone()), 0..4);
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(Value::from),
            members
                .prop_map(|all| all.into_iter().map(|(key, one)| (key.to_owned(), one)).collect()),
        ]
    })
}

fn good_answer() -> impl Strategy<Value = Value> {
    let content = json!({"name": "Ada", "ok": true, "color": "red", "context": "here"});
    select(vec![
        json!({"action": "accept", "content": content}),
        json!({"role": "assistant", "model": "m", "content": {"type": "text", "text": "Hi"}}),
        json!({"roots": [{"uri": "file:///a"}]}),
    ])
}

fn tool() -> impl Strategy<Value = &'static str> {
    select(CATALOG.tools.iter().map(|tool| tool.name).collect::<Vec<_>>())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_input_to_any_tool_has_a_valid_response(
        name in tool(),
        arguments in prop_oneof![3 => Just(json!({})), 1 => any_json()],
        responses in prop::collection::vec(
            (select(KEYS.to_vec()), prop_oneof![good_answer(), any_json()]), 0..4),
        states in 0..3,
    ) {
        let responses: Value =
            responses.into_iter().map(|(key, one)| (key.to_owned(), one)).collect();
        let mut params = json!({"name": name, "arguments": arguments, "inputResponses": responses});
        // Repeats the call that often, each time with the returned state.
        for _ in 0..=states {
            let text = asked(&request("tools/call", params.clone()));
            let last = text.lines().rfind(|line| !line.is_empty()).unwrap_or_default();
            let last: Value = serde_json::from_str(last.trim_start_matches("data: ")).unwrap();
            let Some(state) = last.pointer("/result/requestState") else { break };
            params["requestState"] = state.clone();
        }
    }

    #[test]
    fn any_prompt_and_resource_has_a_valid_response(
        prompt in any::<bool>(),
        name in prop_oneof![
            4 => select(vec![
                "test_simple_prompt", "test_prompt_with_image", "test_prompt_with_arguments",
                "test_prompt_with_embedded_resource", "test_input_required_result_prompt",
                "test://static-text", "test://static-binary", "test://template/1/data",
            ]).prop_map(str::to_owned),
            1 => "test://template/[a-z/%]{0,6}/data",
        ],
        arguments in prop_oneof![
            2 => Just(json!({"resourceUri": "test://a", "arg1": "b", "arg2": "c"})),
            1 => Just(json!({})),
            1 => any_json(),
        ],
        answer in prop_oneof![good_answer(), any_json()],
    ) {
        let method = if prompt { "prompts/get" } else { "resources/read" };
        let responses = json!({"user_context": answer});
        let params =
            json!({"name": name, "uri": name, "arguments": arguments, "inputResponses": responses});
        asked(&request(method, params));
    }
}

#[test]
fn every_kind_of_response_is_reached() {
    let answered = |name: &str, further: Value| {
        let mut params = json!({"name": name, "arguments": {}});
        for (key, value) in further.as_object().unwrap() {
            params[key] = value.clone();
        }
        asked(&request("tools/call", params))
    };
    for (name, expected) in [
        ("test_tool_with_progress", "notifications/progress"),
        ("test_logging_tool", "notifications/message"),
        ("test_image_content", r#""type":"image""#),
        ("test_input_required_result_multi_round", "requestState"),
        ("test_missing_capability", "sampling/createMessage"),
    ] {
        let answer = answered(name, json!({}));
        assert!(answer.contains(expected), "{name}: {answer}");
    }
    let name = json!({"user_name": {"action": "accept", "content": {"name": "Ada"}}});
    let answer =
        answered("test_input_required_result_elicitation", json!({"inputResponses": name}));
    assert!(answer.contains("Hello, Ada!"), "{answer}");
}

#[test]
fn every_file_of_the_corpus_has_a_valid_response() {
    let operations: Vec<_> = exchange::operations().collect();
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/answer");
    for entry in std::fs::read_dir(folder).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        let exchange::Request { method, path, headers, body } = exchange::request(&bytes);
        answer(method, path, headers, body);
        for (method, path) in &operations {
            answer(method, path, headers, body);
        }
    }
}
