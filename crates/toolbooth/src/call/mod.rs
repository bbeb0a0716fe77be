//! Tool calls: the decoded request, the pipeline that serves it, and its outcome.

mod budget;
mod grants;
mod input;
mod missing;
mod outcome;
mod permission;
mod pipeline;
mod rate_limit;
mod rejection;
mod requirements;
mod run;
mod search;
mod selector;
mod task;
mod view;

pub use budget::{BudgetExceeded, Purse, PurseReservation};
pub(crate) use budget::{LEDGER_FAILED, LEDGER_NOT_BOUND};
pub use grants::PROOF_PREFIX;
pub use grants::{GrantRequest, Granted, Grants, UsedGrant};
pub use input::NullHandling;
pub use missing::{AuthorizationHelp, Challenge, MissingRequirements};
pub use outcome::Outcome;
pub use permission::VisibleTools;
pub use pipeline::{CheckOrder, Prepared, misconfigured};
pub use pipeline::{Pipeline, RequestContext};
pub(crate) use rate_limit::count_visit;
pub use rejection::CHALLENGE;
pub use rejection::{Description, Rejection, RejectionKind, Sent};
pub use rejection::{did_you_mean, needs_client};
pub use run::join_all;
pub use search::{Find, ListMode, Search};
pub use selector::ToolSelector;
pub(crate) use task::{Answered, TaskAction, TaskView};
pub use task::{BackgroundHandler, BackgroundRequest, BackgroundState, BackgroundTask, Tasks};

use crate::catalog::TaskSupport;
use crate::json::Value;
pub use crate::schema::{InvalidInput, ParameterError};
use crate::tool::{Credentials, Dialogue};

/// The id of a call, in protocols whose responses have one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallId {
    /// The response has none.
    Unused,
    /// The client has sent none, and the response has one. It takes random bytes, which are a call into JS on Workers.
    Generated,
    /// The client's, which the response repeats.
    Sent(String),
}

/// Whether a client takes a task instead of the outcome of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TakesTask {
    /// It does not know tasks.
    Never,
    /// Of tools that run as tasks only.
    IfRequired,
    /// Of every tool that can run as one.
    Always,
}

impl TakesTask {
    /// Whether the client takes a task of a tool with this support.
    fn of(self, support: Option<TaskSupport>) -> bool {
        match self {
            Self::Never => false,
            Self::IfRequired => support == Some(TaskSupport::Required),
            Self::Always => true,
        }
    }
}

/// A call that a protocol has decoded; parts of it borrow from the request's body.
#[derive(Debug)]
pub struct ToolRequest<'t> {
    /// How the client selected the tool.
    pub tool: ToolSelector<'t>,
    /// The id of the call.
    pub call_id: CallId,
    /// The input: any JSON value, not yet validated against the tool's schema.
    pub input: Value<'t>,
    /// What `null` means in the input.
    pub nulls: NullHandling,
    /// The user, and tokens and secrets that the client sent.
    pub credentials: Credentials,
    /// Whether the client takes a task instead of the outcome.
    pub takes_task: TakesTask,
    /// The client's capabilities, and its responses to earlier requests for input.
    pub dialogue: Dialogue,
}

impl<'t> ToolRequest<'t> {
    /// A call of a client that sent nothing else, that expects no id, and that takes `null` at its word.
    pub fn new(tool: ToolSelector<'t>, input: Value<'t>) -> Self {
        Self {
            tool,
            call_id: CallId::Unused,
            input,
            nulls: NullHandling::STRICT,
            credentials: Credentials::default(),
            takes_task: TakesTask::Never,
            dialogue: Dialogue::default(),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
