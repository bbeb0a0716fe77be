//! Challenges and access tokens, as the pipeline and protocols see them.

use super::owner::Owner;
use crate::host::NoRandomness;
use crate::oauth::OAuthClient;
use crate::secret::Secret;

/// A challenge for a user (OXP `ToolAuthorizationChallenge`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Challenge {
    /// A random id.
    pub id: String,
    /// The page where the user grants the authorization.
    pub url: String,
    /// Returns `{"status": "pending" | "completed" | "failed"}`.
    pub check_url: String,
    /// The id of the provider.
    pub provider: String,
    /// The provider's name for people.
    pub title: String,
}

/// The authorization that a tool requires of a user.
pub(crate) struct GrantRequest<'a> {
    pub(crate) owner: &'a Owner,
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
