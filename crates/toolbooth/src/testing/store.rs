//! A key-value store with all the faults that the real one may have.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::time::Duration;

use crate::host::{SHORTEST_LIFE, StoreError};

/// A store that is a minute behind: what a place has read, also that there is nothing, it reads
/// again for a minute. It takes one write a second and key.
#[derive(Default)]
pub struct FakeStore {
    /// The place that reads; each has a cache of its own.
    pub place: Cell<u8>,
    /// Whether writes fail.
    pub refuses_writes: Cell<bool>,
    /// Reads of keys that begin so fail.
    pub refuses_reads_of: Cell<Option<&'static str>>,
    /// What was asked of it: `get`, `put` or `delete`, what stands before `:` in the key, and of what
    /// was read whether it was there.
    pub asked: RefCell<Vec<String>>,
    /// What everybody reads in the end: values with the time when they end.
    values: RefCell<BTreeMap<String, (String, u64)>>,
    /// What each place has read, and when.
    cached: RefCell<BTreeMap<(u8, String), Read>>,
    /// When each key was last written.
    written: RefCell<BTreeMap<String, u64>>,
}

/// A value, if there was one, and when it was read.
type Read = (Option<String>, u64);

/// How long a place reads again what it has read, in milliseconds.
pub const STALE_MS: u64 = 60_000;

impl FakeStore {
    pub(super) fn get(&self, key: &str, now_ms: u64) -> Result<Option<String>, StoreError> {
        if self.refuses_reads_of.get().is_some_and(|beginning| key.starts_with(beginning)) {
            return Err(StoreError("500 Internal Server Error".to_owned()));
        }
        let value = self.read(key, now_ms);
        self.note("get", key, if value.is_some() { ": found" } else { ": missed" });
        Ok(value)
    }

    fn note(&self, what: &str, key: &str, result: &str) {
        let kind = key.split(':').next().unwrap_or_default();
        self.asked.borrow_mut().push(format!("{what} {kind}{result}"));
    }

    fn read(&self, key: &str, now_ms: u64) -> Option<String> {
        let place = (self.place.get(), key.to_owned());
        if let Some((value, at)) = self.cached.borrow().get(&place)
            && now_ms < at + STALE_MS
        {
            return value.clone();
        }
        let values = self.values.borrow();
        let value =
            values.get(key).filter(|(_, end)| now_ms < *end).map(|(value, _)| value.clone());
        self.cached.borrow_mut().insert(place, (value.clone(), now_ms));
        value
    }

    pub(super) fn put(
        &self,
        key: &str,
        value: &str,
        life: Duration,
        now_ms: u64,
    ) -> Result<(), StoreError> {
        if life < SHORTEST_LIFE {
            return Err(StoreError("400 Invalid expiration_ttl".to_owned()));
        }
        self.note("put", key, "");
        self.write(key, now_ms)?;
        let life = u64::try_from(life.as_millis()).unwrap_or(u64::MAX);
        let end = now_ms.saturating_add(life);
        self.values.borrow_mut().insert(key.to_owned(), (value.to_owned(), end));
        Ok(())
    }

    pub(super) fn delete(&self, key: &str, now_ms: u64) -> Result<(), StoreError> {
        self.note("delete", key, "");
        self.write(key, now_ms)?;
        self.values.borrow_mut().remove(key);
        Ok(())
    }

    fn write(&self, key: &str, now_ms: u64) -> Result<(), StoreError> {
        if self.refuses_writes.get() {
            return Err(StoreError("500 Internal Server Error".to_owned()));
        }
        let last = self.written.borrow_mut().insert(key.to_owned(), now_ms);
        if last.is_some_and(|last| now_ms < last + 1_000) {
            return Err(StoreError("429 Too Many Requests".to_owned()));
        }
        Ok(())
    }

    /// The keys and values that are there in truth.
    pub fn values(&self) -> BTreeMap<String, String> {
        let values = self.values.borrow();
        values.iter().map(|(key, (value, _))| (key.clone(), value.clone())).collect()
    }
}
