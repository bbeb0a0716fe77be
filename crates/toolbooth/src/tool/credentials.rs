//! The user id, tokens and secrets that a client sends with a call.

use super::Named;
use crate::secret::Secret;

/// What a client sends with a call (OXP `CallToolRequest.context`).
#[derive(Debug, Default)]
pub struct Credentials {
    /// The user on whose behalf the call is made.
    pub user_id: Option<String>,
    /// Tokens by authorization provider.
    pub tokens: Named<Secret>,
    /// Secrets by name.
    pub secrets: Named<Secret>,
}
