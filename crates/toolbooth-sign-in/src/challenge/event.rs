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
    },
    /// A user authorized the server at a provider.
    GrantCreated(GrantEvent<'a>),
    GrantRefreshed(GrantEvent<'a>),
    GrantDeleted(GrantEvent<'a>),
    /// The provider revoked the tokens of a deleted grant.
    GrantRevoked(GrantEvent<'a>),
}

#[derive(Debug, Serialize)]
pub(super) struct GrantEvent<'a> {
    pub(super) provider: &'a str,
    pub(super) caller: String,
}

impl LogEvent for Event<'_> {
    fn level(&self) -> Level {
        Level::Info
    }
}
