//! What a host must supply: a clock, randomness, variables, a key-value store, an HTTP client, public-key
//! signatures, a rate limit, a log.
//!
//! The library asks for everything that is not a pure function through these traits, so it runs on
//! Workers and, with stand-ins, in native tests. Futures are not `Send`: a Worker has one thread.

use std::borrow::Cow;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use serde::de::DeserializeOwned;

use crate::json;

/// A boxed future that may borrow for `'a` and need not be `Send`.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// Puts what few requests wait for beside the future of all requests, which is then less to move, and
/// less to compile for a runtime that does so at the first call.
pub(crate) fn rare<'a, T>(future: impl Future<Output = T> + 'a) -> BoxFuture<'a, T> {
    Box::pin(future)
}

/// Tells the time, and waits.
pub trait Clock {
    /// Milliseconds since the Unix epoch. On Workers it advances only with I/O.
    fn now_ms(&self) -> u64;

    /// Waits for at least `duration`, by a timer of this request.
    fn sleep(&self, duration: Duration) -> BoxFuture<'_, ()>;
}

/// Supplies unpredictable bytes.
pub trait Random {
    /// Sixteen bytes from a cryptographic source.
    ///
    /// # Errors
    /// The source does not answer.
    fn random_16(&self) -> Result<[u8; 16], NoRandomness>;
}

/// The source of random bytes does not answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoRandomness;

/// Reads configuration variables and secrets.
pub trait Variables {
    /// The value of the variable or secret `name`, or `None` when it is not set.
    fn variable(&self, name: &str) -> Option<String>;
}

/// A key-value store that is eventually consistent: a read may be a minute old, and a miss is cached.
pub trait Store {
    /// The value under `key`, or `None` when there is none (or none yet).
    ///
    /// # Errors
    /// As of all three: the store does not answer, or refuses.
    fn get<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<String>, StoreError>>;

    /// Puts `value` under `key` for at least [`SHORTEST_LIFE`]. One write a second and key is all
    /// that a store must take.
    fn put<'a>(
        &'a self,
        key: &'a str,
        value: &'a str,
        life: Duration,
    ) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Removes what is under `key`, if anything is. Others may read it for another minute.
    fn delete<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<(), StoreError>>;
}

/// The shortest lifetime that a value can have in the store.
pub const SHORTEST_LIFE: Duration = Duration::from_secs(60);

/// The store did not do as asked. Holds the reason for the log, without keys or values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreError(pub String);

/// Sends HTTP requests to other servers.
pub trait HttpClient {
    /// Sends one request and reads the whole answer. Any status is a success here, also a redirect:
    /// to follow one would carry tokens and secrets to wherever it points.
    ///
    /// # Errors
    /// No answer within the request's limits; see [`HttpError`].
    fn send<'a>(
        &'a self,
        request: HttpRequest<'a>,
    ) -> BoxFuture<'a, Result<HttpResponse, HttpError>>;
}

/// A request to another server.
#[derive(Debug, Clone)]
pub struct HttpRequest<'a> {
    /// The method, in upper case.
    pub method: &'static str,
    /// An absolute `http` or `https` address.
    pub url: Cow<'a, str>,
    /// Header names and values.
    pub headers: Vec<(&'static str, Cow<'a, str>)>,
    /// The body, if the method takes one.
    pub body: Option<Vec<u8>>,
    /// How long to wait for the whole answer.
    pub timeout: Duration,
    /// The largest answer body that is read, in bytes.
    pub max_bytes: usize,
}

impl<'a> HttpRequest<'a> {
    /// A `GET` that waits at most ten seconds for at most 1 MiB.
    pub fn get(url: impl Into<Cow<'a, str>>) -> Self {
        Self {
            method: "GET",
            url: url.into(),
            headers: Vec::new(),
            body: None,
            timeout: Duration::from_secs(10),
            max_bytes: 1 << 20,
        }
    }
}

/// Another server's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpResponse {
    /// The status code.
    pub status: u16,
    /// `Retry-After` in milliseconds, where the server sent it as seconds.
    pub retry_after_ms: Option<u64>,
    /// The whole body.
    pub body: Vec<u8>,
}

impl HttpResponse {
    /// The body as JSON of the form of `T`; `None` when it is not that.
    pub fn json<T: DeserializeOwned>(&self) -> Option<T> {
        json::read(&self.body)
    }
}

/// Why another server gave no usable answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HttpError {
    /// The answer did not arrive in time.
    Timeout,
    /// The body is larger than the request allows.
    TooLarge,
    /// No connection, no such host, or a broken answer. The text is for the log.
    Unreachable(String),
}

impl fmt::Display for HttpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Timeout => f.write_str("no answer in time"),
            Self::TooLarge => f.write_str("the answer is too large"),
            Self::Unreachable(reason) => write!(f, "unreachable: {reason}"),
        }
    }
}

/// An algorithm of public-key signatures, by its name in a token's `alg` (RFC 7518, RFC 8037).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignatureAlgorithm {
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    Rs256,
    /// ECDSA with P-256 and SHA-256.
    Es256,
    /// Ed25519.
    EdDsa,
}

impl SignatureAlgorithm {
    /// The algorithm of that name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Rs256, Self::Es256, Self::EdDsa].into_iter().find(|one| one.name() == name)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rs256 => "RS256",
            Self::Es256 => "ES256",
            Self::EdDsa => "EdDSA",
        }
    }
}

/// Verifies public-key signatures: the runtime does that in native code.
pub trait Signatures {
    /// Whether `signature` is that of `message` by the holder of `jwk`, a public key as JSON
    /// (RFC 7517). A key or signature that cannot be read is not good.
    fn verify<'a>(
        &'a self,
        algorithm: SignatureAlgorithm,
        jwk: &'a str,
        message: &'a [u8],
        signature: &'a [u8],
    ) -> BoxFuture<'a, bool>;
}

/// Counts what each caller uses.
pub trait RateLimit {
    /// Whether there is a limit at all.
    fn is_limited(&self) -> bool;

    /// Counts `units` against `key`; false when they are more than the limit leaves.
    ///
    /// # Errors
    /// The counter does not answer. Holds the reason for the log.
    fn take<'a>(&'a self, key: &'a str, units: usize) -> BoxFuture<'a, Result<bool, String>>;
}

/// How much a log line matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Worth knowing; nothing to do.
    Warn,
    /// Somebody must look: the server or a tool is at fault.
    Error,
}

/// Writes log lines for the people who run the server.
pub trait Log {
    /// Writes one line: what happened (`event`, a fixed word) and its details.
    ///
    /// Callers never pass secrets, tokens or a caller's input.
    fn log(&self, level: Level, event: &'static str, details: &[(&'static str, &str)]);
}

/// Everything a host supplies.
pub trait Host:
    Clock + Random + Variables + Store + HttpClient + Signatures + RateLimit + Log
{
}

impl<T> Host for T where
    T: Clock + Random + Variables + Store + HttpClient + Signatures + RateLimit + Log
{
}
