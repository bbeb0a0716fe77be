//! The checks of `/v1/messages` hold for the bodies that Anthropic gets as they are.

use crate::gateway::tests::messages::{HASH, VARIABLES, ask, gateway, message, own_tools, world};
use crate::gateway::tests::*;

/// Anthropic's events of these blocks.
fn stream(blocks: &[Value], stop_reason: &str) -> Result<HttpResponse, HttpError> {
    let mut text = String::new();
    let mut event = |event: Value| {
        text.push_str(&format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap()));
    };
    event(
        json!({"type": "message_start", "message": {"id": "msg_raw", "model": "claude", "marker": 1}}),
    );
    for (index, block) in blocks.iter().enumerate() {
        event(json!({"type": "content_block_start", "index": index, "content_block": block}));
        event(json!({"type": "content_block_stop", "index": index}));
    }
    let usage = json!({"output_tokens": 5});
    event(json!({"type": "message_delta", "delta": {"stop_reason": stop_reason}, "usage": usage}));
    event(json!({"type": "message_stop"}));
    answer(200, text)
}

/// A second limit of tokens must not hide the one that Anthropic reads.
#[test]
fn the_limit_of_tokens_is_that_of_the_member_that_anthropic_reads() {
    let keys = json!([{"name": "a", "scopes": ["gateway"], "gateway": {"max_output_tokens": 100},
        "hash": HASH}]);
    let gateway = gateway(&[("AUTH", "api-key"), ("API_KEYS", &keys.to_string())]);
    let headers = [JSON, LOCAL, ("x-api-key", "abc")];
    for (limits, status) in [
        (json!({"max_completion_tokens": 5, "max_tokens": 999_999}), 400),
        (json!({"max_completion_tokens": 5, "max_tokens": null}), 400),
        (json!({"max_completion_tokens": 999, "max_tokens": 100}), 200),
    ] {
        let body = ask("anthropic/m", limits);
        let answers = vec![message(json!([]), "end_turn")];
        let reply = gateway.ask_with(answers, &headers, &body, usize::MAX);
        assert_eq!(reply.status, status, "{}", reply.text);
        let sent = reply.sent.iter().map(|it| &it.body);
        assert!(
            sent.map(|it| (&it["max_tokens"], it.get("max_completion_tokens")))
                .eq((status == 200).then_some((&json!(100), None)))
        );
    }
}

/// A tool that Anthropic runs may ask a model of its own, which the caller must be allowed to use.
#[test]
fn models_in_tools_of_the_provider_are_the_callers() {
    let advisor = |model: Value| json!({"type": "advisor_1", "name": "advisor", "model": model});
    let inner = json!({"type": "advisor_1", "name": "advisor", "options": {"models": ["dear"]}});
    let only = |name: &str| json!({"models": ["anthropic/m", name]});
    let target = |model: &str| json!({"targets": [{"provider": "anthropic", "model": model}]});
    let models = json!({"two": target("dear"), "dear": target("m"), "anthropic/dear": target("m")});
    let set = [("MODELS", models.to_string())];
    for (limits, has_aliases, tool, place) in [
        (json!({}), false, advisor(json!("dear")), ""),
        (only("anthropic/dear"), false, advisor(json!("dear")), ""),
        (only("anthropic/dear"), false, inner.clone(), ""),
        (only("two"), true, advisor(json!("dear")), ""),
        (only("x"), false, advisor(json!("m")), ""),
        (only("x"), false, advisor(json!(null)), ""),
        (only("x"), false, advisor(json!("dear")), "tools[0].model"),
        (only("google/dear"), false, advisor(json!("dear")), "tools[0].model"),
        (only("x"), false, advisor(json!("anthropic/m")), "tools[0].model"),
        (only("x"), false, inner, "tools[0].options.models[0]"),
        // These are names of another model.
        (only("dear"), true, advisor(json!("dear")), "tools[0].model"),
        (only("anthropic/dear"), true, advisor(json!("dear")), "tools[0].model"),
        (only("anthropic/x"), true, advisor(json!("dear")), "tools[0].model"),
    ] {
        let keys = json!([{"name": "a", "scopes": ["gateway"], "gateway": limits, "hash": HASH}]);
        let keys = keys.to_string();
        let mut variables =
            vec![("AUTH", "api-key"), ("API_KEYS", &keys), ("GATEWAY_TOOL_ALLOWLIST", "advisor_1")];
        if has_aliases {
            variables.extend(set.iter().map(|(name, value)| (*name, value.as_str())));
        }
        let headers = [JSON, LOCAL, ("x-api-key", "abc")];
        let body = ask("anthropic/m", json!({"tools": [tool]}));
        let answers = vec![message(json!([]), "end_turn")];
        let reply = gateway(&variables).ask_with(answers, &headers, &body, usize::MAX);
        if place.is_empty() {
            assert_eq!(reply.status, 200, "{limits} {tool} {}", reply.text);
            assert_eq!(reply.sent[0].body["tools"], json!([tool]), "{limits}");
        } else {
            assert_eq!((reply.status, reply.sent.len()), (403, 0), "{limits} {tool}");
            assert!(reply.text.contains(place), "{place} {}", reply.text);
        }
    }
}

/// Blocks that define tools bypass the allowlist, so no provider gets them.
#[test]
fn blocks_that_define_tools_do_not_pass() {
    let tool = json!({"type": "web_search_20250305", "name": "web_search"});
    let definition = json!({"type": "tool_definition", "definition": tool});
    let addition = json!({"type": "tool_addition", "tool": definition});
    let listing =
        json!({"type": "mcp_tool_listing", "mcp_server_name": "s", "tools": [definition]});
    let changes = json!({"type": "compaction", "content": "S", "tool_changes": [addition]});
    let text = json!({"type": "text", "text": "x"});
    let call = json!({"type": "tool_use", "id": "t", "name": "a", "input": {}});
    let result = json!({"type": "tool_result", "tool_use_id": "t", "content": [text, addition]});
    let user = |content: Value| json!({"role": "user", "content": content});
    let said = |content: Value| json!({"role": "assistant", "content": content});
    for members in [
        json!({"messages": [user(json!([text, addition]))]}),
        json!({"messages": [user(json!([text, changes]))]}),
        json!({"messages": [user(json!("x")), said(json!([text, addition])), user(json!("x"))]}),
        json!({"messages": [user(json!("x")), said(json!([changes])), user(json!("x"))]}),
        json!({"messages": [user(json!("x")), said(json!([text, listing])), user(json!("x"))]}),
        json!({"messages": [{"role": "system", "content": [addition]}, user(json!("x"))]}),
        json!({"messages": [user(json!("x")), said(json!([call])), user(json!([result]))]}),
        json!({"system": [text, addition]}),
        json!({"messages": [{"role": "user", "content": "x", "more": [addition]}]}),
        json!({"messages": [user(json!([text, {"type": "of_the_future", "note": {"more_tools": [tool]}}]))]}),
        json!({"messages": [user(json!([text, {"type": "of_the_future", "content": [tool]}]))]}),
        json!({"messages": [user(json!([text, {"type": "of_the_future", "servers": [tool]}]))]}),
        json!({"messages": [user(json!([text, {"type": "of_the_future", "url": "http://10.0.0.1/web_search"}]))]}),
    ] {
        // With tools of the server, too.
        let world = crate::gateway::tests::loops::world(
            &[VARIABLES, &[("GATEWAY_TOOLS", "Echo.Say")]].concat(),
        );
        let extended = TestGateway { path: "/v1/messages", ..world };
        for gateway in [gateway(&[]), extended] {
            let body = ask("anthropic/m", members.clone());
            let reply = gateway.ask(vec![message(json!([]), "end_turn")], &body);
            assert_eq!((reply.status, reply.sent.len()), (200, 1), "{}", reply.text);
            let sent = reply.sent[0].body.to_string();
            assert!(!sent.contains("web_search"), "{sent}");
        }
    }
}

/// The headers and the events of a request that is translated are the gateway's.
#[test]
fn a_translated_request_has_a_translated_stream() {
    let block = json!({"type": "tool_of_the_future"});
    let texts = [json!({"type": "text", "text": "x"})];
    for (content, passes) in [(json!(texts), true), (json!([texts[0], block]), false)] {
        let messages = json!([{"role": "user", "content": content}]);
        let body = ask("anthropic/m", json!({"stream": true, "messages": messages}));
        let headers = [JSON, LOCAL, ("anthropic-version", "2026-10-21")];
        let answers = vec![stream(&texts, "end_turn")];
        let reply = gateway(&[]).ask_with(answers, &headers, &body, usize::MAX);
        assert_eq!(reply.text.contains("marker"), passes, "{}", reply.text);
        assert_eq!(reply.sent[0].header("anthropic-version") == "2026-10-21", passes);
        assert!(reply.text.contains("event: message_stop"), "{}", reply.text);
    }
}

/// Anthropic gets the signature of its thinking back, also if the client streams, and has tools of this server.
#[test]
fn streamed_thinking_keeps_its_signature() {
    let thinking = json!({"type": "thinking", "thinking": "T", "signature": "SIG"});
    let call = json!({"type": "tool_use", "id": "t1", "name": "mine", "input": {}});
    let mut members = own_tools("never");
    members["stream"] = true.into();
    members["thinking"] = json!({"type": "enabled", "budget_tokens": 1024});
    members["max_tokens"] = 2000.into();
    let mut body = ask("anthropic/m", members);
    let reply = world().ask(vec![stream(&[thinking.clone(), call.clone()], "tool_use")], &body);
    let mut found = vec![];
    for event in reply.events() {
        let delta = &event["delta"];
        if event["type"] == "content_block_start" {
            found.push(event["content_block"].clone());
        }
        for name in ["thinking", "signature"] {
            if let Some(text) = delta[name].as_str() {
                let block = found.last_mut().unwrap();
                block[name] = (block[name].as_str().unwrap().to_owned() + text).into();
            }
        }
    }
    assert_eq!(found[0], thinking, "{}", reply.text);
    let result = json!({"type": "tool_result", "tool_use_id": "t1", "content": "r"});
    let messages = body["messages"].as_array_mut().unwrap();
    messages.push(json!({"role": "assistant", "content": found}));
    messages.push(json!({"role": "user", "content": [result]}));
    body["stream"] = false.into();
    let reply = world().ask(vec![message(json!([]), "end_turn")], &body);
    assert_eq!(reply.sent[0].body["messages"][1]["content"][0], thinking, "{}", reply.text);
}
