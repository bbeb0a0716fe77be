//! Forms that only the server's own page may send, in the same browser and for the same person.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::Login;
use super::session::SESSION_SECONDS;
use crate::oauth::{cookie, random_text};
use crate::purpose;
use toolbooth::host::{Host, NoRandomness};
use toolbooth::http::{Headers, is_same_origin};
use toolbooth::principal::Person;
use toolbooth::route::RouteRequest;
use toolbooth::seal::{InvalidToken, TokenPurpose};

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

    /// The content of such a token.
    pub(crate) fn open_form<T: DeserializeOwned>(
        &self,
        purpose: TokenPurpose,
        token: &str,
        host: &dyn Host,
    ) -> Result<T, InvalidToken> {
        self.keys.open(purpose, token, host.now_ms())
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
        let form = self.open_form(purpose::ACCOUNT_FORM, token, request.host);
        form.is_ok_and(|form: AccountForm| {
            form.subject == subject(person) && self.is_same_browser(request.headers, &form.browser)
        })
    }
}
