//! The traits that a host implements: clock, randomness, variables, store, HTTP client, signatures, rate limit,
//! log, metrics, platform.
//!
//! All side effects go through them, so the library runs on Workers and, with fakes, in native tests. Futures are
//! not `Send`: a Worker has one thread.

mod http;
mod ledger;
mod tasks;

pub use http::{ByteStream, HttpClient, HttpError, HttpRequest, HttpResponse, StreamedResponse};
pub use ledger::{
    AccountUsage, Amount, DayUsage, Exceeded, LEDGER, Ledger, LedgerError, Reservation, WindowUsage,
};
pub use tasks::{
    NewTask, StepReport, TASKS, TaskOperation, TaskRecord, TaskStatus, TaskStep, Tasks,
};

use std::any::Any;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use serde::{Serialize, Serializer};

use crate::json;

/// The traits of a host, and others with async functions, need it where they are implemented: `#[async_trait(?Send)]`.
pub use async_trait::async_trait;

/// A boxed future that may borrow for `'a` and need not be `Send`.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// Boxes a future that few requests need, so that the common path's future stays small.
pub fn boxed<'a, T>(future: impl Future<Output = T> + 'a) -> BoxFuture<'a, T> {
    Box::pin(future)
}

/// The time, and timers.
#[async_trait(?Send)]
pub trait Clock {
    /// Milliseconds since the Unix epoch. On Workers it advances only with I/O.
    fn now_ms(&self) -> u64;

    /// Waits for at least `duration`, on a timer of the current request.
    async fn sleep(&self, duration: Duration);
}

/// A cryptographic random source.
pub trait Random {
    /// Sixteen random bytes.
    ///
    /// # Errors
    /// The source failed.
    fn random_16(&self) -> Result<[u8; 16], NoRandomness>;
}

/// The source of random bytes failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoRandomness;

/// Reads configuration variables and secrets.
pub trait Variables {
    /// The names and values of all variables and secrets that are set. The server reads them once, when it starts.
    fn variables(&self) -> Vec<(String, String)>;

    /// Whether the host can reach a service by this name ([`HttpRequest::binding`]).
    fn has_binding(&self, _name: &str) -> bool {
        false
    }
}

/// An eventually consistent key-value store: a read may return a value that is a minute old, and misses are
/// cached.
#[async_trait(?Send)]
pub trait Store {
    /// The value of `key`; `None` if it does not exist, or is not visible yet.
    ///
    /// # Errors
    /// The store does not respond, or rejects the operation. The same applies to `put` and `delete`.
    async fn get(&self, key: &str) -> Result<Option<String>, StoreError>;

    /// Stores `value` under `key` for `life`, at least [`SHORTEST_LIFE`], or without a limit. A store may reject
    /// more than one write per second to the same key.
    async fn put(&self, key: &str, value: &str, life: Option<Duration>) -> Result<(), StoreError>;

    /// Deletes the value of `key`, if it exists. Reads may return it for another minute.
    async fn delete(&self, key: &str) -> Result<(), StoreError>;

    /// The keys that begin with `prefix`, sorted, from the page that `cursor` stands for; without it, the first. New
    /// keys may be missing, and deleted ones listed, for a minute.
    ///
    /// # Errors
    /// Like `get`; or the cursor is not valid.
    async fn list(&self, prefix: &str, cursor: Option<&str>) -> Result<KeyPage, StoreError>;
}

/// A page of keys.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeyPage {
    /// The keys, at most 1,000.
    pub keys: Vec<String>,
    /// Where the next page begins; `None` if this is the last one.
    pub cursor: Option<String>,
}

/// The shortest lifetime that a value can have in the store.
pub const SHORTEST_LIFE: Duration = Duration::from_secs(60);

/// An operation of the store failed. Contains the reason for the log, without keys and values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreError(pub String);

/// A public-key signature algorithm, as in a token's `alg` (RFC 7518, RFC 8037).
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
    /// The algorithm with this name. RFC 9864, 2.2 has a new name for the last one.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "RS256" => Some(Self::Rs256),
            "ES256" => Some(Self::Es256),
            "EdDSA" | "Ed25519" => Some(Self::EdDsa),
            _ => None,
        }
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

/// Verifies public-key signatures, which runtimes do in native code.
#[async_trait(?Send)]
pub trait Signatures {
    /// Whether `signature` is a valid signature of `message` by `jwk`, a public key as JSON
    /// (RFC 7517). False for a malformed key or signature.
    async fn verify(
        &self,
        algorithm: SignatureAlgorithm,
        jwk: &str,
        message: &[u8],
        signature: &[u8],
    ) -> bool;
}

/// The name of the limiter that counts the calls of each caller.
pub const RATE_LIMIT: &str = "RATE_LIMIT";
/// The name of the limiter that counts the requests of each network to the pages and the OAuth endpoints of sign-in.
pub const SIGN_IN_LIMITER: &str = "SIGN_IN_LIMITER";

/// Counts what each caller uses, by limiters that the operator configures. Each has a fixed limit and period.
#[async_trait(?Send)]
pub trait RateLimit {
    /// Whether a limiter of this name is configured.
    fn is_limited(&self, limiter: &str) -> bool;

    /// Counts `units` against `key` in a limiter that is configured; false if they exceed its limit.
    ///
    /// # Errors
    /// The counter does not respond. Contains the reason for the log.
    async fn take(&self, limiter: &str, key: &str, units: usize) -> Result<bool, String>;
}

/// The severity of a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Something happened as it should.
    Info,
    /// A caller, or another service, did something wrong.
    Warn,
    /// A problem of the server or of a tool that must be fixed.
    Error,
}

/// The log, which operators read.
pub trait Log {
    /// Writes one line, a JSON object. It never contains secrets, tokens or a caller's input.
    fn write(&self, level: Level, line: &str);

    /// Logs a problem: what happened (`event`, a fixed word) and its details.
    ///
    /// Callers never pass secrets, tokens or a caller's input.
    fn log(&self, level: Level, event: &'static str, details: &[(&'static str, &str)]) {
        self.write(level, &json::to_string(&Problem { event, details }));
    }
}

struct Problem<'a> {
    event: &'static str,
    details: &'a [(&'static str, &'a str)],
}

impl Serialize for Problem<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map([("event", self.event)].iter().chain(self.details).copied())
    }
}

/// Stores measurements of calls, for statistics.
pub trait Metrics {
    /// Whether measurements are stored.
    fn is_measured(&self) -> bool;

    /// Stores a measurement. Its texts never contain secrets, tokens or a caller's input.
    fn measure(&self, point: &DataPoint<'_>);
}

/// A measurement of one call. Queries refer to texts and numbers by their position.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct DataPoint<'a> {
    /// The key by which the store samples.
    pub index: &'a str,
    /// Texts.
    pub blobs: &'a [&'a str],
    /// Numbers.
    pub doubles: &'a [f64],
}

/// What the platform offers beyond the other traits, such as databases, for tools that depend on it.
pub trait Platform {
    /// Whether the operator has bound a resource to this name.
    fn is_bound(&self, name: &str) -> bool;

    /// The host's own value for its tools, in a type that the host's crate documents.
    fn platform(&self) -> &dyn Any;
}

/// All traits of a host.
pub trait Host:
    Clock
    + Random
    + Variables
    + Store
    + Ledger
    + Tasks
    + HttpClient
    + Signatures
    + RateLimit
    + Log
    + Metrics
    + Platform
{
}

impl<T> Host for T where
    T: Clock
        + Random
        + Variables
        + Store
        + Ledger
        + Tasks
        + HttpClient
        + Signatures
        + RateLimit
        + Log
        + Metrics
        + Platform
{
}
