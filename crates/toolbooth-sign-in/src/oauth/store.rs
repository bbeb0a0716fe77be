//! The store, whose failures are logged, and the writes that it may not return yet.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use toolbooth::host::{Host, Level, StoreError};

pub(crate) type Result<T> = std::result::Result<T, StoreError>;

pub(crate) async fn get(key: &str, host: &dyn Host) -> Result<Option<String>> {
    host.get(key).await.inspect_err(|error| log(error, host))
}

pub(crate) async fn put(key: &str, value: &str, life: Duration, host: &dyn Host) -> Result<()> {
    host.put(key, value, Some(life)).await.inspect_err(|error| log(error, host))
}

pub(crate) async fn delete(key: &str, host: &dyn Host) -> Result<()> {
    host.delete(key).await.inspect_err(|error| log(error, host))
}

/// The first page of the keys that begin with a prefix.
pub(crate) async fn list(prefix: &str, host: &dyn Host) -> Result<Vec<String>> {
    let page = host.list(prefix, None).await.inspect_err(|error| log(error, host))?;
    Ok(page.keys)
}

fn log(error: &StoreError, host: &dyn Host) {
    host.log(Level::Error, "store", &[("problem", &error.0)]);
}

/// How far the store may be behind.
pub(crate) const STALE_MS: u64 = 60_000;

/// The most writes that are kept. Callers could cause more in a minute, for users that they make up,
/// and each call searches them.
const MAX_ENTRIES: usize = 256;

/// Writes of the last minute, kept in memory because the store may still return the old value. Shared by all requests of
/// an instance.
///
/// Calls, the endpoints of sign-in and the account read them. The check of a challenge must not: it promises that a call
/// finds the grant, and the call may reach another instance.
///
/// Each is a key, a value, and when it was written. A vector, because a minute brings few of them, and a map would link
/// more code than it saves time.
#[derive(Debug, Default)]
pub(crate) struct RecentWrites(Mutex<Vec<(String, String, u64)>>);

impl RecentWrites {
    fn entries(&self) -> MutexGuard<'_, Vec<(String, String, u64)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers what was written under a key, or should have been.
    pub(crate) fn insert(&self, key: &str, value: &str, now_ms: u64) {
        let mut entries = self.entries();
        entries.retain(|(known, _, at)| known != key && now_ms.saturating_sub(*at) < STALE_MS);
        if entries.len() >= MAX_ENTRIES {
            entries.remove(0);
        }
        entries.push((key.to_owned(), value.to_owned(), now_ms));
    }

    /// What was written under a key, if the store may not return it yet.
    pub(crate) fn get(&self, key: &str, now_ms: u64) -> Option<String> {
        let entries = self.entries();
        let (_, value, at) = entries.iter().find(|(known, ..)| known == key)?;
        (now_ms.saturating_sub(*at) < STALE_MS).then(|| value.clone())
    }
}
