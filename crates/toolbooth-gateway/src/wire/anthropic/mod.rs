//! Anthropic Messages.

pub(crate) mod request;

use serde::Serialize;

use super::fields::{JsonPath, count, object, take, take_text};
use super::{Arguments, Failure, Finish, FinishReason, Item, ModelAnswer, Read, ToolCall, Usage};
use toolbooth::json::{Object, Value};

const EXPECTED: &str = "The body must be a message (an object with content) or the array of its \
    content blocks";

/// Reads a message, or the array of its content blocks.
pub(crate) fn read(body: Value<'_>) -> Read<ModelAnswer<'_>> {
    match body {
        Value::Array(blocks) => {
            Ok(ModelAnswer { items: read_blocks(blocks, "")?, ..ModelAnswer::default() })
        }
        Value::Object(body) => message(body),
        _ => Err(EXPECTED.to_owned()),
    }
}

fn message(mut body: Object<'_>) -> Read<ModelAnswer<'_>> {
    let items = match take(&mut body, &["content"]) {
        Some(Value::Array(blocks)) => read_blocks(blocks, "content")?,
        Some(Value::String(text)) => vec![Item::Text(text)],
        Some(_) => return Err("content must be an array of blocks".to_owned()),
        None => return Err(EXPECTED.to_owned()),
    };
    Ok(ModelAnswer {
        id: take_text(&mut body, &["id"]),
        model: take_text(&mut body, &["model"]),
        items,
        finish: take_text(&mut body, &["stop_reason"]).map(|it| Finish::new(it, finish_reason)),
        usage: MessageUsage::default().add(body.get("usage")),
        has_alternatives: false,
    })
}

fn read_blocks<'t>(blocks: Vec<Value<'t>>, path: &str) -> Read<Vec<Item<'t>>> {
    let blocks = blocks.into_iter().enumerate();
    blocks.map(|(at, block)| read_block(block, format_args!("{path}[{at}]"))).collect()
}

/// Reads a content block, which is at `path`.
pub(crate) fn read_block<'t>(block: Value<'t>, path: JsonPath<'_>) -> Read<Item<'t>> {
    let mut block = object(block, path)?;
    let Some(kind) = take_text(&mut block, &["type"]) else {
        return Err(format!("{path} is not a content block, which has a type"));
    };
    let mut text = |name: &str| take_text(&mut block, &[name]).unwrap_or_default();
    Ok(match &*kind {
        "text" => Item::Text(text("text")),
        "thinking" => Item::Reasoning(text("thinking")),
        "redacted_thinking" => Item::Reasoning("".into()),
        "tool_use" => Item::Call(ToolCall {
            id: text("id"),
            name: text("name"),
            arguments: Arguments::from_json(take(&mut block, &["input"])),
            ..ToolCall::default()
        }),
        it if it.ends_with("_tool_use") => Item::Hosted(kind),
        _ => Item::Other(kind),
    })
}

pub(crate) fn finish_reason(word: &str) -> FinishReason {
    match word {
        "end_turn" | "stop_sequence" => FinishReason::Stop,
        "max_tokens" | "model_context_window_exceeded" => FinishReason::Length,
        "tool_use" => FinishReason::ToolCalls,
        "refusal" => FinishReason::ContentFilter,
        "pause_turn" => FinishReason::Failed(Failure {
            status: 502,
            advice: "send the answer back to let it continue",
        }),
        _ => FinishReason::Other,
    }
}

/// Counts of tokens. In a stream they are cumulative, and each may come in either of two events.
#[derive(Debug, Default)]
pub(crate) struct MessageUsage {
    input: u64,
    written_to_cache: u64,
    written_for_an_hour: u64,
    read_from_cache: u64,
    output: u64,
    thinking: u64,
}

impl MessageUsage {
    /// Adds what an event says. Returns the counts so far, unless it says nothing.
    pub(crate) fn add(&mut self, usage: Option<&Value<'_>>) -> Option<Usage> {
        let usage = usage.filter(|usage| usage.as_object().is_some())?;
        for (known, name) in [
            (&mut self.input, "input_tokens"),
            (&mut self.written_to_cache, "cache_creation_input_tokens"),
            (&mut self.read_from_cache, "cache_read_input_tokens"),
            (&mut self.output, "output_tokens"),
        ] {
            *known = (*known).max(count(usage.get(name)).unwrap_or_default());
        }
        let details = usage.get("cache_creation");
        let long = count(details.and_then(|details| details.get("ephemeral_1h_input_tokens")));
        self.written_for_an_hour = self.written_for_an_hour.max(long.unwrap_or_default());
        let details = usage.get("output_tokens_details");
        let thinking = count(details.and_then(|details| details.get("thinking_tokens")));
        self.thinking = self.thinking.max(thinking.unwrap_or_default());
        let cached = self.written_to_cache.saturating_add(self.read_from_cache);
        let prompt = self.input.saturating_add(cached);
        Some(Usage {
            prompt_tokens: prompt,
            completion_tokens: self.output,
            total_tokens: prompt.saturating_add(self.output),
            cached_tokens: self.read_from_cache,
            cache_write_tokens: self.written_to_cache,
            long_cache_write_tokens: self.written_for_an_hour,
            reasoning_tokens: self.thinking,
            extra: None,
        })
    }
}

/// The result of a call. Its content is a text or an array of blocks.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "tool_result")]
pub(crate) struct ToolResult<I, C> {
    pub tool_use_id: I,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<C>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_error: Option<bool>,
}
