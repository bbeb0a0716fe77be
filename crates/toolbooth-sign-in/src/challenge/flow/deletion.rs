//! Deletes a user's grant and has the provider revoke it.

use crate::challenge::challenges::Challenges;
use crate::challenge::owner::{Owner, OwnerError};
use toolbooth::host::Host;
use toolbooth::http::Response;
use toolbooth::principal::Principal;
use toolbooth::url::query_parameter;

/// Why a grant is not deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DeletionError {
    /// No provider of this id is configured.
    UnknownProvider,
    /// The request names no user whose grant could be deleted.
    Owner(OwnerError),
    /// The store does not respond.
    StoreUnavailable,
}

impl Challenges {
    /// `DELETE /auth/grants/{provider}`: deletes the user's grant, if there is one, then has the
    /// provider revoke it.
    ///
    /// # Errors
    /// See [`DeletionError`].
    pub(crate) async fn delete_grant(
        &self,
        (provider, query): (&str, &str),
        principal: &Principal,
        host: &dyn Host,
    ) -> Result<Response, DeletionError> {
        let client = self.provider(provider).ok_or(DeletionError::UnknownProvider)?;
        let owner = Owner::of(principal, query_parameter(query, "user_id").as_deref());
        let owner = owner.map_err(DeletionError::Owner)?;
        let deleted = self.delete_grant_of(&owner, client, host).await;
        deleted.map_err(|_| DeletionError::StoreUnavailable)?;
        Ok(Response::empty(204).with("cache-control", "no-store"))
    }
}
