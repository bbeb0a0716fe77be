//! Requests to providers with the format of Responses, from clients of the chat front.

use crate::gateway::format::adapter::tests::*;

fn sent(members: Value) -> (Value, Vec<String>, Vec<String>) {
    translated(Format::Responses, members)
}

#[test]
fn a_conversation_becomes_items() {
    let history = json!([
        {"role": "system", "content": "S"},
        {"role": "user", "content": [
            {"type": "text", "text": "Look"},
            {"type": "image_url", "image_url": {"url": "https://example.com/a.png", "detail": "low"}},
            {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,AAAA"}},
            {"type": "file", "file": {"file_data": "https://example.com/b.pdf"}},
        ]},
        {"role": "assistant", "content": "Yes", "refusal": "No", "extra_content": {"openai": {"reasoning": [
            {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gA", "status": null}]}},
            "tool_calls": [
                call("c1", "a", "{\"x\": 1}"),
                {"id": "c2", "type": "custom", "custom": {"name": "p", "input": "I"}},
            ]},
        {"role": "tool", "tool_call_id": "c1", "content": "R"},
        {"role": "tool", "tool_call_id": "c2", "content": [{"type": "text", "text": "P"}]},
    ]);
    let text = |kind: &str, text: &str| json!({"type": kind, "text": text});
    let message =
        |role: &str, content: Value| json!({"type": "message", "role": role, "content": content});
    let expected = json!([
        message("system", json!([text("input_text", "S")])),
        message("user", json!([
            text("input_text", "Look"),
            {"type": "input_image", "image_url": "https://example.com/a.png", "detail": "low"},
            {"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,AAAA"},
            {"type": "input_file", "file_url": "https://example.com/b.pdf"},
        ])),
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gA"},
        message("assistant", json!([text("output_text", "Yes"), {"type": "refusal", "refusal": "No"}])),
        {"type": "function_call", "call_id": "c1", "name": "a", "arguments": "{\"x\": 1}"},
        {"type": "custom_tool_call", "call_id": "c2", "name": "p", "input": "I"},
        {"type": "function_call_output", "call_id": "c1", "output": "R"},
        {"type": "custom_tool_call_output", "call_id": "c2", "output": "P"},
    ]);
    let (body, dropped, _) = sent(json!({"messages": history}));
    assert_eq!(body["input"], expected);
    assert_eq!((&body["store"], dropped.len()), (&json!(false), 0));
}

#[test]
fn members_have_their_names_in_responses() {
    let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
    let request = request(json!({
        "max_tokens": 5, "temperature": 0.5, "reasoning_effort": "low", "verbosity": "high", "store": false,
        "response_format": {"type": "json_schema", "json_schema": {"name": "n", "strict": true, "schema": schema}},
        "logprobs": true, "top_logprobs": 2, "stop": ["x"], "seed": 1, "user": "u",
    }));
    let options = options_for(Format::Responses, "m");
    let (body, dropped, warnings) = translated_with(Format::Responses, &request, &options);
    let format = json!({"type": "json_schema", "name": "n", "strict": true, "schema": schema});
    for (name, expected) in [
        ("max_output_tokens", json!(16)),
        ("temperature", json!(0.5)),
        ("reasoning", json!({"effort": "low", "summary": "auto"})),
        ("text", json!({"verbosity": "high", "format": format})),
        ("top_logprobs", json!(2)),
        ("include", json!(["reasoning.encrypted_content", "message.output_text.logprobs"])),
        ("user", json!("u")),
    ] {
        assert_eq!(body[name], expected, "{name}");
    }
    assert_eq!((dropped, warnings.len()), (vec!["seed".to_owned(), "stop".to_owned()], 1));
}

#[test]
fn tools_and_choices() {
    let grammar = json!({"type": "grammar", "grammar": {"syntax": "lark", "definition": "g"}});
    let custom =
        json!({"type": "custom", "custom": {"name": "p", "description": "D", "format": grammar}});
    let hosted = json!({"type": "web_search", "search_context_size": "low"});
    let function = |name: &str| json!({"type": "function", "function": {"name": name}});
    for (choice, expected) in [
        (json!("none"), json!("none")),
        (json!("required"), json!("required")),
        (function("a"), json!({"type": "function", "name": "a"})),
        (
            json!({"type": "custom", "custom": {"name": "p"}}),
            json!({"type": "custom", "name": "p"}),
        ),
        (json!({"type": "web_search"}), json!({"type": "web_search"})),
        (
            json!({"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [function("a")]}}),
            json!({"type": "allowed_tools", "mode": "required", "tools": [{"type": "function", "name": "a"}]}),
        ),
        (
            json!({"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [{"type": "custom", "custom": {"name": "p"}}]}}),
            json!({"type": "allowed_tools", "mode": "auto", "tools": [{"type": "custom", "name": "p"}]}),
        ),
    ] {
        let members = json!({"tools": [tool("a"), custom, hosted], "tool_choice": choice});
        let (body, ..) = sent(members);
        assert_eq!(
            body["tools"],
            json!([
                {"type": "function", "name": "a", "parameters": {"type": "object", "properties": {}}, "strict": false},
                {"type": "custom", "name": "p", "description": "D", "format": {"type": "grammar", "syntax": "lark", "definition": "g"}},
                hosted,
            ])
        );
        assert_eq!(body["tool_choice"], expected);
    }
    let (body, dropped, _) = sent(json!({"tool_choice": "auto", "parallel_tool_calls": false}));
    assert_eq!(body.get("tool_choice"), None);
    assert_eq!(dropped, ["parallel_tool_calls", "tool_choice"]);
}
