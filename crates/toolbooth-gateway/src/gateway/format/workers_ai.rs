//! Workers AI, over its binding: requests as for OpenAI's Chat Completions. Newer models answer in that format; the others answer
//! with `response` and `tool_calls`, whole and in each event of a stream.

use std::borrow::Cow;

use crate::gateway::answer::builder::Builder;
use crate::gateway::answer::completion::Read;
use crate::gateway::answer::sse::SseEvent;
use crate::gateway::format::adapter::{Adapter, EventDecoder, event_data};
use crate::gateway::format::chat_completions::adapter::{self as openai, Stream};
use crate::gateway::raw_json::pair;
use toolbooth::json::{MAX_VALUES, Object, Value};

pub(in crate::gateway::format) static ADAPTER: Adapter = Adapter {
    path: |_, _| String::new(),
    models: Some("/models"),
    headers: |_| Vec::new(),
    decode: |text, body, builder| openai::decode(text, unified(body, "message"), builder),
    decoder: || Box::<Events>::default(),
    ..openai::COMPATIBLE
};

#[derive(Default)]
struct Events {
    stream: Stream,
    /// Whether the model has a format of its own, which has no reason to stop.
    is_plain: bool,
}

impl EventDecoder for Events {
    fn event(&mut self, event: &SseEvent<'_>, builder: &mut Builder) -> Read {
        let Some(data) = &event.data else { return self.stream.event(event, builder) };
        if data.trim() == "[DONE]" {
            if self.is_plain {
                self.chunk(STOP.into(), event, builder)?;
            }
            return self.stream.event(event, builder);
        }
        let value = event_data(data, MAX_VALUES)?;
        self.is_plain |= is_plain(&value);
        self.chunk(unified(value, "delta").text().into(), event, builder)
    }

    fn end(&mut self, builder: &mut Builder) -> Read {
        self.stream.end(builder)
    }
}

/// The reason to stop, as OpenAI writes it.
const STOP: &str = r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#;

impl Events {
    fn chunk(&mut self, data: Cow<'_, str>, event: &SseEvent<'_>, builder: &mut Builder) -> Read {
        let SseEvent { name, raw, is_cut, .. } = *event;
        self.stream.event(&SseEvent { name, data: Some(data), raw, is_cut }, builder)
    }
}

/// Whether an answer, or a chunk of one, is in the format of the older models.
fn is_plain(value: &Value<'_>) -> bool {
    value.get("choices").is_none()
        && ["response", "tool_calls"].iter().any(|name| value.get(name).is_some())
}

/// An answer, or a chunk of one, in OpenAI's format. `member` is the one of a choice that has the text.
fn unified<'t>(value: Value<'t>, member: &'static str) -> Value<'t> {
    if !is_plain(&value) {
        return value;
    }
    let Value::Object(mut body) = value else { return value };
    let mut message = Object::default();
    message.insert("role".into(), "assistant".into());
    match body.take("response") {
        None | Some(Value::Null) => {}
        Some(Value::String(text)) => {
            message.insert("content".into(), Value::String(text));
        }
        // With a schema, the model's JSON arrives parsed.
        Some(value) => {
            message.insert("content".into(), Value::String(value.text().into()));
        }
    }
    if let Some(Value::Array(calls)) = body.take("tool_calls") {
        let calls = calls.into_iter().enumerate().map(|(index, it)| unified_call(index, it));
        message.insert("tool_calls".into(), Value::Array(calls.collect()));
    }
    // A whole answer has ended, and says no reason.
    let reason = if member == "message" { "stop".into() } else { Value::Null };
    let choice = pair((member, Value::Object(message)), ("finish_reason", reason));
    body.insert("choices".into(), Value::Array(vec![Value::Object(choice)]));
    Value::Object(body)
}

/// A call in OpenAI's format, from `{name, arguments}` with arguments that are parsed.
fn unified_call(index: usize, call: Value<'_>) -> Value<'_> {
    let Value::Object(mut call) = call else { return call };
    if call.get("index").is_none_or(Value::is_null) {
        call.insert("index".into(), Value::Number(index.into()));
    }
    if call.contains("function") {
        return Value::Object(call);
    }
    let arguments = match call.take("arguments") {
        Some(Value::String(text)) => text,
        Some(value) => value.text().into(),
        None => "{}".into(),
    };
    let name = call.take("name").unwrap_or_default();
    let function = pair(("name", name), ("arguments", Value::String(arguments)));
    call.insert("type".into(), "function".into());
    call.insert("function".into(), Value::Object(function));
    Value::Object(call)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::gateway::answer::completion::Completion;
    use crate::gateway::answer::stream::{DecodeOptions, Decoder};
    use crate::gateway::format::adapter::Format;
    use crate::gateway::ids::IdSource;

    const CALL: &str = r#"{"name":"a","arguments":{"x":1}}"#;

    fn streamed(events: &[&str]) -> Completion {
        let options = DecodeOptions { collect: true, ..DecodeOptions::default() };
        let mut decoder = Decoder::new(Format::WorkersAi, IdSource::new([7; 16]), options);
        let mut deltas = Vec::new();
        for event in events {
            decoder.feed(format!("data: {event}\n\n").as_bytes(), &mut deltas).unwrap();
        }
        decoder.finish(&mut deltas).unwrap();
        decoder.into_completion()
    }

    /// The newer models answer like OpenAI's, the older ones in a format of their own, whole and streamed.
    #[test]
    fn both_formats() {
        let usage = json!({"prompt_tokens": 2, "completion_tokens": 3, "total_tokens": 5});
        let call: serde_json::Value = serde_json::from_str(CALL).unwrap();
        let as_openai = json!({"id": "c1", "type": "function", "function": {"name": "a", "arguments": "{\"x\":1}"}});
        let bodies = [
            json!({"response": "T", "tool_calls": [call], "usage": usage}),
            json!({"response": "T", "tool_calls": [as_openai], "usage": usage}),
            json!({"choices": [{"message": {"content": "T", "tool_calls": [as_openai]}, "finish_reason": "tool_calls"}], "usage": usage}),
        ];
        let whole = bodies.iter().map(|body| {
            let ids = IdSource::new([7; 16]);
            Format::WorkersAi
                .decode(body.to_string().as_bytes(), ids, DecodeOptions::default())
                .unwrap()
        });
        let plain = streamed(&[
            r#"{"response":"T","p":"abc"}"#,
            &format!(r#"{{"response":null,"tool_calls":[{CALL}]}}"#),
            &format!(r#"{{"response":"","usage":{usage}}}"#),
            "[DONE]",
        ]);
        let chunks = streamed(&[
            r#"{"choices":[{"delta":{"role":"assistant","content":"T"}}]}"#,
            &json!({"choices": [{"delta": {"tool_calls": [as_openai]}}]}).to_string(),
            r#"{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}"#,
            &format!(r#"{{"choices":[],"usage":{usage}}}"#),
            "[DONE]",
        ]);
        for completion in whole.chain([plain, chunks]) {
            assert_eq!(completion.message.content.as_deref(), Some("T"));
            let calls = &completion.message.tool_calls;
            assert_eq!((calls.len(), &*calls[0].name), (1, "a"));
            assert_eq!(calls[0].arguments.text(), "{\"x\":1}");
            assert!(!calls[0].id.is_empty());
            assert_eq!(completion.finish_reason.as_str(), "tool_calls");
            assert_eq!(completion.usage.as_ref().unwrap().total_tokens, 5);
            assert_eq!(completion.warnings, [""; 0]);
        }
    }

    /// The older models give no reason to stop, so that an empty answer is complete.
    #[test]
    fn an_empty_answer() {
        let ids = IdSource::new([7; 16]);
        let body = br#"{"response":""}"#;
        let whole = Format::WorkersAi.decode(body, ids, DecodeOptions::default()).unwrap();
        for completion in [whole, streamed(&[r#"{"response":""}"#, "[DONE]"])] {
            assert_eq!(completion.finish_reason.as_str(), "stop");
            assert_eq!(completion.warnings, ["The model has answered nothing"]);
        }
    }

    /// Calls that come in parts keep their places, and those of one chunk get theirs.
    #[test]
    fn calls_in_parts() {
        let part = |index: usize, arguments: &str| json!({"index": index, "function": {"arguments": arguments}});
        let begin = |index: usize, name: &str| json!({"index": index, "id": name, "type": "function", "function": {"name": name, "arguments": ""}});
        for events in [
            [
                json!([begin(0, "a"), begin(1, "b")]),
                json!([part(1, "{\"x\":")]),
                json!([part(0, "{}"), part(1, "2}")]),
            ],
            [json!([{"name": "a"}]), json!([{"name": "b", "arguments": {"x": 2}}]), json!([])],
            [
                json!([]),
                json!([{"name": "a", "arguments": null}, {"name": "b", "arguments": "{\"x\":2}"}]),
                json!([{"name": ""}]),
            ],
        ] {
            let events =
                events.map(|calls| json!({"response": "", "tool_calls": calls}).to_string());
            let mut events: Vec<_> = events.iter().map(String::as_str).collect();
            events.push("[DONE]");
            let calls = streamed(&events).message.tool_calls;
            let calls: Vec<_> =
                calls.iter().map(|call| (&*call.name, call.arguments.text())).collect();
            assert_eq!(calls, [("a", "{}".into()), ("b", "{\"x\":2}".into())], "{events:?}");
        }
    }

    /// A schema makes the older models answer with JSON that is parsed.
    #[test]
    fn an_answer_that_is_parsed() {
        let body = br#"{"response": {"a": 1}}"#;
        let ids = IdSource::new([7; 16]);
        let completion = Format::WorkersAi.decode(body, ids, DecodeOptions::default()).unwrap();
        assert_eq!(completion.message.content.as_deref(), Some(r#"{"a":1}"#));
    }
}
