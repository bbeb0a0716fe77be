//! Streams in OpenAI's format. An event that needs no change is passed on byte for byte.

use crate::gateway::adapter::{EventDecoder, event_data, members_of_answer, reported};
use crate::gateway::builder::Builder;
use crate::gateway::front::event_bytes;
use crate::gateway::sse::SseEvent;
use crate::gateway::stream::{Delta, RawEvent, StreamEvent};
use crate::gateway::{ChunkEncoder, Completion, CompletionInfo, UpstreamError};
use crate::wire::fields::take_text;
use crate::wire::openai::finish_reason;
use crate::wire::{Finish, FinishReason, ToolCall, Usage};
use toolbooth::json::{Object, Value};

/// The most JSON values in an event.
const MAX_VALUES: usize = 262_144;

/// The state of a stream.
#[derive(Debug, Default)]
pub(super) struct Stream {
    /// The provider's index of each call, and its id there.
    calls: Vec<(Option<u64>, String)>,
    finished: bool,
    /// The event that has only the usage: it comes last, wherever the provider sends it.
    usage_event: Option<RawEvent>,
}

impl EventDecoder for Stream {
    fn event(
        &mut self,
        event: &SseEvent<'_>,
        builder: &mut Builder,
        events: &mut Vec<StreamEvent>,
    ) -> Result<(), UpstreamError> {
        let Some(data) = &event.data else {
            if !event.is_cut {
                events.push(StreamEvent { raw: Some(unchanged(event)), deltas: Vec::new() });
            }
            return Ok(());
        };
        if data.trim() == "[DONE]" {
            self.complete(Some(unchanged(event)), builder, events);
            return Ok(());
        }
        let value = event_data(data, MAX_VALUES)?;
        if event.name == "error" {
            return Err(reported(200, &value));
        }
        let mut chunk = members_of_answer(value)?;
        read_head(&chunk, builder);
        let choices = match chunk.get("choices") {
            Some(Value::Array(choices)) if !choices.is_empty() => chunk.take("choices"),
            _ => None,
        };
        if let Some(usage) = chunk.get("usage").and_then(Usage::of_openai) {
            builder.completion.usage = Some(usage);
            if choices.is_none() {
                self.usage_event = Some(unchanged(event));
                return Ok(());
            }
        }
        let mut deltas = Vec::new();
        let mut is_changed = false;
        if let Some(Value::Array(mut choices)) = choices {
            if let Some(Value::Object(choice)) = choices.first_mut() {
                is_changed = self.choice(choice, builder, &mut deltas)?;
            }
            chunk.insert("choices".into(), Value::Array(choices));
        }
        let raw = match is_changed {
            true => RawEvent { bytes: event_bytes(&Value::Object(chunk)), unchanged: false },
            false => unchanged(event),
        };
        events.push(StreamEvent { raw: Some(raw), deltas });
        Ok(())
    }

    /// The stream has ended without `[DONE]`.
    fn end(
        &mut self,
        builder: &mut Builder,
        events: &mut Vec<StreamEvent>,
    ) -> Result<(), UpstreamError> {
        if !self.finished {
            return Err(UpstreamError::BrokenOff);
        }
        self.complete(None, builder, events);
        Ok(())
    }
}

impl Stream {
    /// The last events: a finish chunk if the provider sent none, the usage, and the end.
    fn complete(
        &mut self,
        done: Option<RawEvent>,
        builder: &mut Builder,
        events: &mut Vec<StreamEvent>,
    ) {
        if !self.finished {
            self.finished = true;
            builder.warn("The provider sent no finish reason".to_owned());
            let mut deltas = builder.complete_calls();
            deltas.push(builder.finish(FinishReason::Stop));
            events.push(synthetic(deltas, &builder.completion));
        }
        if let Some(usage) = builder.completion.usage.clone() {
            let deltas = vec![Delta::Usage(usage)];
            events.push(match self.usage_event.take() {
                Some(raw) => StreamEvent { raw: Some(raw), deltas },
                None => synthetic(deltas, &builder.completion),
            });
        }
        let raw = done
            .unwrap_or_else(|| RawEvent { bytes: b"data: [DONE]\n\n".to_vec(), unchanged: false });
        events.push(StreamEvent { raw: Some(raw), deltas: vec![Delta::Done] });
    }

    /// Reads a choice, and changes what clients could not read. Returns whether it did.
    fn choice(
        &mut self,
        choice: &mut Object<'_>,
        builder: &mut Builder,
        deltas: &mut Vec<Delta>,
    ) -> Result<bool, UpstreamError> {
        let mut delta = match choice.take("delta") {
            Some(Value::Object(delta)) => delta,
            _ => Object::default(),
        };
        read_text(&delta, builder, deltas);
        let mut is_changed = false;
        for call in delta.get("tool_calls").and_then(Value::as_array).unwrap_or_default() {
            let Value::Object(call) = call else {
                return Err(UpstreamError::malformed("a tool call is not an object"));
            };
            is_changed |= self.call(call, builder, deltas)?;
        }
        let finish = take_text(choice, &["finish_reason"]);
        let mut word = finish.as_ref().map_or(Value::Null, |word| Value::String(word.clone()));
        if let Some(finish) = finish {
            if std::mem::replace(&mut self.finished, true) {
                (word, is_changed) = (Value::Null, true);
            } else {
                let completed = builder.complete_calls();
                is_changed |= !completed.is_empty();
                deltas.extend(completed);
                let reason = finish_reason(&finish);
                let reason = builder.reason(&Finish { word: finish.clone(), reason });
                let last = builder.finish(reason);
                if let Delta::Finish(reason) = last
                    && reason.as_str() != finish
                    && finish != "function_call"
                {
                    (word, is_changed) = (reason.as_str().into(), true);
                }
                deltas.push(last);
            }
        }
        choice.insert("finish_reason".into(), word);
        if is_changed {
            let calls = deltas.iter().filter_map(|delta| call_part(delta, builder.calls()));
            let calls = Vec::from_iter(calls);
            delta.take("tool_calls");
            if !calls.is_empty() {
                delta.insert("tool_calls".into(), Value::Array(calls));
            }
        }
        choice.insert("delta".into(), Value::Object(delta));
        Ok(is_changed)
    }

    /// Reads a part of a call. Returns whether clients could not read it.
    fn call(
        &mut self,
        call: &Object<'_>,
        builder: &mut Builder,
        deltas: &mut Vec<Delta>,
    ) -> Result<bool, UpstreamError> {
        let sent_index = call.get("index").and_then(|it| it.as_number()?.as_u64());
        let (id, kind) = (text(call, "id"), text(call, "type"));
        let custom =
            kind == Some("custom") || call.get("custom").is_some_and(|custom| !custom.is_null());
        let (member, argument) =
            if custom { ("custom", "input") } else { ("function", "arguments") };
        let called = call.get(member).and_then(Value::as_object);
        let name = called.and_then(|called| text(called, "name"));
        let (index, mut is_changed) = match self.position(sent_index, id) {
            // Clients join the strings of all parts, so these must not be repeated.
            Some(index) => (index, id.is_some() || kind.is_some() || name.is_some()),
            None => {
                let mut extra = call.clone();
                extra.retain(|name, _| !matches!(name, "id" | "type" | "index") && name != member);
                let (id, name) = (id.unwrap_or_default(), name.unwrap_or_default());
                deltas.push(builder.call(id, name, custom, extra.into_owned())?);
                self.calls.push((sent_index, id.to_owned()));
                (self.calls.len() - 1, id.is_empty() || kind.is_none())
            }
        };
        let fragment = match called.and_then(|called| called.get(argument)) {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(fragment)) => fragment.as_ref().to_owned(),
            // Some providers send an object.
            Some(value) => {
                is_changed = true;
                value.text()
            }
        };
        if !fragment.is_empty() {
            deltas.push(builder.arguments(index, &fragment)?);
        }
        Ok(is_changed || sent_index != Some(index as u64))
    }

    /// The call that a part continues; `None` if it begins one. Some providers give several calls the same index,
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
}

/// The event as the provider sent it.
fn unchanged(event: &SseEvent<'_>) -> RawEvent {
    if !event.is_cut {
        return RawEvent { bytes: event.raw.to_vec(), unchanged: true };
    }
    // Without a blank line, what follows, such as an error, would be a part of this event.
    let bytes = [event.raw.trim_ascii_end(), b"\n\n"].concat();
    RawEvent { bytes, unchanged: false }
}

/// An event that the provider has not sent, with the id and the model of those that it has.
fn synthetic(deltas: Vec<Delta>, completion: &Completion) -> StreamEvent {
    let Completion { id, model, created, .. } = completion;
    let info = CompletionInfo {
        id: id.clone().unwrap_or_default(),
        model: model.clone().unwrap_or_default(),
        created: created.unwrap_or_default(),
    };
    let mut encoder = ChunkEncoder::continuing(info);
    let bytes = deltas.iter().flat_map(|delta| encoder.delta(delta)).collect();
    StreamEvent { raw: Some(RawEvent { bytes, unchanged: false }), deltas }
}

fn read_head(chunk: &Object<'_>, builder: &mut Builder) {
    let completion = &mut builder.completion;
    if completion.id.is_none() {
        completion.id = text(chunk, "id").map(str::to_owned);
        completion.model = text(chunk, "model").map(str::to_owned);
        completion.created = chunk.get("created").and_then(|it| it.as_number()?.as_u64());
    }
}

fn read_text(delta: &Object<'_>, builder: &mut Builder, deltas: &mut Vec<Delta>) {
    deltas.extend(text(delta, "content").and_then(|it| builder.text(it)));
    deltas.extend(text(delta, "refusal").and_then(|it| builder.refusal(it)));
    let reasoning = text(delta, "reasoning_content").or(text(delta, "reasoning"));
    deltas.extend(reasoning.and_then(|it| builder.reasoning(it)));
    if let Some(extra) = delta.get("extra_content").filter(|extra| !extra.is_null()) {
        deltas.push(builder.extra_content(extra.clone().into_owned()));
    }
    // OpenRouter's form of signatures and encrypted reasoning, which it needs back.
    if let Some(Value::Array(more)) = delta.get("reasoning_details")
        && builder.collects()
    {
        let extra = &mut builder.completion.message.extra;
        let mut details = match extra.take("reasoning_details") {
            Some(Value::Array(details)) => details,
            _ => Vec::new(),
        };
        details.extend(more.iter().map(|detail| detail.clone().into_owned()));
        extra.insert("reasoning_details".into(), Value::Array(details));
    }
}

/// A part of a call as clients can read it; `None` for other deltas.
fn call_part(delta: &Delta, calls: &[ToolCall<'static>]) -> Option<Value<'static>> {
    let string = |text: &str| Value::String(text.to_owned().into());
    let (index, name, arguments) = match delta {
        Delta::Call { index, name, .. } => (*index, Some(name), ""),
        Delta::Arguments { index, fragment } => (*index, None, fragment.as_str()),
        _ => return None,
    };
    let custom = calls.get(index)?.custom;
    let (member, argument) = if custom { ("custom", "input") } else { ("function", "arguments") };
    let mut called = Object::from_iter([(argument, string(arguments))]);
    if let Some(name) = name {
        called.insert("name".into(), string(name));
    }
    let mut part = Object::from_iter([("index", Value::Number(index.into()))]);
    part.insert(member.into(), Value::Object(called));
    if let Delta::Call { id, extra_content, .. } = delta {
        part.insert("id".into(), string(id));
        part.insert("type".into(), member.into());
        if let Some(extra) = extra_content {
            part.insert("extra_content".into(), extra.clone());
        }
    }
    Some(Value::Object(part))
}

/// A string that is not empty.
fn text<'v>(object: &'v Object<'_>, name: &str) -> Option<&'v str> {
    object.get(name).and_then(Value::as_str).filter(|text| !text.is_empty())
}
