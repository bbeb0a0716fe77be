//! A call: what a client asks for, the one pipeline that serves it, and what comes of it.

mod input;
mod outcome;
mod requirements;
mod serve;

pub(crate) use input::admit;
pub use input::{InvalidInput, Nulls, ParameterError, check as check_input};
pub(crate) use outcome::asks_back;
pub use outcome::{MissingRequirements, Outcome, Rejection};
pub use serve::serve;
pub(crate) use serve::{Prepared, find, misconfigured, prepare};

use std::borrow::Cow;

use crate::json::Value;
use crate::tool::{Credentials, Dialogue};

/// A call that a protocol has decoded; parts of it lie in the request's body. Which tool it means is
/// still text; the pipeline reads it.
#[derive(Debug)]
pub struct ToolRequest<'t> {
    /// The tool as the client named it.
    pub tool: ToolSelector<'t>,
    /// The client's own id of the call, echoed; one is made when it is absent.
    pub call_id: Option<String>,
    /// The input, whatever JSON it is: the tool's schema decides.
    pub input: Value<'t>,
    /// What `null` means in it.
    pub nulls: Nulls,
    /// For whom, and with which tokens and secrets.
    pub credentials: Credentials,
    /// What the client can be asked, and what it answers.
    pub dialogue: Dialogue,
}

/// How a client names a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolSelector<'t> {
    /// By its id, and in no other way: `Toolkit.Tool[@version]`.
    Id(Cow<'t, str>),
    /// By its name, its versioned name or its id: what a model or a program with function names says.
    Name(Cow<'t, str>),
}

#[cfg(test)]
pub(crate) mod tests;
