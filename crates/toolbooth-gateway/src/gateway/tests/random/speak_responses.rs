//! Answers as OpenAI writes them in Responses.

use serde_json::{Value, json};

use crate::gateway::tests::random::say::Ending;
use crate::gateway::tests::random::speak::Speech;

fn items(speech: &Speech<'_>) -> Vec<Value> {
    let mut items = Vec::new();
    let thoughts = speech.thoughts();
    if speech.answer.is_signed || !thoughts.is_empty() {
        let summary = json!({"type": "summary_text", "text": thoughts});
        let summary = if thoughts.is_empty() { vec![] } else { vec![summary] };
        items.push(json!({"id": "rs_1", "type": "reasoning", "summary": summary,
            "encrypted_content": speech.mark}));
    }
    if !speech.text().is_empty() {
        let part = json!({"type": "output_text", "text": speech.text(), "annotations": [], "logprobs": []});
        items.push(
            json!({"id": "msg_1", "type": "message", "role": "assistant", "status": "completed",
            "content": [part]}),
        );
    }
    for (at, (id, name, arguments)) in speech.calls().into_iter().enumerate() {
        items.push(json!({"id": format!("fc_{at}"), "type": "function_call", "status": "completed", "call_id": id,
            "name": name, "arguments": arguments}));
    }
    items
}

pub(super) fn response(speech: &Speech<'_>) -> Value {
    let reason = match speech.answer.ending {
        Ending::Done => None,
        Ending::Length => Some("max_output_tokens"),
        Ending::Filtered => Some("content_filter"),
    };
    let status = if reason.is_some() { "incomplete" } else { "completed" };
    json!({
        "id": "resp_1", "object": "response", "created_at": 1, "status": status, "model": "m",
        "output": items(speech), "error": null,
        "incomplete_details": reason.map(|reason| json!({"reason": reason})),
        "usage": {"input_tokens": 5, "output_tokens": 6, "total_tokens": 11,
            "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}},
    })
}

pub(super) fn stream(speech: &Speech<'_>) -> String {
    let mut cuts = speech.answer.cuts.clone();
    let end = response(speech);
    let mut begin = end.clone();
    begin["output"] = json!([]);
    begin["status"] = "in_progress".into();
    begin["usage"] = Value::Null;
    begin["incomplete_details"] = Value::Null;
    let mut events = vec![
        json!({"type": "response.created", "response": begin}),
        json!({"type": "response.in_progress", "response": begin}),
    ];
    for (at, item) in items(speech).into_iter().enumerate() {
        let id = item["id"].clone();
        let mut empty = item.clone();
        let event = |kind: &str, more: Value| {
            let mut event = json!({"type": format!("response.{kind}"), "output_index": at});
            event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            if kind.starts_with("output_item") {
                event
            } else {
                event["item_id"] = id.clone();
                event
            }
        };
        match item["type"].as_str().unwrap() {
            "reasoning" => {
                empty["summary"] = json!([]);
                events.push(event("output_item.added", json!({"item": empty})));
                if let Some(part) = item["summary"].get(0) {
                    let place = json!({"summary_index": 0});
                    let with = |more: Value| {
                        let mut all = place.clone();
                        all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
                        all
                    };
                    let empty = json!({"type": "summary_text", "text": ""});
                    events
                        .push(event("reasoning_summary_part.added", with(json!({"part": empty}))));
                    for piece in cuts.pieces(part["text"].as_str().unwrap()) {
                        events.push(event(
                            "reasoning_summary_text.delta",
                            with(json!({"delta": piece})),
                        ));
                    }
                    events.push(event(
                        "reasoning_summary_text.done",
                        with(json!({"text": part["text"]})),
                    ));
                    events.push(event("reasoning_summary_part.done", with(json!({"part": part}))));
                }
            }
            "message" => {
                empty["content"] = json!([]);
                empty["status"] = "in_progress".into();
                events.push(event("output_item.added", json!({"item": empty})));
                let part = &item["content"][0];
                let mut none = part.clone();
                none["text"] = "".into();
                events.push(event("content_part.added", json!({"content_index": 0, "part": none})));
                for piece in cuts.pieces(part["text"].as_str().unwrap()) {
                    let delta = json!({"content_index": 0, "delta": piece, "logprobs": []});
                    events.push(event("output_text.delta", delta));
                }
                let done = json!({"content_index": 0, "text": part["text"], "logprobs": []});
                events.push(event("output_text.done", done));
                events.push(event("content_part.done", json!({"content_index": 0, "part": part})));
            }
            _ => {
                empty["arguments"] = "".into();
                empty["status"] = "in_progress".into();
                events.push(event("output_item.added", json!({"item": empty})));
                for piece in cuts.pieces(item["arguments"].as_str().unwrap()) {
                    events.push(event("function_call_arguments.delta", json!({"delta": piece})));
                }
                let done = json!({"arguments": item["arguments"], "name": item["name"]});
                events.push(event("function_call_arguments.done", done));
            }
        }
        events.push(event("output_item.done", json!({"item": item})));
    }
    let kind =
        if end["status"] == "completed" { "response.completed" } else { "response.incomplete" };
    events.push(json!({"type": kind, "response": end}));
    for (at, event) in events.iter_mut().enumerate() {
        event["sequence_number"] = at.into();
    }
    let text =
        |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap());
    events.iter().map(text).collect()
}
