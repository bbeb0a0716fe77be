//! Streams in OpenAI's format. An event that needs no change is passed on byte for byte.

use super::{check_end, first_choice, written_arguments};
use crate::gateway::adapter::{
    EventDecoder, MAX_EVENT_VALUES, event_data, members_of_answer, reported,
};
use crate::gateway::{Builder, Delta, Read, SseEvent, UpstreamError};
use crate::wire::fields::{count, text};
use crate::wire::openai::{argument_of, finish_reason};
use crate::wire::{Arguments, Finish, FinishReason, ToolCall, Usage};
use toolbooth::json::{self, Object, Value};

#[derive(Default)]
pub(in crate::gateway::adapter) struct Stream {
    /// The provider's index of each call, and its id there.
    calls: Vec<(Option<u64>, String)>,
    finished: bool,
    /// The event that has only the usage: it comes last, wherever the provider sends it.
    usage_event: Option<Vec<u8>>,
}

impl EventDecoder for Stream {
    fn event(&mut self, event: &SseEvent<'_>, builder: &mut Builder) -> Read {
        let Some(data) = &event.data else {
            builder.end_event((!event.is_cut).then(|| event.bytes()));
            return Ok(());
        };
        if data.trim() == "[DONE]" {
            self.complete(builder)?;
            builder.deltas.push(Delta::Done);
            builder.end_event(Some(event.bytes()));
            return Ok(());
        }
        let value = event_data(data, MAX_EVENT_VALUES)?;
        if event.name == "error" {
            return Err(reported(200, &value));
        }
        let chunk = members_of_answer(value)?;
        read_head(&chunk, builder);
        let choice = first_choice(&chunk);
        let usage = chunk.get("usage").and_then(Usage::of_openai);
        // Clients get it in an event of its own: they may not want it, and some add up what they get.
        let has_usage = usage.is_some();
        if let Some(usage) = usage {
            builder.completion.usage = Some(usage);
            if choice.is_none() {
                self.usage_event = Some(event.bytes());
                return Ok(());
            }
        }
        let change = match choice {
            Some(choice) => self.choice(choice, data, builder)?,
            None => None,
        };
        // Only the gateway adds this member.
        let is_changed = change.is_some() || has_usage || chunk.contains("_2api");
        builder.end_event(Some(match is_changed {
            true => changed(chunk, change, &builder.deltas),
            false => event.bytes(),
        }));
        Ok(())
    }

    /// The stream has ended without `[DONE]`.
    fn end(&mut self, builder: &mut Builder) -> Read {
        if !self.finished {
            return Err(UpstreamError::BrokenOff);
        }
        self.complete(builder)?;
        builder.deltas.push(Delta::Done);
        Ok(())
    }
}

impl Stream {
    /// The events before the end: a finish reason if the provider sent none, and the usage.
    fn complete(&mut self, builder: &mut Builder) -> Read {
        if !self.finished {
            self.finished = true;
            builder.warn("The provider sent no finish reason".to_owned());
            builder.complete_calls();
            builder.finish(FinishReason::Stop)?;
            builder.end_event(None);
        }
        if let Some(usage) = builder.completion.usage.clone() {
            builder.deltas.push(Delta::Usage(usage));
            builder.end_event(self.usage_event.take());
        }
        Ok(())
    }

    /// Reads a choice. If clients could not read it, returns its `finish_reason` as they can.
    fn choice(
        &mut self,
        choice: &Object<'_>,
        data: &str,
        builder: &mut Builder,
    ) -> Read<Option<Option<&'static str>>> {
        check_end(choice)?;
        let delta = choice.get("delta").and_then(Value::as_object);
        let mut is_changed = false;
        if let Some(delta) = delta {
            read_text(delta, builder);
            let calls = delta.get("tool_calls").and_then(Value::as_array).unwrap_or_default();
            for (at, call) in calls.iter().enumerate() {
                let Value::Object(call) = call else {
                    return Err(UpstreamError::malformed("a tool call is not an object"));
                };
                is_changed |= self.call(call, || written_arguments(data, "delta", at), builder)?;
            }
        }
        let Some(word) = text(choice.get("finish_reason")) else {
            return Ok(is_changed.then_some(None));
        };
        if std::mem::replace(&mut self.finished, true) {
            return Ok(Some(None));
        }
        let before = builder.deltas.len();
        builder.complete_calls();
        is_changed |= builder.deltas.len() > before;
        let reason = builder.reason(&Finish { word: word.into(), reason: finish_reason(word) });
        builder.finish(reason)?;
        let own = builder.completion.finish_reason.word(!builder.calls().is_empty());
        is_changed |= own != word && word != "function_call";
        Ok(is_changed.then_some(Some(own)))
    }

    /// Reads a part of a call; `written` has its arguments as the provider wrote them. Returns whether clients could not read it.
    fn call(
        &mut self,
        call: &Object<'_>,
        written: impl Fn() -> Option<String>,
        builder: &mut Builder,
    ) -> Read<bool> {
        let sent_index = count(call.get("index"));
        let (id, kind) = (text(call.get("id")), text(call.get("type")));
        let custom =
            kind == Some("custom") || call.get("custom").is_some_and(|custom| !custom.is_null());
        let (member, argument) = argument_of(custom);
        let called = call.get(member).and_then(Value::as_object);
        let name = text(called.and_then(|called| called.get("name")));
        let arguments = called.and_then(|called| called.get(argument)).filter(|it| !it.is_null());
        let begins = name.is_some() && arguments.is_some_and(|it| it.as_str() != Some(""));
        let position = self.position(sent_index, id);
        let position = position.filter(|at| !(begins && is_complete(builder.calls().get(*at))));
        let (index, mut is_changed) = match position {
            // Clients join the strings of all parts, so these must not be repeated.
            Some(index) => (index, id.is_some() || kind.is_some() || name.is_some()),
            None => {
                let mut extra = call.clone();
                extra.retain(|name, _| !matches!(name, "id" | "type" | "index") && name != member);
                let (id, name) = (id.unwrap_or_default(), name.unwrap_or_default());
                builder.call(id, name, custom, extra.into_owned())?;
                self.calls.push((sent_index, id.to_owned()));
                let has_own_id = builder.calls().last().is_some_and(|call| call.id == id);
                (self.calls.len() - 1, !has_own_id || kind.is_none())
            }
        };
        match arguments {
            None => {}
            Some(Value::String(fragment)) => builder.arguments(index, fragment)?,
            // Some providers send an object.
            Some(value) => {
                is_changed = true;
                builder.arguments(index, &written().unwrap_or_else(|| value.text()))?;
            }
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

/// Whether the arguments of a call can have no further part. Some providers give a second call the id of the first.
fn is_complete(call: Option<&ToolCall<'_>>) -> bool {
    let Some(ToolCall { arguments: Arguments::Text(text), custom: false, .. }) = call else {
        return false;
    };
    text.ends_with('}') && json::parse(text).is_ok()
}

/// The event with the calls that are in the deltas, and with this `finish_reason`.
fn changed(
    mut chunk: Object<'_>,
    change: Option<Option<&'static str>>,
    deltas: &[Delta],
) -> Vec<u8> {
    for name in ["_2api", "usage"] {
        chunk.take(name);
    }
    if let Some(word) = change
        && let Some(Value::Array(mut choices)) = chunk.take("choices")
    {
        if let Some(Value::Object(choice)) = choices.first_mut() {
            choice.insert("finish_reason".into(), word.map_or(Value::Null, Value::from));
            let mut delta = match choice.take("delta") {
                Some(Value::Object(delta)) => delta,
                _ => Object::default(),
            };
            delta.take("tool_calls");
            let calls: Vec<_> = deltas.iter().filter_map(Delta::call_part).collect();
            if !calls.is_empty()
                && let Ok(calls) =
                    json::parse_within(&json::to_string(&calls), &mut { MAX_EVENT_VALUES })
            {
                delta.insert("tool_calls".into(), calls.into_owned());
            }
            choice.insert("delta".into(), Value::Object(delta));
        }
        chunk.insert("choices".into(), Value::Array(choices));
    }
    format!("data: {}\n\n", Value::Object(chunk).text()).into_bytes()
}

fn read_head(chunk: &Object<'_>, builder: &mut Builder) {
    let completion = &mut builder.completion;
    if completion.id.is_none() {
        completion.id = text(chunk.get("id")).map(str::to_owned);
        completion.model = text(chunk.get("model")).map(str::to_owned);
        completion.created = count(chunk.get("created"));
    }
}

fn read_text(delta: &Object<'_>, builder: &mut Builder) {
    let string = |name| text(delta.get(name)).unwrap_or_default();
    builder.text(string("content"));
    builder.refusal(string("refusal"));
    builder.reasoning(text(delta.get("reasoning_content")).unwrap_or(string("reasoning")));
    if let Some(extra) = delta.get("extra_content").filter(|extra| !extra.is_null()) {
        builder.extra_content(extra.clone().into_owned());
    }
    // OpenRouter's form of signatures and encrypted reasoning, which it needs back.
    if let Some(Value::Array(more)) = delta.get("reasoning_details")
        && builder.collect
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
