//! Authentication: turns the credentials of a request into a [`Principal`].
//!
//! If `AUTH` is unset, every list and call gets 401. An invalid variable disables its authentication
//! method, and `/health` reports it.
//!
//! - `api_keys`: API keys, compared by hash;
//! - `jwt`: verifies tokens, with `jws` (their encoding and signatures), `claims` (their rules), `jwks`
//!   (an issuer's keys) and `token_cache` (tokens that were verified); `own_tokens`: those that the server itself issues;
//!   `assertion`: tokens of others;
//! - `dpop`: proofs of the senders of tokens that are bound to a key.

mod api_keys;
mod assertion;
mod claims;
mod dpop;
mod jwks;
mod jws;
mod jwt;
mod own_tokens;
mod token_cache;

use crate::host::{Host, boxed};
use crate::http::Headers;
use crate::principal::{Principal, Scopes};
use crate::settings::{AuthSettings, Settings};
use claims::Verified;
use dpop::BoundToken;
use jwt::JwtVerifier;

pub use api_keys::ApiKeys;
pub use api_keys::key_hash;
pub use assertion::{AssertionVerifier, DescriptionVerifier, received_claims, unverified_claim};
pub use dpop::{PROOF_ALGORITHMS, ProofError, ProofVerifier, Target, ValidProof};
pub use jwks::has_verification_key;
pub use own_tokens::{CLIENT_REF, GRANT, HOLDER, OwnTokens, Permitted, TokenHolders};

/// The longest credential that is read, in bytes.
pub const MAX_CREDENTIAL: usize = 8 * 1024;

/// The `Vary` header of responses that depend on the caller.
pub const VARY: &str = "Authorization, OTC-API-Key, OXP-API-Key, X-API-Key, X-Auth-Token";

const CLOSED: &str = "the server accepts no callers yet; its log names the variables to set";

/// Why a request is not authenticated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum AuthError {
    /// The request has no credentials, or the server accepts none.
    Missing {
        /// What to send, for the client.
        expected: &'static str,
    },
    /// The request's credentials are rejected.
    Invalid {
        /// Why, for the client. It gives nothing away before a signature has been verified.
        reason: &'static str,
    },
    /// The request's token is bound to a key, or should be, and is rejected (RFC 9449, 7.1).
    Proof {
        /// The code of the challenge: `invalid_token`, `invalid_dpop_proof` or `use_dpop_nonce`.
        error: &'static str,
        /// Why, for the client.
        reason: &'static str,
    },
    /// The keys that could verify the token cannot be fetched.
    KeysUnavailable,
    /// Whether a proof was used before cannot be found out now.
    LedgerUnavailable,
}

impl AuthError {
    /// The credentials are rejected without a reason, as before a signature has been verified.
    pub(super) const INVALID: Self = Self::invalid("the credentials are not valid");

    pub(super) const fn invalid(reason: &'static str) -> Self {
        Self::Invalid { reason }
    }

    const fn unbound(reason: &'static str) -> Self {
        Self::Proof { error: "invalid_token", reason }
    }
}

impl From<ProofError> for AuthError {
    fn from(error: ProofError) -> Self {
        match error {
            ProofError::Invalid(reason) => Self::Proof { error: "invalid_dpop_proof", reason },
            ProofError::Nonce => Self::Proof {
                error: "use_dpop_nonce",
                reason: "the proof must have the nonce of the header DPoP-Nonce",
            },
            ProofError::Unavailable => Self::LedgerUnavailable,
        }
    }
}

/// Who has sent a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Authenticated {
    /// The sender.
    pub principal: Principal,
    /// Whether the sender has proven possession of the key that the token is bound to.
    pub is_bound: bool,
}

impl From<Principal> for Authenticated {
    fn from(principal: Principal) -> Self {
        Self { principal, is_bound: false }
    }
}

/// Authenticates requests by the methods that are enabled.
#[derive(Debug)]
pub struct Authenticator {
    /// The scopes of requests without credentials, if they are accepted.
    anonymous: Option<Scopes>,
    api_keys: Option<ApiKeys>,
    tokens: Option<JwtVerifier>,
    /// Verifies the proofs of clients whose tokens are bound to a key, if the server knows its address.
    proofs: Option<ProofVerifier>,
}

impl Authenticator {
    /// An authenticator with the methods that `settings` enable. `own` describes the tokens that the server itself
    /// issues, if people sign in to it.
    pub fn new(settings: &Settings, own: Option<&OwnTokens>) -> Self {
        let AuthSettings { anonymous, api_keys, jwt, .. } = &settings.auth;
        let has_tokens = jwt.is_some() || own.is_some();
        let tokens = has_tokens.then(|| JwtVerifier::new(jwt.as_ref(), own));
        Self {
            anonymous: anonymous.clone(),
            api_keys: api_keys.as_deref().map(ApiKeys::new),
            proofs: tokens.as_ref().and_then(|_| ProofVerifier::new(settings)),
            tokens,
        }
    }

    /// What verifies proofs of possession, if tokens can be bound to keys.
    pub fn proofs(&self) -> Option<&ProofVerifier> {
        self.proofs.as_ref()
    }

    /// Whether responses are the same for every caller, because credentials are not read.
    pub fn is_same_for_all(&self) -> bool {
        self.anonymous.is_some() && self.api_keys.is_none() && self.tokens.is_none()
    }

    /// Finds out who sent a request. A proof of possession must be for `target`.
    ///
    /// Of several credentials the first one counts: `OXP-API-Key`, `OTC-API-Key`, `Authorization`, `X-API-Key`,
    /// `X-Auth-Token`. A bearer value is an API key if it is one of them, else a token. If `none` is the only
    /// method, no header is read (X35, T36); if it is one of several, credentials that are sent must be valid. A token that is
    /// bound to a key needs the scheme `DPoP` and a proof (RFC 9449, 7).
    ///
    /// # Errors
    /// [`AuthError::Missing`] and [`AuthError::Invalid`] (X37, X41); [`AuthError::Proof`];
    /// [`AuthError::KeysUnavailable`] if an issuer's keys cannot be fetched.
    pub async fn authenticate(
        &self,
        target: Target<'_>,
        headers: &dyn Headers,
        host: &dyn Host,
    ) -> Result<Authenticated, AuthError> {
        if self.api_keys.is_none() && self.tokens.is_none() {
            return self.anonymous(CLOSED).map(Authenticated::from);
        }
        if let Some(principal) = self.by_key(headers, ["oxp-api-key", "otc-api-key"]) {
            return principal.map(Authenticated::from);
        }
        let Some(header) = headers.get("authorization") else {
            // Some clients let their users set these headers only. Read last: every header read is a call into JS.
            let principal = self.by_key(headers, ["x-api-key", "x-auth-token"]);
            let principal = principal.unwrap_or_else(|| self.anonymous(self.expected()));
            return principal.map(Authenticated::from);
        };
        if let Some(token) = of_scheme("dpop", &header) {
            let token = capped(token).ok_or(AuthError::INVALID)?;
            return boxed(self.by_proof(token, target, headers, host)).await;
        }
        let credential = of_scheme("bearer", &header).and_then(capped).ok_or(AuthError::INVALID)?;
        // A known token first: to hash it as an API key costs more than the rest.
        let known = self.tokens.as_ref().and_then(|tokens| tokens.cached(credential, host));
        let by_key = || self.api_keys.as_ref().and_then(|keys| keys.principal(credential));
        let verified = match known {
            Some(verified) => verified,
            None => {
                if let Some(principal) = by_key() {
                    return Ok(principal.into());
                }
                let tokens = self.tokens.as_ref().ok_or(AuthError::INVALID)?;
                boxed(tokens.verify(credential, host)).await?
            }
        };
        match verified.thumbprint {
            None => Ok(verified.principal.into()),
            // A copy of the token would be enough otherwise (RFC 9449, 7.2).
            Some(_) => Err(AuthError::invalid(
                "the token is bound to a key, and needs the scheme DPoP and a proof",
            )),
        }
    }

    /// The sender of a token with a proof that it has the key that the token is bound to.
    async fn by_proof(
        &self,
        token: &str,
        target: Target<'_>,
        headers: &dyn Headers,
        host: &dyn Host,
    ) -> Result<Authenticated, AuthError> {
        let (Some(tokens), Some(proofs)) = (&self.tokens, &self.proofs) else {
            return Err(AuthError::INVALID);
        };
        let Verified { principal, thumbprint } = match tokens.cached(token, host) {
            Some(verified) => verified,
            None => tokens.verify(token, host).await.map_err(|error| match error {
                AuthError::Invalid { reason } => AuthError::unbound(reason),
                other => other,
            })?,
        };
        let thumbprint = thumbprint
            .ok_or(AuthError::unbound("the token is not bound to a key: use the scheme Bearer"))?;
        let proof = headers.get("dpop").ok_or(ProofError::Invalid("the header DPoP is missing"))?;
        let bound = BoundToken { token, thumbprint: &thumbprint };
        proofs.verify_bound(&proof, target, bound, host).await?;
        Ok(Authenticated { principal, is_bound: true })
    }

    /// The holder of the key in the first of these headers that is present; `None` if there is none, or keys are not
    /// accepted.
    fn by_key(
        &self,
        headers: &dyn Headers,
        names: [&str; 2],
    ) -> Option<Result<Principal, AuthError>> {
        let api_keys = self.api_keys.as_ref()?;
        let key = names.into_iter().find_map(|name| headers.get(name))?;
        let principal = capped(&key).and_then(|key| api_keys.principal(key));
        Some(principal.ok_or(AuthError::INVALID))
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
            (_, None) => "send an API key: Authorization: Bearer … or X-API-Key",
        }
    }
}

/// The issuer of the principals of tokens that the server itself has issued at `public_url`.
pub fn own_issuer(public_url: &str) -> String {
    claims::Signer::SignIn.issuer(Some(public_url))
}

/// The issuer of the principals of tokens that an issuer who publishes its keys has issued.
pub fn issuer_of_tokens(issuer: &str) -> String {
    claims::Signer::Issuer.issuer(Some(issuer))
}

/// The value of an `Authorization` header of this scheme, whose case does not matter.
fn of_scheme<'h>(expected: &str, header: &'h str) -> Option<&'h str> {
    let (scheme, value) = header.trim().split_once(' ')?;
    scheme.eq_ignore_ascii_case(expected).then(|| value.trim())
}

fn capped(credential: &str) -> Option<&str> {
    (credential.len() <= MAX_CREDENTIAL).then_some(credential)
}

#[cfg(test)]
mod tests;
