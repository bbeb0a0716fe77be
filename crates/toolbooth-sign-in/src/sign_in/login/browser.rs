//! The cookies of browsers: the session of a person who has signed in, and what binds forms to one browser and person.

use std::time::Duration;

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
pub(super) const SESSION_SECONDS: u64 = 12 * 3600;

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

    /// The `Set-Cookie` header that begins a session.
    pub(crate) fn begin_session(
        &self,
        identity: &Identity,
        host: &dyn Host,
    ) -> Result<String, Problem> {
        let session = Session { identity: identity.clone(), id: random_text(host)? };
        let expires_ms = host.now_ms().saturating_add(SESSION_SECONDS * 1000);
        let token = self.keys.seal(purpose::SESSION, &session, expires_ms);
        Ok(cookie::set_for(COOKIE, &token, SESSION_SECONDS))
    }
}

/// The cookie of the token that binds forms to the browser.
const BROWSER: &str = "consent";
/// How long the browser keeps it, in seconds: longer than any form is valid.
const BROWSER_SECONDS: u64 = 24 * 3600;
/// The length of a random token.
const TOKEN_LENGTH: usize = 22;

/// The content of the token of a form on the page of an account.
#[derive(Serialize, Deserialize)]
struct AccountForm {
    /// The hash of the browser's token.
    #[serde(rename = "b")]
    browser: String,
    /// The person whose page it is.
    #[serde(rename = "s")]
    subject: String,
}

fn subject(person: &Person) -> &str {
    person.subjects.first().map(|(_, subject)| subject.as_str()).unwrap_or_default()
}

impl Login {
    /// Whether a form was sent by a page of the server.
    pub(crate) fn is_own_form(&self, headers: &dyn Headers) -> bool {
        is_same_origin(headers, &self.settings.public_url)
    }

    /// The token of a form that only this browser may send, and the `Set-Cookie` header that identifies the browser.
    /// `claims` makes the content of the token, with the hash of the browser's own token. All tabs share that, and each
    /// page renews its cookie, which therefore outlives the form.
    pub(crate) fn bound_form<T: Serialize>(
        &self,
        (purpose, life_ms): (TokenPurpose, u64),
        claims: impl FnOnce(String) -> T,
        RouteRequest { headers, host, .. }: &RouteRequest<'_>,
    ) -> Result<(String, String), NoRandomness> {
        let known = cookie::read(*headers, BROWSER).filter(|token| token.len() == TOKEN_LENGTH);
        let browser = known.map_or_else(|| random_text(*host), Ok)?;
        let hash = self.keys.hash(purpose::CONSENT_BROWSER, &[&browser]);
        let expires_ms = host.now_ms().saturating_add(life_ms);
        let token = self.keys.seal(purpose, &claims(hash), expires_ms);
        Ok((token, cookie::set_for(BROWSER, &browser, BROWSER_SECONDS)))
    }

    /// Whether a form's hash is that of the browser that sends it.
    pub(crate) fn is_same_browser(&self, headers: &dyn Headers, hash: &str) -> bool {
        let Some(token) = cookie::read(headers, BROWSER) else { return false };
        self.keys.verify_hash(purpose::CONSENT_BROWSER, &[&token], hash).is_some()
    }

    /// The token of the forms on the page of an account, and the `Set-Cookie` header of their browser.
    pub(crate) fn account_form(
        &self,
        person: &Person,
        request: &RouteRequest<'_>,
    ) -> Result<(String, String), NoRandomness> {
        let form = |browser| AccountForm { browser, subject: subject(person).to_owned() };
        self.bound_form((purpose::ACCOUNT_FORM, SESSION_SECONDS * 1000), form, request)
    }

    /// Whether a form was made for this browser and this person.
    pub(crate) fn is_account_form(
        &self,
        token: &str,
        person: &Person,
        request: &RouteRequest<'_>,
    ) -> bool {
        let form = self.keys.open(purpose::ACCOUNT_FORM, token, request.host.now_ms());
        form.is_ok_and(|form: AccountForm| {
            form.subject == subject(person) && self.is_same_browser(request.headers, &form.browser)
        })
    }
}
