//! How the client hears of a challenge, and how a grant is forgotten.

use super::parameter;
use crate::call::{Caller, Refusal};
use crate::challenge::grant::{Grant, Owner};
use crate::challenge::token::Purpose;
use crate::challenge::{Challenges, Claims};
use crate::host::Host;
use crate::http::Outbound;

impl Challenges {
    /// `GET /auth/check` (X21): always 200, readable from any page. A grant that a call from here
    /// would find makes a challenge completed, however it came: `completed` is a promise that the
    /// call may be tried again.
    pub(crate) async fn check(this: Option<&Self>, query: &str, host: &dyn Host) -> Outbound {
        let status = match this {
            Some(this) => this.status(query, host).await,
            None => "failed",
        };
        let body = format!(r#"{{"status":"{status}"}}"#);
        Outbound::json(200, body.into_bytes())
            .with("cache-control", "no-store")
            .with("access-control-allow-origin", "*")
    }

    async fn status(&self, query: &str, host: &dyn Host) -> &'static str {
        let token = parameter(query, "c").unwrap_or_default();
        let claims = self.vault.state.open(Purpose::Challenge, &token, host.now_ms());
        let Ok(Claims { i, o: owner, p, s, g, .. }) = claims else { return "failed" };
        // A store that does not answer decides nothing; the log says so.
        let grant = self.vault.load(&owner, &p, host).await.ok().flatten();
        let serves =
            |grant: Grant| grant.covers(&s) && g.is_none_or(|seen| grant.granted_ms > seen);
        if grant.is_some_and(serves) {
            "completed"
        } else if self.vault.has_failed(&i, host).await {
            "failed"
        } else {
            "pending"
        }
    }

    /// `DELETE /auth/grants/{provider}`: forgets the user's grant, if there is one.
    ///
    /// # Errors
    /// The request names no user or no provider, or the store does not answer.
    pub(crate) async fn forget(
        this: Option<&Self>,
        (provider, query): (&str, &str),
        caller: &Caller,
        host: &dyn Host,
    ) -> Result<Outbound, Refusal> {
        let known = this.and_then(|this| Some((this, this.provider(provider)?)));
        let Some((this, provider)) = known else { return Err(Refusal::NotFound) };
        let owner = Owner::of(caller, parameter(query, "user_id").as_deref());
        let owner =
            owner.map_err(|why| Refusal::Malformed(format!("in the query: {}", why.words())))?;
        let deleted = this.vault.delete(&owner, &provider.id, host).await;
        let unavailable = Refusal::Unavailable("its KV namespace does not answer");
        deleted.map_err(|_| unavailable)?;
        Ok(Outbound::empty(204).with("cache-control", "no-store"))
    }
}
