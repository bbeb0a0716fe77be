//! The outcome of a call. Protocols match it exhaustively, so that they cannot miss a case.

use serde_json::Value;

use super::InvalidInput;
use super::rejection::Rejection;
use crate::log::CallResult;
use crate::tool::{InputRequired, Notification, ToolError};

/// The outcome of a call. A new one is a breaking change: every protocol must encode it.
#[derive(Debug)]
pub enum Outcome {
    /// The tool ran and returned a value.
    Done {
        /// The client's id of the call, or a generated one; `None` if it is [unused](super::CallId::Unused).
        call_id: Option<String>,
        /// Milliseconds that the tool took. On Workers the clock advances only with I/O.
        duration_ms: u64,
        /// The value. It is valid against `output_schema`.
        value: Value,
        /// Progress and events that the tool reported.
        notifications: Vec<Notification>,
    },
    /// The tool ran and failed (OXP "Tool Execution Errors").
    Failed {
        /// As of a call that is done.
        call_id: Option<String>,
        /// Milliseconds that the tool took.
        duration_ms: u64,
        /// The tool's error.
        error: ToolError,
        /// Progress and events that the tool reported.
        notifications: Vec<Notification>,
    },
    /// The tool ran and needs input that the client can provide. Protocols that cannot request input turn this
    /// into a [`Rejection`].
    InputRequired {
        /// The input that the tool requests.
        required: InputRequired,
        /// Progress and events that the tool reported.
        notifications: Vec<Notification>,
    },
    /// The tool did not run: the input is invalid (OXP "Input Validation Errors").
    InvalidInput(InvalidInput),
    /// The tool did not run for another reason (OXP "Server Errors").
    Rejected(Rejection),
}

impl Outcome {
    /// What the log says about it.
    pub(super) fn summary(&self) -> CallResult {
        match self {
            Self::Done { .. } => ("done", None),
            Self::InputRequired { .. } => ("input_required", None),
            Self::Failed { .. } => ("failed", Some("tool_error")),
            Self::InvalidInput(_) => ("invalid_input", Some("invalid_input")),
            Self::Rejected(rejection) => ("rejected", Some(rejection.describe().kind.code())),
        }
    }
}
