//! A model's answer, the same for all providers.

use super::node::{Members, Node, members_of, object};
use super::{Provider, ToolResult, Turn};
use crate::json::{self, Object, Value};

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
    /// The content of the message as the provider wrote it, for [`Turn`](super::Turn). Empty unless it was collected, and
    /// for providers with OpenAI's format, to which [`message`](Self::message) goes back.
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

impl UpstreamError {
    /// The answer is malformed.
    pub(super) fn malformed(reason: &str) -> Self {
        Self::Malformed(reason.to_owned())
    }
}

impl Usage {
    /// Adds the tokens of another answer, for the sum over the rounds of the tool loop.
    pub fn add(&mut self, other: &Self) {
        self.prompt_tokens = self.prompt_tokens.saturating_add(other.prompt_tokens);
        self.completion_tokens = self.completion_tokens.saturating_add(other.completion_tokens);
        self.total_tokens = self.total_tokens.saturating_add(other.total_tokens);
        self.cached_tokens = self.cached_tokens.saturating_add(other.cached_tokens);
        self.reasoning_tokens = self.reasoning_tokens.saturating_add(other.reasoning_tokens);
        self.extra = None;
    }

    /// OpenAI's object.
    pub(super) fn node(&self) -> Node<'_> {
        const REQUIRED: [&str; 3] = ["prompt_tokens", "completion_tokens", "total_tokens"];
        if let Some(extra) = &self.extra
            && REQUIRED
                .iter()
                .all(|name| extra.get(name).is_some_and(|it| it.as_number().is_some()))
        {
            let mut members = Members::default();
            members.put_all(extra);
            return members.into();
        }
        object([
            ("prompt_tokens", self.prompt_tokens.into()),
            ("completion_tokens", self.completion_tokens.into()),
            ("total_tokens", self.total_tokens.into()),
            ("prompt_tokens_details", object([("cached_tokens", self.cached_tokens.into())])),
            (
                "completion_tokens_details",
                object([("reasoning_tokens", self.reasoning_tokens.into())]),
            ),
        ])
    }
}

impl ToolCall {
    /// OpenAI's object. A response has the `index`; a request has none.
    fn node(&self, index: Option<usize>) -> Node<'_> {
        let mut members = Members::default();
        members.put_some("index", index);
        members.put("id", self.id.as_str());
        members.put("type", if self.custom { "custom" } else { "function" });
        if self.custom {
            let custom =
                [("name", self.name.as_str().into()), ("input", self.arguments.as_str().into())];
            members.put("custom", object(custom));
        } else {
            let name = self.name.as_str().into();
            members.put(
                "function",
                object([("name", name), ("arguments", self.arguments.as_str().into())]),
            );
        }
        members.put_all(&self.extra);
        members.into()
    }
}

impl AssistantMessage {
    /// OpenAI's object, for a response or for the next request.
    fn node(&self, is_response: bool) -> Node<'_> {
        let mut members = Members::default();
        members.put("role", "assistant");
        let text = |text: &'_ Option<String>| match text {
            Some(text) => Value::String(text.clone().into()),
            None => Value::Null,
        };
        members.put("content", text(&self.content));
        if is_response || self.refusal.is_some() {
            members.put("refusal", text(&self.refusal));
        }
        members.put_some("reasoning_content", self.reasoning.as_deref());
        if !self.tool_calls.is_empty() {
            let calls = self.tool_calls.iter().enumerate();
            let calls: Vec<Node<'_>> =
                calls.map(|(index, call)| call.node(is_response.then_some(index))).collect();
            members.put("tool_calls", calls);
        }
        members.put_all(&self.extra);
        members.into()
    }
}

impl Completion {
    /// The body of a response (2api.ai, 3.2). `two_api` is the member `_2api`.
    pub fn encode(&self, info: &CompletionInfo, two_api: Option<&Value<'_>>) -> Vec<u8> {
        let mut choice = members_of([
            ("index", 0_u64.into()),
            ("message", self.message.node(true)),
            ("finish_reason", self.finish_reason.as_str().into()),
        ]);
        choice.put_all(&self.extra.choice);
        let mut body = members_of([
            ("id", info.id.as_str().into()),
            ("object", "chat.completion".into()),
            ("created", info.created.into()),
            ("model", info.model.as_str().into()),
            ("choices", vec![choice.into()].into()),
        ]);
        body.put_some("usage", self.usage.as_ref().map(Usage::node));
        body.put_all(&self.extra.body);
        let two_api = two_api.map(|value| Node::Raw(value.text().into()));
        body.put_some("_2api", two_api);
        body.to_vec()
    }

    /// The round of the tool loop that this answer and these results make: append it to
    /// [`ChatRequest::history`](super::ChatRequest::history). Needs a completion that was collected.
    pub fn into_turn(self, provider: Provider, results: Vec<ToolResult>) -> Turn {
        let message = json::to_string(&self.message.node(false));
        Turn { provider, message, native: self.native, results }
    }
}
