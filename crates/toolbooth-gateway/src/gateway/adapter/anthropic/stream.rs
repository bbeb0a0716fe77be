//! Streams of Anthropic.

use std::borrow::Cow;

use super::{is_thinking, keep_thinking};
use crate::gateway::UpstreamError;
use crate::gateway::adapter::{EventDecoder, event_data, reported};
use crate::gateway::builder::Builder;
use crate::gateway::sse::SseEvent;
use crate::gateway::stream::{Delta, StreamEvent};
use crate::wire::anthropic::{MessageUsage, finish_reason, read_block};
use crate::wire::{Answer, Finish, FinishReason, Item};
use toolbooth::json::{self, MAX_VALUES, Object, Value};

/// The most blocks that grow at the same time. Anthropic sends one after the other.
const MAX_OPEN_BLOCKS: usize = 256;

/// The state of a stream.
#[derive(Debug, Default)]
pub(super) struct Stream {
    usage: MessageUsage,
    /// The blocks that have begun and not ended, by their index.
    open: Vec<(u64, Block)>,
    reason: Option<FinishReason>,
}

/// A block that grows.
#[derive(Debug)]
struct Block {
    kind: Kind,
    /// The block as it began.
    start: Object<'static>,
    /// Its text, reasoning or arguments so far, if they are kept.
    text: String,
    /// The signature of a thinking block.
    signature: String,
}

#[derive(Debug)]
enum Kind {
    Text,
    Thinking,
    /// A call, with its position.
    ToolUse(usize),
    /// One without deltas that mean anything to the gateway.
    Other,
}

impl EventDecoder for Stream {
    fn event(
        &mut self,
        event: &SseEvent<'_>,
        builder: &mut Builder,
        events: &mut Vec<StreamEvent>,
    ) -> Result<(), UpstreamError> {
        let Some(data) = &event.data else { return Ok(()) };
        let value = event_data(data, MAX_VALUES)?;
        let kind = value.get("type").and_then(Value::as_str).unwrap_or(event.name);
        let mut deltas = Vec::new();
        match kind {
            "message_start" => {
                if let Some(Value::Object(message)) = value.get("message") {
                    let text = |name| Some(Cow::Borrowed(message.get(name)?.as_str()?));
                    let (id, model) = (text("id"), text("model"));
                    builder.head(&mut Answer { id, model, ..Answer::default() });
                    self.count(message.get("usage"), builder);
                }
            }
            "content_block_start" => self.begin(&value, builder, &mut deltas)?,
            "content_block_delta" => self.grow(&value, builder, &mut deltas)?,
            "content_block_stop" => self.close(index_of(&value), builder, &mut deltas)?,
            "message_delta" => {
                self.count(value.get("usage"), builder);
                let delta = value.get("delta");
                let word = delta.and_then(|delta| delta.get("stop_reason")).and_then(Value::as_str);
                if let Some(word) = word {
                    let finish = Finish { word: word.into(), reason: finish_reason(word) };
                    self.reason = Some(builder.reason(&finish));
                }
            }
            "message_stop" => return self.end(builder, events),
            "error" => return Err(reported(200, &value)),
            // `ping`, and what later versions add.
            _ => {}
        }
        if !deltas.is_empty() {
            events.push(StreamEvent { raw: None, deltas });
        }
        Ok(())
    }

    fn end(
        &mut self,
        builder: &mut Builder,
        events: &mut Vec<StreamEvent>,
    ) -> Result<(), UpstreamError> {
        let Some(reason) = self.reason else { return Err(UpstreamError::BrokenOff) };
        let mut deltas = Vec::new();
        while let Some((index, _)) = self.open.first() {
            self.close(*index, builder, &mut deltas)?;
        }
        deltas.extend(keep_thinking(builder));
        deltas.push(builder.finish(reason));
        deltas.extend(builder.completion.usage.clone().map(Delta::Usage));
        deltas.push(Delta::Done);
        events.push(StreamEvent { raw: None, deltas });
        Ok(())
    }
}

impl Stream {
    fn count(&mut self, usage: Option<&Value<'_>>, builder: &mut Builder) {
        if let Some(usage) = usage.and_then(MessageUsage::of) {
            self.usage.update(&usage);
            builder.completion.usage = Some(self.usage.clone().into());
        }
    }

    fn begin(
        &mut self,
        value: &Value<'_>,
        builder: &mut Builder,
        deltas: &mut Vec<Delta>,
    ) -> Result<(), UpstreamError> {
        let Some(Value::Object(start)) = value.get("content_block") else {
            return Err(UpstreamError::malformed("a content block is not an object"));
        };
        let block = Value::Object(start.clone());
        let has_thinking = start.get("type").and_then(Value::as_str) == Some("thinking");
        let item = read_block(block, format_args!("content_block"));
        let (kind, first) = match item.map_err(UpstreamError::Malformed)? {
            Item::Text(text) => (Kind::Text, text),
            Item::Reasoning(text) if has_thinking => (Kind::Thinking, text),
            Item::Call(call) => {
                deltas.push(builder.call(&call.id, &call.name, false, Object::default())?);
                (Kind::ToolUse(builder.calls().len() - 1), "".into())
            }
            item => {
                builder.item(item, deltas)?;
                (Kind::Other, "".into())
            }
        };
        let signature = start.get("signature").and_then(Value::as_str).unwrap_or_default();
        let mut block = Block {
            kind,
            start: start.clone().into_owned(),
            text: String::new(),
            signature: signature.to_owned(),
        };
        block.add(&first, builder, deltas)?;
        if self.open.len() >= MAX_OPEN_BLOCKS {
            return Err(UpstreamError::malformed("there are too many content blocks"));
        }
        self.open.push((index_of(value), block));
        Ok(())
    }

    fn grow(
        &mut self,
        value: &Value<'_>,
        builder: &mut Builder,
        deltas: &mut Vec<Delta>,
    ) -> Result<(), UpstreamError> {
        let index = index_of(value);
        let Some((_, block)) = self.open.iter_mut().find(|(known, _)| *known == index) else {
            return Err(UpstreamError::malformed("a delta belongs to no content block"));
        };
        let Some(delta) = value.get("delta") else { return Ok(()) };
        let text = |name: &str| delta.get(name).and_then(Value::as_str).unwrap_or_default();
        let more = match &block.kind {
            Kind::Text => text("text"),
            Kind::Thinking => {
                block.signature.push_str(text("signature"));
                text("thinking")
            }
            Kind::ToolUse(_) => text("partial_json"),
            Kind::Other => "",
        };
        block.add(more, builder, deltas)
    }

    /// A block has ended.
    fn close(
        &mut self,
        index: u64,
        builder: &mut Builder,
        deltas: &mut Vec<Delta>,
    ) -> Result<(), UpstreamError> {
        let Some(position) = self.open.iter().position(|(known, _)| *known == index) else {
            return Err(UpstreamError::malformed("the end of no content block"));
        };
        let (_, Block { kind, mut start, text, signature }) = self.open.remove(position);
        match kind {
            Kind::Text => start.insert("text".into(), Value::String(text.into())),
            Kind::Thinking => {
                start.insert("thinking".into(), Value::String(text.into()));
                start.insert("signature".into(), Value::String(signature.into()));
            }
            // Without deltas, the arguments of a call are the input that it began with.
            Kind::ToolUse(index) if text.is_empty() => {
                let input = start.get("input").filter(|input| input.as_object().is_some());
                let input = input.map_or_else(|| "{}".to_owned(), Value::text);
                deltas.push(builder.arguments(index, &input)?);
            }
            Kind::ToolUse(_) => {
                if let Ok(input) = json::parse(&text) {
                    start.insert("input".into(), input.into_owned());
                }
            }
            Kind::Other => {}
        }
        let block = Value::Object(start);
        if builder.collects() || is_thinking(&block) {
            builder.keep(block);
        }
        Ok(())
    }
}

impl Block {
    /// Adds text, reasoning or arguments.
    fn add(
        &mut self,
        more: &str,
        builder: &mut Builder,
        deltas: &mut Vec<Delta>,
    ) -> Result<(), UpstreamError> {
        if more.is_empty() {
            return Ok(());
        }
        match self.kind {
            Kind::Text => deltas.extend(builder.text(more)),
            Kind::Thinking => deltas.extend(builder.reasoning(more)),
            Kind::ToolUse(index) => deltas.push(builder.arguments(index, more)?),
            Kind::Other => return Ok(()),
        }
        // Reasoning must go back to the model with its signature, whether or not the rest is kept.
        if builder.collects() || !matches!(self.kind, Kind::Text) {
            self.text.push_str(more);
        }
        Ok(())
    }
}

fn index_of(value: &Value<'_>) -> u64 {
    value.get("index").and_then(|index| index.as_number()?.as_u64()).unwrap_or_default()
}
