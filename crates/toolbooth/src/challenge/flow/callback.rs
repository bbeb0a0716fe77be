//! The callback, to which the provider redirects the user with a code or an error.

use super::error::FlowError;
use super::shared::{error_page, parameter};
use crate::challenge::challenges::Challenges;
use crate::challenge::grant::Grant;
use crate::challenge::grant_store::GrantId;
use crate::challenge::page;
use crate::host::Host;
use crate::http::{Headers, Response};
use crate::oauth::cookie::{self, State};
use crate::oauth::page::notice;
use crate::oauth::{CsrfToken, PkceVerifier, STALE_MS, TokenPurpose};

/// What the cookie and `state` of a callback contain.
enum VerifiedCallback {
    /// The browser has begun this challenge.
    Pending(PendingCallback),
    /// The browser has completed the challenge before.
    Done,
}

struct PendingCallback {
    /// The challenge's id.
    challenge: String,
    /// The challenge's token.
    token: String,
    verifier: PkceVerifier,
}

impl Challenges {
    /// `GET /auth/callback/{provider}`: completes or fails the challenge (RFC 6749, 4.1.2).
    pub(crate) async fn callback(
        &self,
        provider: &str,
        (query, headers): (&str, &dyn Headers),
        host: &dyn Host,
    ) -> Response {
        self.secured(self.callback_page(provider, (query, headers), host).await)
    }

    async fn callback_page(
        &self,
        provider: &str,
        (query, headers): (&str, &dyn Headers),
        host: &dyn Host,
    ) -> Response {
        let pending = match self.verify(query, headers, host) {
            Ok(VerifiedCallback::Pending(pending)) => pending,
            Ok(VerifiedCallback::Done) => return page::done(),
            Err(error) => return notice(error.notice(), None),
        };
        let id = &pending.challenge;
        match self.complete(provider, query, &pending, host).await {
            Ok(()) => page::done().with("set-cookie", cookie::set(id, cookie::DONE)),
            Err(error) => {
                if let Some(after_ms) = error.fails_challenge_after_ms() {
                    let from_ms = host.now_ms().saturating_add(after_ms);
                    self.grants.save_failure(id, from_ms, host).await;
                }
                error_page(error, &pending.token)
            }
        }
    }

    /// Verifies that the browser is the one that was sent to the provider.
    fn verify(
        &self,
        query: &str,
        headers: &dyn Headers,
        host: &dyn Host,
    ) -> Result<VerifiedCallback, FlowError> {
        let state = parameter(query, "state").unwrap_or_default();
        let State { challenge, browser } =
            self.state_keys.open(TokenPurpose::State, &state, host.now_ms())?;
        let cookie = cookie::read(headers, &challenge).ok_or(FlowError::OtherBrowser)?;
        if cookie == cookie::DONE {
            return Ok(VerifiedCallback::Done);
        }
        let (csrf_token, token) = cookie.split_once('.').unwrap_or_default();
        let csrf_token = CsrfToken::from_cookie(csrf_token);
        let parts = [&*challenge, csrf_token.expose()];
        let key = self.state_keys.maker(TokenPurpose::Browser, &parts, &browser);
        // The verifier is derived from the key that was current when the provider got its challenge.
        let verifier = key.ok_or(FlowError::OtherBrowser)?.hash(TokenPurpose::Verifier, &parts);
        Ok(VerifiedCallback::Pending(PendingCallback {
            token: token.to_owned(),
            verifier: PkceVerifier::new(verifier),
            challenge,
        }))
    }

    /// Exchanges the code for tokens and saves the grant.
    async fn complete(
        &self,
        provider: &str,
        query: &str,
        pending: &PendingCallback,
        host: &dyn Host,
    ) -> Result<(), FlowError> {
        let (claims, client) = self.pending(&pending.token, host)?;
        if claims.id != pending.challenge || claims.provider != provider {
            return Err(FlowError::Forged);
        }
        // The issuer is checked first: another server must not fail the challenge either.
        let server = client.server(host).await?;
        if !server.is_issuer(parameter(query, "iss").as_deref()) {
            return Err(FlowError::Forged);
        }
        match parameter(query, "error").as_deref() {
            None => {}
            Some("access_denied") => return Err(FlowError::Denied),
            Some("server_error" | "temporarily_unavailable") => return Err(FlowError::Unreachable),
            Some(_) => return Err(FlowError::Rejected),
        }
        let code = parameter(query, "code").ok_or(FlowError::Forged)?;
        let redirect_uri = self.redirect_uri(client);
        let tokens =
            client.exchange_code(&server, (&code, &redirect_uri), &pending.verifier, host).await?;
        let grant = Grant::new(tokens, &claims.scopes(), claims.seen_ms, host.now_ms());
        if !grant.covers(&claims.required_scopes) {
            return Err(FlowError::MissingScopes);
        }
        // The call may read the grant only a minute from now.
        if grant.is_dead(host.now_ms().saturating_add(STALE_MS)) {
            return Err(FlowError::AlreadyExpired);
        }
        let id = GrantId { owner: &claims.owner, provider: &client.provider.id };
        self.grants.save(id, &grant, host).await.map_err(|_| FlowError::Internal)
    }
}
