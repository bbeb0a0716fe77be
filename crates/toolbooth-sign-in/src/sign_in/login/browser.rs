//! The cookies of browsers: the session of a person who has signed in, and what binds forms to one browser and person.

use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{Identity, Login, Problem};
use crate::oauth::{cookie, random_text, store};
use crate::purpose;
use crate::sign_in::marks::Mark;
use toolbooth::host::{Host, NoRandomness};
use toolbooth::http::{Headers, is_same_origin};
use toolbooth::principal::Person;
use toolbooth::route::RouteRequest;
use toolbooth::seal::TokenPurpose;

/// How long a session lasts, in seconds: a working day.
pub(crate) const SESSION_SECONDS: u64 = 12 * 3600;

const COOKIE: &str = "session";

/// A session was ended by signing out.
const SIGNED_OUT: Mark =
    Mark { prefix: "signed-out", life: Duration::from_secs(SESSION_SECONDS + 3600) };

#[derive(Serialize, Deserialize)]
struct Session {
    #[serde(rename = "p")]
    identity: Identity,
    #[serde(rename = "i")]
    id: String,
}

impl Login {
    fn read_session(&self, headers: &dyn Headers, host: &dyn Host) -> Option<Session> {
        let token = cookie::read(headers, COOKIE)?;
        self.keys.open(purpose::SESSION, &token, host.now_ms()).ok()
    }

    /// Who has signed in with this browser, if they still may, and the store says that they have not signed out.
    pub(crate) async fn session(&self, headers: &dyn Headers, host: &dyn Host) -> Option<Identity> {
        let Session { identity, id } = self.read_session(headers, host)?;
        self.permitted(&identity)?;
        let signed_out = self.marks.is_set(&SIGNED_OUT, &id, host).await;
        signed_out.is_ok_and(|signed_out| !signed_out).then_some(identity)
    }

    pub(crate) async fn signed_in(&self, headers: &dyn Headers, host: &dyn Host) -> Option<Person> {
        self.person_of(&self.session(headers, host).await?)
    }

    /// A person who may sign in, with the names that tokens have for them.
    pub(crate) fn person_of(&self, identity: &Identity) -> Option<Person> {
        let mut subjects = vec![(self.settings.issuer.clone(), identity.subject())];
        if let Identity::Provider(account) = identity {
            let issuer = self.settings.issuer_of(&account.provider);
            subjects.extend(issuer.map(|issuer| (issuer, account.id.clone())));
        }
        let scopes = self.permitted(identity)?;
        Some(Person { label: identity.label().to_owned(), subjects, scopes })
    }

    /// Ends the session of this browser, and returns the `Set-Cookie` header that removes it.
    pub(crate) async fn sign_out(
        &self,
        headers: &dyn Headers,
        host: &dyn Host,
    ) -> store::Result<String> {
        // A copy of the cookie is invalid from now on.
        if let Some(Session { id, .. }) = self.read_session(headers, host) {
            self.marks.set(&SIGNED_OUT, &id, "1", host).await?;
        }
        Ok(cookie::set_for(COOKIE, "", 0))
    }

    /// The `Set-Cookie` header that begins a session. A browser would not keep one that is too long, and it would not be opened.
    pub(crate) fn begin_session(
        &self,
        identity: &Identity,
        host: &dyn Host,
    ) -> Result<String, Problem> {
        let session = Session { identity: identity.clone(), id: random_text(host)? };
        let expires_ms = host.now_ms().saturating_add(SESSION_SECONDS * 1000);
        let token = self.keys.seal(purpose::SESSION, &session, expires_ms);
        // Nothing else of an account is that long.
        if token.len() > purpose::SESSION.longest() {
            return Err(Problem::TOO_MANY_GROUPS);
        }
        Ok(cookie::set_for(COOKIE, &token, SESSION_SECONDS))
    }
}

/// The cookie of the token that binds forms to the browser.
const BROWSER: &str = "consent";
/// How long the browser keeps it, in seconds: longer than any form is valid.
const BROWSER_SECONDS: u64 = 24 * 3600;
/// The length of a random token.
const TOKEN_LENGTH: usize = 22;

/// A form that only one browser may send.
#[derive(Serialize, Deserialize)]
struct BoundForm<T> {
    /// The hash of the browser's token.
    #[serde(rename = "b")]
    browser: String,
    #[serde(rename = "c")]
    content: T,
}

impl Login {
    /// The token of a form that only this browser may send, and the `Set-Cookie` header that identifies the browser. All
    /// tabs share its own token, and each page renews its cookie, which therefore outlives the form.
    pub(crate) fn bound_form(
        &self,
        (purpose, life_ms): (TokenPurpose, u64),
        content: impl Serialize,
        RouteRequest { headers, host, .. }: &RouteRequest<'_>,
    ) -> Result<(String, String), NoRandomness> {
        let known = cookie::read(*headers, BROWSER).filter(|token| token.len() == TOKEN_LENGTH);
        let token = known.map_or_else(|| random_text(*host), Ok)?;
        let browser = self.keys.hash(purpose::CONSENT_BROWSER, &[&token]);
        let expires_ms = host.now_ms().saturating_add(life_ms);
        let form = self.keys.seal(purpose, &BoundForm { browser, content }, expires_ms);
        Ok((form, cookie::set_for(BROWSER, &token, BROWSER_SECONDS)))
    }

    /// The content of a form that a page of this server has sent, from the browser that it was made for: only our own page
    /// has shown what the form does.
    pub(crate) fn open_form<T: DeserializeOwned>(
        &self,
        purpose: TokenPurpose,
        form: &str,
        RouteRequest { headers, host, .. }: &RouteRequest<'_>,
    ) -> Result<T, Problem> {
        if !is_same_origin(*headers, &self.settings.public_url) {
            return Err(Problem::CROSS_SITE);
        }
        let BoundForm { browser, content } = self.keys.open(purpose, form, host.now_ms())?;
        let token = cookie::read(*headers, BROWSER).unwrap_or_default();
        let key = self.keys.verify_hash(purpose::CONSENT_BROWSER, &[&token], &browser);
        key.map(|_| content).ok_or(Problem::OTHER_BROWSER)
    }
}
