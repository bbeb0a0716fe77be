//! What comes of a call. Every protocol matches it exhaustively, so that none can forget a case.

use serde_json::Value;

use super::InvalidInput;
use super::rejection::Rejection;
use crate::tool::{InputRequired, Notification, ToolError};

/// What came of a call.
#[derive(Debug)]
pub enum Outcome {
    /// The tool ran and returned a value.
    Done {
        /// The client's id of the call, or a generated one.
        call_id: String,
        /// Milliseconds that the tool took. On Workers the clock advances only with I/O.
        duration_ms: u64,
        /// The value. It is valid against `output_schema`.
        value: Value,
        /// What the tool reported while it ran.
        notes: Vec<Notification>,
    },
    /// The tool ran and failed (OXP "Tool Execution Errors").
    Failed {
        /// The client's id of the call, or a generated one.
        call_id: String,
        /// Milliseconds that the tool took.
        duration_ms: u64,
        /// The tool's error.
        error: ToolError,
        /// What the tool reported while it ran.
        notes: Vec<Notification>,
    },
    /// The tool ran and needs input that the client can provide. Protocols that have no way to ask
    /// for it turn this into a [`Rejection`].
    InputRequired {
        /// What the tool asks for.
        required: InputRequired,
        /// What the tool reported while it ran.
        notes: Vec<Notification>,
    },
    /// The tool did not run: the input is invalid (OXP "Input Validation Errors").
    InvalidInput(InvalidInput),
    /// The tool did not run for another reason (OXP "Server Errors").
    Rejected(Rejection),
}
