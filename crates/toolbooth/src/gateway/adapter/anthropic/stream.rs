//! Streams of Anthropic.

use super::response::{Blocks, Counts, finish_reason, head, ignored};
use crate::gateway::adapter::reported;
use crate::gateway::builder::Builder;
use crate::gateway::sse::SseEvent;
use crate::gateway::stream::{Delta, StreamEvent};
use crate::gateway::{Completion, FinishReason, IdSource, UpstreamError, Usage};
use crate::json::{self, Object, Value};

/// The most blocks that grow at the same time. Anthropic sends one after the other.
const MAX_OPEN_BLOCKS: usize = 256;

/// The state of a stream.
#[derive(Debug)]
pub(in crate::gateway) struct Stream {
    builder: Builder,
    counts: Counts,
    blocks: Blocks,
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

impl Stream {
    pub(in crate::gateway) fn new(ids: IdSource, collect: bool) -> Self {
        Self {
            builder: Builder::new(ids, collect),
            counts: Counts::default(),
            blocks: Blocks::default(),
            open: Vec::new(),
            reason: None,
        }
    }

    pub(in crate::gateway) fn completion(&self) -> &Completion {
        &self.builder.completion
    }

    pub(in crate::gateway) fn usage(&self) -> Option<Usage> {
        self.counts.usage()
    }

    pub(in crate::gateway) fn into_completion(self) -> Completion {
        let collects = self.builder.collects();
        let mut completion = self.builder.completion;
        if collects {
            completion.native = self.blocks.native();
        }
        completion
    }

    pub(in crate::gateway) fn event(
        &mut self,
        event: &SseEvent<'_>,
        events: &mut Vec<StreamEvent>,
    ) -> Result<(), UpstreamError> {
        let Some(data) = &event.data else { return Ok(()) };
        let Ok(value) = json::parse(data) else {
            return Err(UpstreamError::malformed("an event of the stream is not JSON"));
        };
        let kind = value.get("type").and_then(Value::as_str).unwrap_or(event.name);
        let mut deltas = Vec::new();
        match kind {
            "message_start" => {
                if let Some(Value::Object(message)) = value.get("message") {
                    head(&mut self.builder, message);
                    self.counts.read(message.get("usage"));
                }
            }
            "content_block_start" => self.begin(&value, &mut deltas)?,
            "content_block_delta" => self.grow(&value, &mut deltas)?,
            "content_block_stop" => self.close(index_of(&value), &mut deltas)?,
            "message_delta" => {
                self.counts.read(value.get("usage"));
                let delta = value.get("delta");
                let reason = delta.and_then(|delta| delta.get("stop_reason"));
                if let Some(reason) = reason.and_then(Value::as_str) {
                    self.reason = Some(finish_reason(&mut self.builder, reason));
                }
            }
            "message_stop" => return self.complete(events),
            "error" => return Err(reported(200, &value)),
            // `ping`, and what later versions add.
            _ => {}
        }
        if !deltas.is_empty() {
            events.push(StreamEvent { raw: None, deltas });
        }
        Ok(())
    }

    /// The stream has ended without `message_stop`.
    pub(in crate::gateway) fn end(
        &mut self,
        events: &mut Vec<StreamEvent>,
    ) -> Result<(), UpstreamError> {
        self.complete(events)
    }

    /// The last deltas.
    fn complete(&mut self, events: &mut Vec<StreamEvent>) -> Result<(), UpstreamError> {
        let Some(reason) = self.reason else { return Err(UpstreamError::BrokenOff) };
        let mut deltas = Vec::new();
        while let Some((index, _)) = self.open.first() {
            let index = *index;
            self.close(index, &mut deltas)?;
        }
        deltas.extend(self.blocks.extra_content(&mut self.builder));
        deltas.push(self.builder.finish(reason));
        deltas.extend(self.counts.usage().map(|usage| self.builder.usage(usage)));
        deltas.push(Delta::Done);
        events.push(StreamEvent { raw: None, deltas });
        Ok(())
    }

    fn begin(&mut self, value: &Value<'_>, deltas: &mut Vec<Delta>) -> Result<(), UpstreamError> {
        let Some(Value::Object(start)) = value.get("content_block") else {
            return Err(UpstreamError::malformed("a content block is not an object"));
        };
        let text = |name: &str| start.get(name).and_then(Value::as_str).unwrap_or_default();
        let mut block = Block {
            kind: Kind::Other,
            start: start.clone().into_owned(),
            text: String::new(),
            signature: text("signature").to_owned(),
        };
        match text("type") {
            "text" => {
                block.kind = Kind::Text;
                self.add(&mut block, text("text"), deltas)?;
            }
            "thinking" => {
                block.kind = Kind::Thinking;
                self.add(&mut block, text("thinking"), deltas)?;
            }
            "tool_use" => {
                if text("name").is_empty() {
                    return Err(UpstreamError::malformed("a tool call names no tool"));
                }
                let extra = Object::default();
                deltas.push(self.builder.call(Some(text("id")), text("name"), false, extra)?);
                block.kind = Kind::ToolUse(self.builder.completion.message.tool_calls.len() - 1);
            }
            "redacted_thinking" => {}
            kind => ignored(&mut self.builder, kind),
        }
        if self.open.len() >= MAX_OPEN_BLOCKS {
            return Err(UpstreamError::malformed("there are too many content blocks"));
        }
        self.open.push((index_of(value), block));
        Ok(())
    }

    fn grow(&mut self, value: &Value<'_>, deltas: &mut Vec<Delta>) -> Result<(), UpstreamError> {
        let index = index_of(value);
        let Some(position) = self.open.iter().position(|(known, _)| *known == index) else {
            return Err(UpstreamError::malformed("a delta belongs to no content block"));
        };
        let Some(delta) = value.get("delta") else { return Ok(()) };
        let text = |name: &str| delta.get(name).and_then(Value::as_str).unwrap_or_default();
        let (_, mut block) = self.open.swap_remove(position);
        let more = match &block.kind {
            Kind::Text => text("text"),
            Kind::Thinking => {
                block.signature.push_str(text("signature"));
                text("thinking")
            }
            Kind::ToolUse(_) => text("partial_json"),
            Kind::Other => "",
        };
        let result = self.add(&mut block, more, deltas);
        self.open.push((index, block));
        result
    }

    /// Adds text, reasoning or arguments to a block.
    fn add(
        &mut self,
        block: &mut Block,
        more: &str,
        deltas: &mut Vec<Delta>,
    ) -> Result<(), UpstreamError> {
        if more.is_empty() {
            return Ok(());
        }
        deltas.push(match block.kind {
            Kind::Text => self.builder.text(more),
            Kind::Thinking => self.builder.reasoning(more),
            Kind::ToolUse(index) => self.builder.arguments(index, more)?,
            Kind::Other => return Ok(()),
        });
        // Reasoning must go back to the model with its signature, whether or not the rest is kept.
        if self.builder.collects() || matches!(block.kind, Kind::Thinking) {
            block.text.push_str(more);
        }
        Ok(())
    }

    /// A block has ended.
    fn close(&mut self, index: u64, deltas: &mut Vec<Delta>) -> Result<(), UpstreamError> {
        let Some(position) = self.open.iter().position(|(known, _)| *known == index) else {
            return Err(UpstreamError::malformed("the end of no content block"));
        };
        let (_, Block { kind, mut start, text, signature }) = self.open.swap_remove(position);
        match kind {
            Kind::Text => start.insert("text".into(), Value::String(text.into())),
            Kind::Thinking => {
                start.insert("thinking".into(), Value::String(text.into()));
                start.insert("signature".into(), Value::String(signature.into()));
            }
            Kind::ToolUse(index) => self.close_call(index, &mut start, deltas)?,
            Kind::Other => {}
        }
        let is_thinking = matches!(
            start.get("type").and_then(Value::as_str),
            Some("thinking" | "redacted_thinking")
        );
        if self.builder.collects() || is_thinking {
            self.blocks.push(Value::Object(start));
        }
        Ok(())
    }

    /// Completes a call. Without deltas, its arguments are the input that it began with.
    fn close_call(
        &mut self,
        index: usize,
        start: &mut Object<'static>,
        deltas: &mut Vec<Delta>,
    ) -> Result<(), UpstreamError> {
        let calls = &self.builder.completion.message.tool_calls;
        let is_empty = calls.get(index).is_some_and(|call| call.arguments.is_empty());
        if is_empty {
            let input = start.get("input").filter(|input| input.as_object().is_some());
            let input = input.map_or_else(|| "{}".to_owned(), Value::text);
            deltas.push(self.builder.arguments(index, &input)?);
        } else if let Some(call) = calls.get(index)
            && let Ok(input) = json::parse(&call.arguments)
        {
            start.insert("input".into(), input.into_owned());
        }
        Ok(())
    }
}

fn index_of(value: &Value<'_>) -> u64 {
    let index = value.get("index").and_then(Value::as_number);
    index.and_then(serde_json::Number::as_u64).unwrap_or_default()
}
