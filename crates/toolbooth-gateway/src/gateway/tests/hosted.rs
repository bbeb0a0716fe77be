//! Tools that the provider would run, in the requests of coding agents: those that the operator has not listed never arrive.

use crate::gateway::tests::*;

const ANTHROPIC: &[(&str, &str)] = &[("ANTHROPIC_API_KEY", "sk-ant")];

/// What arrives at the provider.
fn sent(path: &'static str, variables: &[(&str, &str)], body: &Value) -> Value {
    let gateway = TestGateway { path, ..TestGateway::with(variables) };
    let reply = gateway.ask(vec![], body);
    assert_eq!(reply.sent.len(), 1, "{}", reply.text);
    reply.sent[0].body.clone()
}

fn function(name: &str) -> Value {
    json!({"type": "function", "name": name})
}

/// A tool is removed where it is, although others have its type.
#[test]
fn the_tools_of_a_conversation_are_removed_too() {
    let client = json!({"type": "tool_search", "execution": "client"});
    let hosted = json!({"type": "tool_search"});
    for (tools, added, arrives) in [
        (json!([client]), json!([hosted]), true),
        (json!([client, function("a")]), json!([hosted, function("b")]), true),
        (json!([client, hosted]), json!([function("b")]), true),
        (json!([hosted]), json!([hosted]), false),
        (json!([{"type": "web_search"}, function("a")]), json!([{"type": "web_search"}]), false),
    ] {
        let body = json!({"model": "openai/m", "tools": tools, "input": [
            {"role": "user", "content": "hi"}, {"type": "additional_tools", "tools": added}]});
        let sent = sent("/v1/responses", &[], &body);
        let text = sent.to_string();
        assert!(
            !text.contains(r#""type":"tool_search""#) || text.contains(r#""execution":"client""#),
            "{text}"
        );
        assert!(
            !text.contains(r#"{"type":"tool_search"}"#) && !text.contains("web_search"),
            "{text}"
        );
        assert_eq!(text.contains("tool_search"), arrives, "the client's own: {text}");
    }
}

/// What was removed is not chosen, and nothing waits to be found by it.
#[test]
fn a_choice_has_none_of_the_removed_tools() {
    let allowed = json!({"type": "allowed_tools", "mode": "auto", "tools": [{"type": "web_search"}, function("a")]});
    let tools = json!([{"type": "web_search"}, function("a")]);
    let body = json!({"model": "openai/m", "input": "hi", "tools": tools, "tool_choice": allowed});
    let text = sent("/v1/responses", &[], &body).to_string();
    assert!(!text.contains("web_search") && text.contains("allowed_tools"), "{text}");

    let search = json!({"type": "web_search_20250305", "name": "web_search"});
    let own = json!({"name": "a", "input_schema": {"type": "object"}});
    let body = json!({"model": "anthropic/m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}],
        "tools": [search, own], "tool_choice": {"type": "tool", "name": "web_search"}});
    let gateway = TestGateway { path: "/v1/messages", ..TestGateway::with(ANTHROPIC) };
    let reply = gateway.ask(vec![], &body);
    assert_eq!((reply.status, reply.sent.len()), (400, 0), "{}", reply.text);

    let mut deferred = own.clone();
    deferred["defer_loading"] = json!(true);
    let search =
        json!({"type": "tool_search_tool_regex_20251119", "name": "tool_search_tool_regex"});
    let body = json!({"model": "anthropic/m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}],
        "tools": [search, deferred]});
    let sent = sent("/v1/messages", ANTHROPIC, &body);
    assert_eq!(
        (&sent["tools"][0]["name"], sent["tools"].as_array().unwrap().len()),
        (&json!("a"), 1)
    );
    assert!(!sent.to_string().contains("defer_loading"), "{sent}");
}

/// What agents send has limits wherever it is in the request.
#[test]
fn each_tool_of_an_agent_counts() {
    let variables = [("AGENT_MAX_TOOLS", "2"), ("AGENT_MAX_TOOL_DESCRIPTION", "9")];
    let patch = |number: usize| json!({"type": "apply_patch", "number": number});
    let described = |text: &str| json!({"type": "namespace", "name": "n", "description": text, "tools": [function("a")]});
    for (tools, added, code) in [
        (json!([function("a"), patch(1)]), json!([patch(1), function("a")]), ""),
        (json!([patch(1), patch(2)]), json!([patch(3)]), "too_many_tools"),
        (json!([function("a"), function("b")]), json!([patch(1)]), "too_many_tools"),
        (json!([described("123456789")]), json!([]), ""),
        (json!([described("1234567890")]), json!([]), "tool_description_too_long"),
        (json!([function("a")]), json!([described("1234567890")]), "tool_description_too_long"),
    ] {
        let body = json!({"model": "openai/m", "tools": tools, "input": [
            {"role": "user", "content": "hi"}, {"type": "additional_tools", "tools": added}]});
        let gateway = TestGateway { path: "/v1/responses", ..TestGateway::with(&variables) };
        let reply = gateway.ask(vec![], &body);
        assert_eq!(reply.sent.len(), usize::from(code.is_empty()), "{body} {}", reply.text);
        assert!(code.is_empty() || reply.code() == code, "{}", reply.text);
    }
}
