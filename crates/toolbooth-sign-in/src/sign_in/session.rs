//! The browser's cookies: the session of a person who has signed in, and what binds a consent page to the browser.

use crate::purpose;
use serde::{Deserialize, Serialize};

use super::SignIn;
use super::identity::Identity;
use super::problem::Problem;
use crate::oauth::{CsrfToken, cookie, random_text};
use toolbooth::host::{Host, NoRandomness, StoreError};
use toolbooth::http::Headers;
use toolbooth::principal::Person;
use toolbooth::seal::TokenPurpose;

/// How long a session lasts, in seconds: a working day.
pub(super) const SESSION_SECONDS: u64 = 12 * 3600;
/// How long the browser keeps the token that binds forms to it, in seconds: longer than any form is valid.
const CONSENT_SECONDS: u64 = 24 * 3600;

const SESSION: &str = "session";
const CONSENT: &str = "consent";

/// The session of a browser.
#[derive(Serialize, Deserialize)]
struct Session {
    #[serde(rename = "p")]
    identity: Identity,
    /// A random id.
    #[serde(rename = "i")]
    id: String,
}

impl SignIn {
    fn read_session(&self, headers: &dyn Headers, host: &dyn Host) -> Option<Session> {
        let token = cookie::read(headers, SESSION)?;
        self.keys.open(purpose::SESSION, &token, host.now_ms()).ok()
    }

    /// Who has signed in with this browser, if they still may. None if the store cannot tell whether they have
    /// signed out again.
    pub(super) async fn session(&self, headers: &dyn Headers, host: &dyn Host) -> Option<Identity> {
        let Session { identity, id } = self.read_session(headers, host)?;
        self.permitted(&identity)?;
        let signed_out = self.token_status.is_signed_out(&id, host).await;
        signed_out.is_ok_and(|signed_out| !signed_out).then_some(identity)
    }

    /// The person who has signed in with this browser.
    pub(crate) async fn signed_in(&self, headers: &dyn Headers, host: &dyn Host) -> Option<Person> {
        let identity = self.session(headers, host).await?;
        let own = (self.settings.issuer.clone(), identity.subject());
        let elsewhere = match &identity {
            Identity::Provider(account) => self
                .settings
                .issuer_of(&account.provider)
                .map(|issuer| (issuer, account.id.clone())),
            Identity::ApiKey { .. } | Identity::Access { .. } | Identity::Development => None,
        };
        let subjects = [Some(own), elsewhere].into_iter().flatten().collect();
        let scopes = self.permitted(&identity)?;
        Some(Person { label: identity.label().to_owned(), subjects, scopes })
    }

    /// Ends the session of this browser, and returns the `Set-Cookie` header that removes it.
    pub(crate) async fn sign_out(
        &self,
        headers: &dyn Headers,
        host: &dyn Host,
    ) -> Result<String, StoreError> {
        if let Some(Session { id, .. }) = self.read_session(headers, host) {
            self.token_status.sign_out(&id, host).await?;
        }
        Ok(cookie::set_for(SESSION, "", 0))
    }

    /// The `Set-Cookie` header that begins a session.
    pub(super) fn session_cookie(
        &self,
        identity: &Identity,
        host: &dyn Host,
    ) -> Result<String, Problem> {
        let id = random_text(host).map_err(|_| Problem::Internal)?;
        let session = Session { identity: identity.clone(), id };
        let expires_ms = host.now_ms().saturating_add(SESSION_SECONDS * 1000);
        let token = self.keys.seal(purpose::SESSION, &session, expires_ms);
        Ok(cookie::set_for(SESSION, &token, SESSION_SECONDS))
    }

    /// The token of a form that only this browser may send, and the `Set-Cookie` header that identifies the browser.
    /// `claims` makes the content of the token, with the hash of the browser's own token. All tabs share that, and each
    /// page renews its cookie, which therefore outlives the form.
    pub(super) fn bound_form<T: Serialize>(
        &self,
        (purpose, expires_ms): (TokenPurpose, u64),
        claims: impl FnOnce(String) -> T,
        headers: &dyn Headers,
        host: &dyn Host,
    ) -> Result<(String, String), NoRandomness> {
        let known = cookie::read(headers, CONSENT).filter(|token| token.len() == TOKEN_LENGTH);
        let browser = match known {
            Some(token) => CsrfToken::from_cookie(&token),
            None => CsrfToken::random(host)?,
        };
        let hash = self.keys.hash(purpose::CONSENT_BROWSER, &[browser.expose()]);
        let token = self.keys.seal(purpose, &claims(hash), expires_ms);
        Ok((token, cookie::set_for(CONSENT, browser.expose(), CONSENT_SECONDS)))
    }

    /// Whether a form's hash is that of the browser that sends it.
    pub(super) fn is_same_browser(&self, headers: &dyn Headers, hash: &str) -> bool {
        let Some(token) = cookie::read(headers, CONSENT) else { return false };
        self.keys.verify_hash(purpose::CONSENT_BROWSER, &[&token], hash).is_some()
    }
}

/// The length of a random token.
const TOKEN_LENGTH: usize = 22;
