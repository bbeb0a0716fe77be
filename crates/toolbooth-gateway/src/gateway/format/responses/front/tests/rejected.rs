//! Requests that are rejected before anything is sent.

use crate::gateway::format::responses::front::tests::*;

#[test]
fn each_fault_is_named_with_its_place() {
    let input = |item: Value| json!({"input": [{"role": "user", "content": "hi"}, item]});
    let tools = |tool: Value| json!({"tools": [tool]});
    for (more, param, words) in [
        (json!({"model": null}), "model", "name of a model"),
        (json!({"previous_response_id": "resp_1"}), "previous_response_id", "store: false"),
        (json!({"conversation": {"id": "c"}}), "conversation", "whole conversation"),
        (json!({"prompt": {"id": "p"}}), "prompt", "instructions"),
        (json!({"background": "yes"}), "background", "boolean"),
        (json!({"background": true, "stream": true}), "stream", "GET /v1/responses/{id}"),
        (json!({"background": true, "store": false}), "store", "leave out store"),
        (json!({"store": "yes"}), "store", "boolean"),
        (json!({"input": []}), "input", "not empty"),
        (json!({"input": 1}), "input", "string"),
        (json!({"input": null}), "input", "string"),
        (json!({"instructions": ["a"]}), "instructions", "string"),
        (input(json!("x")), "input[1]", "object"),
        (input(json!({})), "input[1].type", "type of an item"),
        (
            input(json!({"type": "item_reference", "id": "msg_1"})),
            "input[1].type",
            "send the item itself",
        ),
        (input(json!({"role": "tool", "content": "x"})), "input[1].role", "one of user"),
        (input(json!({"role": "user", "content": 1})), "input[1].content", "string or an array"),
        (
            input(
                json!({"role": "user", "content": [{"type": "input_image", "image_url": "http://10.0.0.1/a"}]}),
            ),
            "input[1].content[0].image_url",
            "https",
        ),
        (
            input(
                json!({"role": "user", "content": [{"type": "input_file", "file_url": "file:///etc/passwd"}]}),
            ),
            "input[1].content[0].file_url",
            "https",
        ),
        (
            input(
                json!({"role": "user", "content": [{"type": "input_file", "file_data": "file:/etc/passwd"}]}),
            ),
            "input[1].content[0].file_data",
            "https",
        ),
        (
            input(
                json!({"role": "assistant", "content": [{"type": "output_text", "text": "x", "image_url": "http://10.0.0.1"}]}),
            ),
            "input[1].content[0].image_url",
            "https",
        ),
        (
            input(json!({"role": "user", "content": "x", "image_url": "http://10.0.0.1"})),
            "input[1].image_url",
            "https",
        ),
        (
            input(json!({"type": "computer_call_output", "call_id": "c",
                "output": {"type": "computer_screenshot", "image_url": "http://10.0.0.1"}})),
            "input[1].output.image_url",
            "https",
        ),
        (
            input(
                json!({"type": "web_search_call", "action": {"type": "open_page", "url": "http://a.example"}}),
            ),
            "",
            "",
        ),
        (
            input(
                json!({"type": "shell_call_output", "call_id": "c", "output": [{"stdout": "http://a.example"}]}),
            ),
            "",
            "",
        ),
        (
            input(json!({"type": "function_call", "name": "a"})),
            "input[1].call_id",
            "id of the call",
        ),
        (
            input(json!({"type": "function_call", "call_id": "c", "name": "a", "arguments": {}})),
            "input[1].arguments",
            "string",
        ),
        (
            input(json!({"type": "function_call", "call_id": "c", "name": "a"})),
            "input[1]",
            "no result",
        ),
        (
            input(json!({"type": "function_call_output", "call_id": "c", "output": "x"})),
            "input[1].call_id",
            "answers no call",
        ),
        (
            input(
                json!({"type": "mcp_approval_response", "approval_request_id": "mcpr_c", "approve": true}),
            ),
            "input[1].type",
            "",
        ),
        (json!({"tools": {}}), "tools", "array"),
        (
            json!({"tools": [
                {"type": "mcp", "server_label": "a", "server_url": "toolbooth"},
                {"type": "mcp", "server_label": "a", "server_url": "https://other.example"},
            ]}),
            "tools[1].server_label",
            "different label",
        ),
        (tools(json!({"type": "function"})), "tools[0].name", "name"),
        (
            tools(json!({"type": "function", "name": "a", "parameters": []})),
            "tools[0].parameters",
            "Schema",
        ),
        (
            tools(json!({"type": "custom", "name": "a", "format": {"type": "regex"}})),
            "tools[0].format.type",
            "grammar",
        ),
        (tools(json!({"type": "namespace", "name": "a"})), "tools[0].tools", "array"),
        (
            tools(json!({"type": "namespace", "name": "a", "tools": [{"type": "function"}]})),
            "tools[0].tools[0].name",
            "name",
        ),
        (
            tools(json!({"type": "namespace", "name": "a", "tools": [{"type": "web_search"}]})),
            "tools[0].tools[0].type",
            "in a namespace",
        ),
        (
            json!({"tools": [{"type": "function", "name": "a"}, {"type": "custom", "name": "a"}]}),
            "tools",
            "several tools",
        ),
        (
            tools(json!({"type": "mcp", "server_url": "toolbooth"})),
            "tools[0].server_label",
            "name for this server",
        ),
        (
            tools(
                json!({"type": "mcp", "server_url": "toolbooth", "server_label": "x", "headers": {}}),
            ),
            "tools[0].headers",
            "",
        ),
        (
            tools(
                json!({"type": "mcp", "server_url": "toolbooth", "server_label": "x", "require_approval": "maybe"}),
            ),
            "tools[0].require_approval",
            "never",
        ),
        (json!({"tool_choice": "any"}), "tool_choice", "auto"),
        (json!({"tool_choice": {"type": "function", "name": "a"}}), "tool_choice", "not in tools"),
        (json!({"tool_choice": {"type": "web_search"}}), "tool_choice", "not in tools"),
        (json!({"text": {"format": {"type": "xml"}}}), "text.format.type", "json_schema"),
        (
            json!({"text": {"format": {"type": "json_schema", "name": "n"}}}),
            "text.format.schema",
            "Schema",
        ),
        (json!({"reasoning": "high"}), "reasoning", "object"),
        (json!({"include": "all"}), "include", "array"),
    ] {
        let Err(error) = read(&body(more.clone())) else {
            // It is an item that only OpenAI knows.
            assert_eq!(words, "", "{more}");
            continue;
        };
        assert_eq!(error.param.as_deref(), Some(param), "{more} {error:?}");
        assert!(error.message.contains(words), "{more} {error:?}");
    }
    for text in
        ["", "[]", "{", "\"x\"", &format!("{{\"a\":{}1{}}}", "[".repeat(99), "]".repeat(99))]
    {
        assert!(decode(text, &Notes::default()).is_err(), "{text}");
    }
}

/// Each of them is compared with others.
#[test]
fn the_calls_of_an_answer_have_a_limit() {
    let call = |id: usize| json!({"type": "function_call", "call_id": format!("c{id}"), "name": "a", "arguments": "{}"});
    let output = |id: usize| json!({"type": "function_call_output", "call_id": format!("c{id}"), "output": "R"});
    let ask = |id: usize| json!({"type": "mcp_approval_request", "id": format!("mcpr_{id}"), "name": "a", "arguments": "{}"});
    let approve = |id: usize| json!({"type": "mcp_approval_response", "approval_request_id": format!("mcpr_{id}"), "approve": true});
    for (items, answers, most) in [
        (&call as &dyn Fn(usize) -> Value, &output as &dyn Fn(usize) -> Value, 1024),
        (&ask, &approve, 128),
    ] {
        for count in [most, most + 1] {
            let input: Vec<_> = [json!({"role": "user", "content": "hi"})]
                .into_iter()
                .chain((0..count).map(items))
                .chain((0..count).map(answers))
                .collect();
            let result = read(&body(json!({"input": input})));
            assert_eq!(result.is_ok(), count == most, "{count} {:?}", result.err());
        }
    }
}
