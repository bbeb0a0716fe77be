//! Who calls: the credentials of a request become a [`Principal`], or the request is turned away.
//!
//! `AUTH` names the ways that are open: `none`, `api-key`, `jwt`, or several of them. Unset, all are
//! shut: a Worker that nobody has configured serves nobody. A wrong variable shuts the way that it
//! belongs to, and the log names it.

mod jwks;
mod jwt;
mod keys;
pub mod resource;
mod seen;

use crate::principal::Scopes;
pub use resource::Resource;

use crate::principal::Principal;

use crate::call::Rejection;
use crate::host::{Host, Variables, rare};
use crate::http::Headers;
use jwt::JwtVerifier;
use keys::Keys;

/// The longest credential that is looked at, in bytes. Longer ones cost nothing but their length.
const MAX_CREDENTIAL: usize = 8 * 1024;

/// What a `Vary` header must name where the answer depends on the caller.
pub const VARY: &str = "Authorization, OTC-API-Key, OXP-API-Key";

const CLOSED: &str = "the server is not configured to let anybody in; its log says what to set";
const INVALID: &str = "the credentials are not valid";

/// The ways in.
#[derive(Debug)]
pub struct Authenticator {
    /// What a request without credentials may do, if it is served.
    anonymous: Option<Scopes>,
    keys: Option<Keys>,
    tokens: Option<JwtVerifier>,
}

impl Authenticator {
    /// Reads `AUTH` and the variables of each way that it opens; what is wrong is added to
    /// `problems`, in words for the operator.
    pub fn read(source: &dyn Variables, problems: &mut Vec<String>) -> Self {
        let mut access = Self { anonymous: None, keys: None, tokens: None };
        let ways = source.variable("AUTH").unwrap_or_default();
        let mut known = false;
        for way in ways.split(',').map(str::trim) {
            known = true;
            match way {
                "none" => access.anonymous = anonymous_scopes(source, problems),
                "api-key" => access.keys = Some(Keys::read(source, problems)),
                "jwt" => access.tokens = Some(JwtVerifier::read(source, problems)),
                _ => {
                    known = false;
                    break;
                }
            }
        }
        if known {
            return access;
        }
        problems.push(
            "AUTH must say who may call: api-key, jwt, none, or several with commas between"
                .to_owned(),
        );
        Self { anonymous: None, keys: None, tokens: None }
    }

    /// Whether a request without credentials is served.
    pub fn lets_strangers_in(&self) -> bool {
        self.anonymous.is_some()
    }

    /// Whether answers are the same for every caller, because no credentials are looked at.
    pub fn is_same_for_all(&self) -> bool {
        self.anonymous.is_some() && self.keys.is_none() && self.tokens.is_none()
    }

    /// Finds out who sent a request.
    ///
    /// Of several credentials the first counts: `OXP-API-Key`, `OTC-API-Key`, `Authorization`. A
    /// bearer value is an API key if it is one of them, else a token. With `none` alone no header is
    /// read (X35, T36); with `none` among others, credentials that are sent must be good.
    ///
    /// # Errors
    /// [`Rejection::Unauthenticated`] (X37, X41); [`Rejection::Unavailable`] when the keys that could
    /// verify a token cannot be had.
    pub async fn authenticate(
        &self,
        headers: &dyn Headers,
        host: &dyn Host,
    ) -> Result<Principal, Rejection> {
        if self.keys.is_none() && self.tokens.is_none() {
            return self.anonymous().ok_or_else(|| unasked(CLOSED));
        }
        if let Some(keys) = &self.keys {
            let key = headers.get("oxp-api-key").or_else(|| headers.get("otc-api-key"));
            if let Some(key) = key {
                return capped(&key).and_then(|key| keys.principal(key)).ok_or_else(invalid);
            }
        }
        let Some(sent) = headers.get("authorization") else {
            return self.anonymous().ok_or_else(|| unasked(self.wanted()));
        };
        let Some(credential) = bearer(&sent).and_then(capped) else { return Err(invalid()) };
        if let Some(principal) = self.keys.as_ref().and_then(|keys| keys.principal(credential)) {
            return Ok(principal);
        }
        match &self.tokens {
            Some(tokens) => match tokens.known(credential, host) {
                Some(principal) => Ok(principal),
                None => rare(tokens.verify(credential, host)).await,
            },
            None => Err(invalid()),
        }
    }

    /// Who sent a request without credentials, if it is served.
    fn anonymous(&self) -> Option<Principal> {
        self.anonymous.clone().map(|scopes| Principal::Anonymous { scopes })
    }

    /// What a request without credentials should have brought.
    fn wanted(&self) -> &'static str {
        match (&self.keys, &self.tokens) {
            (Some(_), Some(_)) => "send an API key or a token: Authorization: Bearer …",
            (None, _) => "send a token: Authorization: Bearer …",
            (_, None) => "send an API key: OXP-API-Key, OTC-API-Key or Authorization: Bearer …",
        }
    }
}

/// Reads `ANONYMOUS_SCOPES`: scopes with commas between, `*` for all. Not set or empty means none, so
/// that a server which is open to everybody serves only the tools that ask for no scope. A wrong
/// value shuts the way `none`.
fn anonymous_scopes(source: &dyn Variables, problems: &mut Vec<String>) -> Option<Scopes> {
    let listed = source.variable("ANONYMOUS_SCOPES").unwrap_or_default();
    if listed.trim().is_empty() {
        return Some(Scopes::NONE);
    }
    let scopes = Scopes::read(listed.split(',').map(str::trim));
    if scopes.is_none() {
        problems.push("ANONYMOUS_SCOPES must be * or scopes with commas between".to_owned());
    }
    scopes
}

/// The value of an `Authorization` header of the scheme `Bearer`, whose name may be in any case.
fn bearer(header: &str) -> Option<&str> {
    let (scheme, value) = header.trim().split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| value.trim())
}

fn capped(credential: &str) -> Option<&str> {
    (credential.len() <= MAX_CREDENTIAL).then_some(credential)
}

/// No credentials were sent, or none could be good.
fn unasked(reason: &'static str) -> Rejection {
    Rejection::Unauthenticated { reason, sent: false }
}

/// Credentials were sent, and they are no good. Nothing more is told before they have proved to be
/// the issuer's own.
fn invalid() -> Rejection {
    rejected(INVALID)
}

/// Credentials were sent, and they are refused for this reason.
fn rejected(reason: &'static str) -> Rejection {
    Rejection::Unauthenticated { reason, sent: true }
}

#[cfg(test)]
mod tests;
