//! Anthropic Messages.

pub mod request;

use serde::{Deserialize, Serialize};

use super::fields::{JsonPath, lenient, object, take, take_text};
use super::{Answer, Arguments, Finish, FinishReason, Item, ToolCall, Usage};
use toolbooth::json::{self, Object, Value};

const EXPECTED: &str = "The body must be a message (an object with content) or the array of its \
    content blocks";

/// Reads a message, or the array of its content blocks.
///
/// # Errors
/// What was expected, and where.
pub fn read(body: Value<'_>) -> Result<Answer<'_>, String> {
    match body {
        Value::Array(blocks) => Ok(Answer { items: read_blocks(blocks, "")?, ..Answer::default() }),
        Value::Object(body) => message(body),
        _ => Err(EXPECTED.to_owned()),
    }
}

/// Reads a message.
///
/// # Errors
/// What was expected, and where.
pub fn message(mut body: Object<'_>) -> Result<Answer<'_>, String> {
    let items = match take(&mut body, &["content"]) {
        Some(Value::Array(blocks)) => read_blocks(blocks, "content")?,
        Some(Value::String(text)) => vec![Item::Text(text)],
        Some(_) => return Err("content must be an array of blocks".to_owned()),
        None => return Err(EXPECTED.to_owned()),
    };
    Ok(Answer {
        id: take_text(&mut body, &["id"]),
        model: take_text(&mut body, &["model"]),
        items,
        finish: take_text(&mut body, &["stop_reason"]).map(|it| Finish::new(it, finish_reason)),
        usage: body.get("usage").and_then(MessageUsage::of).map(Usage::from),
        has_alternatives: false,
    })
}

fn read_blocks<'t>(blocks: Vec<Value<'t>>, path: &str) -> Result<Vec<Item<'t>>, String> {
    let blocks = blocks.into_iter().enumerate();
    blocks.map(|(at, block)| read_block(block, format_args!("{path}[{at}]"))).collect()
}

/// Reads a content block.
///
/// # Errors
/// What was expected; `path` is where it is.
pub fn read_block<'t>(block: Value<'t>, path: JsonPath<'_>) -> Result<Item<'t>, String> {
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

/// The meaning of `stop_reason`.
pub fn finish_reason(word: &str) -> FinishReason {
    match word {
        "end_turn" | "stop_sequence" => FinishReason::Stop,
        "max_tokens" | "model_context_window_exceeded" => FinishReason::Length,
        "tool_use" => FinishReason::ToolCalls,
        "refusal" => FinishReason::ContentFilter,
        "pause_turn" => FinishReason::Failed(
            "The model ended with pause_turn: send the answer back to let it continue",
        ),
        _ => FinishReason::Other,
    }
}

/// Counts of tokens. In a stream they are cumulative, and each may come in either of two events.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct MessageUsage {
    #[serde(deserialize_with = "lenient")]
    input_tokens: u64,
    #[serde(deserialize_with = "lenient")]
    cache_creation_input_tokens: u64,
    #[serde(deserialize_with = "lenient")]
    cache_read_input_tokens: u64,
    #[serde(deserialize_with = "lenient")]
    output_tokens: u64,
    #[serde(deserialize_with = "lenient")]
    output_tokens_details: OutputDetails,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct OutputDetails {
    #[serde(deserialize_with = "lenient")]
    thinking_tokens: u64,
}

impl MessageUsage {
    /// The counts in `usage`; `None` if it is not an object.
    pub fn of(usage: &Value<'_>) -> Option<Self> {
        json::read_value(usage)
    }

    /// Adds what a later event says.
    pub fn update(&mut self, later: &Self) {
        for (count, later) in [
            (&mut self.input_tokens, later.input_tokens),
            (&mut self.cache_creation_input_tokens, later.cache_creation_input_tokens),
            (&mut self.cache_read_input_tokens, later.cache_read_input_tokens),
            (&mut self.output_tokens, later.output_tokens),
            (
                &mut self.output_tokens_details.thinking_tokens,
                later.output_tokens_details.thinking_tokens,
            ),
        ] {
            *count = (*count).max(later);
        }
    }
}

impl From<MessageUsage> for Usage {
    fn from(usage: MessageUsage) -> Self {
        let cached = usage.cache_read_input_tokens;
        let prompt = usage.input_tokens.saturating_add(usage.cache_creation_input_tokens);
        let prompt = prompt.saturating_add(cached);
        Self {
            prompt_tokens: prompt,
            completion_tokens: usage.output_tokens,
            total_tokens: prompt.saturating_add(usage.output_tokens),
            cached_tokens: cached,
            reasoning_tokens: usage.output_tokens_details.thinking_tokens,
            extra: None,
        }
    }
}

/// The result of a call. Its content is a text or an array of blocks.
#[derive(Debug, Serialize)]
pub struct ToolResult<I, C> {
    r#type: &'static str,
    tool_use_id: I,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<C>,
    #[serde(skip_serializing_if = "Option::is_none")]
    is_error: Option<bool>,
}

impl<I, C> ToolResult<I, C> {
    /// The result of the call with this id.
    pub fn new(tool_use_id: I, content: Option<C>, is_error: Option<bool>) -> Self {
        Self { r#type: "tool_result", tool_use_id, content, is_error }
    }
}
