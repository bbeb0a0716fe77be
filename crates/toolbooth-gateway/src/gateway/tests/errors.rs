//! Errors of providers, as the client sees them.

use crate::gateway::tests::approval::select;
use crate::gateway::tests::loops::{say, world};
use crate::gateway::tests::*;

#[test]
fn statuses_and_codes() {
    let body = r#"{"error":{"message":"it says sk-openai","type":"t","code":"c"}}"#;
    for (status, expected, code) in [
        (400, 400, "provider_error"),
        (401, 502, "provider_auth_error"),
        (403, 502, "provider_auth_error"),
        (404, 404, "provider_error"),
        (408, 504, "provider_timeout"),
        (413, 413, "provider_error"),
        (418, 502, "provider_error"),
        (422, 422, "provider_error"),
        (429, 429, "rate_limited"),
        (500, 502, "provider_error"),
        (503, 503, "provider_overloaded"),
        (504, 504, "provider_timeout"),
        (529, 503, "provider_overloaded"),
        (302, 502, "provider_error"),
    ] {
        for stream in [false, true] {
            let reply = TestGateway::new()
                .ask(vec![answer(status, body)], &chat(json!({"stream": stream})));
            let got = (reply.status, reply.code());
            assert_eq!(got, (expected, code.to_owned()), "{status} {}", reply.text);
            let error = &reply.json()["error"];
            assert!(error["message"].as_str().unwrap().starts_with("openai/m"), "{error}");
            let is_auth = code == "provider_auth_error";
            assert_eq!(!error.to_string().contains("it says [key]"), is_auth, "{error}");
            assert!(!error.to_string().contains("sk-openai"), "{error}");
            assert!(!reply.log.concat().contains("it says"), "{:?}", reply.log);
            assert!(reply.header("www-authenticate").is_none(), "{reply:?}");
        }
    }
}

/// Errors of pydantic in place of a message, without what they quote.
#[test]
fn errors_in_lists() {
    let item = |name: &str, at: Value| json!({"type": "t", "loc": ["body", name, at], "msg": "M", "input": "canary"});
    let list = json!([item("messages", json!(0)), item("tools", json!("a"))]);
    for body in [
        json!({"detail": list}),
        json!({"object": "error", "message": {"detail": list}}),
        json!({"object": "error", "message": list}),
    ] {
        let reply = TestGateway::new().ask(vec![answer(422, body.to_string())], &chat(json!({})));
        let message = &reply.json()["error"]["message"];
        assert_eq!(message, "openai/m: body.messages.0: M; body.tools.a: M", "{body}");
    }
}

/// Servers on one's own machine have a word as their key.
#[test]
fn words_as_keys() {
    for (key, message) in [
        ("ollama", "ollamarunner: the file preollama.bin is missing"),
        ("EMPTY", "NONEMPTY_INPUT required: EMPTY"),
        ("lm-studio", "lm-studio-server is busy"),
    ] {
        let variables = [("OPENAI_API_KEY", key), ("ANTHROPIC_API_KEY", key)];
        let error = json!({"error": {"message": message, "type": "t"}}).to_string();
        let event = format!("event: error\ndata: {error}\n\n");
        for (path, model) in [
            ("/v1/chat/completions", "openai/m"),
            ("/v1/messages", "openai/m"),
            ("/v1/messages", "anthropic/claude-x"),
            ("/v1/responses", "anthropic/claude-x"),
        ] {
            let gateway = TestGateway { path, ..TestGateway::with(&variables) };
            let messages = json!([{"role": "user", "content": "hi"}]);
            for (upstream, stream) in [
                (answer(400, error.as_str()), false),
                (answer(400, error.as_str()), true),
                (answer(200, event.as_str()), true),
            ] {
                let body = json!({"model": model, "messages": messages, "input": messages, "max_tokens": 9, "stream": stream});
                let reply = gateway.ask(vec![upstream], &body);
                assert!(reply.text.contains(message), "{path} {model} {}", reply.text);
            }
        }
    }
}

/// The SDKs of OpenAI and Anthropic repeat a request that fails so, and with it the calls of tools.
#[test]
fn a_request_whose_tools_have_run_is_not_repeated() {
    let own = select(json!({"require_approval": "never"}));
    let body = json!({"model": "openai/m", "max_tokens": 9, "tools": [own],
        "messages": [{"role": "user", "content": "hi"}]});
    for (path, overloaded) in [("/v1/chat/completions", 503), ("/v1/messages", 529)] {
        let gateway = TestGateway { path, ..world(&[("GATEWAY_TOOLS", "Echo.*")]) };
        let mut body = body.clone();
        if path == "/v1/messages" {
            body.as_object_mut().unwrap().remove("tools");
        }
        for (answers, status, header) in [
            (vec![answer(503, "{}")], overloaded, None),
            (vec![calls(&[say("1", "a")]), answer(503, "{}")], overloaded, Some("false")),
            (vec![calls(&[say("1", "a")]), answer(429, "{}")], 429, Some("false")),
        ] {
            let reply = gateway.ask(answers, &body);
            assert_eq!(
                (reply.status, reply.header("x-should-retry")),
                (status, header),
                "{path} {}",
                reply.text
            );
        }
    }
}

#[test]
fn answers_that_cannot_be_read() {
    for (upstream, status, code) in [
        (Err(HttpError::Timeout), 504, "provider_timeout"),
        (Err(HttpError::Unreachable("secret".to_owned())), 502, "provider_unreachable"),
        (answer(200, "<html>"), 502, "provider_bad_response"),
        (answer(200, "{}"), 502, "provider_bad_response"),
        (answer(200, ""), 502, "provider_bad_response"),
    ] {
        for stream in [false, true] {
            let reply =
                TestGateway::new().ask(vec![upstream.clone()], &chat(json!({"stream": stream})));
            assert_eq!((reply.status, reply.code().as_str()), (status, code), "{reply:?}");
            assert!(!reply.text.contains("secret"), "{reply:?}");
        }
    }
}

#[test]
fn invalid_requests() {
    let tool_choice = json!({"tool_choice": "sometimes", "tools": [tool("a")]});
    for (more, param) in [
        (json!({"messages": []}), "messages"),
        (json!({"model": 1}), "model"),
        (json!({"request_options": {"max_rounds": 0}}), "request_options"),
        (json!({"request_options": {"max_rounds": 26}}), "request_options"),
        (json!({"request_options": {"timeout_ms": "x"}}), "request_options"),
        (json!({"request_options": []}), "request_options"),
        (tool_choice, "tool_choice"),
    ] {
        let reply = TestGateway::new().ask(vec![], &chat(more.clone()));
        assert_eq!(
            (reply.status, reply.code().as_str()),
            (400, "invalid_request"),
            "{more}: {reply:?}"
        );
        assert_eq!(reply.json()["error"]["param"], param, "{more}");
    }
}

/// 5.4: a schema that is wider for the provider is an error only for callers who ask for it.
#[test]
fn a_schema_that_the_provider_does_not_support() {
    let union = json!({"type": "object", "oneOf": [{"required": ["a"]}, {"required": ["b"]}]});
    let list = json!({"type": "array"});
    for (schema, options, features) in [
        (&union, json!({}), json!(null)),
        (&union, json!({"strict_schemas": false}), json!(null)),
        (&union, json!({"strict_schemas": true}), json!(["oneOf"])),
        (&list, json!({}), json!(["type"])),
    ] {
        let tool = json!({"name": "complex", "parameters": schema});
        let body =
            json!({"tools": [{"type": "function", "function": tool}], "request_options": options});
        let reply = TestGateway::new().ask(vec![says("Hello")], &chat(body));
        let error = &reply.json()["error"];
        assert_eq!(error["incompatible_features"], features, "{reply:?}");
        if features.is_null() {
            let warnings = reply.json()["_2api"]["warnings"].to_string();
            assert!(warnings.contains("does not enforce oneOf; the description says"), "{reply:?}");
            continue;
        }
        let found = (reply.status, reply.code());
        assert_eq!(found, (400, "tool_schema_incompatible".to_owned()), "{reply:?}");
        assert_eq!(error["type"], "semantic_error");
        assert!(reply.sent.is_empty(), "nothing was sent");
    }
}

#[test]
fn a_failed_chat_logs_the_model_that_was_asked_and_the_code_of_its_error() {
    const ALIAS: (&str, &str) = (
        "MODELS",
        r#"{"fast":{"targets":[{"provider":"openai","model":"a"},{"provider":"openai","model":"b"}]}}"#,
    );
    let refused = || answer(401, "{}");
    let broken = || Ok(HttpResponse::new(200, "x"));
    for (model, answers, provider, logged, error) in [
        ("openai/m", vec![refused()], Some("openai"), Some("m"), "provider_auth_error"),
        ("openai/@cf/m:1.5", vec![], Some("openai"), Some("@cf/m:1.5"), "provider_unreachable"),
        ("fast", vec![broken(), refused()], Some("openai"), Some("b"), "provider_auth_error"),
        ("no/such", vec![], None, Some("no/such"), "model_not_found"),
        ("", vec![], None, None, "invalid_request"),
        // No text that is not made like a name.
        ("my canary is", vec![], None, None, "model_not_found"),
        (&"m".repeat(65), vec![], None, None, "model_not_found"),
    ] {
        for stream in [false, true] {
            let body = chat(json!({"model": model, "stream": stream}));
            let line = TestGateway::with(&[ALIAS]).ask(answers.clone(), &body).line();
            assert_eq!(line["event"], "chat", "{model} {line}");
            let text = |name: &str| line.get(name).and_then(Value::as_str);
            assert_eq!(text("gen_ai.provider.name"), provider, "{model} {line}");
            assert_eq!(text("gen_ai.request.model"), logged, "{model} {line}");
            assert_eq!(text("error.type"), Some(error), "{model} {line}");
        }
    }
    let line = TestGateway::new().ask(vec![says("hi")], &chat(json!({}))).line();
    assert!(line.get("error.type").is_none(), "{line}");
    // Rejected before it was read.
    let line = TestGateway::new().ask_with(vec![], &[LOCAL], &chat(json!({})), 0).line();
    assert_eq!(line["error.type"], "unsupported_media_type", "{line}");
    assert!(line.get("gen_ai.request.model").is_none(), "{line}");
}
