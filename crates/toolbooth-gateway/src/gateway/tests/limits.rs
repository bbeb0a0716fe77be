//! The limits of 2api.ai, 7, for requests and answers.

use crate::gateway::tests::*;

const KEY: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
/// The SHA-256 above is that of this key.
const AUTHORIZATION: (&str, &str) = ("authorization", "Bearer abc");

fn named(name: &str, description: &str) -> Value {
    json!({"type": "function", "function": {"name": name, "description": description}})
}

#[test]
fn tools_of_requests() {
    let many = |count| (0..count).map(|at| tool(&format!("t{at}"))).collect::<Vec<_>>();
    let listed = [("GATEWAY_TOOL_ALLOWLIST", "a,b")];
    for (tools, variables, code) in [
        (json!(many(128)), &[][..], ""),
        (json!(many(129)), &[], "too_many_tools"),
        (json!([named(&"a".repeat(128), "")]), &[], ""),
        (json!([named(&"a".repeat(129), "")]), &[], "invalid_tool_name"),
        (json!([named("a b", "")]), &[], "invalid_tool_name"),
        (json!([named("a", &"ä".repeat(1024))]), &[], ""),
        (json!([named("a", &"ä".repeat(1025))]), &[], "tool_description_too_long"),
        (json!([named("a", &"a".repeat(2000))]), &[("MAX_TOOL_DESCRIPTION", "2000")], ""),
        (
            json!([{"type": "custom", "custom": {"name": "a", "description": "a".repeat(1025)}}]),
            &[],
            "tool_description_too_long",
        ),
        (json!([tool("a")]), &listed, ""),
        (json!([tool("a"), tool("c")]), &listed, "tool_not_allowed"),
        (json!([tool("c")]), &[("GATEWAY_TOOL_ALLOWLIST", "")], "tool_not_allowed"),
    ] {
        let reply =
            TestGateway::with(variables).ask(vec![says("hi")], &chat(json!({"tools": tools})));
        let status = if code.is_empty() { 200 } else { 400 };
        assert_eq!(reply.status, status, "{variables:?} {}", reply.text);
        assert_eq!(reply.code(), code, "{}", reply.text);
        assert_eq!(reply.sent.len(), usize::from(code.is_empty()), "{code}");
    }
    let warned = [listed[0], ("GATEWAY_TOOL_ALLOWLIST_MODE", "warn")];
    let reply =
        TestGateway::with(&warned).ask(vec![says("hi")], &chat(json!({"tools": [tool("c")]})));
    assert!(
        reply.json()["_2api"]["warnings"][0].as_str().unwrap().contains("'c'"),
        "{}",
        reply.text
    );
    let line = r#"Warn tool_not_in_gateway_allowlist [("tool", "c"), ("caller", "anonymous")]"#;
    assert_eq!(reply.log[0], line);
}

/// The limits of the page can be used together, and an image can have some megabytes.
#[test]
fn a_conversation_may_be_large() {
    let description = "d".repeat(1024);
    let tools: Vec<_> = (0..128).map(|at| named(&format!("t{at}"), &description)).collect();
    // As many values as 256 KiB can have.
    let arguments = format!("{{\"list\":[{}1]}}", "1,".repeat(131_000));
    assert!((260_000..=256 * 1024).contains(&arguments.len()));
    let ids = ["1", "2", "3", "4", "5"];
    let calls = ids.map(|id| call(id, "t0", if id == "1" { &arguments } else { "{}" }));
    let result = |id| json!({"role": "tool", "tool_call_id": id, "content": "r".repeat(60_000)});
    let url = format!("data:image/png;base64,{}", "A".repeat(4 << 20));
    let image = json!({"type": "image_url", "image_url": {"url": url}});
    let mut messages = vec![
        json!({"role": "user", "content": [image]}),
        json!({"role": "assistant", "content": null, "tool_calls": calls}),
    ];
    messages.extend(ids.map(result));
    for model in ["own/m", "anthropic/m", "google/m"] {
        let members =
            json!({"model": model, "max_tokens": 5, "messages": messages, "tools": tools});
        let hi = crate::gateway::tests::members::hi(model);
        let reply = TestGateway::with(crate::gateway::tests::members::PROVIDERS)
            .ask(vec![hi], &chat(members));
        assert_eq!(reply.status, 200, "{model} {:.300}", reply.text);
        let sent = reply.sent[0].body.to_string();
        assert!(sent.len() > 4_800_000 && !sent.contains("malformed_arguments"), "{model}");
    }
    let many = crate::gateway::tests::calls(&[call("1", "a", &arguments)]);
    let variables = [("MAX_ARGUMENT_BYTES", "262144")];
    let validate =
        json!({"tools": [tool("a")], "request_options": {"validate_tool_arguments": true}});
    let reply = TestGateway::with(&variables).ask(vec![many], &chat(validate));
    assert!(!reply.text.contains("values"), "{:.300}", reply.text);
}

#[test]
fn a_request_that_is_too_large_has_the_form_of_an_error() {
    let limit = [("GATEWAY_MAX_BODY_BYTES", "1000"), ("MAX_BODY_BYTES", "10")];
    let text = |length: usize| chat(json!({"user": "u".repeat(length)}));
    assert_eq!(TestGateway::with(&limit).ask(vec![says("hi")], &text(500)).status, 200);
    let reply = TestGateway::with(&limit).ask(vec![], &text(1000));
    assert_eq!(reply.status, 413, "{}", reply.text);
    let error = &reply.json()["error"];
    assert_eq!(error["type"], "invalid_request_error");
    assert!(error["message"].as_str().unwrap().contains("1000"), "{error}");
    let reply = TestGateway::new().ask(vec![], &text(8 << 20));
    assert_eq!(reply.status, 413, "{:.300}", reply.text);
}

#[test]
fn limits_of_an_api_key() {
    let limits = r#"{"tool_allowlist":["c"],"max_tool_calls":1,"tool_call_limiter":"SMALL"}"#;
    let keys =
        format!(r#"[{{"name":"a","scopes":["gateway"],"hash":"{KEY}","gateway":{limits}}}]"#);
    let mut world = TestGateway::with(&[
        ("AUTH", "api-key"),
        ("API_KEYS", &keys),
        ("GATEWAY_TOOL_ALLOWLIST", "a"),
    ]);
    world.host.limits.insert("SMALL", Ok(3));
    let ask = |tools: &[&str], answers| {
        let tools: Vec<_> = tools.iter().map(|name| tool(name)).collect();
        world.ask_with(answers, &[JSON, AUTHORIZATION], &chat(json!({"tools": tools})), 0)
    };
    assert_eq!(ask(&["a"], vec![]).code(), "tool_not_allowed", "the key's list replaces the other");
    let two = [call("1", "c", "{}"), call("2", "c", "{}")];
    assert_eq!(ask(&["c"], vec![calls(&two)]).code(), "too_many_tool_calls");
    for _ in 0..3 {
        assert_eq!(ask(&["c"], vec![calls(&two[..1])]).status, 200);
    }
    let limited = ask(&["c"], vec![calls(&two[..1])]);
    assert_eq!((limited.status, limited.code().as_str()), (429, "rate_limited"), "{limited:?}");
    assert_eq!(limited.header("retry-after"), Some("60"));
    assert_eq!(world.host.taken.borrow()["SMALL key:a"], 4, "one unit for each call");
}

/// Two keys, one of them in a team with a key of the provider, models and tools of its own.
#[test]
fn a_team_pays_with_its_own_key() {
    const OTHER: &str = "3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d";
    let keys = format!(
        r#"[{{"name":"a","scopes":["*"],"hash":"{KEY}"}},{{"name":"b","scopes":["gateway"],"hash":"{OTHER}"}}]"#
    );
    let teams = r#"[{"name":"t","rules":["key:a"],"scopes":["gateway"],"gateway":{"models":["openai/gpt-4o"]},
        "provider_keys":{"openai":"sk-of-the-team"}}]"#;
    let world = TestGateway::with(&[("AUTH", "api-key"), ("API_KEYS", &keys), ("TEAMS", teams)]);
    let ask = |headers: &[(&str, &str)], model: &str| {
        let body = chat(json!({"model": model}));
        world.ask_with(vec![says("hi")], headers, &body, 0)
    };
    let sent = |reply: &crate::gateway::tests::Reply| {
        let header = reply.sent[0].headers.iter().find(|(name, _)| name == "authorization");
        header.map(|(_, value)| value.clone()).unwrap_or_default()
    };
    let own = ask(&[JSON, AUTHORIZATION], "openai/gpt-4o");
    assert_eq!((own.status, sent(&own).as_str()), (200, "Bearer sk-of-the-team"));
    let other = ask(&[JSON, ("x-api-key", "b")], "openai/gpt-4o");
    assert_eq!(other.status, 200);
    assert_ne!(sent(&other), sent(&own));
    let refused = ask(&[JSON, AUTHORIZATION], "openai/gpt-other");
    assert_eq!(refused.code(), "model_not_allowed");
}

#[test]
fn keys_of_teams_for_providers_that_are_not_configured() {
    let keys = format!(r#"[{{"name":"a","scopes":["gateway"],"hash":"{KEY}"}}]"#);
    let teams = |provider: &str| {
        format!(r#"[{{"name":"t","rules":["key:a"],"provider_keys":{{"{provider}":"k"}}}}]"#)
    };
    for (provider, rejected) in [("anthropic", false), ("openai", false), ("groq", true)] {
        let teams = teams(provider);
        let world =
            TestGateway::with(&[("AUTH", "api-key"), ("API_KEYS", &keys), ("TEAMS", &teams)]);
        let server = world.server();
        let settings = server.state().settings();
        let expected = format!("TEAMS[0].provider_keys has a key of \"{provider}\", which");
        let found = settings.rejected.iter().any(|it| it.starts_with(&expected));
        assert_eq!(found, rejected, "{:?}", settings.rejected);
    }
}

#[test]
fn the_rate_limit_of_calls_counts_chats() {
    let mut world = TestGateway::new();
    world.host.limit = Some(Ok(1));
    assert_eq!(world.ask(vec![says("hi")], &chat(json!({}))).status, 200);
    let limited = world.ask(vec![], &chat(json!({})));
    assert_eq!((limited.status, limited.code().as_str()), (429, "too_many_requests"));
    assert_eq!(limited.header("retry-after"), Some("60"));
    assert_eq!(limited.line()["error.type"], "too_many_requests");
}

/// 7.4: an answer with five calls counts as five, whole and streamed. The request itself is one of them.
#[test]
fn an_answer_counts_as_its_calls() {
    let five: Vec<_> = (0..5).map(|at| call(&at.to_string(), "a", "{}")).collect();
    let streamed = || {
        let parts = (0..5).map(|at| crate::gateway::tests::streams::part(at, Some("a"), "{}"));
        let parts: Vec<_> = parts
            .chain([crate::gateway::tests::streams::chunk(json!({}), Some("tool_calls"))])
            .collect();
        let parts: Vec<_> = parts.iter().map(String::as_str).chain(["data: [DONE]\n\n"]).collect();
        crate::gateway::tests::streams::stream(&parts)
    };
    for (limit, status) in [(5, 200), (4, 429)] {
        let mut world = TestGateway::new();
        world.host.limit = Some(Ok(limit));
        let body = chat(json!({"tools": [tool("a")]}));
        let reply = world.ask(vec![calls(&five)], &body);
        assert_eq!(reply.status, status, "{}", reply.text);
        assert_eq!(world.host.taken.borrow().values().copied().collect::<Vec<_>>(), [5]);
        if status == 429 {
            assert_eq!(reply.code(), "rate_limited");
        }

        let mut world = TestGateway::new();
        world.host.limit = Some(Ok(limit));
        let reply =
            world.ask(vec![streamed()], &chat(json!({"tools": [tool("a")], "stream": true})));
        assert_eq!(world.host.taken.borrow().values().copied().collect::<Vec<_>>(), [5]);
        assert_eq!(reply.text.matches("\"name\":\"a\"").count(), limit, "{}", reply.text);
        assert_eq!(reply.text.contains("[DONE]"), status == 200);
        if status == 429 {
            assert_eq!(reply.events().last().unwrap()["error"]["code"], "rate_limited");
        }
    }
    let world = TestGateway::new();
    world.ask(vec![says("hi")], &chat(json!({"tools": [tool("a")]})));
    assert!(world.host.taken.borrow().is_empty(), "without a limit nothing is counted");
}

/// 9: an answer with calls ends with `tool_calls`. That it is not complete is in `_2api`.
#[test]
fn incomplete_answers_with_calls() {
    let own = crate::gateway::tests::members::PROVIDERS;
    let anthropic = |reason: &str| {
        json!({
            "id": "m", "type": "message", "role": "assistant", "model": "c", "stop_reason": reason,
            "content": [{"type": "tool_use", "id": "i", "name": "a", "input": {}}],
        })
    };
    let openai = |reason: &str| json!({"choices": [{"index": 0, "message": {"tool_calls": [call("i", "a", "{}")]}, "finish_reason": reason}]});
    let events = |list: &[Value]| {
        let data = list.iter().map(|event| format!("data: {event}\n\n"));
        data.collect::<String>()
    };
    let openai_stream = |reason: &str| {
        let parts = [
            crate::gateway::tests::streams::part(0, Some("a"), "{}"),
            crate::gateway::tests::streams::chunk(json!({}), Some(reason)),
            "data: [DONE]\n\n".to_owned(),
        ];
        parts.concat()
    };
    let anthropic_stream = |reason: &str| {
        events(&[
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "i", "name": "a", "input": {}}}),
            json!({"type": "message_delta", "delta": {"stop_reason": reason}}),
            json!({"type": "message_stop"}),
        ])
    };
    for (model, whole, stream, reason) in [
        ("openai/m", openai("length"), openai_stream("length"), "length"),
        ("openai/m", openai("content_filter"), openai_stream("content_filter"), "content_filter"),
        ("anthropic/m", anthropic("max_tokens"), anthropic_stream("max_tokens"), "length"),
        ("anthropic/m", anthropic("refusal"), anthropic_stream("refusal"), "content_filter"),
    ] {
        let body = |stream| json!({"model": model, "stream": stream, "max_tokens": 5, "tools": [tool("a")]});
        let reply =
            TestGateway::with(own).ask(vec![answer(200, whole.to_string())], &chat(body(false)));
        let whole = reply.json();
        let reply = TestGateway::with(own).ask(vec![answer(200, stream)], &chat(body(true)));
        let events = reply.events();
        let last = events.iter().find(|it| it.get("_2api").is_some());
        for answer in [&whole, last.unwrap()] {
            assert_eq!(answer["choices"][0]["finish_reason"], "tool_calls", "{model} {answer}");
            assert_eq!(answer["_2api"]["finish_reason"], reason, "{model}");
            assert_eq!(answer["_2api"]["warnings"].as_array().unwrap().len(), 1, "{answer}");
        }
        assert_eq!(
            events.iter().filter(|it| it["choices"][0]["finish_reason"].is_string()).count(),
            1
        );
    }
}

/// 3.1 and 5.1: a model that rejects a choice that forces a call may answer with text.
#[test]
fn models_that_cannot_be_forced_may_answer_with_text() {
    let says = |text: &str| {
        json!({
            "id": "m", "type": "message", "role": "assistant", "model": "c", "stop_reason": "end_turn",
            "content": [{"type": "text", "text": text}],
        })
    };
    let streamed = |text: &str| {
        let events = [
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": text}}),
            json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}),
            json!({"type": "message_stop"}),
        ];
        events.map(|event| format!("data: {event}\n\n")).concat()
    };
    for (model, text, is_error) in [
        ("anthropic/claude-opus-5-5", "no", false),
        ("anthropic/claude-opus-5-5", "", true),
        ("anthropic/claude-sonnet-4-5", "no", true),
    ] {
        let body = |stream| {
            let members = json!({"model": model, "stream": stream, "max_tokens": 5, "tools": [tool("a")], "tool_choice": "required"});
            chat(members)
        };
        let own = crate::gateway::tests::members::PROVIDERS;
        let reply =
            TestGateway::with(own).ask(vec![answer(200, says(text).to_string())], &body(false));
        let whole = reply.json();
        let reply = TestGateway::with(own).ask(vec![answer(200, streamed(text))], &body(true));
        let events = reply.events();
        let is_last = |it: &&Value| it.get("_2api").is_some() || it.get("error").is_some();
        for answer in [&whole, events.iter().find(is_last).unwrap()] {
            let warning = "cannot be forced to call a tool, so it was asked with auto";
            if is_error {
                assert_eq!(answer["error"]["code"], "tool_call_required", "{answer}");
                let message = answer["error"]["message"].as_str().unwrap();
                assert_eq!(message.contains(warning), model.ends_with("5-5"), "{message}");
            } else {
                assert_eq!(answer["choices"][0]["finish_reason"], "stop", "{answer}");
                assert!(answer["_2api"]["warnings"].to_string().contains(warning), "{answer}");
            }
        }
        assert_eq!(reply.content(), if is_error { "" } else { text });
    }
}

#[test]
fn calls_in_answers() {
    let large = format!("{{\"city\":\"{}\"}}", "a".repeat(70_000));
    let many: Vec<_> = (0..21).map(|at| call(&at.to_string(), "a", "{}")).collect();
    let broken = [call("1", "a", "{\"city\":")];
    let wrong = [call("1", "a", "{\"city\":5}")];
    let good = [call("1", "a", "{\"city\":\"x\"}")];
    let plain = json!({});
    let validate = json!({"request_options": {"validate_tool_arguments": true}});
    let nulls = json!({"request_options": {"validate_tool_arguments": null, "strict": null,
        "strict_schemas": null, "max_rounds": null}});
    let forced = json!({"tool_choice": "required"});
    let few = json!({"request_options": {"max_tool_calls": 2}});
    for (options, upstream, code) in [
        (&plain, calls(&many), "too_many_tool_calls"),
        (&plain, calls(&many[..20]), ""),
        (&few, calls(&many[..3]), "too_many_tool_calls"),
        (&plain, calls(&[call("1", "a", &large)]), "arguments_too_large"),
        (&plain, calls(&broken), ""),
        (&nulls, calls(&broken), ""),
        (&validate, calls(&broken), "invalid_tool_arguments"),
        (&validate, calls(&wrong), "invalid_tool_arguments"),
        (&validate, calls(&[call("1", "b", "{}")]), "invalid_tool_arguments"),
        (&validate, calls(&good), ""),
        (&forced, says("no"), "tool_call_required"),
        (&forced, calls(&good), ""),
    ] {
        let mut body = chat(json!({"tools": [tool("a")]}));
        for (name, value) in options.as_object().unwrap() {
            body[name] = value.clone();
        }
        let reply = TestGateway::new().ask(vec![upstream], &body);
        assert_eq!(
            reply.status,
            if code.is_empty() { 200 } else { 502 },
            "{code} {:.300}",
            reply.text
        );
        assert_eq!(reply.code(), code, "{:.300}", reply.text);
        assert!(reply.log.last().unwrap().contains("chat"), "{:?}", reply.log);
    }
}

#[test]
fn calls_are_left_to_the_client() {
    let both = [call("call_1", "a", "{ \"city\": \"x\" }"), call("call_2", "a", "not JSON")];
    let reply = TestGateway::new().ask(vec![calls(&both)], &chat(json!({"tools": [tool("a")]})));
    let body = reply.json();
    assert_eq!(
        body["_2api"]["warning"],
        "Response contains tool_calls. Client must execute tools and send results to continue conversation."
    );
    assert_eq!(
        body["_2api"]["usage"],
        json!({"input_tokens": 10, "output_tokens": 2, "cached_tokens": 0, "tool_calls": 2, "rounds": 1})
    );
    let choice = &body["choices"][0];
    assert_eq!(choice["finish_reason"], "tool_calls");
    for (index, sent) in both.iter().enumerate() {
        let got = &choice["message"]["tool_calls"][index];
        assert_eq!(got["index"], index);
        for member in ["id", "type", "function"] {
            assert_eq!(got[member], sent[member], "unchanged");
        }
    }
}
