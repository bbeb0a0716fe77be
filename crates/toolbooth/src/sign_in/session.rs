//! The browser's cookies: the session of somebody who has signed in, and what binds a consent page to the browser.

use serde::{Deserialize, Serialize};

use super::SignIn;
use super::identity::Identity;
use crate::host::{Host, NoRandomness};
use crate::http::Headers;
use crate::oauth::{CsrfToken, TokenPurpose, cookie};

/// How long a session lasts, in seconds: a working day.
const SESSION_SECONDS: u64 = 12 * 3600;
/// How long the browser keeps the token of its consent pages, in seconds.
const CONSENT_SECONDS: u64 = 24 * 3600;

const SESSION: &str = "session";
const CONSENT: &str = "consent";

/// The session of a browser.
#[derive(Serialize, Deserialize)]
struct Session {
    #[serde(rename = "p")]
    identity: Identity,
}

impl SignIn {
    /// Who has signed in with this browser, if they still may.
    pub(super) fn session(&self, headers: &dyn Headers, host: &dyn Host) -> Option<Identity> {
        let token = cookie::read(headers, SESSION)?;
        let session = self.keys.open(TokenPurpose::Session, &token, host.now_ms());
        let Session { identity } = session.ok()?;
        self.permitted(&identity).map(|_| identity)
    }

    /// The `Set-Cookie` header that begins a session.
    pub(super) fn session_cookie(&self, identity: &Identity, host: &dyn Host) -> String {
        let session = Session { identity: identity.clone() };
        let expires_ms = host.now_ms().saturating_add(SESSION_SECONDS * 1000);
        let token = self.keys.seal(TokenPurpose::Session, &session, expires_ms);
        cookie::set_for(SESSION, &token, SESSION_SECONDS)
    }

    /// The token that binds consent pages to this browser, and the `Set-Cookie` header if it is new. All tabs share it.
    pub(super) fn browser(
        &self,
        headers: &dyn Headers,
        host: &dyn Host,
    ) -> Result<(CsrfToken, Option<String>), NoRandomness> {
        let known = cookie::read(headers, CONSENT).filter(|token| token.len() == TOKEN_LENGTH);
        if let Some(token) = known {
            return Ok((CsrfToken::from_cookie(&token), None));
        }
        let token = CsrfToken::random(host)?;
        let cookie = cookie::set_for(CONSENT, token.expose(), CONSENT_SECONDS);
        Ok((token, Some(cookie)))
    }

    /// Whether a form's hash is that of the browser that sends it.
    pub(super) fn is_same_browser(&self, headers: &dyn Headers, hash: &str) -> bool {
        let Some(token) = cookie::read(headers, CONSENT) else { return false };
        self.keys.maker(TokenPurpose::ConsentBrowser, &[&token], hash).is_some()
    }

    /// The hash of a browser's token, for the form.
    pub(super) fn browser_hash(&self, token: &CsrfToken) -> String {
        self.keys.hash(TokenPurpose::ConsentBrowser, &[token.expose()])
    }
}

/// The length of a random token.
const TOKEN_LENGTH: usize = 22;
