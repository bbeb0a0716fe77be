//! Property tests of provider calls: any model response gets a response in the provider's format (`answer`
//! checks it), and each call gets one result.

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use super::properties::{json, modest, places};
use super::*;

/// Each provider's path with a valid model response.
fn answers() -> [(&'static str, Value); 4] {
    let text = r#"{"text":"hi"}"#;
    let function = json!({"name": "Echo_Say", "arguments": text});
    [
        (
            "openai",
            json!({"choices": [{"finish_reason": "tool_calls", "message": {
                "role": "assistant", "content": null, "tool_calls": [
                    {"id": "1", "type": "function", "function": function},
                    {"id": "2", "type": "function", "function": function}
                ]
            }}]}),
        ),
        (
            "openai-responses",
            json!({"status": "completed", "output": [
                {"type": "reasoning", "id": "rs_1"},
                {"type": "function_call", "call_id": "1", "name": "Echo_Say", "arguments": text},
                {"type": "function_call", "call_id": "2", "name": "Echo_Say", "arguments": text}
            ]}),
        ),
        (
            "anthropic",
            json!({"stop_reason": "tool_use", "content": [
                {"type": "text", "text": "Hm"},
                {"type": "tool_use", "id": "1", "name": "Echo_Say", "input": {"text": "hi"}},
                {"type": "tool_use", "id": "2", "name": "Echo_Say", "input": {"text": "hi"}}
            ]}),
        ),
        (
            "gemini",
            json!({"candidates": [{"finishReason": "STOP", "content": {"role": "model", "parts": [
                {"functionCall": {"id": "1", "name": "Echo_Say", "args": {"text": "hi"}}, "thoughtSignature": "s"},
                {"functionCall": {"id": "2", "name": "Echo_Say", "args": {"text": "hi"}}}
            ]}}]}),
        ),
    ]
}

/// A path and a nearly valid model response: one value is replaced.
fn nearly() -> impl Strategy<Value = (&'static str, Value)> {
    let rows: Vec<_> = answers()
        .into_iter()
        .flat_map(|(provider, body)| {
            places(&body).into_iter().map(move |place| (provider, body.clone(), place))
        })
        .collect();
    (select(rows), worded_json()).prop_map(|((provider, mut body, place), value)| {
        if let Some(old) = body.pointer_mut(&place) {
            *old = value;
        }
        (provider, body)
    })
}

/// JSON with the names and strings of the formats.
fn worded_json() -> impl Strategy<Value = Value> {
    let words = vec![
        "",
        "id",
        "call_id",
        "type",
        "function",
        "function_call",
        "functionCall",
        "name",
        "args",
        "arguments",
        "input",
        "content",
        "parts",
        "tool_calls",
        "choices",
        "message",
        "candidates",
        "output",
        "tool_use",
        "custom",
        "Echo_Say",
        "Echo_Private",
        "No_Such",
        "{}",
        "[",
        "role",
        "length",
        "MAX_TOKENS",
        "stop_reason",
        "incomplete",
        "finishReason",
        "é",
    ];
    let word = || select(words.clone()).prop_map(str::to_owned);
    json(prop_oneof![9 => word(), 1 => ".{0,8}"], word())
}

fn query() -> impl Strategy<Value = &'static str> {
    select(vec![
        "",
        "?unknown=leave",
        "?validate_tool_arguments=true",
        "?unknown=x",
        "?unknown=leave&validate_tool_arguments=true",
        "?%zz=&&=",
    ])
}

fn send_to(host: &FakeHost, provider: &str, query: &str, body: Vec<u8>) -> (u16, Value) {
    let path = format!("/providers/{provider}/call{query}");
    let answer = answer(CATALOG, host, ("POST", &path, &[JSON]), Body::from(body));
    (answer.status, serde_json::from_slice(&answer.body).unwrap())
}

proptest! {
    #![proptest_config(modest())]

    #[test]
    fn any_bytes_and_any_json_get_a_response(
        provider in select(answers().map(|(provider, _)| provider).to_vec()),
        query in query(),
        bytes in prop_oneof![
            1 => prop::collection::vec(any::<u8>(), 0..64),
            9 => worded_json().prop_map(|value| value.to_string().into_bytes()),
        ],
    ) {
        let (status, answer) = send_to(&FakeHost::default(), provider, query, bytes);
        prop_assert!([200, 400].contains(&status), "{}", answer);
    }

    #[test]
    fn a_nearly_valid_model_response_gets_a_response((provider, body) in nearly(), query in query()) {
        let host = FakeHost::default();
        let (status, answer) = send_to(&host, provider, query, body.to_string().into_bytes());
        prop_assert!([200, 400].contains(&status), "{}", answer);
        // A rejected request returns an error, and no results of single calls.
        prop_assert!(status == 200 || answer.get("_toolbooth").is_none(), "{}", answer);
    }

    #[test]
    fn invalid_arguments_of_one_call_do_not_affect_the_other(
        (provider, body) in select(answers().to_vec()),
        arguments in worded_json(),
    ) {
        let body = body.to_string();
        let (text, object) = (r#""{\"text\":\"hi\"}""#, r#"{"text":"hi"}"#);
        let (old, new) = if body.contains(text) {
            (text, Value::String(arguments.to_string()).to_string())
        } else {
            (object, arguments.to_string())
        };
        let body = body.replacen(old, &new, 1);
        let (status, answer) = send_to(&FakeHost::default(), provider, "", body.into_bytes());
        prop_assert_eq!(status, 200);
        let calls = answer["_toolbooth"]["calls"].as_array().unwrap();
        prop_assert_eq!(calls.len(), 2);
        prop_assert_eq!(&calls[1], &json!({"id": "2", "name": "Echo_Say", "success": true}));
    }
}
