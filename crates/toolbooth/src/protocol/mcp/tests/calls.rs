//! `tools/call`.

use super::*;

fn call(params: Value) -> (u16, Value) {
    send_modern(CATALOG, &FakeHost::default(), &modern("tools/call", params))
}

fn texts(answer: &Value) -> Vec<&str> {
    let blocks = answer["result"]["content"].as_array().unwrap();
    blocks.iter().map(|block| block["text"].as_str().unwrap()).collect()
}

#[test]
fn mc22_a_value_is_structured_content_and_its_text() {
    let params = json!({"name": "Echo_Say", "arguments": {"text": "hi"}});
    let value = json!({
        "content": [{"type": "text", "text": "{\"result\":\"hi\"}"}],
        "structuredContent": {"result": "hi"}
    });
    let host = FakeHost::default();
    let body = legacy("tools/call", params.clone());
    let expected = json!({"jsonrpc": "2.0", "id": 7, "result": value});
    assert_eq!(send(CATALOG, &host, ("/mcp", &[]), &body), (200, expected.clone()));
    let mut expected = expected;
    expected["result"]["resultType"] = json!("complete");
    expected["result"]["_meta"] = json!({"io.modelcontextprotocol/serverInfo": CATALOG.server});
    assert_eq!(send_modern(CATALOG, &host, &modern("tools/call", params)), (200, expected));
}

#[test]
fn mc23_a_failure_is_a_result_that_a_model_can_act_on() {
    for (text, expected) in [
        (json!("fail"), "It failed. try x. Try again after 5 ms."),
        (json!("long"), "The tool failed"),
        (json!(1), "The arguments are invalid. text: Must be a string"),
        (json!(null), "The arguments are invalid. text: Must be a string"),
    ] {
        let (status, answer) = call(json!({"name": "Echo_Say", "arguments": {"text": text}}));
        assert_eq!((status, texts(&answer)), (200, vec![expected]));
        assert_eq!(answer["result"]["isError"], true);
        assert!(answer["result"].get("structuredContent").is_none(), "no schema fits it");
    }
    let (_, answer) = call(json!({"name": "Echo_Say", "arguments": {"text": "fail"}}));
    let error = &answer["result"]["_meta"]["toolbooth/error"];
    assert_eq!((&error["can_retry"], &error["retry_after_ms"]), (&json!(true), &json!(5)));
}

#[test]
fn mc24_calls_without_a_known_tool_or_an_object_of_arguments() {
    let unknown = |name: &str| {
        let rejection =
            Rejection::UnknownTool { id: name.to_owned(), name: name.to_owned(), meant: None };
        rejection.describe().to_string()
    };
    let no_version_9 = || {
        let (id, version) = ("Echo.Say".to_owned(), "9.0.0".to_owned());
        let rejection = Rejection::UnknownVersion { id, name: "Echo_Say", version };
        rejection.describe().to_string()
    };
    for (params, message) in [
        (json!({}), "name must be a string".to_owned()),
        (json!({"name": 1}), "name must be a string".to_owned()),
        (json!({"name": "Echo_Shout"}), unknown("Echo_Shout")),
        (json!({"name": "Echo_Say__9_0_0"}), unknown("Echo_Say__9_0_0")),
        (json!({"name": "Echo.Say@9"}), no_version_9()),
        (json!({"name": "Echo_Say", "arguments": []}), "arguments must be an object".to_owned()),
        (
            json!({"name": "Echo_Say", "_meta": {"toolbooth/version": 1}}),
            "_meta.toolbooth/version must be a string".to_owned(),
        ),
        (json!({"name": "Echo_Say", "_meta": {"toolbooth/version": "9"}}), no_version_9()),
        (
            json!({"name": "Echo_Say", "_meta": {"toolbooth/context": 1}}),
            "context must be an object".to_owned(),
        ),
    ] {
        let answer = call(params.clone());
        assert_eq!(code(&answer), (200, -32602), "{params}");
        assert_eq!(answer.1["error"]["message"], message, "{params}");
    }
}

#[test]
fn mc25_versions_of_a_tool() {
    // All versions have the same handler here.
    for (name, version) in [
        ("Echo_Say", None),
        ("Echo_Say__1_0_0", None),
        ("Echo.Say@1.10.0", None),
        ("Echo_Say", Some("1.0.0")),
        ("Echo_Say", Some("2")),
        ("Echo_Say__2_0_0", Some("1.0.0")),
        ("Echo.Say", Some("1.0.0")),
    ] {
        let mut params = json!({"name": name, "arguments": {"text": "hi"}});
        if let Some(version) = version {
            params["_meta"]["toolbooth/version"] = json!(version);
        }
        let (_, answer) = call(params);
        assert_eq!(answer["result"]["structuredContent"], json!({"result": "hi"}), "{name}");
    }
}

#[test]
fn mc26_requirements_are_sent_in_meta() {
    let lacking = call(json!({"name": "Echo_Private", "arguments": {"text": "token"}}));
    assert_eq!(
        texts(&lacking.1),
        [
            "The tool requires the token \"mail\", the secret \"KEY\", a user id. Arguments cannot supply this: the client must send it in _meta, as \"toolbooth/context\". Do not call the tool again until it does"
        ]
    );
    let context = json!({
        "user_id": "u",
        "authorization": [{"id": "mail", "token": "t"}],
        "secrets": [{"id": "KEY", "value": "k"}]
    });
    let params = json!({
        "name": "Echo_Private", "arguments": {"text": "token"}, "_meta": {"toolbooth/context": context}
    });
    assert_eq!(call(params).1["result"]["structuredContent"], json!({"result": "t"}));
}

#[test]
fn mc27_forbidden_calls() {
    let body = modern("tools/call", json!({"name": "Echo_Scoped", "arguments": {"text": "hi"}}));
    let answer = send_modern(CATALOG, &FakeHost::default(), &body);
    assert_eq!(code(&answer), (403, -32600));
    let host = FakeHost::with(&[("TOOL_ALLOWLIST", "Echo.Say")]);
    let answer = send_modern(CATALOG, &host, &body);
    assert_eq!(code(&answer), (200, -32602));
    let host = FakeHost::with(&[("MAX_BODY_BYTES", "none")]);
    assert_eq!(code(&send_modern(CATALOG, &host, &body)), (503, -32603));
}

#[test]
fn mc22_null_means_absent_for_optional_arguments() {
    for arguments in [json!({"text": "hi", "mood": null}), json!({"text": "hi"})] {
        let (_, answer) = call(json!({"name": "Echo_Say", "arguments": arguments}));
        assert_eq!(answer["result"]["structuredContent"]["result"], "hi", "{arguments}");
    }
}

#[test]
fn null_params_or_arguments_count_as_absent() {
    let without = call(json!({"name": "Echo_Say"}));
    assert_eq!(call(json!({"name": "Echo_Say", "arguments": null})), without);
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": null});
    let answer = send(CATALOG, &FakeHost::default(), ("/mcp", &[]), &body);
    assert_eq!((answer.0, &answer.1["result"]), (200, &json!({})));
}
