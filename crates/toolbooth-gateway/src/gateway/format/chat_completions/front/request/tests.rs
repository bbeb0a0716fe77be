use serde_json::json;

use crate::gateway::conversation::tool::Tool;
use crate::gateway::format::chat_completions::front::request::*;

fn parse(members: serde_json::Value) -> Result<ChatRequest, GatewayError> {
    let mut body = json!({"model": "m", "messages": [{"role": "user", "content": "x"}]});
    for (name, value) in members.as_object().unwrap() {
        body[name] = value.clone();
    }
    decode(&body.to_string(), &Notes::default())
}

#[test]
fn a_request_in_full() {
    let request = parse(json!({
        "model": "openai/gpt-5", "stream": true, "stream_options": {"include_usage": true},
        "tools": [
            {"type": "function", "function": {"name": "f", "description": "D", "strict": true, "parameters": {"type": "object"}}},
            {"type": "custom", "custom": {"name": "c"}},
            {"type": "toolbooth", "allowed": ["Weather.*"]},
            {"type": "mcp", "server_url": "toolbooth"},
        ],
        "request_options": {"max_rounds": 3}, "_2api": {"state": "s"}, "seed": 1, "stop": null,
    }))
    .unwrap();
    assert_eq!(
        (request.model.as_str(), request.stream, request.include_usage),
        ("openai/gpt-5", true, true)
    );
    let names: Vec<_> = request.tools.iter().map(Tool::name).collect();
    assert_eq!((names, request.selections.len()), (vec![Some("f"), Some("c")], 2));
    let Some(Tool::Function(function)) = request.tools.first() else { panic!() };
    assert_eq!((function.description.as_deref(), function.strict), (Some("D"), Some(true)));
    assert_eq!(function.parameters.as_ref().unwrap().get(), r#"{"type":"object"}"#);
    assert_eq!(request.request_options.unwrap().get(), r#"{"max_rounds":3}"#);
    assert_eq!(request.state.as_deref(), Some("s"));
    let names: Vec<&str> = request.members.iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["seed", "stream_options"]);
}

/// 5.1: empty tools are no tools.
#[test]
fn defaults() {
    for members in [json!({}), json!({"tools": null, "stream": null, "n": 1}), json!({"tools": []})]
    {
        let request = parse(members).unwrap();
        assert!(request.tools.is_empty() && !request.stream && !request.include_usage);
        assert_eq!(request.tool_choice, None);
    }
}

#[test]
fn invalid_requests_name_the_member() {
    let function = |function: serde_json::Value| json!({"tools": [{"type": "function", "function": function}]});
    let two = json!([{"type": "function", "function": {"name": "a"}}, {"type": "function", "function": {"name": "a"}}]);
    for (members, param) in [
        (json!({"model": ""}), "model"),
        (json!({"model": 1}), "model"),
        (json!({"model": null}), "model"),
        (json!({"messages": []}), "messages"),
        (json!({"messages": "x"}), "messages"),
        (json!({"messages": ["x"]}), "messages[0]"),
        (json!({"messages": [{"role": "function"}]}), "messages[0].role"),
        (
            json!({"messages": [{"role": "assistant", "function_call": {"name": "a"}}]}),
            "messages[0].function_call",
        ),
        (json!({"functions": []}), "functions"),
        (json!({"function_call": "none"}), "function_call"),
        (json!({"tools": [{"type": "custom"}]}), "tools[0].custom"),
        (json!({"tools": [{"type": "custom", "custom": {}}]}), "tools[0].custom.name"),
        (json!({"messages": [{}]}), "messages[0].role"),
        (json!({"n": 2}), "n"),
        (json!({"n": "1"}), "n"),
        (json!({"stream": "true"}), "stream"),
        (json!({"stream_options": 1}), "stream_options"),
        (json!({"stream_options": {"include_usage": 1}}), "stream_options.include_usage"),
        (json!({"tools": {}}), "tools"),
        (json!({"tools": [1]}), "tools[0]"),
        (json!({"tools": [{}]}), "tools[0].type"),
        (json!({"tools": [{"type": "function"}]}), "tools[0].function"),
        (json!({"tools": two}), "tools"),
        (function(json!({})), "tools[0].function.name"),
        (function(json!({"name": ""})), "tools[0].function.name"),
        (function(json!({"name": "a", "description": 1})), "tools[0].function.description"),
        (function(json!({"name": "a", "strict": "no"})), "tools[0].function.strict"),
        (function(json!({"name": "a", "parameters": []})), "tools[0].function.parameters"),
        (json!({"tool_choice": "any"}), "tool_choice"),
        (json!({"tool_choice": {"type": "function"}}), "tool_choice"),
        (json!({"tool_choice": {"type": "function", "function": {"name": "x"}}}), "tool_choice"),
        (json!({"tool_choice": {"type": "allowed_tools"}}), "tool_choice"),
        (
            json!({"tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": []}}}),
            "tool_choice",
        ),
    ] {
        let error = parse(members.clone()).unwrap_err();
        assert_eq!(error.param.as_deref(), Some(param), "{members}: {}", error.message);
    }
    for text in ["", "[]", "1", "{", r#"{"model":"a","model":"b"}"#] {
        assert_eq!(decode(text, &Notes::default()).unwrap_err().param, None, "{text}");
    }
}
