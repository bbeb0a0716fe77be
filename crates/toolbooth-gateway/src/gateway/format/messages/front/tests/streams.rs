//! Streams.

use crate::gateway::answer::completion::UpstreamError;
use crate::gateway::answer::stream::{DecodeOptions, Decoder, Delta, StreamEvent};
use crate::gateway::format::messages::front::tests::recorded::ANTHROPIC;
use crate::gateway::format::messages::front::tests::*;
use crate::gateway::relay::report::{RanCall, Report};

/// The events that a client gets, by name and data.
pub(super) type Events = Vec<(String, Value)>;

pub(super) fn events(text: &str) -> Events {
    let events = text.split("\n\n").filter(|event| !event.is_empty());
    let event = |event: &str| {
        let (name, data) = event.split_once("\ndata: ").unwrap();
        let data: Value = serde_json::from_str(data).unwrap();
        let name = name.strip_prefix("event: ").unwrap().to_owned();
        assert_eq!(data["type"], name.as_str(), "{event}");
        (name, data)
    };
    events.map(event).collect()
}

/// What a client puts together from the events, as Anthropic's SDKs do. It checks their order.
pub(super) fn joined(events: &Events) -> Option<Value> {
    let mut message: Option<Value> = None;
    let mut open: Option<(usize, String)> = None;
    let mut stopped = false;
    for (name, data) in events {
        assert!(!stopped, "an event after the last: {name}");
        match name.as_str() {
            "ping" => {}
            "message_start" => {
                assert!(message.is_none(), "a second message_start");
                let start = data["message"].clone();
                assert!(start["usage"]["input_tokens"].as_u64().unwrap() > 0);
                assert_eq!((&start["content"], &start["stop_reason"]), (&json!([]), &Value::Null));
                message = Some(start);
            }
            "content_block_start" => {
                assert_eq!(open, None, "a block within a block");
                let blocks = message.as_mut().unwrap()["content"].as_array_mut().unwrap();
                assert_eq!(data["index"], blocks.len());
                open = Some((blocks.len(), String::new()));
                blocks.push(data["content_block"].clone());
            }
            "content_block_delta" => {
                let (index, input) = open.as_mut().unwrap();
                assert_eq!(data["index"], *index);
                let block = &mut message.as_mut().unwrap()["content"][*index];
                let delta = &data["delta"];
                let (kind, member) = match delta["type"].as_str().unwrap() {
                    "text_delta" => ("text", "text"),
                    "thinking_delta" => ("thinking", "thinking"),
                    "signature_delta" => ("thinking", "signature"),
                    "input_json_delta" => {
                        assert_eq!(block["type"], "tool_use");
                        input.push_str(delta["partial_json"].as_str().unwrap());
                        continue;
                    }
                    other => panic!("{other}"),
                };
                assert_eq!(block["type"], kind, "a delta of a different block");
                let joined = format!(
                    "{}{}",
                    block[member].as_str().unwrap(),
                    delta[member].as_str().unwrap()
                );
                block[member] = joined.into();
            }
            "content_block_stop" => {
                let (index, input) = open.take().unwrap();
                assert_eq!(data["index"], index);
                let block = &mut message.as_mut().unwrap()["content"][index];
                if block["type"] == "tool_use" {
                    block["input"] = serde_json::from_str(&input).unwrap_or(Value::String(input));
                }
            }
            "message_delta" => {
                assert_eq!(open, None);
                let message = message.as_mut().unwrap();
                for name in ["stop_reason", "stop_sequence"] {
                    message[name] = data["delta"][name].clone();
                }
                message["usage"] = data["usage"].clone();
                message["_2api"] = data["_2api"].clone();
            }
            "message_stop" => stopped = true,
            "error" => return None,
            other => panic!("{other}"),
        }
    }
    message.filter(|_| stopped)
}

/// The events of a provider's stream in these pieces, and the error in which it ends.
pub(super) fn decoded(
    format: Format,
    pieces: &[&[u8]],
    forward: bool,
) -> (Vec<StreamEvent>, Option<UpstreamError>) {
    let mut decoder = Decoder::new(
        format,
        ids(),
        DecodeOptions { collect: !forward, forward, ..DecodeOptions::default() },
    );
    let mut events = Vec::new();
    let mut result = Ok(());
    for piece in pieces {
        result = result.and_then(|()| decoder.feed(piece, &mut events));
    }
    let result = result.and_then(|()| decoder.finish(&mut events));
    (events, result.err())
}

/// What a client gets of these events.
pub(super) fn written(
    members: Value,
    events: &[StreamEvent],
    error: Option<&UpstreamError>,
) -> String {
    let info = CompletionInfo { id: "c1".to_owned(), model: "p/m".to_owned(), created: 9 };
    let mut encoder = Messages { counts_only: false }.events(&request(members), info);
    let mut out = Vec::new();
    encoder.report(&Report::default());
    events.iter().for_each(|event| encoder.event(event, &mut out));
    if let Some(error) = error {
        encoder.error(&GatewayError::upstream(error, None, "p/m"), &mut out);
    }
    String::from_utf8(out).unwrap()
}

/// The message that a client puts together from a provider's stream.
fn message(format: Format, text: &str, members: Value) -> Value {
    let (all, error) = decoded(format, &[text.as_bytes()], false);
    assert_eq!(error, None, "{text}");
    joined(&events(&written(members, &all, None))).unwrap()
}

pub(super) fn openai(deltas: &[Value], finish: &str) -> String {
    let mut text = String::new();
    let mut add = |data: Value| text.push_str(&format!("data: {data}\n\n"));
    for delta in deltas {
        add(json!({"id": "c1", "choices": [{"index": 0, "delta": delta, "finish_reason": null}]}));
    }
    add(json!({"id": "c1", "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}));
    add(
        json!({"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10, "prompt_tokens_details": {"cached_tokens": 2}}}),
    );
    format!("{text}data: [DONE]\n\n")
}

fn call(index: usize, id: &str, arguments: &str) -> Value {
    match id {
        "" => json!({"tool_calls": [{"index": index, "function": {"arguments": arguments}}]}),
        id => {
            json!({"tool_calls": [{"index": index, "id": id, "type": "function", "function": {"name": "f", "arguments": arguments}}]})
        }
    }
}

#[test]
fn blocks_come_one_after_the_other() {
    let thinking = || json!({"thinking": {"type": "adaptive"}});
    for (deltas, expected) in [
        (
            vec![
                json!({"role": "assistant", "content": ""}),
                json!({"content": "a"}),
                json!({"content": "b"}),
            ],
            json!(["ab"]),
        ),
        (
            vec![
                json!({"reasoning_content": "r"}),
                json!({"content": "a"}),
                json!({"reasoning_content": "s"}),
            ],
            json!(["~r", "a", "~s"]),
        ),
        (vec![json!({"content": "a", "refusal": "no"})], json!(["ano"])),
        (
            vec![call(0, "1", ""), call(0, "", "{\"x\""), call(0, "", ":1}"), call(1, "2", "")],
            json!([{"x": 1}, {}]),
        ),
        // Arguments of several calls that come mixed, and text among them.
        (
            vec![
                call(0, "1", "{\"x\""),
                call(1, "2", "{\"y\""),
                json!({"content": "t"}),
                call(2, "3", ""),
                call(0, "", ":1}"),
                call(1, "", ":2}"),
                call(2, "", "{}"),
            ],
            json!([{"x": 1}, {"y": 2}, "t", {}]),
        ),
        // Calls in another order than their indexes.
        (
            vec![
                call(1, "2", "{\"y\""),
                call(0, "1", "{\"x\""),
                call(2, "3", "{\"z\""),
                call(0, "", ":1}"),
                call(2, "", ":3}"),
                call(1, "", ":2}"),
            ],
            json!([{"y": 2}, {"x": 1}, {"z": 3}]),
        ),
        // Malformed arguments are the client's to judge.
        (vec![call(0, "1", "{oops"), json!({"content": "t"})], json!(["?{oops", "t"])),
    ] {
        let message = message(Format::OpenAi, &openai(&deltas, "stop"), thinking());
        let content =
            message["content"].as_array().unwrap().iter().map(|block| {
                match block["type"].as_str().unwrap() {
                    "text" => block["text"].clone(),
                    "thinking" => {
                        assert_eq!(block["signature"], thinking::SIGNATURE);
                        format!("~{}", block["thinking"].as_str().unwrap()).into()
                    }
                    _ => match &block["input"] {
                        Value::String(text) => format!("?{text}").into(),
                        input => input.clone(),
                    },
                }
            });
        assert_eq!(Value::Array(content.collect()), expected);
        let counts = json!({"input_tokens": 5, "cache_read_input_tokens": 2, "output_tokens": 3});
        for (name, count) in counts.as_object().unwrap() {
            assert_eq!(&message["usage"][name], count);
        }
        assert!(message["_2api"].is_object());
    }
}

#[test]
fn reasons_to_stop() {
    for (deltas, finish, expected) in [
        (vec![json!({"content": "a"})], "stop", "end_turn"),
        (vec![json!({"content": "a"})], "length", "max_tokens"),
        (vec![json!({"refusal": "a"})], "stop", "refusal"),
        (vec![json!({"content": "a"})], "content_filter", "refusal"),
        (vec![call(0, "1", "{}")], "stop", "tool_use"),
        (vec![], "stop", "end_turn"),
    ] {
        assert_eq!(
            message(Format::OpenAi, &openai(&deltas, finish), json!({}))["stop_reason"],
            expected
        );
    }
}

/// Anthropic says at which sequence of the request it has stopped.
#[test]
fn stop_sequences() {
    for (word, expected) in [("stop_sequence", json!("END")), ("end_turn", Value::Null)] {
        let end = format!(
            r#"{{"type":"message_delta","delta":{{"stop_reason":"{word}","stop_sequence":"END"}},"usage":{{"output_tokens":1}}}}"#
        );
        let start = r#"{"type":"message_start","message":{"id":"m","usage":{"input_tokens":1}}}"#;
        let stop = r#"{"type":"message_stop"}"#;
        let text = [start, &end, stop].map(|data| format!("data: {data}\n\n")).concat();
        let message = message(Format::Anthropic, &text, json!({}));
        assert_eq!((&message["stop_reason"], &message["stop_sequence"]), (&json!(word), &expected));
    }
}

/// Anthropic's stream if it is read: with tools of this server.
#[test]
fn thinking_keeps_its_signatures() {
    for members in [json!({}), json!({"thinking": {"type": "adaptive"}})] {
        let message = message(Format::Anthropic, ANTHROPIC, members);
        let expected = json!([
            {"type": "thinking", "thinking": "T", "signature": "U2ln"},
            {"type": "redacted_thinking", "data": "ZA=="},
            {"type": "text", "text": "x }", "citations": null},
            {"type": "tool_use", "id": "toolu_1", "name": "a", "input": {}, "caller": {"type": "direct"}},
        ]);
        assert_eq!(message["content"], expected);
        assert_eq!(message["usage"]["input_tokens"], 9);
        assert_eq!(message["usage"]["cache_creation_input_tokens"], 3);
    }
}

#[test]
fn signatures_of_gemini() {
    let part = json!({"functionCall": {"name": "a", "args": {"x": 1}}, "thoughtSignature": "S"});
    let chunk = json!({"candidates": [{"content": {"parts": [{"text": "t", "thoughtSignature": "U"}, part]}, "finishReason": "STOP"}]});
    let message = message(Format::Gemini, &format!("data: {chunk}\n\n"), json!({}));
    let kinds: Vec<_> =
        message["content"].as_array().unwrap().iter().map(|it| &it["type"]).collect();
    assert_eq!(kinds, ["text", "redacted_thinking", "tool_use"]);
    assert_eq!(message["content"][1]["data"], r#"toolbooth:{"google":{"thought_signature":"S"}}"#);
}

/// To a client of Anthropic: each event byte for byte; only the one with the reason to stop has a further member.
#[test]
fn streams_of_anthropic_pass() {
    let (all, error) = decoded(Format::Anthropic, &[ANTHROPIC.as_bytes()], true);
    assert_eq!(error, None);
    let text = written(json!({}), &all, None);
    let (before, rest) = text.split_once(r#","_2api":{"#).unwrap();
    let (_, after) = rest.split_once("\n\n").unwrap();
    assert_eq!(format!("{before}}}\n\n{after}"), ANTHROPIC);
    assert!(before.contains("event: message_delta"));
    // The names of events, without which clients skip them, are added.
    let unnamed: String = ANTHROPIC
        .lines()
        .filter(|line| !line.starts_with("event: "))
        .map(|line| format!("{line}\n"))
        .collect();
    let (all, _) = decoded(Format::Anthropic, &[unnamed.as_bytes()], true);
    assert_eq!(written(json!({}), &all, None), text);
    // Without the last event, the answer is complete all the same.
    let cut = ANTHROPIC
        .strip_suffix("event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n")
        .unwrap();
    let (all, error) = decoded(Format::Anthropic, &[cut.as_bytes()], true);
    assert_eq!(error, None);
    assert!(joined(&events(&written(json!({}), &all, None))).is_some());
}

/// A stream cut at any byte has no clean end; split at any byte it is the same.
#[test]
fn streams_that_are_cut_or_split() {
    let thinking = || json!({"thinking": {"type": "adaptive"}});
    let deltas = [
        json!({"reasoning_content": "r"}),
        json!({"content": "é"}),
        call(0, "1", "{\"x\":"),
        call(0, "", "1}"),
    ];
    let texts = [
        (Format::OpenAi, openai(&deltas, "tool_calls"), false),
        (Format::Anthropic, ANTHROPIC.to_owned(), false),
        (Format::Anthropic, ANTHROPIC.to_owned(), true),
    ];
    for (format, text, forward) in &texts {
        let (all, _) = decoded(*format, &[text.as_bytes()], *forward);
        let whole = joined(&events(&written(thinking(), &all, None))).unwrap();
        for at in 0..text.len() {
            let (head, tail) = text.as_bytes().split_at(at);
            let (all, error) = decoded(*format, &[head, tail], *forward);
            assert_eq!(error, None);
            assert_eq!(
                joined(&events(&written(thinking(), &all, None))),
                Some(whole.clone()),
                "split at {at}"
            );
            let (all, error) = decoded(*format, &[head], *forward);
            let text = written(thinking(), &all, error.as_ref());
            let ends = text.contains("event: message_stop");
            assert_ne!(ends, error.is_some(), "cut at {at}: {text}");
            if ends {
                assert_eq!(
                    joined(&events(&text)).unwrap()["content"],
                    whole["content"],
                    "cut at {at}"
                );
            } else {
                assert!(text.contains("event: error\n"), "cut at {at}");
            }
        }
    }
}

#[test]
fn calls_that_the_gateway_ran() {
    let ran = RanCall {
        id: "1".to_owned(),
        tool: "N".to_owned(),
        called: "N".to_owned(),
        arguments: r#"{"x":1}"#.to_owned(),
        output: "r".to_owned(),
        ms: 1,
        error: None,
    };
    let mut encoder =
        Messages { counts_only: false }.events(&request(json!({})), CompletionInfo::default());
    let mut out = Vec::new();
    encoder.delta(&Delta::Text("a".to_owned()), &mut out);
    encoder.ran(&[ran], &mut out);
    encoder.delta(&Delta::Text("b".to_owned()), &mut out);
    encoder.delta(&Delta::Done, &mut out);
    let message = joined(&events(&String::from_utf8(out).unwrap())).unwrap();
    let text = |text: &str| json!({"type": "text", "text": text, "citations": null});
    let expected = json!([
        text("a"),
        {"type": "mcp_tool_use", "id": "1", "name": "N", "server_name": "toolbooth", "input": {"x": 1}},
        {"type": "mcp_tool_result", "tool_use_id": "1", "is_error": false, "content": [text("r")]},
        text("b"),
    ]);
    assert_eq!(message["content"], expected);
}

/// The limit of what is held back counts all of it.
#[test]
fn parts_that_wait_have_their_length() {
    let long = || "x".repeat(10_000);
    let value = || Value::String(long()).to_string();
    let parsed = |text: String| toolbooth::json::parse(&text).unwrap().into_owned();
    let call = |index, id, name, extra_content| Delta::Call {
        index,
        id,
        name,
        custom: false,
        extra_content,
    };
    for part in [
        Delta::Text(long()),
        Delta::Thinking(parsed(format!(r#"{{"type":"thinking","thinking":{}}}"#, value()))),
        call(1, long(), "a".to_owned(), None),
        call(1, "2".to_owned(), long(), None),
        call(1, "2".to_owned(), "a".to_owned(), Some(parsed(format!(r#"{{"s":{}}}"#, value())))),
    ] {
        let mut encoder =
            Messages { counts_only: false }.events(&request(json!({})), CompletionInfo::default());
        let mut out = Vec::new();
        encoder.delta(&call(0, "1".to_owned(), "a".to_owned(), None), &mut out);
        encoder.delta(&part, &mut out);
        assert!((10_000..10_500).contains(&encoder.held_bytes()), "{}", encoder.held_bytes());
    }
}

#[test]
fn pings_keep_the_connection_open() {
    let ping = String::from_utf8(Messages { counts_only: false }.keep_alive().to_vec()).unwrap();
    assert_eq!(events(&ping), [("ping".to_owned(), json!({"type": "ping"}))]);
}
