//! Writes of the last minute, kept in memory because the store may still return the old value.
//!
//! Calls, the endpoints of sign-in and the account read them. The check of a challenge must not: it promises that a call
//! finds the grant, and the call may reach another instance.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// How far the store may be behind.
pub(crate) const STALE_MS: u64 = 60_000;

/// The most writes that are kept. Callers could cause more in a minute, for users that they make up,
/// and each call searches them.
const MAX_ENTRIES: usize = 256;
/// After a failure, an authorization server gets no request for this long.
const UNREACHABLE_MS: u64 = 5_000;

// Vectors, because a minute brings few entries, and maps would link more code than they save time.
#[derive(Debug, Default)]
struct Entries {
    /// The value that was written under a key, and when.
    written: Vec<(String, (String, u64))>,
    /// The providers that did not respond, and when.
    unreachable: Vec<(String, u64)>,
}

/// Shared by all requests of an instance.
#[derive(Debug, Default)]
pub(crate) struct RecentWrites(Mutex<Entries>);

impl RecentWrites {
    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers what was written under a key, or should have been.
    pub(crate) fn insert(&self, key: &str, value: &str, now_ms: u64) {
        let written = &mut self.entries().written;
        written.retain(|(known, (_, at))| known != key && now_ms.saturating_sub(*at) < STALE_MS);
        if written.len() >= MAX_ENTRIES {
            written.remove(0);
        }
        written.push((key.to_owned(), (value.to_owned(), now_ms)));
    }

    /// What was written under a key, if the store may not return it yet.
    pub(crate) fn get(&self, key: &str, now_ms: u64) -> Option<String> {
        let entries = self.entries();
        let (_, (value, at)) = entries.written.iter().find(|(known, _)| known == key)?;
        (now_ms.saturating_sub(*at) < STALE_MS).then(|| value.clone())
    }

    pub(crate) fn mark_unreachable(&self, provider: &str, now_ms: u64) {
        let unreachable = &mut self.entries().unreachable;
        unreachable.retain(|(known, _)| known != provider);
        unreachable.push((provider.to_owned(), now_ms));
    }

    /// Whether a provider has just not responded: another request would only make callers wait.
    pub(crate) fn is_unreachable(&self, provider: &str, now_ms: u64) -> bool {
        let entries = self.entries();
        let at = entries.unreachable.iter().find(|(known, _)| known == provider);
        at.is_some_and(|(_, at)| now_ms.saturating_sub(*at) < UNREACHABLE_MS)
    }
}
