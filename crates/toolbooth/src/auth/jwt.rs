//! Verifies JSON Web Tokens (RFC 7519): HS256 with a shared secret, which OXP requires, and the
//! signatures of an issuer that publishes its keys.
//!
//! The key that verifies a token follows from its `alg`, and each key has one algorithm: the secret is
//! never used for a public-key signature, nor a public key as a secret (RFC 8725, 3.1).

use std::sync::Arc;

use super::AuthError;
use super::claims::{ClaimRules, Signer, Verified};
use super::jwks::{FetchPolicy, Jwks, KeySource};
use super::jws::DecodedToken;
use super::own_tokens::{OwnTokens, TokenHolders};
use super::token_cache::TokenCache;
use crate::host::Host;
use crate::seal::MacKey;
use crate::secret::Secret;
use crate::settings::JwtSettings;

/// For how many seconds an instance relies on what the store says about the grant of a token.
const GRANT_CHECK_SECONDS: u64 = 60;

/// HS256 secrets, with the rules for the tokens that they sign.
#[derive(Debug)]
struct SharedSecrets {
    secrets: Vec<MacKey>,
    signer: Signer,
    rules: ClaimRules,
    /// The people who hold the tokens, if they are the server's own.
    holders: Option<Arc<dyn TokenHolders>>,
}

fn rules(settings: &JwtSettings) -> ClaimRules {
    let JwtSettings { audiences, issuer, leeway, tenant_claim, tenants, .. } = settings.clone();
    let tenants = tenants.into_iter().map(|tenant| tenant.name).collect();
    ClaimRules { audiences, issuer, leeway, tenant_claim, tenants }
}

/// Verifies tokens.
#[derive(Debug)]
pub(super) struct JwtVerifier {
    shared: Vec<SharedSecrets>,
    issuer: Option<(Jwks, ClaimRules)>,
    cache: TokenCache,
}

impl JwtVerifier {
    /// A verifier of the tokens of other signers, and of the server's `own`.
    // A function of its own, so that a Worker compiles it only if there are tokens.
    #[inline(never)]
    pub(super) fn new(others: Option<&JwtSettings>, own: Option<&OwnTokens>) -> Self {
        let shared = [
            own.map(|own| (&own.jwt, Signer::SignIn, Some(own.holders.clone()))),
            others.map(|others| (others, Signer::Secret, None)),
        ];
        let shared = shared.into_iter().flatten().map(|(settings, signer, holders)| {
            let key = |secret: &Secret| MacKey::new(secret.expose().as_bytes());
            let secrets = settings.secrets.iter().map(key);
            SharedSecrets { secrets: secrets.collect(), signer, rules: rules(settings), holders }
        });
        let issuer = others.and_then(|others| {
            others
                .jwks_url
                .clone()
                .map(|url| (Jwks::new(KeySource::Url(url), "JWKS_URL".to_owned()), rules(others)))
        });
        Self { shared: shared.collect(), issuer, cache: TokenCache::new() }
    }

    /// What a token says that has been verified before and is still valid.
    pub(super) fn cached(&self, token: &str, host: &dyn Host) -> Option<Verified> {
        let now_ms = host.now_ms();
        let keys_ms = self.issuer.as_ref().and_then(|(jwks, _)| jwks.fetched_if_fresh(now_ms));
        self.cache.verified(token, now_ms / 1000, keys_ms)
    }

    /// Verifies a token and returns what it says. A token that the server itself has issued is valid as long as its
    /// holder may call and its grant has not ended, and has only those of its scopes that they may have now.
    ///
    /// # Errors
    /// [`AuthError::Invalid`], or [`AuthError::KeysUnavailable`] if the keys cannot be fetched.
    pub(super) async fn verify(&self, token: &str, host: &dyn Host) -> Result<Verified, AuthError> {
        let decoded = DecodedToken::decode(token).ok_or(AuthError::INVALID)?;
        let (signer, rules, keys_ms, holders) = match (decoded.algorithm(), &self.issuer) {
            (Some("HS256"), _) => {
                let signs = |one: &&SharedSecrets| {
                    one.secrets.iter().any(|secret| decoded.is_signed_with(secret))
                };
                let shared = self.shared.iter().find(signs).ok_or(AuthError::INVALID)?;
                (shared.signer, &shared.rules, None, shared.holders.as_ref())
            }
            (_, None) => return Err(AuthError::INVALID),
            (_, Some((jwks, rules))) => {
                // Checking claims is cheap: only a token with valid ones is worth a fetch. The reason
                // is reported below, after the signature has been verified.
                let now = host.now_ms() / 1000;
                let policy = match rules.principal(&decoded, Signer::Issuer, now) {
                    Ok(_) => FetchPolicy::IfNeeded,
                    Err(_) => FetchPolicy::Never,
                };
                match decoded.is_signed_by_issuer(jwks, policy, host).await? {
                    (true, keys_ms) => (Signer::Issuer, rules, keys_ms, None),
                    (false, _) => return Err(AuthError::INVALID),
                }
            }
        };
        // The fetch may have taken a while, so the times are checked against the clock again.
        let now = host.now_ms() / 1000;
        let mut verified = rules.principal(&decoded, signer, now)?;
        let mut end = rules.end(&decoded);
        if let Some(holders) = holders {
            holders.admit(&decoded.claims, &mut verified.principal, host).await?;
            end = end.min(now.saturating_add(GRANT_CHECK_SECONDS));
        }
        self.cache.insert(token, &verified, end, keys_ms);
        Ok(verified)
    }
}
