//! The providers' formats: requests are translated into them, and answers are decoded from them.

pub(super) mod anthropic;
mod conversation;
pub(super) mod gemini;
pub(super) mod openai;
mod part;
mod report;
mod schema;

use serde::{Deserialize, Serialize};

use super::{ChatRequest, Completion, IdSource, UpstreamError};
use crate::json::{self, Value};
use crate::text::{cut, excerpt};
use report::{Fields, Report};

/// The most JSON values in an answer: log probabilities have many.
const MAX_VALUES: usize = 2_000_000;

/// The longest error message that is passed on, in characters.
const MAX_MESSAGE: usize = 2000;

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
    /// The provider has nothing that corresponds to a member, or the member is invalid.
    Invalid {
        /// What is wrong, and what to do.
        message: String,
        /// The member with the fault.
        param: String,
    },
}

impl TranslateError {
    fn invalid(param: &str, message: String) -> Self {
        Self::Invalid { message, param: param.to_owned() }
    }

    fn expected(param: &str, expected: &str) -> Self {
        Self::invalid(param, format!("{param} must be {expected}"))
    }
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
    pub fn path(self, model: &str, stream: bool) -> String {
        match self {
            Self::OpenAi | Self::OpenAiCompatible => "/chat/completions".to_owned(),
            Self::Anthropic => "/v1/messages".to_owned(),
            Self::Gemini => gemini::path(model, stream),
        }
    }

    /// The headers that authenticate a request, and those that select the version. A provider on one's own machine may
    /// have no key.
    pub fn headers(self, key: &str) -> Vec<(&'static str, String)> {
        match self {
            Self::OpenAi | Self::OpenAiCompatible if key.is_empty() => Vec::new(),
            Self::OpenAi | Self::OpenAiCompatible => {
                vec![("authorization", format!("Bearer {key}"))]
            }
            Self::Anthropic => vec![
                ("x-api-key", key.to_owned()),
                ("anthropic-version", anthropic::VERSION.to_owned()),
            ],
            Self::Gemini => vec![("x-goog-api-key", key.to_owned())],
        }
    }

    /// Translates a request.
    ///
    /// # Errors
    /// The provider cannot get it.
    pub fn translate(
        self,
        request: &ChatRequest,
        options: &TranslateOptions<'_>,
    ) -> Result<Translation, TranslateError> {
        let mut report = Report::default();
        let body = match self {
            Self::OpenAi => openai::translate(request, options, true, &mut report)?,
            Self::OpenAiCompatible => openai::translate(request, options, false, &mut report)?,
            Self::Anthropic => anthropic::translate(request, options, &mut report)?,
            Self::Gemini => gemini::translate(request, options, &mut report)?,
        };
        let body = body.to_vec();
        let (dropped, warnings) = report.into_parts();
        Ok(Translation { body, dropped, warnings })
    }

    /// Decodes the body of a successful response that is not a stream.
    ///
    /// # Errors
    /// The provider reported an error, or the body is malformed.
    pub fn decode(self, body: &[u8], ids: IdSource) -> Result<Completion, UpstreamError> {
        let text = str::from_utf8(body)
            .map_err(|_| UpstreamError::malformed("the answer is not UTF-8"))?;
        let value = json::parse_within(text, &mut { MAX_VALUES })
            .map_err(|_| UpstreamError::malformed("the answer is not JSON"))?;
        match self {
            Self::OpenAi | Self::OpenAiCompatible => openai::decode(value, ids),
            Self::Anthropic => anthropic::decode(value, ids),
            Self::Gemini => gemini::decode(value, ids),
        }
    }

    /// Decodes the body of a response with an error status. All providers' errors are alike.
    pub fn decode_error(self, status: u16, body: &[u8]) -> UpstreamError {
        reported(status, &json::parse_bytes(body).unwrap_or_default())
    }
}

/// The members of the request that a translation reads. The gateway itself has read `n` and
/// `stream_options.include_usage`.
fn members<'t>(
    request: &'t ChatRequest,
    report: &mut Report,
) -> Result<Fields<'t>, TranslateError> {
    let mut object = json::Object::default();
    for (name, json) in &request.members {
        let value = json::parse_within(json.get(), &mut { usize::MAX })
            .map_err(|_| TranslateError::expected(name, "valid JSON"))?;
        object.insert(name.as_str().into(), value);
    }
    let mut fields = Fields::of(Value::Object(object), String::new())?;
    fields.take("n");
    if let Some(mut options) = fields.fields("stream_options")? {
        options.take("include_usage");
        options.finish(report);
    }
    if fields.take("functions").is_some() {
        let message = "functions is deprecated, and this provider does not have it: use tools";
        return Err(TranslateError::invalid("functions", message.to_owned()));
    }
    Ok(fields)
}

/// The error in a body or in an event. Without a status of its own, it has `status`; an error within an answer with
/// the status 200 gets the status that fits its type.
fn reported(status: u16, value: &Value<'_>) -> UpstreamError {
    // Gemini sends an array if the request was for a stream.
    let value = value.as_array().and_then(<[_]>::first).unwrap_or(value);
    let error = value.get("error").filter(|error| !error.is_null()).unwrap_or(value);
    let text = |name: &str| error.get(name).and_then(Value::as_str).filter(|it| !it.is_empty());
    let message = error
        .as_str()
        .or_else(|| text("message"))
        .or_else(|| text("detail"))
        .unwrap_or("The provider reported an error without a message");
    let kind = text("type").or_else(|| text("status")).or_else(|| text("code")).unwrap_or_default();
    let code = error.get("code").and_then(Value::as_number).and_then(serde_json::Number::as_u64);
    let code = code.and_then(|code| u16::try_from(code).ok()).filter(|it| (400..600).contains(it));
    // Gemini answers a wrong key with 400.
    let details = error.get("details").and_then(Value::as_array).unwrap_or_default();
    let is_key_invalid = |detail: &Value<'_>| {
        detail.get("reason").and_then(Value::as_str) == Some("API_KEY_INVALID")
    };
    let status = match status {
        400 if details.iter().any(is_key_invalid) => 401,
        200 => code.unwrap_or_else(|| status_of(kind)),
        status => status,
    };
    UpstreamError::Reported { status, kind: excerpt(kind), message: cut(message, MAX_MESSAGE) }
}

/// The status that fits a type of error.
fn status_of(kind: &str) -> u16 {
    match kind {
        "invalid_request_error" | "INVALID_ARGUMENT" | "FAILED_PRECONDITION" => 400,
        "authentication_error" | "UNAUTHENTICATED" => 401,
        "billing_error" => 402,
        "permission_error" | "PERMISSION_DENIED" => 403,
        "not_found_error" | "NOT_FOUND" => 404,
        "request_too_large" => 413,
        "rate_limit_error" | "rate_limit_exceeded" | "RESOURCE_EXHAUSTED" => 429,
        "UNAVAILABLE" => 503,
        "overloaded_error" => 529,
        "timeout_error" | "DEADLINE_EXCEEDED" => 504,
        _ => 500,
    }
}

#[cfg(test)]
mod tests;
