//! Answers as Anthropic writes them.

use serde_json::{Value, json};

use crate::gateway::tests::random::say::Ending;
use crate::gateway::tests::random::speak::Speech;

fn blocks(speech: &Speech<'_>) -> Vec<Value> {
    let mut blocks = Vec::new();
    let thoughts = speech.thoughts();
    if speech.answer.is_signed {
        blocks.push(match thoughts.is_empty() {
            true => json!({"type": "redacted_thinking", "data": speech.mark}),
            false => json!({"type": "thinking", "thinking": thoughts, "signature": speech.mark}),
        });
    }
    // Texts are not empty, and each is a block of its own.
    let texts = speech.answer.texts.iter().filter(|text| !text.trim().is_empty());
    blocks.extend(texts.map(|text| json!({"type": "text", "text": text})));
    for (id, name, arguments) in speech.calls() {
        // Anthropic's ids are portable.
        let id = format!("toolu_{}", id.replace(|c: char| !c.is_ascii_alphanumeric(), "_"));
        let input: Value = serde_json::from_str(arguments).unwrap();
        blocks.push(json!({"type": "tool_use", "id": id, "name": name, "input": input}));
    }
    blocks
}

pub(super) fn message(speech: &Speech<'_>) -> Value {
    let stop_reason = match speech.answer.ending {
        Ending::Length => "max_tokens",
        Ending::Filtered => "refusal",
        Ending::Done if speech.calls().is_empty() => "end_turn",
        Ending::Done => "tool_use",
    };
    json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": blocks(speech),
        "stop_reason": stop_reason, "stop_sequence": null, "usage": {"input_tokens": 5, "output_tokens": 6},
    })
}

pub(super) fn stream(speech: &Speech<'_>) -> String {
    let mut cuts = speech.answer.cuts.clone();
    let end = message(speech);
    let mut begin = end.clone();
    begin["content"] = json!([]);
    begin["stop_reason"] = Value::Null;
    let mut events =
        vec![json!({"type": "message_start", "message": begin}), json!({"type": "ping"})];
    for (at, block) in blocks(speech).into_iter().enumerate() {
        let mut empty = block.clone();
        let (kind, name, whole) = match block["type"].as_str().unwrap() {
            "text" => ("text_delta", "text", block["text"].as_str().unwrap().to_owned()),
            "thinking" => {
                ("thinking_delta", "thinking", block["thinking"].as_str().unwrap().to_owned())
            }
            "tool_use" => {
                let calls = speech.calls();
                let own = at + calls.len() - blocks(speech).len();
                ("input_json_delta", "partial_json", calls[own].2.to_owned())
            }
            _ => ("", "", String::new()),
        };
        match name {
            "partial_json" => empty["input"] = json!({}),
            "" => {}
            name => empty[name] = "".into(),
        }
        if name == "thinking" {
            empty["signature"] = "".into();
        }
        events.push(json!({"type": "content_block_start", "index": at, "content_block": empty}));
        let is_empty = whole == "{}";
        for piece in cuts.pieces(&whole).into_iter().filter(|_| !is_empty) {
            let mut delta = json!({"type": kind});
            delta[name] = piece.into();
            events.push(json!({"type": "content_block_delta", "index": at, "delta": delta}));
        }
        if name == "thinking" {
            let delta = json!({"type": "signature_delta", "signature": block["signature"]});
            events.push(json!({"type": "content_block_delta", "index": at, "delta": delta}));
        }
        events.push(json!({"type": "content_block_stop", "index": at}));
    }
    let delta = json!({"stop_reason": end["stop_reason"], "stop_sequence": null});
    events.push(json!({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 6}}));
    events.push(json!({"type": "message_stop"}));
    let text =
        |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap());
    events.iter().map(text).collect()
}
