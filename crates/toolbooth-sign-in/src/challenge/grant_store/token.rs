//! Access tokens of users' grants, refreshed when they are about to expire.

use super::{GrantState, STORE_UNAVAILABLE, StoredGrant};
use crate::challenge::{Event, Grant};
use crate::oauth::{OAuthClient, ProviderError};
use toolbooth::call::Rejection;
use toolbooth::secret::Secret;

/// What is known of a grant that does not suffice, so that the user must be asked.
#[derive(Debug)]
pub(crate) struct Insufficient {
    /// When it was issued or deleted, if there was one. Only a later one completes the challenge.
    pub(crate) seen_ms: Option<u64>,
    /// Its scopes, which the new one should keep.
    pub(crate) scopes: Vec<String>,
}

impl From<Grant> for Insufficient {
    fn from(grant: Grant) -> Self {
        Self { seen_ms: Some(grant.updated_ms), scopes: grant.scopes }
    }
}

impl Insufficient {
    /// There is no grant, or it has been deleted.
    fn missing(deleted_ms: Option<u64>) -> Self {
        Self { seen_ms: deleted_ms, scopes: Vec::new() }
    }
}

impl StoredGrant<'_> {
    /// The user's grant, with an access token of these scopes. `proof` is the token that the client
    /// sends, if it is a proof of the grant.
    pub(crate) async fn token(
        self,
        client: &OAuthClient,
        (scopes, proof): (&[&str], Option<&str>),
    ) -> Result<Result<Grant, Insufficient>, Rejection> {
        let state = self.find(proof).await.map_err(|_| STORE_UNAVAILABLE)?;
        let Some(mut grant) = state.grant else {
            return Ok(Err(Insufficient::missing(state.deleted_ms)));
        };
        if !grant.covers(scopes) {
            return Ok(Err(grant.into()));
        }
        let now_ms = self.host.now_ms();
        if grant.expires_soon(now_ms) {
            let is_expired = grant.is_expired(now_ms);
            let refreshed = self.refresh(&grant, client).await;
            // The user may have deleted the grant meanwhile. Only this instance's memory can know: the
            // store would repeat what it returned a moment ago. Elsewhere the deletion hides what is
            // written here, because a refresh keeps the time when the user agreed.
            let GrantState { grant: other, deleted_ms } = self.recent();
            if !grant.outlives(deleted_ms) {
                if let Ok(new) = refreshed {
                    self.revoke(&new, client).await;
                }
                return Ok(Err(Insufficient::missing(deleted_ms)));
            }
            match refreshed {
                Ok(new) => {
                    self.save_refreshed(&new).await;
                    if is_expired || new.covers(scopes) {
                        grant = new;
                    }
                }
                // This copy may be a minute old, or the provider unreachable: the token is still valid.
                Err(_) if !is_expired => {}
                // Another request may have used the refresh token at the same moment. If the provider's answer is of no use, the
                // page of the challenge says so.
                Err(ProviderError::Rejected | ProviderError::Unusable(_)) => {
                    match other.filter(|other| other.updated_ms > grant.updated_ms) {
                        Some(other) => grant = other,
                        None => return Ok(Err(grant.into())),
                    }
                }
                Err(ProviderError::Unreachable) => {
                    return Err(Rejection::Unavailable("the authorization server does not answer"));
                }
            }
        }
        // A refresh can return fewer scopes than the user has granted.
        Ok(if grant.covers(scopes) { Ok(grant) } else { Err(grant.into()) })
    }

    /// Has the provider revoke a grant that has been deleted.
    pub(crate) async fn revoke(self, grant: &Grant, client: &OAuthClient) {
        if client.revoke((&grant.access, grant.refresh.as_deref()), self.host).await {
            self.log(Event::GrantRevoked);
        }
    }

    async fn refresh(self, grant: &Grant, client: &OAuthClient) -> Result<Grant, ProviderError> {
        let refresh_token =
            grant.refresh.clone().map(Secret::new).ok_or(ProviderError::Rejected)?;
        let tokens = client.refresh(&refresh_token, self.host).await?;
        Ok(grant.refreshed(tokens, self.host.now_ms()))
    }
}
