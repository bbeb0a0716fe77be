//! The access token of a user's grant, refreshed when it is about to end.

use super::Granted;
use super::grant::Grant;
use super::oauth;
use super::owner::Owner;
use super::provider::Provider;
use super::revocation::revoke;
use super::tokens::TokenError;
use super::vault::{GrantStore, Known};
use crate::host::Host;
use crate::tool::Secret;

/// Why a grant gives no token now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NoGrant {
    /// The user must be asked. The challenge completes with a grant that is later than `seen_ms`: the time
    /// at which the unusable grant was issued, or at which it was deleted.
    Ask { seen_ms: Option<u64>, scopes: Vec<String> },
    /// The store does not answer.
    Store,
    /// The authorization server does not answer.
    AuthorizationServer,
}

impl NoGrant {
    /// The grant does not serve. Its scopes should not be lost.
    fn again(grant: Grant) -> Self {
        Self::Ask { seen_ms: Some(grant.updated_ms), scopes: grant.scopes }
    }

    /// There is no grant, or it has been deleted.
    fn gone(deleted_ms: Option<u64>) -> Self {
        Self::Ask { seen_ms: deleted_ms, scopes: Vec::new() }
    }
}

impl GrantStore {
    /// An access token of the user's grant with these scopes. `proof` is what the client sends to show
    /// that there is one.
    pub(super) async fn token(
        &self,
        (owner, provider): (&Owner, &Provider),
        (scopes, proof): (&[&str], Option<&str>),
        host: &dyn Host,
    ) -> Result<Granted, NoGrant> {
        let whose = (owner, &*provider.id);
        let known = self.find(whose, proof, host).await.map_err(|_| NoGrant::Store)?;
        let Some(mut grant) = known.grant else { return Err(NoGrant::gone(known.deleted_ms)) };
        if !grant.covers(scopes) {
            return Err(NoGrant::again(grant));
        }
        let now_ms = host.now_ms();
        if grant.is_ending(now_ms) {
            let is_over = grant.is_over(now_ms);
            let refreshed = self.refreshed(&grant, provider, host).await;
            // The user may have deleted the grant meanwhile. Only this instance's memory can know it:
            // the store would repeat what it said a moment ago. Elsewhere the deletion hides what is
            // written here, because a refresh keeps the time of the consent.
            let Known { grant: other, deleted_ms } = self.recent(whose, host);
            if !grant.outlives(deleted_ms) {
                if let Ok(new) = refreshed {
                    revoke(provider, &new, host).await;
                }
                return Err(NoGrant::gone(deleted_ms));
            }
            match refreshed {
                Ok(new) => {
                    self.keep(whose, &new, host).await;
                    if is_over || new.covers(scopes) {
                        grant = new;
                    }
                }
                // Refused by a copy that is a minute old, or away: the token at hand is still good.
                Err(_) if !is_over => {}
                // Another request may have used the refresh token at the same moment.
                Err(TokenError::Refused) => {
                    match other.filter(|other| other.updated_ms > grant.updated_ms) {
                        Some(other) => grant = other,
                        None => return Err(NoGrant::again(grant)),
                    }
                }
                Err(TokenError::Away) => return Err(NoGrant::AuthorizationServer),
            }
        }
        // A refresh can give less than the user has granted.
        if !grant.covers(scopes) {
            return Err(NoGrant::again(grant));
        }
        Ok(grant.into())
    }

    async fn refreshed(
        &self,
        grant: &Grant,
        provider: &Provider,
        host: &dyn Host,
    ) -> Result<Grant, TokenError> {
        let refresh = grant.refresh.clone().map(Secret::new).ok_or(TokenError::Refused)?;
        if self.recent.was_away(&provider.id, host.now_ms()) {
            return Err(TokenError::Away);
        }
        let tokens =
            async { oauth::server(provider, host).await?.refresh(provider, &refresh, host).await };
        let tokens = tokens.await.inspect_err(|why| {
            if *why == TokenError::Away {
                self.recent.is_away(&provider.id, host.now_ms());
            }
        })?;
        Ok(grant.refreshed(tokens, host.now_ms()))
    }
}
