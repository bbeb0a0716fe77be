//! A call: what a client asks for, the one pipeline that serves it, and what comes of it.

mod content;
mod context;
mod dialogue;
mod excerpt;
mod input;
mod named;
mod notes;
mod outcome;
mod requirements;
mod serve;

pub use content::{Content, Document, DocumentBody};
pub use context::{AnotherUser, Caller, Context, Credentials, Secret};
pub(crate) use dialogue::asks_back;
pub use dialogue::{Abilities, Ability, Answer, Asked, Dialogue, Question, Sampled};
pub(crate) use excerpt::excerpt;
pub(crate) use input::admit;
pub use input::{InvalidInput, Nulls, ParameterError, check as check_input};
pub use named::Named;
pub use notes::{Note, NoteLevel};
pub use outcome::{Missing, Outcome, Refusal, ToolError};
pub use serve::serve;
pub(crate) use serve::{Prepared, find, misconfigured, prepare};

use std::borrow::Cow;

use crate::json::Value;

/// A call that a dialect has decoded; parts of it lie in the request's body. Which tool it means is
/// still text; the pipeline reads it.
#[derive(Debug)]
pub struct Call<'t> {
    /// The tool as the client named it.
    pub tool: Wanted<'t>,
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
pub enum Wanted<'t> {
    /// By its id, and in no other way: `Toolkit.Tool[@version]`.
    Id(Cow<'t, str>),
    /// By its name, its versioned name or its id: what a model or a program with function names says.
    Name(Cow<'t, str>),
}

#[cfg(test)]
pub(crate) mod tests;
