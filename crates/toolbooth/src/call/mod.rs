//! A call: what a client asks for, the one pipeline that serves it, and what comes of it.

#[cfg_attr(not(feature = "challenges"), path = "no_grants.rs")]
mod grants;
mod input;
mod missing;
mod outcome;
mod pipeline;
mod rate_limit;
mod rejection;
mod requirements;
mod selector;

pub use input::Nulls;
pub use missing::MissingRequirements;
pub use outcome::Outcome;
pub use pipeline::{Pipeline, RequestContext};
pub(crate) use pipeline::{Prepared, misconfigured};
pub(crate) use rejection::needs_client;
pub use rejection::{Description, Rejection, RejectionKind};
pub use selector::ToolSelector;

use crate::json::Value;
pub use crate::schema::{InvalidInput, ParameterError};
use crate::tool::{Credentials, Dialogue};

/// A call that a protocol has decoded; parts of it borrow from the request's body.
#[derive(Debug)]
pub struct ToolRequest<'t> {
    /// Which tool.
    pub tool: ToolSelector<'t>,
    /// The client's own id of the call, echoed; one is generated if it is absent.
    pub call_id: Option<String>,
    /// The input, whatever JSON it is: the tool's schema decides.
    pub input: Value<'t>,
    /// What `null` means in it.
    pub nulls: Nulls,
    /// The user, and tokens and secrets that the client sent.
    pub credentials: Credentials,
    /// What the client can be asked for, and what it answered.
    pub dialogue: Dialogue,
}

#[cfg(test)]
pub(crate) mod tests;
