//! What an instance remembers: writes that the store may not return yet, and documents that it need not fetch again.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::STALE_MS;

/// Values that are kept in memory for a while, each under a key. Shared by all requests of an instance.
///
/// A vector of key, value and end, because there are few of them, and a map would link more code than it saves time.
#[derive(Debug)]
pub(crate) struct Memory<T> {
    entries: Mutex<Vec<(String, T, u64)>>,
    most: usize,
}

impl<T: Clone> Memory<T> {
    /// A memory for so many values. Callers could cause more, for users and clients that they make up, and each request
    /// searches them.
    pub(crate) fn new(most: usize) -> Self {
        Self { entries: Mutex::default(), most }
    }

    fn entries(&self) -> MutexGuard<'_, Vec<(String, T, u64)>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers a value from `now_ms` on, for `life_ms`.
    pub(crate) fn insert(&self, key: &str, value: T, now_ms: u64, life_ms: u64) {
        let mut entries = self.entries();
        entries.retain(|(known, _, end_ms)| known != key && now_ms < *end_ms);
        if entries.len() >= self.most {
            entries.remove(0);
        }
        entries.push((key.to_owned(), value, now_ms.saturating_add(life_ms)));
    }

    /// The value under a key, if its time is not over.
    pub(crate) fn get(&self, key: &str, now_ms: u64) -> Option<T> {
        let entries = self.entries();
        let (_, value, end_ms) = entries.iter().find(|(known, ..)| known == key)?;
        (now_ms < *end_ms).then(|| value.clone())
    }
}

/// Writes of the last minute. Calls, the endpoints of sign-in and the account read them. The check of a challenge must not:
/// it promises that a call finds the grant, and the call may reach another instance.
pub(crate) type RecentWrites = Memory<String>;

impl RecentWrites {
    pub(crate) fn of_a_minute() -> Self {
        Self::new(256)
    }

    /// Remembers what was written under a key, or should have been.
    pub(crate) fn remember(&self, key: &str, value: &str, now_ms: u64) {
        self.insert(key, value.to_owned(), now_ms, STALE_MS);
    }
}
