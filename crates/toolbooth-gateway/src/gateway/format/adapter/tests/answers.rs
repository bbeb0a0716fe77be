//! Whole answers.

use crate::gateway::answer::completion::{Completion, CompletionInfo, UpstreamError};
use crate::gateway::format::adapter::tests::*;
use crate::gateway::format::chat_completions::front::ChatCompletions;
use crate::gateway::format::front::Answer;
use crate::gateway::format::front::Front;
use crate::gateway::relay::report::Report;

fn decoded(provider: Format, body: &Value) -> Completion {
    provider.decode(body.to_string().as_bytes(), ids(), DecodeOptions::default()).unwrap()
}

fn encoded(completion: &Completion) -> Value {
    let info = CompletionInfo { id: "id".to_owned(), model: "p/m".to_owned(), created: 9 };
    let (request, report) = (request(json!({})), Report::default());
    let answer =
        Answer { request: &request, completion, info: &info, earlier: &[], report: &report };
    let mut body: Value = serde_json::from_slice(&ChatCompletions.encode(&answer)).unwrap();
    let own = body.as_object_mut().unwrap().remove("_2api");
    assert_eq!(own.unwrap()["rounds"], 0, "only ours");
    body
}

fn anthropic(content: Value, reason: &str) -> Value {
    json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "claude", "content": content,
        "stop_reason": reason, "usage": {"input_tokens": 3, "cache_creation_input_tokens": 5,
        "cache_read_input_tokens": 7, "output_tokens": 11}})
}

fn gemini(parts: Value, reason: &str) -> Value {
    json!({"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": reason}],
        "modelVersion": "gemini", "responseId": "r1", "usageMetadata": {"promptTokenCount": 2,
        "candidatesTokenCount": 3, "thoughtsTokenCount": 4, "totalTokenCount": 9, "cachedContentTokenCount": 1}})
}

fn openai(message: Value, reason: &str) -> Value {
    json!({"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "gpt", "system_fingerprint": "fp",
        "choices": [{"index": 0, "message": message, "finish_reason": reason, "logprobs": {"content": []}}],
        "usage": {"prompt_tokens": 2, "completion_tokens": 7, "total_tokens": 9,
            "prompt_tokens_details": {"cached_tokens": 1, "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 4}}})
}

/// 2.2, 3.2, 5.5: calls of each provider.
#[test]
fn calls_have_the_same_form() {
    let bodies = [
        (
            Format::OpenAi,
            openai(
                json!({"role": "assistant", "content": "T", "tool_calls": [call("i1", "a", "{\"x\": 1}"), call("i2", "b", "")]}),
                "tool_calls",
            ),
        ),
        (
            Format::Anthropic,
            anthropic(
                json!([{"type": "text", "text": "T"}, {"type": "tool_use", "id": "i1", "name": "a", "input": {"x": 1}}, {"type": "tool_use", "id": "i2", "name": "b", "input": {}}]),
                "tool_use",
            ),
        ),
        (
            Format::Gemini,
            gemini(
                json!([{"text": "T"}, {"functionCall": {"id": "i1", "name": "a", "args": {"x": 1}}}, {"functionCall": {"id": "i2", "name": "b"}}]),
                "STOP",
            ),
        ),
    ];
    for (provider, body) in bodies {
        let body = encoded(&decoded(provider, &body));
        let choice = &body["choices"][0];
        assert_eq!(choice["finish_reason"], "tool_calls", "{provider:?}");
        assert_eq!(choice["message"]["content"], "T");
        let arguments = if provider == Format::OpenAi { "{\"x\": 1}" } else { "{\"x\":1}" };
        let mut expected = [call("i1", "a", arguments), call("i2", "b", "{}")];
        for (index, call) in expected.iter_mut().enumerate() {
            call["index"] = json!(index);
        }
        assert_eq!(choice["message"]["tool_calls"], json!(expected), "{provider:?}");
        assert_eq!(
            (&body["id"], &body["model"], &body["created"]),
            (&json!("id"), &json!("p/m"), &json!(9))
        );
    }
}

/// 3.2: arguments have the order of members and the form of numbers that the provider wrote, whole and streamed.
#[test]
fn arguments_are_as_the_provider_wrote_them() {
    const WRITTEN: &str =
        r#"{"z":1e3,"a":[1.0,-0,12345678901234567890.5],"m":{"b":"x \\\" y","a":null}}"#;
    // The same with white space.
    let wide = WRITTEN.replace(":", " : ").replace(",", ",\n ");
    let quoted = json!(WRITTEN);
    let call = |function: &str| {
        format!(
            r#"{{"index":0,"id":"i","type":"function","function":{{"name":"f","arguments":{function}}}}}"#
        )
    };
    let gemini = |member: &str| {
        format!(
            r#"{{"candidates":[{{"content":{{"parts":[{{"text":"T"}},{{"{member}":{{"name":"g","args":null}}}},{{"{member}":{{"name":"f","args":{wide}}}}}]}},"finishReason":"STOP"}}]}}"#
        )
    };
    let openai = |member: &str, calls: &str| {
        format!(
            r#"{{"choices":[{{"index":0,"{member}":{{"tool_calls":[{calls}]}},"finish_reason":"tool_calls"}}]}}"#
        )
    };
    let other = call("{}").replace("\"f\"", "\"g\"").replace("\"i\"", "\"h\"");
    let second = call(&wide).replace("\"index\":0", "\"index\":1");
    for (provider, body, stream) in [
        (
            Format::OpenAi,
            openai("message", &call(&quoted.to_string())),
            format!("data: {}\n\ndata: [DONE]\n\n", openai("delta", &call(&quoted.to_string()))),
        ),
        // Some providers write an object.
        (
            Format::OpenAiCompatible,
            openai("message", &format!("{other},{}", call(&wide))),
            format!(
                "data: {}\n\ndata: [DONE]\n\n",
                openai("delta", &format!("{other},{second}")).replace('\n', "")
            ),
        ),
        (
            Format::Anthropic,
            format!(r#"{{"content":[{{"type":"text","text":"T"}},{{"type":"tool_use","id":"i","name":"f","input":{wide}}}],"stop_reason":"tool_use"}}"#),
            [
                format!(r#"{{"type":"content_block_start","index":0,"content_block":{{"type":"tool_use","id":"i","name":"f","input":{wide}}}}}"#),
                r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"}}"#.to_owned(),
                r#"{"type":"message_stop"}"#.to_owned(),
            ]
            .map(|data| format!("data: {}\n\n", data.replace('\n', "")))
            .concat(),
        ),
        (
            Format::Gemini,
            gemini("functionCall"),
            format!("data: {}\n\n", gemini("function_call").replace('\n', "")),
        ),
    ] {
        let whole = provider.decode(body.as_bytes(), ids(), DecodeOptions::default()).unwrap();
        let (_, error, decoder) = crate::gateway::format::adapter::tests::streams::decoded(provider, &[stream.as_bytes()]);
        assert_eq!(error, None, "{provider:?}");
        for completion in [whole, decoder.into_completion()] {
            let calls = &completion.message.tool_calls;
            let call = calls.iter().find(|call| call.name == "f").unwrap();
            assert_eq!(call.arguments.text(), WRITTEN, "{provider:?}");
        }
    }
    // Every provider gets them back like that.
    let messages = json!([
        {"role": "user", "content": "U"},
        {"role": "assistant", "tool_calls": [crate::gateway::format::adapter::tests::call("c", "f", WRITTEN)]},
        {"role": "tool", "tool_call_id": "c", "content": "R"},
    ]);
    for (provider, expected) in [
        (Format::OpenAi, quoted.to_string()),
        (Format::Anthropic, WRITTEN.to_owned()),
        (Format::Gemini, WRITTEN.to_owned()),
    ] {
        let request = request(json!({"messages": messages, "tools": [tool("f")]}));
        let body = provider.translate(&request, &options(provider), &Notes::default()).unwrap();
        assert!(String::from_utf8(body).unwrap().contains(&expected), "{provider:?}");
    }
}

/// Case 10: the counts of each provider.
#[test]
fn case_10_usage() {
    for (provider, body, expected) in [
        (Format::OpenAi, openai(json!({"content": "x"}), "stop"), [2, 7, 9, 1, 4]),
        (Format::Anthropic, anthropic(json!([]), "end_turn"), [15, 11, 26, 7, 0]),
        (Format::Gemini, gemini(json!([{"text": "x"}]), "STOP"), [2, 7, 9, 1, 4]),
    ] {
        let completion = decoded(provider, &body);
        let body = encoded(&completion);
        let usage = &body["usage"];
        let found = [
            &usage["prompt_tokens"],
            &usage["completion_tokens"],
            &usage["total_tokens"],
            &usage["prompt_tokens_details"]["cached_tokens"],
            &usage["completion_tokens_details"]["reasoning_tokens"],
        ];
        assert_eq!(found.map(|count| count.as_u64().unwrap()), expected, "{provider:?}");
        let mut sum = completion.usage.clone().unwrap();
        sum.add(&completion.usage.unwrap());
        assert_eq!((sum.total_tokens, sum.extra), (2 * expected[2], None));
    }
    let audio = encoded(&decoded(Format::OpenAi, &openai(json!({"content": "x"}), "stop")));
    assert_eq!(audio["usage"]["prompt_tokens_details"]["audio_tokens"], 0, "further counts stay");
}

/// Cases 3 and 4: why the model stopped, with the number of warnings.
#[test]
fn case_03_and_04_finish_reasons() {
    for (reason, expected, warnings) in [
        ("end_turn", "stop", 0),
        ("stop_sequence", "stop", 0),
        ("max_tokens", "length", 0),
        ("model_context_window_exceeded", "length", 0),
        ("refusal", "content_filter", 0),
        ("pause_turn", "length", 1),
        ("new_reason", "stop", 1),
    ] {
        let content = json!([{"type": "text", "text": "x"}]);
        let completion = decoded(Format::Anthropic, &anthropic(content, reason));
        assert_eq!(completion.finish_reason.as_str(), expected, "{reason}");
        assert_eq!(completion.warnings.len(), warnings, "{reason}");
    }
    for (reason, expected, warnings) in [
        ("STOP", "stop", 0),
        ("MAX_TOKENS", "length", 0),
        ("SAFETY", "content_filter", 1),
        ("RECITATION", "content_filter", 1),
        ("MALFORMED_FUNCTION_CALL", "length", 1),
        ("OTHER", "length", 1),
        ("NEW", "length", 1),
    ] {
        let completion = decoded(Format::Gemini, &gemini(json!([{"text": "x"}]), reason));
        assert_eq!(completion.finish_reason.as_str(), expected, "{reason}");
        assert_eq!(completion.warnings.len(), warnings, "{reason}");
    }
    for (reason, expected, warnings) in [
        ("stop", "stop", 0),
        ("length", "length", 0),
        ("model_length", "length", 0),
        ("tool_calls", "stop", 0),
        ("eos", "stop", 1),
    ] {
        let completion =
            decoded(Format::OpenAiCompatible, &openai(json!({"content": "x"}), reason));
        assert_eq!(completion.finish_reason.as_str(), expected, "{reason}");
        assert_eq!(completion.warnings.len(), warnings, "{reason}");
    }
    // OpenAI says stop if the call was forced.
    let body = openai(json!({"content": null, "tool_calls": [call("i", "a", "{}")]}), "stop");
    assert_eq!(decoded(Format::OpenAi, &body).finish_reason.as_str(), "tool_calls");
    let blocked = decoded(Format::Gemini, &json!({"promptFeedback": {"blockReason": "SAFETY"}}));
    assert_eq!((blocked.finish_reason.as_str(), blocked.warnings.len()), ("content_filter", 1));
}

/// Cases 8 and 18: calls of Gemini without an id, or with one that not every provider accepts.
#[test]
fn case_08_and_18_ids_of_gemini() {
    let call = |id: &str| json!({"functionCall": {"id": id, "name": "a", "args": {}}});
    let parts = json!([{"functionCall": {"name": "a"}}, {"functionCall": {"name": "a"}}, call("ok"), call("ok"), call("x".repeat(41).as_str()), call("a.b")]);
    let completion = decoded(Format::Gemini, &gemini(parts, "STOP"));
    let mut ids: Vec<&str> = completion.message.tool_calls.iter().map(|call| &*call.id).collect();
    assert!(ids.iter().all(|id| crate::gateway::ids::is_portable(id)), "{ids:?}");
    assert_eq!(ids[2], "ok");
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 6);
}

/// Cases 5 and 6: signatures and thinking are carried in `extra_content`.
#[test]
fn case_05_and_06_extra_content() {
    let thinking = json!({"type": "thinking", "thinking": "t", "signature": "sig"});
    let redacted = json!({"type": "redacted_thinking", "data": "x"});
    let body = anthropic(json!([thinking, redacted, {"type": "text", "text": "T"}]), "end_turn");
    let message = &encoded(&decoded(Format::Anthropic, &body))["choices"][0]["message"];
    assert_eq!(
        message["extra_content"]["anthropic"]["thinking_blocks"],
        json!([thinking, redacted])
    );
    assert_eq!(message["reasoning_content"], "t");
    let body = gemini(
        json!([
            {"text": "t", "thought": true},
            {"functionCall": {"name": "a", "args": {}}, "thoughtSignature": "S1"},
            {"text": "", "thoughtSignature": "S2"},
        ]),
        "STOP",
    );
    let message = &encoded(&decoded(Format::Gemini, &body))["choices"][0]["message"];
    assert_eq!(message["tool_calls"][0]["extra_content"]["google"]["thought_signature"], "S1");
    assert_eq!(message["extra_content"]["google"]["thought_signature"], "S2");
    assert_eq!((&message["reasoning_content"], &message["content"]), (&json!("t"), &Value::Null));
}

/// Members that the gateway does not interpret stay; OpenAI's required members are always there.
#[test]
fn openai_answers_keep_their_members() {
    let message = json!({"role": "assistant", "content": "x", "annotations": [], "reasoning": "r"});
    let mut body = openai(message, "stop");
    body["_2api"] = json!({"forged": true});
    let found = encoded(&decoded(Format::OpenAi, &body));
    assert_eq!(found["system_fingerprint"], "fp");
    assert_eq!(found["choices"][0]["logprobs"], json!({"content": []}));
    assert_eq!(
        found["choices"][0]["message"],
        json!({"role": "assistant", "content": "x", "refusal": null, "annotations": [], "reasoning": "r"})
    );
    assert_eq!(found.get("_2api"), None, "only the gateway adds this member");
    let custom = json!({"id": "i", "type": "custom", "custom": {"name": "c", "input": ""}});
    let found =
        encoded(&decoded(Format::OpenAi, &openai(json!({"tool_calls": [custom]}), "tool_calls")));
    let mut expected = custom;
    expected["index"] = json!(0);
    assert_eq!(found["choices"][0]["message"]["tool_calls"], json!([expected]));
}

/// Case 11: errors in answers, and answers in another format.
#[test]
fn case_11_errors_and_malformed_answers() {
    for (provider, body, status, message) in [
        (
            Format::OpenAiCompatible,
            json!({"error": {"code": 503, "message": "m"}, "choices": []}),
            503,
            "m",
        ),
        (Format::OpenAi, json!({"error": "text"}), 500, "text"),
        (
            Format::Anthropic,
            json!({"type": "error", "error": {"type": "overloaded_error", "message": "m"}}),
            529,
            "m",
        ),
        (
            Format::Gemini,
            json!({"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "m"}}),
            429,
            "m",
        ),
    ] {
        let expected = |status| UpstreamError::Reported { status, message: message.to_owned() };
        let text = body.to_string();
        assert_eq!(
            provider.decode(text.as_bytes(), ids(), DecodeOptions::default()).unwrap_err(),
            expected(status)
        );
        assert_eq!(decode_error(418, text.as_bytes()), expected(418));
    }
    // An answer that ended with an error is not complete.
    let with_error = json!({"message": {"content": "par"}, "error": {"code": 502, "message": "m"}});
    let ended = |word| openai(json!({"content": "par"}), word);
    for (body, status, message) in [
        (json!({"choices": [with_error]}), 502, "m"),
        (ended("error"), 500, "the answer ended with \"error\""),
        (
            ended("insufficient_system_resource"),
            500,
            "the answer ended with \"insufficient_system_resource\"",
        ),
    ] {
        let text = body.to_string();
        let error =
            Format::OpenAiCompatible.decode(text.as_bytes(), ids(), DecodeOptions::default());
        let expected = UpstreamError::Reported { status, message: message.to_owned() };
        assert_eq!(error.unwrap_err(), expected, "{body}");
    }
    let UpstreamError::Reported { message, .. } = decode_error(502, b"<html>") else { panic!() };
    assert_eq!(message, "The provider reported an error without a message");
    for (body, expected) in [
        (" upstream connect error\n", "upstream connect error"),
        ("error code: 1015", "error code: 1015"),
        ("{\"error\":", "The provider reported an error without a message"),
        ("", "The provider reported an error without a message"),
    ] {
        let error = decode_error(502, body.as_bytes());
        let UpstreamError::Reported { message, .. } = error else { panic!("{body}") };
        assert_eq!(message, expected, "{body}");
    }
    let list = br#"[{"error":{"code":400,"message":"m"}}]"#;
    let UpstreamError::Reported { message, .. } = decode_error(400, list) else { panic!() };
    assert_eq!(message, "m");
    let wrong_key =
        br#"{"error":{"code":400,"message":"m","details":[{"reason":"API_KEY_INVALID"}]}}"#;
    let UpstreamError::Reported { status, .. } = decode_error(400, wrong_key) else { panic!() };
    assert_eq!(status, 401);
    for provider in [Format::OpenAi, Format::Anthropic, Format::Gemini] {
        for body in ["", "<html>", "[]", "null", "1", "\"x\""] {
            let error =
                provider.decode(body.as_bytes(), ids(), DecodeOptions::default()).unwrap_err();
            assert!(matches!(error, UpstreamError::Malformed(_)), "{provider:?} {body}: {error:?}");
        }
    }
    for body in [
        json!({}),
        json!({"choices": []}),
        json!({"choices": [{}]}),
        json!({"choices": [{"message": {"tool_calls": [{"function": {}}]}}]}),
    ] {
        assert!(
            Format::OpenAi
                .decode(body.to_string().as_bytes(), ids(), DecodeOptions::default())
                .is_err(),
            "{body}"
        );
    }
}
