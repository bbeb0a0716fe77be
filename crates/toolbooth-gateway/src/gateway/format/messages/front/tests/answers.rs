//! Whole messages.

use crate::gateway::answer::completion::AssistantMessage;
use crate::gateway::answer::stream::DecodeOptions;
use crate::gateway::format::front::EarlierRound;
use crate::gateway::format::messages::front::tests::*;
use crate::gateway::relay::report::{RanCall, Report};

/// The message for an answer of a provider, to a request with these members.
fn encoded(
    format: Format,
    answer: &Value,
    members: Value,
    report: &Report,
    earlier: &[EarlierRound],
) -> Value {
    let completion =
        format.decode(answer.to_string().as_bytes(), ids(), DecodeOptions::default()).unwrap();
    let info = CompletionInfo { id: "c1".to_owned(), model: "p/m".to_owned(), created: 9 };
    let request = request(members);
    let answer =
        Answer { request: &request, completion: &completion, info: &info, earlier, report };
    let body = Messages { counts_only: false }.encode(&answer);
    let mut body: Value = serde_json::from_slice(&body).unwrap();
    assert!(body.as_object_mut().unwrap().remove("_2api").is_some());
    body
}

fn chat(message: Value, finish_reason: &str) -> Value {
    let usage = json!({
        "prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15, "prompt_tokens_details": {"cached_tokens": 4},
        "completion_tokens_details": {"reasoning_tokens": 2},
    });
    json!({"id": "c1", "model": "m", "choices": [{"index": 0, "message": message, "finish_reason": finish_reason}], "usage": usage})
}

#[test]
fn an_answer_in_full() {
    let call = |id: &str, name: &str, arguments: &str| json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}});
    let message = json!({
        "role": "assistant", "content": "T", "reasoning_content": "R",
        "tool_calls": [call("1", "a", r#"{"z":1e3,"a":[]}"#), call("2", "b", ""), call("3", "c", "{oops")],
    });
    let answer = chat(message, "tool_calls");
    let body = encoded(
        Format::OpenAi,
        &answer,
        json!({"thinking": {"type": "adaptive"}}),
        &Report::default(),
        &[],
    );
    let call = |id: &str, name: &str, input: Value| json!({"type": "tool_use", "id": id, "name": name, "input": input, "caller": {"type": "direct"}});
    assert_eq!(
        body,
        json!({
            "id": "msg_c1", "type": "message", "role": "assistant", "model": "p/m", "content": [
                {"type": "thinking", "thinking": "R", "signature": "toolbooth:reasoning"},
                {"type": "text", "text": "T", "citations": null},
                call("1", "a", json!({"z": 1e3, "a": []})), call("2", "b", json!({})),
                call("3", "c", json!({"malformed_arguments": "{oops"})),
            ],
            "stop_reason": "tool_use", "stop_sequence": null, "stop_details": null, "container": null, "diagnostics": null,
            "usage": {
                "input_tokens": 6, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 4, "output_tokens": 5,
                "output_tokens_details": {"thinking_tokens": 2}, "cache_creation": null, "inference_geo": null,
                "server_tool_use": null, "service_tier": null, "speed": null,
            },
        })
    );
    // Without being asked for, reasoning would be in the place of the text that simple clients read.
    for members in [
        json!({}),
        json!({"thinking": {"type": "disabled"}}),
        json!({"thinking": {"type": "enabled", "budget_tokens": 9, "display": "omitted"}}),
    ] {
        let body = encoded(Format::OpenAi, &answer, members, &Report::default(), &[]);
        assert_eq!(body["content"][0]["type"], "text");
    }
}

#[test]
fn reasons_to_stop() {
    let openai = |word: &str, refusal: Value| {
        chat(json!({"role": "assistant", "content": null, "refusal": refusal}), word)
    };
    let gemini = |word: &str| json!({"candidates": [{"content": {"parts": [{"text": "x"}]}, "finishReason": word}]});
    for (format, answer, expected) in [
        (Format::OpenAi, openai("stop", Value::Null), "end_turn"),
        (Format::OpenAi, openai("length", Value::Null), "max_tokens"),
        (Format::OpenAi, openai("content_filter", Value::Null), "refusal"),
        (Format::OpenAi, openai("stop", json!("no")), "refusal"),
        (Format::Gemini, gemini("STOP"), "end_turn"),
        (Format::Gemini, gemini("MAX_TOKENS"), "max_tokens"),
        (Format::Gemini, gemini("SAFETY"), "refusal"),
    ] {
        let body = encoded(format, &answer, json!({}), &Report::default(), &[]);
        assert_eq!(body["stop_reason"], expected, "{answer}");
    }
    let anthropic = |word: &str| json!({"content": [{"type": "text", "text": "x"}], "stop_reason": word, "stop_sequence": "END"});
    for (word, expected) in [("stop_sequence", json!("END")), ("max_tokens", Value::Null)] {
        let answer = anthropic(word);
        let body = encoded(Format::Anthropic, &answer, json!({}), &Report::default(), &[]);
        assert_eq!((&body["stop_reason"], &body["stop_sequence"]), (&json!(word), &expected));
    }
}

/// Signatures that a provider must get back, and Anthropic's thinking if its answer was read.
#[test]
fn what_must_come_back() {
    let part = json!({"functionCall": {"name": "a", "args": {}}, "thoughtSignature": "S"});
    let answer = json!({"candidates": [{"content": {"parts": [part]}, "finishReason": "STOP"}]});
    let body = encoded(Format::Gemini, &answer, json!({}), &Report::default(), &[]);
    let block = json!({"type": "redacted_thinking", "data": r#"toolbooth:{"google":{"thought_signature":"S"}}"#});
    assert_eq!((&body["content"][0], &body["content"][1]["type"]), (&block, &json!("tool_use")));
    let thoughts = [
        json!({"type": "thinking", "thinking": "T", "signature": "U2ln"}),
        json!({"type": "redacted_thinking", "data": "ZA=="}),
    ];
    let answer = json!({"id": "msg_1", "content": [thoughts[0], thoughts[1], {"type": "text", "text": "x"}], "stop_reason": "end_turn"});
    let body = encoded(Format::Anthropic, &answer, json!({}), &Report::default(), &[]);
    assert_eq!(body["content"].as_array().unwrap()[..2], thoughts);
}

#[test]
fn calls_that_the_gateway_ran() {
    let ran = |id: &str, error: Option<&str>| RanCall {
        id: id.to_owned(),
        tool: "N".to_owned(),
        called: "N".to_owned(),
        arguments: r#"{"x":1}"#.to_owned(),
        output: format!("r{id}"),
        ms: 1,
        error: error.map(str::to_owned),
    };
    let report = Report {
        ran: vec![ran("1", None), ran("2", Some("bad")), ran("3", None)],
        ..Report::default()
    };
    let said = |content: Option<&str>, reasoning: Option<&str>| AssistantMessage {
        content: content.map(str::to_owned),
        reasoning: reasoning.map(str::to_owned),
        ..AssistantMessage::default()
    };
    let earlier = [
        EarlierRound { message: said(Some("A"), Some("R")), ran: 2 },
        EarlierRound { message: said(None, None), ran: 3 },
    ];
    let answer =
        chat(json!({"role": "assistant", "content": "B", "reasoning_content": "S"}), "stop");
    let thinking = json!({"thinking": {"type": "adaptive"}});
    let body = encoded(Format::OpenAi, &answer, thinking, &report, &earlier);
    let call = |id: &str| json!({"type": "mcp_tool_use", "id": id, "name": "N", "server_name": "toolbooth", "input": {"x": 1}});
    let result = |id: &str, is_error: bool| json!({"type": "mcp_tool_result", "tool_use_id": id, "is_error": is_error, "content": [{"type": "text", "text": format!("r{id}"), "citations": null}]});
    let text = |text: &str| json!({"type": "text", "text": text, "citations": null});
    let thought = |text: &str| json!({"type": "thinking", "thinking": text, "signature": thinking::SIGNATURE});
    let expected = json!([
        thought("R"),
        text("A"),
        call("1"),
        call("2"),
        result("1", false),
        result("2", true),
        call("3"),
        result("3", false),
        thought("S"),
        text("B"),
    ]);
    assert_eq!(body["content"], expected);
    // The client sends the message back as it came.
    let next = request(
        json!({"messages": [{"role": "assistant", "content": body["content"]}, {"role": "user", "content": "y"}]}),
    );
    assert_eq!(next.history.len(), 7);
}

/// To Anthropic: the body as it came, with one more member.
#[test]
fn an_answer_that_passes() {
    let body = r#"{"id":"msg_1","type":"message","content":[{"type":"text","text":"x}"}],"stop_reason":"end_turn", "usage":{"x":1e3} }"#;
    let mut completion =
        Format::Anthropic.decode(body.as_bytes(), ids(), DecodeOptions::default()).unwrap();
    completion.native_body = Some(body.as_bytes().to_vec());
    let (request, info, report) =
        (request(json!({})), CompletionInfo::default(), Report::default());
    let answer = Answer {
        request: &request,
        completion: &completion,
        info: &info,
        earlier: &[],
        report: &report,
    };
    let encoded = String::from_utf8(Messages { counts_only: false }.encode(&answer)).unwrap();
    let (before, own) = encoded.split_once(r#","_2api":{"#).unwrap();
    assert_eq!(format!("{before}}}"), body);
    assert!(own.ends_with("}}"), "{own}");
}
