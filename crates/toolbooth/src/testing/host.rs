//! A fake host: clock, random bytes, store, ledger, HTTP client, rate limits and log.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::future::poll_fn;
use std::mem;
use std::task::Poll;
use std::time::Duration;

use sha2::{Digest, Sha256};

use super::http::{FakeHttp, Upstream, streamed};
use super::ledger::FakeLedger;
use super::store::FakeStore;
use super::tasks::FakeTasks;
use crate::host::{
    Amount, BoxFuture, Clock, DataPoint, Exceeded, HttpClient, HttpError, HttpRequest,
    HttpResponse, KeyPage, LEDGER, Ledger, LedgerError, Level, Log, Metrics, NoRandomness,
    Platform, RATE_LIMIT, Random, RateLimit, Reservation, SignatureAlgorithm, Signatures, Store,
    StoreError, StreamedResponse, TASKS, Tasks, Variables, async_trait,
};
use crate::json;

/// A fake host: each reading advances the clock by one millisecond, random bytes count up, and a function responds
/// to HTTP requests.
pub struct FakeHost {
    /// The next reading of the clock, in milliseconds.
    pub now_ms: Cell<u64>,
    /// How far each reading advances the clock, in milliseconds.
    pub tick_ms: u64,
    /// The next random byte.
    pub next_random: Cell<u8>,
    /// How often the random bytes have begun again. It makes the first byte of each sixteen differ.
    pub random_rounds: Cell<u8>,
    /// Whether the source of random bytes works.
    pub random_works: bool,
    /// Variables and secrets; by default `AUTH=none`.
    pub variables: BTreeMap<String, String>,
    /// Whether the store works.
    pub store_works: bool,
    /// The store.
    pub store: FakeStore,
    /// The ledger, which is bound if [`bindings`](Self::bindings) contain `LEDGER`.
    pub ledger: FakeLedger,
    /// The tasks, which are bound if [`bindings`](Self::bindings) contain `TASKS`.
    pub tasks: FakeTasks,
    /// Responds to HTTP requests for which [`http`](Self::http) has no response.
    pub upstream: Upstream,
    /// The HTTP requests that were sent, and scripted responses.
    pub http: FakeHttp,
    /// Whether HTTP requests complete at the second poll, so that other futures run first.
    pub upstream_waits: Cell<bool>,
    /// Whether the store's operations complete at the second poll.
    pub store_waits: Cell<bool>,
    /// The limit of units per key, if any; `Err` if the counter is down.
    pub limit: Option<Result<usize, String>>,
    /// The limits of further limiters, by name.
    pub limits: BTreeMap<&'static str, Result<usize, String>>,
    /// The counted units of each key; after the name of the limiter, unless it is the usual one.
    pub taken: RefCell<BTreeMap<String, usize>>,
    /// The number of verified signatures.
    pub verified: Cell<usize>,
    /// The logged problems.
    pub log: RefCell<Vec<String>>,
    /// The lines of the logged events.
    pub lines: RefCell<Vec<(Level, String)>>,
    /// Whether calls are measured.
    pub measures: bool,
    /// The measurements.
    pub points: RefCell<Vec<String>>,
    /// The names of the bound resources.
    pub bindings: BTreeSet<&'static str>,
}

impl Default for FakeHost {
    fn default() -> Self {
        Self {
            now_ms: Cell::new(1_741_724_000_000),
            tick_ms: 1,
            next_random: Cell::new(0),
            random_rounds: Cell::new(0),
            random_works: true,
            variables: BTreeMap::from([("AUTH".to_owned(), "none".to_owned())]),
            store_works: true,
            store: FakeStore::default(),
            ledger: FakeLedger::default(),
            tasks: FakeTasks::default(),
            upstream: |_| Err(HttpError::Unreachable("no upstream in this test".to_owned())),
            http: FakeHttp::default(),
            upstream_waits: Cell::new(false),
            store_waits: Cell::new(false),
            limit: None,
            limits: BTreeMap::new(),
            taken: RefCell::default(),
            verified: Cell::new(0),
            log: RefCell::new(Vec::new()),
            lines: RefCell::new(Vec::new()),
            measures: false,
            points: RefCell::new(Vec::new()),
            bindings: BTreeSet::new(),
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

    /// All that was logged or measured, as text.
    pub fn printed(&self) -> String {
        let Self { log, lines, points, .. } = self;
        format!("{:?} {:?} {:?}", log.borrow(), lines.borrow(), points.borrow())
    }

    fn store(&self) -> Result<(&FakeStore, u64), StoreError> {
        match self.store_works {
            true => Ok((&self.store, self.now_ms.get())),
            false => Err(StoreError("down".to_owned())),
        }
    }

    fn limit_of(&self, limiter: &str) -> Option<&Result<usize, String>> {
        match limiter {
            RATE_LIMIT => self.limit.as_ref(),
            other => self.limits.get(other),
        }
    }
}

#[async_trait(?Send)]
impl Clock for FakeHost {
    fn now_ms(&self) -> u64 {
        self.now_ms.replace(self.now_ms.get() + self.tick_ms)
    }

    /// Reads the clock at each poll until the time has come.
    async fn sleep(&self, duration: Duration) {
        let wait = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        let end = self.now_ms.get().saturating_add(wait);
        while self.now_ms() < end {
            one_turn(true).await;
        }
    }
}

impl Random for FakeHost {
    fn random_16(&self) -> Result<[u8; 16], NoRandomness> {
        if !self.random_works {
            return Err(NoRandomness);
        }
        let before = self.next_random.get();
        let next = || self.next_random.replace(self.next_random.get().wrapping_add(1));
        let mut bytes: [u8; 16] = std::array::from_fn(|_| next());
        let round = self.random_rounds.get();
        bytes[0] = bytes[0].wrapping_add(round);
        if self.next_random.get() < before {
            self.random_rounds.set(round.wrapping_add(1));
        }
        Ok(bytes)
    }
}

impl Variables for FakeHost {
    fn variables(&self) -> Vec<(String, String)> {
        self.variables.clone().into_iter().collect()
    }

    fn has_binding(&self, name: &str) -> bool {
        self.bindings.contains(name)
    }
}

#[async_trait(?Send)]
impl Store for FakeHost {
    async fn get(&self, key: &str) -> Result<Option<String>, StoreError> {
        one_turn(self.store_waits.get()).await;
        let (store, now_ms) = self.store()?;
        store.get(key, now_ms)
    }

    async fn put(&self, key: &str, value: &str, life: Option<Duration>) -> Result<(), StoreError> {
        one_turn(self.store_waits.get()).await;
        let (store, now_ms) = self.store()?;
        store.put(key, value, life, now_ms)
    }

    async fn delete(&self, key: &str) -> Result<(), StoreError> {
        let (store, now_ms) = self.store()?;
        store.delete(key, now_ms)
    }

    async fn list(&self, prefix: &str, cursor: Option<&str>) -> Result<KeyPage, StoreError> {
        let (store, now_ms) = self.store()?;
        store.list(prefix, cursor, now_ms)
    }
}

impl FakeHost {
    fn in_ledger<'a, T: 'a>(
        &'a self,
        operation: impl FnOnce(&FakeLedger, u64) -> T + 'a,
    ) -> BoxFuture<'a, Result<T, LedgerError>> {
        Box::pin(async move {
            one_turn(self.ledger.waits.get()).await;
            match (self.is_bound(LEDGER), self.ledger.fails.get()) {
                (false, _) => Err(LedgerError::NotBound),
                (true, true) => Err(LedgerError::Failed("down".to_owned())),
                (true, false) => Ok(operation(&self.ledger, self.now_ms.get())),
            }
        })
    }
}

impl Ledger for FakeHost {
    fn claim<'a>(
        &'a self,
        key: &'a str,
        life: Duration,
    ) -> BoxFuture<'a, Result<bool, LedgerError>> {
        self.in_ledger(move |ledger, now_ms| ledger.claim(key, life, now_ms))
    }

    fn raise<'a>(
        &'a self,
        key: &'a str,
        number: u64,
        life: Duration,
    ) -> BoxFuture<'a, Result<u64, LedgerError>> {
        self.in_ledger(move |ledger, now_ms| ledger.raise(key, number, life, now_ms))
    }

    fn charge<'a>(
        &'a self,
        account: &'a str,
        amount: Amount<'a>,
    ) -> BoxFuture<'a, Result<Result<(), Exceeded>, LedgerError>> {
        self.in_ledger(move |ledger, now_ms| ledger.take(account, amount, None, now_ms).map(drop))
    }

    fn reserve<'a>(
        &'a self,
        account: &'a str,
        amount: Amount<'a>,
        life: Duration,
    ) -> BoxFuture<'a, Result<Result<Reservation, Exceeded>, LedgerError>> {
        self.in_ledger(move |ledger, now_ms| {
            ledger.take(account, amount, Some(life), now_ms).map(Reservation)
        })
    }

    fn settle<'a>(
        &'a self,
        account: &'a str,
        reservation: Reservation,
        used: u64,
    ) -> BoxFuture<'a, Result<(), LedgerError>> {
        self.in_ledger(move |ledger, now_ms| ledger.settle(account, reservation, used, now_ms))
    }

    fn read_usage<'a>(&'a self, account: &'a str) -> BoxFuture<'a, Result<String, LedgerError>> {
        self.in_ledger(move |ledger, now_ms| json::to_string(&ledger.usage(account, now_ms)))
    }

    fn read_accounts<'a>(
        &'a self,
        after: &'a str,
        most: usize,
    ) -> BoxFuture<'a, Result<String, LedgerError>> {
        self.in_ledger(move |ledger, _| json::to_string(&ledger.accounts(after, most)))
    }
}

impl Tasks for FakeHost {
    fn operate<'a>(
        &'a self,
        name: &'a str,
        operation: &'a str,
    ) -> BoxFuture<'a, Result<String, String>> {
        Box::pin(async move {
            if !self.is_bound(TASKS) {
                return Err("not bound".to_owned());
            }
            let operation = serde_json::from_str(operation).map_err(|error| error.to_string())?;
            let task = self.tasks.operate(name, &operation, self.now_ms.get())?;
            Ok(json::to_string(&task))
        })
    }
}

#[async_trait(?Send)]
impl HttpClient for FakeHost {
    async fn send(&self, request: HttpRequest<'_>) -> Result<HttpResponse, HttpError> {
        one_turn(self.upstream_waits.get()).await;
        let mut response = self.http.respond(&request, self.upstream)?;
        if request.cut && response.body.len() > request.max_bytes {
            response.body.truncate(request.max_bytes);
            response.is_cut = true;
        }
        Ok(response)
    }

    /// The response's body in chunks: see [`CHUNK_END`](super::CHUNK_END) and [`BREAKS_OFF`](super::BREAKS_OFF).
    async fn open(&self, request: HttpRequest<'_>) -> Result<StreamedResponse, HttpError> {
        self.send(request).await.map(streamed)
    }
}

/// Waits for one poll if `waits`, so that other futures run first.
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

/// The signature that [`FakeHost`] accepts: a hash that needs no private key.
pub fn fake_signature(algorithm: SignatureAlgorithm, jwk: &str, message: &[u8]) -> Vec<u8> {
    let parts = [algorithm.name().as_bytes(), jwk.as_bytes(), message];
    parts.iter().fold(Sha256::new(), |hash, part| hash.chain_update(part)).finalize().to_vec()
}

#[async_trait(?Send)]
impl Signatures for FakeHost {
    async fn verify(
        &self,
        algorithm: SignatureAlgorithm,
        jwk: &str,
        message: &[u8],
        signature: &[u8],
    ) -> bool {
        self.verified.update(|times| times + 1);
        fake_signature(algorithm, jwk, message) == signature
    }
}

#[async_trait(?Send)]
impl RateLimit for FakeHost {
    fn is_limited(&self, limiter: &str) -> bool {
        self.limit_of(limiter).is_some()
    }

    async fn take(&self, limiter: &str, key: &str, units: usize) -> Result<bool, String> {
        let mut taken = self.taken.borrow_mut();
        let key = match limiter {
            RATE_LIMIT => key.to_owned(),
            _ => format!("{limiter} {key}"),
        };
        let sum = taken.entry(key).or_default();
        *sum += units;
        self.limit_of(limiter).map_or(Ok(true), |limit| limit.clone().map(|limit| *sum <= limit))
    }
}

impl Log for FakeHost {
    fn write(&self, level: Level, line: &str) {
        self.lines.borrow_mut().push((level, line.to_owned()));
    }

    fn log(&self, level: Level, event: &'static str, details: &[(&'static str, &str)]) {
        self.log.borrow_mut().push(format!("{level:?} {event} {details:?}"));
    }
}

impl Metrics for FakeHost {
    fn is_measured(&self) -> bool {
        self.measures
    }

    fn measure(&self, DataPoint { index, blobs, doubles }: &DataPoint<'_>) {
        self.points.borrow_mut().push(format!("{index} {blobs:?} {doubles:?}"));
    }
}

impl Platform for FakeHost {
    fn is_bound(&self, name: &str) -> bool {
        self.bindings.contains(name)
    }

    /// Nothing: a tool that uses its platform runs on the platform only.
    fn platform(&self) -> &dyn Any {
        &()
    }
}
