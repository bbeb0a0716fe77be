//! Streams.

use crate::gateway::answer::completion::{CompletionInfo, UpstreamError};
use crate::gateway::answer::stream::{Decoder, Delta, StreamEvent};
use crate::gateway::format::adapter::tests::recorded::{
    ANTHROPIC, ANTHROPIC_ERROR, GEMINI, OPENAI, OPENROUTER_ERROR, RESPONSES, RESPONSES_ERROR,
};
use crate::gateway::format::adapter::tests::*;
use crate::gateway::format::chat_completions::front::ChatCompletions;
use crate::gateway::format::front::Front;
use crate::gateway::format::front::with_report;

/// The events of a stream as the chat front needs them, and its error.
pub(super) fn decoded(
    provider: Format,
    pieces: &[&[u8]],
) -> (Vec<StreamEvent>, Option<UpstreamError>, Decoder) {
    decoded_with(provider, Names::default(), pieces)
}

/// With these names of functions.
pub(super) fn decoded_with(
    provider: Format,
    names: Names,
    pieces: &[&[u8]],
) -> (Vec<StreamEvent>, Option<UpstreamError>, Decoder) {
    let forward = ChatCompletions.reads(provider);
    let options = DecodeOptions { collect: true, forward, names, ..DecodeOptions::default() };
    let mut decoder = Decoder::new(provider, ids(), options);
    let mut events = Vec::new();
    let mut result = Ok(());
    for piece in pieces {
        result = result.and_then(|()| decoder.feed(piece, &mut events));
    }
    let result = result.and_then(|()| decoder.finish(&mut events));
    (events, result.err(), decoder)
}

pub(super) fn events_of(provider: Format, text: &str) -> Vec<StreamEvent> {
    let (events, error, _) = decoded(provider, &[text.as_bytes()]);
    assert_eq!(error, None, "{text}");
    events
}

fn bytes_of(events: &[StreamEvent], include_usage: bool) -> String {
    let info = CompletionInfo { id: "id".to_owned(), model: "p/m".to_owned(), created: 9 };
    let request = request(json!({"stream_options": {"include_usage": include_usage}}));
    let mut encoder = ChatCompletions.events(&request, info);
    let mut bytes = Vec::new();
    events.iter().for_each(|event| encoder.event(event, &mut bytes));
    String::from_utf8(bytes).unwrap()
}

/// The chunks that a client gets.
pub(super) fn chunks(events: &[StreamEvent], include_usage: bool) -> Vec<Value> {
    let text = bytes_of(events, include_usage);
    let mut data: Vec<&str> =
        text.split("\n\n").filter_map(|event| event.trim().strip_prefix("data: ")).collect();
    assert_eq!(data.pop(), Some("[DONE]"));
    data.into_iter().map(|data| serde_json::from_str(data).unwrap()).collect()
}

/// What a client puts together from the chunks: like the SDKs, it joins strings and follows `index`.
pub(super) fn joined(chunks: &[Value]) -> Value {
    let (mut content, mut calls, mut finish) = (String::new(), Vec::<Value>::new(), Vec::new());
    for choice in chunks.iter().filter_map(|chunk| chunk["choices"].get(0)) {
        content.push_str(choice["delta"]["content"].as_str().unwrap_or_default());
        finish.extend(choice["finish_reason"].as_str());
        for part in choice["delta"]["tool_calls"].as_array().into_iter().flatten() {
            let index = part["index"].as_u64().unwrap() as usize;
            assert!(index <= calls.len(), "an index follows the one before");
            if index == calls.len() {
                calls.push(json!({"id": "", "name": "", "arguments": ""}));
            }
            for (name, more) in [
                ("id", &part["id"]),
                ("name", &part["function"]["name"]),
                ("arguments", &part["function"]["arguments"]),
            ] {
                let more = more.as_str().unwrap_or_default();
                let text = format!("{}{more}", calls[index][name].as_str().unwrap());
                calls[index][name] = json!(text);
            }
        }
    }
    json!({"content": content, "calls": calls, "finish": finish})
}

/// Cases 1 to 3, 10 and 13: the same answer of three providers.
#[test]
fn case_01_02_03_10_13_the_same_answer_of_each_provider() {
    for (provider, text, ids, usage) in [
        (Format::OpenAi, OPENAI, ["call_1", "call_2"], [2, 7, 9, 1]),
        (Format::Responses, RESPONSES, ["call_1", "call_2"], [2, 7, 9, 1]),
        (Format::Anthropic, ANTHROPIC, ["toolu_1", "toolu_2"], [15, 11, 26, 7]),
        (
            Format::Gemini,
            GEMINI,
            ["call_070707070707070707070707_0", "call_070707070707070707070707_1"],
            [2, 7, 9, 0],
        ),
    ] {
        let (events, error, decoder) = decoded(provider, &[text.as_bytes()]);
        assert_eq!(error, None);
        let all = chunks(&events, true);
        let found = joined(&all);
        let expected = json!({"content": "Grüße 🌍", "finish": ["tool_calls"], "calls": [
            {"id": ids[0], "name": "a", "arguments": "{\"x\":1}"},
            {"id": ids[1], "name": "b", "arguments": "{}"},
        ]});
        assert_eq!(found, expected, "{provider:?}");
        assert_eq!(all[0]["choices"][0]["delta"]["role"], "assistant");
        let last = &all[all.len() - 1];
        assert_eq!(last["choices"], json!([]));
        let counts =
            ["prompt_tokens", "completion_tokens", "total_tokens"].map(|name| &last["usage"][name]);
        assert_eq!(counts.map(|count| count.as_u64().unwrap()), usage[..3]);
        assert_eq!(last["usage"]["prompt_tokens_details"]["cached_tokens"], usage[3]);
        let finish = &all[all.len() - 2]["choices"][0];
        assert_eq!(
            (&finish["finish_reason"], &finish["delta"]),
            (&json!("tool_calls"), &json!({}))
        );
        // Without include_usage, no client sees the usage.
        let without = chunks(&events, false);
        assert_eq!(without.len(), all.len() - 1);
        assert!(without.iter().all(|chunk| chunk["usage"].is_null()));
        let completion = decoder.into_completion();
        assert_eq!(completion.message.content.as_deref(), Some("Grüße 🌍"));
        assert_eq!(completion.message.tool_calls.len(), 2);
        assert_eq!(completion.usage.unwrap().total_tokens, usage[2]);
    }
}

/// The same answer, whole and streamed, gives the same native message and the same `extra_content`.
#[test]
fn case_05_and_06_streams_keep_what_the_provider_needs_back() {
    let (events, _, decoder) = decoded(Format::Anthropic, &[ANTHROPIC.as_bytes()]);
    let native = decoder.into_completion().native;
    let thinking = json!({"type": "thinking", "thinking": "hmm", "signature": "sig"});
    let expected = json!([
        thinking,
        {"type": "text", "text": "Grüße 🌍"},
        {"type": "tool_use", "id": "toolu_1", "name": "a", "input": {"x": 1}},
        {"type": "tool_use", "id": "toolu_2", "name": "b", "input": {}},
    ]);
    assert_eq!(serde_json::from_str::<Value>(&native).unwrap(), expected);
    let all = chunks(&events, false);
    let extra: Vec<&Value> = all
        .iter()
        .map(|chunk| &chunk["choices"][0]["delta"]["extra_content"])
        .filter(|it| !it.is_null())
        .collect();
    assert_eq!(extra, [&json!({"anthropic": {"thinking_blocks": [thinking]}})]);
    assert_eq!(all[1]["choices"][0]["delta"]["reasoning_content"], "hmm");

    let (events, _, decoder) = decoded(Format::Gemini, &[GEMINI.as_bytes()]);
    let native: Value = serde_json::from_str(&decoder.into_completion().native).unwrap();
    assert_eq!(native[2]["thoughtSignature"], "S1");
    let signed = chunks(&events, false).into_iter().find_map(|chunk| {
        chunk["choices"][0]["delta"]["tool_calls"][0].get("extra_content").cloned()
    });
    assert_eq!(signed, Some(json!({"google": {"thought_signature": "S1"}})));
}

/// Events of OpenAI are forwarded byte for byte, comments too.
#[test]
fn unchanged_events_are_forwarded_byte_for_byte() {
    for text in [OPENAI.to_owned(), OPENAI.replace("\n\n", "\r\n\r\n").replace("data: ", "data:")] {
        let events = events_of(Format::OpenAi, &text);
        assert_eq!(bytes_of(&events, true), text);
    }
    let report = "{\"x\":2}";
    let changed = with_report(b"data: {\"a\":1}\n\n", None, report);
    assert_eq!(changed, b"data: {\"a\":1,\"_2api\":{\"x\":2}}\n\n");
    let done = b"data: [DONE]\n\n";
    assert_eq!(with_report(done, None, report), done);
    for (json, expected) in [
        (
            r#"{"type":"response","response":{"a":{"b":"}\""}},"c":{}}"#,
            r#"{"type":"response","response":{"a":{"b":"}\""},"_2api":{"x":2}},"c":{}}"#,
        ),
        (r#"{"response": { } }"#, r#"{"response": { "_2api":{"x":2}} }"#),
        (r#"{"response":null}"#, r#"{"response":null}"#),
    ] {
        let changed = with_report(json.as_bytes(), Some("response"), report);
        assert_eq!(String::from_utf8(changed).unwrap(), expected);
    }
}

/// Cases 1, 2 and 13: what providers with OpenAI's format get wrong.
#[test]
fn case_01_02_13_repaired_streams() {
    let chunk = |delta: &str, finish: &str| {
        format!(
            "data: {{\"id\":\"i\",\"model\":\"m\",\"created\":1,\"choices\":[{{\"index\":0,\"delta\":{delta},\"finish_reason\":{finish}}}]}}\n\n"
        )
    };
    let calls = |calls: &str| chunk(&format!("{{\"tool_calls\":[{calls}]}}"), "null");
    let begin = |index: &str, id: &str, arguments: &str| {
        format!(
            r#"{{{index}"id":"{id}","type":"function","function":{{"name":"f","arguments":{arguments}}}}}"#
        )
    };
    let stop = chunk("{}", "\"stop\"");
    let end = chunk("{}", "\"tool_calls\"");
    let done = "data: [DONE]\n\n";
    for (what, text, expected) in [
        (
            "no index",
            calls(&begin("", "c1", r#""{}""#)) + &calls(&begin("", "c2", r#""{}""#)) + &end + done,
            json!([["c1", "{}"], ["c2", "{}"]]),
        ),
        (
            "the same index",
            calls(&begin("\"index\":0,", "c1", r#""{}""#))
                + &calls(&begin("\"index\":0,", "c2", r#""{}""#))
                + &end
                + done,
            json!([["c1", "{}"], ["c2", "{}"]]),
        ),
        (
            "no index, and one id for two calls",
            calls(&begin("", "c1", r#""{\"x\":""#))
                + &calls(r#"{"id":"c1","function":{"name":"f","arguments":"1}"}}"#)
                + &calls(&begin("", "c1", r#""{}""#))
                + &end
                + done,
            json!([["c1", "{\"x\":1}"], ["call_070707070707070707070707_0", "{}"]]),
        ),
        (
            "an index that does not begin at 0",
            calls(&begin("\"index\":3,", "c1", r#""{""#))
                + &calls(r#"{"index":3,"function":{"arguments":"}"}}"#)
                + &end
                + done,
            json!([["c1", "{}"]]),
        ),
        (
            "id and name in each part",
            calls(&begin("\"index\":0,", "c1", r#""{""#))
                + &calls(&begin("\"index\":0,", "c1", r#""}""#))
                + &end
                + done,
            json!([["c1", "{}"]]),
        ),
        (
            "arguments as an object",
            calls(&begin("\"index\":0,", "c1", r#"{"x":1}"#)) + &end + done,
            json!([["c1", "{\"x\":1}"]]),
        ),
        (
            "no arguments",
            calls(&begin("\"index\":0,", "c1", r#""""#)) + &end + done,
            json!([["c1", "{}"]]),
        ),
        (
            "no arguments, all in one event",
            chunk(
                &format!("{{\"tool_calls\":[{}]}}", begin("\"index\":0,", "c1", "null")),
                "\"tool_calls\"",
            ) + done,
            json!([["c1", "{}"]]),
        ),
        (
            "stop with calls",
            calls(&begin("\"index\":0,", "c1", r#""{}""#)) + &stop + done,
            json!([["c1", "{}"]]),
        ),
        (
            "two finish reasons",
            calls(&begin("\"index\":0,", "c1", r#""{}""#)) + &end + &end + done,
            json!([["c1", "{}"]]),
        ),
        (
            "no finish chunk",
            calls(&begin("\"index\":0,", "c1", r#""{}""#)) + done,
            json!([["c1", "{}"]]),
        ),
        ("no DONE", calls(&begin("\"index\":0,", "c1", r#""{}""#)) + &end, json!([["c1", "{}"]])),
        (
            "no id",
            calls(r#"{"index":0,"function":{"name":"f","arguments":"{}"}}"#) + &end + done,
            json!([["call_070707070707070707070707_0", "{}"]]),
        ),
    ] {
        let found = joined(&chunks(&events_of(Format::OpenAiCompatible, &text), false));
        let expected: Vec<Value> = expected
            .as_array()
            .unwrap()
            .iter()
            .map(|call| json!({"id": call[0], "name": "f", "arguments": call[1]}))
            .collect();
        assert_eq!(
            found,
            json!({"content": "", "finish": ["tool_calls"], "calls": expected}),
            "{what}"
        );
    }
    // Usage next to the finish reason comes in a chunk of its own, if the client wants it.
    let text = "data: {\"id\":\"i\",\"model\":\"m\",\"created\":1,\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x\"},\"finish_reason\":\"eos\"}],\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":2,\"total_tokens\":3}}\n\ndata: [DONE]\n\n";
    let (events, _, decoder) = decoded(Format::OpenAiCompatible, &[text.as_bytes()]);
    let all = chunks(&events, true);
    assert_eq!(all[0]["choices"][0]["finish_reason"], "stop");
    assert_eq!((&all[1]["choices"], &all[1]["usage"]["total_tokens"]), (&json!([]), &json!(3)));
    assert_eq!((all.len(), decoder.completion().warnings.len()), (2, 1));
    let text = text.replace("eos", "stop");
    for wanted in [true, false] {
        let all = chunks(&events_of(Format::OpenAiCompatible, &text), wanted);
        assert_eq!((all.len(), all[0].get("usage")), (1 + usize::from(wanted), None));
    }
}

/// Cases 11 and 12: errors within a stream, and streams that break off. What came before is kept.
#[test]
fn case_11_and_12_streams_that_fail() {
    let reported = |status: u16, message: &str| UpstreamError::Reported {
        status,
        message: message.to_owned(),
    };
    for (provider, text, expected) in [
        (Format::OpenAiCompatible, OPENROUTER_ERROR, reported(502, "Provider disconnected")),
        (Format::OpenAiCompatible, "data: {\"choices\":[{\"delta\":{\"content\":\"par\"}}]}\n\ndata: {\"choices\":[{\"delta\":{},\"finish_reason\":\"error\"}]}\n\ndata: [DONE]\n\n", reported(500, "the answer ended with \"error\"")),
        (Format::Anthropic, ANTHROPIC_ERROR, reported(529, "Overloaded")),
        (Format::Responses, RESPONSES_ERROR, reported(429, "Slow down")),
        (Format::Responses, RESPONSES.split("event: response.completed").next().unwrap(), UpstreamError::BrokenOff),
        (Format::Responses, "event: error\ndata: {\"type\":\"error\",\"code\":\"rate_limit_exceeded\",\"message\":\"m\"}\n\n", reported(429, "m")),
        (Format::Responses, "", UpstreamError::BrokenOff),
        (Format::Gemini, "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"par\"}]}}]}\n\ndata: {\"error\":{\"code\":503,\"status\":\"UNAVAILABLE\",\"message\":\"m\"}}\n\n", reported(503, "m")),
        (Format::OpenAi, OPENAI.split("data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":5,\"model\":\"gpt-5\",\"choices\":[{\"index\":0,\"delta\":{},").next().unwrap(), UpstreamError::BrokenOff),
        (Format::Anthropic, ANTHROPIC.split("event: message_delta").next().unwrap(), UpstreamError::BrokenOff),
        (Format::Gemini, GEMINI.split("data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"functionCall\":{\"name\":\"b\"").next().unwrap(), UpstreamError::BrokenOff),
        (Format::OpenAi, "", UpstreamError::BrokenOff),
        (Format::Anthropic, "", UpstreamError::BrokenOff),
        (Format::Gemini, "", UpstreamError::BrokenOff),
    ] {
        let (events, error, mut decoder) = decoded(provider, &[text.as_bytes()]);
        assert_eq!(error, Some(expected), "{provider:?} {text}");
        let deltas: Vec<&Delta> = events.iter().flat_map(|event| &event.deltas).collect();
        assert!(!deltas.iter().any(|delta| matches!(delta, Delta::Finish(_) | Delta::Done)));
        assert_eq!(!text.contains("par") && !text.contains('ü'), deltas.is_empty(), "what came before is kept");
        let mut more = Vec::new();
        assert_eq!(decoder.feed(b"data: [DONE]\n\n", &mut more), Ok(()));
        assert_eq!((decoder.finish(&mut more), more.len()), (Ok(()), 0));
    }
    let (start, _) = ANTHROPIC.split_at(ANTHROPIC.find("event: content_block_start").unwrap());
    let (_, error, _) = decoded(Format::Anthropic, &[start.as_bytes(), ANTHROPIC.as_bytes()]);
    assert!(matches!(error, Some(UpstreamError::Malformed(_))), "{error:?}");
    for provider in [Format::OpenAi, Format::Anthropic, Format::Gemini] {
        for text in ["data: {\n\n", "data: <html>\n\n", "data: \u{0}\n\n"] {
            let (_, error, _) = decoded(provider, &[text.as_bytes()]);
            assert!(matches!(error, Some(UpstreamError::Malformed(_))), "{provider:?} {text}");
        }
    }
}
