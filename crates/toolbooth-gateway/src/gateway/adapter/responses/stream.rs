//! Streams of responses.

use super::{keep_reasoning, reason};
use crate::gateway::adapter::{EventDecoder, MAX_VALUES, event_data, members_of_answer, reported};
use crate::gateway::{Builder, Read, SseEvent, UpstreamError};
use crate::wire::fields::{count, text};
use crate::wire::{Item, Usage};
use toolbooth::json::{Object, Value};

/// The most items of an answer.
const MAX_ITEMS: usize = 4096;

#[derive(Default)]
pub(super) struct Stream {
    /// The items that have begun, by their positions in the output.
    items: Vec<(u64, Progress)>,
    /// The reasoning items that must come back.
    reasoning: Vec<Value<'static>>,
    is_complete: bool,
}

/// What has arrived of an item.
struct Progress {
    /// The position among the calls, if it is one.
    call: Option<usize>,
    /// Whether its text, or its arguments, have begun to arrive.
    has_text: bool,
    is_done: bool,
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
        let index = count(value.get("output_index")).unwrap_or_default();
        let delta = || text(value.get("delta")).unwrap_or_default();
        match kind {
            "response.created" | "response.in_progress" | "response.queued" => {
                if let Some(response) = value.get("response") {
                    head(response, builder);
                }
            }
            "response.output_item.added" => {
                if let Some(item) = value.get("item") {
                    self.begin(index, item, builder)?;
                }
            }
            "response.output_text.delta" => {
                self.progress(index)?.has_text = true;
                builder.text(delta());
            }
            "response.refusal.delta" => {
                self.progress(index)?.has_text = true;
                builder.refusal(delta());
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.progress(index)?.has_text = true;
                builder.reasoning(delta());
            }
            "response.reasoning_summary_part.added" if self.progress(index)?.has_text => {
                builder.reasoning("\n\n");
            }
            "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta" => {
                let progress = self.progress(index)?;
                progress.has_text = true;
                match progress.call {
                    Some(call) => builder.arguments(call, delta())?,
                    None => {
                        return Err(UpstreamError::malformed("arguments belong to no tool call"));
                    }
                }
            }
            "response.output_item.done" => {
                if let Some(item) = value.get("item") {
                    self.done(index, item, builder)?;
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
            // The end of a part, whose text has arrived, and what later versions add.
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
    fn progress(&mut self, index: u64) -> Read<&mut Progress> {
        let position = match self.items.iter().position(|(known, _)| *known == index) {
            Some(position) => position,
            None if self.items.len() >= MAX_ITEMS => {
                return Err(UpstreamError::malformed("there are too many items"));
            }
            None => {
                let progress = Progress { call: None, has_text: false, is_done: false };
                self.items.push((index, progress));
                self.items.len() - 1
            }
        };
        let found = self.items.get_mut(position).map(|(_, progress)| progress);
        found.ok_or_else(|| UpstreamError::malformed("there are too many items"))
    }

    /// An item begins. A call has its name then.
    fn begin(&mut self, index: u64, item: &Value<'_>, builder: &mut Builder) -> Read {
        let custom = match text(item.get("type")) {
            Some("function_call") => false,
            Some("custom_tool_call") => true,
            _ => return self.progress(index).map(|_| ()),
        };
        if self.progress(index)?.call.is_some() {
            return Ok(());
        }
        let text = |name| text(item.get(name)).unwrap_or_default();
        builder.call(text("call_id"), text("name"), custom, Object::default())?;
        self.progress(index)?.call = Some(builder.calls().len() - 1);
        Ok(())
    }

    /// An item is complete: what has not arrived in parts is in it.
    fn done(&mut self, index: u64, item: &Value<'_>, builder: &mut Builder) -> Read {
        self.begin(index, item, builder)?;
        let progress = self.progress(index)?;
        if std::mem::replace(&mut progress.is_done, true) {
            return Ok(());
        }
        let (call, is_new) = (progress.call, !progress.has_text);
        let kind = text(item.get("type")).unwrap_or_default();
        match (kind, call) {
            ("message", _) if is_new => {
                for part in item.get("content").and_then(Value::as_array).unwrap_or_default() {
                    builder.text(text(part.get("text")).unwrap_or_default());
                    builder.refusal(text(part.get("refusal")).unwrap_or_default());
                }
            }
            ("reasoning", _) => {
                if is_new {
                    let summary = item.get("summary").and_then(Value::as_array).unwrap_or_default();
                    let texts = summary.iter().filter_map(|part| text(part.get("text")));
                    builder.reasoning(&texts.collect::<Vec<_>>().join("\n\n"));
                }
                if text(item.get("encrypted_content")).is_some() {
                    self.reasoning.push(item.clone().into_owned());
                }
            }
            (_, Some(call)) if is_new => {
                let arguments = item.get("arguments").or_else(|| item.get("input"));
                builder.arguments(call, text(arguments).unwrap_or_default())?;
            }
            ("message" | "function_call" | "custom_tool_call", _) => {}
            // A client that reads the format has the item.
            _ if builder.forwards() => {}
            _ => builder.item(Item::Other(kind.into()))?,
        }
        if builder.collect {
            let mut item = item.clone().into_owned();
            if let (Value::Object(item), Some(call)) = (&mut item, call) {
                // It may be a different one, and the result of the call refers to it.
                let id = builder.calls().get(call).map(|call| call.id.clone());
                item.insert("call_id".into(), Value::String(id.unwrap_or_default()));
            }
            builder.native.push(item);
        }
        Ok(())
    }

    /// The response is complete.
    pub(super) fn complete(&mut self, response: &Value<'_>, builder: &mut Builder) -> Read {
        let response = Value::Object(members_of_answer(response.clone())?);
        head(&response, builder);
        // Some servers send an item nowhere else.
        let items = response.get("output").and_then(Value::as_array).unwrap_or_default();
        for (index, item) in items.iter().enumerate() {
            self.done(u64::try_from(index).unwrap_or(u64::MAX), item, builder)?;
        }
        let reason = reason(&response, builder)?;
        builder.completion.usage = response.get("usage").and_then(Usage::of_responses);
        builder.complete_calls();
        keep_reasoning(std::mem::take(&mut self.reasoning), builder);
        builder.end(reason)?;
        self.is_complete = true;
        Ok(())
    }
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
