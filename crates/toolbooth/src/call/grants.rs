//! Tokens from grants: what replaces tokens that the client did not send, if a capability keeps the grants of users.

use std::fmt;

use super::missing::Challenge;
use super::pipeline::RequestContext;
use super::rejection::Rejection;
use crate::catalog::{Authorization, Tool};
use crate::host::async_trait;
use crate::secret::Secret;
use crate::tool::Credentials;

/// The prefix of a proof of a grant, which a client sends in place of a token; no provider's tokens have it.
pub const PROOF_PREFIX: &str = "toolbooth-proof.";

/// The grants of users.
#[async_trait(?Send)]
pub trait Grants: Send + Sync {
    /// The token of the user's grant.
    ///
    /// # Errors
    /// [`Rejection::Malformed`] for a user who cannot have grants; [`Rejection::Unavailable`].
    async fn token(&self, request: GrantRequest<'_>) -> Result<Granted, Rejection>;

    /// A challenge that replaces a grant whose token a service rejected.
    ///
    /// # Errors
    /// [`Rejection::Unavailable`]: the source of random bytes failed.
    fn renew(&self, request: GrantRequest<'_>, used: &UsedGrant) -> Result<Challenge, Rejection>;

    /// Whether users can authorize tools at the provider with this id.
    fn has_provider(&self, id: &str) -> bool;
}

/// Shows nothing. A supertrait would link the code that shows every part of the grants.
impl fmt::Debug for dyn Grants {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Grants(…)")
    }
}

/// The authorization that a tool requires of the user of a request.
#[derive(Clone, Copy)]
pub struct GrantRequest<'a> {
    /// What it requires.
    pub required: &'static Authorization,
    /// The tool.
    pub tool: &'static Tool,
    /// The credentials that the client has sent.
    pub sent: &'a Credentials,
    /// The request.
    pub context: RequestContext<'a>,
}

/// The result of a lookup of the user's grant.
#[derive(Debug)]
pub enum Granted {
    /// The grant has an access token.
    Token(Secret, UsedGrant),
    /// No provider of this id is configured.
    NotConfigured,
    /// The request has no user id.
    UserMissing,
    /// The user must answer a challenge first.
    Challenged(Challenge),
}

/// A grant that a call uses.
#[derive(Debug)]
pub struct UsedGrant {
    /// When it was issued, in milliseconds.
    pub updated_ms: u64,
    /// Its scopes.
    pub scopes: Vec<String>,
}
