//! The providers' formats: requests are translated into them, and answers are decoded from them.

use serde::{Deserialize, Serialize};

use super::{ChatRequest, Completion, IdSource, UpstreamError};

/// A provider's format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Provider {
    /// OpenAI itself, whose limits are known.
    OpenAi,
    /// Any other provider with OpenAI's Chat Completions format.
    OpenAiCompatible,
    /// Anthropic Messages.
    Anthropic,
    /// Gemini generateContent.
    Gemini,
}

/// What a translation needs to know apart from the request.
#[derive(Debug, Clone)]
pub struct TranslateOptions<'a> {
    /// The model, as the provider names it.
    pub model: &'a str,
    /// Provider and model for error messages, such as `google/gemini-2.5-pro`.
    pub target: &'a str,
    /// Whether to ask for a stream. Usage is always requested.
    pub stream: bool,
    /// The compiled-in tools that the model may call, as JSON in the provider's format: entries of the list
    /// [`Provider::list`].
    pub server_tools: &'a [&'a str],
    /// Whether `tool_choice` may force a call. False after the first round of the tool loop: a forcing choice becomes
    /// `auto`.
    pub may_force: bool,
    /// `max_tokens` for providers that require it, if the request has none.
    pub default_max_tokens: u64,
}

/// A request in a provider's format.
#[derive(Debug, Clone)]
pub struct Translation {
    /// The body.
    pub body: Vec<u8>,
    /// The members of the request that the provider does not get, such as `seed` or `messages[].name`.
    pub dropped: Vec<String>,
    /// What the client should know: conversions that change the request.
    pub warnings: Vec<String>,
}

/// The provider cannot get this request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TranslateError {
    /// The provider does not accept a tool's schema, or that of `response_format` (2api.ai, 5.4).
    IncompatibleSchema {
        /// The message of 5.4.
        message: String,
        /// The features, sorted.
        features: Vec<String>,
        /// The member with the fault.
        param: String,
    },
    /// The provider has nothing that corresponds to a member.
    Invalid {
        /// What is wrong, and what to do.
        message: String,
        /// The member with the fault.
        param: String,
    },
}

impl Provider {
    /// The name of the list of compiled-in tools in the provider's format
    /// ([`Catalog::list`](crate::catalog::Catalog::list)).
    pub fn list(self) -> &'static str {
        match self {
            Self::OpenAi | Self::OpenAiCompatible => "openai",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
        }
    }

    /// The path and query after the base URL.
    pub fn path(self, _model: &str, _stream: bool) -> String {
        String::new()
    }

    /// The headers that authenticate a request, and those that select the version.
    pub fn headers(self, _key: &str) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// Translates a request.
    ///
    /// # Errors
    /// The provider cannot get it.
    pub fn translate(
        self,
        _request: &ChatRequest,
        _options: &TranslateOptions<'_>,
    ) -> Result<Translation, TranslateError> {
        Ok(Translation { body: Vec::new(), dropped: Vec::new(), warnings: Vec::new() })
    }

    /// Decodes the body of a successful response that is not a stream.
    ///
    /// # Errors
    /// The provider reported an error, or the body is malformed.
    pub fn decode(self, _body: &[u8], _ids: IdSource) -> Result<Completion, UpstreamError> {
        Err(UpstreamError::Malformed(String::new()))
    }

    /// Decodes the body of a response with an error status.
    pub fn decode_error(self, status: u16, _body: &[u8]) -> UpstreamError {
        UpstreamError::Reported { status, kind: String::new(), message: String::new() }
    }
}
