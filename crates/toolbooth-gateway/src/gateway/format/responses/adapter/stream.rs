//! Streams of responses.

use crate::gateway::answer::builder::{Builder, CallPart, CallProgress};
use crate::gateway::answer::completion::{Read, UpstreamError};
use crate::gateway::answer::sse::SseEvent;
use crate::gateway::format::adapter::errors::reported;
use crate::gateway::format::adapter::{EventDecoder, MAX_VALUES, event_data, members_of_answer};
use crate::gateway::format::responses::adapter::items::{Items, Moment, Progress};
use crate::gateway::format::responses::adapter::{keep_reasoning, reason};
use crate::wire::fields::{count, text};
use crate::wire::{Item, Media, MediaSource, Usage};
use toolbooth::json::Value;

#[derive(Default)]
pub(super) struct Stream {
    items: Items,
    /// The reasoning items that must come back.
    reasoning: Vec<Value<'static>>,
    is_complete: bool,
}

impl EventDecoder for Stream {
    fn event(&mut self, event: &SseEvent<'_>, builder: &mut Builder) -> Read {
        let Some(data) = &event.data else {
            builder.end_event((!event.is_cut).then(|| event.bytes()));
            return Ok(());
        };
        if data.trim() == "[DONE]" {
            return Ok(());
        }
        // It may have the whole response.
        let value = event_data(data, MAX_VALUES)?;
        let kind = value.get("type").and_then(Value::as_str).unwrap_or(event.name);
        let delta = || text(value.get("delta")).unwrap_or_default();
        match kind {
            "response.created" | "response.in_progress" | "response.queued" => {
                if let Some(response) = value.get("response") {
                    head(response, builder);
                }
            }
            "response.output_item.added" => {
                if let Some(item) = value.get("item") {
                    begin(self.items.of_event(&value, Moment::Begins)?, item, builder)?;
                }
            }
            "response.output_text.delta" => {
                self.items.of_event(&value, Moment::Grows)?.has_text = true;
                builder.text(delta());
            }
            "response.refusal.delta" => {
                self.items.of_event(&value, Moment::Grows)?.has_text = true;
                builder.refusal(delta());
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.items.of_event(&value, Moment::Grows)?.has_text = true;
                builder.reasoning(delta());
            }
            "response.reasoning_summary_part.added"
                if self.items.of_event(&value, Moment::Grows)?.has_text =>
            {
                builder.reasoning("\n\n");
            }
            "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta" => {
                let progress = self.items.of_event(&value, Moment::Grows)?;
                progress.has_text = true;
                let custom = kind == "response.custom_tool_call_input.delta";
                let part = CallPart { arguments: delta(), custom, ..CallPart::default() };
                builder.add_part(progress.call.get_or_insert_default(), part)?;
            }
            "response.output_item.done" => {
                if let Some(item) = value.get("item") {
                    let progress = self.items.of_event(&value, Moment::Ends)?;
                    done(progress, item, &mut self.reasoning, builder)?;
                }
            }
            "response.completed" | "response.incomplete" => {
                let response = value.get("response").cloned().unwrap_or_default();
                self.complete(&response, builder)?;
            }
            "response.failed" => {
                return Err(reported(200, value.get("response").unwrap_or(&value)));
            }
            "error" => return Err(error(value)),
            // The end of a part, whose text has arrived.
            _ if value.get("item_id").is_some() || value.get("output_index").is_some() => {}
            kind if kind.starts_with("response.") && !builder.forwards() => builder.leave_out(kind),
            _ => {}
        }
        builder.end_event(Some(event.bytes()));
        Ok(())
    }

    fn end(&mut self, _: &mut Builder) -> Read {
        match self.is_complete {
            true => Ok(()),
            false => Err(UpstreamError::BrokenOff),
        }
    }
}

impl Stream {
    /// The response is complete.
    pub(super) fn complete(&mut self, response: &Value<'_>, builder: &mut Builder) -> Read {
        let response = Value::Object(members_of_answer(response.clone())?);
        head(&response, builder);
        // Some servers send an item nowhere else.
        let items = response.get("output").and_then(Value::as_array).unwrap_or_default();
        for (index, item) in (0..).zip(items) {
            let id = text(item.get("id"));
            let progress = self.items.at(Some(index), id, Moment::Listed)?;
            done(progress, item, &mut self.reasoning, builder)?;
        }
        let mut calls = self.items.iter_mut().filter_map(|item| item.call.as_mut());
        calls.try_for_each(|call| builder.end_call(call))?;
        let reason = reason(&response, builder)?;
        builder.completion.usage = response.get("usage").and_then(Usage::of_responses);
        keep_reasoning(std::mem::take(&mut self.reasoning), builder);
        builder.end(reason)?;
        self.is_complete = true;
        Ok(())
    }
}

/// An item begins. A call of some servers has its name only at the end.
fn begin(progress: &mut Progress, item: &Value<'_>, builder: &mut Builder) -> Read {
    let custom = match text(item.get("type")) {
        Some("function_call") => false,
        Some("custom_tool_call") => true,
        _ => return Ok(()),
    };
    let text = |name| text(item.get(name)).unwrap_or_default();
    let part = CallPart { id: text("call_id"), name: text("name"), custom, ..CallPart::default() };
    builder.add_part(progress.call.get_or_insert_default(), part)
}

/// An item is complete: what has not arrived in parts is in it.
fn done(
    progress: &mut Progress,
    item: &Value<'_>,
    encrypted: &mut Vec<Value<'static>>,
    builder: &mut Builder,
) -> Read {
    if std::mem::replace(&mut progress.is_done, true) {
        return Ok(());
    }
    begin(progress, item, builder)?;
    let is_new = !progress.has_text;
    let kind = text(item.get("type")).unwrap_or_default();
    match (kind, &mut progress.call) {
        ("message", _) => {
            for part in item.get("content").and_then(Value::as_array).unwrap_or_default() {
                message_part(part, is_new, builder)?;
            }
        }
        ("reasoning", _) => {
            if is_new {
                builder.reasoning(&thoughts(item));
            }
            if text(item.get("encrypted_content")).is_some() {
                encrypted.push(item.clone().into_owned());
            }
        }
        (_, Some(call)) => {
            if is_new {
                let arguments = ["arguments", "input"].iter().find_map(|name| item.get(name));
                let arguments = match arguments {
                    Some(Value::String(text)) => text.as_ref(),
                    // Some servers send an object.
                    Some(value @ Value::Object(_)) => &value.text(),
                    _ => "",
                };
                builder.add_part(call, CallPart { arguments, ..CallPart::default() })?;
            }
            builder.end_call(call)?;
        }
        // A client that reads the format has the item.
        _ if builder.forwards() => {}
        _ => builder.item(picture(item).unwrap_or(Item::Other(kind.into())))?,
    }
    if builder.collect {
        keep(item, progress.call.as_ref(), builder);
    }
    Ok(())
}

/// A part of a message, whose text has not arrived before if it `is_new`.
fn message_part(part: &Value<'_>, is_new: bool, builder: &mut Builder) -> Read {
    let (said, refused) = (text(part.get("text")), text(part.get("refusal")));
    if is_new {
        builder.text(said.unwrap_or_default());
        builder.refusal(refused.unwrap_or_default());
    }
    match text(part.get("type")) {
        Some(kind) if said.is_none() && refused.is_none() && !builder.forwards() => {
            builder.item(Item::Other(kind.into()))
        }
        _ => Ok(()),
    }
}

/// Keeps an item for the next request, unless it is a call that was left out.
fn keep(item: &Value<'_>, call: Option<&CallProgress>, builder: &mut Builder) {
    let mut item = item.clone().into_owned();
    if let (Value::Object(item), Some(call)) = (&mut item, call) {
        let Some(index) = call.position() else { return };
        // The id may be a different one, and the result of the call refers to it.
        let id = builder.calls().get(index).map(|call| call.id.clone());
        item.insert("call_id".into(), Value::String(id.unwrap_or_default()));
    }
    builder.native.push(item);
}

/// The readable text of a reasoning item: its summary, or all of it, as open models have it.
fn thoughts(item: &Value<'_>) -> String {
    let texts = |name| {
        let parts = item.get(name).and_then(Value::as_array).unwrap_or_default();
        let texts: Vec<_> = parts.iter().filter_map(|part| text(part.get("text"))).collect();
        texts.join("\n\n")
    };
    let summary = texts("summary");
    if summary.is_empty() { texts("content") } else { summary }
}

/// The picture that the provider has made in a call, if the item is one.
fn picture<'t>(item: &'t Value<'_>) -> Option<Item<'t>> {
    if text(item.get("type")) != Some("image_generation_call") {
        return None;
    }
    let data = MediaSource::Base64(text(item.get("result"))?.into());
    let media_type = format!("image/{}", text(item.get("output_format")).unwrap_or("png"));
    Some(Item::Media(Media::of_file(media_type.into(), data, None)))
}

/// An event with an error, whose members are its own or those of `error`. `type` is that of the event.
fn error(event: Value<'_>) -> UpstreamError {
    let Value::Object(mut event) = event else { return reported(200, &event) };
    event.take("type");
    reported(200, &Value::Object(event))
}

fn head(response: &Value<'_>, builder: &mut Builder) {
    let completion = &mut builder.completion;
    if completion.id.is_none() {
        completion.id = text(response.get("id")).map(str::to_owned);
        completion.model = text(response.get("model")).map(str::to_owned);
        completion.created = count(response.get("created_at"));
    }
}
