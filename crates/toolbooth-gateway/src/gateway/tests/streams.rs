//! Streams: unchanged events, the end with `_2api`, limits, and streams that break off.

use crate::gateway::tests::*;
use toolbooth::testing::{BREAKS_OFF, CHUNK_END};

pub(super) fn chunk(delta: Value, finish_reason: Option<&str>) -> String {
    let choice = json!({"index": 0, "delta": delta, "finish_reason": finish_reason});
    let chunk = json!({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]});
    format!("data: {chunk}\n\n")
}

fn text(text: &str) -> String {
    chunk(json!({"content": text}), None)
}

/// A chunk with a call, or a part of its arguments.
pub(super) fn part(index: usize, name: Option<&str>, arguments: &str) -> String {
    let mut call = json!({"index": index, "function": {"arguments": arguments}});
    if let Some(name) = name {
        call["id"] = json!(format!("call_{index}"));
        call["type"] = json!("function");
        call["function"]["name"] = json!(name);
    }
    chunk(json!({"tool_calls": [call]}), None)
}

const USAGE: &str = "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":2,\"total_tokens\":5}}\n\n";
const DONE: &str = "data: [DONE]\n\n";

pub(super) fn stream(parts: &[&str]) -> Result<HttpResponse, HttpError> {
    let separator = String::from(char::from(CHUNK_END));
    answer(200, parts.join(&separator))
}

#[test]
fn events_are_forwarded_as_they_are() {
    let odd = "data:{ \"id\":\"c\", \"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"x_more\":1, \"choices\":[{\"index\":0,\"delta\":{\"content\":\"b\"},\"finish_reason\":null}]}\n\n";
    let (first, last) = (text("a"), chunk(json!({}), Some("stop")));
    for include_usage in [false, true] {
        let body =
            chat(json!({"stream": true, "stream_options": {"include_usage": include_usage}}));
        let reply = TestGateway::new().ask(vec![stream(&[&first, odd, &last, USAGE, DONE])], &body);
        assert_eq!(reply.header("content-type"), Some("text/event-stream"));
        assert!(reply.text.starts_with(&format!("{first}{odd}")), "{}", reply.text);
        assert!(reply.text.ends_with(DONE), "{}", reply.text);
        assert_eq!(reply.text.contains(USAGE), include_usage, "{}", reply.text);
        let events = reply.events();
        let finished: Vec<_> =
            events.iter().filter(|it| it["choices"][0]["finish_reason"].is_string()).collect();
        assert_eq!(finished.len(), 1);
        assert_eq!(finished[0]["_2api"]["usage"]["input_tokens"], 3, "{finished:?}");
        assert!(reply.sent[0].body["stream_options"]["include_usage"].as_bool().unwrap());
        assert!(reply.log[0].contains("\"gen_ai.usage.output_tokens\":2"), "{:?}", reply.log);
    }
}

/// A byte order mark and line ends of any kind do not hide that the first event has data.
#[test]
fn the_first_event_has_the_role() {
    let role = chunk(json!({"role": "assistant", "content": ""}), None);
    let last = chunk(json!({}), Some("stop"));
    for first in [
        format!("\u{feff}{role}"),
        format!("event: message\r{}", role.replace('\n', "\r")),
        format!(": hello\r{}", role.replace('\n', "\r")),
        role.replace('\n', "\r\n"),
    ] {
        let parts = [&first, &text("a"), &last, DONE];
        let reply = TestGateway::new().ask(vec![stream(&parts)], &chat(json!({"stream": true})));
        assert!(reply.text.contains("\"role\":\"assistant\""), "{first:?} {}", reply.text);
        assert!(reply.text.contains("[DONE]"), "{first:?} {}", reply.text);
    }
}

#[test]
fn a_stream_that_breaks_off_never_ends_cleanly() {
    let (first, last) = (text("a"), chunk(json!({}), Some("stop")));
    let broken = str::from_utf8(BREAKS_OFF).unwrap();
    let error = "data: {\"error\":{\"message\":\"overloaded\",\"type\":\"overloaded_error\"}}\n\n";
    for (parts, status, code) in [
        (&[first.as_str()][..], 200, "provider_bad_response"),
        (&[&first, broken], 200, "provider_unreachable"),
        (&[&first, error], 200, "provider_overloaded"),
        (&[&first, "data: {\n\n"], 200, "provider_bad_response"),
        (&[&first, &last[..20]], 200, "provider_bad_response"),
        (&[broken], 502, "provider_unreachable"),
        (&[error], 503, "provider_overloaded"),
        (&[": ping\n\n", error], 503, "provider_overloaded"),
    ] {
        let reply = TestGateway::new().ask(vec![stream(parts)], &chat(json!({"stream": true})));
        assert_eq!(reply.status, status, "{parts:?} {}", reply.text);
        if status == 200 {
            let events = reply.events();
            assert_eq!(events[0]["choices"][0]["delta"]["content"], "a");
            assert_eq!(events.last().unwrap()["error"]["code"], code, "{}", reply.text);
            assert!(
                !reply.text.contains("[DONE]") && !reply.text.contains("\"stop\""),
                "{}",
                reply.text
            );
        } else {
            assert_eq!(reply.code(), code, "before the first event, the error has a status");
        }
    }
}

#[test]
fn another_model_answers_before_the_first_event_only() {
    let models = r#"{"both":{"targets":[{"provider":"openai","model":"a"},{"provider":"openai","model":"b"}]}}"#;
    let world = TestGateway::with(&[("MODELS", models)]);
    let body = chat(json!({"stream": true, "model": "both"}));
    let whole = || stream(&[&text("b"), &chunk(json!({}), Some("stop")), DONE]);
    for (first, models) in [
        (stream(&[": ping\n\n"]), 2),
        (answer(500, "{}"), 2),
        (Err(HttpError::Timeout), 2),
        (stream(&[&text("a")]), 1),
    ] {
        let reply = world.ask(vec![first, whole()], &body);
        assert_eq!(reply.sent.len(), models, "{}", reply.text);
        assert_eq!(reply.content(), if models == 2 { "b" } else { "a" });
    }
}

#[test]
fn limits_end_a_stream_with_an_error() {
    let last = chunk(json!({}), Some("tool_calls"));
    let stop = chunk(json!({}), Some("stop"));
    let many: String = (0..21).map(|at| part(at, Some("a"), "{}")).collect();
    let large: String = (0..8).map(|_| part(0, None, &"a".repeat(9_000))).collect();
    let begin = part(0, Some("a"), "");
    let wrong = part(0, None, "{\"city\":1}");
    let right = part(0, None, "{\"city\":\"x\"}");
    let validate = json!({"request_options": {"validate_tool_arguments": true}});
    let forced = json!({"tool_choice": "required"});
    let plain = json!({});
    for (options, parts, code) in [
        (&plain, &[many.as_str(), &last, DONE][..], "too_many_tool_calls"),
        (&plain, &[&begin, &large, &last, DONE], "arguments_too_large"),
        (&plain, &[&begin, &wrong, &last, DONE], ""),
        (&validate, &[&begin, &wrong, &last, DONE], "invalid_tool_arguments"),
        (&validate, &[&begin, &right, &last, DONE], ""),
        (&forced, &[&text("a"), &stop, DONE], "tool_call_required"),
    ] {
        let mut body = chat(json!({"stream": true, "tools": [tool("a")]}));
        for (name, value) in options.as_object().unwrap() {
            body[name] = value.clone();
        }
        let reply = TestGateway::new().ask(vec![stream(parts)], &body);
        let events = reply.events();
        let error = events.last().unwrap()["error"]["code"].as_str().unwrap_or_default().to_owned();
        assert_eq!(error, code, "{:.400}", reply.text);
        assert_eq!(reply.text.ends_with(DONE), code.is_empty());
        if options == &validate {
            assert_eq!(
                reply.text.contains("call_0"),
                code.is_empty(),
                "held back until it is valid"
            );
        }
        if code.is_empty() {
            let finish = events.iter().find(|it| it["_2api"].is_object()).unwrap();
            assert!(
                finish["_2api"]["warning"].is_string()
                    && finish["choices"][0]["finish_reason"] == "tool_calls"
            );
        }
    }
}

#[test]
fn the_end_of_an_answer_that_is_rejected_is_not_sent() {
    let end = [&text("b"), &chunk(json!({}), Some("stop")), DONE].concat();
    let body = chat(json!({"stream": true, "tools": [tool("a")], "tool_choice": "required"}));
    let reply = TestGateway::new().ask(vec![stream(&[&text("a"), &end])], &body);
    assert_eq!(reply.content(), "a", "{}", reply.text);
    assert_eq!(reply.events().last().unwrap()["error"]["code"], "tool_call_required");
}

#[test]
fn a_client_that_goes_ends_the_stream() {
    let parts = [&text("a"), &text("b"), &text("c"), &chunk(json!({}), Some("stop"))];
    let parts: Vec<_> = parts.iter().map(|part| part.as_str()).chain([DONE]).collect();
    let body = chat(json!({"stream": true}));
    let reply = TestGateway::new().ask_with(vec![stream(&parts)], &[JSON, LOCAL], &body, 2);
    assert_eq!(reply.content(), "ab");
    assert!(reply.log[0].contains("\"http.response.status_code\":499"), "{:?}", reply.log);
}

#[test]
fn tokens_count_although_the_client_goes_at_the_last_write() {
    let usage = r#"{"id":"x","choices":[],"usage":{"prompt_tokens":10,"completion_tokens":2,"total_tokens":12}}"#;
    let whole =
        [&text("a"), &chunk(json!({}), Some("stop")), &format!("data: {usage}\n\n"), DONE].concat();
    let body = chat(json!({"stream": true}));
    let reply = TestGateway::new().ask_with(vec![stream(&[&whole])], &[JSON, LOCAL], &body, 0);
    assert_eq!(reply.content(), "");
    for expected in ["\"http.response.status_code\":499", "\"gen_ai.usage.input_tokens\":10"] {
        assert!(reply.log[0].contains(expected), "{:?}", reply.log);
    }
}

#[test]
fn streams_of_other_formats_become_chunks() {
    let events = [
        r#"{"type":"message_start","message":{"id":"msg","model":"c","usage":{"input_tokens":4,"output_tokens":1}}}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hi"}}"#,
        r#"{"type":"content_block_stop","index":0}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":5}}"#,
        r#"{"type":"message_stop"}"#,
    ];
    let events: Vec<_> = events.iter().map(|data| format!("data: {data}\n\n")).collect();
    let parts: Vec<_> = events.iter().map(String::as_str).collect();
    let body = chat(
        json!({"model": "anthropic/c", "stream": true, "stream_options": {"include_usage": true}}),
    );
    let reply = TestGateway::with(&[("ANTHROPIC_API_KEY", "k")]).ask(vec![stream(&parts)], &body);
    let events = reply.events();
    assert_eq!(events[0]["choices"][0]["delta"]["role"], "assistant");
    assert_eq!(reply.content(), "hi");
    let at = |from_end: usize| &events[events.len() - from_end];
    assert_eq!(at(3)["choices"][0]["finish_reason"], "stop", "{}", reply.text);
    assert_eq!(at(3)["_2api"]["usage"]["output_tokens"], 5);
    assert_eq!(at(2)["usage"]["total_tokens"], 9, "{}", reply.text);
    assert_eq!(*at(1), "[DONE]");
}

/// The connection ends cleanly, but within an event or before the blank line after it.
#[test]
fn an_event_that_the_end_cuts_does_not_swallow_the_error() {
    let (first, second) = (text("a"), text("b"));
    for rest in ["", "dat", ": ping", ": ping\n", second.trim_end(), &second[..second.len() - 1]] {
        let parts = [first.as_str(), rest];
        let reply = TestGateway::new().ask(vec![stream(&parts)], &chat(json!({"stream": true})));
        let last = reply.text.trim_end().rsplit("\n\n").next().unwrap();
        let error: Value = serde_json::from_str(last.strip_prefix("data: ").unwrap()).unwrap();
        assert_eq!(error["error"]["code"], "provider_bad_response", "{rest:?} {}", reply.text);
    }
    let stop = chunk(json!({}), Some("stop"));
    let options = json!({"stream": true, "stream_options": {"include_usage": true}});
    for rest in [&USAGE[..USAGE.len() - 2], &USAGE[..USAGE.len() - 1], DONE.trim_end()] {
        let parts = [first.as_str(), &stop, rest];
        let reply = TestGateway::new().ask(vec![stream(&parts)], &chat(options.clone()));
        assert!(reply.text.ends_with("}\n\ndata: [DONE]\n\n"), "{rest:?} {}", reply.text);
    }
}

/// Comments are no silence, but they do not extend the deadline. The clock advances whenever it is read.
#[test]
fn the_deadline_ends_comments_and_errors_that_never_end() {
    let world = TestGateway::with(&[("GATEWAY_DEADLINE_MS", "50")]);
    let body = chat(json!({"stream": true}));
    let comments = vec![": ping\n\n"; 200];
    let answers = vec![stream(&[&comments[..], &[&text("a")]].concat())];
    let reply = world.ask(answers, &body);
    assert_eq!((reply.status, reply.code().as_str()), (504, "deadline_exceeded"), "{reply:?}");
    let separator = String::from(char::from(CHUNK_END));
    let slow = [&vec!["x"; 200][..], &[r#"{"error":{"message":"late"}}"#]].concat();
    let reply = world.ask(vec![answer(500, slow.join(&separator))], &body);
    assert!(reply.status >= 500 && !reply.text.contains("late"), "{reply:?}");
}

#[test]
fn what_is_held_back_has_a_limit() {
    let (start, large) = (text("a"), text(&"b".repeat(1 << 20)));
    let call = part(0, Some("a"), "{\"city\":\"x\"}");
    let stop = chunk(json!({}), Some("stop"));
    let validate = json!({
        "stream": true, "tools": [tool("a")], "request_options": {"validate_tool_arguments": true},
    });
    for (first, body) in [(&stop, chat(json!({"stream": true}))), (&call, chat(validate))] {
        let parts: Vec<&str> = [&start, first]
            .into_iter()
            .chain(std::iter::repeat_n(&large, 17))
            .map(String::as_str)
            .collect();
        let reply = TestGateway::new().ask(vec![stream(&parts)], &body);
        let events = reply.events();
        assert_eq!(events.last().unwrap()["error"]["code"], "provider_bad_response");
        assert!(events.last().unwrap()["error"]["message"].to_string().contains("too large"));
        assert!(reply.text.len() < 4096, "nothing of it was sent");
    }
    // Blocks of Messages come one after the other, so what follows a call that is not complete waits.
    let open = part(0, Some("a"), "{");
    let parts: Vec<&str> = [&[open.as_str()][..], &[large.as_str(); 17]].concat();
    let body =
        crate::gateway::tests::messages::ask("openai/m", json!({"stream": true, "max_tokens": 9}));
    let reply = crate::gateway::tests::messages::gateway(&[]).ask(vec![stream(&parts)], &body);
    assert!(reply.text.trim_end().ends_with("\"request_id\":null}"), "{}", reply.text);
    assert!(reply.text.contains("too large") && reply.text.len() < 4096, "{}", reply.text);
}

#[test]
fn no_error_has_the_key() {
    let error = "data: {\"error\":{\"message\":\"sk-openai is over its limit\"}}\n\n";
    for parts in [&[error][..], &[&text("a"), error]] {
        let reply = TestGateway::new().ask(vec![stream(parts)], &chat(json!({"stream": true})));
        assert!(reply.text.contains("[key] is over its limit"), "{reply:?}");
        assert!(!reply.text.contains("sk-openai"), "{reply:?}");
    }
}

#[test]
fn the_log_has_the_tokens_of_streams_that_end_early() {
    let start = r#"data: {"type":"message_start","message":{"id":"m","model":"c","usage":{"input_tokens":4,"output_tokens":1}}}"#;
    let start = format!("{start}\n\n");
    let block = "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"a\"}}\n\n";
    let gemini = "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a\"}]}}],\"usageMetadata\":{\"promptTokenCount\":4,\"totalTokenCount\":5}}\n\n";
    let keys = [("ANTHROPIC_API_KEY", "k"), ("GEMINI_API_KEY", "k")];
    for (model, parts) in [
        ("anthropic/c", vec![start.as_str(), block, block]),
        ("google/g", vec![gemini, gemini, gemini]),
    ] {
        // The client goes before the first write, before the second, or the stream breaks off.
        for writes in [0, 1, usize::MAX] {
            let body = chat(json!({"model": model, "stream": true}));
            let reply = TestGateway::with(&keys).ask_with(
                vec![stream(&parts)],
                &[JSON, LOCAL],
                &body,
                writes,
            );
            let log = &reply.log[0];
            assert!(log.contains("\"gen_ai.usage.input_tokens\":4"), "{model} {writes} {log}");
            assert!(!log.contains("\"http.response.status_code\":200"), "{log}");
        }
    }
}
