//! Content blocks, counts of tokens and reasons to stop, as Anthropic writes them.

use std::borrow::Cow;

use serde::Serialize;

use crate::gateway::format::messages::front::thinking;
use crate::gateway::provider_state::ProviderState;
use crate::gateway::relay::report::RanCall;
use crate::wire::{FinishReason, Usage};
use toolbooth::json::{self, Rendered, Value};

/// A member that is always `null`.
pub(super) type Null = Option<()>;

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Block<'a> {
    Text {
        text: &'a str,
        citations: Null,
    },
    Thinking {
        thinking: &'a str,
        signature: &'a str,
    },
    RedactedThinking {
        data: Cow<'a, str>,
    },
    ToolUse {
        id: &'a str,
        name: &'a str,
        input: Rendered<'a>,
        caller: Caller,
    },
    McpToolUse {
        id: &'a str,
        name: &'a str,
        server_name: &'a str,
        input: Rendered<'a>,
    },
    McpToolResult {
        tool_use_id: &'a str,
        is_error: bool,
        content: [Text<'a>; 1],
    },
    /// As Anthropic wrote it.
    #[serde(untagged)]
    Verbatim(&'a Value<'a>),
}

/// The model itself calls a tool.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Caller {
    Direct,
}

#[derive(Serialize)]
#[serde(tag = "type", rename = "text")]
pub(super) struct Text<'a> {
    text: &'a str,
    citations: Null,
}

impl<'a> Block<'a> {
    pub(super) fn text(text: &'a str) -> Self {
        Self::Text { text, citations: None }
    }

    /// Reasoning that is not Anthropic's.
    pub(super) fn reasoning(thinking: &'a str) -> Self {
        Self::Thinking { thinking, signature: thinking::SIGNATURE }
    }

    /// What the provider of the call that follows must get back.
    pub(super) fn extra_content(content: &Value<'_>) -> Self {
        Self::RedactedThinking { data: thinking::data(content).into() }
    }

    /// What the provider must get back with the message, if there is anything.
    pub(super) fn state(state: &ProviderState) -> Option<Self> {
        let data = thinking::state_data(state)?.into();
        Some(Self::RedactedThinking { data })
    }

    pub(super) fn call(id: &'a str, name: &'a str, input: &'a str) -> Self {
        Self::ToolUse { id, name, input: Rendered(input), caller: Caller::Direct }
    }

    /// The blocks of calls that the gateway ran in one round: first the calls, then the results, so that rounds can be told apart.
    pub(super) fn of_ran(calls: &'a [RanCall], server_name: &'a str) -> impl Iterator<Item = Self> {
        let made = calls.iter().map(move |call| Self::McpToolUse {
            id: &call.id,
            name: &call.called,
            server_name,
            input: Rendered(if is_object(&call.arguments) { &call.arguments } else { "{}" }),
        });
        let results = calls.iter().map(|call| Self::McpToolResult {
            tool_use_id: &call.id,
            is_error: call.error.is_some(),
            content: [Text { text: &call.output, citations: None }],
        });
        made.chain(results)
    }
}

/// Whether a text is a JSON object, as `input` must be.
pub(super) fn is_object(text: &str) -> bool {
    text.trim_end().ends_with('}') && json::parse(text).is_ok_and(|it| it.as_object().is_some())
}

/// Counts of tokens. What was read from a cache, or written into it, is not part of the input.
#[derive(Serialize)]
pub(super) struct Counts {
    input_tokens: u64,
    cache_creation_input_tokens: u64,
    cache_read_input_tokens: u64,
    output_tokens: u64,
    output_tokens_details: Option<OutputDetails>,
    cache_creation: Null,
    inference_geo: Null,
    server_tool_use: Null,
    service_tier: Null,
    speed: Null,
}

#[derive(Serialize)]
struct OutputDetails {
    thinking_tokens: u64,
}

impl Counts {
    /// Before the provider has counted the tokens.
    pub(super) fn estimated(input_tokens: u64) -> Self {
        Self::of(&Usage { prompt_tokens: input_tokens, ..Usage::default() })
    }

    pub(super) fn of(usage: &Usage) -> Self {
        let cached = usage.cached_tokens.saturating_add(usage.cache_write_tokens);
        let thinking_tokens = usage.reasoning_tokens;
        Self {
            input_tokens: usage.prompt_tokens.saturating_sub(cached),
            cache_creation_input_tokens: usage.cache_write_tokens,
            cache_read_input_tokens: usage.cached_tokens,
            output_tokens: usage.completion_tokens,
            output_tokens_details: (thinking_tokens > 0)
                .then_some(OutputDetails { thinking_tokens }),
            cache_creation: None,
            inference_geo: None,
            server_tool_use: None,
            service_tier: None,
            speed: None,
        }
    }
}

/// Why a message ended, for which the model may have refused, or met a sequence of the request.
pub(super) fn stop_reason(
    reason: FinishReason,
    refuses: bool,
    sequence: Option<&str>,
) -> &'static str {
    match reason {
        FinishReason::ContentFilter => "refusal",
        FinishReason::Stop if refuses => "refusal",
        FinishReason::Stop if sequence.is_some() => "stop_sequence",
        FinishReason::Stop | FinishReason::Other => "end_turn",
        FinishReason::Failed(_) | FinishReason::Length => "max_tokens",
        FinishReason::ToolCalls => "tool_use",
    }
}

/// The id of a message in Anthropic's form.
pub(super) fn message_id(id: &str) -> Cow<'_, str> {
    if id.starts_with("msg_") { id.into() } else { format!("msg_{id}").into() }
}
