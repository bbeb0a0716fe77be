//! Verifies tokens of others that are no access tokens: Cloudflare Access's, and those with which clients authenticate.

use super::AuthError;
use super::claims::{ClaimRules, Signer};
use super::jwks::{FetchPolicy, Jwks};
use super::jws::DecodedToken;
use crate::host::Host;
use crate::json::{Object, Value};

/// The longest assertion that is read, in bytes.
const MAX_ASSERTION: usize = 8 * 1024;

/// Verifies the tokens of one issuer.
#[derive(Debug)]
pub struct AssertionVerifier {
    jwks: Jwks,
    rules: ClaimRules,
}

impl AssertionVerifier {
    /// A verifier of tokens of `issuer` for one of `audiences`, signed with a key that `jwks_url` publishes.
    pub fn new(jwks_url: String, issuer: String, audiences: Vec<String>) -> Self {
        let (tenant_claim, tenants) = (None, Vec::new());
        let rules =
            ClaimRules { audiences, issuer: Some(issuer), leeway: 30, tenant_claim, tenants };
        Self { jwks: Jwks::new(jwks_url), rules }
    }

    /// The claims of a token that is valid now.
    ///
    /// # Errors
    /// [`AuthError::Invalid`], or [`AuthError::KeysUnavailable`] if the keys cannot be fetched.
    pub async fn verify(&self, token: &str, host: &dyn Host) -> Result<Object<'static>, AuthError> {
        let decoded = decode(token).ok_or(AuthError::INVALID)?;
        // Checking claims is cheap: only a token with valid ones is worth a fetch.
        self.rules.check(&decoded, Signer::Issuer, host.now_ms() / 1000)?;
        let policy = FetchPolicy::IfNeeded;
        match decoded.is_signed_by_issuer(&self.jwks, policy, host).await? {
            (true, _) => Ok(decoded.claims),
            (false, _) => Err(AuthError::INVALID),
        }
    }
}

/// The `sub` of a token that is not verified yet.
pub fn unverified_subject(token: &str) -> Option<String> {
    decode(token)?.claims.get("sub").and_then(Value::as_str).map(str::to_owned)
}

fn decode(token: &str) -> Option<DecodedToken<'_>> {
    Some(token).filter(|it| it.len() <= MAX_ASSERTION).and_then(DecodedToken::decode)
}
