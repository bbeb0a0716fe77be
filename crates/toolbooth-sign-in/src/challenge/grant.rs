//! A grant: the tokens that a user has allowed the server to use, as they are stored.

use serde::{Deserialize, Serialize};

use crate::oauth::TokenResponse;

/// How long before its end an access token is refreshed, at most. Others still read the old token for
/// a minute, so it must be valid for longer than that.
const EARLY_MS: u64 = 5 * 60 * 1000;

/// The tokens of a user at a provider.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Grant {
    pub(super) access: String,
    pub(super) refresh: Option<String>,
    pub(super) scopes: Vec<String>,
    /// When the user agreed. Grants from before the first release lack it: any deletion is later then.
    #[serde(default)]
    pub(super) granted_ms: u64,
    /// When the access token was issued, and when it expires.
    pub(super) updated_ms: u64,
    expires_ms: Option<u64>,
}

impl Grant {
    /// The grant of an authorization that requested `scopes`. It is later than `seen_ms`, whatever the
    /// clock here shows: the user agreed because of what was seen then.
    pub(super) fn new(
        tokens: TokenResponse,
        scopes: &[String],
        seen_ms: Option<u64>,
        now_ms: u64,
    ) -> Self {
        let granted_ms = now_ms.max(seen_ms.map_or(0, |seen_ms| seen_ms.saturating_add(1)));
        let TokenResponse { access, refresh, expires_in_ms, scopes: given, .. } = tokens;
        Self {
            access: access.expose().to_owned(),
            refresh: refresh.map(|it| it.expose().to_owned()),
            scopes: given.unwrap_or_else(|| scopes.to_vec()),
            granted_ms,
            updated_ms: granted_ms,
            expires_ms: expires_in_ms.map(|ms| now_ms.saturating_add(ms)),
        }
    }

    /// The grant with the tokens of a refresh. It is later than this one.
    pub(super) fn refreshed(&self, tokens: TokenResponse, now_ms: u64) -> Self {
        let new = Self::new(tokens, &self.scopes, Some(self.updated_ms), now_ms);
        // A server that does not rotate refresh tokens need not repeat them.
        let refresh = new.refresh.clone().or_else(|| self.refresh.clone());
        Self { refresh, granted_ms: self.granted_ms, ..new }
    }

    /// What a call needs of it.
    pub(super) fn without_refresh_token(&self) -> Self {
        Self { refresh: None, ..self.clone() }
    }

    pub(super) fn covers<S: AsRef<str>>(&self, scopes: &[S]) -> bool {
        scopes.iter().all(|scope| self.scopes.iter().any(|given| given == scope.as_ref()))
    }

    /// Whether the user agreed after the deletion, if there was one.
    pub(super) fn outlives(&self, deleted_ms: Option<u64>) -> bool {
        deleted_ms.is_none_or(|deleted_ms| self.granted_ms > deleted_ms)
    }

    /// Orders copies of a user's grant: the greatest is the newest.
    pub(super) fn age(&self) -> (u64, u64) {
        (self.granted_ms, self.updated_ms)
    }

    pub(super) fn is_expired(&self, now_ms: u64) -> bool {
        self.expires_ms.is_some_and(|end| end <= now_ms)
    }

    /// Whether no call can use it any more: its access token has expired and cannot be refreshed.
    pub(super) fn is_dead(&self, now_ms: u64) -> bool {
        self.refresh.is_none() && self.is_expired(now_ms)
    }

    /// Whether its access token should be refreshed: it expires soon, relative to its lifetime.
    pub(super) fn expires_soon(&self, now_ms: u64) -> bool {
        self.expires_ms.is_some_and(|end| {
            let early = EARLY_MS.min(end.saturating_sub(self.updated_ms) / 4);
            end <= now_ms.saturating_add(early)
        })
    }
}
