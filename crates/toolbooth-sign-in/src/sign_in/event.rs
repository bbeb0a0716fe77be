//! What the log says about sign-in.

use serde::{Deserialize, Serialize};

use toolbooth::host::Level;
use toolbooth::log::LogEvent;

/// What happened at the authorization server.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(crate) enum SignInEvent<'a> {
    /// A client registered itself.
    ClientRegistered { auth_method: AuthMethod },
    /// A person signed in: for a client, their account or a challenge. `method` is the id of a provider, or a constant.
    SignedIn { method: &'a str, caller: String },
    /// A person who wanted to sign in saw a page with a problem.
    SignInRejected {
        reason: &'static str,
        /// The account that no rule allows, as a rule: the operator needs its id.
        #[serde(skip_serializing_if = "Option::is_none")]
        account: Option<&'a str>,
    },
    /// A client got tokens.
    TokensIssued {
        grant_type: &'static str,
        caller: String,
        /// The client that acts for the caller, as lines of calls name it.
        #[serde(skip_serializing_if = "Option::is_none")]
        actor: Option<String>,
    },
    /// A client got an error instead of tokens.
    TokensRejected { error: &'static str, reason: &'a str },
    /// A client's grant was revoked.
    ClientRevoked { reason: RevocationReason, caller: String },
}

/// How a registered client authenticates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum AuthMethod {
    None,
    ClientSecretBasic,
    ClientSecretPost,
}

#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RevocationReason {
    /// The client asked for it.
    Requested,
    /// The person disconnected it on the page of their account.
    Disconnected,
    CodeReused,
    /// A refresh token was used after its successor.
    RefreshTokenReused,
}

impl LogEvent for SignInEvent<'_> {
    fn level(&self) -> Level {
        match self {
            Self::SignInRejected { .. } | Self::TokensRejected { .. } => Level::Warn,
            Self::ClientRegistered { .. } | Self::SignedIn { .. } | Self::TokensIssued { .. } => {
                Level::Info
            }
            Self::ClientRevoked { reason, .. } => match reason {
                RevocationReason::Requested | RevocationReason::Disconnected => Level::Info,
                RevocationReason::CodeReused | RevocationReason::RefreshTokenReused => Level::Warn,
            },
        }
    }
}
