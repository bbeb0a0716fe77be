//! Access tokens of users' grants, refreshed when they are about to expire.

use super::{GrantId, GrantState, GrantStore};
use crate::challenge::{Event, Grant, Owner};
use crate::oauth::{OAuthClient, TokenError};
use toolbooth::host::Host;
use toolbooth::secret::Secret;

/// Why a grant gives no access token now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum AccessTokenError {
    /// The user must be asked.
    ChallengeRequired {
        /// When the grant that does not suffice was issued or deleted. Only a later one completes the challenge.
        seen_ms: Option<u64>,
        /// The scopes of that grant, which the new one should keep.
        scopes: Vec<String>,
    },
    StoreUnavailable,
    /// The authorization server does not respond.
    ProviderUnreachable,
}

impl AccessTokenError {
    fn insufficient(grant: Grant) -> Self {
        Self::ChallengeRequired { seen_ms: Some(grant.updated_ms), scopes: grant.scopes }
    }

    /// There is no grant, or it has been deleted.
    fn missing(deleted_ms: Option<u64>) -> Self {
        Self::ChallengeRequired { seen_ms: deleted_ms, scopes: Vec::new() }
    }
}

impl GrantStore {
    /// The user's grant, with an access token of these scopes. `proof` is the token that the client
    /// sends, if it is a proof of the grant.
    pub(crate) async fn token(
        &self,
        (owner, client): (&Owner, &OAuthClient),
        (scopes, proof): (&[&str], Option<&str>),
        host: &dyn Host,
    ) -> Result<Grant, AccessTokenError> {
        let id = GrantId { owner, provider: &client.provider.id };
        let state = self.find(id, proof, host).await;
        let state = state.map_err(|_| AccessTokenError::StoreUnavailable)?;
        let Some(mut grant) = state.grant else {
            return Err(AccessTokenError::missing(state.deleted_ms));
        };
        if !grant.covers(scopes) {
            return Err(AccessTokenError::insufficient(grant));
        }
        let now_ms = host.now_ms();
        if grant.expires_soon(now_ms) {
            let is_expired = grant.is_expired(now_ms);
            let refreshed = self.refresh(&grant, client, host).await;
            // The user may have deleted the grant meanwhile. Only this instance's memory can know: the
            // store would repeat what it returned a moment ago. Elsewhere the deletion hides what is
            // written here, because a refresh keeps the time when the user agreed.
            let GrantState { grant: other, deleted_ms } = self.recent(id, host);
            if !grant.outlives(deleted_ms) {
                if let Ok(new) = refreshed {
                    self.revoke((id, client), &new, host).await;
                }
                return Err(AccessTokenError::missing(deleted_ms));
            }
            match refreshed {
                Ok(new) => {
                    self.save_refreshed(id, &new, host).await;
                    if is_expired || new.covers(scopes) {
                        grant = new;
                    }
                }
                // This copy may be a minute old, or the provider unreachable: the token is still valid.
                Err(_) if !is_expired => {}
                // Another request may have used the refresh token at the same moment.
                Err(TokenError::Rejected) => {
                    match other.filter(|other| other.updated_ms > grant.updated_ms) {
                        Some(other) => grant = other,
                        None => return Err(AccessTokenError::insufficient(grant)),
                    }
                }
                Err(TokenError::Unreachable) => return Err(AccessTokenError::ProviderUnreachable),
            }
        }
        // A refresh can return fewer scopes than the user has granted.
        if !grant.covers(scopes) {
            return Err(AccessTokenError::insufficient(grant));
        }
        Ok(grant)
    }

    /// Has the provider revoke a grant that has been deleted.
    pub(crate) async fn revoke(
        &self,
        (id, client): (GrantId<'_>, &OAuthClient),
        grant: &Grant,
        host: &dyn Host,
    ) {
        if client.revoke((&grant.access, grant.refresh.as_deref()), host).await {
            self.log(Event::GrantRevoked, id, host);
        }
    }

    async fn refresh(
        &self,
        grant: &Grant,
        client: &OAuthClient,
        host: &dyn Host,
    ) -> Result<Grant, TokenError> {
        let refresh_token = grant.refresh.clone().map(Secret::new).ok_or(TokenError::Rejected)?;
        let provider = &client.provider.id;
        if self.recent_writes.is_unreachable(provider, host.now_ms()) {
            return Err(TokenError::Unreachable);
        }
        let tokens =
            client.refresh(&refresh_token, host).await.inspect_err(|error| match error {
                TokenError::Unreachable => {
                    self.recent_writes.mark_unreachable(provider, host.now_ms());
                }
                TokenError::Rejected => {}
            })?;
        Ok(grant.refreshed(tokens, host.now_ms()))
    }
}
