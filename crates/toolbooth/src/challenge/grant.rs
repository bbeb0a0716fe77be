//! Grants: what users have allowed, sealed in the store. docs/STORAGE.md tells each key and value.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Granted;
use super::oauth::{self, NoTokens, Tokens};
use super::provider::Provider;
use super::seal::SealKeys;
use super::token::{Purpose, StateKey};
use crate::call::{AnotherUser, Caller, Secret};
use crate::host::{Host, Level, SHORTEST_LIFE, StoreError};
use crate::json;

/// How long a grant is kept after its last change.
const LIFE: Duration = Duration::from_secs(180 * 24 * 60 * 60);
/// How long before its end an access token is refreshed, at most. For a minute after, others still
/// read the old token: it must be good for longer than that.
const EARLY_MS: u64 = 5 * 60 * 1000;
/// The longest user id that grants are kept for, in bytes: it travels in addresses and a cookie.
const LONGEST_USER: usize = 128;

/// Whose a grant is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Owner {
    /// By what the server knows its caller: nobody is to reach, by another way in, the grants of a
    /// user who has the same id there.
    #[serde(rename = "w")]
    way: String,
    /// The application that asks; empty when the server does not know its callers by name. Two
    /// applications may have users of the same id.
    #[serde(rename = "a")]
    pub(super) application: String,
    /// The user's id.
    #[serde(rename = "u")]
    pub(super) user: String,
}

/// Why there is no [`Owner`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoOwner {
    /// The request does not say for which user it is.
    Unnamed,
    /// The request names another user than the token that it came with.
    Another,
    /// The user's id is too long.
    TooLong,
}

impl NoOwner {
    /// What to say of it.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Unnamed => "user_id is missing",
            Self::Another => "user_id must be the user of the token, or absent",
            Self::TooLong => "user_id may have at most 128 bytes",
        }
    }
}

impl Owner {
    /// The user of a request.
    ///
    /// # Errors
    /// See [`NoOwner`].
    pub(crate) fn of(caller: &Caller, user_id: Option<&str>) -> Result<Self, NoOwner> {
        let (way, application) = match caller {
            Caller::Anonymous => ("none", ""),
            Caller::Key { name, .. } => ("key", name.as_str()),
            Caller::User { subject: Some(_), .. } => ("user", ""),
            Caller::User { subject: None, .. } => ("token", ""),
        };
        match caller.user(user_id).map_err(|AnotherUser| NoOwner::Another)? {
            None => Err(NoOwner::Unnamed),
            Some(user) if user.len() > LONGEST_USER => Err(NoOwner::TooLong),
            Some(user) => Ok(Self {
                way: way.to_owned(),
                application: application.to_owned(),
                user: user.to_owned(),
            }),
        }
    }
}

/// What a user has allowed at a provider.
#[derive(Serialize, Deserialize)]
pub(super) struct Grant {
    access: String,
    refresh: Option<String>,
    pub(super) scopes: Vec<String>,
    /// When the user allowed it.
    pub(super) granted_ms: u64,
    /// When the access token came, and when it ends.
    updated_ms: u64,
    expires_ms: Option<u64>,
}

impl Grant {
    /// What came of an authorization that asked for `scopes`.
    pub(super) fn new(tokens: Tokens, scopes: &[String], now_ms: u64) -> Self {
        let Tokens { access, refresh, expires_in, scopes: given } = tokens;
        Self {
            access: access.expose().to_owned(),
            refresh: refresh.map(|it| it.expose().to_owned()),
            scopes: given.unwrap_or_else(|| scopes.to_vec()),
            granted_ms: now_ms,
            updated_ms: now_ms,
            expires_ms: expires_in.map(|s| now_ms.saturating_add(s.saturating_mul(1000))),
        }
    }

    /// Whether it has all of `scopes`.
    pub(super) fn covers<S: AsRef<str>>(&self, scopes: &[S]) -> bool {
        scopes.iter().all(|scope| self.scopes.iter().any(|given| given == scope.as_ref()))
    }

    fn is_over(&self, now_ms: u64) -> bool {
        self.expires_ms.is_some_and(|end| end <= now_ms)
    }

    /// Whether its access token should be refreshed: it ends soon, as measured by its own length.
    fn is_ending(&self, now_ms: u64) -> bool {
        self.expires_ms.is_some_and(|end| {
            let early = EARLY_MS.min(end.saturating_sub(self.updated_ms) / 4);
            end <= now_ms.saturating_add(early)
        })
    }
}

/// Why a grant gives no token now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NoGrant {
    /// The user must be asked; `seen_ms` is when the grant that no longer serves was given.
    Ask { seen_ms: Option<u64>, scopes: Vec<String> },
    /// The store does not answer.
    Store,
    /// The authorization server does not answer.
    Server,
}

/// Where grants are kept.
#[derive(Debug, Clone)]
pub(super) struct Vault {
    pub(super) state: StateKey,
    pub(super) seal: SealKeys,
}

impl Vault {
    fn key(&self, owner: &Owner, provider: &str) -> String {
        let parts = [&*owner.way, &*owner.application, &*owner.user, provider];
        format!("grant:{}", self.state.hash(Purpose::Grant, &parts))
    }

    /// The grant of a user, if one can be read. It may be a minute old.
    pub(super) async fn load(
        &self,
        owner: &Owner,
        provider: &str,
        host: &dyn Host,
    ) -> Result<Option<Grant>, StoreError> {
        let key = self.key(owner, provider);
        let Some(sealed) = host.get(&key).await.inspect_err(|error| note(error, host))? else {
            return Ok(None);
        };
        let grant = self.seal.open(&key, &sealed);
        let grant = grant.and_then(|text| json::read(&text));
        if grant.is_none() {
            host.log(Level::Warn, "grant", &[("fault", "no key of GRANT_KEYS opens it")]);
        }
        Ok(grant)
    }

    /// Keeps a grant in the place of the one before.
    pub(super) async fn save(
        &self,
        (owner, provider): (&Owner, &str),
        grant: &Grant,
        host: &dyn Host,
    ) -> Result<(), StoreError> {
        let key = self.key(owner, provider);
        let text = serde_json::to_vec(grant).unwrap_or_default();
        let sealed = self.seal.seal(&key, &text, host);
        let sealed = sealed.map_err(|_| StoreError("no random bytes".to_owned()))?;
        host.put(&key, &sealed, LIFE).await.inspect_err(|error| note(error, host))
    }

    /// Forgets a grant. For a minute others may still read it.
    pub(super) async fn delete(
        &self,
        owner: &Owner,
        provider: &str,
        host: &dyn Host,
    ) -> Result<(), StoreError> {
        let key = self.key(owner, provider);
        host.delete(&key).await.inspect_err(|error| note(error, host))
    }

    /// An access token of the user's grant with these scopes, refreshed when it is about to end.
    pub(super) async fn token(
        &self,
        (owner, provider): (&Owner, &Provider),
        scopes: &[&str],
        host: &dyn Host,
    ) -> Result<Granted, NoGrant> {
        let load = self.load(owner, &provider.id, host).await;
        let Some(mut grant) = load.map_err(|_| NoGrant::Store)? else {
            return Err(NoGrant::Ask { seen_ms: None, scopes: Vec::new() });
        };
        let again =
            |grant: Grant| NoGrant::Ask { seen_ms: Some(grant.granted_ms), scopes: grant.scopes };
        if !grant.covers(scopes) {
            return Err(again(grant));
        }
        let now_ms = host.now_ms();
        if grant.is_ending(now_ms) {
            match self.refreshed(&grant, provider, host).await {
                Ok(new) if new.covers(scopes) => {
                    // A failure is logged. The token is good all the same; without the record, a
                    // later call refreshes again or asks the user.
                    let _ = self.save((owner, &provider.id), &new, host).await;
                    grant = new;
                }
                // Refused by a copy that is a minute old, or away: the token at hand is still good.
                _ if !grant.is_over(now_ms) => {}
                Ok(_) | Err(NoTokens::Refused) => return Err(again(grant)),
                Err(NoTokens::Away) => return Err(NoGrant::Server),
            }
        }
        let Grant { access, scopes, granted_ms, .. } = grant;
        Ok(Granted { token: Secret::new(access), granted_ms, scopes })
    }

    async fn refreshed(
        &self,
        grant: &Grant,
        provider: &Provider,
        host: &dyn Host,
    ) -> Result<Grant, NoTokens> {
        let refresh = grant.refresh.clone().map(Secret::new).ok_or(NoTokens::Refused)?;
        let server = oauth::server(provider, host).await?;
        let tokens = server.refresh(provider, &refresh, host).await?;
        let new = Grant::new(tokens, &grant.scopes, host.now_ms());
        // A server that does not rotate refresh tokens need not repeat them.
        let refresh = new.refresh.clone().or_else(|| grant.refresh.clone());
        Ok(Grant { refresh, granted_ms: grant.granted_ms, ..new })
    }

    /// Notes that a challenge has failed, for as long as anybody may ask.
    pub(super) async fn fail(&self, challenge: &str, life: Duration, host: &dyn Host) {
        let key = self.failure_key(challenge);
        if let Err(error) = host.put(&key, "failed", life.max(SHORTEST_LIFE)).await {
            // It will be seen as failed when it expires.
            note(&error, host);
        }
    }

    /// Whether a challenge is known to have failed.
    pub(super) async fn has_failed(&self, challenge: &str, host: &dyn Host) -> bool {
        let read = host.get(&self.failure_key(challenge)).await;
        read.inspect_err(|error| note(error, host)).is_ok_and(|found| found.is_some())
    }

    fn failure_key(&self, challenge: &str) -> String {
        format!("failed:{}", self.state.hash(Purpose::Failure, &[challenge]))
    }
}

fn note(error: &StoreError, host: &dyn Host) {
    host.log(Level::Error, "store", &[("problem", &error.0)]);
}
