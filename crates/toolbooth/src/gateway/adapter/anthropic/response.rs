//! Answers of Anthropic: whole bodies, and the parts that bodies and streams share.

use crate::gateway::adapter::reported;
use crate::gateway::builder::Builder;
use crate::gateway::stream::Delta;
use crate::gateway::{Completion, FinishReason, IdSource, UpstreamError, Usage};
use crate::json::{Object, Value};
use crate::text::excerpt;

/// Decodes the body of a response.
pub(in crate::gateway::adapter) fn decode(
    body: Value<'_>,
    ids: IdSource,
) -> Result<Completion, UpstreamError> {
    if body.get("type").and_then(Value::as_str) == Some("error") {
        return Err(reported(200, &body));
    }
    let Value::Object(body) = body else {
        return Err(UpstreamError::malformed("the answer is not an object"));
    };
    let Some(Value::Array(content)) = body.get("content") else {
        return Err(UpstreamError::malformed("the answer has no content"));
    };
    let mut builder = Builder::new(ids, true);
    head(&mut builder, &body);
    let mut blocks = Blocks::default();
    let mut deltas = Vec::new();
    for block in content {
        let Value::Object(block) = block else {
            return Err(UpstreamError::malformed("a content block is not an object"));
        };
        whole_block(&mut builder, &mut blocks, block, &mut deltas)?;
    }
    deltas.extend(blocks.extra_content(&mut builder));
    builder.completion.native = blocks.native();
    let reason = body.get("stop_reason").and_then(Value::as_str).unwrap_or("end_turn");
    let reason = finish_reason(&mut builder, reason);
    builder.finish(reason);
    let mut counts = Counts::default();
    counts.read(body.get("usage"));
    builder.completion.usage = counts.usage();
    Ok(builder.completion)
}

/// The id and the model.
pub(super) fn head(builder: &mut Builder, message: &Object<'_>) {
    let text = |name: &str| message.get(name).and_then(Value::as_str).map(str::to_owned);
    builder.completion.id = text("id");
    builder.completion.model = text("model");
}

/// The content blocks of an answer, for the next request.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    all: Vec<Value<'static>>,
}

impl Blocks {
    pub(super) fn push(&mut self, block: Value<'static>) {
        self.all.push(block);
    }

    /// Their JSON.
    pub(super) fn native(&self) -> String {
        crate::json::to_string(&self.all)
    }

    /// `extra_content` with the thinking blocks, if there are any.
    pub(super) fn extra_content(&self, builder: &mut Builder) -> Option<Delta> {
        let is_thinking = |block: &&Value<'_>| {
            let kind = block.get("type").and_then(Value::as_str);
            matches!(kind, Some("thinking" | "redacted_thinking"))
        };
        let thinking: Vec<_> = self.all.iter().filter(is_thinking).cloned().collect();
        if thinking.is_empty() {
            return None;
        }
        let own = Object::from_iter([("thinking_blocks", Value::Array(thinking))]);
        let extra = Object::from_iter([("anthropic", Value::Object(own))]);
        Some(builder.extra_content(Value::Object(extra)))
    }
}

/// Reads a complete block.
fn whole_block(
    builder: &mut Builder,
    blocks: &mut Blocks,
    block: &Object<'_>,
    deltas: &mut Vec<Delta>,
) -> Result<(), UpstreamError> {
    let text = |name: &str| block.get(name).and_then(Value::as_str).unwrap_or_default();
    match text("type") {
        "text" => deltas.push(builder.text(text("text"))),
        "thinking" => deltas.push(builder.reasoning(text("thinking"))),
        "redacted_thinking" => {}
        "tool_use" => {
            let name = text("name");
            if name.is_empty() {
                return Err(UpstreamError::malformed("a tool call names no tool"));
            }
            deltas.push(builder.call(Some(text("id")), name, false, Object::default())?);
            let index = builder.completion.message.tool_calls.len().saturating_sub(1);
            let input = block.get("input").filter(|input| !input.is_null());
            let arguments = input.map_or_else(|| "{}".to_owned(), Value::text);
            deltas.push(builder.arguments(index, &arguments)?);
        }
        kind => ignored(builder, kind),
    }
    blocks.push(Value::Object(block.clone().into_owned()));
    Ok(())
}

/// Notes a kind of block that has no counterpart in OpenAI's format.
pub(super) fn ignored(builder: &mut Builder, kind: &str) {
    let kind = excerpt(kind);
    builder.warn(format!("A content block of the type \"{kind}\" is left out of the answer"));
}

/// Anthropic's `stop_reason`.
pub(super) fn finish_reason(builder: &mut Builder, reason: &str) -> FinishReason {
    match reason {
        "end_turn" | "stop_sequence" => FinishReason::Stop,
        "max_tokens" | "model_context_window_exceeded" => FinishReason::Length,
        "tool_use" => FinishReason::ToolCalls,
        "refusal" => FinishReason::ContentFilter,
        "pause_turn" => {
            builder.warn(
                "Anthropic ended with pause_turn: send the answer back to let the model continue"
                    .to_owned(),
            );
            FinishReason::Stop
        }
        other => {
            let other = excerpt(other);
            builder.warn(format!(
                "The provider ended with the unknown stop reason \"{other}\", which is reported as stop"
            ));
            FinishReason::Stop
        }
    }
}

/// Counts of tokens. In a stream they are cumulative, and each may come in either of two events.
#[derive(Debug, Default)]
pub(super) struct Counts {
    seen: bool,
    input: u64,
    cache_creation: u64,
    cache_read: u64,
    output: u64,
    thinking: u64,
}

impl Counts {
    pub(super) fn read(&mut self, usage: Option<&Value<'_>>) {
        let Some(Value::Object(usage)) = usage else { return };
        self.seen = true;
        let number = |value: Option<&Value<'_>>| {
            value
                .and_then(Value::as_number)
                .and_then(serde_json::Number::as_u64)
                .unwrap_or_default()
        };
        let thinking =
            usage.get("output_tokens_details").and_then(|details| details.get("thinking_tokens"));
        for (count, value) in [
            (&mut self.input, usage.get("input_tokens")),
            (&mut self.cache_creation, usage.get("cache_creation_input_tokens")),
            (&mut self.cache_read, usage.get("cache_read_input_tokens")),
            (&mut self.output, usage.get("output_tokens")),
            (&mut self.thinking, thinking),
        ] {
            *count = (*count).max(number(value));
        }
    }

    pub(super) fn usage(&self) -> Option<Usage> {
        let prompt = self.input.saturating_add(self.cache_creation).saturating_add(self.cache_read);
        self.seen.then(|| Usage {
            prompt_tokens: prompt,
            completion_tokens: self.output,
            total_tokens: prompt.saturating_add(self.output),
            cached_tokens: self.cache_read,
            reasoning_tokens: self.thinking,
            extra: None,
        })
    }
}
