//! Where the provider sends the user back to.

use super::cookie::{self, State};
use super::stop::FlowError;
use super::{again, parameter};
use crate::challenge::grant::Grant;
use crate::challenge::token::TokenPurpose;
use crate::challenge::{Challenges, STALE_MS, oauth, page};
use crate::host::Host;
use crate::http::{Headers, Response};

/// A browser that has been at a challenge's page, as its cookie and `state` show.
struct Callback {
    /// The challenge's id.
    id: String,
    /// The challenge's token.
    token: String,
    /// The PKCE verifier.
    verifier: String,
}

impl Challenges {
    /// `GET /auth/callback/{provider}`: the provider sends the user back (RFC 6749, 4.1.2).
    pub(crate) async fn back(
        this: Option<&Self>,
        provider: &str,
        (query, headers): (&str, &dyn Headers),
        host: &dyn Host,
    ) -> Response {
        let page = match this {
            Some(this) => this.arrive(provider, (query, headers), host).await,
            None => page::notice(FlowError::NoProvider.notice(), None),
        };
        Self::secured(this, page)
    }

    async fn arrive(
        &self,
        provider: &str,
        (query, headers): (&str, &dyn Headers),
        host: &dyn Host,
    ) -> Response {
        let Callback { id, token, verifier } = match self.recognise(query, headers, host) {
            Ok(Some(known)) => known,
            Ok(None) => return page::done(),
            Err(stop) => return page::notice(stop.notice(), None),
        };
        match self.conclude((provider, query), (&id, &token, &verifier), host).await {
            Ok(()) => page::done().with("set-cookie", cookie::set(&id, cookie::DONE)),
            Err(stop) => {
                if let Some(after_ms) = stop.decides_after_ms() {
                    let from_ms = host.now_ms().saturating_add(after_ms);
                    self.vault.fail(&id, from_ms, host).await;
                }
                page::notice(stop.notice(), again(stop, &token).as_deref())
            }
        }
    }

    /// What a browser comes back from; nothing when it was done before.
    fn recognise(
        &self,
        query: &str,
        headers: &dyn Headers,
        host: &dyn Host,
    ) -> Result<Option<Callback>, FlowError> {
        let key = &self.vault.state;
        let state = parameter(query, "state").unwrap_or_default();
        let state: State = key.open(TokenPurpose::State, &state, host.now_ms())?;
        let cookie = cookie::read(headers, &state.i).ok_or(FlowError::OtherBrowser)?;
        if cookie == cookie::DONE {
            return Ok(None);
        }
        let (mark, token) = cookie.split_once('.').unwrap_or_default();
        let maker = key.maker(TokenPurpose::Browser, &[&state.i, mark], &state.b);
        // The provider has the challenge to this verifier from when the key that made both was current.
        let verifier =
            maker.ok_or(FlowError::OtherBrowser)?.hash(TokenPurpose::Verifier, &[&state.i, mark]);
        Ok(Some(Callback { token: token.to_owned(), verifier, id: state.i }))
    }

    async fn conclude(
        &self,
        (address, query): (&str, &str),
        (id, token, verifier): (&str, &str, &str),
        host: &dyn Host,
    ) -> Result<(), FlowError> {
        let (claims, provider) = self.pending(token, host)?;
        if claims.i != id || claims.p != address {
            return Err(FlowError::Forged);
        }
        // Whose answer it is must be clear first: another server may not end the challenge either.
        let server = oauth::server(provider, host).await?;
        if !server.has_sent(parameter(query, "iss").as_deref()) {
            return Err(FlowError::Forged);
        }
        match parameter(query, "error").as_deref() {
            None => {}
            Some("access_denied") => return Err(FlowError::Denied),
            Some("server_error" | "temporarily_unavailable") => return Err(FlowError::Away),
            Some(_) => return Err(FlowError::Refused),
        }
        let code = parameter(query, "code").ok_or(FlowError::Forged)?;
        let callback = self.callback(provider);
        let tokens = server.exchange(provider, (&code, &callback, verifier), host).await?;
        let grant = Grant::new(tokens, &claims.scopes(), claims.g, host.now_ms());
        if !grant.covers(&claims.s) {
            return Err(FlowError::TooLittle);
        }
        // The call may see the grant only a minute from now.
        if grant.is_dead(host.now_ms().saturating_add(STALE_MS)) {
            return Err(FlowError::Ended);
        }
        let saved = self.vault.save((&claims.o, &provider.id), &grant, host).await;
        saved.map_err(|_| FlowError::Broken)
    }
}
