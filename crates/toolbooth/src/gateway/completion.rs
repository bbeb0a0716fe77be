//! A model's answer, the same for all providers.

use crate::json::{Object, Value};

/// An answer.
#[derive(Debug, Clone, Default)]
pub struct Completion {
    /// The provider's id of the answer.
    pub id: Option<String>,
    /// The model that the provider names.
    pub model: Option<String>,
    /// When it was created, in seconds since the Unix epoch, if the provider says so.
    pub created: Option<u64>,
    /// The message.
    pub message: AssistantMessage,
    /// Why the model stopped.
    pub finish_reason: FinishReason,
    /// The tokens, if the provider counted them.
    pub usage: Option<Usage>,
    /// The message as the provider wrote it, for [`Turn`](super::Turn). Empty unless it was collected.
    pub native: String,
    /// What the client should know about the answer.
    pub warnings: Vec<String>,
    /// Further members of the body and of the choice, which only OpenAI-compatible providers have.
    pub extra: CompletionExtra,
}

/// Members that the gateway does not interpret.
#[derive(Debug, Clone, Default)]
pub struct CompletionExtra {
    /// Of the body.
    pub body: Object<'static>,
    /// Of the choice.
    pub choice: Object<'static>,
}

/// The assistant's message.
#[derive(Debug, Clone, Default)]
pub struct AssistantMessage {
    /// The text; `None` if there is none.
    pub content: Option<String>,
    /// Why the model refuses.
    pub refusal: Option<String>,
    /// The readable part of the model's reasoning.
    pub reasoning: Option<String>,
    /// The calls, in order.
    pub tool_calls: Vec<ToolCall>,
    /// Further members. `extra_content` has what the provider must get back (signatures, reasoning).
    pub extra: Object<'static>,
}

/// A call (2api.ai, 2.2).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolCall {
    /// Pairs the call with its result.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments as the model wrote them: JSON, unless the model made a mistake.
    pub arguments: String,
    /// Whether it is a call of a custom tool, whose argument is plain text.
    pub custom: bool,
    /// Further members, such as `extra_content`.
    pub extra: Object<'static>,
}

/// Why a model stopped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FinishReason {
    /// It was done.
    #[default]
    Stop,
    /// It reached a limit of tokens.
    Length,
    /// It calls tools.
    ToolCalls,
    /// The provider withheld the rest, or the model refuses.
    ContentFilter,
}

impl FinishReason {
    /// OpenAI's word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stop => "stop",
            Self::Length => "length",
            Self::ToolCalls => "tool_calls",
            Self::ContentFilter => "content_filter",
        }
    }
}

/// Counts of tokens, as OpenAI defines them: the prompt includes what was cached, the completion includes the
/// reasoning.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Usage {
    /// Tokens of the prompt.
    pub prompt_tokens: u64,
    /// Tokens of the answer.
    pub completion_tokens: u64,
    /// All tokens, as far as the provider counts more than these two.
    pub total_tokens: u64,
    /// Tokens of the prompt that came from a cache.
    pub cached_tokens: u64,
    /// Tokens of the answer that are reasoning.
    pub reasoning_tokens: u64,
    /// The provider's own object, if its format is OpenAI's.
    pub extra: Option<Object<'static>>,
}

/// What the gateway adds to an answer.
#[derive(Debug, Clone, Default)]
pub struct CompletionInfo {
    /// The id of the answer.
    pub id: String,
    /// The model that the client is shown.
    pub model: String,
    /// When it was created, in seconds since the Unix epoch.
    pub created: u64,
}

/// The provider failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UpstreamError {
    /// It reported an error.
    Reported {
        /// The HTTP status that fits the error: that of the response, or of the error's type in a stream.
        status: u16,
        /// The provider's word for it.
        kind: String,
        /// The provider's message. It may quote the request: for the client, never for a log.
        message: String,
    },
    /// The stream ended before the answer was complete.
    BrokenOff,
    /// The answer is not in the provider's format. The text says where; it does not quote the answer.
    Malformed(String),
}

impl Completion {
    /// The body of a response (2api.ai, 3.2). `two_api` is the member `_2api`.
    pub fn encode(&self, _info: &CompletionInfo, _two_api: Option<&Value<'_>>) -> Vec<u8> {
        Vec::new()
    }

    /// The round of the tool loop that this answer and these results make: append it to
    /// [`ChatRequest::history`](super::ChatRequest::history).
    pub fn into_turn(
        self,
        provider: super::Provider,
        results: Vec<super::ToolResult>,
    ) -> super::Turn {
        super::Turn { provider, message: String::new(), native: self.native, results }
    }
}
