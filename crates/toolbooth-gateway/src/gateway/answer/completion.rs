//! A model's answer, the same for all providers.

use crate::gateway::conversation::{ToolResult, Turn};
use crate::gateway::error::Result;
use crate::gateway::format::adapter::Format;
use crate::gateway::provider_state::{ProviderState, REASONING};
use crate::gateway::relay::optional_members::Complaint;
use crate::wire::openai::message::{Call, Message};
use crate::wire::{FinishReason, Media, ToolCall, Usage};
use toolbooth::json::{self, Object, Value};

#[derive(Debug, Clone, Default)]
pub(crate) struct Completion {
    pub id: Option<String>,
    /// The model that the provider names.
    pub model: Option<String>,
    /// When it was created, in seconds since the Unix epoch, if the provider says so.
    pub created: Option<u64>,
    pub message: AssistantMessage,
    /// Whether it has text, which is kept only if it is needed.
    pub has_text: bool,
    pub finish_reason: FinishReason,
    /// The sequence of the request at which the model stopped, if the provider says so.
    pub stop_sequence: Option<String>,
    /// The tokens, as far as the provider has counted them.
    pub usage: Option<Usage>,
    /// The content of the message as the provider wrote it, for [`Turn`]. Empty unless it was collected, and for
    /// providers with OpenAI's format, to which [`message`](Self::message) goes back.
    pub native: String,
    /// The body as the provider wrote it, if the client reads its format and gets it with few changes.
    pub native_body: Option<Vec<u8>>,
    /// What the client should know about the answer.
    pub warnings: Vec<String>,
    /// The same about parts that only clients of the provider's own format get.
    pub untranslated: Vec<String>,
    /// Further members of the body, which only OpenAI-compatible providers have. The gateway does not interpret them.
    pub of_body: Object<'static>,
    /// Those of the choice.
    pub of_choice: Object<'static>,
}

/// What the gateway adds to an answer.
#[derive(Debug, Clone, Default)]
pub(crate) struct CompletionInfo {
    pub id: String,
    /// The model that the client is shown.
    pub model: String,
    /// When it was created, in seconds since the Unix epoch.
    pub created: u64,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct AssistantMessage {
    pub content: Option<String>,
    pub refusal: Option<String>,
    pub reasoning: Option<String>,
    /// The calls, in order. Each has an id, and its arguments are text.
    pub tool_calls: Vec<ToolCall<'static>>,
    /// The pictures and sounds of a whole answer. Each is preceded by so many bytes of the text.
    pub media: Vec<(usize, Media<'static>)>,
    /// All blocks of Anthropic but calls, if some of them cannot be told by the members above: for clients that read them.
    pub blocks: Vec<Value<'static>>,
    /// Further members. `extra_content` has what the provider must get back (signatures, reasoning).
    pub extra: Object<'static>,
    /// The id of the provider.
    pub provider: String,
}

impl AssistantMessage {
    /// The reasoning that clients may read. Whole answers in OpenAI's format have it in a further member.
    pub(in crate::gateway) fn reasoning_text(&self) -> Option<&str> {
        let further = ["reasoning_content", "reasoning"].iter();
        let mut further = further.filter_map(|name| self.extra.get(name)?.as_str());
        self.reasoning.as_deref().or_else(|| further.next()).filter(|text| !text.is_empty())
    }

    /// What the provider must get back with it.
    pub(in crate::gateway) fn state(&self) -> ProviderState {
        ProviderState::of(&self.provider, &self.extra)
    }

    /// The message as OpenAI gets it back. The reasoning is what the provider wrote, where that is known.
    pub(in crate::gateway) fn to_openai(&self) -> Message<'_> {
        let is_known = REASONING.iter().any(|name| self.extra.contains(name));
        Message {
            role: Some("assistant"),
            content: Some(self.content.as_deref()),
            refusal: self.refusal.as_deref().map(Some),
            reasoning_content: self.reasoning.as_deref().filter(|_| !is_known),
            tool_calls: self.tool_calls.iter().map(Call::whole).collect(),
            extra: Some(&self.extra),
            ..Message::default()
        }
    }
}

/// The provider failed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum UpstreamError {
    Reported {
        /// The HTTP status that fits the error: that of the response, or of the error's type in a stream.
        status: u16,
        /// The provider's message. It may quote the request: for the client, never for a log.
        message: String,
    },
    /// The model has failed without an answer.
    NoAnswer {
        /// The HTTP status that fits it.
        status: u16,
        message: String,
        /// The tokens that it has used, if the provider has counted them.
        usage: Option<Usage>,
    },
    /// The provider has rejected the request because of members that the model can answer without.
    Rejected { status: u16, message: String, complaints: Vec<Complaint> },
    /// The stream ended before the answer was complete.
    BrokenOff,
    /// The answer is not in the provider's format. The text says where; it does not quote the answer.
    Malformed(String),
}

/// What is read from a provider's answer.
pub(in crate::gateway) type Read<T = ()> = Result<T, UpstreamError>;

impl UpstreamError {
    pub(in crate::gateway) fn malformed(reason: &str) -> Self {
        Self::Malformed(reason.to_owned())
    }
}

impl Completion {
    /// The round of the tool loop that this answer and these results make, for the history of the request. The answer
    /// must have been collected.
    pub(crate) fn to_turn(&self, format: Format, results: Vec<ToolResult>) -> Turn {
        let message = json::to_string(&self.message.to_openai());
        let (provider, native) = (self.message.provider.clone(), self.native.clone());
        Turn { format, provider, message, native, results }
    }
}
