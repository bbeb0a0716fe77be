//! Streams in OpenAI's format. An event that needs no change is passed on byte for byte.

use super::{arguments, finish_reason, text, unknown_reason, usage};
use crate::gateway::adapter::reported;
use crate::gateway::builder::Builder;
use crate::gateway::sse::SseEvent;
use crate::gateway::stream::{Delta, RawEvent, StreamEvent, event_bytes};
use crate::gateway::{
    ChunkEncoder, Completion, CompletionInfo, FinishReason, IdSource, UpstreamError,
};
use crate::json::{self, Object, Value};

/// The most JSON values in an event.
const MAX_VALUES: usize = 262_144;

/// The state of a stream.
#[derive(Debug)]
pub(in crate::gateway) struct Stream {
    builder: Builder,
    /// The provider's index of each call, and its id there.
    calls: Vec<(Option<u64>, String)>,
    finished: bool,
    /// The event that has only the usage: it comes last, wherever the provider sends it.
    usage_event: Option<RawEvent>,
}

/// What one event turns out to be.
struct Chunk {
    deltas: Vec<Delta>,
    /// Whether the value was changed, so that the event must be written anew.
    changed: bool,
}

impl Stream {
    pub(in crate::gateway) fn new(ids: IdSource, collect: bool) -> Self {
        Self {
            builder: Builder::new(ids, collect),
            calls: Vec::new(),
            finished: false,
            usage_event: None,
        }
    }

    pub(in crate::gateway) fn completion(&self) -> &Completion {
        &self.builder.completion
    }

    pub(in crate::gateway) fn into_completion(self) -> Completion {
        self.builder.completion
    }

    pub(in crate::gateway) fn event(
        &mut self,
        event: &SseEvent<'_>,
        events: &mut Vec<StreamEvent>,
    ) -> Result<(), UpstreamError> {
        let unchanged = || {
            if !event.is_cut {
                return RawEvent { bytes: event.raw.to_vec(), unchanged: true };
            }
            // Without a blank line, what follows, such as an error, would be a part of this event.
            let bytes = [event.raw.trim_ascii_end(), b"\n\n"].concat();
            RawEvent { bytes, unchanged: false }
        };
        let Some(data) = &event.data else {
            if event.is_cut {
                return Ok(());
            }
            events.push(StreamEvent { raw: Some(unchanged()), deltas: Vec::new() });
            return Ok(());
        };
        if data.trim() == "[DONE]" {
            self.complete(Some(unchanged()), events);
            return Ok(());
        }
        let Ok(value) = json::parse_within(data, &mut { MAX_VALUES }) else {
            return Err(UpstreamError::malformed("an event of the stream is not JSON"));
        };
        if event.name == "error" || value.get("error").is_some_and(|error| !error.is_null()) {
            return Err(reported(200, &value));
        }
        let Value::Object(mut value) = value else {
            return Err(UpstreamError::malformed("an event of the stream is not an object"));
        };
        self.read_head(&value);
        let has_choice =
            value.get("choices").and_then(Value::as_array).is_some_and(|it| !it.is_empty());
        if let Some(Value::Object(object)) = value.get("usage") {
            self.builder.completion.usage = Some(usage(object));
            if !has_choice {
                self.usage_event = Some(unchanged());
                return Ok(());
            }
        }
        let mut chunk = Chunk { deltas: Vec::new(), changed: false };
        if has_choice && let Some(Value::Array(mut choices)) = value.take("choices") {
            if let Some(Value::Object(choice)) = choices.first_mut() {
                self.read_choice(choice, &mut chunk, events)?;
            }
            value.insert("choices".into(), Value::Array(choices));
        }
        let raw = if chunk.changed {
            RawEvent { bytes: event_bytes(&Value::Object(value)), unchanged: false }
        } else {
            unchanged()
        };
        events.push(StreamEvent { raw: Some(raw), deltas: chunk.deltas });
        Ok(())
    }

    /// The stream has ended without `[DONE]`.
    pub(in crate::gateway) fn end(
        &mut self,
        events: &mut Vec<StreamEvent>,
    ) -> Result<(), UpstreamError> {
        if !self.finished {
            return Err(UpstreamError::BrokenOff);
        }
        self.complete(None, events);
        Ok(())
    }

    /// The last events: a finish chunk if the provider sent none, the usage, and the end.
    fn complete(&mut self, done: Option<RawEvent>, events: &mut Vec<StreamEvent>) {
        if !self.finished {
            self.finished = true;
            self.complete_calls(events);
            self.builder.warn("The provider sent no finish reason".to_owned());
            let finish = self.builder.finish(FinishReason::Stop);
            events.push(self.synthetic(vec![finish]));
        }
        if let Some(usage) = self.builder.completion.usage.clone() {
            let event = match self.usage_event.take() {
                Some(raw) => StreamEvent { raw: Some(raw), deltas: vec![Delta::Usage(usage)] },
                None => self.synthetic(vec![Delta::Usage(usage)]),
            };
            events.push(event);
        }
        let raw = done
            .unwrap_or_else(|| RawEvent { bytes: b"data: [DONE]\n\n".to_vec(), unchanged: false });
        events.push(StreamEvent { raw: Some(raw), deltas: vec![Delta::Done] });
    }

    /// Gives calls without arguments an empty object.
    fn complete_calls(&mut self, events: &mut Vec<StreamEvent>) {
        let deltas = self.builder.complete_calls();
        if !deltas.is_empty() {
            events.push(self.synthetic(deltas));
        }
    }

    /// An event that the provider has not sent, with the id and the model of those that it has.
    fn synthetic(&self, deltas: Vec<Delta>) -> StreamEvent {
        let Completion { id, model, created, .. } = self.completion();
        let info = CompletionInfo {
            id: id.clone().unwrap_or_default(),
            model: model.clone().unwrap_or_default(),
            created: created.unwrap_or_default(),
        };
        let mut encoder = ChunkEncoder::continuing(info);
        let bytes = deltas.iter().flat_map(|delta| encoder.delta(delta)).collect();
        StreamEvent { raw: Some(RawEvent { bytes, unchanged: false }), deltas }
    }

    fn read_head(&mut self, value: &Object<'_>) {
        let completion = &mut self.builder.completion;
        if completion.id.is_none() {
            completion.id = text(value, "id").map(str::to_owned);
            completion.model = text(value, "model").map(str::to_owned);
            let created = value.get("created").and_then(Value::as_number);
            completion.created = created.and_then(serde_json::Number::as_u64);
        }
    }

    fn read_choice(
        &mut self,
        choice: &mut Object<'_>,
        chunk: &mut Chunk,
        events: &mut Vec<StreamEvent>,
    ) -> Result<(), UpstreamError> {
        if let Some(Value::Object(mut delta)) = choice.take("delta") {
            self.read_delta(&mut delta, chunk)?;
            choice.insert("delta".into(), Value::Object(delta));
        }
        let Some(Value::String(word)) = choice.get("finish_reason") else { return Ok(()) };
        if self.finished {
            choice.insert("finish_reason".into(), Value::Null);
            chunk.changed = true;
            return Ok(());
        }
        self.finished = true;
        let known = finish_reason(word);
        if known.is_none() {
            self.builder.warn(unknown_reason(word));
        }
        // The event itself may have begun a call, so the missing arguments must not precede it.
        if chunk.deltas.is_empty() {
            self.complete_calls(events);
        } else {
            self.complete_in_place(choice, chunk);
        }
        let finish = self.builder.finish(known.unwrap_or_default());
        let Some(Value::String(word)) = choice.get("finish_reason") else { return Ok(()) };
        if let Delta::Finish(reason) = finish
            && reason.as_str() != word
            && word != "function_call"
        {
            choice.insert("finish_reason".into(), reason.as_str().into());
            chunk.changed = true;
        }
        chunk.deltas.push(finish);
        Ok(())
    }

    /// Adds empty arguments to the calls of an event that has the finish reason too.
    fn complete_in_place(&mut self, choice: &mut Object<'_>, chunk: &mut Chunk) {
        let deltas = self.builder.complete_calls();
        if deltas.is_empty() {
            return;
        }
        chunk.changed = true;
        let Some(Value::Object(mut delta)) = choice.take("delta") else { return };
        let mut calls = match delta.take("tool_calls") {
            Some(Value::Array(calls)) => calls,
            _ => Vec::new(),
        };
        for missing in &deltas {
            let Delta::Arguments { index, fragment } = missing else { continue };
            let function =
                Object::from_iter([("arguments", Value::String(fragment.clone().into()))]);
            let existing = calls.iter_mut().find_map(|call| match call {
                Value::Object(call) if index_of(call) == Some(*index as u64) => Some(call),
                _ => None,
            });
            if let Some(call) = existing {
                if let Some(Value::Object(mut function)) = call.take("function") {
                    function.insert("arguments".into(), Value::String(fragment.clone().into()));
                    call.insert("function".into(), Value::Object(function));
                }
            } else {
                calls.push(Value::Object(Object::from_iter([
                    ("index", Value::Number((*index).into())),
                    ("function", Value::Object(function.into_owned())),
                ])));
            }
        }
        delta.insert("tool_calls".into(), Value::Array(calls));
        choice.insert("delta".into(), Value::Object(delta));
        chunk.deltas.extend(deltas);
    }

    fn read_delta(
        &mut self,
        delta: &mut Object<'_>,
        chunk: &mut Chunk,
    ) -> Result<(), UpstreamError> {
        if let Some(content) = text(delta, "content") {
            chunk.deltas.push(self.builder.text(content));
        }
        if let Some(refusal) = text(delta, "refusal") {
            chunk.deltas.push(self.builder.refusal(refusal));
        }
        if let Some(reasoning) = text(delta, "reasoning_content").or(text(delta, "reasoning")) {
            chunk.deltas.push(self.builder.reasoning(reasoning));
        }
        if let Some(extra) = delta.get("extra_content").filter(|extra| !extra.is_null()) {
            chunk.deltas.push(self.builder.extra_content(extra.clone().into_owned()));
        }
        self.keep_reasoning_details(delta);
        if let Some(Value::Array(mut calls)) = delta.take("tool_calls") {
            for call in &mut calls {
                let Value::Object(call) = call else {
                    return Err(UpstreamError::malformed("a tool call is not an object"));
                };
                self.read_call(call, chunk)?;
            }
            delta.insert("tool_calls".into(), Value::Array(calls));
        }
        Ok(())
    }

    /// OpenRouter's form of signatures and encrypted reasoning, which it needs back.
    fn keep_reasoning_details(&mut self, delta: &Object<'_>) {
        if !self.builder.collects() {
            return;
        }
        let Some(Value::Array(more)) = delta.get("reasoning_details") else { return };
        let extra = &mut self.builder.completion.message.extra;
        let mut details = match extra.take("reasoning_details") {
            Some(Value::Array(details)) => details,
            _ => Vec::new(),
        };
        details.extend(more.iter().map(|detail| detail.clone().into_owned()));
        extra.insert("reasoning_details".into(), Value::Array(details));
    }

    fn read_call(&mut self, call: &mut Object<'_>, chunk: &mut Chunk) -> Result<(), UpstreamError> {
        let sent_index = index_of(call);
        let sent_id = text(call, "id").map(str::to_owned);
        let custom = call.get("type").and_then(Value::as_str) == Some("custom")
            || call.get("custom").is_some_and(|custom| !custom.is_null());
        let (member, text_member) =
            if custom { ("custom", "input") } else { ("function", "arguments") };
        let mut called = match call.take(member) {
            Some(Value::Object(called)) => called,
            _ => Object::default(),
        };
        let position = self.position(sent_index, sent_id.as_deref());
        let index = match position {
            Some(index) => {
                // Clients join the strings of all fragments, so these must not be repeated.
                for name in ["id", "type"] {
                    chunk.changed |= call.take(name).is_some_and(|value| !value.is_null());
                }
                chunk.changed |= called.take("name").is_some_and(|value| !value.is_null());
                index
            }
            None => self.begin_call(call, &called, sent_index, sent_id, custom, chunk)?,
        };
        if let Some(fragment) = arguments(&called, text_member) {
            if called.get(text_member).and_then(Value::as_str).is_none() {
                called.insert(text_member.into(), Value::String(fragment.clone().into()));
                chunk.changed = true;
            }
            if !fragment.is_empty() {
                chunk.deltas.push(self.builder.arguments(index, &fragment)?);
            }
        }
        call.insert(member.into(), Value::Object(called));
        if sent_index != Some(index as u64) {
            call.insert("index".into(), Value::Number(index.into()));
            chunk.changed = true;
        }
        Ok(())
    }

    /// The call that a fragment continues; `None` if it begins one. Some providers give several calls the same index,
    /// others send none: then the id tells them apart.
    fn position(&self, index: Option<u64>, id: Option<&str>) -> Option<usize> {
        let last = self.calls.len().checked_sub(1)?;
        let found = match index {
            Some(index) => self.calls.iter().rposition(|(known, _)| *known == Some(index)),
            None if id.is_none() => Some(last),
            None => self.calls.iter().rposition(|(_, known)| Some(known.as_str()) == id),
        }?;
        let (_, known) = self.calls.get(found)?;
        (id.is_none_or(|id| id == known)).then_some(found)
    }

    fn begin_call(
        &mut self,
        call: &mut Object<'_>,
        called: &Object<'_>,
        sent_index: Option<u64>,
        sent_id: Option<String>,
        custom: bool,
        chunk: &mut Chunk,
    ) -> Result<usize, UpstreamError> {
        let Some(name) = text(called, "name") else {
            return Err(UpstreamError::malformed("a tool call names no function"));
        };
        let index = self.calls.len();
        let mut extra = call.clone();
        extra.retain(|name, _| !matches!(name, "id" | "type" | "index"));
        let delta = self.builder.call(sent_id.as_deref(), name, custom, extra.into_owned())?;
        if let Delta::Call { id, .. } = &delta
            && sent_id.is_none()
        {
            call.insert("id".into(), Value::String(id.clone().into()));
            chunk.changed = true;
        }
        if text(call, "type").is_none() {
            call.insert("type".into(), if custom { "custom" } else { "function" }.into());
            chunk.changed = true;
        }
        self.calls.push((sent_index, sent_id.unwrap_or_default()));
        chunk.deltas.push(delta);
        Ok(index)
    }
}

fn index_of(call: &Object<'_>) -> Option<u64> {
    call.get("index").and_then(Value::as_number).and_then(serde_json::Number::as_u64)
}
