//! Tools that ask the client for input, and tools that report progress.

use super::*;

const CAPABLE: &str = "io.modelcontextprotocol/clientCapabilities";
const STATE_KEY: (&str, &str) = ("STATE_KEY", "0123456789abcdef0123456789abcdef");

fn ask(host: &FakeHost, capabilities: Value, further: Value) -> (u16, Value) {
    let mut params = json!({"name": "Echo_Say", "arguments": {"text": "ask"}});
    params["_meta"][CAPABLE] = capabilities;
    for (name, value) in further.as_object().unwrap() {
        params[name] = value.clone();
    }
    send_modern(CATALOG, host, &modern("tools/call", params))
}

fn accept(key: &str, content: Value) -> Value {
    json!({ key: { "action": "accept", "content": content } })
}

#[test]
fn a_tool_asks_in_two_rounds_with_a_sealed_state() {
    let host = FakeHost::with(&[STATE_KEY]);
    let forms = || json!({"elicitation": {}});
    let (status, answer) = ask(&host, forms(), json!({}));
    let result = &answer["result"];
    assert_eq!((status, &result["resultType"]), (200, &json!("input_required")));
    let question = &result["inputRequests"]["name"];
    assert_eq!(question["method"], "elicitation/create");
    assert_eq!(question["params"]["message"], "Which?");
    assert_eq!(result.get("requestState"), None);

    let responses = accept("name", json!({"name": "Ada"}));
    let (_, answer) = ask(&host, forms(), json!({ "inputResponses": responses }));
    let result = &answer["result"];
    assert!(result["inputRequests"]["colour"].is_object(), "{result}");
    let state = result["requestState"].as_str().unwrap();

    let colour = || accept("colour", json!({"colour": "red"}));
    let again = |state: &str| json!({ "inputResponses": colour(), "requestState": state });
    let (_, answer) = ask(&host, forms(), again(state));
    assert_eq!(answer["result"]["structuredContent"], json!({"result": "Adared"}));

    for (what, host, body) in [
        ("changed", &host, again(&format!("{state}x"))),
        ("no key", &FakeHost::default(), again(state)),
        ("not a string", &host, json!({ "requestState": 7 })),
    ] {
        let (status, answer) = ask(host, forms(), body);
        assert_eq!((status, &answer["error"]["code"]), (200, &json!(-32602)), "{what}");
    }
    for nothing in [json!(7), json!(null), json!({"name": 7}), json!({"name": {"action": "x"}})] {
        let (_, answer) = ask(&host, forms(), json!({ "inputResponses": nothing }));
        assert_eq!(answer["result"]["resultType"], "input_required", "{nothing}");
    }
    let (status, answer) = ask(&FakeHost::default(), forms(), json!({"inputResponses": responses}));
    assert_eq!((status, &answer["error"]["code"]), (503, &json!(-32603)), "a state needs a key");
}

#[test]
fn a_client_is_asked_for_what_it_declares() {
    let host = FakeHost::default();
    for (capabilities, can) in [
        (json!({"elicitation": {}}), true),
        (json!({"elicitation": {"form": {}}}), true),
        (json!({"elicitation": {"form": {}, "url": {}}}), true),
        (json!({"elicitation": {"url": {}}}), false),
        (json!({"elicitation": null}), false),
        (json!({"sampling": {}, "roots": {}}), false),
        (json!({}), false),
    ] {
        let (status, answer) = ask(&host, capabilities.clone(), json!({}));
        if can {
            assert_eq!(answer["result"]["resultType"], "input_required", "{capabilities}");
        } else {
            assert_eq!((status, &answer["error"]["code"]), (400, &json!(-32021)), "{capabilities}");
            let required = json!({"requiredCapabilities": {"elicitation": {"form": {}}}});
            assert_eq!(answer["error"]["data"], required);
        }
    }
    let call = json!({"name": "Echo_Say", "arguments": {"text": "ask"}});
    let (status, answer) = send(CATALOG, &host, ("/mcp", &[]), &legacy("tools/call", call));
    assert_eq!((status, &answer["result"]["isError"]), (200, &json!(true)), "a legacy client");
}

#[test]
fn notes_stand_before_the_response_in_an_event_stream() {
    let progress = json!({"method": "notifications/progress", "params": {
        "progressToken": "p", "progress": 1.0, "total": 2.0, "message": "half"}});
    let slow =
        json!({"method": "notifications/message", "params": {"level": "warning", "data": "slow"}});
    let stream = ("accept", "application/json, text/event-stream");
    let level = "io.modelcontextprotocol/logLevel";
    for (what, accept, meta, expected) in [
        ("nothing wanted", stream, json!({}), vec![]),
        ("no stream", ("accept", "*/*"), json!({"progressToken": "p", level: "debug"}), vec![]),
        ("progress", stream, json!({"progressToken": "p"}), vec![&progress]),
        ("log", stream, json!({level: "debug"}), vec![&slow]),
        ("only higher levels", stream, json!({level: "error"}), vec![]),
        ("not a level", stream, json!({level: "all"}), vec![]),
        ("both", stream, json!({"progressToken": "p", level: "warning"}), vec![&progress, &slow]),
    ] {
        let params = json!({"name": "Echo_Say", "arguments": {"text": "note"}, "_meta": meta});
        let body = modern("tools/call", params);
        let sent: Vec<_> = headers(&body).into_iter().chain([accept]).collect();
        let host = FakeHost::default();
        let answer = wire(&mcp::post((CATALOG, CAPABILITIES), &host, ("/mcp", &sent), &body));
        let events: Vec<Value> = answer
            .lines()
            .filter_map(|line| line.strip_prefix("data: "))
            .map(|data| serde_json::from_str(data).unwrap())
            .collect();
        assert_eq!(answer.contains("content-type: text/event-stream"), !expected.is_empty());
        let Some((response, notifications)) = events.split_last() else {
            assert!(expected.is_empty(), "{what}: {answer}");
            continue;
        };
        assert_eq!(response["id"], 7, "{what}");
        assert_eq!(notifications.len(), expected.len(), "{what}: {answer}");
        for (note, expected) in notifications.iter().zip(expected) {
            assert_eq!(
                (&note["method"], &note["params"]),
                (&expected["method"], &expected["params"])
            );
        }
    }
}
