//! Stand-ins for tests: a host without a world around it, and the runner of a catalogue's examples.

mod store;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::mem;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::call::{Nulls, Outcome, Pipeline, RequestContext, ToolRequest, ToolSelector};
use crate::catalog::{Catalog, Example, Found, ToolRef};
use crate::host::{
    BoxFuture, Clock, Host, HttpClient, HttpError, HttpRequest, HttpResponse, Level, Log,
    NoRandomness, Random, RateLimit, SignatureAlgorithm, Signatures, Store, StoreError, Variables,
};
use crate::http::Headers;
use crate::principal::Principal;
use crate::principal::Scopes;
use crate::tool::{Capabilities, Credentials, Dialogue, Secret};

pub use store::{FakeStore, STALE_MS};

/// Answers the HTTP requests of a test.
pub type Upstream = fn(&HttpRequest<'_>) -> Result<HttpResponse, HttpError>;

/// A host whose clock ticks one millisecond a look, whose random bytes count up, and whose only
/// upstream is a function.
pub struct FakeHost {
    /// The next reading of the clock, in milliseconds.
    pub now_ms: Cell<u64>,
    /// The next random byte.
    pub next_random: Cell<u8>,
    /// Whether there are random bytes.
    pub random_works: bool,
    /// Variables and secrets: `AUTH=none`, unless the test says otherwise.
    pub variables: BTreeMap<String, String>,
    /// Whether the store answers.
    pub store_works: bool,
    /// The store.
    pub store: FakeStore,
    /// Answers HTTP requests.
    pub upstream: Upstream,
    /// Whether upstream answers at the second look only, so that others have their turn before.
    pub upstream_waits: Cell<bool>,
    /// Whether a write ends at the second look only.
    pub puts_wait: Cell<bool>,
    /// How many units each key may take, if there is a limit; `Err` when the counter is down.
    pub limit: Option<Result<usize, String>>,
    /// What each key has taken.
    pub taken: RefCell<BTreeMap<String, usize>>,
    /// How many signatures of issuers it was asked about.
    pub verified: Cell<usize>,
    /// Every line that was logged.
    pub log: RefCell<Vec<String>>,
}

impl Default for FakeHost {
    fn default() -> Self {
        Self {
            now_ms: Cell::new(1_741_724_000_000),
            next_random: Cell::new(0),
            random_works: true,
            variables: BTreeMap::from([("AUTH".to_owned(), "none".to_owned())]),
            store_works: true,
            store: FakeStore::default(),
            upstream: |_| Err(HttpError::Unreachable("no upstream in this test".to_owned())),
            upstream_waits: Cell::new(false),
            puts_wait: Cell::new(false),
            limit: None,
            taken: RefCell::default(),
            verified: Cell::new(0),
            log: RefCell::new(Vec::new()),
        }
    }
}

impl FakeHost {
    /// A host with these variables.
    pub fn with(variables: &[(&str, &str)]) -> Self {
        let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let mut host = Self::default();
        host.variables.extend(variables.iter().map(pair));
        host
    }
}

impl Clock for FakeHost {
    fn now_ms(&self) -> u64 {
        self.now_ms.replace(self.now_ms.get() + 1)
    }

    /// Waits until the clock has come so far, by looking at it each time that it is polled.
    fn sleep(&self, duration: Duration) -> BoxFuture<'_, ()> {
        let wait = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        let end = self.now_ms.get().saturating_add(wait);
        Box::pin(poll_fn(move |context| {
            if self.now_ms() >= end {
                return Poll::Ready(());
            }
            context.waker().wake_by_ref();
            Poll::Pending
        }))
    }
}

impl Random for FakeHost {
    fn random_16(&self) -> Result<[u8; 16], NoRandomness> {
        if !self.random_works {
            return Err(NoRandomness);
        }
        let next = || self.next_random.replace(self.next_random.get().wrapping_add(1));
        Ok(std::array::from_fn(|_| next()))
    }
}

impl Variables for FakeHost {
    fn variable(&self, name: &str) -> Option<String> {
        self.variables.get(name).cloned()
    }
}

impl FakeHost {
    fn stored<'a, T: 'a>(
        &'a self,
        ask: impl FnOnce(&FakeStore, u64) -> Result<T, StoreError>,
    ) -> BoxFuture<'a, Result<T, StoreError>> {
        let down = || Err(StoreError("down".to_owned()));
        let answer = if self.store_works { ask(&self.store, self.now_ms.get()) } else { down() };
        Box::pin(async { answer })
    }
}

impl Store for FakeHost {
    fn get<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<String>, StoreError>> {
        self.stored(|store, now_ms| store.get(key, now_ms))
    }

    fn put<'a>(
        &'a self,
        key: &'a str,
        value: &'a str,
        life: Duration,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            one_turn(self.puts_wait.get()).await;
            self.stored(|store, now_ms| store.put(key, value, life, now_ms)).await
        })
    }

    fn delete<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
        self.stored(|store, now_ms| store.delete(key, now_ms))
    }
}

impl HttpClient for FakeHost {
    fn send<'a>(
        &'a self,
        request: HttpRequest<'a>,
    ) -> BoxFuture<'a, Result<HttpResponse, HttpError>> {
        Box::pin(async move {
            one_turn(self.upstream_waits.get()).await;
            (self.upstream)(&request)
        })
    }
}

/// Lets other futures have their turn first, if it `waits`.
async fn one_turn(mut waits: bool) {
    poll_fn(|context| match mem::take(&mut waits) {
        true => {
            context.waker().wake_by_ref();
            Poll::Pending
        }
        false => Poll::Ready(()),
    })
    .await;
}

/// The signature that [`FakeHost`] takes for good: anybody can make it, and nobody by accident.
pub fn fake_signature(algorithm: SignatureAlgorithm, jwk: &str, message: &[u8]) -> Vec<u8> {
    let parts = [algorithm.name().as_bytes(), jwk.as_bytes(), message];
    parts.iter().fold(Sha256::new(), |hash, part| hash.chain_update(part)).finalize().to_vec()
}

impl Signatures for FakeHost {
    fn verify<'a>(
        &'a self,
        algorithm: SignatureAlgorithm,
        jwk: &'a str,
        message: &'a [u8],
        signature: &'a [u8],
    ) -> BoxFuture<'a, bool> {
        self.verified.update(|times| times + 1);
        let good = fake_signature(algorithm, jwk, message) == signature;
        Box::pin(async move { good })
    }
}

impl RateLimit for FakeHost {
    fn is_limited(&self) -> bool {
        self.limit.is_some()
    }

    fn take<'a>(&'a self, key: &'a str, units: usize) -> BoxFuture<'a, Result<bool, String>> {
        let mut taken = self.taken.borrow_mut();
        let sum = taken.entry(key.to_owned()).or_default();
        *sum += units;
        let within = match &self.limit {
            None => Ok(true),
            Some(limit) => limit.clone().map(|limit| *sum <= limit),
        };
        Box::pin(async move { within })
    }
}

impl Log for FakeHost {
    fn log(&self, level: Level, event: &'static str, details: &[(&'static str, &str)]) {
        self.log.borrow_mut().push(format!("{level:?} {event} {details:?}"));
    }
}

/// The value of a future that never waits.
///
/// # Panics
/// The future is not ready at its first poll: the pipeline promises that it is, without I/O.
pub fn ready<T>(future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        #[allow(clippy::panic)]
        Poll::Pending => panic!("the future waits although nothing does I/O"),
    }
}

/// Headers that are all absent.
struct NoHeaders;

impl Headers for NoHeaders {
    fn get(&self, _: &str) -> Option<String> {
        None
    }
}

/// Runs `test` with the context of a request without headers.
pub fn with_context<T>(
    catalog: &'static Catalog,
    principal: &Principal,
    query: &str,
    host: &dyn Host,
    test: impl FnOnce(&RequestContext<'_>) -> T,
) -> T {
    let pipeline = Pipeline::new(catalog, host);
    let headers = &NoHeaders;
    test(&RequestContext { query, headers, principal, pipeline: &pipeline, host })
}

/// Serves one call by the pipeline alone.
///
/// # Panics
/// The tool waits.
pub fn call_tool(
    call: ToolRequest<'_>,
    catalog: &'static Catalog,
    principal: &Principal,
    host: &dyn Host,
) -> Outcome {
    let pipeline = Pipeline::new(catalog, host);
    let headers = &NoHeaders;
    let context = RequestContext { query: "", headers, principal, pipeline: &pipeline, host };
    ready(context.call(Ok(call))).unwrap_or_else(Outcome::Rejected)
}

/// Runs one example of a definition through the pipeline; tells what is wrong, if anything.
///
/// Requirements are met with made-up values, scopes with all there are; the client has every capability
/// and no answers yet.
///
/// # Errors
/// The outcome is not the one that the example promises.
pub fn check_example(
    catalog: &'static Catalog,
    host: &FakeHost,
    tool_id: &str,
    example: &Example,
) -> Result<(), String> {
    let wanted = ToolRef::parse(tool_id).map_err(|error| error.to_string())?;
    let Found::Tool(tool) = catalog.find(&wanted) else {
        return Err(format!("{tool_id} is not in the catalogue"));
    };
    let made_up = |ids: &[&str]| {
        ids.iter().map(|id| ((*id).to_owned(), Secret::new(format!("example-{id}")))).collect()
    };
    let credentials = Credentials {
        user_id: Some("example-user".to_owned()),
        tokens: made_up(&tool.authorization.iter().map(|it| it.id).collect::<Vec<_>>()),
        secrets: made_up(tool.secrets),
    };
    let call = ToolRequest {
        tool: ToolSelector::Id(tool_id.into()),
        call_id: None,
        input: (&example.input).into(),
        nulls: Nulls::Exact,
        credentials,
        dialogue: Dialogue { capabilities: Capabilities::ALL, ..Dialogue::default() },
    };
    let principal = Principal::Key { name: "example".to_owned(), scopes: Scopes::All };
    let got = match call_tool(call, catalog, &principal, host) {
        Outcome::Done { value, .. } => json!({ "value": value }),
        Outcome::Failed { error, .. } => json!({ "error": { "message": error.message } }),
        Outcome::InvalidInput(invalid) => json!({ "invalid": format!("{:?}", invalid.errors) }),
        Outcome::InputRequired { required, .. } => {
            let mut keys: Vec<_> = required.questions.iter().map(|(key, _)| key).collect();
            keys.sort();
            json!({ "asks": keys })
        }
        Outcome::Rejected(rejection) => json!({ "refused": format!("{rejection:?}") }),
    };
    let promised = match (&example.value, &example.error, &example.asks) {
        (Some(value), ..) => json!({ "value": value }),
        (None, Some(error), _) => json!({ "error": { "message": error.message } }),
        (None, None, Some(keys)) => json!({ "asks": keys }),
        (None, None, None) => Value::Null,
    };
    if got == promised {
        Ok(())
    } else {
        Err(format!(
            "{tool_id} with {}: expected {promised}, got {got}; log: {:?}",
            example.input,
            host.log.borrow()
        ))
    }
}
