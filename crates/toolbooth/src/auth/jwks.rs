//! The keys of an issuer (RFC 7517), fetched when they are needed and kept in the instance.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Map;

use super::invalid;
use crate::call::Refusal;
use crate::host::{Host, HttpRequest, Level, SignatureAlgorithm};
use crate::json::{self, Value};

/// After this time the keys are fetched again.
const FRESH_MS: u64 = 10 * 60 * 1000;
/// After this time keys that could not be fetched again count no longer: what the issuer has
/// withdrawn may be among them.
const USABLE_MS: u64 = 60 * 60 * 1000;
/// A key that fresh keys do not have is asked for this often at most: whoever makes up key ids
/// cannot make the server ask all the time.
const UNKNOWN_MS: u64 = 60 * 1000;
/// After a failure the address is left in peace for this time.
const FAILED_MS: u64 = 5 * 1000;
/// While somebody asks, the others are served by the keys that are known, for this long at most.
const ASKING_MS: u64 = 5 * 1000;
/// 2048 bits in base64url: shorter RSA keys are not used (RFC 7518, 3.3).
const MIN_MODULUS: usize = 342;

/// A published set of keys.
#[derive(Debug)]
pub(super) struct Jwks {
    url: String,
    // Never locked across an await: another request could wait for it in vain.
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    keys: Arc<[Key]>,
    fetched: Option<u64>,
    asked: Option<u64>,
    failed: Option<u64>,
}

/// A key with the one algorithm that it is for.
#[derive(Debug, Clone)]
pub(super) struct Key {
    id: Option<String>,
    algorithm: SignatureAlgorithm,
    /// The public members alone, as JSON.
    pub(super) jwk: String,
}

impl Jwks {
    pub(super) fn new(url: String) -> Self {
        Self { url, known: Mutex::default() }
    }

    /// The key that a token's header means, and when it was fetched.
    ///
    /// # Errors
    /// [`Refusal::Unauthenticated`]: the issuer has no such key for that algorithm;
    /// [`Refusal::Unavailable`]: the keys cannot be had.
    pub(super) async fn key(
        &self,
        id: Option<&str>,
        algorithm: SignatureAlgorithm,
        host: &dyn Host,
    ) -> Result<(Key, Option<u64>), Refusal> {
        let now = host.now_ms();
        let within = |moment: Option<u64>, span: u64| {
            moment.is_some_and(|moment| now.saturating_sub(moment) < span)
        };
        let ask = {
            let mut known = self.known();
            let fresh = within(known.fetched, FRESH_MS);
            match find(&known.keys, id, algorithm).filter(|_| fresh) {
                Some(key) => return Ok((key, known.fetched)),
                None if fresh && within(known.asked, UNKNOWN_MS) => return Err(invalid()),
                None if within(known.failed, FAILED_MS) => false,
                None if within(known.asked, ASKING_MS) && within(known.fetched, USABLE_MS) => false,
                None => {
                    known.asked = Some(now);
                    true
                }
            }
        };
        if ask {
            let fetched = fetch(&self.url, host).await;
            let mut known = self.known();
            match fetched {
                Ok(keys) => {
                    known.keys = keys.into();
                    known.fetched = Some(now);
                }
                Err(problem) => {
                    known.failed = Some(now);
                    host.log(Level::Error, "jwks", &[("problem", &problem)]);
                }
            }
        }
        let known = self.known();
        if !within(known.fetched, USABLE_MS) {
            return Err(Refusal::Unavailable("the keys that verify tokens cannot be fetched"));
        }
        find(&known.keys, id, algorithm).map(|key| (key, known.fetched)).ok_or_else(invalid)
    }

    /// When the keys were fetched, if they need not be fetched again yet.
    pub(super) fn fresh(&self, now_ms: u64) -> Option<u64> {
        let fetched = self.known().fetched;
        fetched.filter(|fetched| now_ms.saturating_sub(*fetched) < FRESH_MS)
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The key of that id and algorithm; without an id, the only one of that algorithm.
fn find(keys: &[Key], id: Option<&str>, algorithm: SignatureAlgorithm) -> Option<Key> {
    let mut fitting = keys.iter().filter(|key| key.algorithm == algorithm);
    let Some(id) = id else { return fitting.next().filter(|_| fitting.next().is_none()).cloned() };
    fitting.find(|key| key.id.as_deref() == Some(id)).cloned()
}

async fn fetch(url: &str, host: &dyn Host) -> Result<Vec<Key>, String> {
    let request = HttpRequest {
        headers: vec![("accept", "application/json".into())],
        timeout: Duration::from_secs(5),
        max_bytes: 256 * 1024,
        ..HttpRequest::get(url)
    };
    let answer = host.send(request).await.map_err(|error| error.to_string())?;
    if answer.status != 200 {
        return Err(format!("JWKS_URL answered {}", answer.status));
    }
    let set = json::parse_bytes(&answer.body);
    let keys = set.as_ref().and_then(|set| set.get("keys")).and_then(Value::as_array);
    let keys = keys.ok_or("JWKS_URL gave no JSON object with keys")?;
    Ok(keys.iter().filter_map(read).collect())
}

/// A key of the set, or `None` when it is not for verifying signatures of a known kind, which is
/// then no fault (RFC 7517, 5).
fn read(jwk: &Value<'_>) -> Option<Key> {
    let text = |name: &str| jwk.get(name).and_then(Value::as_str);
    let only = |name: &str, value: &str| jwk.get(name).is_none_or(|it| it.as_str() == Some(value));
    let (algorithm, members): (_, &[&str]) = match (text("kty")?, text("crv")) {
        // Zeros in front make a number no larger.
        ("RSA", _) if text("n")?.trim_start_matches('A').len() >= MIN_MODULUS => {
            (SignatureAlgorithm::Rs256, &["kty", "n", "e"])
        }
        ("EC", Some("P-256")) => (SignatureAlgorithm::Es256, &["kty", "crv", "x", "y"]),
        ("OKP", Some("Ed25519")) => (SignatureAlgorithm::EdDsa, &["kty", "crv", "x"]),
        _ => return None,
    };
    let mut public = Map::new();
    for name in members {
        public.insert((*name).to_owned(), text(name)?.into());
    }
    let verifies = jwk.get("key_ops").is_none_or(|all| {
        all.as_array().is_some_and(|all| all.iter().any(|one| one.as_str() == Some("verify")))
    });
    let fits = only("alg", algorithm.name()) && only("use", "sig") && verifies;
    // Whoever reads the set could sign with a key whose private part stands in it.
    let fits = fits && jwk.get("d").is_none();
    let id = text("kid").map(str::to_owned);
    fits.then(|| Key { id, algorithm, jwk: json::text(&public.into()) })
}
