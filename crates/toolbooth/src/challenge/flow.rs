//! The user's way: page, provider, callback; and how the client hears of it.

use std::time::Duration;

use form_urlencoded::{Serializer, parse};
use serde::{Deserialize, Serialize};

use super::grant::{Grant, Owner};
use super::oauth::{self, NoTokens};
use super::page::{self, Notice, Question};
use super::provider::{Addresses, Provider};
use super::token::{BadToken, Purpose, random_text, sha256_base64url};
use super::{Challenges, Claims, LAG_MS, LIFE_MS};
use crate::call::{Caller, Refusal};
use crate::host::Host;
use crate::http::{Headers, Outbound};

/// The addresses of challenges and grants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Address<'a> {
    /// Asks the user (`GET`), and sends those who agree to the provider (`POST`).
    Start,
    /// Where the provider sends them back.
    Callback,
    /// Says how a challenge stands.
    Check,
    /// The user's grant of the provider with this id.
    Grant(&'a str),
}

impl<'a> Address<'a> {
    /// The address that a path is.
    pub fn of(path: &'a str) -> Option<Self> {
        match path.strip_prefix("/auth/")? {
            "start" => Some(Self::Start),
            "callback" => Some(Self::Callback),
            "check" => Some(Self::Check),
            rest => {
                let provider = rest.strip_prefix("grants/")?;
                (!provider.is_empty() && !provider.contains('/')).then_some(Self::Grant(provider))
            }
        }
    }

    /// Its path, for those that stand in addresses.
    pub(super) fn path(self) -> &'static str {
        match self {
            Self::Start => "/auth/start",
            Self::Callback => "/auth/callback",
            Self::Check => "/auth/check",
            Self::Grant(_) => "/auth/grants",
        }
    }

    /// The methods it takes, as in an `Allow` header.
    pub fn allow(self) -> &'static str {
        match self {
            Self::Start => "GET, HEAD, POST, OPTIONS",
            // A HEAD would use up the code and show no page.
            Self::Callback => "GET, OPTIONS",
            Self::Check => "GET, HEAD, OPTIONS",
            Self::Grant(_) => "DELETE, OPTIONS",
        }
    }
}

/// What travels through the provider as `state`. It says nothing of the user.
#[derive(Serialize, Deserialize)]
struct State {
    /// The challenge's id.
    i: String,
    /// A hash of the mark that the browser got.
    b: String,
}

/// The cookie of a browser whose user is done.
const DONE: &str = "done";

/// Why a user did not get through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stop {
    /// The address is not ours, or was changed.
    Forged,
    /// The time is up.
    Expired,
    /// Another site sent the form.
    Foreign,
    /// This is not the browser that went to the provider.
    OtherBrowser,
    /// The provider is no longer configured, or the server has none.
    NoProvider,
    /// The user said no.
    Denied,
    /// The provider refuses the request or the code.
    Refused,
    /// The user did not grant everything.
    TooLittle,
    /// The provider does not answer.
    Away,
    /// The store or the random source failed.
    Broken,
}

impl Stop {
    /// Whether it decides the challenge.
    fn is_final(self) -> bool {
        matches!(self, Self::Denied | Self::Refused | Self::TooLittle)
    }

    fn notice(self) -> Notice {
        let (status, title, text) = match self {
            Self::Forged => (
                400,
                "This address is not valid",
                "Part of it may be missing. Go back to the application and start again.",
            ),
            Self::Expired => (
                400,
                "This took too long",
                "The time to decide is over. Go back to the application and start again.",
            ),
            Self::Foreign => (
                403,
                "This did not start here",
                "Another site sent you here in a way that is not allowed. If you want to go on, \
                 open the address that the application gave you.",
            ),
            Self::OtherBrowser => (
                403,
                "This is not the browser that started",
                "For your safety the authorization must end in the browser where it began, with \
                 cookies allowed. Nothing was granted. If somebody sent you this address, do not \
                 go on.",
            ),
            Self::NoProvider => (
                400,
                "This is no longer possible",
                "The server does not know the service that you were asked to connect.",
            ),
            Self::Denied => (
                403,
                "Not granted",
                "You said no, and nothing was granted. You can close this page.",
            ),
            Self::Refused => (
                400,
                "It did not work",
                "The service refused the authorization, and nothing was granted. Go back to the \
                 application and start again.",
            ),
            Self::TooLittle => (
                400,
                "Not everything was granted",
                "The application needs all of what it asked for, so nothing was kept. Go back to \
                 the application to start again.",
            ),
            Self::Away => (
                502,
                "The service does not answer",
                "Nothing was granted yet. Try again in a moment.",
            ),
            Self::Broken => {
                (503, "It could not be kept", "Nothing was granted yet. Try again in a moment.")
            }
        };
        Notice { status, title, text }
    }
}

impl From<NoTokens> for Stop {
    fn from(why: NoTokens) -> Self {
        match why {
            NoTokens::Refused => Self::Refused,
            NoTokens::Away => Self::Away,
        }
    }
}

impl Challenges {
    /// `GET /auth/start`: says who asks for what.
    pub(crate) fn ask(this: Option<&Self>, query: &str, host: &dyn Host) -> Outbound {
        let question = this.ok_or(Stop::NoProvider).and_then(|this| {
            let token = parameter(query, "c").unwrap_or_default();
            let (claims, provider) = this.pending(&token, host)?;
            let (Addresses::Known { authorize: at, .. } | Addresses::Issuer(at)) =
                &provider.addresses;
            Ok(page::question(&Question {
                token: &token,
                provider: &provider.title,
                provider_address: at,
                application: &claims.o.application,
                user: &claims.o.user,
                tool: &claims.t,
                scopes: &claims.scopes(),
            }))
        });
        question.unwrap_or_else(|stop| page::notice(stop.notice(), None))
    }

    /// `POST /auth/start`: marks the browser and sends it to the provider.
    pub(crate) async fn go(
        this: Option<&Self>,
        (query, headers): (&str, &dyn Headers),
        host: &dyn Host,
    ) -> Outbound {
        let token = parameter(query, "c").unwrap_or_default();
        let way = match this {
            Some(this) => this.way(&token, headers, host).await,
            None => Err(Stop::NoProvider),
        };
        way.unwrap_or_else(|stop| page::notice(stop.notice(), again(stop, &token).as_deref()))
    }

    async fn way(
        &self,
        token: &str,
        headers: &dyn Headers,
        host: &dyn Host,
    ) -> Result<Outbound, Stop> {
        let (claims, provider) = self.pending(token, host)?;
        // Only our own page may send this form, for only that has told the user what it is about.
        let own = match headers.get("sec-fetch-site") {
            Some(site) => site == "same-origin",
            None => headers.get("origin").is_some_and(|origin| origin == self.origin),
        };
        if !own {
            return Err(Stop::Foreign);
        }
        let server = oauth::server(provider, host).await?;
        let mark = random_text(host).map_err(|_| Stop::Broken)?;
        let key = &self.vault.state;
        let state =
            State { i: claims.i.clone(), b: key.hash(Purpose::Browser, &[&claims.i, &mark]) };
        let state = key.sign(Purpose::State, &state, host.now_ms().saturating_add(LIFE_MS));
        let challenge = sha256_base64url(&self.verifier(&claims.i, &mark));
        let (separator, callback) =
            (if server.authorize.contains('?') { '&' } else { '?' }, self.callback());
        let mut query = Serializer::new(String::new());
        query.extend_pairs([
            ("response_type", "code"),
            ("client_id", &provider.client_id),
            ("redirect_uri", &callback),
            ("scope", &claims.scopes().join(" ")),
            ("state", &state),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
        ]);
        query.extend_pairs(provider.extra);
        let location = format!("{}{separator}{}", server.authorize, query.finish());
        Ok(page::redirect(location)
            .with("set-cookie", cookie(&claims.i, &format!("{mark}.{token}"))))
    }

    /// `GET /auth/callback`: the provider sends the user back (RFC 6749, 4.1.2).
    pub(crate) async fn back(
        this: Option<&Self>,
        (query, headers): (&str, &dyn Headers),
        host: &dyn Host,
    ) -> Outbound {
        match this {
            Some(this) => this.arrive(query, headers, host).await,
            None => page::notice(Stop::NoProvider.notice(), None),
        }
    }

    async fn arrive(&self, query: &str, headers: &dyn Headers, host: &dyn Host) -> Outbound {
        let (id, token) = match self.recognise(query, headers, host) {
            Ok(Some(known)) => known,
            Ok(None) => return page::done(),
            Err(stop) => return page::notice(stop.notice(), None),
        };
        let (mark, token) = token.split_once('.').unwrap_or_default();
        match self.conclude(query, (&id, mark, token), host).await {
            Ok(()) => page::done().with("set-cookie", cookie(&id, DONE)),
            Err(stop) => {
                if stop.is_final() {
                    self.vault.fail(&id, Duration::from_millis(LIFE_MS), host).await;
                }
                page::notice(stop.notice(), again(stop, token).as_deref())
            }
        }
    }

    /// The challenge that a browser comes back from, and the cookie that shows that it has been
    /// there; nothing when it was done before.
    fn recognise(
        &self,
        query: &str,
        headers: &dyn Headers,
        host: &dyn Host,
    ) -> Result<Option<(String, String)>, Stop> {
        let key = &self.vault.state;
        let state = parameter(query, "state").unwrap_or_default();
        let state: State = key.open(Purpose::State, &state, host.now_ms())?;
        let cookie = read_cookie(headers, &state.i).ok_or(Stop::OtherBrowser)?;
        if cookie == DONE {
            return Ok(None);
        }
        let mark = cookie.split('.').next().unwrap_or_default();
        if !key.is_hash(Purpose::Browser, &[&state.i, mark], &state.b) {
            return Err(Stop::OtherBrowser);
        }
        Ok(Some((state.i, cookie)))
    }

    async fn conclude(
        &self,
        query: &str,
        (id, mark, token): (&str, &str, &str),
        host: &dyn Host,
    ) -> Result<(), Stop> {
        let (claims, provider) = self.pending(token, host)?;
        if claims.i != id {
            return Err(Stop::Forged);
        }
        match parameter(query, "error").as_deref() {
            None => {}
            Some("access_denied") => return Err(Stop::Denied),
            Some("server_error" | "temporarily_unavailable") => return Err(Stop::Away),
            Some(_) => return Err(Stop::Refused),
        }
        let code = parameter(query, "code").ok_or(Stop::Forged)?;
        let server = oauth::server(provider, host).await?;
        // RFC 9207: the code may be another server's.
        if let (Some(issuer), Some(sent)) = (&server.issuer, parameter(query, "iss"))
            && *issuer != sent
        {
            return Err(Stop::Forged);
        }
        let (callback, verifier) = (self.callback(), self.verifier(id, mark));
        let tokens = server.exchange(provider, (&code, &callback, &verifier), host).await?;
        let grant = Grant::new(tokens, &claims.scopes(), host.now_ms());
        if !grant.covers(&claims.s) {
            return Err(Stop::TooLittle);
        }
        let saved = self.vault.save((&claims.o, &provider.id), &grant, host).await;
        saved.map_err(|_| Stop::Broken)
    }

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

    /// The claims of a challenge that the user still has time for, and its provider.
    fn pending(&self, token: &str, host: &dyn Host) -> Result<(Claims, &Provider), Stop> {
        let now_ms = host.now_ms().saturating_add(LAG_MS);
        let claims: Claims = self.vault.state.open(Purpose::Challenge, token, now_ms)?;
        let provider = self.provider(&claims.p).ok_or(Stop::NoProvider)?;
        Ok((claims, provider))
    }

    fn callback(&self) -> String {
        format!("{}{}", self.origin, Address::Callback.path())
    }

    /// The PKCE verifier: made again when it is needed, from what only this browser brings.
    fn verifier(&self, id: &str, mark: &str) -> String {
        self.vault.state.hash(Purpose::Verifier, &[id, mark])
    }
}

impl From<BadToken> for Stop {
    fn from(why: BadToken) -> Self {
        match why {
            BadToken::Forged => Self::Forged,
            BadToken::Expired => Self::Expired,
        }
    }
}

/// Where to try again what may work the next time.
fn again(stop: Stop, token: &str) -> Option<String> {
    let may = matches!(stop, Stop::Away | Stop::Broken);
    may.then(|| format!("{}?c={token}", Address::Start.path()))
}

/// A field of a query.
fn parameter(query: &str, name: &str) -> Option<String> {
    parse(query.as_bytes()).find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
}

/// Sets the cookie of a challenge. `__Host-` binds it to this host alone; `Lax` lets it come along
/// when the provider sends the user back.
fn cookie(id: &str, value: &str) -> String {
    let seconds = LIFE_MS / 1000;
    format!("{COOKIE}{id}={value}; Max-Age={seconds}; Path=/; Secure; HttpOnly; SameSite=Lax")
}

fn read_cookie(headers: &dyn Headers, id: &str) -> Option<String> {
    let all = headers.get("cookie")?;
    let mut pairs = all.split(';').filter_map(|pair| pair.trim().split_once('='));
    let (_, value) = pairs.find(|(name, _)| name.strip_prefix(COOKIE) == Some(id))?;
    Some(value.to_owned())
}

const COOKIE: &str = "__Host-toolbooth-";
