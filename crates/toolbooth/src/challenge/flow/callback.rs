//! Where the provider sends the user back to.

use super::cookie::{self, State};
use super::stop::Stop;
use super::{again, parameter};
use crate::challenge::grant::Grant;
use crate::challenge::token::Purpose;
use crate::challenge::{Challenges, STALE_MS, oauth, page};
use crate::host::Host;
use crate::http::{Headers, Outbound};

/// A browser that has been at a challenge's page, as its cookie and `state` show.
struct Recognised {
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
    ) -> Outbound {
        let page = match this {
            Some(this) => this.arrive(provider, (query, headers), host).await,
            None => page::notice(Stop::NoProvider.notice(), None),
        };
        Self::secured(this, page)
    }

    async fn arrive(
        &self,
        provider: &str,
        (query, headers): (&str, &dyn Headers),
        host: &dyn Host,
    ) -> Outbound {
        let Recognised { id, token, verifier } = match self.recognise(query, headers, host) {
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
    ) -> Result<Option<Recognised>, Stop> {
        let key = &self.vault.state;
        let state = parameter(query, "state").unwrap_or_default();
        let state: State = key.open(Purpose::State, &state, host.now_ms())?;
        let cookie = cookie::read(headers, &state.i).ok_or(Stop::OtherBrowser)?;
        if cookie == cookie::DONE {
            return Ok(None);
        }
        let (mark, token) = cookie.split_once('.').unwrap_or_default();
        let maker = key.maker(Purpose::Browser, &[&state.i, mark], &state.b);
        // The provider has the challenge to this verifier from when the key that made both was current.
        let verifier = maker.ok_or(Stop::OtherBrowser)?.hash(Purpose::Verifier, &[&state.i, mark]);
        Ok(Some(Recognised { token: token.to_owned(), verifier, id: state.i }))
    }

    async fn conclude(
        &self,
        (address, query): (&str, &str),
        (id, token, verifier): (&str, &str, &str),
        host: &dyn Host,
    ) -> Result<(), Stop> {
        let (claims, provider) = self.pending(token, host)?;
        if claims.i != id || claims.p != address {
            return Err(Stop::Forged);
        }
        // Whose answer it is must be clear first: another server may not end the challenge either.
        let server = oauth::server(provider, host).await?;
        if !server.has_sent(parameter(query, "iss").as_deref()) {
            return Err(Stop::Forged);
        }
        match parameter(query, "error").as_deref() {
            None => {}
            Some("access_denied") => return Err(Stop::Denied),
            Some("server_error" | "temporarily_unavailable") => return Err(Stop::Away),
            Some(_) => return Err(Stop::Refused),
        }
        let code = parameter(query, "code").ok_or(Stop::Forged)?;
        let callback = self.callback(provider);
        let tokens = server.exchange(provider, (&code, &callback, verifier), host).await?;
        let grant = Grant::new(tokens, &claims.scopes(), claims.g, host.now_ms());
        if !grant.covers(&claims.s) {
            return Err(Stop::TooLittle);
        }
        // The call may see the grant only a minute from now.
        if grant.is_dead(host.now_ms().saturating_add(STALE_MS)) {
            return Err(Stop::Ended);
        }
        let saved = self.vault.save((&claims.o, &provider.id), &grant, host).await;
        saved.map_err(|_| Stop::Broken)
    }
}
