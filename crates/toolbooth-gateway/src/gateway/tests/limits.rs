//! The limits of 2api.ai, 7, for requests and answers.

use super::*;

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
        (json!([named(&"a".repeat(64), "")]), &[], ""),
        (json!([named(&"a".repeat(65), "")]), &[], "invalid_tool_name"),
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
    assert!(reply.log[0].contains("tool_not_in_gateway_allowlist"), "{:?}", reply.log);
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

#[test]
fn calls_in_answers() {
    let large = format!("{{\"city\":\"{}\"}}", "a".repeat(70_000));
    let many: Vec<_> = (0..21).map(|at| call(&at.to_string(), "a", "{}")).collect();
    let broken = [call("1", "a", "{\"city\":")];
    let wrong = [call("1", "a", "{\"city\":5}")];
    let good = [call("1", "a", "{\"city\":\"x\"}")];
    let plain = json!({});
    let validate = json!({"request_options": {"validate_tool_arguments": true}});
    let forced = json!({"tool_choice": "required"});
    let few = json!({"request_options": {"max_tool_calls": 2}});
    for (options, upstream, code) in [
        (&plain, calls(&many), "too_many_tool_calls"),
        (&plain, calls(&many[..20]), ""),
        (&few, calls(&many[..3]), "too_many_tool_calls"),
        (&plain, calls(&[call("1", "a", &large)]), "arguments_too_large"),
        (&plain, calls(&broken), ""),
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
