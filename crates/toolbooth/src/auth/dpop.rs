//! Proofs of possession (DPoP, RFC 9449): a client signs every request with the key that its token is bound to, so a copy of the
//! token is worth nothing.
//!
//! Every proof has a nonce of this server, which says when the proof was made whatever the client's clock says, and is accepted
//! once: exactly, if the ledger is bound; otherwise an instance remembers what it has accepted.

use std::time::Duration;

use base64ct::{Base64UrlUnpadded, Encoding};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::jws::DecodedToken;
use crate::address::is_same_url;
use crate::expiring_map::ExpiringMap;
use crate::host::{Host, LedgerError, Level};
use crate::json::Value;
use crate::seal::{StateKeys, TokenPurpose};
use crate::settings::Settings;

/// The algorithms that proofs may be signed with.
pub const PROOF_ALGORITHMS: [&str; 4] = ["RS256", "ES256", "EdDSA", "Ed25519"];

/// For how many seconds a nonce is accepted, and how far a client's clock may be off.
const LIFE_SECONDS: u64 = 300;
/// How long a proof is remembered, in milliseconds: longer than its nonce is accepted.
const REMEMBERED_MS: u64 = 2 * LIFE_SECONDS * 1000;
/// The longest proof, in bytes.
const LONGEST: usize = 4 * 1024;
/// The longest `jti`, in bytes.
const LONGEST_ID: usize = 256;
/// The most proofs that an instance remembers.
const MOST: usize = 4_096;
/// A nonce that clients send back.
const NONCE: TokenPurpose = TokenPurpose::new("DPoP nonce");

/// The request that a proof is for.
#[derive(Debug, Clone, Copy, Default)]
pub struct Target<'a> {
    /// The method, such as `POST`.
    pub method: &'a str,
    /// The path, as in the request line.
    pub path: &'a str,
}

/// The token that is sent with a proof, and the thumbprint of the key that it is bound to.
#[derive(Debug, Clone, Copy)]
pub(super) struct BoundToken<'a> {
    pub(super) token: &'a str,
    pub(super) thumbprint: &'a str,
}

/// Why a proof is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProofError {
    /// The proof is not valid, for this reason.
    Invalid(&'static str),
    /// It must have the nonce that the response to it has.
    Nonce,
    /// Whether it was used before cannot be found out now.
    Unavailable,
}

/// A proof that is valid. Whether it was used before is not known yet: [`ProofVerifier::use_once`].
#[derive(Debug)]
#[must_use]
pub struct ValidProof {
    thumbprint: String,
    /// The name under which its use is remembered.
    name: String,
}

impl ValidProof {
    /// The thumbprint (RFC 7638) of its key.
    pub fn thumbprint(&self) -> &str {
        &self.thumbprint
    }
}

/// Verifies proofs for the requests of one server.
pub struct ProofVerifier {
    /// The origin of the requests: `PUBLIC_URL`.
    origin: String,
    keys: StateKeys,
    /// The proofs that this instance has accepted.
    accepted: ExpiringMap<()>,
}

impl ProofVerifier {
    /// The verifier of a server; `None` if it does not know its address, or has no key for nonces.
    pub(super) fn new(settings: &Settings) -> Option<Self> {
        Some(Self {
            origin: settings.public_url.clone()?,
            keys: StateKeys::new(settings.state_keys.as_ref()?),
            accepted: ExpiringMap::new(MOST),
        })
    }

    /// A nonce for the next proofs of a client (RFC 9449, 8).
    pub fn nonce(&self, host: &dyn Host) -> String {
        let now = (host.now_ms() / 1000).to_string();
        format!("{now}.{}", self.keys.hash(NONCE, &[&now]))
    }

    fn is_nonce(&self, nonce: &str, now: u64) -> bool {
        let Some((made, hash)) = nonce.split_once('.') else { return false };
        let is_fresh = made.parse().is_ok_and(|made| now.saturating_sub(made) <= LIFE_SECONDS);
        is_fresh && self.keys.verify_hash(NONCE, &[made], hash).is_some()
    }

    /// Checks the proof of a request without a token, but not whether it was used before: anyone can make proofs, so
    /// [`use_once`](Self::use_once) comes after the client has shown that it has more.
    ///
    /// # Errors
    /// See [`ProofError`].
    pub async fn verify(
        &self,
        proof: &str,
        target: Target<'_>,
        host: &dyn Host,
    ) -> Result<ValidProof, ProofError> {
        self.check(proof, target, None, host).await
    }

    /// Checks the proof of a request with a token, and uses it.
    pub(super) async fn verify_bound(
        &self,
        proof: &str,
        target: Target<'_>,
        bound: BoundToken<'_>,
        host: &dyn Host,
    ) -> Result<(), ProofError> {
        let proof = self.check(proof, target, Some(bound), host).await?;
        self.use_once(proof, host).await.map(|_| ())
    }

    /// Checks a proof as RFC 9449, 4.3 says.
    async fn check(
        &self,
        proof: &str,
        target: Target<'_>,
        bound: Option<BoundToken<'_>>,
        host: &dyn Host,
    ) -> Result<ValidProof, ProofError> {
        let invalid = |reason| Err(ProofError::Invalid(reason));
        let decoded = Some(proof).filter(|it| it.len() <= LONGEST).and_then(DecodedToken::decode);
        let Some(decoded) = decoded else { return invalid("the proof is not one JSON Web Token") };
        if !decoded.is_one_of(&["dpop+jwt"]) {
            return invalid("the proof's `typ` must be dpop+jwt");
        }
        let Some(key) = decoded.own_key() else {
            return invalid(
                "the proof must have the public key of its `alg` as `jwk`: RS256, ES256 or EdDSA",
            );
        };
        let text = |name: &str| decoded.claims.get(name).and_then(Value::as_str);
        if target.method.is_empty() || text("htm") != Some(target.method) {
            return invalid("the proof's `htm` is not the method of the request");
        }
        if !text("htu").is_some_and(|url| self.is_url(url, target.path)) {
            return invalid("the proof's `htu` is not the address of the request");
        }
        let Some(id) = text("jti").filter(|id| (1..=LONGEST_ID).contains(&id.len())) else {
            return invalid("the proof's `jti` must be a string of 1 to 256 bytes");
        };
        let Some(made) = decoded.claims.get("iat").and_then(Value::as_f64) else {
            return invalid("the proof has no `iat`");
        };
        let now = host.now_ms() / 1000;
        if !text("nonce").is_some_and(|nonce| self.is_nonce(nonce, now)) {
            return Err(ProofError::Nonce);
        }
        // A double is exact for long enough.
        #[allow(clippy::cast_precision_loss)]
        let is_recent = (now as f64 - made).abs() <= LIFE_SECONDS as f64;
        if !is_recent {
            return invalid("the proof's `iat` is not within 300 seconds");
        }
        let thumbprint = key.thumbprint();
        if let Some(BoundToken { token, thumbprint: expected }) = bound {
            let hash = Base64UrlUnpadded::encode_string(&Sha256::digest(token));
            if text("ath") != Some(&*hash) {
                return invalid("the proof's `ath` is not the hash of the token");
            }
            if !bool::from(thumbprint.as_bytes().ct_eq(expected.as_bytes())) {
                return invalid("the token is bound to a different key");
            }
        }
        if !decoded.is_signed_by(&key, host).await {
            return invalid("the proof's signature is not valid");
        }
        // The length of a thumbprint is fixed.
        let hash = Sha256::new_with_prefix(&thumbprint).chain_update(id).finalize();
        let name = format!("dpop:{}", Base64UrlUnpadded::encode_string(&hash));
        Ok(ValidProof { thumbprint, name })
    }

    /// Whether `htu` is this server's address with this path. Query and fragment do not count, nor does the case of scheme and
    /// host, or the port that the scheme has by default (RFC 3986, 6.2).
    fn is_url(&self, url: &str, path: &str) -> bool {
        let url = url.split(['?', '#']).next().unwrap_or_default();
        is_same_url(url, &format!("{}{path}", self.origin))
    }

    /// Uses a proof, and returns the thumbprint of its key.
    ///
    /// # Errors
    /// [`ProofError::Invalid`] if it was used before; [`ProofError::Unavailable`].
    pub async fn use_once(&self, proof: ValidProof, host: &dyn Host) -> Result<String, ProofError> {
        let ValidProof { thumbprint, name } = proof;
        let is_first = match host.claim(&name, Duration::from_millis(REMEMBERED_MS)).await {
            Ok(is_first) => is_first,
            Err(LedgerError::NotBound) => {
                self.accepted.insert(&name, (), host.now_ms(), REMEMBERED_MS)
            }
            Err(LedgerError::Failed(problem)) => {
                host.log(Level::Error, "ledger", &[("problem", &problem)]);
                return Err(ProofError::Unavailable);
            }
        };
        if is_first {
            Ok(thumbprint)
        } else {
            Err(ProofError::Invalid("the proof was used before"))
        }
    }
}

/// Shows no key.
impl std::fmt::Debug for ProofVerifier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ProofVerifier")
    }
}
