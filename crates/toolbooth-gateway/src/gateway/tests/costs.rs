//! What the callers may spend: models, tiers and tokens.

use crate::gateway::tests::members::{PROVIDERS, hi};
use crate::gateway::tests::*;

/// The SHA-256 of "abc".
const HASH: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
const HEADERS: [(&str, &str); 2] = [JSON, ("authorization", "Bearer abc")];
const MODELS: &str = r#"{"fast": {"targets": [{"provider": "openai", "model": "m"}]},
    "slow": {"targets": [{"provider": "own", "model": "m"}]}, "bad": {}}"#;

/// A gateway outside of development whose caller has a key with these limits.
fn keyed(limits: &Value, variables: &[(&str, &str)]) -> TestGateway {
    let keys =
        json!([{"name": "a", "scopes": ["gateway"], "hash": HASH, "gateway": limits}]).to_string();
    let own = [("AUTH", "api-key"), ("API_KEYS", keys.as_str()), ("DEVELOPMENT", "false")];
    TestGateway::with(&[PROVIDERS, &own, variables].concat())
}

fn ask(world: &TestGateway, answers: Vec<Result<HttpResponse, HttpError>>, body: &Value) -> Reply {
    world.ask_with(answers, &HEADERS, body, usize::MAX)
}

#[test]
fn models_that_a_caller_may_use() {
    let set = [("MODELS", MODELS)];
    let developed = [set[0], ("DEVELOPMENT", "true")];
    let (all, fast) = (json!({}), json!({"models": ["fast"]}));
    let named = json!({"models": ["slow", "openai/a"]});
    for (limits, variables, model, status) in [
        (&all, &[][..], "openai/a", 200),
        (&all, &[], "own/a", 200),
        (&all, &set, "fast", 200),
        (&all, &set, "slow", 200),
        (&all, &set, "openai/m", 403),
        (&all, &set, "none", 403),
        (&all, &set, "bad", 503),
        (&all, &developed, "openai/a", 200),
        (&fast, &set, "fast", 200),
        (&fast, &set, "slow", 403),
        (&fast, &set, "openai/m", 403),
        (&fast, &developed, "slow", 403),
        (&fast, &[], "openai/m", 403),
        (&named, &set, "slow", 200),
        (&named, &set, "openai/a", 200),
        (&named, &set, "openai/b", 403),
        (&named, &set, "OpenAI/a", 403),
        (&named, &set, "fast", 403),
        (&named, &[], "openai/a", 200),
    ] {
        let body = chat(json!({"model": model}));
        let reply = ask(&keyed(limits, variables), vec![says("hi")], &body);
        assert_eq!(reply.status, status, "{limits} {model} {}", reply.text);
        assert_eq!(reply.sent.len(), usize::from(status == 200), "{limits} {model}");
        if status == 403 {
            let error = &reply.json()["error"];
            assert_eq!(error["code"], "model_not_allowed", "{error}");
            assert_eq!(error["param"], "model", "{error}");
            assert_eq!(error["type"], "permission_error", "{error}");
            let message = error["message"].as_str().unwrap();
            let start = format!("The caller may not use the model \"{model}\"; it may use ");
            let names = message.strip_prefix(&start).unwrap();
            // It reveals no other names.
            assert_eq!(names.contains("slow"), *limits != fast, "{error}");
        }
    }
}

/// The key names a model that does not exist.
#[test]
fn a_limited_caller_learns_no_other_names() {
    let ghosts = json!({"models": ["ghost", "openai/a"]});
    for (limits, names) in [
        (&json!({"models": ["ghost"]}), "There is no model 'ghost'"),
        (&ghosts, "There is no model 'ghost'; there are openai/a"),
    ] {
        let world = keyed(limits, &[("MODELS", MODELS)]);
        let reply = ask(&world, vec![], &chat(json!({"model": "ghost"})));
        assert_eq!((reply.status, reply.sent.len()), (404, 0), "{}", reply.text);
        assert_eq!(reply.json()["error"]["message"], names);
    }
}

#[test]
fn the_list_has_the_models_that_a_caller_may_use() {
    let set = [("MODELS", MODELS)];
    for (limits, variables, expected, providers) in [
        (json!({}), &[][..], json!([]), 4),
        (json!({}), &set, json!(["fast", "slow"]), 0),
        (
            json!({}),
            &[set[0], ("DEVELOPMENT", "true")],
            json!(["fast", "openai/m", "own/m", "slow"]),
            4,
        ),
        (
            json!({"models": ["slow", "openai/a", "nobody/a", "own/m"]}),
            &set,
            json!(["openai/a", "own/m", "slow"]),
            0,
        ),
        (json!({"models": ["openai/a"]}), &[], json!(["openai/a"]), 0),
    ] {
        let world = keyed(&limits, variables);
        let server = Server::new(CATALOG, crate::tests::CAPABILITIES, &world.host);
        let request = Request {
            own_origin: None,
            method: Method::Get,
            path: "/v1/models",
            query: "",
            headers: &Pairs(&HEADERS),
            body: Body::from(""),
        };
        let head = pollster::block_on(server.answer(request, &world.host)).head;
        let list: Value = serde_json::from_slice(&head.body).unwrap();
        let mut ids: Vec<_> =
            list["data"].as_array().unwrap().iter().map(|model| model["id"].clone()).collect();
        ids.sort_by_key(Value::to_string);
        assert_eq!(json!(ids), expected, "{limits} {list}");
        assert_eq!(list["providers"].as_array().unwrap().len(), providers, "{limits} {list}");
    }
}

#[test]
fn tiers_that_a_caller_may_use() {
    let (none, priority) = (json!({}), json!({"service_tiers": ["priority"]}));
    for (limits, tier, is_sent) in [
        (&none, json!("auto"), true),
        (&none, json!("default"), true),
        (&none, json!("priority"), false),
        (&none, json!("flex"), false),
        (&none, json!("Auto"), false),
        (&none, json!(["priority"]), false),
        (&priority, json!("priority"), true),
        (&priority, json!("flex"), false),
    ] {
        for model in ["openai/m", "own/m"] {
            let body = chat(json!({"model": model, "service_tier": tier}));
            let reply = ask(&keyed(limits, &[]), vec![says("hi")], &body);
            assert_eq!(reply.status, if is_sent { 200 } else { 400 }, "{tier} {}", reply.text);
            assert_eq!(reply.sent.len(), usize::from(is_sent), "{tier}");
            match is_sent {
                true => assert_eq!(reply.sent[0].body["service_tier"], tier),
                false => assert_eq!(reply.json()["error"]["param"], "service_tier"),
            }
        }
    }
}

/// The members of the request for each provider, and where the limit is in what it gets.
const LIMITS: [(&str, &str); 4] = [
    ("openai/m", "/max_completion_tokens"),
    ("own/m", "/max_tokens"),
    ("anthropic/m", "/max_tokens"),
    ("google/m", "/generationConfig/maxOutputTokens"),
];

#[test]
fn tokens_that_a_caller_may_spend() {
    let limited = keyed(&json!({"max_output_tokens": 100}), &[]);
    for (model, path) in LIMITS {
        let reply = ask(&limited, vec![hi(model)], &chat(json!({"model": model})));
        let sent = &reply.sent[0].body;
        assert_eq!(sent.pointer(path), Some(&json!(100)), "the limit is sent: {sent}");
        for (name, wanted) in [("max_tokens", 100), ("max_completion_tokens", 7)] {
            let body = chat(json!({"model": model, name: wanted}));
            let reply = ask(&limited, vec![hi(model)], &body);
            let sent = reply.sent[0].body.to_string();
            assert_eq!(sent.matches(&format!("okens\":{wanted}")).count(), 1, "{sent}");
            // Some compatible providers ignore the other name.
            let is_own = !sent.contains("max_completion_tokens");
            assert!(model != "own/m" || is_own, "{sent}");
            assert_eq!(sent.contains("okens\":100"), wanted == 100, "{sent}");
        }
        for (members, param) in [
            (json!({"max_tokens": 101}), "max_tokens"),
            (json!({"max_completion_tokens": 999_999}), "max_completion_tokens"),
            (json!({"max_tokens": 1, "max_completion_tokens": 101}), "max_completion_tokens"),
            (json!({"max_tokens": 101, "max_completion_tokens": 1}), "max_tokens"),
            (json!({"max_tokens": 0}), "max_tokens"),
            (json!({"max_tokens": -1}), "max_tokens"),
            (json!({"max_tokens": 1e9}), "max_tokens"),
            (json!({"max_tokens": "100"}), "max_tokens"),
        ] {
            let mut body = chat(members.clone());
            body["model"] = json!(model);
            let reply = ask(&limited, vec![hi(model)], &body);
            assert_eq!((reply.status, reply.sent.len()), (400, 0), "{members} {}", reply.text);
            let error = &reply.json()["error"];
            assert_eq!(error["param"], param, "{error}");
            assert!(error["message"].as_str().unwrap().contains("100"), "{error}");
        }
        // Other callers have no limit.
        let body = chat(json!({"model": model, "max_tokens": 999_999}));
        let reply = ask(&keyed(&json!({}), &[]), vec![hi(model)], &body);
        assert!(reply.sent[0].body.to_string().contains("999999"), "{}", reply.text);
    }
}

/// The limit is for each answer, also for those between the calls of compiled-in tools.
#[test]
fn every_round_has_the_limit() {
    let tools =
        json!([{"type": "toolbooth", "allowed": ["Echo_Say"], "require_approval": "never"}]);
    for (members, expected) in [(json!({}), 100), (json!({"max_completion_tokens": 7}), 7)] {
        let mut body = chat(members);
        body["tools"] = tools.clone();
        let limits = json!({"max_output_tokens": 100});
        let answers = vec![calls(&[call("1", "Echo_Say", "{\"text\":\"x\"}")]), says("hi")];
        let reply = ask(&keyed(&limits, &[]), answers, &body);
        let sent: Vec<_> = reply.sent.iter().map(|it| &it.body["max_completion_tokens"]).collect();
        assert_eq!(sent, [expected, expected], "{}", reply.text);
    }
}

/// Gemini's thoughts are a part of `maxOutputTokens`: an answer must follow them.
#[test]
fn geminis_thoughts_leave_room_for_an_answer() {
    for (model, most, wanted, tokens, budget) in [
        ("gemini-2.5-flash", 5000, None, 5000, json!(2500)),
        ("gemini-2.5-flash", 60_000, None, 60_000, json!(24_576)),
        ("gemini-2.5-flash", 60_000, Some(3000), 3000, json!(1500)),
        ("gemini-2.5-flash", 1000, None, 1000, json!(0)),
        ("gemini-2.5-pro", 1000, None, 1000, json!(500)),
        ("gemini-2.5-pro", 100, None, 100, json!(null)),
    ] {
        let model = format!("google/{model}");
        let body = json!({"model": model, "reasoning_effort": "high", "max_tokens": wanted});
        let world = keyed(&json!({"max_output_tokens": most}), &[]);
        let reply = ask(&world, vec![hi("google/m")], &chat(body));
        let config = &reply.sent[0].body["generationConfig"];
        assert_eq!(config["maxOutputTokens"], tokens, "{config}");
        assert_eq!(config["thinkingConfig"]["thinkingBudget"], budget, "{model} {config}");
        let warnings = reply.json()["_2api"]["warnings"].to_string();
        assert_eq!(warnings.contains("reasoning_effort"), budget != json!(24_576), "{warnings}");
    }
}

/// Anthropic's budget for thinking is a part of the answer.
#[test]
fn thinking_is_within_the_limit() {
    for (most, wanted, tokens, thinks) in [
        (100, None, 100, false),
        (5000, Some(10), 4106, true),
        (4100, Some(10), 4100, true),
        (9000, Some(8000), 8000, true),
    ] {
        let mut body =
            chat(json!({"model": "anthropic/claude-sonnet-4-5", "reasoning_effort": "high"}));
        body["max_tokens"] = json!(wanted);
        let world = keyed(&json!({"max_output_tokens": most}), &[]);
        let reply = ask(&world, vec![hi("anthropic/m")], &body);
        let sent = &reply.sent[0].body;
        assert_eq!(sent["max_tokens"], tokens, "{sent}");
        assert_eq!(sent.get("thinking").is_some(), thinks, "{sent}");
        assert_eq!(reply.json()["_2api"]["dropped"].is_array(), !thinks, "{}", reply.text);
    }
}
