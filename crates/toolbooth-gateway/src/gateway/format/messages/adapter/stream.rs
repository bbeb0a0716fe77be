//! Streams of Anthropic.

use std::borrow::Cow;
use std::mem;

use serde_json::value::RawValue;

use crate::gateway::answer::builder::{Builder, CallPart, CallProgress};
use crate::gateway::answer::completion::{Read, UpstreamError};
use crate::gateway::answer::sse::SseEvent;
use crate::gateway::answer::stream::Delta;
use crate::gateway::format::adapter::errors::reported;
use crate::gateway::format::adapter::{EventDecoder, MAX_EVENT_VALUES, event_data, raw};
use crate::gateway::format::messages::adapter::{is_thinking, keep_blocks, keep_thinking};
use crate::gateway::raw_json::{compact, raw_member};
use crate::wire::anthropic::{MessageUsage, finish_reason, read_block};
use crate::wire::fields::{count, text};
use crate::wire::{Finish, FinishReason, Item, ModelAnswer};
use toolbooth::json::{self, Object, Value};

/// The most blocks that grow at the same time. Anthropic sends one after the other.
const MAX_OPEN_BLOCKS: usize = 256;

#[derive(Default)]
pub(super) struct Stream {
    usage: MessageUsage,
    has_begun: bool,
    /// The blocks that have begun and not ended, by their index.
    open: Vec<(u64, Block)>,
    pub(super) reason: Option<FinishReason>,
    /// Whether the finish reason is among the deltas.
    finished: bool,
}

struct Block {
    kind: Kind,
    /// The block as it began.
    start: Object<'static>,
    /// The input that a call began with. Empty if it is no object.
    input: String,
    /// Its text, reasoning or arguments so far, if they are kept.
    text: String,
    /// The signature of a thinking block.
    signature: String,
    /// The citations of a text.
    citations: Vec<Value<'static>>,
}

enum Kind {
    Text,
    Thinking,
    ToolUse(CallProgress),
    /// A call that is the answer itself.
    Answer,
    /// One that means nothing to the gateway. Its deltas may be its input.
    Other,
}

impl EventDecoder for Stream {
    fn event(&mut self, event: &SseEvent<'_>, builder: &mut Builder) -> Read {
        let Some(data) = &event.data else {
            if !event.is_cut {
                builder.end_named_event(event, "");
            }
            return Ok(());
        };
        let value = event_data(data, MAX_EVENT_VALUES)?;
        let kind = value.get("type").and_then(Value::as_str).unwrap_or(event.name);
        match kind {
            "message_start" => {
                if mem::replace(&mut self.has_begun, true) {
                    return Err(UpstreamError::malformed("a message begins within a message"));
                }
                if let Some(message) = value.get("message") {
                    self.head(message, builder);
                }
            }
            "content_block_start" => {
                let block = value.get("content_block").cloned().unwrap_or_default();
                let json = raw(data).and_then(|json| raw_member(json, &["content_block"]));
                self.begin(index_of(&value), block, json, builder)?;
            }
            "content_block_delta" => self.grow(&value, builder)?,
            "content_block_stop" => self.close(index_of(&value), builder)?,
            "message_delta" => {
                let usage = self.usage.add(value.get("usage"));
                builder.completion.usage = usage.or(builder.completion.usage.take());
                self.stop(value.get("delta"), builder);
                self.finish(builder)?;
            }
            "message_stop" => self.end(builder)?,
            "error" => return Err(reported(200, &value)),
            // `ping`, and what later versions add.
            _ => {}
        }
        builder.end_named_event(event, kind);
        Ok(())
    }

    fn end(&mut self, builder: &mut Builder) -> Read {
        self.finish(builder)?;
        if !self.finished {
            return Err(UpstreamError::BrokenOff);
        }
        builder.complete();
        Ok(())
    }
}

impl Stream {
    /// The model has said why it stopped: ends the blocks. Nothing is checked later, so clients must not know it before.
    fn finish(&mut self, builder: &mut Builder) -> Read {
        let Some(reason) = self.reason.filter(|_| !self.finished) else { return Ok(()) };
        self.finished = true;
        while let Some((index, _)) = self.open.first() {
            self.close(*index, builder)?;
        }
        keep_thinking(builder);
        keep_blocks(builder);
        builder.finish(reason)
    }

    /// Reads the members of a message apart from its blocks.
    pub(super) fn head(&mut self, message: &Value<'_>, builder: &mut Builder) {
        let text = |name| text(message.get(name)).map(Cow::Borrowed);
        let (id, model) = (text("id"), text("model"));
        let usage = self.usage.add(message.get("usage"));
        builder.head(&mut ModelAnswer { id, model, usage, ..ModelAnswer::default() });
    }

    /// Reads `stop_reason` and `stop_sequence`.
    pub(super) fn stop(&mut self, message: Option<&Value<'_>>, builder: &mut Builder) {
        let member = |name| text(message.and_then(|message| message.get(name)));
        if let Some(word) = member("stop_reason") {
            let sequence = member("stop_sequence").filter(|_| word == "stop_sequence");
            builder.completion.stop_sequence = sequence.map(str::to_owned);
            let finish = Finish { word: word.into(), reason: finish_reason(word) };
            self.reason = Some(builder.reason(&finish));
        }
    }

    /// A block begins, which is also `json`.
    pub(super) fn begin(
        &mut self,
        index: u64,
        block: Value<'_>,
        json: Option<&RawValue>,
        builder: &mut Builder,
    ) -> Read {
        // Some providers end no block.
        if self.open.iter().any(|(known, _)| *known == index) {
            self.close(index, builder)?;
        }
        let Value::Object(start) = block.clone().into_owned() else {
            return Err(UpstreamError::malformed("a content block is not an object"));
        };
        let has_thinking = text(block.get("type")) == Some("thinking");
        let signature = text(block.get("signature")).unwrap_or_default().to_owned();
        let mut input = String::new();
        let item = read_block(block, format_args!("content_block"));
        let (kind, first) = match item.map_err(UpstreamError::Malformed)? {
            Item::Text(text) => {
                builder.deltas.push(Delta::TextBlock);
                (Kind::Text, text)
            }
            Item::Reasoning(text) if has_thinking => (Kind::Thinking, text),
            Item::Call(call) if builder.names.is_answer(&call.name) => {
                input = input_of(json);
                (Kind::Answer, "".into())
            }
            Item::Call(call) => {
                let mut progress = CallProgress::default();
                let part = CallPart { id: &call.id, name: &call.name, ..CallPart::default() };
                builder.add_part(&mut progress, part)?;
                input = input_of(json);
                (Kind::ToolUse(progress), "".into())
            }
            item => {
                builder.item(item)?;
                (Kind::Other, "".into())
            }
        };
        let citations = match (&kind, start.get("citations")) {
            (Kind::Text, Some(Value::Array(citations))) => citations.clone(),
            _ => Vec::new(),
        };
        let mut block = Block { kind, start, input, text: String::new(), signature, citations };
        block.add(&first, builder)?;
        builder.deltas.extend(block.citations.iter().cloned().map(Delta::Citation));
        if self.open.len() >= MAX_OPEN_BLOCKS {
            return Err(UpstreamError::malformed("there are too many content blocks"));
        }
        self.open.push((index, block));
        Ok(())
    }

    fn grow(&mut self, value: &Value<'_>, builder: &mut Builder) -> Read {
        let index = index_of(value);
        let Some((_, block)) = self.open.iter_mut().find(|(known, _)| *known == index) else {
            return Err(UpstreamError::malformed("a delta belongs to no content block"));
        };
        let Some(delta) = value.get("delta") else { return Ok(()) };
        let text = |name| text(delta.get(name)).unwrap_or_default();
        let more = match &block.kind {
            Kind::Text => {
                if let Some(citation) = delta.get("citation") {
                    builder.keep(&citation.text())?;
                    let citation = citation.clone().into_owned();
                    block.citations.push(citation.clone());
                    builder.deltas.push(Delta::Citation(citation));
                }
                text("text")
            }
            Kind::Thinking => {
                block.signature.push_str(text("signature"));
                text("thinking")
            }
            Kind::ToolUse(_) | Kind::Answer | Kind::Other => text("partial_json"),
        };
        block.add(more, builder)
    }

    pub(super) fn close(&mut self, index: u64, builder: &mut Builder) -> Read {
        let Some(position) = self.open.iter().position(|(known, _)| *known == index) else {
            return Err(UpstreamError::malformed("the end of no content block"));
        };
        let (_, Block { kind, mut start, input, text, signature, citations }) =
            self.open.remove(position);
        let is_other = matches!(kind, Kind::Other);
        if matches!(kind, Kind::ToolUse(_) | Kind::Answer | Kind::Other)
            && let Ok(input) = json::parse(&text)
        {
            start.insert("input".into(), input.into_owned());
        }
        match kind {
            Kind::Text => {
                start.insert("text".into(), Value::String(text.into()));
                if !citations.is_empty() {
                    start.insert("citations".into(), Value::Array(citations));
                }
            }
            Kind::Thinking => {
                start.insert("thinking".into(), Value::String(text.into()));
                if !signature.is_empty() {
                    start.insert("signature".into(), Value::String(signature.into()));
                }
            }
            // Without deltas, the arguments of a call are the input that it began with.
            Kind::ToolUse(mut call) => {
                if text.is_empty() {
                    let part = CallPart { arguments: &input, ..CallPart::default() };
                    builder.add_part(&mut call, part)?;
                }
                builder.end_call(&mut call)?;
                let Some(index) = call.position() else { return Ok(()) };
                // The id may be a different one, and the result of the call refers to it.
                let id = builder.calls().get(index).map(|call| call.id.clone());
                start.insert("id".into(), Value::String(id.unwrap_or_default()));
            }
            Kind::Answer if text.is_empty() => builder.text(&input),
            Kind::Answer | Kind::Other => {}
        }
        let block = Value::Object(start);
        let is_thinking = is_thinking(&block);
        if is_thinking {
            builder.deltas.push(Delta::Thinking(block.clone()));
        } else if is_other {
            builder.deltas.push(Delta::Block(block.clone()));
        }
        if builder.collect || is_thinking {
            builder.native.push(block);
        }
        Ok(())
    }
}

impl Block {
    /// Adds text, reasoning or arguments.
    fn add(&mut self, more: &str, builder: &mut Builder) -> Read {
        match &mut self.kind {
            Kind::Text | Kind::Answer => builder.text(more),
            Kind::Thinking => builder.reasoning(more),
            Kind::ToolUse(call) => {
                builder.add_part(call, CallPart { arguments: more, ..CallPart::default() })?;
            }
            Kind::Other => builder.keep(more)?,
        }
        // Reasoning must go back to the model with its signature, whether or not the rest is kept.
        if builder.collect || !matches!(self.kind, Kind::Text) {
            self.text.push_str(more);
        }
        Ok(())
    }
}

/// The input of a call that is `json`, as it was written. Empty if it is no object.
fn input_of(json: Option<&RawValue>) -> String {
    let input = json.and_then(|json| raw_member(json, &["input"]));
    input.filter(|json| json.get().starts_with('{')).map(compact).unwrap_or_default()
}

fn index_of(value: &Value<'_>) -> u64 {
    count(value.get("index")).unwrap_or_default()
}
