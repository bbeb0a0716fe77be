//! Tests of Xaibo from request to response. `send` and `answer` check the format of every response.

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use super::properties::{any_json, modest};
use super::*;

const EXECUTE: (&str, &str, Headers<'_>) = ("POST", "/xaibo/execute", &[JSON]);
const SAY: &str = r#"{"tool_name":"Echo_Say","parameters":{"text":"hi"}}"#;

/// The status and the JSON body of a response.
fn executed(host: &FakeHost, body: &str) -> (u16, Value) {
    let answer = answer(CATALOG, host, EXECUTE, Body::from(body));
    (answer.status, serde_json::from_slice(&answer.body).unwrap())
}

#[test]
fn calls() {
    let all = "Available tools: ['Echo_Broken', 'Echo_Narrow', 'Echo_Private', 'Echo_Say']";
    let failed = |error: &str| json!({"success": false, "result": null, "error": error});
    let done = |result: &str| json!({"success": true, "result": result, "error": null});
    for (tool, parameters, expected) in [
        ("Echo_Say", json!({"text": "hi"}), done("hi")),
        ("Echo_Say__1_0_0", json!({"text": "hi"}), done("hi")),
        ("Echo.Say", json!({"text": "hi"}), done("hi")),
        ("Echo.Say@1", json!({"text": "hi"}), done("hi")),
        (
            "Echo_Say",
            json!({"text": "fail"}),
            failed("Tool execution failed: It failed. try x. Try again after 5 ms."),
        ),
        ("Echo_Say", json!({"text": "long"}), failed("Tool execution failed: The tool failed.")),
        (
            "Echo_Say",
            json!({"text": 1, "mood": "odd"}),
            failed(
                "Invalid tool parameters: mood: Must be one of: \"glad\", \"sad\"; text: Must be a string",
            ),
        ),
        ("Echo_Say", json!({}), failed("Invalid tool parameters: text: Is required")),
        ("shout", json!({}), failed(&format!("Tool 'shout' not found. {all}"))),
        (
            "Echo_Sya",
            json!({}),
            failed(&format!("Tool 'Echo_Sya' not found. {all}. Did you mean Echo_Say?")),
        ),
        ("", json!({}), failed(&format!("Tool '' not found. {all}"))),
        ("Echo.Shout", json!({}), failed(&format!("Tool 'Echo.Shout' not found. {all}"))),
        ("Echo_Say__3_0_0", json!({}), failed(&format!("Tool 'Echo_Say__3_0_0' not found. {all}"))),
        ("Echo.Say@3", json!({}), failed(&format!("Tool 'Echo.Say@3.0.0' not found. {all}"))),
        (
            "Echo_Private",
            json!({"text": "hi"}),
            failed(
                "Tool execution failed: the call lacks context.authorization with id \"mail\", context.secrets with id \"KEY\", context.user_id",
            ),
        ),
    ] {
        let body = json!({"tool_name": tool, "parameters": parameters}).to_string();
        assert_eq!(executed(&FakeHost::default(), &body), (200, expected), "{body}");
    }
    let body = json!({
        "tool_name": "Echo_Private", "parameters": {"text": "user"},
        "context": {
            "user_id": "u",
            "authorization": [{"id": "mail", "token": "t"}],
            "secrets": [{"id": "KEY", "value": "k"}]
        }
    });
    assert_eq!(executed(&FakeHost::default(), &body.to_string()), (200, done("u")));
}

#[test]
fn only_allowed_tools_can_be_called_and_are_listed() {
    let host = FakeHost::with(&[("TOOL_ALLOWLIST", "Echo_Say")]);
    for (tool, error) in [
        ("Echo_Broken", "Tool 'Echo_Broken' may not be called. Available tools: ['Echo_Say']"),
        ("Echo.Broken@1", "Tool 'Echo_Broken' may not be called. Available tools: ['Echo_Say']"),
        ("shout", "Tool 'shout' not found. Available tools: ['Echo_Say']"),
    ] {
        let body = json!({"tool_name": tool, "parameters": {"text": "hi"}}).to_string();
        let expected = json!({"success": false, "result": null, "error": error});
        assert_eq!(executed(&host, &body), (200, expected), "{tool}");
    }
    assert_eq!(executed(&host, SAY).1["success"], json!(true));
}

#[test]
fn rejections_have_their_status() {
    let host = || FakeHost::with(&[("MAX_BODY_BYTES", "1000")]);
    let wrong = || FakeHost::with(&[("MAX_BODY_BYTES", "none")]);
    let whole = |text: &str| Body::from(text);
    for (host, request, body, status) in [
        (host(), ("GET", "/xaibo", &[][..]), whole(""), 404),
        (host(), ("GET", "/xaibo/health", &[]), whole(""), 404),
        (host(), ("POST", "/xaibo/tools", &[JSON]), whole(SAY), 405),
        (host(), ("GET", "/xaibo/execute", &[]), whole(""), 405),
        (host(), EXECUTE, Body::from(vec![b' '; 1001]), 413),
        (host(), ("POST", "/xaibo/execute", &[]), whole(SAY), 415),
        (host(), EXECUTE, whole(""), 400),
        (host(), EXECUTE, whole("{\"tool_name\":"), 400),
        (host(), EXECUTE, whole("[]"), 400),
        (wrong(), EXECUTE, whole(SAY), 503),
    ] {
        let got = answer(CATALOG, &host, request, body);
        assert_eq!(got.status, status, "{request:?}: {}", wire(&got));
        let body: Value = serde_json::from_slice(&got.body).unwrap();
        assert_eq!(body["success"], json!(false), "{request:?}");
    }
}

#[test]
fn the_list_and_its_entity_tag() {
    let host = FakeHost::default();
    let list = |headers| send(&host, ("GET", "/xaibo/tools", headers), "");
    let (json, tag) =
        ("content-type: application/json\n", "etag: \"tag\"\ncache-control: no-cache\n");
    assert_eq!(list(&[]), format!("200\n{json}{tag}[]"));
    assert_eq!(list(&[("if-none-match", "\"tag\"")]), format!("304\n{tag}"));
    const WITHOUT: &Catalog = &Catalog { lists: &[], ..*CATALOG };
    let got = answer(WITHOUT, &host, ("GET", "/xaibo/tools", &[]), Body::from(""));
    assert_eq!(got.status, 503, "{}", wire(&got));
}

fn member() -> impl Strategy<Value = (String, Value)> {
    let tool = select(vec!["Echo_Say", "Echo.Say@1", "Echo_Private", "Echo_Broken", "Echo_Narrow"]);
    let text = select(vec!["hi", "fail", "long", ""]);
    let names = select(vec!["tool_name", "parameters", "context"]);
    prop_oneof![
        4 => tool.prop_map(|tool| ("tool_name".to_owned(), json!(tool))),
        4 => text.prop_map(|text| ("parameters".to_owned(), json!({"text": text}))),
        2 => (names, any_json()).prop_map(|(name, value)| (name.to_owned(), value)),
        1 => (".{0,8}", any_json()),
    ]
}

proptest! {
    #![proptest_config(modest())]

    #[test]
    fn any_bytes_get_a_response(body in prop::collection::vec(any::<u8>(), 0..64)) {
        answer(CATALOG, &FakeHost::default(), EXECUTE, Body::from(body));
    }

    #[test]
    fn any_object_gets_a_response(members in prop::collection::vec(member(), 0..5)) {
        let body = Value::Object(members.into_iter().collect());
        let (status, _) = executed(&FakeHost::default(), &body.to_string());
        prop_assert!([200, 400].contains(&status), "{}", body);
    }

    #[test]
    fn responses_do_not_grow_with_the_tool_name(name in ".{0,300}") {
        let body = json!({"tool_name": name}).to_string();
        let (status, body) = executed(&FakeHost::default(), &body);
        prop_assert_eq!(status, 200);
        let error = body["error"].as_str().unwrap_or_default();
        prop_assert!(error.chars().count() < 300, "{}", error);
    }

    #[test]
    fn errors_never_repeat_a_value(
        place in select(vec!["/parameters/text", "/parameters/mood", "/context/user_id",
            "/context/secrets/0/value", "/context/secrets/0", "/context", "/parameters"]),
        value in select(vec![json!("Zc4n4ry"), json!(["Zc4n4ry"]), json!({"id": "Zc4n4ry"})]),
    ) {
        let mut call = json!({
            "tool_name": "Echo_Narrow", "parameters": {"text": "a", "mood": "sad"},
            "context": {"user_id": "u", "secrets": [{"id": "KEY", "value": "k"}]}
        });
        *call.pointer_mut(place).unwrap() = value;
        let host = FakeHost::default();
        let answer = send(&host, EXECUTE, &call.to_string());
        prop_assert!(!answer.contains("Zc4n4ry"), "{}", answer);
        prop_assert!(!host.printed().contains("Zc4n4ry"), "in the log");
    }
}
