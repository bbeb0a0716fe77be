//! Marks: which codes are spent, which refresh tokens have been replaced, which grants are revoked, which sessions have
//! ended. They are in the store, and this instance's own are known at once. What may be used only once is claimed in the
//! ledger, if it is bound.
//!
//! docs/STORAGE.md describes what happens if a read is a minute old.

use std::time::Duration;

use crate::oauth::{RecentWrites, store};
use crate::purpose;
use toolbooth::host::{Host, LedgerError, Level, StoreError};
use toolbooth::seal::StateKeys;

pub(crate) struct Mark {
    /// The part of its key before the hash.
    pub(crate) prefix: &'static str,
    /// Longer than that of the token, by more than clocks differ and stores lag.
    pub(crate) life: Duration,
}

impl Mark {
    fn key(&self, hash: &str) -> String {
        format!("{}:{hash}", self.prefix)
    }
}

/// What the ledger has answered; `None` if none is bound. A failure is logged.
fn in_ledger<T>(answer: Result<T, LedgerError>, host: &dyn Host) -> store::Result<Option<T>> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(LedgerError::NotBound) => Ok(None),
        Err(LedgerError::Failed(problem)) => {
            host.log(Level::Error, "ledger", &[("problem", &problem)]);
            Err(StoreError(problem))
        }
    }
}

#[derive(Debug)]
pub(crate) struct Marks {
    keys: StateKeys,
    recent: RecentWrites,
}

impl Marks {
    pub(crate) fn new(keys: StateKeys) -> Self {
        Self { keys, recent: RecentWrites::of_a_minute() }
    }

    /// The values of a mark, under the current key and the previous one.
    pub(crate) async fn values(
        &self,
        mark: &Mark,
        id: &str,
        host: &dyn Host,
    ) -> store::Result<Vec<String>> {
        let hashes = self.keys.hashes(purpose::CLIENT_GRANT, &[id]);
        let mut values = Vec::new();
        // The current key comes last, because writes use it, and nothing is awaited between its read and the write.
        for hash in hashes.previous.iter().chain([&hashes.current]) {
            let key = mark.key(hash);
            let recent = || self.recent.get(&key, host.now_ms()).filter(|value| !value.is_empty());
            let value = match recent() {
                Some(value) => Some(value),
                None => {
                    let stored = store::get(&key, host).await?;
                    // A concurrent request of this instance may have written it meanwhile.
                    recent().or(stored)
                }
            };
            values.extend(value);
        }
        Ok(values)
    }

    /// Claims what may be used only once: exactly one request gets true. `None` if no ledger is bound.
    pub(crate) async fn claim(
        &self,
        mark: &Mark,
        id: &str,
        host: &dyn Host,
    ) -> store::Result<Option<bool>> {
        // Under both keys: other instances may not have the current one yet. All claim them in the same order, whichever is
        // current, so that one of them gets both.
        let hashes = self.keys.hashes(purpose::CLIENT_GRANT, &[id]);
        let mut hashes: Vec<_> = hashes.iter().collect();
        if !hashes.is_sorted() {
            hashes.reverse();
        }
        for hash in hashes {
            match in_ledger(host.claim(&mark.key(hash), mark.life).await, host)? {
                Some(true) => {}
                refused => return Ok(refused),
            }
        }
        Ok(Some(true))
    }

    /// Raises the number of a mark in the ledger, and returns the highest that it had before, 0 if none. `None` if no ledger is
    /// bound.
    pub(crate) async fn raise(
        &self,
        mark: &Mark,
        id: &str,
        number: u64,
        host: &dyn Host,
    ) -> store::Result<Option<u64>> {
        let mut before = 0;
        // Under both keys, as in `claim`.
        for hash in self.keys.hashes(purpose::CLIENT_GRANT, &[id]).iter() {
            match in_ledger(host.raise(&mark.key(hash), number, mark.life).await, host)? {
                Some(known) => before = before.max(known),
                None => return Ok(None),
            }
        }
        Ok(Some(before))
    }

    /// Uses what may be used only once; false if it was used before. Without a ledger, requests at other instances may use
    /// it too until the store shows the mark.
    pub(crate) async fn use_once(
        &self,
        mark: &Mark,
        id: &str,
        host: &dyn Host,
    ) -> store::Result<bool> {
        if let Some(is_first) = self.claim(mark, id, host).await? {
            return Ok(is_first);
        }
        if self.is_set(mark, id, host).await? {
            return Ok(false);
        }
        self.set(mark, id, "1", host).await.map(|()| true)
    }

    pub(crate) async fn is_set(
        &self,
        mark: &Mark,
        id: &str,
        host: &dyn Host,
    ) -> store::Result<bool> {
        Ok(!self.values(mark, id, host).await?.is_empty())
    }

    pub(crate) async fn set(
        &self,
        mark: &Mark,
        id: &str,
        value: &str,
        host: &dyn Host,
    ) -> store::Result<()> {
        let key = mark.key(&self.keys.hash(purpose::CLIENT_GRANT, &[id]));
        // At once, so that a concurrent request of this instance sees it.
        self.recent.remember(&key, value, host.now_ms());
        let written = store::put(&key, value, mark.life, host).await;
        // After a failure nothing is known again.
        written.inspect_err(|_| self.recent.remember(&key, "", host.now_ms()))
    }
}
