//! Requests that are rejected, and the errors of the format.

use crate::gateway::format::messages::front::tests::*;

#[test]
fn invalid_requests_name_the_member() {
    let call = json!({"type": "tool_use", "id": "t", "name": "a", "input": {}});
    let result =
        |id: &str| json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id}]});
    let assistant = json!({"role": "assistant", "content": [{"type": "text", "text": "x"}, call]});
    let image = |source: Value| json!({"messages": [{"role": "user", "content": [{"type": "image", "source": source}]}]});
    let server = |more: Value| {
        let mut server = json!({"name": "own", "url": "toolbooth"});
        for (name, value) in more.as_object().unwrap() {
            server[name] = value.clone();
        }
        json!({"mcp_servers": [server]})
    };
    let toolset = |more: Value| {
        let mut set = json!({"type": "mcp_toolset", "mcp_server_name": "own"});
        for (name, value) in more.as_object().unwrap() {
            set[name] = value.clone();
        }
        json!({"mcp_servers": [{"name": "own", "url": "toolbooth"}], "tools": [set]})
    };
    let many = |kind: &str| {
        let call = |at: usize| json!({"type": kind, "id": format!("t{at}"), "name": "a", "server_name": "toolbooth", "input": {}});
        json!({"role": "assistant", "content": (0..1025).map(call).collect::<Vec<_>>()})
    };
    for (members, param) in [
        (json!({"model": ""}), "model"),
        (json!({"max_tokens": null}), "max_tokens"),
        (json!({"max_tokens": 0}), "max_tokens"),
        (json!({"messages": []}), "messages"),
        (json!({"messages": ["x"]}), "messages[0]"),
        (
            json!({"system": [{"type": "image", "source": {"type": "url", "url": "http://10.0.0.1/a"}}]}),
            "system[0].source.url",
        ),
        (json!({"messages": [{"role": "tool", "content": "x"}]}), "messages[0].role"),
        (json!({"messages": [{"role": "user"}]}), "messages[0].content"),
        (json!({"messages": [{"role": "user", "content": [1]}]}), "messages[0].content[0]"),
        (json!({"messages": [{"role": "user", "content": [{}]}]}), "messages[0].content[0].type"),
        (json!({"messages": [assistant]}), "messages[0].content[1]"),
        (
            json!({"messages": [assistant, {"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}]}),
            "messages[0].content[1]",
        ),
        (json!({"messages": [many("tool_use")]}), "messages[0].content[1024]"),
        (json!({"messages": [many("mcp_tool_use")]}), "messages[0].content[1024]"),
        (json!({"messages": [assistant, result("u")]}), "messages[1].content[0].tool_use_id"),
        (
            json!({"messages": [assistant, result("t"), result("t")]}),
            "messages[2].content[0].tool_use_id",
        ),
        (json!({"messages": [result("t")]}), "messages[0].content[0].tool_use_id"),
        (
            json!({"messages": [{"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "a", "input": "x"}]}]}),
            "messages[0].content[0].input",
        ),
        (
            json!({"messages": [{"role": "assistant", "content": [{"type": "mcp_tool_use", "id": "t", "name": "a", "server_name": "toolbooth", "input": {}}]}]}),
            "messages[0].content",
        ),
        (image(json!({"type": "url", "url": "http://a"})), "messages[0].content[0].source.url"),
        (
            image(json!({"type": "url", "url": "file:///etc/passwd"})),
            "messages[0].content[0].source.url",
        ),
        (
            image(json!({"type": "base64", "media_type": "image/tiff", "data": ""})),
            "messages[0].content[0].source.media_type",
        ),
        (
            image(
                json!({"type": "base64", "media_type": "image/png", "data": "", "url": "http://a"}),
            ),
            "messages[0].content[0].source.url",
        ),
        (
            json!({"messages": [{"role": "user", "content": [{"type": "text", "text": "x", "image_url": "http://a"}]}]}),
            "messages[0].content[0].image_url",
        ),
        (
            json!({"messages": [{"role": "assistant", "content": [{"type": "image", "source": {"type": "url", "url": "http://a"}}]}]}),
            "messages[0].content[0].source.url",
        ),
        (
            json!({"messages": [{"role": "assistant", "content": [call]}, {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t",
                "content": [{"type": "text", "text": "x", "image_url": "http://a"}]}]}]}),
            "messages[1].content[0].content[0].image_url",
        ),
        (json!({"system": 1}), "system"),
        (json!({"stream": "yes"}), "stream"),
        (json!({"tools": {}}), "tools"),
        (json!({"tools": [{"name": "a"}]}), "tools[0].input_schema"),
        (json!({"tools": [tool("a"), tool("a")]}), "tools"),
        (json!({"tool_choice": {"type": "auto_"}}), "tool_choice.type"),
        (json!({"tool_choice": {"type": "tool", "name": "x"}}), "tool_choice.name"),
        (json!({"metadata": {"user_id": 1}}), "metadata.user_id"),
        (server(json!({"require_aproval": "never"})), "mcp_servers[0].require_aproval"),
        (
            server(json!({"tool_configuration": {"allowed_tool": []}})),
            "mcp_servers[0].tool_configuration.allowed_tool",
        ),
        (toolset(json!({"require_aproval": "always"})), "tools[0].require_aproval"),
        (toolset(json!({"require_approval": "sometimes"})), "tools[0].require_approval"),
        (toolset(json!({"configs": {"A": {"enabled": false}}})), "tools[0].configs.A.enabled"),
    ] {
        let error = decode(members.clone()).unwrap_err();
        assert_eq!(error.param.as_deref(), Some(param), "{members}: {}", error.message);
        let front = Messages { counts_only: false };
        let body: Value = serde_json::from_slice(&front.error(&error)).unwrap();
        assert_eq!(
            (&body["type"], &body["error"]["type"]),
            (&json!("error"), &json!("invalid_request_error"))
        );
        assert!(body["error"]["message"].as_str().unwrap().contains(param), "{body}");
    }
    for headers in [[("anthropic-beta", "a\tb")], [("anthropic-version", "é")]] {
        assert!(decode_with(&headers, json!({})).is_err(), "{headers:?}");
    }
    assert!(
        Messages { counts_only: true }
            .decode(
                r#"{"model":"m","messages":[{"role":"user","content":"x"}]}"#,
                &Pairs(&[]),
                &Notes::default()
            )
            .is_ok()
    );
}

#[test]
fn errors_in_the_form_of_anthropic() {
    let front = Messages { counts_only: false };
    for (kind, expected) in [
        (ErrorKind::InvalidRequest, "invalid_request_error"),
        (ErrorKind::UnknownModel, "not_found_error"),
        (ErrorKind::MissingScope, "permission_error"),
        (ErrorKind::RateLimited, "rate_limit_error"),
        (ErrorKind::BudgetExceeded, "rate_limit_error"),
        (ErrorKind::Overloaded, "overloaded_error"),
        (ErrorKind::Timeout, "timeout_error"),
        (ErrorKind::ProviderAuth, "api_error"),
        (ErrorKind::BadResponse, "api_error"),
        (ErrorKind::NotConfigured, "api_error"),
        (ErrorKind::ProviderRejected(413), "request_too_large"),
        (ErrorKind::ProviderRejected(422), "invalid_request_error"),
    ] {
        let error = GatewayError::new(kind, "M");
        let body: Value = serde_json::from_slice(&front.error(&error)).unwrap();
        let expected = json!({"type": "error", "error": {"type": expected, "message": "M"}, "request_id": null});
        assert_eq!(body, expected, "{kind:?}");
    }
    for (param, message, expected) in [
        ("tools[0].function.parameters", "bad", "tools[0].input_schema: bad"),
        ("tools[0].function.name", "tools[0].function.name is bad", "tools[0].name is bad"),
        ("response_format.json_schema.schema", "bad", "output_config.format.schema: bad"),
        ("model", "model is bad", "model is bad"),
    ] {
        let error = GatewayError::invalid(param, message);
        let body: Value = serde_json::from_slice(&front.error(&error)).unwrap();
        assert_eq!(body["error"]["message"], expected);
    }
}
