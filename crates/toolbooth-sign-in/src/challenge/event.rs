//! The events of challenges and grants.

use serde::Serialize;
use toolbooth::host::Level;
use toolbooth::log::LogEvent;

/// What happened to a challenge or a grant.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(super) enum Event<'a> {
    /// A user was asked for authorization.
    ChallengeIssued {
        tool: &'a str,
        provider: &'a str,
        caller: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        user: Option<String>,
    },
    /// A user authorized the server at a provider.
    GrantCreated(GrantEvent<'a>),
    GrantRefreshed(GrantEvent<'a>),
    GrantDeleted(GrantEvent<'a>),
    /// The provider revoked the tokens of a deleted grant.
    GrantRevoked(GrantEvent<'a>),
    /// A person who opened a challenge, or came back from the provider, authorized nothing.
    AuthorizationRejected {
        /// The provider and the caller of the challenge, if it is one.
        #[serde(skip_serializing_if = "Option::is_none")]
        provider: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        caller: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        user: Option<String>,
        reason: &'static str,
    },
}

#[derive(Debug, Serialize)]
pub(super) struct GrantEvent<'a> {
    pub(super) provider: &'a str,
    pub(super) caller: String,
    /// The user of the application, if the caller is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) user: Option<String>,
}

impl LogEvent for Event<'_> {
    fn level(&self) -> Level {
        match self {
            Self::AuthorizationRejected { .. } => Level::Warn,
            _ => Level::Info,
        }
    }

    fn outcome(&self) -> Option<&'static str> {
        Some(match self {
            Self::AuthorizationRejected { .. } => "rejected",
            _ => "done",
        })
    }
}
