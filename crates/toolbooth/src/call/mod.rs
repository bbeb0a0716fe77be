//! A call: what a client asks for, the one pipeline that serves it, and what comes of it.

mod context;
mod input;
mod outcome;
mod serve;

pub use context::{Caller, Context, Credentials, Secret};
pub use input::{InvalidInput, ParameterError};
pub use outcome::{Missing, Outcome, Refusal, ToolError};
pub use serve::serve;

use serde_json::Value;

/// A call that a dialect has decoded. Its tool id is still text; the pipeline reads it.
#[derive(Debug)]
pub struct Call {
    /// The tool id as the client wrote it.
    pub tool_id: String,
    /// The client's own id of the call, echoed; one is made when it is absent.
    pub call_id: Option<String>,
    /// The input, whatever JSON it is: the tool's schema decides.
    pub input: Value,
    /// For whom, and with which tokens and secrets.
    pub credentials: Credentials,
}

#[cfg(test)]
pub(crate) mod tests;
