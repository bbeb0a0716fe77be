//! A fake of Workers KV, with the same stale reads and limits.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::time::Duration;

use crate::host::{KeyPage, SHORTEST_LIFE, StoreError};

/// A store with stale reads: each location caches values and misses for a minute. It accepts one write per second
/// and key.
#[derive(Default)]
pub struct FakeStore {
    /// The location that reads; each has its own cache.
    pub location: Cell<u8>,
    /// Whether writes fail.
    pub fails_writes: Cell<bool>,
    /// Reads of keys with this prefix fail.
    pub fails_reads_of: Cell<Option<&'static str>>,
    /// The operations: `get`, `put`, `delete` or `list`, the part of the key before `:`, and whether a read found a value.
    pub operations: RefCell<Vec<String>>,
    /// The current values, each with the time at which it expires.
    values: RefCell<BTreeMap<String, (String, u64)>>,
    /// The reads that each location has cached.
    cached: RefCell<BTreeMap<(u8, String), Read>>,
    /// When each key was last written.
    written: RefCell<BTreeMap<String, u64>>,
}

/// A value, if it existed, and the time of the read.
type Read = (Option<String>, u64);

const PAGE: usize = 1_000;

/// How long a location caches a read, in milliseconds.
pub const STALE_MS: u64 = 60_000;

impl FakeStore {
    pub(super) fn get(&self, key: &str, now_ms: u64) -> Result<Option<String>, StoreError> {
        if self.fails_reads_of.get().is_some_and(|prefix| key.starts_with(prefix)) {
            return Err(StoreError("500 Internal Server Error".to_owned()));
        }
        let value = self.read(key, now_ms);
        self.record("get", key, if value.is_some() { ": found" } else { ": missed" });
        Ok(value)
    }

    fn record(&self, what: &str, key: &str, result: &str) {
        let kind = key.split(':').next().unwrap_or_default();
        self.operations.borrow_mut().push(format!("{what} {kind}{result}"));
    }

    fn read(&self, key: &str, now_ms: u64) -> Option<String> {
        let cache_key = (self.location.get(), key.to_owned());
        if let Some((value, at)) = self.cached.borrow().get(&cache_key)
            && now_ms < at + STALE_MS
        {
            return value.clone();
        }
        let values = self.values.borrow();
        let value =
            values.get(key).filter(|(_, end)| now_ms < *end).map(|(value, _)| value.clone());
        self.cached.borrow_mut().insert(cache_key, (value.clone(), now_ms));
        value
    }

    pub(super) fn put(
        &self,
        key: &str,
        value: &str,
        life: Option<Duration>,
        now_ms: u64,
    ) -> Result<(), StoreError> {
        if life.is_some_and(|life| life < SHORTEST_LIFE) {
            return Err(StoreError("400 Invalid expiration_ttl".to_owned()));
        }
        self.record("put", key, "");
        self.write(key, now_ms)?;
        let life = life.and_then(|life| u64::try_from(life.as_millis()).ok()).unwrap_or(u64::MAX);
        let end = now_ms.saturating_add(life);
        self.values.borrow_mut().insert(key.to_owned(), (value.to_owned(), end));
        Ok(())
    }

    pub(super) fn delete(&self, key: &str, now_ms: u64) -> Result<(), StoreError> {
        self.record("delete", key, "");
        self.write(key, now_ms)?;
        self.values.borrow_mut().remove(key);
        Ok(())
    }

    /// Lists without caches, in pages of [`PAGE`] keys. The cursor is the last key of the page before.
    pub(super) fn list(
        &self,
        prefix: &str,
        cursor: Option<&str>,
        now_ms: u64,
    ) -> Result<KeyPage, StoreError> {
        if self.fails_reads_of.get().is_some_and(|failing| prefix.starts_with(failing)) {
            return Err(StoreError("500 Internal Server Error".to_owned()));
        }
        self.record("list", prefix, "");
        let values = self.values.borrow();
        let listed = values.iter().filter(|(key, (_, end))| {
            key.starts_with(prefix)
                && now_ms < *end
                && cursor.is_none_or(|last| key.as_str() > last)
        });
        let mut keys: Vec<_> = listed.map(|(key, _)| key.clone()).take(PAGE + 1).collect();
        let is_last = keys.len() <= PAGE;
        keys.truncate(PAGE);
        let cursor = if is_last { None } else { keys.last().cloned() };
        Ok(KeyPage { keys, cursor })
    }

    fn write(&self, key: &str, now_ms: u64) -> Result<(), StoreError> {
        if self.fails_writes.get() {
            return Err(StoreError("500 Internal Server Error".to_owned()));
        }
        let last = self.written.borrow_mut().insert(key.to_owned(), now_ms);
        if last.is_some_and(|last| now_ms < last + 1_000) {
            return Err(StoreError("429 Too Many Requests".to_owned()));
        }
        Ok(())
    }

    /// The current keys and values, without caches.
    pub fn values(&self) -> BTreeMap<String, String> {
        let values = self.values.borrow();
        values.iter().map(|(key, (value, _))| (key.clone(), value.clone())).collect()
    }
}
