//! What is reserved and settled: the operations of the ledger, and what arrives at the provider.

use crate::gateway::tests::members::{PROVIDERS, hi};
use crate::gateway::tests::*;
use toolbooth::host::LEDGER;
use toolbooth::testing::CHUNK_END;

/// The SHA-256 of "abc".
const HASH: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
const HEADERS: [(&str, &str); 2] = [JSON, ("authorization", "Bearer abc")];
/// A token of input costs 1,000 nano-dollars, one of output 2,000.
const MODELS: &str = r#"{
    "m": {"targets": [{"provider": "openai", "model": "m"}], "price": {"input": 1, "output": 2, "cached": 0.5}, "max_output_tokens": 100},
    "two": {"price": {"input": 1, "output": 2}, "max_output_tokens": 100, "targets": [
        {"provider": "openai", "model": "m"},
        {"provider": "own", "model": "n", "price": {"input": 10, "output": 20}, "max_output_tokens": 7}]},
    "again": {"targets": [{"provider": "openai", "model": "m"}], "price": {"input": 1, "output": 2}, "max_output_tokens": 100, "retry": {"attempts": 2}},
    "free": {"targets": [{"provider": "openai", "model": "f"}]},
    "endless": {"targets": [{"provider": "openai", "model": "e"}], "price": {"input": 1, "output": 2}}
}"#;

/// A gateway whose caller has these budgets and limits.
fn with(budgets: &Value, limits: &Value) -> TestGateway {
    let keys = json!([{
        "name": "a", "scopes": ["*"], "hash": HASH, "budgets": budgets, "gateway": limits,
    }]);
    let (keys, callers) = (keys.to_string(), ("GATEWAY_CALLER_KEYS", "true"));
    let own =
        [("AUTH", "api-key"), ("API_KEYS", &*keys), ("DEVELOPMENT", "false"), ("MODELS", MODELS)];
    let mut world = TestGateway::with(&[PROVIDERS, &own, &[callers]].concat());
    world.host.bindings.insert(LEDGER);
    world
}

pub(super) fn in_dollars() -> TestGateway {
    with(&json!([{"window": "1d", "usd": 1}]), &json!({}))
}

pub(super) fn ask(
    world: &TestGateway,
    answers: Vec<Result<HttpResponse, HttpError>>,
    body: &Value,
) -> Reply {
    world.ask_with(answers, &HEADERS, body, usize::MAX)
}

/// What a request of these bytes reserves, and what it settles.
pub(super) fn operations(world: &TestGateway) -> Vec<String> {
    world.host.ledger.operations.take()
}

/// What is reserved for a request that arrives at the provider with this body.
fn most(sent: &Sent, input: usize, output: usize) -> String {
    let body = sent.body.as_object().unwrap();
    let limit = ["max_tokens", "max_completion_tokens"].into_iter().find_map(|name| body.get(name));
    let limit = limit.and_then(Value::as_u64).unwrap();
    let limit = usize::try_from(limit).unwrap();
    format!("reserve {} usd", sent.body.to_string().len() * input + limit * output)
}

#[test]
fn an_answer_is_settled_by_its_tokens() {
    let world = in_dollars();
    for (body, limit) in [
        (json!({"model": "m"}), 100),
        (json!({"model": "m", "max_tokens": 5}), 5),
        (json!({"model": "openai/m"}), 100),
    ] {
        // Names in MODELS only, unless the key names the model.
        let world = match body["model"].as_str() {
            Some("m") => &world,
            _ => &with(&json!([{"window": "1d", "usd": 1}]), &json!({"models": ["openai/m"]})),
        };
        let reply = ask(world, vec![says("hi")], &chat(body.clone()));
        assert_eq!(reply.status, 200, "{body} {}", reply.text);
        let sent = &reply.sent[0];
        let wanted = sent.body.get("max_tokens").or(sent.body.get("max_completion_tokens"));
        assert_eq!(wanted, Some(&json!(limit)), "{}", sent.body);
        // 10 tokens of input, 2 of output.
        assert_eq!(operations(world), [most(sent, 1000, 2000), "settle 14000".to_owned()]);
    }
}

/// Anthropic charges more for what it writes into its cache, and most for what it keeps there for an hour.
#[test]
fn anthropics_cache_has_prices_of_its_own() {
    let models = r#"{"a": {"targets": [{"provider": "anthropic", "model": "m"}], "price": {"input": 1, "output": 2, "cached": 0.1}}}"#;
    for (ttl, input, long, settled) in [("5m", 1250, 0, 59_000), ("1h", 2000, 30, 81_500)] {
        let world = in_dollars();
        let mut world = TestGateway { path: "/v1/messages", ..world };
        world.host.variables.insert("MODELS".to_owned(), models.to_owned());
        let block = json!({"type": "text", "text": "hi", "cache_control": {"type": "ephemeral", "ttl": ttl}});
        let body = json!({"model": "a", "max_tokens": 9, "messages": [{"role": "user", "content": [block]}]});
        let usage = json!({
            "input_tokens": 4, "cache_read_input_tokens": 10, "cache_creation_input_tokens": 40, "output_tokens": 2,
            "cache_creation": {"ephemeral_5m_input_tokens": 40 - long, "ephemeral_1h_input_tokens": long},
        });
        let text = json!([{"type": "text", "text": "x"}]);
        let message = json!({"id": "m", "type": "message", "role": "assistant", "model": "m", "content": text, "stop_reason": "end_turn", "usage": usage});
        let reply = ask(&world, vec![answer(200, message.to_string())], &body);
        assert_eq!(reply.status, 200, "{}", reply.text);
        let expected = [most(&reply.sent[0], input, 2000), format!("settle {settled}")];
        assert_eq!(operations(&world), expected, "{ttl}");
    }
}

/// A budget in dollars counts tokens, so its caller gets nothing that costs more, unless the price covers it.
#[test]
fn what_costs_more_than_tokens_needs_a_price_that_covers_it() {
    let models = |extras: bool| {
        let price = json!({"input": 1, "output": 2, "includes_extras": extras});
        let target = |provider: &str| json!({"targets": [{"provider": provider, "model": "m"}], "price": price, "max_output_tokens": 100});
        json!({"o": target("openai"), "a": target("anthropic")}).to_string()
    };
    let usual = "token-counting-2024-11-01,interleaved-thinking-2025-05-14";
    let betas =
        format!("{usual},context-1m-2025-08-07, prompt-caching-x,effort,claude-code-20250219");
    let headers = [HEADERS[0], HEADERS[1], ("anthropic-beta", &betas)];
    let search = "web_search_20250305";
    for (budget, extras) in [("usd", false), ("usd", true), ("requests", false)] {
        let arrives = budget != "usd" || extras;
        let world = |path| {
            let keys = json!([{"name": "a", "scopes": ["*"], "hash": HASH, "budgets": [{"window": "1d", budget: 1}]}]);
            let (keys, models) = (keys.to_string(), models(extras));
            let own = [
                ("AUTH", "api-key"),
                ("API_KEYS", &*keys),
                ("DEVELOPMENT", "false"),
                ("MODELS", &*models),
                (
                    "GATEWAY_TOOL_ALLOWLIST",
                    "web_search,web_search_options,web_search_20250305,bash_20250124",
                ),
            ];
            let mut world = TestGateway { path, ..TestGateway::with(&[PROVIDERS, &own].concat()) };
            world.host.bindings.insert(LEDGER);
            world
        };
        // A chat with such a tool is an error; agents, which always send them, get none.
        for more in [json!({"tools": [{"type": "web_search"}]}), json!({"web_search_options": {}})]
        {
            let mut body = chat(more);
            body["model"] = json!("o");
            let reply = ask(&world("/v1/chat/completions"), vec![says("hi")], &body);
            assert_eq!(
                reply.status,
                if arrives { 200 } else { 400 },
                "{budget} {extras} {}",
                reply.text
            );
            assert!(arrives || reply.text.contains("includes_extras"), "{}", reply.text);
        }
        let body = json!({"model": "a", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}],
            "tools": [{"type": search, "name": "web_search"}, {"type": "bash_20250124", "name": "bash"}]});
        let reply =
            world("/v1/messages").ask_with(vec![hi("anthropic/m")], &headers, &body, usize::MAX);
        assert_eq!(reply.status, 200, "{}", reply.text);
        let sent = &reply.sent[0];
        assert_eq!(sent.body.to_string().contains(search), arrives, "{}", sent.body);
        assert!(sent.body.to_string().contains("bash_20250124"), "{}", sent.body);
        assert_eq!(sent.header("anthropic-beta"), if arrives { &betas } else { usual });
        let warnings = reply.json()["_2api"]["warnings"].to_string();
        assert_eq!(warnings.contains("context-1m-2025-08-07"), !arrives, "{warnings}");
    }
}

/// A server that knows only one of the names obeys the limit that was reserved.
#[test]
fn a_provider_gets_a_limit_that_it_knows() {
    let own = || with(&json!([{"window": "1d", "usd": 1}]), &json!({"models": ["two"]}));
    for (limits, sent_limit) in [
        (json!({"max_completion_tokens": 1}), json!(1)),
        (json!({"max_completion_tokens": 1, "max_tokens": 6}), json!(6)),
    ] {
        let world = own();
        let mut body = json!({"model": "two"});
        body.as_object_mut().unwrap().extend(limits.as_object().unwrap().clone());
        let reply = ask(&world, vec![answer(503, "{}"), says("hi")], &chat(body));
        assert_eq!(reply.status, 200, "{limits} {}", reply.text);
        let sent = &reply.sent[1];
        assert_eq!(sent.body["max_tokens"], sent_limit, "{}", sent.body);
        let reserved = format!(
            "reserve {} usd",
            sent.body.to_string().len() * 10_000 + sent_limit.as_u64().unwrap() as usize * 20_000
        );
        assert!(operations(&world).contains(&reserved), "{limits}");
    }
}

#[test]
fn what_the_provider_does_not_count_costs_what_was_reserved() {
    for (answers, settled) in [
        (vec![answer(200, r#"{"choices":[{"message":{"content":"hi"}}]}"#)], None),
        (vec![answer(200, r#"{"choices":[{"message":{"content":"hi"}}],"usage":{}}"#)], None),
        (vec![answer(200, "no JSON")], None),
        (vec![Err(HttpError::Timeout)], None),
        (vec![answer(400, "{}")], Some(0)),
        (vec![answer(529, "{}")], Some(0)),
        // The model may have worked.
        (vec![answer(524, "{}")], None),
    ] {
        let world = in_dollars();
        let reply = ask(&world, answers.clone(), &chat(json!({"model": "m"})));
        let reserved = most(&reply.sent[0], 1000, 2000);
        let units = reserved.trim_start_matches("reserve ").trim_end_matches(" usd");
        let settled = settled.map_or_else(|| units.to_owned(), |it: u64| it.to_string());
        assert_eq!(
            operations(&world),
            [reserved.clone(), format!("settle {settled}")],
            "{answers:?}"
        );
    }
}

#[test]
fn each_attempt_and_each_round_is_reserved() {
    let world = in_dollars();
    let reply = ask(&world, vec![answer(503, "{}"), says("hi")], &chat(json!({"model": "two"})));
    let [first, second] = &reply.sent[..] else { panic!("{:?}", reply.sent) };
    assert_eq!(second.body["max_tokens"], 7);
    let expected = [
        most(first, 1000, 2000),
        "settle 0".into(),
        most(second, 10_000, 20_000),
        "settle 140000".into(),
    ];
    assert_eq!(operations(&world), expected);

    // A request that is repeated without a member.
    let rejected = r#"{"error":{"message":"m","param":"temperature"}}"#;
    let body = chat(json!({"model": "m", "temperature": 0.5}));
    let reply = ask(&world, vec![answer(400, rejected), says("hi")], &body);
    let [first, second] = &reply.sent[..] else { panic!("{:?}", reply.sent) };
    let (first, second) = (most(first, 1000, 2000), most(second, 1000, 2000));
    assert_ne!(first, second);
    assert_eq!(operations(&world), [&*first, "settle 0", &second, "settle 14000"]);

    let reply = ask(&world, vec![answer(503, "{}"), says("hi")], &chat(json!({"model": "again"})));
    let reserved = most(&reply.sent[1], 1000, 2000);
    assert_eq!(operations(&world), [&*reserved, "settle 0", &reserved, "settle 14000"]);

    let body =
        chat(json!({"model": "m", "tools": [{"type": "toolbooth", "allowed": ["Echo.Say"]}]}));
    let answers = vec![calls(&[call("1", "Echo_Say", r#"{"text":"a"}"#)]), says("hi")];
    let reply = ask(&world, answers, &body);
    assert_eq!((reply.status, reply.sent.len()), (200, 2), "{}", reply.text);
    let [first, second] = [0, 1].map(|at: usize| most(&reply.sent[at], 1000, 2000));
    assert_eq!(operations(&world), [&*first, "settle 14000", &*second, "settle 14000"]);
}

#[test]
fn a_stream_that_breaks_off_costs_what_was_reserved_unless_the_tokens_are_known() {
    const TEXT: &str = r#"data: {"choices":[{"index":0,"delta":{"content":"hi"}}]}"#;
    const END: &str = r#"data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;
    const COUNT: &str = r#"data: {"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":2,"total_tokens":12}}"#;
    let body = chat(json!({"model": "m", "stream": true}));
    for (events, writes, settled) in [
        (&[TEXT, END, COUNT, "data: [DONE]"][..], usize::MAX, Some(14_000)),
        (&[TEXT, END, "data: [DONE]"], usize::MAX, None),
        (&[TEXT], usize::MAX, None),
        // The client goes before the first event, or before the last one.
        (&[TEXT, END, COUNT, "data: [DONE]"], 0, None),
        (&[TEXT, END, COUNT, "data: [DONE]"], 1, Some(14_000)),
    ] {
        let chunks: Vec<_> = events.iter().map(|event| format!("{event}\n\n")).collect();
        let world = in_dollars();
        let reply = world.ask_with(
            vec![answer(200, chunks.join(&char::from(CHUNK_END).to_string()))],
            &HEADERS,
            &body,
            writes,
        );
        let reserved = most(&reply.sent[0], 1000, 2000);
        let units = reserved.trim_start_matches("reserve ").trim_end_matches(" usd");
        let settled = settled.map_or_else(|| units.to_owned(), |it: u64| it.to_string());
        let expected = [reserved.clone(), format!("settle {settled}")];
        assert_eq!(operations(&world), expected, "{events:?} {writes} {}", reply.text);
    }
}

#[test]
fn requests_are_counted_once_and_only_if_they_are_valid() {
    let world = with(&json!([{"window": "1m", "requests": 2}]), &json!({}));
    let body = chat(json!({"model": "again"}));
    assert_eq!(ask(&world, vec![answer(503, "{}"), says("hi")], &body).status, 200);
    assert_eq!(ask(&world, vec![], &chat(json!({"model": "again", "tools": 1}))).status, 400);
    assert_eq!(operations(&world), ["charge 1 requests"]);
    assert_eq!(ask(&world, vec![says("hi")], &body).status, 200);
    let reply = ask(&world, vec![says("hi")], &body);
    assert_eq!((reply.status, reply.code()), (429, "budget_exceeded".to_owned()));
    assert_eq!(reply.header("retry-after"), Some("40"));
    assert_eq!(reply.line()["error.type"], "budget_exceeded");
    assert!(reply.sent.is_empty());
}

/// A request that no provider can get takes nothing, although it is valid JSON.
#[test]
fn what_is_not_sent_is_not_counted() {
    let world = with(
        &json!([{"window": "1m", "requests": 2}, {"window": "1d", "usd": 1}]),
        &json!({"models": ["google/g", "free"]}),
    );
    let schema = json!({"type": "array"});
    let tools = json!([{"type": "function", "function": {"name": "a", "parameters": schema}}]);
    let reply = ask(&world, vec![], &chat(json!({"model": "google/g", "tools": tools})));
    assert_eq!(reply.code(), "tool_schema_incompatible", "{}", reply.text);
    let reply = ask(&world, vec![], &chat(json!({"model": "free"})));
    assert_eq!(reply.code(), "model_without_price", "{}", reply.text);
    assert_eq!(operations(&world), [""; 0]);
    // If one of the budgets is used up, the other one loses nothing.
    let world =
        with(&json!([{"window": "1m", "requests": 1}, {"window": "1d", "usd": 1}]), &json!({}));
    assert_eq!(ask(&world, vec![says("hi")], &chat(json!({"model": "m"}))).status, 200);
    world.host.ledger.operations.take();
    let reply = ask(&world, vec![], &chat(json!({"model": "m"})));
    assert_eq!(reply.code(), "budget_exceeded", "{}", reply.text);
    let operations = operations(&world);
    assert_eq!(operations.last().map(String::as_str), Some("settle 0"), "{operations:?}");
}

/// 7.4: calls that the client runs take from the budget too, before it gets them.
#[test]
fn calls_of_answers_take_tool_calls() {
    let world = with(&json!([{"window": "1m", "tool_calls": 2}]), &json!({}));
    let body = |stream: bool| chat(json!({"model": "m", "stream": stream, "tools": [tool("a")]}));
    let two = || calls(&[call("1", "a", "{}"), call("2", "a", "{}")]);
    assert_eq!(ask(&world, vec![two()], &body(false)).status, 200);
    assert_eq!(operations(&world), ["charge 2 tool_calls"]);
    let reply = ask(&world, vec![two()], &body(false));
    assert_eq!((reply.status, reply.code()), (429, "budget_exceeded".to_owned()));
    let parts = [
        crate::gateway::tests::streams::part(0, Some("a"), "{}"),
        crate::gateway::tests::streams::chunk(json!({}), Some("tool_calls")),
    ];
    let stream = answer(200, format!("{}data: [DONE]\n\n", parts.concat()));
    let reply = ask(&world, vec![stream], &body(true));
    assert_eq!(reply.events().last().unwrap()["error"]["code"], "budget_exceeded");
    assert!(!reply.text.contains("\"name\":\"a\""), "{}", reply.text);
}

#[test]
fn calls_in_the_loop_take_tool_calls() {
    let world = with(&json!([{"window": "1m", "tool_calls": 2}]), &json!({}));
    let body =
        chat(json!({"model": "m", "tools": [{"type": "toolbooth", "allowed": ["Echo.Say"]}]}));
    let say = |id: &str| call(id, "Echo_Say", &format!(r#"{{"text":"{id}"}}"#));
    let answers = vec![calls(&[say("1"), say("2")]), calls(&[say("3")]), says("hi")];
    let reply = ask(&world, answers, &body);
    assert_eq!((reply.status, reply.code()), (429, "budget_exceeded".to_owned()));
    assert_eq!(reply.sent.len(), 2);
    assert_eq!(operations(&world), ["charge 2 tool_calls", "charge 1 tool_calls"]);
}

#[test]
fn what_a_budget_in_dollars_needs() {
    for (budgets, model, rest, status, code) in [
        (json!([{"window": "1d", "usd": 1}]), "free", json!({}), 403, "model_without_price"),
        (json!([{"window": "1d", "usd": 1}]), "endless", json!({}), 400, "invalid_request"),
        (json!([{"window": "1d", "usd": 1}]), "endless", json!({"max_tokens": 5}), 200, ""),
        (
            json!([{"window": "1d", "usd": 1}]),
            "m",
            json!({"max_tokens": -1}),
            400,
            "invalid_request",
        ),
        (
            json!([{"window": "1d", "usd": 1}]),
            "m",
            json!({"max_tokens": 1.5}),
            400,
            "invalid_request",
        ),
        (json!([{"window": "1d", "requests": 1}]), "free", json!({}), 200, ""),
        (json!([{"window": "1d", "usd": 0.0001}]), "m", json!({}), 429, "budget_exceeded"),
    ] {
        let world = with(&budgets, &json!({}));
        let mut body = chat(rest.clone());
        body["model"] = model.into();
        let reply = ask(&world, vec![says("hi")], &body);
        assert_eq!(reply.status, status, "{budgets} {model} {}", reply.text);
        assert_eq!(reply.sent.len(), usize::from(status == 200), "{model}");
        if status != 200 {
            assert_eq!(reply.code(), code, "{}", reply.text);
        }
    }
    // Neither is a limit of the key too low for that, nor a price for the caller's own key of the provider.
    let limited = with(&json!([{"window": "1d", "usd": 1}]), &json!({"max_output_tokens": 3}));
    let reply = ask(&limited, vec![says("hi")], &chat(json!({"model": "endless"})));
    assert_eq!(operations(&limited), [most(&reply.sent[0], 1000, 2000), "settle 14000".to_owned()]);
    let headers = [HEADERS[0], HEADERS[1], ("x-provider-key", "own")];
    let reply = in_dollars().ask_with(
        vec![says("hi")],
        &headers,
        &chat(json!({"model": "free"})),
        usize::MAX,
    );
    assert_eq!(reply.status, 200, "{}", reply.text);
}

#[test]
fn without_a_ledger_nothing_is_sent() {
    for budgets in [json!([{"window": "1d", "usd": 1}]), json!([{"window": "1d", "requests": 1}])] {
        let failing = with(&budgets, &json!({}));
        failing.host.ledger.fails.set(true);
        let mut unbound = with(&budgets, &json!({}));
        unbound.host.bindings.clear();
        for world in [failing, unbound] {
            let reply = ask(&world, vec![says("hi")], &chat(json!({"model": "m"})));
            assert_eq!((reply.status, reply.code()), (503, "unavailable".to_owned()));
            assert!(reply.sent.is_empty());
        }
    }
}
