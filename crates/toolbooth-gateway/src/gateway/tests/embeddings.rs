//! Texts that are passed on to be embedded, and the lists of models.

use crate::gateway::tests::*;
use toolbooth::host::LEDGER;

/// The SHA-256 of "abc".
const HASH: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
const KEY: (&str, &str) = ("authorization", "Bearer abc");
const MODELS: &str = r#"{
    "e": {"targets": [{"provider": "openai", "model": "e"}], "price": {"input": 1, "output": 2}},
    "two": {"targets": [{"provider": "openai", "model": "e"}, {"provider": "own", "model": "f"}]}
}"#;

fn world(key: &Value, variables: &[(&str, &str)]) -> TestGateway {
    let mut entry = json!({"name": "a", "scopes": ["*"], "hash": HASH});
    entry.as_object_mut().unwrap().extend(key.as_object().unwrap().clone());
    let keys = json!([entry]).to_string();
    let own = [("AUTH", "api-key"), ("API_KEYS", &*keys), ("DEVELOPMENT", "false")];
    let mut world =
        TestGateway::with(&[crate::gateway::tests::members::PROVIDERS, &own, variables].concat());
    world.host.bindings.insert(LEDGER);
    world
}

fn embed(
    world: &TestGateway,
    answers: Vec<Result<HttpResponse, HttpError>>,
    body: &Value,
) -> Reply {
    world.send((Method::Post, "/v1/embeddings"), answers, &[JSON, KEY], body)
}

fn vectors() -> Result<HttpResponse, HttpError> {
    answer(
        200,
        r#"{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.10,1e-3]}],"model":"e","usage":{"prompt_tokens":3,"total_tokens":3}}"#,
    )
}

#[test]
fn texts_are_passed_on() {
    let body = json!({"model": "openai/e", "input": ["a", "b"], "dimensions": 2, "encoding_format": "float", "user": "u"});
    let reply = embed(&world(&json!({}), &[]), vec![vectors()], &body);
    assert_eq!(reply.status, 200, "{}", reply.text);
    let sent = &reply.sent[0];
    assert_eq!(sent.url, "https://api.openai.com/v1/embeddings");
    assert_eq!(sent.header("authorization"), "Bearer sk-openai");
    let mut expected = body;
    expected["model"] = json!("e");
    assert_eq!(sent.body, expected);
    assert!(reply.text.contains("[0.10,1e-3]"), "the answer is as it came: {}", reply.text);
    assert_eq!(reply.header("x-2api-model"), Some("e"));
    let line = reply.line();
    assert_eq!(line["gen_ai.operation.name"], "embeddings");
    assert_eq!(line["gen_ai.usage.input_tokens"], 3);
}

#[test]
fn embeddings_that_are_rejected() {
    let models = [("MODELS", MODELS)];
    for (key, variables, body, status, code, param) in [
        (
            json!({}),
            &[][..],
            json!({"model": "anthropic/c", "input": "a"}),
            400,
            "invalid_request",
            "model",
        ),
        (
            json!({}),
            &[],
            json!({"model": "google/c", "input": "a"}),
            400,
            "invalid_request",
            "model",
        ),
        (json!({}), &[], json!({"model": "openai/e"}), 400, "invalid_request", "input"),
        (json!({}), &[], json!({"input": "a"}), 400, "invalid_request", "model"),
        (
            json!({}),
            &[],
            json!({"model": "openai/e", "input": [{"image": "http://10.0.0.1/"}]}),
            400,
            "invalid_request",
            "input",
        ),
        (
            json!({}),
            &[],
            json!({"model": "openai/e", "input": [["http://10.0.0.1/"]]}),
            400,
            "invalid_request",
            "input",
        ),
        (
            json!({}),
            &[],
            json!({"model": "openai/e", "input": "a", "tools": []}),
            400,
            "invalid_request",
            "tools",
        ),
        (json!({}), &[], json!([]), 400, "invalid_request", ""),
        (json!({}), &[], json!("text"), 400, "invalid_request", ""),
        (
            json!({}),
            &models,
            json!({"model": "two", "input": "a"}),
            400,
            "invalid_request",
            "model",
        ),
        (
            json!({}),
            &models,
            json!({"model": "openai/x", "input": "a"}),
            403,
            "model_not_allowed",
            "model",
        ),
        (
            json!({"gateway": {"models": ["e"]}}),
            &[],
            json!({"model": "openai/e", "input": "a"}),
            403,
            "model_not_allowed",
            "model",
        ),
        (
            json!({"scopes": []}),
            &[],
            json!({"model": "openai/e", "input": "a"}),
            403,
            "missing_scope",
            "",
        ),
        (
            json!({"budgets": [{"window": "1d", "usd": 1}]}),
            &[],
            json!({"model": "openai/e", "input": "a"}),
            403,
            "model_without_price",
            "model",
        ),
    ] {
        let reply = embed(&world(&key, variables), vec![], &body);
        assert_eq!((reply.status, reply.code().as_str()), (status, code), "{body} {}", reply.text);
        let message = reply.json()["error"]["message"].as_str().unwrap().to_owned();
        assert!(!message.starts_with(' ') && !message.contains("  "), "{message}");
        assert_eq!(reply.json()["error"]["param"].as_str().unwrap_or_default(), param, "{body}");
        assert!(reply.sent.is_empty());
    }
}

/// Some providers report an error with the status of an answer.
#[test]
fn errors_in_answers_are_errors() {
    for (error, status, code) in [
        ("null", 200, ""),
        (r#"{"message":"no sk-openai","code":404}"#, 404, "provider_error"),
        (r#"{"message":"no","type":"rate_limit_error"}"#, 429, "rate_limited"),
        (r#""no""#, 502, "provider_error"),
    ] {
        let upstream = answer(200, format!(r#"{{"data":[],"error":{error}}}"#));
        let reply = embed(
            &world(&json!({}), &[]),
            vec![upstream],
            &json!({"model": "openai/e", "input": "a"}),
        );
        assert_eq!((reply.status, reply.code().as_str()), (status, code), "{}", reply.text);
        assert!(!reply.text.contains("sk-openai"), "{}", reply.text);
    }
}

/// A provider has no more time than a request may take in all.
#[test]
fn embeddings_keep_the_deadline() {
    for (deadline, expected) in [("500", 500), ("3600000", 60_000)] {
        let world = world(&json!({}), &[("GATEWAY_DEADLINE_MS", deadline)]);
        let reply = embed(&world, vec![vectors()], &json!({"model": "openai/e", "input": "a"}));
        assert_eq!(reply.sent[0].timeout.as_millis(), expected);
    }
}

/// Input tokens are reserved, and settled by those that the provider has counted.
#[test]
fn embeddings_take_from_budgets() {
    let key = json!({"budgets": [{"window": "1d", "usd": 1}, {"window": "1m", "requests": 9}]});
    let body = json!({"model": "e", "input": "a"});
    for (upstream, settled) in [
        (vectors(), Some(3000)),
        (answer(200, r#"{"data":[]}"#), None),
        (answer(200, "no JSON"), None),
        (answer(200, "[]"), None),
        (answer(200, r#"{"error":{"type":"invalid_request_error"}}"#), Some(0)),
        (answer(200, r#"{"error":"no"}"#), None),
        (answer(400, "{}"), Some(0)),
        (Err(HttpError::Timeout), None),
    ] {
        let world = world(&key, &[("MODELS", MODELS)]);
        let reply = embed(&world, vec![upstream], &body);
        let most = reply.sent[0].body.to_string().len() * 1000;
        let settled = settled.unwrap_or(most);
        let expected = [
            format!("reserve {most} usd"),
            "charge 1 requests".to_owned(),
            format!("settle {settled}"),
        ];
        assert_eq!(world.host.ledger.operations.take(), expected, "{}", reply.text);
    }
}

#[test]
fn models_of_providers_are_listed() {
    let openai = r#"{"object":"list","data":[{"id":"gpt","created":7,"owned_by":"x"},{"id":"a/b"},{"name":1}]}"#;
    let anthropic =
        r#"{"data":[{"type":"model","id":"claude","display_name":"C"}],"has_more":false}"#;
    let gemini = r#"{"models":[{"name":"models/gemini","supportedGenerationMethods":["generateContent"]},{"name":"models/embed","supportedGenerationMethods":["embedContent"]}]}"#;
    let answers = || {
        vec![answer(200, openai), answer(200, anthropic), answer(200, gemini), answer(500, "{}")]
    };
    let all = ["anthropic/claude", "google/gemini", "openai/a/b", "openai/gpt"];
    let world = world(&json!({}), &[]);
    let server = world.server();
    let get = |path: &'static str, answers| {
        world.send_to(&server, (Method::Get, path), answers, &[KEY], &Value::Null)
    };
    // For a single model, only its provider is asked.
    let one = world.send(
        (Method::Get, "/v1/models/openai/gpt"),
        vec![answer(200, openai)],
        &[KEY],
        &Value::Null,
    );
    assert_eq!((one.status, one.sent.len()), (200, 1), "{one:?}");
    let reply = get("/v1/models", answers());
    let ids = |reply: &Reply| {
        let list = reply.json();
        let ids =
            list["data"].as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap().to_owned());
        let mut ids: Vec<_> = ids.collect();
        ids.sort_unstable();
        ids
    };
    assert_eq!(ids(&reply), all, "{}", reply.text);
    let urls: Vec<_> = reply.sent.iter().map(|sent| sent.url.as_str()).collect();
    assert_eq!(
        urls,
        [
            "https://api.openai.com/v1/models",
            "https://api.anthropic.com/v1/models?limit=1000",
            "https://generativelanguage.googleapis.com/v1beta/models?pageSize=1000",
            "https://own.example/v1/models",
        ]
    );
    assert!(
        reply.log.iter().any(|line| line.contains(r#"Warn models [("provider", "own")"#)),
        "{:?}",
        reply.log
    );
    // Within minutes, nothing is fetched again.
    let again = get("/v1/models", vec![]);
    assert_eq!((ids(&again), again.sent.len()), (all.map(str::to_owned).to_vec(), 0));
    for (path, id) in [
        ("/v1/models/openai/gpt", "openai/gpt"),
        ("/v1/models/openai%2Fgpt", "openai/gpt"),
        ("/v1/models/openai/a/b", "openai/a/b"),
        ("/2api/v1/models/anthropic/claude", "anthropic/claude"),
        ("/v1/models/google/gemini", "google/gemini"),
        ("/v1/models/gemini/gemini", "google/gemini"),
    ] {
        let reply = get(path, vec![]);
        assert_eq!((reply.status, &reply.json()["id"]), (200, &json!(id)), "{path}");
    }
    assert_eq!(get("/v1/models/openai/gpt", vec![]).json()["created"], 7);
    let anthropic = [KEY, ("anthropic-version", "2023-06-01")];
    let path = "/v1/models/openai/gpt";
    let reply = world.send_to(&server, (Method::Get, path), vec![], &anthropic, &Value::Null);
    assert_eq!(reply.json()["created_at"], "1970-01-01T00:00:07Z");
    for path in ["/v1/models/openai", "/v1/models/openai/other"] {
        let reply = get(path, vec![]);
        assert_eq!((reply.status, reply.code()), (404, "model_not_found".to_owned()), "{path}");
    }
}

/// The list of a provider has bounds, and a caller who may not use every model causes no request.
#[test]
fn lists_of_models_are_bounded() {
    let many: Vec<_> = (0..3000).map(|at| json!({"id": at.to_string()})).collect();
    let many = json!({"data": many}).to_string();
    for (body, count) in [
        (many.as_str(), 2000),
        ("no JSON", 0),
        ("{}", 0),
        ("7", 0),
        (r#"[{"id":"m"}]"#, 1),
        (r#"{"data":[{"id":"\u0000"}]}"#, 0),
    ] {
        let world = world(&json!({}), &[]);
        let reply =
            world.send((Method::Get, "/v1/models"), vec![answer(200, body)], &[KEY], &Value::Null);
        assert_eq!(reply.json()["data"].as_array().unwrap().len(), count, "{body:.50}");
    }
    for (key, variables) in [
        (json!({"gateway": {"models": ["openai/e"]}}), &[][..]),
        (json!({}), &[("MODELS", MODELS)]),
        (json!({"scopes": []}), &[]),
    ] {
        let world = world(&key, variables);
        let reply = world.send((Method::Get, "/v1/models"), vec![], &[KEY], &Value::Null);
        assert_eq!((reply.status, reply.sent.len()), (200, 0));
    }
}
