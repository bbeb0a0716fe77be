//! Grants in the store: kept, found, refreshed, forgotten. docs/STORAGE.md tells each key and value.

use std::time::Duration;

use super::grant::Grant;
use super::oauth;
use super::owner::Owner;
use super::provider::Provider;
use super::recent::Recent;
use super::seal::SealKeys;
use super::token::{Purpose, StateKey};
use super::tokens::NoTokens;
use super::{Granted, LIFE_MS};
use crate::call::Secret;
use crate::host::{Host, Level, SHORTEST_LIFE, StoreError};
use crate::json;

/// How long a grant is kept after its last change.
const LIFE: Duration = Duration::from_secs(180 * 24 * 60 * 60);
/// Why a grant gives no token now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NoGrant {
    /// The user must be asked; `seen_ms` is when the grant came that no longer serves.
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
    pub(super) recent: Recent,
}

impl Vault {
    pub(super) fn key(&self, owner: &Owner, provider: &str) -> String {
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
        let grant = self.opened(&key, &sealed);
        if grant.is_none() {
            host.log(Level::Warn, "grant", &[("fault", "no key of GRANT_KEYS opens it")]);
        }
        Ok(grant)
    }

    fn opened(&self, key: &str, sealed: &str) -> Option<Grant> {
        json::read(&self.seal.open(key, sealed)?)
    }

    /// The grant of a user as this instance knows it: from the store, or as it has just been written.
    async fn current(
        &self,
        owner: &Owner,
        provider: &str,
        host: &dyn Host,
    ) -> Result<Option<Grant>, StoreError> {
        let stored = self.load(owner, provider, host).await?;
        let key = self.key(owner, provider);
        Ok(match self.recent.written(&key, host.now_ms()) {
            None => stored,
            Some((None, deleted_ms)) => stored.filter(|grant| grant.updated_ms > deleted_ms),
            Some((Some(sealed), _)) => {
                let both = stored.into_iter().chain(self.opened(&key, &sealed));
                both.max_by_key(|grant| grant.updated_ms)
            }
        })
    }

    /// Keeps a grant in the place of the one before.
    pub(super) async fn save(
        &self,
        (owner, provider): (&Owner, &str),
        grant: &Grant,
        host: &dyn Host,
    ) -> Result<(), StoreError> {
        let key = self.key(owner, provider);
        let sealed = self.sealed(&key, grant, host)?;
        self.put(&key, &sealed, host).await?;
        self.recent.wrote(&key, Some(&sealed), host.now_ms());
        Ok(())
    }

    /// Keeps a grant that has been refreshed. A failure is logged: the token is good all the same, and
    /// this instance knows it for a minute; a later call refreshes again or asks the user.
    async fn keep(&self, (owner, provider): (&Owner, &str), grant: &Grant, host: &dyn Host) {
        let key = self.key(owner, provider);
        if let Ok(sealed) = self.sealed(&key, grant, host) {
            self.recent.wrote(&key, Some(&sealed), host.now_ms());
            let _ = self.put(&key, &sealed, host).await;
        }
    }

    fn sealed(&self, key: &str, grant: &Grant, host: &dyn Host) -> Result<String, StoreError> {
        let sealed = self.seal.seal(key, json::write(grant).as_bytes(), host);
        sealed.map_err(|_| StoreError("no random bytes".to_owned()))
    }

    async fn put(&self, key: &str, sealed: &str, host: &dyn Host) -> Result<(), StoreError> {
        host.put(key, sealed, LIFE).await.inspect_err(|error| note(error, host))
    }

    /// Forgets a grant. For a minute others may still read it.
    pub(super) async fn delete(
        &self,
        owner: &Owner,
        provider: &str,
        host: &dyn Host,
    ) -> Result<(), StoreError> {
        let key = self.key(owner, provider);
        host.delete(&key).await.inspect_err(|error| note(error, host))?;
        self.recent.wrote(&key, None, host.now_ms());
        Ok(())
    }

    /// An access token of the user's grant with these scopes, refreshed when it is about to end.
    pub(super) async fn token(
        &self,
        (owner, provider): (&Owner, &Provider),
        scopes: &[&str],
        host: &dyn Host,
    ) -> Result<Granted, NoGrant> {
        let current = self.current(owner, &provider.id, host).await;
        let Some(mut grant) = current.map_err(|_| NoGrant::Store)? else {
            return Err(NoGrant::Ask { seen_ms: None, scopes: Vec::new() });
        };
        let again =
            |grant: Grant| NoGrant::Ask { seen_ms: Some(grant.updated_ms), scopes: grant.scopes };
        if !grant.covers(scopes) {
            return Err(again(grant));
        }
        let now_ms = host.now_ms();
        if grant.is_ending(now_ms) {
            let is_over = grant.is_over(now_ms);
            match self.refreshed(&grant, provider, host).await {
                Ok(new) => {
                    self.keep((owner, &provider.id), &new, host).await;
                    if is_over || new.covers(scopes) {
                        grant = new;
                    }
                }
                // Refused by a copy that is a minute old, or away: the token at hand is still good.
                Err(_) if !is_over => {}
                Err(NoTokens::Refused) => {
                    // Another request may have used the refresh token at the same moment.
                    let key = self.key(owner, &provider.id);
                    let written = self.recent.written(&key, host.now_ms());
                    let other = written.and_then(|(sealed, _)| self.opened(&key, &sealed?));
                    match other.filter(|other| other.updated_ms > grant.updated_ms) {
                        Some(other) => grant = other,
                        None => return Err(again(grant)),
                    }
                }
                Err(NoTokens::Away) => return Err(NoGrant::Server),
            }
        }
        // A refresh can give less than the user has granted.
        if !grant.covers(scopes) {
            return Err(again(grant));
        }
        Ok(grant.into())
    }

    async fn refreshed(
        &self,
        grant: &Grant,
        provider: &Provider,
        host: &dyn Host,
    ) -> Result<Grant, NoTokens> {
        let refresh = grant.refresh.clone().map(Secret::new).ok_or(NoTokens::Refused)?;
        if self.recent.was_away(&provider.id, host.now_ms()) {
            return Err(NoTokens::Away);
        }
        let tokens =
            async { oauth::server(provider, host).await?.refresh(provider, &refresh, host).await };
        let tokens = tokens.await.inspect_err(|why| {
            if *why == NoTokens::Away {
                self.recent.is_away(&provider.id, host.now_ms());
            }
        })?;
        let new = Grant::new(tokens, &grant.scopes, host.now_ms());
        // A server that does not rotate refresh tokens need not repeat them.
        let refresh = new.refresh.clone().or_else(|| grant.refresh.clone());
        Ok(new.with_refresh(refresh))
    }

    /// Notes that a challenge has failed, if nothing else comes of it before `from_ms`.
    pub(super) async fn fail(&self, challenge: &str, from_ms: u64, host: &dyn Host) {
        let life = Duration::from_millis(LIFE_MS).max(SHORTEST_LIFE);
        let put = host.put(&self.failure_key(challenge), &from_ms.to_string(), life).await;
        if let Err(error) = put {
            // It will be seen as failed when it expires.
            note(&error, host);
        }
    }

    /// Whether a challenge is known to have failed.
    pub(super) async fn has_failed(&self, challenge: &str, host: &dyn Host) -> bool {
        let read = host.get(&self.failure_key(challenge)).await;
        let value = read.inspect_err(|error| note(error, host)).ok().flatten();
        let from_ms = value.and_then(|value| value.parse::<u64>().ok());
        from_ms.is_some_and(|from_ms| from_ms <= host.now_ms())
    }

    fn failure_key(&self, challenge: &str) -> String {
        format!("failed:{}", self.state.hash(Purpose::Failure, &[challenge]))
    }
}

fn note(error: &StoreError, host: &dyn Host) {
    host.log(Level::Error, "store", &[("problem", &error.0)]);
}
