//! The callback, to which the provider redirects the user with a code or an error.

use super::error::ChallengeError;
use super::shared::error_page;
use crate::challenge::challenges::Challenges;
use crate::challenge::grant::Grant;
use crate::challenge::grant_store::GrantId;
use crate::challenge::page;
use crate::oauth::page::notice;
use crate::oauth::{FlowPurpose, FlowState, PendingFlow, ReturningBrowser, STALE_MS};
use toolbooth::host::Host;
use toolbooth::http::{Headers, Response};
use toolbooth::seal::InvalidToken;

impl Challenges {
    /// `GET /auth/callback/{provider}`: completes or fails the challenge (RFC 6749, 4.1.2).
    pub(crate) async fn callback(
        &self,
        provider: &str,
        state: Result<FlowState, InvalidToken>,
        (query, headers): (&str, &dyn Headers),
        host: &dyn Host,
    ) -> Response {
        let page = self.callback_page(provider, state, (query, headers), host).await;
        self.secured(page.unwrap_or_else(|error| notice(error.notice(), None)))
    }

    async fn callback_page(
        &self,
        provider: &str,
        state: Result<FlowState, InvalidToken>,
        (query, headers): (&str, &dyn Headers),
        host: &dyn Host,
    ) -> Result<Response, ChallengeError> {
        let flow = match self.flow.resume(state?, FlowPurpose::Challenge, headers)? {
            ReturningBrowser::Pending(flow) => flow,
            ReturningBrowser::Done => return Ok(page::done()),
        };
        match self.complete(provider, query, &flow, host).await {
            Ok(()) => Ok(flow.done(page::done())),
            Err(error) => {
                if let Some(after_ms) = error.fails_challenge_after_ms() {
                    let from_ms = host.now_ms().saturating_add(after_ms);
                    self.grants.save_failure(&flow.id, from_ms, host).await;
                }
                Ok(error_page(error, &flow.token))
            }
        }
    }

    /// Exchanges the code for tokens and saves the grant.
    async fn complete(
        &self,
        provider: &str,
        query: &str,
        flow: &PendingFlow,
        host: &dyn Host,
    ) -> Result<(), ChallengeError> {
        let (claims, client) = self.pending(&flow.token, host)?;
        if claims.id != flow.id || claims.provider != provider {
            return Err(ChallengeError::Forged);
        }
        let (_, tokens) = self.flow.exchange(client, flow, query, host).await?;
        let grant = Grant::new(tokens, &claims.scopes(), claims.seen_ms, host.now_ms());
        if !grant.covers(&claims.required_scopes) {
            return Err(ChallengeError::MissingScopes);
        }
        // The call may read the grant only a minute from now.
        if grant.is_dead(host.now_ms().saturating_add(STALE_MS)) {
            return Err(ChallengeError::AlreadyExpired);
        }
        let id = GrantId { owner: &claims.owner, provider: &client.provider.id };
        self.grants.save(id, &grant, host).await.map_err(|_| ChallengeError::Internal)
    }
}
