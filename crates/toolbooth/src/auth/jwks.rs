//! The keys of an issuer (RFC 7517), fetched when they are needed and kept in the instance.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Map;

use super::invalid;
use crate::call::Rejection;
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
/// After a failure, do not retry for this long.
const FAILED_MS: u64 = 5 * 1000;
/// How long a fetch may take.
const TIMEOUT: Duration = Duration::from_secs(5);
/// While one request fetches, the others wait or use the keys that are known; after this time another
/// one fetches too. The first may be gone: when its client disconnects, the runtime cancels the request
/// without notifying this code.
const FETCHING_MS: u64 = 2 * 1000;
/// How often those who wait look for the result. Nobody awaits the request that fetches: its promise
/// would never settle once that request has ended.
const LOOK: Duration = Duration::from_millis(50);
/// How often they look at most: as long as a fetch may take.
const LOOKS: u32 = 100;
/// 2048 bits in base64url: shorter RSA keys are not used (RFC 7518, 3.3).
const MIN_MODULUS: usize = 342;

/// A published set of keys.
#[derive(Debug)]
pub(super) struct Jwks {
    url: String,
    // Never locked across an await: another request could wait for it in vain.
    known: Mutex<Known>,
}

/// What is known of the keys. Times are in milliseconds.
#[derive(Debug, Default)]
struct Known {
    keys: Arc<[Key]>,
    /// When the request for them was sent.
    fetched: Option<u64>,
    /// When the request was sent that is not answered yet.
    fetching: Option<u64>,
    /// When a fetch last failed.
    failed: Option<u64>,
}

/// How a request obtains a key.
enum Step {
    /// It is known.
    Known(Key, Option<u64>),
    /// There is no such key.
    NoKey,
    /// The issuer does not answer.
    Unavailable,
    /// This request must fetch the keys.
    Fetch,
    /// Another request fetches them.
    Wait,
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

    /// The key that a token's header means, and when it was fetched. Of requests that come at the same
    /// time one fetches the keys.
    ///
    /// # Errors
    /// [`Rejection::Unauthenticated`]: the issuer has no such key for that algorithm;
    /// [`Rejection::Unavailable`]: the keys cannot be had.
    pub(super) async fn key(
        &self,
        id: Option<&str>,
        algorithm: SignatureAlgorithm,
        host: &dyn Host,
    ) -> Result<(Key, Option<u64>), Rejection> {
        let mut looks = 0;
        loop {
            match self.step(id, algorithm, host.now_ms()) {
                Step::Known(key, fetched) => return Ok((key, fetched)),
                Step::NoKey => return Err(invalid()),
                Step::Fetch => self.fetch(host).await,
                Step::Wait if looks < LOOKS => host.sleep(LOOK).await,
                Step::Wait | Step::Unavailable => {
                    let reason = "the keys that verify tokens cannot be fetched";
                    return Err(Rejection::Unavailable(reason));
                }
            }
            looks += 1;
        }
    }

    /// The same without waiting for anything; `None` when there is no such key at hand.
    pub(super) fn key_at_hand(
        &self,
        id: Option<&str>,
        algorithm: SignatureAlgorithm,
        now_ms: u64,
    ) -> Option<(Key, Option<u64>)> {
        let known = self.known();
        let key = find(&known.keys, id, algorithm);
        key.filter(|_| within(known.fetched, USABLE_MS, now_ms)).map(|key| (key, known.fetched))
    }

    /// Decides the next step at `now`. A caller that gets [`Step::Fetch`] must fetch, because others wait for it.
    fn step(&self, id: Option<&str>, algorithm: SignatureAlgorithm, now: u64) -> Step {
        let mut known = self.known();
        let within = |moment, span| within(moment, span, now);
        let fresh = within(known.fetched, FRESH_MS);
        let usable = within(known.fetched, USABLE_MS);
        let fetching = within(known.fetching, FETCHING_MS);
        let failed = within(known.failed, FAILED_MS);
        match find(&known.keys, id, algorithm).filter(|_| usable) {
            Some(key) if fresh || fetching || failed => Step::Known(key, known.fetched),
            None if fresh && within(known.fetched.max(known.failed), UNKNOWN_MS) => Step::NoKey,
            _ if fetching => Step::Wait,
            _ if failed && usable => Step::NoKey,
            _ if failed => Step::Unavailable,
            _ => {
                known.fetching = Some(now);
                Step::Fetch
            }
        }
    }

    /// Fetches the keys.
    async fn fetch(&self, host: &dyn Host) {
        let began = host.now_ms();
        let fetched = fetch(&self.url, host).await;
        let mut known = self.known();
        known.fetching = None;
        match fetched {
            Ok(keys) if known.fetched.is_none_or(|at| at <= began) => {
                known.keys = keys.into();
                known.fetched = Some(began);
            }
            // Another request has fetched newer ones meanwhile.
            Ok(_) => {}
            Err(problem) => {
                known.failed = Some(host.now_ms());
                host.log(Level::Error, "jwks", &[("problem", &problem)]);
            }
        }
    }

    /// When the keys were fetched, if they need not be fetched again yet.
    pub(super) fn fresh(&self, now_ms: u64) -> Option<u64> {
        let fetched = self.known().fetched;
        fetched.filter(|_| within(fetched, FRESH_MS, now_ms))
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether `moment` is less than `span` before `now`.
fn within(moment: Option<u64>, span: u64, now: u64) -> bool {
    moment.is_some_and(|moment| now.saturating_sub(moment) < span)
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
        timeout: TIMEOUT,
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
    fits.then(|| Key { id, algorithm, jwk: json::to_string(&public) })
}
