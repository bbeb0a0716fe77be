//! The callback, to which the provider redirects the user with a code or an error.

use super::{ChallengeError, error_page};
use crate::challenge::{Challenges, Grant, page};
use crate::oauth::{FlowError, FlowPurpose, FlowState, PendingFlow, STALE_MS};
use toolbooth::call::Rejection;
use toolbooth::http::{Answer, Response};
use toolbooth::route::RouteRequest;
use toolbooth::seal::InvalidToken;

/// `GET /auth/callback/{provider}`: completes or fails the challenge (RFC 6749, 4.1.2).
pub(crate) async fn callback<'a>(
    request: &RouteRequest<'a>,
    state: Result<FlowState, InvalidToken>,
) -> Result<Answer<'a>, Rejection> {
    let challenges = Challenges::of(request)?;
    let page = challenges.callback_page(state, request).await;
    if let Err(error) = &page {
        challenges.log_rejected(*error, "", request.host);
    }
    Ok(challenges.page(page).into())
}

impl Challenges {
    async fn callback_page(
        &self,
        state: Result<FlowState, InvalidToken>,
        request: &RouteRequest<'_>,
    ) -> Result<Response, ChallengeError> {
        let flow = self.flow.resume(state?, FlowPurpose::Challenge, request.headers)?;
        let Some(flow) = flow else { return Ok(page::done()) };
        match self.complete(&flow, request).await {
            Ok(()) => Ok(flow.done(page::done())),
            Err(error) => {
                self.log_rejected(error, &flow.token, request.host);
                if let Some(after_ms) = error.fails_challenge_after_ms() {
                    let from_ms = request.host.now_ms().saturating_add(after_ms);
                    self.grants.save_failure(&flow.id, from_ms, request.host).await;
                }
                Ok(error_page(error, &flow.token))
            }
        }
    }

    /// Exchanges the code for tokens and saves the grant.
    async fn complete(
        &self,
        flow: &PendingFlow,
        request: &RouteRequest<'_>,
    ) -> Result<(), ChallengeError> {
        let RouteRequest { query, parameter, host, .. } = *request;
        let (claims, client) = self.pending(&flow.token, host)?;
        if claims.id != flow.id || claims.provider != parameter {
            return Err(FlowError::Forged.into());
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
        let stored = self.grant(&claims.owner, &client.provider.id, host);
        stored.save(&grant).await.map_err(|_| FlowError::Internal.into())
    }
}
