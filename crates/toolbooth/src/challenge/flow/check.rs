//! How the client hears of a challenge, and how a grant is forgotten.

use super::parameter;
use crate::call::Rejection;
use crate::challenge::grant::Grant;
use crate::challenge::owner::Owner;
use crate::challenge::revocation::revoke;
use crate::challenge::token::TokenPurpose;
use crate::challenge::{ChallengeClaims, Challenges};
use crate::host::Host;
use crate::http::Response;
use crate::principal::Principal;

impl Challenges {
    /// `GET /auth/check` (X21): always 200, readable from any page. A grant that a call from here
    /// would find makes a challenge completed, however it came: `completed` is a promise that the
    /// call may be tried again. `proof` keeps it where the store is behind: docs/STORAGE.md.
    pub(crate) async fn check(this: Option<&Self>, query: &str, host: &dyn Host) -> Response {
        let (status, proof) = match this {
            Some(this) => this.status(query, host).await,
            None => ("failed", None),
        };
        // Neither has a letter that JSON would have to escape.
        let proof = proof.map(|proof| format!(r#","proof":"{proof}""#)).unwrap_or_default();
        let body = format!(r#"{{"status":"{status}"{proof}}}"#);
        Response::json(200, body.into_bytes())
            .with("cache-control", "no-store")
            .with("access-control-allow-origin", "*")
    }

    async fn status(&self, query: &str, host: &dyn Host) -> (&'static str, Option<String>) {
        let token = parameter(query, "c").unwrap_or_default();
        let claims = self.vault.state.open(TokenPurpose::Challenge, &token, host.now_ms());
        let Ok(ChallengeClaims { i, o: owner, p, s, g, .. }) = claims else {
            return ("failed", None);
        };
        // A store that does not answer decides nothing; the log says so.
        let Ok(grant) = self.vault.load((&owner, &p), host).await else { return ("pending", None) };
        let now_ms = host.now_ms();
        // A dead grant decides nothing: the user may be about to replace it, and this copy of it may
        // be a minute old.
        let serves = |grant: &Grant| {
            grant.covers(&s)
                && g.is_none_or(|seen| grant.updated_ms > seen)
                && !grant.is_dead(now_ms)
        };
        match grant.filter(serves) {
            Some(grant) => ("completed", self.vault.proof((&owner, &p), &grant, host)),
            None if self.vault.has_failed(&i, host).await => ("failed", None),
            None => ("pending", None),
        }
    }

    /// `DELETE /auth/grants/{provider}`: deletes the user's grant, if there is one, then has the
    /// provider revoke it. In this order: once the deletion is written it counts, whatever the
    /// provider does, and a grant that is revoked first would serve calls that must fail.
    ///
    /// # Errors
    /// The request names no user or no provider, or the store does not answer.
    pub(crate) async fn forget(
        this: Option<&Self>,
        (provider, query): (&str, &str),
        principal: &Principal,
        host: &dyn Host,
    ) -> Result<Response, Rejection> {
        let known = this.and_then(|this| Some((this, this.provider(provider)?)));
        let Some((this, provider)) = known else { return Err(Rejection::NotFound) };
        let owner = Owner::of(principal, parameter(query, "user_id").as_deref());
        let owner =
            owner.map_err(|why| Rejection::Malformed(format!("in the query: {}", why.words())))?;
        let deleted = this.vault.delete((&owner, &provider.id), host).await;
        let unavailable = Rejection::Unavailable("its KV namespace does not answer");
        if let Some(grant) = deleted.map_err(|_| unavailable)? {
            revoke(provider, &grant, host).await;
        }
        Ok(Response::empty(204).with("cache-control", "no-store"))
    }
}
