//! How answers end: words of other formats, failures, and answers that are empty without a reason of their own.

use crate::gateway::answer::completion::UpstreamError;
use crate::gateway::answer::stream::StreamEvent;
use crate::gateway::format::adapter::tests::recorded::{ANTHROPIC, GEMINI, OPENAI, RESPONSES};
use crate::gateway::format::adapter::tests::streams::{chunks, decoded, joined};
use crate::gateway::format::adapter::tests::*;

fn openai(message: Value, reason: Value) -> (String, String) {
    let choice = |name: &str| json!({"index": 0, name: message, "finish_reason": reason});
    let body = json!({"id": "i", "choices": [choice("message")]}).to_string();
    let stream =
        format!("data: {}\n\ndata: [DONE]\n\n", json!({"id": "i", "choices": [choice("delta")]}));
    (body, stream)
}

fn anthropic(content: Value, reason: &str) -> (String, String) {
    let body = json!({"id": "m", "content": content, "stop_reason": reason}).to_string();
    let blocks = content.as_array().unwrap().iter().enumerate().flat_map(|(index, block)| {
        [
            json!({"type": "content_block_start", "index": index, "content_block": block}),
            json!({"type": "content_block_stop", "index": index}),
        ]
    });
    let end = [
        json!({"type": "message_delta", "delta": {"stop_reason": reason}}),
        json!({"type": "message_stop"}),
    ];
    (body, blocks.chain(end).map(|event| format!("data: {event}\n\n")).collect())
}

fn responses(output: Value, status: &str) -> (String, String) {
    let body = json!({"id": "r", "output": output, "status": status});
    let event = json!({"type": "response.completed", "response": body});
    (body.to_string(), format!("data: {event}\n\n"))
}

/// The reason of an answer, whole and streamed, or the status of its error.
fn ending(provider: Format, (body, stream): &(String, String)) -> Result<&'static str, u16> {
    let whole = provider.decode(body.as_bytes(), ids(), DecodeOptions::default());
    let whole = whole.map(|it| it.finish_reason.as_str());
    let (_, error, decoder) = decoded(provider, &[stream.as_bytes()]);
    let streamed = error.map_or_else(|| Ok(decoder.completion().finish_reason.as_str()), Err);
    assert_eq!(whole, streamed, "{body}");
    whole.map_err(|error| match error {
        UpstreamError::Reported { status, .. } | UpstreamError::NoAnswer { status, .. } => status,
        error => panic!("{error:?}"),
    })
}

#[test]
fn an_empty_answer_without_a_usual_reason_is_an_error() {
    let text = json!({"role": "assistant", "content": "Hi"});
    let empty = json!({"role": "assistant", "content": ""});
    let thoughts = json!({"role": "assistant", "content": null, "reasoning_content": "Hm"});
    let call = json!({"tool_calls": [{"index": 0, "id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]});
    for (message, reason, expected) in [
        (&text, json!("stop"), Ok("stop")),
        (&text, json!("end_turn"), Ok("stop")),
        (&text, json!("STOP"), Ok("stop")),
        (&text, json!("max_tokens"), Ok("length")),
        (&text, json!("model_context_window_exceeded"), Ok("length")),
        (&text, json!("sensitive"), Ok("content_filter")),
        (&text, json!("new_reason"), Ok("stop")),
        (&text, json!(""), Ok("stop")),
        (&text, json!(null), Ok("stop")),
        (&call, json!("tool_use"), Ok("tool_calls")),
        (&call, json!("new_reason"), Ok("tool_calls")),
        (&call, json!(""), Ok("tool_calls")),
        (&empty, json!("stop"), Ok("stop")),
        (&empty, json!("length"), Ok("length")),
        (&empty, json!("content_filter"), Ok("content_filter")),
        (&empty, json!("new_reason"), Err(502)),
        (&empty, json!("tool_calls"), Err(502)),
        (&empty, json!(""), Err(502)),
        (&empty, json!(null), Err(502)),
        (&thoughts, json!("stop"), Ok("stop")),
        (&thoughts, json!("new_reason"), Err(502)),
        // A provider that has failed: what it has sent is not all.
        (&text, json!("network_error"), Err(500)),
        (&text, json!("network-error"), Err(500)),
        (&text, json!("insufficient_system_resource"), Err(500)),
        (&text, json!("abort"), Err(500)),
        (&call, json!("error"), Err(500)),
    ] {
        for provider in [Format::OpenAi, Format::OpenAiCompatible, Format::WorkersAi] {
            let found = ending(provider, &openai(message.clone(), reason.clone()));
            assert_eq!(found, expected, "{provider:?} {message} {reason}");
        }
    }
    let text = json!([{"type": "text", "text": "Hi"}]);
    let block = json!([{"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}]);
    let ghost = json!([{"type": "tool_use", "id": "g", "name": "", "input": {}}]);
    for (content, reason, expected) in [
        (&text, "new_reason", Ok("stop")),
        (&json!([]), "end_turn", Ok("stop")),
        (&json!([]), "max_tokens", Ok("length")),
        (&json!([]), "refusal", Ok("content_filter")),
        (&json!([]), "new_reason", Err(502)),
        (&json!([]), "tool_use", Err(502)),
        (&ghost, "tool_use", Err(502)),
        (&json!([]), "pause_turn", Err(502)),
        (&block, "pause_turn", Ok("length")),
    ] {
        let found = ending(Format::Anthropic, &anthropic(content.clone(), reason));
        assert_eq!(found, expected, "{content} {reason}");
    }
    let text =
        json!([{"type": "message", "id": "m", "content": [{"type": "output_text", "text": "Hi"}]}]);
    for (output, status, expected) in [
        (&text, "completed", Ok("stop")),
        (&text, "new_status", Ok("stop")),
        (&json!([]), "completed", Ok("stop")),
        (&json!([]), "incomplete", Ok("length")),
        (&json!([]), "new_status", Err(502)),
    ] {
        let found = ending(Format::Responses, &responses(output.clone(), status));
        assert_eq!(found, expected, "{output} {status}");
    }
}

/// A stream that has nothing but its end, and one that begins with it.
#[test]
fn streams_without_an_answer() {
    for text in [
        "data: [DONE]\n\n",
        "data: {\"choices\":[]}\n\ndata: [DONE]\n\n",
        "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\ndata: [DONE]\n\n",
    ] {
        let (events, error, _) = decoded(Format::OpenAiCompatible, &[text.as_bytes()]);
        assert!(matches!(error, Some(UpstreamError::NoAnswer { status: 502, .. })), "{text}");
        assert!(events.iter().all(|event| event.deltas.is_empty()));
    }
}

/// Errors that come as an answer with the status 200.
#[test]
fn errors_in_a_form_of_their_own() {
    let minimax =
        |code: u64| json!({"choices": null, "base_resp": {"status_code": code, "status_msg": "m"}});
    for (body, status) in [
        // langgenius/dify-official-plugins#2008
        (minimax(1002), 429),
        (minimax(1004), 401),
        (minimax(1008), 402),
        (minimax(2013), 400),
        (minimax(1000), 500),
        (
            json!({"object": "error", "message": "m", "type": "invalid_request_error", "code": 422}),
            422,
        ),
        (json!({"detail": "m"}), 500),
    ] {
        let expected = UpstreamError::Reported { status, message: "m".to_owned() };
        let text = body.to_string();
        for provider in [Format::OpenAiCompatible, Format::WorkersAi] {
            let whole = provider.decode(text.as_bytes(), ids(), DecodeOptions::default());
            assert_eq!(whole.unwrap_err(), expected, "{body}");
            let (_, error, _) = decoded(provider, &[format!("data: {text}\n\n").as_bytes()]);
            assert_eq!(error, Some(expected.clone()), "{body}");
        }
    }
    let fine = json!({"choices": [{"message": {"content": "Hi"}, "finish_reason": "stop"}], "base_resp": {"status_code": 0}});
    let body = fine.to_string();
    assert!(
        Format::OpenAiCompatible.decode(body.as_bytes(), ids(), DecodeOptions::default()).is_ok()
    );
}

fn events(
    lines: &[&str],
) -> (Vec<StreamEvent>, Option<UpstreamError>, crate::gateway::answer::completion::Completion) {
    let text: String = lines.iter().map(|line| format!("{line}\n\n")).collect();
    let (events, error, decoder) = decoded(Format::OpenAiCompatible, &[text.as_bytes()]);
    (events, error, decoder.into_completion())
}

const HI: &str =
    r#"data: {"id":"i","choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":null}]}"#;
const STOP: &str = r#"data: {"id":"i","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;

/// Chunks that SDKs cannot read are left out or written anew.
#[test]
fn chunks_that_are_none() {
    for odd in [
        // omnigent-ai/omnigent#1474, Growth-Circle/cadis#2329
        "data:",
        "data: ",
        // mnfst/llm-gateway#2053
        "data: : OPENROUTER PROCESSING",
        // earendil-works/pi#2468, microsoft/autogen#7130
        "data: null",
        r#"data: {"type":"ping"}"#,
        r#"data: {"id":"i","choices":null}"#,
    ] {
        let (events, error, _) = events(&[odd, HI, odd, STOP, odd, "data: [DONE]"]);
        assert_eq!(error, None, "{odd}");
        let all = chunks(&events, false);
        assert_eq!(all.len(), 2, "{odd}");
        assert_eq!(joined(&all)["content"], "Hi", "{odd}");
    }
    for (odd, delta, finish_reason) in [
        // MiniMax-AI/MiniMax-M2.5#2
        (json!({"delta": {"role": "", "content": "Hi"}}), json!({"content": "Hi"}), Value::Null),
        // ollama/ollama#4357, sgl-project/sglang#3912, mudler/LocalAI#5102
        (
            json!({"delta": {"content": "Hi"}, "finish_reason": ""}),
            json!({"content": "Hi"}),
            Value::Null,
        ),
        // microsoft/agent-framework#5734, run-llama/LlamaIndexTS#2108
        (json!({"delta": null}), json!({}), Value::Null),
        (json!({"content_filter_offsets": {}}), json!({}), Value::Null),
        (
            json!({"message": {"role": "assistant", "content": "Hi"}}),
            json!({"role": "assistant", "content": "Hi"}),
            Value::Null,
        ),
        (
            json!({"delta": {"tool_calls": [null], "content": "Hi"}}),
            json!({"content": "Hi"}),
            Value::Null,
        ),
    ] {
        let mut choice = odd.clone();
        choice["index"] = json!(0);
        let chunk = format!("data: {}", json!({"id": "i", "choices": [choice]}));
        let (events, error, completion) = events(&[&chunk, STOP, "data: [DONE]"]);
        assert_eq!(error, None, "{odd}");
        let first = &chunks(&events, false)[0]["choices"][0];
        assert_eq!((&first["delta"], &first["finish_reason"]), (&delta, &finish_reason), "{odd}");
        let text = delta["content"].as_str();
        assert_eq!(completion.message.content.as_deref(), text, "{odd}");
    }
    // ENTERPILOT/GoModel#1068: the whole message again.
    let whole = r#"data: {"id":"i","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}"#;
    for lines in [&[HI, whole, "data: [DONE]"][..], &[whole, "data: [DONE]"]] {
        let (events, error, completion) = events(lines);
        assert_eq!(error, None);
        assert_eq!(joined(&chunks(&events, false))["content"], "Hi", "{lines:?}");
        assert_eq!(completion.message.content.as_deref(), Some("Hi"), "{lines:?}");
        assert_eq!(completion.usage.unwrap().total_tokens, 3);
    }
}

/// Signs of life mean nothing in any format.
#[test]
fn events_without_an_answer() {
    for (provider, text) in [
        (Format::OpenAi, OPENAI),
        (Format::Responses, RESPONSES),
        (Format::Anthropic, ANTHROPIC),
        (Format::Gemini, GEMINI),
    ] {
        let (expected, ..) = decoded(provider, &[text.as_bytes()]);
        // caozhiyuan/copilot-api#88, earendil-works/pi#2468, mnfst/llm-gateway#2053
        for odd in
            ["data:\n\n", "event: ping\ndata: \n\n", "data: null\n\n", "data: : PROCESSING\n\n"]
        {
            let text = odd.to_owned() + &text.replace("\n\n", &format!("\n\n{odd}"));
            let (events, error, _) = decoded(provider, &[text.as_bytes()]);
            assert_eq!((events, error), (expected.clone(), None), "{provider:?} {odd}");
        }
    }
}

/// The tokens, wherever they are.
#[test]
fn usage_in_each_place() {
    let usage = json!({"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3});
    let stop = |more: Value| {
        let mut chunk =
            json!({"id": "i", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]});
        for (name, value) in more.as_object().unwrap() {
            match name.as_str() {
                "choice" => chunk["choices"][0]["usage"] = value.clone(),
                name => chunk[name] = value.clone(),
            }
        }
        format!("data: {chunk}")
    };
    let alone = |more: &str| format!("data: {{\"id\":\"i\",{more}\"usage\":{usage}}}");
    let zero = format!(
        "data: {}",
        json!({"id": "i", "choices": [{"index": 0, "delta": {"content": "Hi"}}], "usage": {"total_tokens": 0}})
    );
    for lines in [
        vec![HI.to_owned(), stop(json!({"usage": usage}))],
        vec![HI.to_owned(), stop(json!({"usage": null})), alone("\"choices\":[],")],
        vec![HI.to_owned(), alone("\"choices\":[],"), stop(json!({}))],
        vec![HI.to_owned(), stop(json!({})), alone("")],
        vec![HI.to_owned(), stop(json!({})), alone("\"choices\":null,")],
        // BerriAI/litellm: Groq's place
        vec![HI.to_owned(), stop(json!({"x_groq": {"id": "r", "usage": usage}}))],
        // earendil-works/pi#2017
        vec![HI.to_owned(), stop(json!({"choice": usage}))],
        vec![zero.clone(), stop(json!({"usage": usage})), zero],
    ] {
        let mut lines: Vec<_> = lines.iter().map(String::as_str).collect();
        lines.push("data: [DONE]");
        let (events, error, completion) = events(&lines);
        assert_eq!(error, None, "{lines:?}");
        assert_eq!(completion.usage.unwrap().total_tokens, 3, "{lines:?}");
        let all = chunks(&events, true);
        let last = all.last().unwrap();
        assert_eq!(
            (&last["choices"], &last["usage"]["total_tokens"]),
            (&json!([]), &json!(3)),
            "{lines:?}"
        );
        assert_eq!(all.iter().filter(|chunk| chunk["usage"].is_object()).count(), 1, "{lines:?}");
    }
}
