//! Verifies JSON Web Tokens (RFC 7519): HS256 with a shared secret, which OXP requires, and the
//! signatures of an issuer that publishes its keys.
//!
//! The key that verifies a token follows from its `alg`, and each key has one algorithm: the secret is
//! never used for a public-key signature, nor a public key as a secret (RFC 8725, 3.1).

use jwt_compact::alg::Hs256Key;

use super::AuthError;
use super::api_keys::ApiKeys;
use super::claims::{ClaimRules, Signer};
use super::jwks::{FetchPolicy, Jwks};
use super::jws::DecodedToken;
use super::token_cache::TokenCache;
use crate::host::Host;
use crate::principal::{KEY_SUBJECT, Principal};
use crate::settings::JwtSettings;

/// HS256 secrets, with the rules for the tokens that they sign.
#[derive(Debug)]
struct SharedSecrets {
    secrets: Vec<Hs256Key>,
    signer: Signer,
    rules: ClaimRules,
}

fn rules(settings: &JwtSettings) -> ClaimRules {
    let JwtSettings { audiences, issuer, leeway, .. } = settings.clone();
    ClaimRules { audiences, issuer, leeway }
}

/// Verifies tokens.
#[derive(Debug)]
pub(super) struct JwtVerifier {
    shared: Vec<SharedSecrets>,
    issuer: Option<(Jwks, ClaimRules)>,
    cache: TokenCache,
}

impl JwtVerifier {
    /// A verifier of the tokens of other signers, and of the server's `own`; `None` without either.
    pub(super) fn new(others: Option<&JwtSettings>, own: Option<&JwtSettings>) -> Option<Self> {
        if others.is_none() && own.is_none() {
            return None;
        }
        let shared = [(own, Signer::SignIn), (others, Signer::Secret)];
        let shared = shared.into_iter().filter_map(|(settings, signer)| {
            let settings = settings?;
            let secrets = settings.secrets.iter().map(|secret| Hs256Key::new(secret.expose()));
            Some(SharedSecrets { secrets: secrets.collect(), signer, rules: rules(settings) })
        });
        let issuer = others
            .and_then(|others| others.jwks_url.clone().map(|url| (Jwks::new(url), rules(others))));
        Some(Self { shared: shared.collect(), issuer, cache: TokenCache::new() })
    }

    /// The principal of a token that has been verified before and is still valid.
    pub(super) fn cached(&self, token: &str, host: &dyn Host) -> Option<Principal> {
        let now_ms = host.now_ms();
        let keys_ms = self.issuer.as_ref().and_then(|(jwks, _)| jwks.fetched_if_fresh(now_ms));
        self.cache.principal(token, now_ms / 1000, keys_ms)
    }

    /// Verifies a token and returns its principal. A token that the server itself has issued to the holder of an API
    /// key is valid as long as `api_keys` has a key of that name.
    ///
    /// # Errors
    /// [`AuthError::Invalid`], or [`AuthError::KeysUnavailable`] if the keys cannot be fetched.
    pub(super) async fn verify(
        &self,
        token: &str,
        api_keys: Option<&ApiKeys>,
        host: &dyn Host,
    ) -> Result<Principal, AuthError> {
        let decoded = DecodedToken::decode(token).ok_or(AuthError::INVALID)?;
        let (signer, rules, keys_ms) = match (decoded.algorithm(), &self.issuer) {
            (Some("HS256"), _) => {
                let signs = |one: &&SharedSecrets| {
                    one.secrets.iter().any(|secret| decoded.is_signed_with(secret))
                };
                let shared = self.shared.iter().find(signs).ok_or(AuthError::INVALID)?;
                (shared.signer, &shared.rules, None)
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
                    (true, keys_ms) => (Signer::Issuer, rules, keys_ms),
                    (false, _) => return Err(AuthError::INVALID),
                }
            }
        };
        // The fetch may have taken a while, so the times are checked against the clock again.
        let principal = rules.principal(&decoded, signer, host.now_ms() / 1000)?;
        let key = match (signer, &principal) {
            (Signer::SignIn, Principal::User { subject: Some(subject), .. }) => {
                subject.strip_prefix(KEY_SUBJECT)
            }
            _ => None,
        };
        if key.is_some_and(|name| !api_keys.is_some_and(|keys| keys.has(name))) {
            return Err(AuthError::invalid("the API key of the person who signed in was removed"));
        }
        self.cache.insert(token, &principal, rules.end(&decoded), keys_ms);
        Ok(principal)
    }
}
