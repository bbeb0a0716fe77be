//! What of a conversation a provider gets whose format has rules for it: white space, the order of messages, and types of media.

use crate::gateway::tests::*;

const FRONTS: [&str; 3] = ["/v1/chat/completions", "/v1/messages", "/v1/responses"];

/// A gateway for the clients of one format, with providers of all formats.
fn gateway(path: &'static str) -> TestGateway {
    let gateway = TestGateway::with(&[
        ("ANTHROPIC_API_KEY", "sk-ant-0123456789"),
        ("GEMINI_API_KEY", "gemini-0123456789"),
        ("PROVIDERS", "other"),
        ("OTHER_BASE_URL", "https://other.example/v1"),
    ]);
    TestGateway { path, ..gateway }
}

/// A request of messages, each a role with texts, as a client of this format writes it.
fn said(path: &str, model: &str, messages: &[(&str, Value)]) -> Value {
    let list: Vec<_> =
        messages.iter().map(|(role, content)| json!({"role": role, "content": content})).collect();
    match path {
        "/v1/responses" => json!({"model": model, "input": list}),
        "/v1/messages" => json!({"model": model, "max_tokens": 100, "messages": list}),
        _ => json!({"model": model, "messages": list}),
    }
}

/// A conversation with a call of `w` before the message of the user, as a client of this format writes it.
fn called(path: &str, before: &[(&str, Value)]) -> Value {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}});
    let mut body = said(path, "google/gemini-3-pro-preview", before);
    let (list, call, result) = match path {
        "/v1/responses" => {
            body["tools"] = json!([{"type": "function", "name": "w", "parameters": schema}]);
            let call = json!({"type": "function_call", "call_id": "c1", "name": "w", "arguments": "{\"city\":\"Rome\"}"});
            ("input", call, json!({"type": "function_call_output", "call_id": "c1", "output": "5"}))
        }
        "/v1/messages" => {
            body["tools"] = json!([{"name": "w", "input_schema": schema}]);
            let call =
                json!({"type": "tool_use", "id": "c1", "name": "w", "input": {"city": "Rome"}});
            let result = json!({"type": "tool_result", "tool_use_id": "c1", "content": "5"});
            let message = |role: &str, block| json!({"role": role, "content": [block]});
            ("messages", message("assistant", call), message("user", result))
        }
        _ => {
            body["tools"] =
                json!([{"type": "function", "function": {"name": "w", "parameters": schema}}]);
            let call = call("c1", "w", "{\"city\":\"Rome\"}");
            let call = json!({"role": "assistant", "content": null, "tool_calls": [call]});
            ("messages", call, json!({"role": "tool", "tool_call_id": "c1", "content": "5"}))
        }
    };
    body[list].as_array_mut().unwrap().extend([call, result]);
    body
}

fn anthropic() -> Result<HttpResponse, HttpError> {
    let body = json!({
        "id": "m", "type": "message", "role": "assistant", "model": "m", "content": [{"type": "text", "text": "T"}],
        "stop_reason": "end_turn", "usage": {"input_tokens": 1, "output_tokens": 1},
    });
    answer(200, body.to_string())
}

fn google() -> Result<HttpResponse, HttpError> {
    let body =
        json!({"candidates": [{"content": {"parts": [{"text": "T"}]}, "finishReason": "STOP"}]});
    answer(200, body.to_string())
}

/// Anthropic rejects texts of nothing but white space, and messages without anything else.
#[test]
fn white_space() {
    let blank = |text: &str| json!([{"type": "text", "text": text}]);
    for path in ["/v1/chat/completions", "/v1/responses"] {
        let kind = |role: &str, text: &str| match (path, role) {
            ("/v1/responses", "assistant") => json!([{"type": "output_text", "text": text}]),
            ("/v1/responses", _) => json!([{"type": "input_text", "text": text}]),
            _ => blank(text),
        };
        let model = "anthropic/claude-opus-5";
        for (messages, expected) in [
            (
                vec![("user", json!("q")), ("assistant", json!("\n\n")), ("user", json!("r"))],
                json!([["user", ["q", "r"]]]),
            ),
            (vec![("user", json!("q")), ("user", json!(" \t\n"))], json!([["user", ["q"]]])),
            (
                vec![("user", kind("user", "\u{a0}\n")), ("user", kind("user", "q"))],
                json!([["user", ["q"]]]),
            ),
            (
                vec![("user", json!("\n")), ("assistant", json!("A")), ("user", json!("r"))],
                json!([
                    ["user", ["The conversation continues."]],
                    ["assistant", ["A"]],
                    ["user", ["r"]]
                ]),
            ),
        ] {
            let reply = gateway(path).ask(vec![anthropic()], &said(path, model, &messages));
            let sent = reply.sent[0].body["messages"].as_array().unwrap();
            let texts = |message: &Value| {
                let blocks = message["content"].as_array().unwrap();
                json!([
                    message["role"],
                    blocks.iter().map(|it| it["text"].clone()).collect::<Value>()
                ])
            };
            assert_eq!(sent.iter().map(texts).collect::<Value>(), expected, "{path} {messages:?}");
        }
        let nothing = said(path, model, &[("user", json!("\n"))]);
        let reply = gateway(path).ask(Vec::new(), &nothing);
        assert_eq!((reply.status, reply.sent.len()), (400, 0), "{path} {}", reply.text);
    }
}

/// Gemini wants a message of the user first, and a call directly after the user or results. Contents of one role are one.
#[test]
fn order_of_contents() {
    for path in FRONTS {
        let user = ("user", json!("hi"));
        let check = ("assistant", json!("Let me check."));
        for (before, expected) in [
            (vec![], vec!["user text", "model call", "user result"]),
            (vec![check.clone()], vec!["user text", "model text call", "user result"]),
            (
                vec![user.clone(), check.clone()],
                vec!["user text", "model text call", "user result"],
            ),
            (
                vec![user.clone(), user.clone(), check.clone(), check],
                vec!["user text text", "model text text call", "user result"],
            ),
        ] {
            let reply = gateway(path).ask(vec![google()], &called(path, &before));
            let contents = reply.sent[0].body["contents"].as_array().unwrap();
            let shape = |content: &Value| {
                let parts = content["parts"].as_array().unwrap().iter();
                let kind = |part: &Value| match part {
                    part if part["functionCall"].is_object() => " call",
                    part if part["functionResponse"].is_object() => " result",
                    _ => " text",
                };
                format!(
                    "{}{}",
                    content["role"].as_str().unwrap(),
                    parts.map(kind).collect::<String>()
                )
            };
            let shapes: Vec<_> = contents.iter().map(shape).collect();
            assert_eq!(shapes, expected, "{path} {before:?}");
        }
    }
}

/// Gemini counts the parts of a content with results, so that the images of a result follow in one of their own.
#[test]
fn images_of_results() {
    let mut body = called("/v1/chat/completions", &[("user", json!("hi"))]);
    let image = json!({"type": "image_url", "image_url": {"url": "data:image/jpg;base64,AAAA"}});
    body["messages"][2]["content"] = json!([{"type": "text", "text": "5"}, image]);
    let more = json!({"role": "user", "content": "And?"});
    body["messages"].as_array_mut().unwrap().push(more);
    let reply = gateway("/v1/chat/completions").ask(vec![google()], &body);
    let contents = &reply.sent[0].body["contents"];
    assert_eq!(contents[2]["parts"].as_array().unwrap().len(), 1, "{contents}");
    let inline = json!({"inlineData": {"mimeType": "image/jpeg", "data": "AAAA"}});
    assert_eq!(contents[3], json!({"role": "user", "parts": [inline, {"text": "And?"}]}));
}

/// Names of types that only clients use, and texts as files.
#[test]
fn types_of_media() {
    let image = |path: &str| match path {
        "/v1/responses" => {
            json!({"type": "input_image", "image_url": "data:image/jpg;base64,AAAA"})
        }
        "/v1/messages" => {
            json!({"type": "image", "source": {"type": "base64", "media_type": "image/jpg", "data": "AAAA"}})
        }
        _ => json!({"type": "image_url", "image_url": {"url": "data:IMAGE/JPG;base64, AA\nAA"}}),
    };
    for path in FRONTS {
        let content = json!([image(path)]);
        let body = said(path, "anthropic/claude-opus-5", &[("user", content.clone())]);
        let sent = gateway(path).ask(vec![anthropic()], &body).sent;
        let source = json!({"type": "base64", "media_type": "image/jpeg", "data": "AAAA"});
        assert_eq!(sent[0].body["messages"][0]["content"][0]["source"], source, "{path}");
        let body = said(path, "google/gemini-3-pro", &[("user", content)]);
        let sent = gateway(path).ask(vec![google()], &body).sent;
        assert_eq!(sent[0].body["contents"][0]["parts"][0]["inlineData"]["mimeType"], "image/jpeg");
    }
    for (media_type, is_text) in [
        ("text/plain", true),
        ("text/csv; charset=utf-8", true),
        ("application/json", true),
        ("application/zip", false),
    ] {
        let data = format!("data:{media_type};base64,eCx5");
        for path in ["/v1/chat/completions", "/v1/responses"] {
            let file = match path {
                "/v1/responses" => {
                    json!({"type": "input_file", "filename": "a.csv", "file_data": data})
                }
                _ => json!({"type": "file", "file": {"filename": "a.csv", "file_data": data}}),
            };
            let ask = |model, answer| {
                let body = said(path, model, &[("user", json!([file]))]);
                gateway(path).ask(vec![answer], &body)
            };
            let reply = ask("anthropic/claude-opus-5", anthropic());
            if !is_text {
                let sent = &reply.sent[0].body["messages"][0]["content"][0];
                assert_eq!(*sent, json!({"type": "text", "text": "a.csv is not shown."}));
                continue;
            }
            let expected = json!({"type": "text", "media_type": "text/plain", "data": "x,y"});
            let sent = &reply.sent[0].body["messages"][0]["content"][0];
            assert_eq!((&sent["type"], &sent["source"]), (&json!("document"), &expected));
            let sent = ask("google/gemini-3-pro", google()).sent;
            let part = &sent[0].body["contents"][0]["parts"][0]["inlineData"];
            assert_eq!(*part, json!({"mimeType": "text/plain", "data": "eCx5"}), "{path}");
        }
        let file = json!({"type": "input_file", "filename": "a.csv", "file_data": data});
        let body = said("/v1/responses", "other/m", &[("user", json!([file]))]);
        let sent = gateway("/v1/responses").ask(vec![says("T")], &body).sent;
        let content = if is_text { "a.csv:\n\nx,y" } else { "a.csv is not shown." };
        assert_eq!(sent[0].body["messages"][0]["content"], content, "{media_type}");
    }
}
