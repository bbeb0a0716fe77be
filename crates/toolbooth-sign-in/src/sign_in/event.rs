//! What the log says about sign-in.

use serde::{Deserialize, Serialize};

use toolbooth::host::Level;
use toolbooth::log::LogEvent;

/// What happened at the authorization server.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(crate) enum SignInEvent<'a> {
    /// A client registered itself.
    ClientRegistered { auth_method: AuthMethod, client: String },
    /// A client could not register itself.
    ClientRejected { error: &'static str, reason: &'a str },
    /// A person signed in: for a client, which they agreed to, for their account or for a challenge. `method` is the id of a
    /// provider, or a constant.
    SignedIn {
        method: &'a str,
        caller: String,
        purpose: SignInPurpose,
        #[serde(skip_serializing_if = "Option::is_none")]
        client: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        team: Option<&'a str>,
    },
    /// A person did not agree, here or at the provider.
    SignInDeclined {
        purpose: SignInPurpose,
        #[serde(skip_serializing_if = "Option::is_none")]
        client: Option<String>,
    },
    /// A person who wanted to sign in saw a page with a problem.
    SignInRejected {
        reason: &'static str,
        /// The account that no rule allows, as a rule: the operator needs its id.
        #[serde(skip_serializing_if = "Option::is_none")]
        account: Option<&'a str>,
        /// The provider that is the cause, and what it has answered.
        #[serde(skip_serializing_if = "Option::is_none")]
        provider: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        answer: Option<&'a str>,
    },
    /// A client got tokens.
    TokensIssued {
        grant_type: &'static str,
        caller: String,
        /// The client that acts for the caller, as lines of calls name it.
        #[serde(skip_serializing_if = "Option::is_none")]
        actor: Option<String>,
        client: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        team: Option<&'a str>,
        scope: &'a str,
    },
    /// A client got an error instead of tokens.
    TokensRejected {
        #[serde(skip_serializing_if = "Option::is_none")]
        grant_type: Option<&'static str>,
        /// The client that the request names, whether it has authenticated or not.
        #[serde(skip_serializing_if = "Option::is_none")]
        client: Option<String>,
        error: &'static str,
        reason: &'a str,
    },
    /// A client's grant was revoked.
    ClientRevoked {
        reason: RevocationReason,
        caller: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        client: Option<String>,
    },
    /// A client could not revoke a token.
    RevocationRejected { error: &'static str, reason: &'a str },
}

/// What a person signs in for.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SignInPurpose {
    Client,
    Account,
    Challenge,
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
            Self::SignInRejected { .. }
            | Self::TokensRejected { .. }
            | Self::ClientRejected { .. }
            | Self::RevocationRejected { .. } => Level::Warn,
            Self::ClientRegistered { .. }
            | Self::SignedIn { .. }
            | Self::SignInDeclined { .. }
            | Self::TokensIssued { .. } => Level::Info,
            Self::ClientRevoked { reason, .. } => match reason {
                RevocationReason::Requested | RevocationReason::Disconnected => Level::Info,
                RevocationReason::CodeReused | RevocationReason::RefreshTokenReused => Level::Warn,
            },
        }
    }

    fn outcome(&self) -> Option<&'static str> {
        Some(match self {
            Self::ClientRegistered { .. }
            | Self::SignedIn { .. }
            | Self::TokensIssued { .. }
            | Self::ClientRevoked { .. } => "done",
            Self::SignInDeclined { .. }
            | Self::SignInRejected { .. }
            | Self::TokensRejected { .. }
            | Self::ClientRejected { .. }
            | Self::RevocationRejected { .. } => "rejected",
        })
    }
}
