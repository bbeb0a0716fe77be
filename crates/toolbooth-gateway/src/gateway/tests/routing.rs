//! Which provider gets a request, with which key, and what happens if it fails.

use crate::gateway::tests::*;

const ANTHROPIC: (&str, &str) = ("ANTHROPIC_API_KEY", "sk-ant");
const GROQ: &[(&str, &str)] =
    &[("PROVIDERS", "my-groq"), ("MY_GROQ_BASE_URL", "https://groq.example/v1")];

#[test]
fn models_and_keys() {
    let anthropic = json!({
        "id": "m", "type": "message", "role": "assistant", "model": "c", "stop_reason": "end_turn",
        "content": [{"type": "text", "text": "hi"}], "usage": {"input_tokens": 1, "output_tokens": 1},
    });
    let gemini =
        json!({"candidates": [{"content": {"parts": [{"text": "hi"}]}, "finishReason": "STOP"}]});
    for (model, variables, url, header, key, body) in [
        (
            "openai/gpt",
            &[][..],
            "https://api.openai.com/v1/chat/completions",
            "authorization",
            "Bearer sk-openai",
            None,
        ),
        (
            "my-groq/a/b",
            GROQ,
            "https://groq.example/v1/chat/completions",
            "authorization",
            "",
            None,
        ),
        (
            "anthropic/c",
            &[ANTHROPIC],
            "https://api.anthropic.com/v1/messages",
            "x-api-key",
            "sk-ant",
            Some(&anthropic),
        ),
        (
            "google/g",
            &[("GEMINI_API_KEY", "sk-gem")],
            "https://generativelanguage.googleapis.com/v1beta/models/g:generateContent",
            "x-goog-api-key",
            "sk-gem",
            Some(&gemini),
        ),
        (
            "gemini/g",
            &[("GEMINI_API_KEY", "sk-gem")],
            "https://generativelanguage.googleapis.com/v1beta/models/g:generateContent",
            "x-goog-api-key",
            "sk-gem",
            Some(&gemini),
        ),
    ] {
        let body = body.map_or_else(|| says("hi"), |body| answer(200, body.to_string()));
        let reply = TestGateway::with(variables).ask(vec![body], &chat(json!({"model": model})));
        assert_eq!(reply.status, 200, "{model}: {reply:?}");
        assert_eq!(reply.json()["choices"][0]["message"]["content"], "hi", "{model}");
        let sent = &reply.sent[0];
        assert_eq!((sent.url.as_str(), sent.header(header)), (url, key), "{model}");
        assert_eq!(reply.header("x-2api-attempts"), Some("1"), "{model}");
        assert!(!reply.log.concat().contains(key) || key.is_empty(), "{:?}", reply.log);
    }
}

#[test]
fn requests_that_reach_no_provider() {
    const NO_KEY: (&str, &str) = ("OPENAI_API_KEY", "");
    const CALLER_KEYS: (&str, &str) = ("GATEWAY_CALLER_KEYS", "true");
    const OWN: (&str, &str) = ("x-provider-key", "sk-own");
    for (model, variables, headers, status, code) in [
        ("openai/m", &[NO_KEY][..], &[][..], 503, "gateway_not_configured"),
        ("anthropic/m", &[], &[], 503, "gateway_not_configured"),
        ("x/m", &[], &[], 404, "model_not_found"),
        ("m", &[], &[], 404, "model_not_found"),
        ("openai/", &[], &[], 404, "model_not_found"),
        ("openai/m", &[], &[OWN], 403, "provider_key_not_allowed"),
        ("openai/m", &[CALLER_KEYS], &[("x-provider-key", "a b")], 403, "provider_key_not_allowed"),
        ("anthropic/m", &[CALLER_KEYS], &[], 503, "gateway_not_configured"),
        ("openai/m", &[("ANONYMOUS_SCOPES", "other")], &[], 403, "missing_scope"),
    ] {
        let world = TestGateway::with(variables);
        let headers = [headers, &[JSON, LOCAL]].concat();
        let body = chat(json!({"model": model}));
        let reply = world.ask_with(vec![], &headers, &body, 0);
        assert_eq!((reply.status, reply.code().as_str()), (status, code), "{model} {reply:?}");
        assert!(reply.sent.is_empty(), "{model}");
        assert!(reply.log.concat().contains(&format!(":{status},")), "{:?}", reply.log);
    }
    let elsewhere =
        TestGateway::new().ask_with(vec![], &[JSON, ("host", "a.example")], &chat(json!({})), 0);
    assert_eq!(elsewhere.status, 403, "without credentials, on this machine only");
    let own = [JSON, LOCAL, OWN];
    let world = TestGateway::with(&[CALLER_KEYS]);
    let reply = world.ask_with(vec![says("hi")], &own, &chat(json!({})), 0);
    assert_eq!(reply.sent[0].header("authorization"), "Bearer sk-own", "the caller's key counts");
}

const MODELS: &str = r#"{
    "both": {"targets": [{"provider": "openai", "model": "a"}, {"provider": "my-groq", "model": "b"}]},
    "again": {"targets": [{"provider": "openai", "model": "a"}], "retry": {"attempts": 3}},
    "rare": {"targets": [{"provider": "openai", "model": "a"}], "retry": {"attempts": 2, "status_codes": [418]}},
    "heavy": {"targets": [{"provider": "openai", "model": "a", "weight": 1},
        {"provider": "my-groq", "model": "b", "weight": 1000000}], "mode": "loadbalance"}
}"#;

#[test]
fn retries_and_fallback() {
    let failed = |status| answer(status, r#"{"error":{"message":"no"}}"#);
    let later = |ms| Ok(HttpResponse::new(429, "").retry_after_ms(ms));
    let gone = || Err(HttpError::Unreachable("reset".to_owned()));
    let world = TestGateway::with(&[GROQ, &[("MODELS", MODELS)]].concat());
    for (model, answers, status, models) in [
        ("both", vec![says("hi")], 200, &["a"][..]),
        ("both", vec![failed(500), says("hi")], 200, &["a", "b"]),
        ("both", vec![failed(529), failed(500)], 502, &["a", "b"]),
        // What Cloudflare says if it cannot reach the provider behind it.
        ("both", vec![failed(524), failed(521)], 502, &["a", "b"]),
        ("both", vec![gone(), says("hi")], 200, &["a", "b"]),
        ("both", vec![Err(HttpError::Timeout), says("hi")], 200, &["a", "b"]),
        ("both", vec![answer(200, "{"), says("hi")], 200, &["a", "b"]),
        ("both", vec![failed(400), says("hi")], 400, &["a"]),
        ("both", vec![failed(401), says("hi")], 502, &["a"]),
        ("both", vec![failed(404), says("hi")], 404, &["a"]),
        ("both", vec![failed(422), says("hi")], 422, &["a"]),
        ("again", vec![failed(503), failed(503), says("hi")], 200, &["a", "a", "a"]),
        ("again", vec![failed(503), failed(503), failed(503)], 503, &["a", "a", "a"]),
        ("again", vec![later(1000), says("hi")], 200, &["a", "a"]),
        ("again", vec![later(60_000), says("hi")], 429, &["a"]),
        ("rare", vec![failed(418), says("hi")], 200, &["a", "a"]),
        ("rare", vec![failed(503), says("hi")], 503, &["a"]),
        ("heavy", vec![says("hi")], 200, &["b"]),
        ("heavy", vec![failed(500), says("hi")], 200, &["b", "a"]),
    ] {
        let reply = world.ask(answers, &chat(json!({"model": model})));
        let got: Vec<_> = reply.sent.iter().map(|sent| sent.body["model"].clone()).collect();
        assert_eq!(
            (reply.status, got),
            (status, models.iter().map(|it| json!(it)).collect()),
            "{model} {}",
            reply.text
        );
        if status == 200 {
            let attempts = &reply.json()["_2api"]["attempts"];
            assert_eq!(attempts.as_array().unwrap().len(), models.len(), "{attempts}");
        }
    }
    let reply = world.ask(vec![later(7_000)], &chat(json!({})));
    assert_eq!(reply.header("retry-after"), Some("7"));
}

/// A provider for which only some callers have a key is left out for the others, as long as a target remains.
#[test]
fn targets_without_a_key_are_left_out() {
    const MODELS: &str = r#"{
        "both": {"targets": [{"provider": "anthropic", "model": "c"}, {"provider": "openai", "model": "a"}]},
        "heavy": {"targets": [{"provider": "anthropic", "model": "c", "weight": 1000000},
            {"provider": "openai", "model": "a"}], "mode": "loadbalance"},
        "none": {"targets": [{"provider": "anthropic", "model": "c"}, {"provider": "google", "model": "g"}]}
    }"#;
    let world = TestGateway::with(&[("GATEWAY_CALLER_KEYS", "true"), ("MODELS", MODELS)]);
    for model in ["both", "heavy"] {
        let reply = world.ask(vec![says("hi")], &chat(json!({"model": model})));
        assert_eq!((reply.status, &reply.sent[0].body["model"]), (200, &json!("a")), "{reply:?}");
    }
    let reply = world.ask(vec![], &chat(json!({"model": "none"})));
    assert_eq!((reply.status, reply.code().as_str()), (503, "gateway_not_configured"));
    assert!(reply.text.contains("anthropic needs a key"), "{}", reply.text);
}

/// What a model would have lost that did not answer is not lost.
#[test]
fn notes_are_those_of_the_model_that_answers() {
    let world = TestGateway::with(&[GROQ, &[("MODELS", MODELS)]].concat());
    let body = chat(json!({"model": "both", "messages": [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": "b", "reasoning_content": "c"},
        {"role": "user", "content": "d"},
    ]}));
    let lost = json!(["messages[].reasoning_content"]);
    for (answers, expected) in
        [(vec![says("hi")], lost), (vec![answer(500, "{}"), says("hi")], Value::Null)]
    {
        let reply = world.ask(answers, &body);
        assert_eq!(reply.json()["_2api"]["dropped"], expected, "{}", reply.text);
        assert_eq!(reply.header("x-2api-warnings").is_some(), expected.is_array(), "{reply:?}");
    }
}

#[test]
fn the_name_of_an_invalid_entry_means_no_other_model() {
    let models = r#"{"openai/a": {"targets": [{"provider": "my-groq", "model": "b"}], "mod": 1}}"#;
    let world = TestGateway::with(&[GROQ, &[("MODELS", models)]].concat());
    for (model, answers, status) in [("openai/a", vec![], 503), ("openai/b", vec![says("hi")], 200)]
    {
        let reply = world.ask(answers, &chat(json!({"model": model})));
        assert_eq!((reply.status, reply.sent.len()), (status, usize::from(status == 200)));
    }
}

#[test]
fn the_list_of_models() {
    for (scopes, expected, providers) in
        [("gateway", 6, json!(["openai", "my-groq"])), ("other", 0, json!([]))]
    {
        let world = TestGateway::with(
            &[GROQ, &[("MODELS", MODELS), ("ANONYMOUS_SCOPES", scopes)]].concat(),
        );
        let server = Server::new(CATALOG, crate::tests::CAPABILITIES, &world.host);
        let request = Request {
            own_origin: None,
            method: Method::Get,
            path: "/v1/models",
            query: "",
            headers: &Pairs(&[]),
            body: Body::from(""),
        };
        let head = pollster::block_on(server.answer(request, &world.host)).head;
        let list: Value = serde_json::from_slice(&head.body).unwrap();
        assert_eq!(list["data"].as_array().unwrap().len(), expected, "{list}");
        assert_eq!(list["providers"], providers);
    }
}

/// What a model costs is what `MODELS` says: of an alias, the most of its models.
#[test]
fn the_list_has_the_prices_of_models() {
    let models = r#"{"a": {"price": {"input": 0.5, "output": 2}, "targets": [
        {"provider": "openai", "model": "m"},
        {"provider": "openai", "model": "n", "price": {"input": 0.25, "output": 4}}]},
        "b": {"targets": [
        {"provider": "openai", "model": "o"},
        {"provider": "openai", "model": "p", "price": {"input": 1, "output": 1}}]}}"#;
    let world = TestGateway::with(&[("MODELS", models)]);
    let answers = vec![answer(200, json!({"data": []}).to_string())];
    let list = world.send((Method::Get, "/v1/models"), answers, &[], &Value::Null).json();
    let found = list["data"].as_array().unwrap().iter();
    let found: Vec<_> = found.map(|it| (it["id"].as_str().unwrap(), it.get("price"))).collect();
    let price = |input: f64, output: f64| json!({"input": input, "output": output});
    let (a, m, n, p) = (price(0.5, 4.0), price(0.5, 2.0), price(0.25, 4.0), price(1.0, 1.0));
    let expected = [
        ("a", Some(&a)),
        ("b", None),
        ("openai/m", Some(&m)),
        ("openai/n", Some(&n)),
        ("openai/o", None),
        ("openai/p", Some(&p)),
    ];
    assert_eq!(found, expected, "{list}");
}

/// The limits are those of `MODELS` (of an alias, the least of its models), or those that a provider lists.
#[test]
fn the_list_has_the_limits_of_models() {
    let models = r#"{"a": {"max_input_tokens": 700, "targets": [
        {"provider": "openai", "model": "m", "max_output_tokens": 90, "max_input_tokens": 800},
        {"provider": "openai", "model": "n", "max_output_tokens": 50}]},
        "b": {"targets": [{"provider": "openai", "model": "o"}]}}"#;
    let world = TestGateway::with(&[("MODELS", models)]);
    let listed = json!({"data": [
        {"id": "m", "max_input_tokens": 1},
        {"id": "p", "max_input_tokens": 10, "max_tokens": 5},
        {"id": "q", "inputTokenLimit": 20, "outputTokenLimit": 6},
        {"id": "r", "context_length": 30},
        {"id": "s", "context_length": "30"},
        {"id": "t", "context_window": 40, "max_completion_tokens": 7},
        {"id": "u", "max_context_length": 50},
        {"id": "v", "max_model_len": 60},
    ]});
    for (headers, output) in
        [(&[][..], "max_output_tokens"), (&[("anthropic-version", "2023-06-01")], "max_tokens")]
    {
        let answers = vec![answer(200, listed.to_string())];
        let reply = world.send((Method::Get, "/v1/models"), answers, headers, &Value::Null);
        let list = reply.json();
        let limits = list["data"].as_array().unwrap().iter();
        let limits: Vec<_> = limits
            .map(|it| {
                (it["id"].as_str().unwrap(), it["max_input_tokens"].as_u64(), it[output].as_u64())
            })
            .collect();
        let expected = [
            ("a", Some(700), Some(50)),
            ("b", None, None),
            ("openai/m", Some(800), Some(90)),
            ("openai/n", Some(700), Some(50)),
            ("openai/o", None, None),
            ("openai/p", Some(10), Some(5)),
            ("openai/q", Some(20), Some(6)),
            ("openai/r", Some(30), None),
            ("openai/s", None, None),
            ("openai/t", Some(40), Some(7)),
            ("openai/u", Some(50), None),
            ("openai/v", Some(60), None),
        ];
        assert_eq!(limits, expected, "{list}");
    }
}
