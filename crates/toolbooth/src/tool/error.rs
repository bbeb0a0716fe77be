//! The error that a tool returns.

use serde::{Deserialize, Serialize};

use crate::host::HttpError;

/// Why a tool failed. Its JSON form is OXP's `ToolError`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ToolError {
    /// What went wrong, for the user and the model.
    pub message: String,
    /// Detail for a log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub developer_message: Option<String>,
    /// Whether the same call, or one with better input, may succeed.
    pub can_retry: bool,
    /// What helps the model to correct its input, such as the accepted values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub additional_prompt_content: Option<String>,
    /// How many milliseconds to wait before the next attempt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
}

impl ToolError {
    /// A failure that a retry does not fix.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), ..Self::default() }
    }

    /// With detail for a log.
    #[must_use]
    pub fn developer_message(mut self, detail: impl Into<String>) -> Self {
        self.developer_message = Some(detail.into());
        self
    }

    /// The same call may succeed later.
    #[must_use]
    pub fn retryable(mut self) -> Self {
        self.can_retry = true;
        self
    }

    /// With text that helps the model to correct its input; the call may then be retried.
    #[must_use]
    pub fn prompt(mut self, content: impl Into<String>) -> Self {
        self.can_retry = true;
        self.additional_prompt_content = Some(content.into());
        self
    }

    /// May be retried after `ms` milliseconds.
    #[must_use]
    pub fn retry_after_ms(mut self, ms: u64) -> Self {
        self.can_retry = true;
        self.retry_after_ms = Some(ms);
        self
    }

    /// The message, the hint for the model and when to try again, as sentences. For protocols whose clients
    /// show one text only.
    pub(crate) fn describe(&self) -> String {
        let retry = match (self.can_retry, self.retry_after_ms) {
            (_, Some(ms)) => format!("Try again after {ms} ms."),
            (true, None) => "You can try the call again.".to_owned(),
            (false, None) => String::new(),
        };
        let hint = self.additional_prompt_content.as_deref().unwrap_or_default();
        let mut text = self.message.clone();
        for next in [hint, &retry].into_iter().filter(|next| !next.is_empty()) {
            text.push_str(if text.ends_with(['.', '!', '?', ':', '\n']) { " " } else { ". " });
            text.push_str(next);
        }
        text
    }
}

/// So that `?` works on [`Context::send`](super::Context::send). Not retryable, because a request that changes
/// something may have succeeded: for one that only reads, use
/// `.map_err(|error| ToolError::from(error).retryable())?`.
impl From<HttpError> for ToolError {
    fn from(error: HttpError) -> Self {
        Self::new(match error {
            HttpError::Timeout => "The service did not respond in time",
            HttpError::TooLarge => "The service's response was too large",
            HttpError::Unreachable(_) => "The service could not be reached",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_a_model_needs_is_in_one_text() {
        let error = |message| ToolError::new(message).developer_message("d");
        for (error, expected) in [
            (error("No"), "No"),
            (error("No.").prompt("Use 1"), "No. Use 1. You can try the call again."),
            (error("No").prompt("Use 1!"), "No. Use 1! You can try the call again."),
            (error("No").retry_after_ms(5), "No. Try again after 5 ms."),
            (
                error("No?").prompt("One of:\n- a\n").retry_after_ms(5),
                "No? One of:\n- a\n Try again after 5 ms.",
            ),
            (ToolError { can_retry: true, ..error("No") }, "No. You can try the call again."),
        ] {
            assert_eq!(error.describe(), expected);
        }
    }

    #[test]
    fn http_errors_become_tool_errors() {
        let reason = HttpError::Unreachable("no such host: internal.example".to_owned());
        let error = ToolError::from(reason);
        assert_eq!(error, ToolError::new("The service could not be reached"), "without the reason");
        assert!(!error.can_retry);
        assert!(ToolError::from(HttpError::Timeout).retryable().can_retry);
    }
}
