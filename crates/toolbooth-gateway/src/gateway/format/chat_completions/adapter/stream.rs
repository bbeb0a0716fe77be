//! Streams in OpenAI's format. An event that needs no change is passed on byte for byte.

use crate::gateway::answer::builder::Builder;
use crate::gateway::answer::completion::{Read, UpstreamError};
use crate::gateway::answer::sse::SseEvent;
use crate::gateway::answer::stream::Delta;
use crate::gateway::format::adapter::errors::reported;
use crate::gateway::format::adapter::{
    EventDecoder, MAX_EVENT_VALUES, event_data, members_of_answer,
};
use crate::gateway::format::chat_completions::adapter::calls::Calls;
use crate::gateway::format::chat_completions::adapter::{
    check_end, check_report, first_choice, has_old_call, leave_out, reasoning, renew_call,
    written_arguments,
};
use crate::wire::fields::{count, text};
use crate::wire::openai::{content, finish_reason, read_media};
use crate::wire::{Finish, Item, Usage};
use toolbooth::json::{self, Object, Value};

#[derive(Default)]
pub(in crate::gateway::format) struct Stream {
    calls: Calls,
    finished: bool,
    /// The event that has only the usage: it comes last, wherever the provider sends it.
    usage_event: Option<Vec<u8>>,
}

/// What clients would not understand in a choice.
#[derive(Default)]
struct Change {
    /// Whether there is any. Then the reason, the calls and a content in parts are written anew.
    is_needed: bool,
    /// The reason to stop, as clients know it.
    finish_reason: Option<&'static str>,
}

impl EventDecoder for Stream {
    fn event(&mut self, event: &SseEvent<'_>, builder: &mut Builder) -> Read {
        let Some(data) = &event.data else {
            builder.end_event((!event.is_cut).then(|| event.bytes()));
            return Ok(());
        };
        let data = data.trim();
        if data == "[DONE]" {
            self.complete(builder)?;
            builder.deltas.push(Delta::Done);
            builder.end_event(Some(event.bytes()));
            return Ok(());
        }
        let value = event_data(data, MAX_EVENT_VALUES)?;
        if event.name == "error" {
            return Err(reported(200, &value));
        }
        let mut chunk = members_of_answer(value)?;
        check_report(&chunk)?;
        read_head(&chunk, builder);
        let is_repaired = repair(&mut chunk, builder.has_answer());
        let usage = chunk.get("usage").and_then(Usage::of_openai);
        let has_usage = usage.is_some();
        let choice = first_choice(&chunk);
        let usage = usage.or_else(|| further_usage(&chunk, choice));
        // Some providers write zeros into each chunk but one.
        let known = builder.completion.usage.take();
        let counts = |usage: &Usage| usage.total_tokens > 0 || known.is_none();
        builder.completion.usage = usage.filter(counts).or(known);
        let Some(choice) = choice else {
            self.without_choice(chunk, has_usage, event, builder);
            return Ok(());
        };
        let change = self.choice(choice, data, builder)?;
        // Only the gateway adds the last member. Clients get the usage in an event of its own: they may not want it, and some add up
        // what they get.
        let is_right = !change.is_needed && !is_repaired && !has_usage && !chunk.contains("_2api");
        builder.end_event(Some(match is_right {
            true => event.bytes(),
            false => changed(chunk, &change, &builder.deltas),
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
    /// The stream of OpenAI itself.
    pub(super) fn of_openai() -> Self {
        Self { calls: Calls::of_openai(), ..Self::default() }
    }

    /// The events before the end: a finish reason if the provider sent none, and the usage.
    fn complete(&mut self, builder: &mut Builder) -> Read {
        // Calls may follow the reason.
        self.calls.end(builder)?;
        if !std::mem::replace(&mut self.finished, true) {
            builder.warn("The provider sent no finish reason".to_owned());
            let reason = builder.no_reason();
            builder.check_answer(reason)?;
            builder.finish(reason)?;
        }
        builder.end_event(None);
        if let Some(usage) = builder.completion.usage.clone() {
            builder.deltas.push(Delta::Usage(usage));
            builder.end_event(self.usage_event.take());
        }
        Ok(())
    }

    /// A chunk that is about the whole answer, such as its usage. Others without a list of choices mean nothing to clients.
    fn without_choice(
        &mut self,
        mut chunk: Object<'_>,
        has_usage: bool,
        event: &SseEvent<'_>,
        builder: &mut Builder,
    ) {
        let is_chunk = chunk.get("choices").and_then(Value::as_array).is_some_and(<[_]>::is_empty);
        match (is_chunk, has_usage) {
            (true, true) => self.usage_event = Some(event.bytes()),
            (true, false) => builder.end_event(Some(event.bytes())),
            (false, true) => {
                chunk.insert("choices".into(), Value::Array(Vec::new()));
                self.usage_event = Some(written(chunk));
            }
            (false, false) => {}
        }
    }

    fn choice(&mut self, choice: &Object<'_>, data: &str, builder: &mut Builder) -> Read<Change> {
        check_end(choice)?;
        let empty = Object::default();
        let delta = choice.get("delta").and_then(Value::as_object).unwrap_or(&empty);
        let word = text(choice.get("finish_reason"));
        let calls = delta.get("tool_calls").and_then(Value::as_array).unwrap_or_default();
        let mut change = Change { is_needed: read_text(delta, builder)?, ..Change::default() };
        read_files(delta, builder)?;
        self.calls.begin_event();
        for (at, call) in calls.iter().enumerate() {
            match call {
                Value::Object(call) => {
                    let written = || written_arguments(data, at);
                    change.is_needed |= self.calls.add(call, written, builder)?;
                }
                Value::Null => change.is_needed = true,
                _ => return Err(UpstreamError::malformed("a tool call is not an object")),
            }
        }
        if let Some(word) = word {
            self.finish(word, &mut change, builder)?;
        }
        Ok(change)
    }

    fn finish(&mut self, word: &str, change: &mut Change, builder: &mut Builder) -> Read {
        if std::mem::replace(&mut self.finished, true) {
            change.is_needed = true;
            return Ok(());
        }
        let before = builder.deltas.len();
        self.calls.end(builder)?;
        builder.complete_calls();
        let reason = builder.reason(&Finish { word: word.into(), reason: finish_reason(word) });
        let is_complete = builder.deltas.len() == before;
        // Clients get a reason in place of one that OpenAI does not know.
        builder.check_answer(reason)?;
        builder.finish(reason)?;
        let own = builder.completion.finish_reason.word(!builder.calls().is_empty());
        change.is_needed |= !is_complete || own != word;
        change.finish_reason = Some(own);
        Ok(())
    }
}

/// Gives a choice the members that SDKs read. Returns whether it lacked some. A message in place of the part of one has the answer only
/// if nothing has come before: some providers repeat the whole at the end.
fn repair(chunk: &mut Object<'_>, has_answered: bool) -> bool {
    let Some(choice) = first_choice(chunk) else { return false };
    let delta = choice.get("delta").and_then(Value::as_object);
    let has_role = |delta: &Object<'_>| {
        delta.get("role").and_then(Value::as_str).is_none_or(|role| role == "assistant")
    };
    let has_end = choice.get("finish_reason").and_then(Value::as_str) != Some("");
    if delta.is_some_and(has_role) && has_end && !has_old_call(choice.get("delta")) {
        return false;
    }
    let Some(Value::Array(mut choices)) = chunk.take("choices") else { return false };
    if let Some(Value::Object(choice)) = choices.first_mut() {
        let mut delta = match (choice.take("delta"), choice.take("message")) {
            (Some(Value::Object(delta)), _) => delta,
            (_, Some(Value::Object(message))) if !has_answered => message,
            _ => Object::default(),
        };
        if !has_role(&delta) {
            delta.take("role");
        }
        renew_call(&mut delta);
        choice.insert("delta".into(), Value::Object(delta));
        if !has_end {
            choice.insert("finish_reason".into(), Value::Null);
        }
    }
    chunk.insert("choices".into(), Value::Array(choices));
    true
}

/// The tokens in the members that Groq and Moonshot have for them.
fn further_usage(chunk: &Object<'_>, choice: Option<&Object<'_>>) -> Option<Usage> {
    let of_groq = chunk.get("x_groq").and_then(|own| own.get("usage"));
    of_groq.or_else(|| choice?.get("usage")).and_then(Usage::of_openai)
}

/// The event with the calls and the texts that are in the deltas, and with the reason to stop that clients know.
fn changed(mut chunk: Object<'_>, change: &Change, deltas: &[Delta]) -> Vec<u8> {
    if change.is_needed
        && let Some(Value::Array(mut choices)) = chunk.take("choices")
    {
        if let Some(Value::Object(choice)) = choices.first_mut() {
            choice.insert(
                "finish_reason".into(),
                change.finish_reason.map_or(Value::Null, Value::from),
            );
            let mut delta = match choice.take("delta") {
                Some(Value::Object(delta)) => delta,
                _ => Object::default(),
            };
            write_calls(&mut delta, deltas);
            write_texts(&mut delta, deltas);
            choice.insert("delta".into(), Value::Object(delta));
        }
        chunk.insert("choices".into(), Value::Array(choices));
    }
    chunk.take("usage");
    written(chunk)
}

fn write_calls(delta: &mut Object<'_>, deltas: &[Delta]) {
    delta.take("tool_calls");
    let calls: Vec<_> = deltas.iter().filter_map(Delta::call_part).collect();
    if !calls.is_empty()
        && let Ok(calls) = json::parse_within(&json::to_string(&calls), &mut { MAX_EVENT_VALUES })
    {
        delta.insert("tool_calls".into(), calls.into_owned());
    }
}

/// Writes the texts, if the content came in parts.
fn write_texts(delta: &mut Object<'_>, deltas: &[Delta]) {
    let is_plain = |content: &Value<'_>| matches!(content, Value::String(_) | Value::Null);
    if delta.get("content").is_none_or(is_plain) {
        return;
    }
    for name in reasoning::NAMES.into_iter().chain(["content", "refusal"]) {
        delta.take(name);
    }
    for part in deltas {
        let (name, more) = match part {
            Delta::Text(text) => ("content", text),
            Delta::Reasoning(text) => ("reasoning_content", text),
            Delta::Refusal(text) => ("refusal", text),
            _ => continue,
        };
        let known = text(delta.get(name)).unwrap_or_default();
        let all = Value::String(format!("{known}{more}").into());
        delta.insert(name.into(), all);
    }
}

fn written(mut chunk: Object<'_>) -> Vec<u8> {
    chunk.take("_2api");
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

/// Reads what a part of a message says. Returns whether clients could not read its content.
fn read_text(delta: &Object<'_>, builder: &mut Builder) -> Read<bool> {
    builder.reasoning(&reasoning::read(delta));
    let is_list = match delta.get("content") {
        None | Some(Value::Null) => false,
        Some(Value::String(text)) => {
            builder.text(text);
            false
        }
        Some(content) => {
            let mut items = Vec::new();
            content::read(content.clone(), &mut items);
            let (left_out, items): (Vec<_>, Vec<_>) =
                items.into_iter().partition(|it| matches!(it, Item::Other(_)));
            leave_out(left_out, builder);
            items.into_iter().try_for_each(|item| builder.item(item))?;
            true
        }
    };
    builder.refusal(text(delta.get("refusal")).unwrap_or_default());
    if delta.get("function_call").is_some_and(|call| !call.is_null()) {
        builder.item(Item::ClientCall("function_call".into()))?;
    }
    if let Some(extra) = delta.get("extra_content").filter(|extra| !extra.is_null()) {
        builder.extra_content(extra.clone().into_owned());
    }
    reasoning::keep(delta, builder)?;
    Ok(is_list)
}

/// The pictures and the sound of a part of a message.
fn read_files(delta: &Object<'_>, builder: &mut Builder) -> Read {
    let mut files = Object::default();
    for name in ["images", "audio"] {
        if let Some(value) = delta.get(name) {
            files.insert(name.into(), value.clone());
        }
    }
    if files.is_empty() {
        return Ok(());
    }
    let mut items = Vec::new();
    read_media(&mut files, &mut items);
    items.into_iter().try_for_each(|item| match item {
        // A part of a sound has no id of its own.
        Item::Media(media) => {
            builder.media(media);
            Ok(())
        }
        item => builder.item(item),
    })
}
