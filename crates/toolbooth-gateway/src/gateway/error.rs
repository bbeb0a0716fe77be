//! The errors of the gateway, each with its status and its code.

use std::borrow::Cow;
use std::ops::{Deref, DerefMut};

use crate::gateway::answer::completion::UpstreamError;
use crate::gateway::format::front::Front;
use crate::gateway::relay::optional_members::Complaint;
use crate::providers::ErrorType;
use crate::wire::{Media, Usage};
use toolbooth::call::CHALLENGE;
use toolbooth::host::HttpError;
use toolbooth::http::{ClientGone, Response};
use toolbooth::principal::GATEWAY_SCOPE;
use toolbooth::schema::text::excerpt;
use toolbooth::secret::Secret;

pub(super) type Result<T, E = GatewayError> = std::result::Result<T, E>;

/// An error. It is one pointer, because nearly every function of the gateway can return it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct GatewayError(Box<ErrorDetails>);

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ErrorDetails {
    pub(super) kind: ErrorKind,
    /// For the client. It may quote the request or the provider, so no log has it.
    pub(super) message: String,
    /// The member of the request with the fault.
    pub(super) param: Option<String>,
    /// What the provider does not support (2api.ai, 5.4).
    pub(super) features: Vec<String>,
    /// After how many milliseconds the client may try again.
    pub(super) retry_after_ms: Option<u64>,
    /// The status of the provider's response, or that of the error in it.
    pub(super) provider_status: Option<u16>,
    /// The tokens that the attempt has used, if the provider has counted them.
    pub(super) usage: Option<Usage>,
    /// What the provider says about members that the model can answer without.
    pub(super) complaints: Vec<Complaint>,
    /// The scopes of a caller that lacks the gateway's.
    pub(super) held: Vec<String>,
}

macro_rules! kinds {
    ($($kind:ident => $status:literal, $type:ident, $code:literal;)+) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum ErrorKind {
            $($kind,)+
            /// The provider rejected the request, with this status.
            ProviderRejected(u16),
        }

        impl ErrorKind {
            /// The HTTP status, the type, and a code for programs.
            fn row(self) -> (u16, ErrorType, &'static str) {
                match self {
                    $(Self::$kind => ($status, ErrorType::$type, $code),)+
                    Self::ProviderRejected(status) => {
                        (status, ErrorType::InvalidRequest, "provider_error")
                    }
                }
            }

            pub(super) fn status(self) -> u16 {
                self.row().0
            }

            pub(super) fn r#type(self) -> ErrorType {
                self.row().1
            }

            pub(super) fn code(self) -> &'static str {
                self.row().2
            }
        }
    };
}

// The numbers are clauses of 2api.ai.
kinds! {
    InvalidRequest => 400, InvalidRequest, "invalid_request";
    UnknownModel => 404, InvalidRequest, "model_not_found";
    IncompatibleSchema => 400, Semantic, "tool_schema_incompatible"; // 5.4
    ToolNotAllowed => 400, InvalidRequest, "tool_not_allowed"; // 7.2
    TooManyTools => 400, InvalidRequest, "too_many_tools"; // 7.1
    InvalidToolName => 400, InvalidRequest, "invalid_tool_name"; // 7.1
    LongDescription => 400, InvalidRequest, "tool_description_too_long"; // 7.1
    TooManyCalls => 502, Server, "too_many_tool_calls"; // 7.1
    LargeArguments => 502, Server, "arguments_too_large"; // 7.1
    NoPlaceForFile => 400, InvalidRequest, "no_place_for_file";
    CallRequired => 502, Server, "tool_call_required"; // 5.1
    InvalidArguments => 502, Server, "invalid_tool_arguments"; // 7.3
    NotConfigured => 503, Server, "gateway_not_configured";
    MissingScope => 403, Permission, "missing_scope";
    ModelNotAllowed => 403, Permission, "model_not_allowed";
    ModelWithoutPrice => 403, Permission, "model_without_price";
    CallerKey => 403, Permission, "provider_key_not_allowed";
    ProviderAuth => 502, Server, "provider_auth_error";
    Provider => 502, Server, "provider_error";
    Overloaded => 503, Server, "provider_overloaded";
    Timeout => 504, Server, "provider_timeout";
    Unreachable => 502, Server, "provider_unreachable";
    BadResponse => 502, Server, "provider_bad_response";
    RateLimited => 429, RateLimit, "rate_limited"; // 7.4, or the provider's limit
    BudgetExceeded => 429, RateLimit, "budget_exceeded";
    Unavailable => 503, Server, "unavailable";
    Deadline => 504, Server, "deadline_exceeded";
    Budget => 502, Server, "subrequest_budget_exceeded";
    Internal => 500, Server, "server_error";
    // No client gets this error; the log has it.
    ClientGone => 499, Server, "client_closed_request";
}

impl Deref for GatewayError {
    type Target = ErrorDetails;

    fn deref(&self) -> &ErrorDetails {
        &self.0
    }
}

impl DerefMut for GatewayError {
    fn deref_mut(&mut self) -> &mut ErrorDetails {
        &mut self.0
    }
}

impl From<ClientGone> for GatewayError {
    fn from(_: ClientGone) -> Self {
        Self::new(ErrorKind::ClientGone, "The client has gone")
    }
}

impl GatewayError {
    pub(super) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(ErrorDetails {
            kind,
            message: message.into(),
            param: None,
            features: Vec::new(),
            retry_after_ms: None,
            provider_status: None,
            usage: None,
            complaints: Vec::new(),
            held: Vec::new(),
        }))
    }

    /// The error, after which the client may try again in so many milliseconds.
    pub(super) fn retry_after(mut self, ms: Option<u64>) -> Self {
        self.retry_after_ms = ms;
        self
    }

    /// An invalid request: the member with the fault, and what was expected.
    pub(super) fn invalid(param: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(ErrorKind::InvalidRequest, message).at(param)
    }

    /// An invalid request: the member with the fault, and what it must be.
    pub(super) fn expected(param: &str, expected: &str) -> Self {
        Self::invalid(param, format!("{param} must be {expected}"))
    }

    pub(super) fn at(mut self, param: impl Into<String>) -> Self {
        self.param = Some(param.into());
        self
    }

    pub(super) fn deadline() -> Self {
        Self::new(ErrorKind::Deadline, "The request took longer than it may")
    }

    /// The error without the key that the provider was called with, which providers may quote, whole or with a part of it
    /// masked.
    pub(super) fn without(mut self, key: Option<&Secret>) -> Self {
        if let Some(key) = key.map(Secret::expose).filter(|key| is_secret(key)) {
            let message = without_whole(&self.message, key);
            let words = message.split_inclusive(char::is_whitespace);
            self.message = words.map(|word| without_masked(word, key)).collect();
        }
        self
    }

    /// A model has answered with a picture, a sound or another file, for which the client's format has no place. `usage` has the tokens
    /// that it has used, if they are known.
    pub(super) fn no_place(media: &Media<'_>, usage: Option<&Usage>, target: &str) -> Self {
        let message = format!(
            "{target} answered with a file of the type {}, for which this format has no place: pictures have one at \
             /v1/chat/completions and /v1/responses, sounds at /v1/chat/completions",
            excerpt(&media.media_type)
        );
        let mut error = Self::new(ErrorKind::NoPlaceForFile, message);
        error.usage = usage.cloned();
        error
    }

    /// A provider did not answer.
    pub(super) fn transport(error: &HttpError, target: &str) -> Self {
        let (kind, what) = match error {
            HttpError::Timeout => (ErrorKind::Timeout, "did not answer in time"),
            HttpError::TooLarge => (ErrorKind::BadResponse, "sent an answer that is too large"),
            _ => (ErrorKind::Unreachable, "cannot be reached"),
        };
        Self::new(kind, format!("{target} {what}"))
    }

    /// A provider answered with an error, or not in its format.
    pub(super) fn upstream(
        error: &UpstreamError,
        retry_after_ms: Option<u64>,
        target: &str,
    ) -> Self {
        let (mut provider_status, mut used, mut about) = (None, None, &[][..]);
        if let UpstreamError::Rejected { complaints, .. } = error {
            about = complaints;
        }
        let (kind, reason) = match error {
            UpstreamError::NoAnswer { status, message, usage } => {
                provider_status = Some(*status);
                used.clone_from(usage);
                let kind = match status {
                    400 => ErrorKind::ProviderRejected(*status),
                    _ => ErrorKind::Provider,
                };
                (kind, message.as_str())
            }
            UpstreamError::Reported { status, message }
            | UpstreamError::Rejected { status, message, .. } => {
                provider_status = Some(*status);
                let kind = match status {
                    401 | 403 => ErrorKind::ProviderAuth,
                    408 | 504 => ErrorKind::Timeout,
                    429 => ErrorKind::RateLimited,
                    503 | 529 => ErrorKind::Overloaded,
                    400 | 404 | 413 | 422 => ErrorKind::ProviderRejected(*status),
                    _ => ErrorKind::Provider,
                };
                (kind, message.as_str())
            }
            UpstreamError::BrokenOff => {
                (ErrorKind::BadResponse, "the answer ended before it was complete")
            }
            UpstreamError::Malformed(reason) => (ErrorKind::BadResponse, reason.as_str()),
        };
        let message = match kind {
            // The message can contain a part of the key.
            ErrorKind::ProviderAuth => {
                format!("{target} does not accept the key it was called with")
            }
            _ => format!("{target}: {reason}"),
        };
        let mut error = Self::new(kind, message).retry_after(retry_after_ms);
        error.provider_status = provider_status;
        error.usage = used;
        error.complaints = about.to_vec();
        error
    }

    pub(super) fn response(&self, front: &dyn Front) -> Response {
        let mut response =
            Response::json(front.status(self), front.error(self)).with("cache-control", "no-store");
        if self.kind == ErrorKind::MissingScope {
            // RFC 6750, 3.1
            let held: String = self.held.iter().map(|scope| format!("{scope} ")).collect();
            let scope = format!("{held}{GATEWAY_SCOPE}");
            let challenge = format!("{CHALLENGE}, error=\"insufficient_scope\", scope=\"{scope}\"");
            response = response.with("www-authenticate", challenge);
        }
        match self.retry_after_ms {
            Some(ms) => response.with("retry-after", ms.div_ceil(1000).to_string()),
            None => response,
        }
    }
}

/// The shortest key that can be a secret, in bytes, and the shortest that can be one although it is a word.
const SHORTEST_KEY: usize = 8;
const SHORTEST_WORD: usize = 12;
/// A key of this many bytes is no part of a longer word by chance.
const LONG_KEY: usize = 16;

/// Whether a key can be a secret. Servers on one's own machine take any word as a key, such as `ollama` or `EMPTY`.
fn is_secret(key: &str) -> bool {
    let is_word = [u8::is_ascii_lowercase, u8::is_ascii_uppercase];
    let is_word = is_word.iter().any(|is_letter| key.bytes().all(|byte| is_letter(&byte)));
    key.len() >= if is_word { SHORTEST_WORD } else { SHORTEST_KEY }
}

/// A text with `[key]` in place of a key. One that is not long must be a word of its own.
fn without_whole(text: &str, key: &str) -> String {
    let is_inner = |it: char| it.is_alphanumeric() || matches!(it, '-' | '_');
    let mut masked = String::with_capacity(text.len());
    let mut rest = text;
    for (start, _) in text.match_indices(key) {
        let before = text.get(..start).unwrap_or_default();
        let after = text.get(start + key.len()..).unwrap_or_default();
        let is_part = before.ends_with(is_inner) || after.starts_with(is_inner);
        if key.len() >= LONG_KEY || !is_part {
            let kept = rest.len().saturating_sub(after.len() + key.len());
            masked.push_str(rest.get(..kept).unwrap_or_default());
            masked.push_str("[key]");
            rest = after;
        }
    }
    masked + rest
}

/// A word, or `[key]` in place of a key of which only the beginning or the end is shown, such as `sk-proj***abcd`.
fn without_masked<'w>(word: &'w str, key: &str) -> Cow<'w, str> {
    let is_part = |it: char| it.is_ascii_alphanumeric() || "*…".contains(it);
    // A dot ends a sentence, and begins what masks the beginning.
    let shown = word.trim_start_matches(|it| !is_part(it) && it != '.');
    let without_end = shown.trim_end_matches(|it| !is_part(it));
    let is_masked = shown.get(without_end.len()..).is_some_and(|end| end.starts_with("..."));
    let end = without_end.len() + if is_masked { 3 } else { 0 };
    let shown = shown.get(..end).unwrap_or_default();
    let masks = ["*", "…", "..."];
    let start = masks.iter().filter_map(|mask| shown.find(mask)).min();
    let end = masks.iter().filter_map(|mask| Some(shown.rfind(mask)? + mask.len())).max();
    let (Some(start), Some(end)) = (start, end) else { return word.into() };
    let prefix = shown.get(..start).unwrap_or_default();
    let suffix = shown.get(end..).unwrap_or_default();
    let is_ellipsis = matches!(shown.get(start..), Some("..." | "…"));
    if is_ellipsis && prefix.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        // A sentence that trails off.
        return word.into();
    }
    let is_of_key = (prefix.len() >= 3 && key.starts_with(prefix))
        || (suffix.len() >= 3 && key.ends_with(suffix));
    if is_of_key { word.replace(shown, "[key]").into() } else { word.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn masked(message: &str, key: &str) -> String {
        let error = GatewayError::new(ErrorKind::BadResponse, message);
        error.without(Some(&Secret::new(key.to_owned()))).message.clone()
    }

    #[test]
    fn keys_that_are_shown_in_part() {
        const KEY: &str = "sk-operator-secret";
        for (message, expected) in [
            ("bad key sk-operator-secret.", "bad key [key]."),
            ("bad key sk-oper***cret.", "bad key [key]."),
            ("bad key: \"sk-o**********\", see docs", "bad key: \"[key]\", see docs"),
            ("(***********cret)", "([key])"),
            ("sk-op…ret\nand ...ret", "[key]\nand [key]"),
            ("sk-oper...cret", "[key]"),
            ("it is sk-oper..., \"sk-op...\".", "it is [key], \"[key]\"."),
            ("two ** three, sk-*, a...z", "two ** three, [key], a...z"),
            ("Wait... the model is busy **now**", "Wait... the model is busy **now**"),
            ("sk-other-key is not sk-operator", "sk-other-key is not sk-operator"),
        ] {
            assert_eq!(masked(message, KEY), expected, "{message}");
        }
    }

    #[test]
    fn words_that_are_like_keys() {
        for (key, message, expected) in [
            // No secret.
            ("ollama", "ollamarunner: the file preollama.bin is missing", None),
            ("ollama", "ollama is not running, oll*** and ollama...", None),
            ("EMPTY", "NONEMPTY_INPUT required, EMPTY is not", None),
            ("placeholder", "the placeholder is not filled", None),
            ("sk-1234", "sk-1234", None),
            ("", "...", None),
            // A part of a longer word.
            ("lm-studio", "lm-studio-server, lm-studio2, xlm-studio and LM-STUDIO", None),
            ("lm-studio", "(lm-studio) lm-studio: lm-studio.", Some("([key]) [key]: [key].")),
            ("lm-studio", "key=lm-studio&x lm-studios", Some("key=[key]&x lm-studios")),
            ("token-abc123", "Invalid token... and token…", None),
            ("token-abc123", "Invalid token*** and token-a...", Some("Invalid [key] and [key]")),
            // A long key is no part of one by chance.
            ("sk-0123456789abcdef", "xsk-0123456789abcdefx", Some("x[key]x")),
            ("correcthorsebattery", "correcthorsebattery", Some("[key]")),
            (
                "sk-0123456789abcdef",
                "sk-0123456789abcdef twice: sk-0123456789abcdef",
                Some("[key] twice: [key]"),
            ),
        ] {
            assert_eq!(masked(message, key), expected.unwrap_or(message), "{key}: {message}");
        }
    }
}
