//! An issuer's public keys (RFC 7517), fetched when needed and cached in the instance.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base64ct::{Base64UrlUnpadded, Encoding};
use serde_json::Map;
use sha2::{Digest, Sha256};

use super::AuthError;
use crate::address::{is_secure, public_address};
use crate::host::{Host, HttpError, HttpRequest, Level, SignatureAlgorithm};
use crate::json::{self, Value};

/// After this time the keys are fetched again.
const FRESH_MS: u64 = 10 * 60 * 1000;
/// After this time, cached keys that could not be fetched again are no longer used: the issuer may
/// have withdrawn some of them.
const USABLE_MS: u64 = 60 * 60 * 1000;
/// How often an unknown key id may cause a fetch, so that made-up ids do not cause one each.
const UNKNOWN_MS: u64 = 60 * 1000;
/// The same after a failure: the id may be that of a new key.
const UNKNOWN_FAILED_MS: u64 = 15 * 1000;
/// After a failure, do not retry for this long.
const FAILED_MS: u64 = 5 * 1000;
/// How long the discovery document and the keys may take together: as long as other requests wait for them.
const TIMEOUT_MS: u64 = 5 * 1000;
/// While one request fetches, the others wait or use the cached keys; after this time another one
/// fetches too. The first may be gone: when its client disconnects, the runtime cancels the request
/// without notifying this code.
const FETCHING_MS: u64 = 2 * 1000;
/// How often waiting requests poll for the result. They cannot await the request that fetches: its
/// promise would never settle once that request has ended.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// How many times they poll: as long as a fetch may take.
const MAX_POLLS: u32 = 100;
/// 2048 bits in base64url: shorter RSA keys are not used (RFC 7518, 3.3).
const MIN_MODULUS: usize = 342;

/// Where an issuer publishes its keys.
#[derive(Debug)]
pub(super) enum KeySource {
    Url(String),
    /// The set itself, as JSON.
    Set(String),
    /// The `jwks_uri` in the issuer's discovery document (OpenID Connect Discovery 1.0, 4), which is fetched with the keys:
    /// an issuer may move them.
    Issuer(String),
}

/// A published set of keys.
#[derive(Debug)]
pub(super) struct Jwks {
    source: KeySource,
    /// What the log calls it.
    name: String,
    // Never locked across an await: another request could then wait forever.
    cache: Mutex<KeyCache>,
}

/// The cached keys. Times are in milliseconds.
#[derive(Debug, Default)]
struct KeyCache {
    keys: Arc<[VerificationKey]>,
    /// When the request that returned them was sent.
    fetched: Option<u64>,
    /// When the request was sent whose response is still awaited.
    fetching: Option<u64>,
    failed: Option<u64>,
}

/// How a request obtains a key.
enum KeyLookup {
    /// It is cached, and was fetched at this time.
    Found(VerificationKey, Option<u64>),
    /// The issuer has no such key.
    Unknown,
    /// The issuer does not respond.
    Unavailable,
    /// This request must fetch the keys.
    Fetch,
    /// Another request is fetching them.
    Wait,
}

/// Whether a token is worth fetching keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FetchPolicy {
    /// Keys are fetched if the cache does not suffice.
    IfNeeded,
    /// Cached keys only.
    Never,
}

/// A public key with the one algorithm that it is for.
#[derive(Debug, Clone)]
pub(super) struct VerificationKey {
    id: Option<String>,
    pub(super) algorithm: SignatureAlgorithm,
    /// Its required public members in the order of their names, as JSON without spaces: what RFC 7638, 3 hashes.
    pub(super) jwk: String,
}

impl VerificationKey {
    /// Its thumbprint (RFC 7638).
    pub(super) fn thumbprint(&self) -> String {
        Base64UrlUnpadded::encode_string(&Sha256::digest(&self.jwk))
    }
}

/// The members of private and of symmetric keys (RFC 7518, 6).
const PRIVATE: [&str; 8] = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"];

impl Jwks {
    pub(super) fn new(source: KeySource, name: String) -> Self {
        Self { source, name, cache: Mutex::default() }
    }

    /// The key that a token's header refers to, and when it was fetched. Of several requests at the
    /// same time only one fetches the keys.
    ///
    /// # Errors
    /// [`AuthError::Invalid`]: there is no such key for that algorithm;
    /// [`AuthError::KeysUnavailable`]: the keys cannot be fetched.
    pub(super) async fn key(
        &self,
        id: Option<&str>,
        algorithm: SignatureAlgorithm,
        policy: FetchPolicy,
        host: &dyn Host,
    ) -> Result<(VerificationKey, Option<u64>), AuthError> {
        let mut polls = 0;
        loop {
            match self.lookup(id, algorithm, policy, host.now_ms()) {
                KeyLookup::Found(key, fetched) => return Ok((key, fetched)),
                KeyLookup::Unknown => return Err(AuthError::INVALID),
                KeyLookup::Fetch => self.fetch(host).await,
                KeyLookup::Wait if polls < MAX_POLLS => host.sleep(POLL_INTERVAL).await,
                KeyLookup::Wait | KeyLookup::Unavailable => {
                    return Err(AuthError::KeysUnavailable);
                }
            }
            polls += 1;
        }
    }

    /// Decides how to obtain a key at `now`. A caller that gets [`KeyLookup::Fetch`] must fetch, because
    /// others wait for it.
    fn lookup(
        &self,
        id: Option<&str>,
        algorithm: SignatureAlgorithm,
        policy: FetchPolicy,
        now: u64,
    ) -> KeyLookup {
        let mut cache = self.cache();
        let within = |moment, span| within(moment, span, now);
        let fresh = within(cache.fetched, FRESH_MS);
        let usable = within(cache.fetched, USABLE_MS);
        let fetching = within(cache.fetching, FETCHING_MS);
        let failed = within(cache.failed, FAILED_MS);
        match (find(&cache.keys, id, algorithm).filter(|_| usable), policy) {
            (Some(key), FetchPolicy::Never) => KeyLookup::Found(key, cache.fetched),
            (None, FetchPolicy::Never) => KeyLookup::Unknown,
            (Some(key), _) if fresh || fetching || failed => KeyLookup::Found(key, cache.fetched),
            (None, _) if fresh && within(cache.fetched, UNKNOWN_MS) => KeyLookup::Unknown,
            (None, _) if fresh && within(cache.failed, UNKNOWN_FAILED_MS) => KeyLookup::Unknown,
            _ if fetching => KeyLookup::Wait,
            _ if failed && usable => KeyLookup::Unknown,
            _ if failed => KeyLookup::Unavailable,
            _ => {
                cache.fetching = Some(now);
                KeyLookup::Fetch
            }
        }
    }

    async fn fetch(&self, host: &dyn Host) {
        let began = host.now_ms();
        let fetched = self.fetched(host).await;
        let mut cache = self.cache();
        cache.fetching = None;
        match fetched {
            Ok(keys) if cache.fetched.is_none_or(|at| at <= began) => {
                cache.keys = keys.into();
                cache.fetched = Some(began);
            }
            // Another request has fetched newer ones meanwhile.
            Ok(_) => {}
            Err(problem) => {
                cache.failed = Some(host.now_ms());
                host.log(Level::Error, "jwks", &[("problem", &problem)]);
            }
        }
    }

    async fn fetched(&self, host: &dyn Host) -> Result<Vec<VerificationKey>, String> {
        let deadline_ms = host.now_ms().saturating_add(TIMEOUT_MS);
        let body = match &self.source {
            KeySource::Set(set) => set.clone().into_bytes(),
            KeySource::Url(url) => fetch(url, &self.name, deadline_ms, host).await?,
            KeySource::Issuer(issuer) => {
                let url = discovered(issuer, deadline_ms, host).await?;
                fetch(&url, &self.name, deadline_ms, host).await?
            }
        };
        let keys = json::parse_bytes(&body).and_then(|set| parse_set(&set));
        keys.ok_or_else(|| format!("{} did not return a JSON object with keys", self.name))
    }

    /// When the keys were fetched, if they need not be fetched again yet.
    pub(super) fn fetched_if_fresh(&self, now_ms: u64) -> Option<u64> {
        let fetched = self.cache().fetched;
        fetched.filter(|_| within(fetched, FRESH_MS, now_ms))
    }

    fn cache(&self) -> MutexGuard<'_, KeyCache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether `moment` is less than `span` before `now`.
fn within(moment: Option<u64>, span: u64, now: u64) -> bool {
    moment.is_some_and(|moment| now.saturating_sub(moment) < span)
}

/// The key of that id and algorithm; without an id, the only one of that algorithm.
fn find(
    keys: &[VerificationKey],
    id: Option<&str>,
    algorithm: SignatureAlgorithm,
) -> Option<VerificationKey> {
    let mut candidates = keys.iter().filter(|key| key.algorithm == algorithm);
    match id {
        Some(id) => candidates.find(|key| key.id.as_deref() == Some(id)).cloned(),
        None => candidates.next().filter(|_| candidates.next().is_none()).cloned(),
    }
}

/// Where the discovery document of `issuer` says that its keys are.
async fn discovered(issuer: &str, deadline_ms: u64, host: &dyn Host) -> Result<String, String> {
    let name = format!("the discovery document of {issuer}");
    let url = format!("{}/.well-known/openid-configuration", issuer.trim_end_matches('/'));
    let body = fetch(&url, &name, deadline_ms, host).await?;
    let document = json::parse_bytes(&body);
    let text = |name: &str| document.as_ref()?.get(name)?.as_str();
    if text("issuer") != Some(issuer) {
        return Err(format!("{name} is that of another issuer"));
    }
    let keys = text("jwks_uri").filter(|keys| may_have_keys(issuer, keys));
    let expected = "must have a jwks_uri: an https address of the same host, or with the name of a public host";
    keys.map(str::to_owned).ok_or_else(|| format!("{name} {expected}"))
}

/// Whether an issuer may publish its keys at a URL: it must not make the server send requests within a private network.
fn may_have_keys(issuer: &str, url: &str) -> bool {
    let origin = |url: &str| url.splitn(4, '/').take(3).collect::<Vec<_>>().join("/");
    let path = url.split('?').next().unwrap_or_default().trim_end_matches('/');
    let is_local = issuer.starts_with("http://");
    is_secure(url) && (is_local || origin(issuer) == origin(url) || public_address(path).is_ok())
}

async fn fetch(
    url: &str,
    name: &str,
    deadline_ms: u64,
    host: &dyn Host,
) -> Result<Vec<u8>, String> {
    let left_ms = deadline_ms.saturating_sub(host.now_ms());
    if left_ms == 0 {
        return Err(format!("{name}: {}", HttpError::Timeout));
    }
    let request = HttpRequest {
        headers: vec![("accept", "application/json".into())],
        timeout: Duration::from_millis(left_ms),
        max_bytes: 256 * 1024,
        ..HttpRequest::get(url)
    };
    let response = host.send(request).await.map_err(|error| format!("{name}: {error}"))?;
    match response.status {
        200 => Ok(response.body),
        status => Err(format!("{name} responded with status {status}")),
    }
}

/// The keys of a set that verify signatures of supported algorithms; `None` if it is no set.
fn parse_set(set: &Value<'_>) -> Option<Vec<VerificationKey>> {
    Some(set.get("keys")?.as_array()?.iter().filter_map(parse_key).collect())
}

/// Whether a JSON Web Key Set has a public key that verifies signatures of a supported algorithm.
pub fn has_verification_key(set: &Value<'_>) -> bool {
    parse_set(set).is_some_and(|keys| !keys.is_empty())
}

/// Parses a key of the set; `None` if it does not verify signatures of a supported algorithm. Such
/// keys are ignored (RFC 7517, 5).
pub(super) fn parse_key(jwk: &Value<'_>) -> Option<VerificationKey> {
    let text = |name: &str| jwk.get(name).and_then(Value::as_str);
    let only = |name: &str, value: &str| jwk.get(name).is_none_or(|it| it.as_str() == Some(value));
    let (algorithm, members): (_, &[&str]) = match (text("kty")?, text("crv")) {
        // Leading zeros do not make a number larger.
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
        all.as_array().is_some_and(|all| all.iter().any(|it| it.as_str() == Some("verify")))
    });
    let named = |name: &Value<'_>| name.as_str().and_then(SignatureAlgorithm::named);
    let is_for = jwk.get("alg").is_none_or(|name| named(name) == Some(algorithm));
    let fits = is_for && only("use", "sig") && verifies;
    // Anyone who can read the set could sign with a key whose private part is in it.
    let fits = fits && PRIVATE.iter().all(|name| jwk.get(name).is_none());
    let id = text("kid").map(str::to_owned);
    fits.then(|| VerificationKey { id, algorithm, jwk: json::to_string(&public) })
}
