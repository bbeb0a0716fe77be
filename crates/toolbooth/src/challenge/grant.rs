//! What users have allowed: a grant, as it is sealed.

use serde::{Deserialize, Serialize};

use super::Granted;
use super::tokens::Tokens;
use crate::call::Secret;

/// How long before its end an access token is refreshed, at most. For a minute after, others still
/// read the old token: it must be good for longer than that.
const EARLY_MS: u64 = 5 * 60 * 1000;
/// What a user has allowed at a provider.
#[derive(Serialize, Deserialize)]
pub(super) struct Grant {
    access: String,
    pub(super) refresh: Option<String>,
    pub(super) scopes: Vec<String>,
    /// When the access token came, and when it ends.
    pub(super) updated_ms: u64,
    expires_ms: Option<u64>,
}

impl Grant {
    /// What came of an authorization that asked for `scopes`.
    pub(super) fn new(tokens: Tokens, scopes: &[String], now_ms: u64) -> Self {
        let Tokens { access, refresh, expires_in_ms, scopes: given } = tokens;
        Self {
            access: access.expose().to_owned(),
            refresh: refresh.map(|it| it.expose().to_owned()),
            scopes: given.unwrap_or_else(|| scopes.to_vec()),
            updated_ms: now_ms,
            expires_ms: expires_in_ms.map(|ms| now_ms.saturating_add(ms)),
        }
    }

    /// Whether it has all of `scopes`.
    pub(super) fn covers<S: AsRef<str>>(&self, scopes: &[S]) -> bool {
        scopes.iter().all(|scope| self.scopes.iter().any(|given| given == scope.as_ref()))
    }

    pub(super) fn is_over(&self, now_ms: u64) -> bool {
        self.expires_ms.is_some_and(|end| end <= now_ms)
    }

    /// Whether no call can use it any more: its access token has ended and nothing can replace it.
    pub(super) fn is_dead(&self, now_ms: u64) -> bool {
        self.refresh.is_none() && self.is_over(now_ms)
    }

    /// The same with another refresh token, or without.
    pub(super) fn with_refresh(self, refresh: Option<String>) -> Self {
        Self { refresh, ..self }
    }

    /// Whether its access token should be refreshed: it ends soon, as measured by its own length.
    pub(super) fn is_ending(&self, now_ms: u64) -> bool {
        self.expires_ms.is_some_and(|end| {
            let early = EARLY_MS.min(end.saturating_sub(self.updated_ms) / 4);
            end <= now_ms.saturating_add(early)
        })
    }
}

impl From<Grant> for Granted {
    fn from(Grant { access, scopes, updated_ms, .. }: Grant) -> Self {
        Self { token: Secret::new(access), updated_ms, scopes }
    }
}
