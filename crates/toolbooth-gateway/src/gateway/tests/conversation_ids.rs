//! Ids of calls that come again in a later answer.

use crate::gateway::tests::conversation::{
    CHAT, MESSAGES, RESPONSES, ask, ask_all, next, with_tool,
};
use crate::gateway::tests::*;

/// A conversation in which two answers, and two calls of the second one, have the same id.
fn repeated(path: &str) -> Value {
    let mut body = with_tool(path, "w");
    let call = |city: &str| call("w:0", "w", &json!({"city": city}).to_string());
    match path {
        RESPONSES => {
            let call = |city: &str| json!({"type": "function_call", "call_id": "w:0", "name": "w", "arguments": json!({"city": city}).to_string()});
            let result = |text: &str| json!({"type": "function_call_output", "call_id": "w:0", "output": text});
            body["input"] = json!([{"role": "user", "content": "hi"}, call("Rome"), result("5"),
                call("Oslo"), call("Bonn"), result("6"), result("7")]);
        }
        MESSAGES => {
            let call = |city: &str| json!({"type": "tool_use", "id": "w:0", "name": "w", "input": {"city": city}});
            let result =
                |text: &str| json!({"type": "tool_result", "tool_use_id": "w:0", "content": text});
            body["messages"] = json!([{"role": "user", "content": "hi"},
                {"role": "assistant", "content": [call("Rome")]}, {"role": "user", "content": [result("5")]},
                {"role": "assistant", "content": [call("Oslo"), call("Bonn")]},
                {"role": "user", "content": [result("6"), result("7")]}]);
        }
        _ => {
            let result =
                |text: &str| json!({"role": "tool", "tool_call_id": "w:0", "content": text});
            body["messages"] = json!([{"role": "user", "content": "hi"},
                {"role": "assistant", "content": null, "tool_calls": [call("Rome")]}, result("5"),
                {"role": "assistant", "content": null, "tool_calls": [call("Oslo"), call("Bonn")]}, result("6"), result("7")]);
        }
    }
    body
}

/// Each call that a provider got: its id, its city, and the result with that id.
fn calls(sent: &Value) -> Vec<(String, String, String)> {
    let (mut calls, mut results) = (Vec::new(), Vec::new());
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let city = |arguments: &Value| {
        let parsed = arguments.as_str().map(|text| serde_json::from_str(text).unwrap());
        text(&parsed.as_ref().unwrap_or(arguments)["city"])
    };
    visit(sent, &mut |object| {
        let kind = object.get("type").and_then(Value::as_str).unwrap_or_default();
        if object.contains_key("functionCall") {
            calls.push((String::new(), city(&object["functionCall"]["args"])));
        } else if object.contains_key("functionResponse") {
            results.push((String::new(), text(&object["functionResponse"]["response"])));
        } else if kind == "tool_use" {
            calls.push((text(&object["id"]), city(&object["input"])));
        } else if kind == "tool_result" {
            results.push((text(&object["tool_use_id"]), object["content"].to_string()));
        } else if kind == "function_call" {
            calls.push((text(&object["call_id"]), city(&object["arguments"])));
        } else if kind == "function_call_output" {
            results.push((text(&object["call_id"]), text(&object["output"])));
        } else if kind == "function" && object.contains_key("id") {
            calls.push((text(&object["id"]), city(&object["function"]["arguments"])));
        } else if object.get("role") == Some(&json!("tool")) {
            results.push((text(&object["tool_call_id"]), text(&object["content"])));
        }
    });
    assert_eq!(calls.len(), results.len());
    let result = |at: usize, id: &str| match id {
        "" => results[at].1.clone(),
        id => results.iter().find(|(of, _)| of == id).unwrap().1.clone(),
    };
    let calls = calls.into_iter().enumerate();
    calls.map(|(at, (id, city))| (id.clone(), city, result(at, &id))).collect()
}

fn visit(value: &Value, with: &mut impl FnMut(&serde_json::Map<String, Value>)) {
    match value {
        Value::Object(object) => {
            with(object);
            object.values().for_each(|value| visit(value, with));
        }
        Value::Array(items) => items.iter().for_each(|item| visit(item, with)),
        _ => {}
    }
}

/// OpenAI rejects the rest of the session if an item has an id with other characters than its own have.
#[test]
fn items_have_ids_that_openai_takes_back() {
    let long = "x".repeat(90);
    for id in
        ["c1", "chatcmpl-1a2b", "gen-17:x/é", "2d1f0b1e-3d0f-4a56-9d5e-6f1c2b3a4d5e", &long, ""]
    {
        let message = json!({"role": "assistant", "content": "T", "reasoning_content": "R", "tool_calls": [call("c1", "w", "{}")]});
        let choice = json!({"index": 0, "message": message, "finish_reason": "tool_calls"});
        let body = json!({"id": id, "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]});
        let providers = [("PROVIDERS", "own"), ("OWN_BASE_URL", "https://own.example/v1")];
        let gateway = TestGateway { path: "/v1/responses", ..TestGateway::with(&providers) };
        let request = json!({"model": "own/m", "input": "x"});
        let reply = gateway.ask(vec![answer(200, body.to_string())], &request);
        let output = reply.json()["output"].clone();
        let ids: Vec<_> =
            output.as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap()).collect();
        assert!(ids.len() >= 3, "{ids:?}");
        for id in ids {
            let is_taken = id.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_');
            assert!(is_taken && id.len() <= 64 && !id.ends_with('_'), "{id}");
        }
    }
}

#[test]
fn each_call_of_a_conversation_has_its_own() {
    for path in [CHAT, MESSAGES, RESPONSES] {
        for model in [
            "anthropic/m",
            "openai/m",
            "server/m",
            "compat/m",
            "mistral/m",
            "deepseek/m",
            "google/m",
        ] {
            let got = ask(path, model, &repeated(path));
            let calls = calls(&got.sent);
            let place = format!("{path} {model} {calls:?}");
            assert_eq!(calls.len(), 3, "{place}");
            for ((_, city, result), (expected, text)) in
                calls.iter().zip([("Rome", "5"), ("Oslo", "6"), ("Bonn", "7")])
            {
                assert_eq!(city, expected, "{place}");
                assert!(result.contains(text), "{place}");
            }
            let mut ids: Vec<_> = calls.iter().map(|(id, ..)| id.clone()).collect();
            if model == "google/m" {
                continue;
            }
            let is_plain = |id: &String| {
                id.bytes().all(|it| it.is_ascii_alphanumeric() || b"_-".contains(&it))
            };
            assert!(model != "anthropic/m" || ids.iter().all(is_plain), "{place}");
            assert!(
                model != "mistral/m" || ids.iter().all(|id| id.len() == 9 && is_plain(id)),
                "{place}"
            );
            // Always the same, so that the provider's cache holds.
            let again = ask(path, model, &repeated(path));
            assert_eq!(again.sent, got.sent, "{place}");
            ids.sort_unstable();
            ids.dedup();
            assert_eq!(ids.len(), 3, "{place}");
        }
    }
}

/// A client pairs results by id. What it sends back is that id.
#[test]
fn an_answer_gets_no_id_of_the_conversation() {
    let says = [
        json!({"role": "assistant", "content": null, "tool_calls": [call("w:0", "w", r#"{"city":"Wien"}"#)]}),
    ];
    for path in [CHAT, MESSAGES, RESPONSES] {
        for (model, stream) in [("compat/m", false), ("compat/m", true)] {
            let body = repeated(path);
            let first = ask_all(path, &[], model, &says, &body, stream);
            let answer = first.answer.to_string();
            assert!(!answer.contains("w:0"), "{path} {answer}");
            let second = ask(path, model, &next(path, &body, &first.answer));
            let calls = calls(&second.sent);
            assert_eq!(calls[3].1, "Wien", "{path} {calls:?}");
            assert_eq!(calls[3].2, "5", "{path} {calls:?}");
            assert!(calls[..3].iter().all(|(id, ..)| *id != calls[3].0), "{path} {calls:?}");
        }
    }
}

/// To Anthropic in its own format, all but the ids is as the client wrote it.
#[test]
fn what_passes_is_otherwise_unchanged() {
    let body = repeated(MESSAGES);
    let sent = ask(MESSAGES, "anthropic/m", &body).sent;
    let mut expected = body.clone();
    for (message, block) in [(1, 0), (3, 0), (3, 1), (2, 0), (4, 0), (4, 1)] {
        let name = if message % 2 == 1 { "id" } else { "tool_use_id" };
        let id = &sent["messages"][message]["content"][block][name];
        assert!(id.as_str().unwrap().starts_with("call_"), "{id}");
        expected["messages"][message]["content"][block][name] = id.clone();
    }
    assert_eq!(sent["messages"], expected["messages"]);
}
