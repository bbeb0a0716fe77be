//! The request bodies that are accepted, and the warnings about them.

use super::*;

const UNHANDLED: &str = "Response contains tool_calls that are not run here. Client must execute \
    tools and send results to continue conversation: ";

/// A response with one call of `Echo_Say`; `frame` wraps the list of calls.
fn framed(provider: &str, frame: fn(Value) -> Value) -> Value {
    frame(calls(provider, &[(Some("c"), "Echo_Say", r#"{"text":"hi"}"#)]))
}

#[test]
fn every_form_of_a_response_is_read() {
    // PC1 PC19
    type Frame = fn(Value) -> Value;
    let rows: &[(&str, Frame)] = &[
        ("openai", |calls| calls),
        ("openai", |calls| json!({"tool_calls": calls})),
        (
            "openai",
            |calls| json!({"role": "assistant", "content": null, "refusal": null, "tool_calls": calls}),
        ),
        ("openai", |calls| {
            json!({"id": "chatcmpl-1", "object": "chat.completion", "choices": [
            {"index": 0, "finish_reason": "tool_calls", "logprobs": null,
             "message": {"role": "assistant", "content": null, "tool_calls": calls}}], "usage": {}})
        }),
        ("openai-responses", |calls| calls),
        ("openai-responses", |calls| json!({"output": calls})),
        ("openai-responses", |calls| {
            json!({"id": "resp_1", "object": "response", "status": "completed", "output":
            [{"type": "reasoning", "id": "rs_1", "summary": []}, calls[0], {"type": "message", "content": []}]})
        }),
        ("openai-responses", |calls| json!([{"role": "user", "content": "?"}, calls[0]])),
        ("anthropic", |calls| calls),
        ("anthropic", |calls| json!({"role": "assistant", "content": calls})),
        ("anthropic", |calls| {
            json!({"id": "msg_1", "type": "message", "role": "assistant", "stop_reason": "tool_use",
            "content": [{"type": "thinking", "thinking": "", "signature": "s"}, {"type": "text", "text": "Hm"}, calls[0]]})
        }),
        ("gemini", |parts| parts),
        ("gemini", |parts| json!([parts[0]["functionCall"]])),
        (
            "gemini",
            |parts| json!([{"text": null, "functionCall": parts[0]["functionCall"], "executableCode": null}]),
        ),
        (
            "gemini",
            |parts| json!([{"function_call": parts[0]["functionCall"], "thought_signature": "s"}]),
        ),
        ("gemini", |parts| json!({"parts": parts})),
        (
            "gemini",
            |parts| json!({"role": "model", "parts": [{"text": "Hm", "thought": true}, parts[0]]}),
        ),
        (
            "gemini",
            |parts| json!({"finishReason": "STOP", "content": {"role": "model", "parts": parts}}),
        ),
        ("gemini", |parts| {
            json!({"candidates": [{"finishReason": "STOP", "index": 0, "content": {"role": "model", "parts":
            [{"functionCall": parts[0]["functionCall"], "thoughtSignature": "s"}]}}], "modelVersion": "m"})
        }),
    ];
    for (provider, frame) in rows {
        let body = framed(provider, *frame);
        let (response, report) = call_ok(&FakeHost::default(), &format!("{provider}/call"), &body);
        let expected = vec![(Some("c".to_owned()), "hi".to_owned(), false)];
        assert_eq!(read_results(provider, &response), expected, "{provider} {body}");
        assert_eq!(report["warnings"], json!([]), "{provider} {body}");
    }
}

#[test]
fn a_response_without_calls_is_not_an_error() {
    for (address, bodies) in [
        (
            "openai/call",
            vec![
                json!([]),
                json!({"role": "assistant", "content": "hi"}),
                json!({"role": "assistant", "tool_calls": null}),
                json!({"choices": []}),
                json!({"choices": [{"finish_reason": "stop", "message": {"role": "assistant", "content": "hi"}}]}),
            ],
        ),
        (
            "openai-responses/call",
            vec![
                json!([]),
                json!({"output": []}),
                json!({"output": [{"type": "message", "content": []}]}),
            ],
        ),
        (
            "anthropic/call",
            vec![
                json!([]),
                json!({"role": "assistant", "content": "hi"}),
                json!({"stop_reason": "end_turn", "content": [{"type": "text", "text": "hi"}]}),
            ],
        ),
        (
            "gemini/call",
            vec![
                json!([]),
                json!({"parts": []}),
                json!({"candidates": []}),
                json!({"promptFeedback": {"blockReason": "OTHER"}}),
                json!([{"text": "hi", "name": null}, {"inline_data": {}}, {"toolResponse": {}}]),
                json!({"candidates": [{"finishReason": "SAFETY", "content": null}]}),
                json!({"finish_reason": "SAFETY", "content": null}),
                json!({"candidates": null, "prompt_feedback": null, "usage_metadata": {}}),
                json!({"candidates": [{"content": {"role": "model", "parts": [{"text": "hi"}]}}]}),
            ],
        ),
    ] {
        for body in bodies {
            let (response, report) = call_ok(&FakeHost::default(), address, &body);
            let lists: Vec<_> = response.as_object().unwrap().values().collect();
            assert_eq!(lists, [&json!([])], "{address} {body}");
            let expected = json!({"calls": [], "warnings": ["There are no tool calls to run"]});
            assert_eq!(report, expected, "{address} {body}");
        }
    }
}

#[test]
fn function_calls_without_arguments() {
    // PC1: `args` may be absent, a name may not
    let body = json!([
        {"name": "Echo_Say"},
        {"text": "Hm"},
        {"id": "2", "name": "Echo_Say", "args": {"text": "hi"}},
        {"functionCall": {"name": "Echo_Say"}},
        {"args": {"text": "hi"}}
    ]);
    let (response, report) = call_ok(&FakeHost::default(), "gemini/call", &body);
    let texts: Vec<_> =
        read_results("gemini", &response).into_iter().map(|(_, text, _)| text).collect();
    let lacking = "Error: Invalid arguments for tool 'Echo_Say'. text: Is required. Please retry.";
    assert_eq!(texts, [lacking, "hi", lacking, "Error: The call names no function."]);
    assert_eq!(report["calls"].as_array().unwrap().len(), 4);
}

#[test]
fn finish_reasons_of_failed_calls() {
    // 5.3: the call is not repaired; the client gets the reason and advice
    for (reason, advice) in [
        ("MALFORMED_FUNCTION_CALL", "it wrote a malformed call. Ask it again"),
        (
            "UNEXPECTED_TOOL_CALL",
            "it called a tool that the request does not declare. Declare the tools, and ask it again",
        ),
        (
            "TOO_MANY_TOOL_CALLS",
            "it called tools too many times in a row. Ask it again with a smaller task",
        ),
        ("MALFORMED_RESPONSE", "it wrote a malformed response. Ask it again"),
    ] {
        let why = format!("The model ended with {reason}: {advice}");
        for (content, warnings) in [
            (Value::Null, json!(["There are no tool calls to run", why])),
            (json!({"parts": [{"functionCall": {"name": "No_Such"}}]}), json!([why])),
        ] {
            let body = json!({"candidates": [{"finishReason": reason, "content": content}]});
            let (_, report) = call_ok(&FakeHost::default(), "gemini/call", &body);
            assert_eq!(report["warnings"], warnings, "PC9 PC19 {body}");
        }
    }
}

#[test]
fn errors_name_what_was_expected() {
    let chat = "The body must be a chat completion (an object with choices), its assistant message (an object with role or tool_calls) or the array of its tool calls";
    let responses =
        "The body must be a response (an object with output) or the array of its output items";
    let message =
        "The body must be a message (an object with content) or the array of its content blocks";
    let gemini = "The body must be a response (an object with candidates), a candidate (with content), its content (with parts) or the array of its parts";
    let no_part = "[0] is neither a part, which has a member such as text or functionCall, nor a function call, which has a name";
    let no_second_part = "parts[1] is neither a part, which has a member such as text or functionCall, nor a function call, which has a name";
    for (address, body, expected) in [
        ("openai/call", json!("secret"), chat),
        ("openai/call", json!({}), chat),
        ("openai/call", json!({"role": "user", "content": "secret"}), chat),
        ("openai/call", json!({"choices": 1}), "choices must be an array"),
        ("openai/call", json!({"choices": [1]}), "choices[0] must be an object"),
        (
            "openai/call",
            json!({"choices": [{"delta": {}}]}),
            "choices[0].message is missing; join the chunks of a streamed response first",
        ),
        (
            "openai/call",
            json!({"choices": [{"message": {"tool_calls": {}}}]}),
            "choices[0].message.tool_calls must be an array",
        ),
        (
            "openai/call",
            json!({"tool_calls": [{"id": "c", "type": "function", "function": "secret"}]}),
            "tool_calls[0].function must be an object",
        ),
        ("openai/call", json!([{"id": "c", "type": "custom"}, "secret"]), "[1] must be an object"),
        (
            "openai/call",
            json!([{"role": "assistant", "tool_calls": []}]),
            "[0] is not a tool call, which has the members id, type and function",
        ),
        ("openai-responses/call", json!(1), responses),
        ("openai-responses/call", json!({"choices": []}), responses),
        ("openai-responses/call", json!({"output": "secret"}), "output must be an array"),
        ("openai-responses/call", json!({"output": [[]]}), "output[0] must be an object"),
        ("openai-responses/call", json!([{}]), "[0] is not an output item, which has a type"),
        ("anthropic/call", Value::Null, message),
        ("anthropic/call", json!({"messages": []}), message),
        ("anthropic/call", json!({"content": 1}), "content must be an array of blocks"),
        ("anthropic/call", json!({"content": ["secret"]}), "content[0] must be an object"),
        (
            "anthropic/call",
            json!([{"role": "assistant", "content": []}]),
            "[0] is not a content block, which has a type",
        ),
        ("gemini/call", json!(true), gemini),
        ("gemini/call", json!({"contents": []}), gemini),
        ("gemini/call", json!({"candidates": {}}), "candidates must be an array"),
        ("gemini/call", json!({"candidates": ["secret"]}), "candidates[0] must be an object"),
        (
            "gemini/call",
            json!({"candidates": [{"content": []}]}),
            "candidates[0].content must be an object",
        ),
        (
            "gemini/call",
            json!({"candidates": [{"content": {"parts": 1}}]}),
            "candidates[0].content.parts must be an array",
        ),
        ("gemini/call", json!({"content": {"parts": [1]}}), "content.parts[0] must be an object"),
        ("gemini/call", json!([{"functionCall": 1}]), "[0].functionCall must be an object"),
        (
            "gemini/call",
            json!([{"candidates": []}]),
            "[0] is not a part; for a streamed response or a conversation, post the model's last content",
        ),
        (
            "gemini/call",
            json!([{"role": "model", "parts": []}]),
            "[0] is not a part; for a streamed response or a conversation, post the model's last content",
        ),
        ("gemini/call", json!([{}]), no_part),
        ("gemini/call", json!([{"text": null}]), no_part),
        ("gemini/call", json!([{"id": "secret", "arguments": {}}]), no_part),
        ("gemini/call", json!({"parts": [{"text": "hi"}, {"functionCal": {}}]}), no_second_part),
        (
            "openai/call?validate_tool_arguments=yes",
            json!([]),
            "validate_tool_arguments must be true or false",
        ),
        ("gemini/call?unknown=", json!([]), "unknown must be leave or answer"),
        (
            "anthropic/call?validate_tool_argument=true",
            json!([]),
            "\"validate_tool_argument\" is not a parameter; the parameters are validate_tool_arguments, unknown",
        ),
        (
            "openai-responses/call?unknown=leave&unknown=answer",
            json!([]),
            "unknown appears more than once",
        ),
    ] {
        let expected = json!({"error": {"code": "invalid_request", "type": "invalid_request_error", "message": expected}});
        assert_eq!(post(&FakeHost::default(), address, &body), (400, expected), "{address} {body}");
    }
}

#[test]
fn calls_that_are_left_to_the_client() {
    // PC8
    let unhandled = |names: &str| format!("{UNHANDLED}{names}");
    let hosted = |names: &str| {
        format!("The provider runs these itself, so they have no result here: {names}")
    };
    for (address, body, warnings) in [
        (
            "openai/call",
            json!([{"id": "d", "type": "custom", "custom": {"name": "x", "input": "y"}}]),
            vec![unhandled("custom")],
        ),
        (
            "openai/call",
            json!({"role": "assistant", "function_call": {"name": "x", "arguments": ""}}),
            vec![unhandled("function_call")],
        ),
        (
            "openai-responses/call",
            json!([{"type": "custom_tool_call"}, {"type": "mcp_approval_request"}, {"type": "custom_tool_call"}]),
            vec![unhandled("custom_tool_call, mcp_approval_request")],
        ),
        (
            "openai-responses/call",
            json!([{"type": "mcp_call"}, {"type": "web_search_call"}]),
            vec![hosted("mcp_call, web_search_call"), "There are no tool calls to run".to_owned()],
        ),
        (
            "openai-responses/call",
            json!([{"type": "tool_search_call", "execution": "server"},
                {"type": "shell_call", "environment": {"type": "container_reference"}}]),
            vec![
                hosted("tool_search_call, shell_call"),
                "There are no tool calls to run".to_owned(),
            ],
        ),
        (
            "openai-responses/call",
            json!([{"type": "tool_search_call", "execution": "client"},
                {"type": "shell_call", "environment": {"type": "local"}}, {"type": "shell_call"}]),
            vec![unhandled("tool_search_call, shell_call")],
        ),
        (
            "anthropic/call",
            json!([{"type": "server_tool_use", "name": "web_search"}, {"type": "mcp_tool_use"}]),
            vec![
                hosted("server_tool_use, mcp_tool_use"),
                "There are no tool calls to run".to_owned(),
            ],
        ),
        (
            "gemini/call",
            json!([{"executableCode": {"code": "1"}}, {"tool_call": {"toolType": "x"}}]),
            vec![hosted("executableCode, toolCall"), "There are no tool calls to run".to_owned()],
        ),
        (
            "openai/call?unknown=leave",
            calls("openai", &[(Some("d"), "No_Such", "{"), (Some("e"), "Other", "{}")]),
            vec![unhandled("No_Such, Other")],
        ),
        (
            "openai-responses/call?unknown=leave",
            calls("openai-responses", &[(Some("d"), "No_Such", "{")]),
            vec![unhandled("No_Such")],
        ),
        (
            "anthropic/call?unknown=leave",
            calls("anthropic", &[(Some("d"), "No_Such", "{}")]),
            vec![unhandled("No_Such")],
        ),
        (
            "gemini/call?validate_tool_arguments=false&unknown=leave",
            calls("gemini", &[(Some("d"), "No_Such", "{}")]),
            vec![unhandled("No_Such")],
        ),
    ] {
        let (response, report) = call_ok(&FakeHost::default(), address, &body);
        let lists: Vec<_> = response.as_object().unwrap().values().collect();
        assert_eq!(lists, [&json!([])], "{address} {body}");
        assert_eq!(report, json!({"calls": [], "warnings": warnings}), "{address} {body}");
    }
    let many: Vec<_> = (0..20).map(|n| json!({"type": format!("kind{n}")})).collect();
    let (_, report) = call_ok(&FakeHost::default(), "openai/call", &json!(many));
    let listed = unhandled("kind0, kind1, kind2, kind3, kind4, kind5, kind6, kind7, …");
    assert_eq!(report["warnings"], json!([listed]));
}

#[test]
fn with_unknown_leave_the_other_calls_run() {
    // PC8: this includes tools that the caller may not run, and unknown versions
    let host = || FakeHost::with(&[("TOOL_ALLOWLIST", "Echo.Say")]);
    for provider in PROVIDERS {
        let sent = calls(
            provider,
            &[
                (Some("1"), "No_Such", "{}"),
                (Some("2"), "Echo_Say", r#"{"text":"hi"}"#),
                (Some("3"), "Echo_Broken", "{}"),
                (Some("4"), "Echo.Say@7", "{}"),
                (Some("5"), "", "{}"),
            ],
        );
        let (response, report) = call_ok(&host(), &format!("{provider}/call?unknown=leave"), &sent);
        let ids: Vec<_> =
            read_results(provider, &response).into_iter().filter_map(|(id, ..)| id).collect();
        assert_eq!(ids, ["2", "3", "4", "5"], "{provider}");
        assert_eq!(report["warnings"], json!([format!("{UNHANDLED}No_Such")]), "{provider}");
        let (response, _) = call_ok(&host(), &format!("{provider}/call?unknown=answer"), &sent);
        assert_eq!(read_results(provider, &response).len(), 5, "{provider}");
    }
}
