//! `/v1/messages` from request to response.

use crate::gateway::tests::*;

/// Of the key `abc`.
pub(super) const HASH: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
pub(super) const VARIABLES: &[(&str, &str)] =
    &[("ANTHROPIC_API_KEY", "sk-ant"), ("GEMINI_API_KEY", "g")];

pub(super) fn gateway(more: &[(&str, &str)]) -> TestGateway {
    TestGateway { path: "/v1/messages", ..TestGateway::with(&[VARIABLES, more].concat()) }
}

pub(super) fn ask(model: &str, more: Value) -> Value {
    let mut body =
        json!({"model": model, "max_tokens": 100, "messages": [{"role": "user", "content": "hi"}]});
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    body
}

/// An answer of Anthropic with these blocks.
pub(super) fn message(content: Value, stop_reason: &str) -> Result<HttpResponse, HttpError> {
    let usage = json!({"input_tokens": 9, "cache_read_input_tokens": 4, "output_tokens": 5});
    let body = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude", "content": content,
        "stop_reason": stop_reason, "stop_sequence": null, "usage": usage,
    });
    answer(200, body.to_string())
}

fn tool_of(name: &str) -> Value {
    json!({"name": name, "input_schema": {"type": "object", "properties": {}}})
}

/// This server's tools as those of an MCP server.
pub(super) fn own_tools(approval: &str) -> Value {
    json!({
        "mcp_servers": [{"type": "url", "name": "own", "url": "toolbooth"}],
        "tools": [{
            "type": "mcp_toolset", "mcp_server_name": "own", "require_approval": approval,
            "default_config": {"enabled": false}, "configs": {"Echo_Say": {"enabled": true}},
        }, tool_of("mine")],
    })
}

#[test]
fn to_anthropic_and_back_as_it_is() {
    let headers = [JSON, LOCAL, ("anthropic-beta", "b1,b2"), ("anthropic-version", "2026-10-21")];
    let body = ask(
        "anthropic/claude-x",
        json!({"thinking": {"type": "adaptive"}, "tools": [tool_of("a")]}),
    );
    let content = json!([{"type": "text", "text": "x", "citations": null}]);
    let answers = vec![message(content.clone(), "stop_sequence")];
    let reply = gateway(&[]).ask_with(answers, &headers, &body, usize::MAX);
    let [sent] = &reply.sent[..] else { panic!("{reply:?}") };
    assert!(sent.url.ends_with("/v1/messages"), "{}", sent.url);
    let found = ["x-api-key", "anthropic-beta", "anthropic-version"].map(|name| sent.header(name));
    assert_eq!(found, ["sk-ant", "b1,b2", "2026-10-21"]);
    let mut expected = body.clone();
    expected["model"] = "claude-x".into();
    assert_eq!(sent.body, expected);
    let json = reply.json();
    assert_eq!(
        (reply.status, &json["content"], &json["stop_reason"]),
        (200, &content, &json!("stop_sequence"))
    );
    assert_eq!(json["_2api"]["usage"]["input_tokens"], 13);
    assert_eq!(reply.line()["gen_ai.usage.output_tokens"], 5);
}

#[test]
fn to_other_providers_and_back() {
    let body = ask("openai/m", json!({"tools": [tool_of("a")], "system": "S"}));
    let reply = gateway(&[]).ask(vec![calls(&[call("c1", "a", "{\"x\":1}")])], &body);
    assert_eq!(reply.sent[0].body["messages"][0], json!({"role": "system", "content": "S"}));
    let json = reply.json();
    let block = json!({"type": "tool_use", "id": "c1", "name": "a", "input": {"x": 1}, "caller": {"type": "direct"}});
    assert_eq!((&json["content"][0], &json["stop_reason"]), (&block, &json!("tool_use")));
    assert_eq!(json["model"], "m-1");
}

/// All errors have Anthropic's form.
#[test]
fn errors() {
    let gateway = gateway(&[]);
    for (answers, body, status, kind) in [
        (vec![], json!({"model": "openai/m"}), 400, "invalid_request_error"),
        (vec![], ask("nobody/m", json!({})), 404, "not_found_error"),
        (vec![answer(401, "{}")], ask("openai/m", json!({})), 502, "api_error"),
        (vec![answer(429, "{}")], ask("anthropic/m", json!({})), 429, "rate_limit_error"),
        (vec![answer(529, "{}")], ask("anthropic/m", json!({})), 529, "overloaded_error"),
        (
            vec![answer(529, "{}")],
            ask("anthropic/m", json!({"stream": true})),
            529,
            "overloaded_error",
        ),
        (vec![answer(503, "{}")], ask("openai/m", json!({})), 529, "overloaded_error"),
        (vec![answer(413, "{}")], ask("anthropic/m", json!({})), 413, "request_too_large"),
        (vec![Err(HttpError::Timeout)], ask("openai/m", json!({})), 504, "timeout_error"),
    ] {
        let reply = gateway.ask(answers, &body);
        let json = reply.json();
        let found =
            (reply.status, json["type"].as_str().unwrap(), json["error"]["type"].as_str().unwrap());
        assert_eq!(found, (status, "error", kind), "{body}: {}", reply.text);
        assert_eq!(reply.line()["http.response.status_code"], status, "{:?}", reply.log);
    }
    // The policy of the route, too.
    let keys = json!([{"name": "a", "scopes": ["gateway"], "hash": HASH}]).to_string();
    let gateway =
        crate::gateway::tests::messages::gateway(&[("AUTH", "api-key"), ("API_KEYS", &keys)]);
    let body = ask("openai/m", json!({}));
    let reply = gateway.ask(vec![], &body);
    assert_eq!(
        (reply.status, &reply.json()["error"]["type"]),
        (401, &json!("authentication_error")),
        "{}",
        reply.text
    );
    // That of a list, if a client of Anthropic asks for it.
    let list = |headers: &[(&str, &str)]| {
        gateway.send((Method::Get, "/v1/models"), vec![], headers, &Value::Null)
    };
    let reply = list(&[("anthropic-version", "2023-06-01")]);
    assert_eq!((reply.status, &reply.json()["type"]), (401, &json!("error")), "{}", reply.text);
    assert!(reply.header("www-authenticate").is_some(), "{reply:?}");
    let reply = list(&[]);
    assert!(reply.status == 401 && reply.json()["error"]["code"].is_string(), "{}", reply.text);
    for credentials in [("x-api-key", "abc"), ("authorization", "Bearer abc")] {
        let reply =
            gateway.ask_with(vec![says("x")], &[JSON, LOCAL, credentials], &body, usize::MAX);
        assert_eq!(reply.status, 200, "{}", reply.text);
    }
}

/// Tools that Anthropic runs, or that it reaches elsewhere, are sent only if the operator names their type. Others never get them.
#[test]
fn tools_that_anthropic_runs() {
    let search = json!({"type": "web_search_20250305", "name": "web_search"});
    let bash = json!({"type": "bash_20250124", "name": "bash"});
    let mcp = json!([{"type": "url", "name": "o", "url": "https://evil.example/mcp"}]);
    let with = |tool: &Value| json!({"tools": [tool, tool_of("a")]});
    for (members, kind) in [
        (with(&search), "web_search_20250305"),
        (with(&bash), "bash_20250124"),
        (json!({"mcp_servers": mcp, "tools": [tool_of("a")]}), "mcp"),
    ] {
        let name = if kind == "mcp" { "evil.example" } else { kind };
        let allowed =
            gateway(&[("GATEWAY_TOOL_ALLOWLIST", kind), ("GATEWAY_TOOL_ALLOWLIST_MODE", "off")]);
        for (model, gives) in [("anthropic/m", true), ("openai/m", false)] {
            let body = ask(model, members.clone());
            let answers = || vec![if gives { message(json!([]), "end_turn") } else { says("x") }];
            let reply = allowed.ask(answers(), &body);
            assert_eq!((reply.status, reply.sent.len()), (200, 1), "{}", reply.text);
            assert_eq!(reply.sent[0].body.to_string().contains(name), gives);
            // Without the operator, agents go on without their tools, but not without their servers.
            let reply = gateway(&[]).ask(answers(), &body);
            if kind == "mcp" {
                assert_eq!((reply.status, reply.sent.len()), (400, 0), "{}", reply.text);
                continue;
            }
            assert_eq!(reply.json()["_2api"]["dropped"], json!([format!("tools[] ({kind})")]));
            assert!(!reply.sent[0].body.to_string().contains(name));
        }
    }
    // The model must not be forced to call what it does not get.
    let choice = json!({"type": "tool", "name": "web_search"});
    let body = ask("anthropic/m", json!({"tools": [search, tool_of("a")], "tool_choice": choice}));
    let reply = gateway(&[]).ask(vec![], &body);
    assert_eq!((reply.status, reply.sent.len()), (400, 0), "{}", reply.text);
    // Nothing is left to choose from.
    let body = ask("anthropic/m", json!({"tools": [search], "tool_choice": {"type": "auto"}}));
    let reply = gateway(&[]).ask(vec![message(json!([]), "end_turn")], &body);
    let sent = &reply.sent[0].body;
    assert_eq!((sent.get("tools"), sent.get("tool_choice")), (None, None));
}

/// A deferred tool is one of the request's tools all the same.
#[test]
fn the_allowlist_holds_for_deferred_tools() {
    let mut deferred = tool_of("evil");
    deferred["defer_loading"] = true.into();
    let body = ask("anthropic/m", json!({"tools": [tool_of("good"), deferred]}));
    let reply = gateway(&[("GATEWAY_TOOL_ALLOWLIST", "good")]).ask(vec![], &body);
    assert_eq!((reply.status, reply.sent.len()), (400, 0), "{}", reply.text);
}

pub(super) fn world() -> TestGateway {
    TestGateway { path: "/v1/messages", ..loops::world(VARIABLES) }
}

/// The gateway runs its own tools, and the client's next request continues after them.
#[test]
fn compiled_in_tools() {
    let gateway = world();
    let mut body = ask("openai/m", own_tools("never"));
    let first = calls(&[call("c1", "Echo_Say", r#"{"text":"a"}"#)]);
    let reply = gateway.ask(vec![first, says("done")], &body);
    let json = reply.json();
    let kinds: Vec<_> = json["content"].as_array().unwrap().iter().map(|it| &it["type"]).collect();
    assert_eq!(kinds, ["mcp_tool_use", "mcp_tool_result", "text"], "{}", reply.text);
    assert_eq!(json["stop_reason"], "end_turn");
    assert_eq!(json["_2api"]["tool_calls"][0]["tool"], "Echo_Say");
    let messages = body["messages"].as_array_mut().unwrap();
    messages.push(json!({"role": "assistant", "content": json["content"]}));
    messages.push(json!({"role": "user", "content": "go on"}));
    let reply = gateway.ask(vec![says("x")], &body);
    let sent = reply.sent[0].body["messages"].as_array().unwrap();
    let roles: Vec<_> = sent.iter().map(|it| &it["role"]).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "assistant", "user"]);
}

/// Anthropic gets the request as the client wrote it, with the server's tools and the rounds of their calls.
#[test]
fn to_anthropic_with_tools_of_the_server() {
    let gateway =
        TestGateway { path: "/v1/messages", ..crate::gateway::tests::loops::world(VARIABLES) };
    let mut body = ask("anthropic/claude-opus-5", own_tools("never"));
    let cached = json!({"type": "ephemeral"});
    let document = json!({
        "type": "document", "title": "T", "context": "C", "citations": {"enabled": true},
        "source": {"type": "text", "media_type": "text/plain", "data": "D"},
    });
    let search = json!([
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "q"}},
        {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []},
        {"type": "text", "text": "x", "citations": [{"type": "page_location"}]},
    ]);
    let messages = json!([
        {"role": "user", "content": [document]}, {"role": "assistant", "content": search},
        {"role": "user", "content": [{"type": "text", "text": "hi", "cache_control": cached}]},
    ]);
    body["messages"] = messages.clone();
    body["cache_control"] = cached;
    body["context_management"] = json!({"edits": []});
    body["tool_choice"] = json!({"type": "any", "disable_parallel_tool_use": true});
    let said = json!([
        {"type": "thinking", "thinking": "T", "signature": "U2ln"},
        {"type": "tool_use", "id": "c1", "name": "Echo_Say", "input": {"text": "a"}},
    ]);
    let done = || message(json!([{"type": "text", "text": "done"}]), "end_turn");
    let answers = vec![message(said.clone(), "tool_use"), done()];
    let headers = [JSON, LOCAL, ("anthropic-beta", "b1"), ("anthropic-version", "2026-10-21")];
    let reply = gateway.ask_with(answers, &headers, &body, usize::MAX);
    assert_eq!(reply.status, 200, "{}", reply.text);
    let mut expected = body.clone();
    expected["model"] = "claude-opus-5".into();
    expected.as_object_mut().unwrap().remove("mcp_servers");
    expected["tools"] =
        json!([tool_of("mine"), {"name": "Echo_Say", "input_schema": {"type": "object"}}]);
    assert_eq!(reply.sent[0].body, expected);
    assert_eq!(reply.sent[0].header("anthropic-beta"), "b1");
    expected["tool_choice"]["type"] = "auto".into();
    let content = json!([{"type": "text", "text": "a"}]);
    let result = json!({"type": "tool_result", "tool_use_id": "c1", "content": content});
    let rounds = [
        json!({"role": "assistant", "content": said}),
        json!({"role": "user", "content": [result]}),
    ];
    expected["messages"].as_array_mut().unwrap().extend(rounds);
    assert_eq!(reply.sent[1].body, expected);
    assert_eq!(reply.json()["_2api"]["dropped"], Value::Null);

    // What the client continues has these rounds in the place of its messages.
    let both = json!([
        {"type": "tool_use", "id": "c2", "name": "Echo_Say", "input": {"text": "b"}},
        {"type": "tool_use", "id": "c3", "name": "mine", "input": {}},
    ]);
    let content = gateway.ask(vec![message(both, "tool_use")], &body).json()["content"].clone();
    let own = json!({"type": "tool_result", "tool_use_id": "c3", "content": "r"});
    let more = [
        json!({"role": "assistant", "content": content}),
        json!({"role": "user", "content": [own]}),
    ];
    body["messages"].as_array_mut().unwrap().extend(more);
    let sent = gateway.ask(vec![done()], &body).sent[0].body["messages"].clone();
    let last = &sent.as_array().unwrap()[3..];
    let ids = |at: usize, name: &str| {
        let blocks = last[at]["content"].as_array().unwrap().iter();
        blocks.filter_map(|it| it[name].as_str().map(str::to_owned)).collect::<Vec<_>>()
    };
    assert_eq!(
        (last.len(), ids(0, "id"), ids(1, "tool_use_id")),
        (2, vec!["c2".into(), "c3".into()], vec!["c2".into(), "c3".into()]),
        "{sent}"
    );
}

/// Calls of the gateway and of the client in one answer: the state is in a block before the client's call, and in `_2api`.
#[test]
fn calls_of_both() {
    let gateway = world();
    let body = ask("openai/m", own_tools("never"));
    let both = || calls(&[call("c1", "Echo_Say", r#"{"text":"a"}"#), call("c2", "mine", "{}")]);
    let early = || calls(&[call("c0", "Echo_Say", r#"{"text":"z"}"#)]);
    let reply = gateway.ask(vec![early(), both()], &body);
    let json = reply.json();
    let content = json["content"].as_array().unwrap();
    let kinds: Vec<_> = content.iter().map(|it| it["type"].as_str().unwrap()).collect();
    let ran = ["mcp_tool_use", "mcp_tool_result"];
    let expected = [&ran[..], &ran, &["redacted_thinking", "tool_use"]].concat();
    assert_eq!(kinds, expected, "{}", reply.text);
    let image = json!({"type": "base64", "media_type": "image/png", "data": "AAAA"});
    let parts = json!([{"type": "text", "text": "r"}, {"type": "image", "source": image}]);
    let result = json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c2", "content": parts}]});
    // With the blocks as they came, or with the member if the client drops them.
    let without: Vec<_> = content.iter().filter(|it| it["type"] == "tool_use").cloned().collect();
    let state = json!({"state": json["_2api"]["state"]});
    for (content, own) in [(json["content"].clone(), Value::Null), (without.into(), state)] {
        let mut next = body.clone();
        next["_2api"] = own;
        let messages = next["messages"].as_array_mut().unwrap();
        messages.extend([json!({"role": "assistant", "content": content}), result.clone()]);
        let reply = gateway.ask(vec![says("x")], &next);
        assert_eq!(reply.status, 200, "{}", reply.text);
        let sent = reply.sent[0].body["messages"].as_array().unwrap();
        let shapes: Vec<_> = sent
            .iter()
            .map(|it| (it["role"].as_str().unwrap(), it["tool_call_id"].as_str()))
            .collect();
        assert_eq!(
            shapes,
            [
                ("user", None),
                ("assistant", None),
                ("tool", Some("c0")),
                ("assistant", None),
                ("tool", Some("c1")),
                ("tool", Some("c2")),
                ("user", None),
            ]
        );
        assert_eq!(sent[5]["content"], "r");
        let image = &sent[6]["content"][1]["image_url"]["url"];
        assert_eq!(image, "data:image/png;base64,AAAA");
        assert_eq!(reply.json()["_2api"]["dropped"], Value::Null);
    }
}

#[test]
fn streams() {
    let chunk = |delta: Value, finish: Value| {
        format!(
            "data: {}\n\n",
            json!({"id": "c", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})
        )
    };
    let text = chunk(json!({"content": "x"}), Value::Null)
        + &chunk(json!({}), "stop".into())
        + "data: [DONE]\n\n";
    let body = ask("openai/m", json!({"stream": true}));
    let names = |reply: &Reply| {
        reply
            .text
            .lines()
            .filter_map(|line| line.strip_prefix("event: "))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let reply = gateway(&[]).ask(vec![answer(200, text.clone())], &body);
    assert_eq!(
        names(&reply),
        [
            "message_start",
            "content_block_start",
            "content_block_delta",
            "content_block_stop",
            "message_delta",
            "message_stop"
        ]
    );
    assert!(reply.text.contains("\"_2api\":{"), "{}", reply.text);
    // Broken off, or with an error of the provider.
    for (end, kind) in [
        ("", "api_error"),
        (
            "data: {\"error\":{\"message\":\"E\",\"type\":\"overloaded_error\"}}\n\n",
            "overloaded_error",
        ),
    ] {
        let reply = gateway(&[])
            .ask(vec![answer(200, chunk(json!({"content": "x"}), Value::Null) + end)], &body);
        assert_eq!(names(&reply).last().unwrap(), "error", "{}", reply.text);
        assert_eq!(reply.events().last().unwrap()["error"]["type"], kind, "{}", reply.text);
        assert!(!reply.text.contains("message_delta"));
    }
    // The gateway's own calls are told as they run.
    let run = chunk(json!({"content": "a"}), Value::Null)
        + &chunk(
            json!({"tool_calls": [{"index": 0, "id": "c1", "function": {"name": "Echo_Say", "arguments": "{\"text\":\"a\"}"}}]}),
            Value::Null,
        )
        + &chunk(json!({}), "tool_calls".into())
        + "data: [DONE]\n\n";
    let mut members = own_tools("never");
    members["stream"] = true.into();
    let reply = world().ask(vec![answer(200, run), answer(200, text)], &ask("openai/m", members));
    let blocks: Vec<_> = reply
        .events()
        .iter()
        .filter(|it| it["type"] == "content_block_start")
        .map(|it| it["content_block"]["type"].clone())
        .collect();
    assert_eq!(blocks, ["text", "mcp_tool_use", "mcp_tool_result", "text"], "{}", reply.text);
    let texts: String =
        reply.events().iter().filter_map(|it| it["delta"]["text"].as_str()).collect();
    assert_eq!(texts, "ax", "each is a block of its own");
    // Too many calls are an error before the reason to stop.
    let many = |count: usize| {
        let blocks = (0..count).map(|index| {
            let start = json!({"type": "content_block_start", "index": index, "content_block": {"type": "tool_use", "id": format!("t{index}"), "name": "a", "input": {}}});
            format!("event: content_block_start\ndata: {start}\n\nevent: content_block_stop\ndata: {{\"type\":\"content_block_stop\",\"index\":{index}}}\n\n")
        });
        let end = "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"},\"usage\":{\"output_tokens\":1}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";
        blocks.collect::<String>() + end
    };
    for (count, last) in [(20, "message_stop"), (21, "error")] {
        let reply = gateway(&[]).ask(
            vec![answer(200, many(count))],
            &ask("anthropic/m", json!({"stream": true, "tools": [tool_of("a")]})),
        );
        assert_eq!(names(&reply).last().unwrap(), last, "{}", reply.text);
    }
}

#[test]
fn counting_tokens() {
    let gateway = TestGateway { path: "/v1/messages/count_tokens", ..gateway(&[]) };
    let messages = json!([{"role": "user", "content": "x".repeat(400)}]);
    let headers = [JSON, LOCAL, ("anthropic-beta", "b")];
    let body =
        json!({"model": "anthropic/m", "messages": messages, "system": "S", "stream": false});
    let reply =
        gateway.ask_with(vec![answer(200, r#"{"input_tokens":7}"#)], &headers, &body, usize::MAX);
    assert_eq!((reply.status, reply.json()), (200, json!({"input_tokens": 7})));
    assert_eq!(reply.line()["gen_ai.operation.name"], "count_tokens");
    let sent = &reply.sent[0];
    assert!(sent.url.ends_with("/v1/messages/count_tokens"), "{}", sent.url);
    assert_eq!(sent.body, json!({"model": "m", "messages": messages, "system": "S"}));
    assert_eq!(sent.header("anthropic-beta"), "b");
    let reply = gateway.ask(vec![answer(400, r#"{"error":{"message":"E"}}"#)], &body);
    assert_eq!(
        (reply.status, reply.json()["error"]["message"].as_str()),
        (400, Some("anthropic/m: E"))
    );
    // Compiled-in tools count, and a request that is translated.
    let mut with_tools = own_tools("never");
    with_tools["model"] = json!("anthropic/m");
    with_tools["messages"] = messages.clone();
    let path = "/v1/messages/count_tokens";
    let own = TestGateway { path, ..crate::gateway::tests::loops::world(VARIABLES) };
    let found = own.ask(vec![answer(200, r#"{"input_tokens":8}"#)], &with_tools);
    let tools = found.sent[0].body["tools"].as_array().unwrap();
    assert_eq!(
        (tools[0]["name"].as_str(), tools[1]["name"].as_str()),
        (Some("mine"), Some("Echo_Say"))
    );
    let mut translated = body.clone();
    translated["messages"][0]["content"] =
        json!([{"type": "tool_addition", "tools": []}, {"type": "text", "text": "hi"}]);
    let found = gateway.ask(vec![answer(200, r#"{"input_tokens":9}"#)], &translated);
    assert_eq!(found.json(), json!({"input_tokens": 9}), "{}", found.text);
    assert!(!found.sent[0].body.to_string().contains("tool_addition"));
    assert!(found.sent[0].body.get("max_tokens").is_none(), "{}", found.sent[0].body);
    for model in ["openai/m", "google/gemini-2.5-flash"] {
        let reply = gateway.ask(vec![], &json!({"model": model, "messages": messages}));
        let tokens = reply.json()["input_tokens"].as_u64().unwrap();
        assert!((100..140).contains(&tokens) && reply.sent.is_empty(), "{}", reply.text);
    }
}
