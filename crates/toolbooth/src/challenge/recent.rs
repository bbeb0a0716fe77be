//! What this instance has learnt in the last minute, for as long as the store may not know it yet.
//!
//! Only calls look here. The check of a challenge must not: it promises that a call finds the grant,
//! and the call may come to another instance.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::STALE_MS;

/// The most values that are remembered. Callers of a minute can write more, for users that they make up; each
/// call looks through what is remembered.
const MOST: usize = 256;
/// After a failure an authorization server is left in peace for this time.
const AWAY_MS: u64 = 5_000;

#[derive(Debug, Default)]
struct Known {
    // Few: what a minute brings. Maps would take more room in the Worker than they save time.
    /// What was written under a key, and when.
    written: Vec<(String, (String, u64))>,
    away: Vec<(String, u64)>,
}

/// Shared by all requests of an instance.
#[derive(Debug, Clone, Default)]
pub(super) struct RecentWrites(Arc<Mutex<Known>>);

impl RecentWrites {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers what was written under a key, or should have been.
    pub(super) fn wrote(&self, key: &str, value: &str, now_ms: u64) {
        let written = &mut self.known().written;
        written.retain(|(one, (_, at))| one != key && now_ms.saturating_sub(*at) < STALE_MS);
        if written.len() >= MOST {
            written.remove(0);
        }
        written.push((key.to_owned(), (value.to_owned(), now_ms)));
    }

    /// What was written under a key, if the store may not know it yet.
    pub(super) fn written(&self, key: &str, now_ms: u64) -> Option<String> {
        let known = self.known();
        let (_, (value, at)) = known.written.iter().find(|(one, _)| one == key)?;
        (now_ms.saturating_sub(*at) < STALE_MS).then(|| value.clone())
    }

    /// Remembers that the server of a provider does not answer.
    pub(super) fn is_away(&self, provider: &str, now_ms: u64) {
        let away = &mut self.known().away;
        away.retain(|(one, _)| one != provider);
        away.push((provider.to_owned(), now_ms));
    }

    /// Whether the server of a provider has just not answered: then asking it again would only make
    /// callers wait.
    pub(super) fn was_away(&self, provider: &str, now_ms: u64) -> bool {
        let known = self.known();
        let at = known.away.iter().find(|(one, _)| one == provider);
        at.is_some_and(|(_, at)| now_ms.saturating_sub(*at) < AWAY_MS)
    }
}
