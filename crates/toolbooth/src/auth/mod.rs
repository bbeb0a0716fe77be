//! Authentication: turns the credentials of a request into a [`Principal`].
//!
//! If `AUTH` is unset, every list and call gets 401. An invalid variable disables its authentication
//! method, and `/health` reports it.
//!
//! - `api_keys`: API keys, compared by hash;
//! - `jwt`: verifies tokens, with `jws` (their encoding and signatures), `claims` (their rules), `jwks`
//!   (an issuer's keys) and `token_cache` (tokens that were verified); `assertion`: tokens of others.

mod api_keys;
#[cfg(feature = "sign-in")]
mod assertion;
mod claims;
mod error;
mod jwks;
mod jws;
mod jwt;
mod token_cache;

pub use error::AuthError;

use crate::host::{Host, boxed};
use crate::http::Headers;
use crate::principal::{Principal, Scopes};
use crate::settings::AuthSettings;
use crate::settings::JwtSettings;
use jwt::JwtVerifier;

pub(crate) use api_keys::ApiKeys;
#[cfg(feature = "sign-in")]
pub(crate) use assertion::{AssertionVerifier, unverified_subject};

/// The longest credential that is read, in bytes.
const MAX_CREDENTIAL: usize = 8 * 1024;

/// The `Vary` header of responses that depend on the caller.
pub const VARY: &str = "Authorization, OTC-API-Key, OXP-API-Key";

const CLOSED: &str = "the server accepts no callers yet; its log names the variables to set";

/// Authenticates requests by the methods that are enabled.
#[derive(Debug)]
pub struct Authenticator {
    /// The scopes of requests without credentials, if they are accepted.
    anonymous: Option<Scopes>,
    api_keys: Option<ApiKeys>,
    tokens: Option<JwtVerifier>,
}

impl Authenticator {
    /// An authenticator with the methods that `settings` enable. `own` describes the tokens that the server itself
    /// issues, if people sign in to it.
    pub fn new(settings: &AuthSettings, own: Option<&JwtSettings>) -> Self {
        Self {
            anonymous: settings.anonymous.clone(),
            api_keys: settings.api_keys.as_deref().map(ApiKeys::new),
            tokens: JwtVerifier::new(settings.jwt.as_ref(), own),
        }
    }

    /// Whether responses are the same for every caller, because credentials are not read.
    pub fn is_same_for_all(&self) -> bool {
        self.anonymous.is_some() && self.api_keys.is_none() && self.tokens.is_none()
    }

    /// Finds out who sent a request.
    ///
    /// Of several credentials the first one counts: `OXP-API-Key`, `OTC-API-Key`, `Authorization`. A
    /// bearer value is an API key if it is one of them, else a token. If `none` is the only method,
    /// no header is read (X35, T36); if it is one of several, credentials that are sent must be valid.
    ///
    /// # Errors
    /// [`AuthError::Missing`] and [`AuthError::Invalid`] (X37, X41); [`AuthError::KeysUnavailable`] if
    /// an issuer's keys cannot be fetched.
    pub async fn authenticate(
        &self,
        headers: &dyn Headers,
        host: &dyn Host,
    ) -> Result<Principal, AuthError> {
        if self.api_keys.is_none() && self.tokens.is_none() {
            return self.anonymous(CLOSED);
        }
        if let Some(api_keys) = &self.api_keys {
            let key = headers.get("oxp-api-key").or_else(|| headers.get("otc-api-key"));
            if let Some(key) = key {
                let principal = capped(&key).and_then(|key| api_keys.principal(key));
                return principal.ok_or(AuthError::INVALID);
            }
        }
        let Some(header) = headers.get("authorization") else {
            return self.anonymous(self.expected());
        };
        let credential = bearer(&header).and_then(capped).ok_or(AuthError::INVALID)?;
        let by_key = self.api_keys.as_ref().and_then(|keys| keys.principal(credential));
        if let Some(principal) = by_key {
            return Ok(principal);
        }
        let tokens = self.tokens.as_ref().ok_or(AuthError::INVALID)?;
        match tokens.cached(credential, host) {
            Some(principal) => Ok(principal),
            None => boxed(tokens.verify(credential, host)).await,
        }
    }

    /// The sender of a request without credentials. `expected` is what to send if such requests are
    /// not accepted.
    fn anonymous(&self, expected: &'static str) -> Result<Principal, AuthError> {
        let scopes = self.anonymous.clone().ok_or(AuthError::Missing { expected })?;
        Ok(Principal::Anonymous { scopes })
    }

    /// The credentials that a request without any should have.
    fn expected(&self) -> &'static str {
        match (&self.api_keys, &self.tokens) {
            (Some(_), Some(_)) => "send an API key or a token: Authorization: Bearer …",
            (None, _) => "send a token: Authorization: Bearer …",
            (_, None) => "send an API key: OXP-API-Key, OTC-API-Key or Authorization: Bearer …",
        }
    }
}

/// The value of an `Authorization` header of the scheme `Bearer`, whose case does not matter.
fn bearer(header: &str) -> Option<&str> {
    let (scheme, value) = header.trim().split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| value.trim())
}

fn capped(credential: &str) -> Option<&str> {
    (credential.len() <= MAX_CREDENTIAL).then_some(credential)
}

#[cfg(test)]
mod tests;
