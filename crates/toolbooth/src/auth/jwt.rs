//! Verifies JSON Web Tokens (RFC 7519): HS256 with a shared secret, which OXP requires, and the
//! signatures of an issuer that publishes its keys.
//!
//! The key that verifies a token follows from its `alg`, and each key has one algorithm: the secret is
//! never used for a public-key signature, nor a public key as a secret (RFC 8725, 3.1).

use jwt_compact::alg::Hs256Key;

use super::claims::{ClaimRules, Signer};
use super::error::AuthError;
use super::jwks::{FetchPolicy, Jwks};
use super::jws::DecodedToken;
use super::token_cache::TokenCache;
use crate::host::Host;
use crate::principal::Principal;
use crate::settings::JwtSettings;

/// Verifies tokens.
#[derive(Debug)]
pub(super) struct JwtVerifier {
    secrets: Vec<Hs256Key>,
    jwks: Option<Jwks>,
    rules: ClaimRules,
    cache: TokenCache,
}

impl JwtVerifier {
    pub(super) fn new(settings: &JwtSettings) -> Self {
        let JwtSettings { secrets, jwks_url, audiences, issuer, leeway } = settings.clone();
        Self {
            secrets: secrets.iter().map(|secret| Hs256Key::new(secret.expose())).collect(),
            jwks: jwks_url.map(Jwks::new),
            rules: ClaimRules { audiences, issuer, leeway },
            cache: TokenCache::new(),
        }
    }

    /// The principal of a token that has been verified before and is still valid.
    pub(super) fn cached(&self, token: &str, host: &dyn Host) -> Option<Principal> {
        let now_ms = host.now_ms();
        let keys_ms = self.jwks.as_ref().and_then(|jwks| jwks.fetched_if_fresh(now_ms));
        self.cache.principal(token, now_ms / 1000, keys_ms)
    }

    /// Verifies a token and returns its principal.
    ///
    /// # Errors
    /// [`AuthError::Invalid`], or [`AuthError::KeysUnavailable`] if the keys cannot be fetched.
    pub(super) async fn verify(
        &self,
        token: &str,
        host: &dyn Host,
    ) -> Result<Principal, AuthError> {
        let decoded = DecodedToken::decode(token).ok_or(AuthError::INVALID)?;
        let (signer, (is_signed, keys_ms)) = match (decoded.algorithm(), &self.jwks) {
            (Some("HS256"), _) => {
                let is_signed = self.secrets.iter().any(|secret| decoded.is_signed_with(secret));
                (Signer::Secret, (is_signed, None))
            }
            (_, None) => return Err(AuthError::INVALID),
            (_, Some(jwks)) => {
                // Checking claims is cheap: only a token with valid ones is worth a fetch. The reason
                // is reported below, after the signature has been verified.
                let now = host.now_ms() / 1000;
                let policy = match self.rules.principal(&decoded, Signer::Issuer, now) {
                    Ok(_) => FetchPolicy::IfNeeded,
                    Err(_) => FetchPolicy::Never,
                };
                (Signer::Issuer, decoded.is_signed_by_issuer(jwks, policy, host).await?)
            }
        };
        if !is_signed {
            return Err(AuthError::INVALID);
        }
        // The fetch may have taken a while, so the times are checked against the clock again.
        let principal = self.rules.principal(&decoded, signer, host.now_ms() / 1000)?;
        self.cache.insert(token, &principal, self.rules.end(&decoded), keys_ms);
        Ok(principal)
    }
}
