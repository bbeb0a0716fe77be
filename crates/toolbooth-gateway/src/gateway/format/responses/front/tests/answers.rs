//! Answers: the events of streams, and whole responses.

use crate::gateway::answer::completion::{Completion, CompletionInfo, UpstreamError};
use crate::gateway::answer::stream::{DecodeOptions, Decoder};
use crate::gateway::error::ErrorKind;
use crate::gateway::format::adapter::tests::recorded::{
    ANTHROPIC, ANTHROPIC_ERROR, GEMINI, OPENAI, RESPONSES, RESPONSES_ERROR,
};
use crate::gateway::format::adapter::tests::{ids, with};
use crate::gateway::format::front::Answer;
use crate::gateway::format::front::Front;
use crate::gateway::format::responses::front::tests::*;
use crate::gateway::relay::report::Report;

fn info() -> CompletionInfo {
    CompletionInfo { id: "chatcmpl-1".to_owned(), model: "p/m".to_owned(), created: 9 }
}

/// The events that a client gets for a provider's stream, which ends after these bytes or with an error.
pub(super) fn events(request: &ChatRequest, format: Format, pieces: &[&[u8]]) -> Vec<Value> {
    let (forward, names) = (request.passes_to(format), format.names(request));
    let options = DecodeOptions { forward, names, ..DecodeOptions::default() };
    let mut decoder = Decoder::new(format, ids(), options);
    let (mut found, mut out, mut result) = (Vec::new(), Vec::new(), Ok(()));
    for piece in pieces {
        result = result.and_then(|()| decoder.feed(piece, &mut found));
    }
    let result = result.and_then(|()| decoder.finish(&mut found));
    let mut encoder = Responses.events(request, info());
    encoder.report(&Report::default());
    found.iter().for_each(|event| encoder.event(event, &mut out));
    if let Err(error) = result {
        encoder.error(&GatewayError::upstream(&error, Some(1500), "p/m"), &mut out);
    }
    parsed(&String::from_utf8(out).unwrap())
}

/// The data of events, each of which has a line with its type.
pub(in crate::gateway) fn parsed(text: &str) -> Vec<Value> {
    let events = text.split("\n\n").filter(|event| !event.is_empty() && !event.starts_with(':'));
    let event = |event: &str| {
        let (name, data) = event.split_once('\n').unwrap();
        let data: Value = serde_json::from_str(data.strip_prefix("data: ").unwrap()).unwrap();
        assert_eq!(name.strip_prefix("event: "), data["type"].as_str());
        data
    };
    events.map(event).collect()
}

/// Checks the order of events as strict clients do, and returns the response of the last one.
pub(in crate::gateway) fn checked(events: &[Value]) -> Value {
    let kinds: Vec<_> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(kinds[..2], ["response.created", "response.in_progress"]);
    let (mut items, mut done) = (Vec::<(Value, String)>::new(), Vec::new());
    for (number, event) in events.iter().enumerate() {
        assert_eq!(event["sequence_number"], number, "{kinds:?}");
        let kind = event["type"].as_str().unwrap();
        let is_last =
            matches!(kind, "response.completed" | "response.incomplete" | "response.failed");
        assert_eq!(is_last, number + 1 == events.len(), "{kinds:?}");
        let Some(index) = event["output_index"].as_u64() else { continue };
        let index = usize::try_from(index).unwrap();
        match kind {
            "response.output_item.added" => {
                assert_eq!(index, items.len(), "{kinds:?}");
                items.push((event["item"].clone(), String::new()));
            }
            "response.output_item.done" => {
                let (added, text) = &items[index];
                let item = &event["item"];
                assert_eq!(added["id"], item["id"]);
                assert!(!done.iter().any(|(known, _)| *known == index), "{kinds:?}");
                let whole = [
                    &item["arguments"],
                    &item["input"],
                    &item["summary"][0]["text"],
                    &item["content"][0]["text"],
                    &item["content"][0]["refusal"],
                ];
                let whole = whole.into_iter().find_map(Value::as_str).unwrap_or_default();
                if !matches!(item["type"].as_str(), Some("mcp_approval_request")) {
                    assert_eq!(text, whole, "the deltas add up");
                }
                done.push((index, item.clone()));
            }
            _ => {
                let (item, text) = &mut items[index];
                assert_eq!(event["item_id"], item["id"], "{event}");
                if kind == "response.output_text.delta" {
                    assert_eq!(event["logprobs"], json!([]));
                }
                text.push_str(event["delta"].as_str().unwrap_or_default());
            }
        }
    }
    let response = events.last().unwrap()["response"].clone();
    done.sort_by_key(|(index, _)| *index);
    let done: Vec<_> = done.into_iter().map(|(_, item)| item).collect();
    assert_eq!(response["output"], json!(done));
    if response["status"] != "failed" {
        assert_eq!(done.len(), items.len(), "each item is complete");
    }
    response
}

pub(super) fn plain() -> ChatRequest {
    read(&body(json!({"tools": [{"type": "function", "name": "a"}], "temperature": 0.5}))).unwrap()
}

#[test]
fn the_same_answer_of_each_provider() {
    for (format, text, calls, usage) in [
        (Format::OpenAi, OPENAI, ["call_1", "call_2"], [2, 1, 7, 0, 9]),
        (Format::Anthropic, ANTHROPIC, ["toolu_1", "toolu_2"], [15, 7, 11, 0, 26]),
        (
            Format::Gemini,
            GEMINI,
            ["call_070707070707070707070707_0", "call_070707070707070707070707_1"],
            [2, 0, 7, 4, 9],
        ),
    ] {
        let response = checked(&events(&plain(), format, &[text.as_bytes()]));
        let output = response["output"].as_array().unwrap();
        let mut output: Vec<_> = output.iter().collect();
        if format != Format::OpenAi {
            assert_eq!(output.remove(0)["summary"][0]["text"], "hmm");
        }
        assert_eq!(output[0]["content"][0]["text"], "Grüße 🌍");
        for (item, (id, name, arguments)) in
            output[1..].iter().zip([(calls[0], "a", "{\"x\":1}"), (calls[1], "b", "{}")])
        {
            assert_eq!(item["type"], "function_call");
            assert_eq!((&item["call_id"], &item["name"]), (&json!(id), &json!(name)));
            assert_eq!(
                (&item["arguments"], &item["status"]),
                (&json!(arguments), &json!("completed"))
            );
        }
        assert_eq!((output.len(), &response["status"]), (3, &json!("completed")));
        assert_eq!(
            (&response["id"], &response["temperature"]),
            (&json!("resp_chatcmpl-1"), &json!(0.5))
        );
        assert_eq!(response["tools"][0]["name"], "a");
        let counts = &response["usage"];
        let found = [
            &counts["input_tokens"],
            &counts["input_tokens_details"]["cached_tokens"],
            &counts["output_tokens"],
            &counts["output_tokens_details"]["reasoning_tokens"],
            &counts["total_tokens"],
        ];
        assert_eq!(found.map(|it| it.as_u64().unwrap()), usage, "{format:?}");
        assert!(counts["input_tokens_details"]["cache_write_tokens"].is_u64());
        assert!(response["_2api"].is_object());
    }
}

/// The whole answer has the items of the stream.
#[test]
fn whole_answers_have_the_same_items() {
    let body = json!({"id": "chatcmpl-1", "model": "m", "created": 1, "choices": [{"finish_reason": "tool_calls", "message": {
        "role": "assistant", "content": "Grüße 🌍", "tool_calls": [
            {"id": "call_1", "type": "function", "function": {"name": "a", "arguments": "{\"x\":1}"}},
            {"id": "call_2", "type": "function", "function": {"name": "b", "arguments": ""}},
        ]}}], "usage": {"prompt_tokens": 2, "completion_tokens": 7, "total_tokens": 9}});
    let request = plain();
    let completion = Format::OpenAi
        .decode(body.to_string().as_bytes(), ids(), DecodeOptions::default())
        .unwrap();
    let response = encoded(&request, &completion);
    let streamed = checked(&events(&request, Format::OpenAi, &[OPENAI.as_bytes()]));
    assert_eq!(response["output"], streamed["output"]);
    assert_eq!(response["status"], "completed");
}

fn encoded(request: &ChatRequest, completion: &Completion) -> Value {
    let (info, report) = (info(), Report::default());
    let answer = Answer { request, completion, info: &info, earlier: &[], report: &report };
    serde_json::from_slice(&Responses.encode(&answer)).unwrap()
}

#[test]
fn why_a_model_stopped() {
    for (word, status, reason) in [
        ("end_turn", "completed", Value::Null),
        ("max_tokens", "incomplete", json!("max_output_tokens")),
        ("refusal", "incomplete", json!("content_filter")),
    ] {
        let body = json!({"content": [{"type": "text", "text": "T"}], "stop_reason": word});
        let completion = Format::Anthropic
            .decode(body.to_string().as_bytes(), ids(), DecodeOptions::default())
            .unwrap();
        let response = encoded(&plain(), &completion);
        assert_eq!(
            (&response["status"], &response["incomplete_details"]["reason"]),
            (&json!(status), &reason)
        );
    }
}

/// Custom tools, namespaces and `tool_search` come back in the client's form.
#[test]
fn calls_come_back_in_the_form_of_the_client() {
    let request = read(&body(json!({"tools": [
        {"type": "custom", "name": "patch"},
        {"type": "namespace", "name": "own", "tools": [{"type": "function", "name": "add"}, {"type": "custom", "name": "run"}]},
        {"type": "tool_search", "execution": "client"},
    ]})))
    .unwrap();
    let call = |id: &str, name: &str, input: Value| json!({"type": "tool_use", "id": id, "name": name, "input": input});
    let blocks = json!([
        call("1", "patch", json!({"input": "*** \"x\"\n"})),
        call("2", "own__add", json!({"a": 1})),
        call("3", "own__run", json!({"input": "y"})),
        call("4", "tool_search", json!({"query": "z"})),
    ]);
    let message =
        json!({"id": "msg_1", "model": "m", "content": blocks, "stop_reason": "tool_use"});
    let names = Format::Anthropic.names(&request);
    let decoded =
        Format::Anthropic.decode(message.to_string().as_bytes(), ids(), with(names)).unwrap();
    let whole = encoded(&request, &decoded);
    let mut text = String::new();
    for (index, block) in blocks.as_array().unwrap().iter().enumerate() {
        let start = json!({"type": "content_block_start", "index": index, "content_block": block});
        let stop = json!({"type": "content_block_stop", "index": index});
        text.push_str(&format!("data: {start}\n\ndata: {stop}\n\n"));
    }
    text.push_str("data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"}}\n\ndata: {\"type\":\"message_stop\"}\n\n");
    let streamed = checked(&events(&request, Format::Anthropic, &[text.as_bytes()]));
    for response in [&whole, &streamed] {
        let output = response["output"].as_array().unwrap();
        let found: Vec<_> = output
            .iter()
            .map(|item| {
                json!([
                    item["type"],
                    item["call_id"],
                    item["namespace"],
                    item["name"],
                    item["input"],
                    item["arguments"]
                ])
            })
            .collect();
        assert_eq!(
            found,
            [
                json!(["custom_tool_call", "1", null, "patch", "*** \"x\"\n", null]),
                json!(["function_call", "2", "own", "add", null, "{\"a\":1}"]),
                json!(["custom_tool_call", "3", "own", "run", "y", null]),
                json!(["tool_search_call", "4", null, null, null, {"query": "z"}]),
            ]
        );
    }
}

/// Providers may send parts of several calls in turn, and text in between.
#[test]
fn calls_that_are_mixed_lose_no_argument() {
    let part = |index: usize, begins: bool, arguments: &str| {
        let mut call = json!({"index": index, "function": {"arguments": arguments}});
        if begins {
            call["id"] = json!(format!("c{index}"));
            call["type"] = json!("function");
            call["function"]["name"] = json!("a");
        }
        let chunk = json!({"id": "i", "choices": [{"index": 0, "delta": {"tool_calls": [call]}}]});
        format!("data: {chunk}\n\n")
    };
    let say = |member: &str| {
        format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": {member: "t"}}]}))
    };
    let text = [
        part(0, true, "{\"x\":"),
        say("content"),
        part(1, true, "{\"y\":"),
        say("reasoning_content"),
        part(0, false, "1}"),
        part(1, false, "2}"),
        "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n".to_owned(),
    ]
    .concat();
    let response = checked(&events(&plain(), Format::OpenAiCompatible, &[text.as_bytes()]));
    let items = response["output"].as_array().unwrap();
    let arguments: Vec<_> = items.iter().filter_map(|it| it["arguments"].as_str()).collect();
    assert_eq!((items.len(), arguments), (4, vec!["{\"x\":1}", "{\"y\":2}"]));
}

/// However a stream is cut, it ends with `response.failed`, and however it is split, it has the same events.
#[test]
fn streams_that_are_cut_or_split_at_each_byte() {
    for (format, text, end) in [
        (Format::OpenAi, OPENAI, "\"finish_reason\":\"tool_calls\"}"),
        (Format::Anthropic, ANTHROPIC, "\"stop_reason\":\"tool_use\""),
        (Format::Gemini, GEMINI, "\"finishReason\":\"STOP\"}"),
        (Format::Responses, RESPONSES, "\"type\":\"response.completed\""),
    ] {
        let request = plain();
        let bytes = text.as_bytes();
        let whole = events(&request, format, &[bytes]);
        let split: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(events(&request, format, &split), whole, "{format:?}");
        for at in 0..bytes.len() {
            let first = &bytes[..at];
            let cut = events(&request, format, &[first]);
            let last = cut.last().unwrap();
            let is_complete = last["type"] == "response.completed";
            // Some providers do not end their streams in any other way than by a reason to stop.
            let has_ended = first.windows(end.len()).any(|it| it == end.as_bytes());
            assert!(!is_complete || has_ended, "{format:?} {at}");
            assert!(is_complete || last["type"] == "response.failed", "{format:?} {at}");
        }
    }
}

#[test]
fn errors_have_a_code_of_openais_list() {
    for (format, text, code, message) in [
        (Format::Anthropic, ANTHROPIC_ERROR, "server_error", "p/m: Overloaded"),
        (
            Format::Responses,
            RESPONSES_ERROR,
            "rate_limit_exceeded",
            "p/m: Slow down Please try again in 2s.",
        ),
    ] {
        let events = events(&plain(), format, &[text.as_bytes()]);
        let last = events.last().unwrap();
        assert_eq!(
            (&last["type"], last["sequence_number"].as_u64()),
            (&json!("response.failed"), Some(events.len() as u64 - 1))
        );
        assert_eq!(last["response"]["error"], json!({"code": code, "message": message}));
        assert_eq!(last["response"]["status"], "failed");
    }
    for (param, message, own_param, own_message) in [
        ("model", "late", "model", "late"),
        ("max_tokens", "max_tokens must be 1", "max_output_tokens", "max_output_tokens must be 1"),
        ("response_format.json_schema.schema", "x", "text.format.schema", "x"),
        ("messages[3].content", "messages[3].content is", "input", "messages[3].content is"),
        ("tools[0].function.name", "Tool 'a' must", "tools", "Tool 'a' must"),
        ("tools[0].tools[1].name", "x", "tools[0].tools[1].name", "x"),
    ] {
        let error = GatewayError::new(ErrorKind::Deadline, message).at(param);
        let body: Value = serde_json::from_slice(&Responses.error(&error)).unwrap();
        let body = &body["error"];
        assert_eq!(body["code"], "deadline_exceeded");
        assert_eq!((&body["param"], &body["message"]), (&json!(own_param), &json!(own_message)));
    }
    let broken = GatewayError::upstream(&UpstreamError::BrokenOff, None, "p/m");
    assert_eq!(broken.kind, ErrorKind::BadResponse);
}

/// OpenAI's own events are forwarded byte for byte, but for the last one.
#[test]
fn events_of_openai_are_forwarded() {
    let options = DecodeOptions { forward: true, ..DecodeOptions::default() };
    // Some servers write spaces around colons.
    let spaced = RESPONSES.replace("\"response\":", "\"response\" : ");
    for events in [RESPONSES, &spaced] {
        let mut decoder = Decoder::new(Format::Responses, ids(), options.clone());
        let (mut found, mut out) = (Vec::new(), Vec::new());
        decoder.feed(events.as_bytes(), &mut found).unwrap();
        let mut encoder = Responses.events(&plain(), info());
        encoder.report(&Report::default());
        found.iter().for_each(|event| encoder.event(event, &mut out));
        let text = String::from_utf8(out).unwrap();
        let (before, last) = text.split_once("event: response.completed").unwrap();
        assert_eq!(before, events.split("event: response.completed").next().unwrap());
        let last: Value =
            serde_json::from_str(last.trim().strip_prefix("data: ").unwrap()).unwrap();
        assert_eq!(last["response"]["id"], "resp_1");
        assert!(last["response"]["_2api"].is_object());
    }
}
