//! What the pipeline asks of challenges and grants.

use super::owner::Owner;
use super::types::Challenge;
use crate::host::NoRandomness;
use crate::oauth::OAuthClient;
use crate::secret::Secret;

/// The authorization that a tool requires of a user.
pub(crate) struct GrantRequest<'a> {
    pub(crate) owner: &'a Owner,
    /// The name of the user's client, if the server knows it.
    pub(crate) client: Option<&'a str>,
    pub(crate) provider: &'a OAuthClient,
    pub(crate) scopes: &'a [&'static str],
    /// The id of the tool.
    pub(crate) tool: &'a str,
    /// The proof of a grant that the client has sent as its token.
    pub(crate) proof: Option<&'a Secret>,
}

/// An access token of a grant.
pub(crate) struct GrantedToken {
    pub(crate) token: Secret,
    /// When it was issued.
    pub(crate) updated_ms: u64,
    /// The scopes of the grant.
    pub(crate) scopes: Vec<String>,
}

/// Why there is no access token.
pub(crate) enum GrantError {
    /// The user must be asked.
    ConsentRequired(Challenge),
    /// It cannot be determined now. Holds the reason.
    Unavailable(&'static str),
}

impl From<NoRandomness> for GrantError {
    fn from(_: NoRandomness) -> Self {
        Self::Unavailable("it has no random bytes")
    }
}
