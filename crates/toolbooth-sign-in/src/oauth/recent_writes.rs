//! Writes that the store may not return yet.

use toolbooth::expiring_map::ExpiringMap;

use super::STALE_MS;

/// Writes of the last minute. Calls, the endpoints of sign-in and the account read them. The check of a challenge must not:
/// it promises that a call finds the grant, and the call may reach another instance.
#[derive(Debug)]
pub(crate) struct RecentWrites(ExpiringMap<String>);

impl RecentWrites {
    pub(crate) fn of_a_minute() -> Self {
        Self(ExpiringMap::new(256))
    }

    /// Remembers what was written under a key, or should have been.
    pub(crate) fn remember(&self, key: &str, value: &str, now_ms: u64) {
        self.0.insert(key, value.to_owned(), now_ms, STALE_MS);
    }

    /// What was written under a key.
    pub(crate) fn get(&self, key: &str, now_ms: u64) -> Option<String> {
        self.0.get(key, now_ms)
    }
}
