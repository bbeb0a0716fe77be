//! Reads, writes and deletes grants in the store. docs/STORAGE.md describes each key and value.
//!
//! - `token`: access tokens of grants, refreshed when they are about to expire; `proof`: what replaces a grant that
//!   another location cannot read yet.

mod proof;
mod token;

pub(super) use token::Insufficient;

use std::time::Duration;

use futures_util::future::join;

use super::{Event, Grant, GrantEvent, LIFE_MS, Owner};
use crate::oauth::{RecentWrites, store};
use crate::purpose;
use toolbooth::call::Rejection;
use toolbooth::host::{Host, Level, SHORTEST_LIFE, StoreError};
use toolbooth::json;
use toolbooth::log::EventLog;
use toolbooth::seal::{GrantKeys, StateKeys};
use toolbooth::settings::GrantKeySettings;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// How long a grant is kept after its last change.
const LIFE: Duration = DAY.saturating_mul(180);
/// How long a deletion is kept. A location that cannot read it yet may still write the grant for a
/// minute, and the deletion must outlive that copy.
const DELETED_LIFE: Duration = DAY.saturating_mul(181);
/// How far the clocks of two locations may differ. A deletion covers grants that seem to be this much younger.
const CLOCK_SKEW_MS: u64 = 2_000;

pub(super) const STORE_UNAVAILABLE: Rejection =
    Rejection::Unavailable("its KV namespace does not answer");

#[derive(Debug)]
pub(super) struct GrantStore {
    pub(super) state_keys: StateKeys,
    grant_keys: GrantKeys,
    recent_writes: RecentWrites,
    pub(super) events: EventLog,
}

impl GrantStore {
    pub(super) fn new(
        grant_keys: &GrantKeySettings,
        state_keys: StateKeys,
        events: EventLog,
    ) -> Self {
        let grant_keys = GrantKeys::new(grant_keys);
        Self { state_keys, grant_keys, recent_writes: RecentWrites::of_a_minute(), events }
    }

    /// Records that a challenge has failed, unless it completes before `from_ms`.
    pub(super) async fn save_failure(&self, challenge: &str, from_ms: u64, host: &dyn Host) {
        let life = Duration::from_millis(LIFE_MS).max(SHORTEST_LIFE);
        // If this fails, the challenge is reported as failed when it expires.
        let key = failure_key(&self.state_keys.hash(purpose::FAILURE, &[challenge]));
        let _ = store::put(&key, &from_ms.to_string(), life, host).await;
    }

    pub(super) async fn has_failed(&self, challenge: &str, host: &dyn Host) -> bool {
        for hash in self.state_keys.hashes(purpose::FAILURE, &[challenge]).iter() {
            let value = store::get(&failure_key(hash), host).await.ok().flatten();
            let from_ms = value.and_then(|value| value.parse::<u64>().ok());
            if from_ms.is_some_and(|from_ms| from_ms <= host.now_ms()) {
                return true;
            }
        }
        false
    }
}

fn failure_key(hash: &str) -> String {
    format!("failed:{hash}")
}

/// The grant of an owner at a provider, if there is one in the store.
#[derive(Clone, Copy)]
pub(super) struct StoredGrant<'a> {
    pub(super) store: &'a GrantStore,
    pub(super) owner: &'a Owner,
    pub(super) provider: &'a str,
    pub(super) host: &'a dyn Host,
}

pub(super) struct GrantState {
    /// The grant, if there is one that has not been deleted.
    pub(super) grant: Option<Grant>,
    /// Grants issued until then are deleted.
    pub(super) deleted_ms: Option<u64>,
}

impl GrantState {
    /// Picks the newest of several copies of a grant: that to which the user agreed last, refreshed last.
    fn newest(copies: Vec<Option<Grant>>, deleted_ms: Option<u64>) -> Self {
        let copies = copies.into_iter().flatten().filter(|grant| grant.outlives(deleted_ms));
        Self { grant: copies.max_by_key(Grant::age), deleted_ms }
    }
}

/// The keys of a grant and of its deletion in the store.
struct StoreKeys {
    grant: String,
    deleted: String,
}

impl StoreKeys {
    fn new(hash: &str) -> Self {
        Self { grant: format!("grant:{hash}"), deleted: format!("deleted:{hash}") }
    }
}

impl<'a> StoredGrant<'a> {
    fn log(self, event: fn(GrantEvent<'a>) -> Event<'a>) {
        let events = &self.store.events;
        let (caller, user) = (self.owner.caller(events), self.owner.user_ref(events));
        events.write(&event(GrantEvent { provider: self.provider, caller, user }), self.host);
    }

    /// The parts of hashes that depend on the user and the provider.
    fn parts(self) -> [&'a str; 4] {
        let Owner { method, application, user } = self.owner;
        [method, application, user, self.provider]
    }

    /// The keys to write to.
    fn keys(self) -> StoreKeys {
        StoreKeys::new(&self.store.state_keys.hash(purpose::GRANT, &self.parts()))
    }

    /// The keys to read from: those of the current `STATE_KEY`, then those of the previous one.
    fn all_keys(self) -> Vec<StoreKeys> {
        let hashes = self.store.state_keys.hashes(purpose::GRANT, &self.parts());
        hashes.iter().map(StoreKeys::new).collect()
    }

    /// The user's grant in the store, which may be a minute behind.
    pub(super) async fn load(self) -> store::Result<Option<Grant>> {
        let (grant, deleted_ms) = self.stored(&self.all_keys()).await?;
        Ok(GrantState::newest(vec![grant], deleted_ms).grant)
    }

    /// The user's grant as a call sees it: in the store, in the recent writes of this instance, or by a proof.
    pub(super) async fn find(self, proof: Option<&str>) -> store::Result<GrantState> {
        let (keys, all) = (&self.keys(), self.all_keys());
        let (stored, proven) = join(self.stored(&all), self.load_by_proof(proof)).await;
        let (stored, deleted_ms) = stored?;
        let deleted_ms = deleted_ms.max(self.recently_deleted(keys));
        // Of equal copies the last one is picked. The copy of the proof has no refresh token.
        Ok(GrantState::newest(vec![proven, stored, self.recently_written(keys)], deleted_ms))
    }

    /// The stored grant, even if it is deleted, and its deletion.
    async fn stored(self, all: &[StoreKeys]) -> store::Result<(Option<Grant>, Option<u64>)> {
        let (grant, deleted_ms) = join(self.stored_grant(all), self.stored_deletion(all)).await;
        Ok((grant?, deleted_ms?))
    }

    /// When the grant was last deleted. One that was deleted under the previous key may have been refreshed under the
    /// current. The two are read one after the other, because there are two only while the key is replaced.
    async fn stored_deletion(self, all: &[StoreKeys]) -> store::Result<Option<u64>> {
        let mut deleted_ms = None;
        for keys in all {
            let text = store::get(&keys.deleted, self.host).await?;
            deleted_ms = deleted_ms.max(text.and_then(|text| text.parse().ok()));
        }
        Ok(deleted_ms)
    }

    /// The stored grant, even if it is deleted. It is under the previous key until it is next written.
    async fn stored_grant(self, all: &[StoreKeys]) -> store::Result<Option<Grant>> {
        for keys in all {
            if let Some(grant) = self.read(&keys.grant).await? {
                return Ok(Some(grant));
            }
        }
        Ok(None)
    }

    async fn read(self, key: &str) -> store::Result<Option<Grant>> {
        let Some(sealed) = store::get(key, self.host).await? else { return Ok(None) };
        let grant = self.decrypt(key, &sealed);
        if grant.is_none() {
            let problem = [("problem", "no key of GRANT_KEYS decrypts it")];
            self.host.log(Level::Warn, "grant", &problem);
        }
        Ok(grant)
    }

    fn decrypt(self, key: &str, sealed: &str) -> Option<Grant> {
        json::read(&self.store.grant_keys.open(key, sealed)?)
    }

    fn recently_written(self, keys: &StoreKeys) -> Option<Grant> {
        let sealed = self.store.recent_writes.get(&keys.grant, self.host.now_ms())?;
        self.decrypt(&keys.grant, &sealed)
    }

    fn recently_deleted(self, keys: &StoreKeys) -> Option<u64> {
        self.store.recent_writes.get(&keys.deleted, self.host.now_ms())?.parse().ok()
    }

    /// Remembers what was written under a key, or should have been.
    fn remember(self, key: &str, value: &str) {
        self.store.recent_writes.remember(key, value, self.host.now_ms());
    }

    /// The state of the grant by the recent writes of this instance alone.
    fn recent(self) -> GrantState {
        let keys = self.keys();
        GrantState::newest(vec![self.recently_written(&keys)], self.recently_deleted(&keys))
    }

    /// Writes the grant of a user who has just agreed, replacing the one before, and its proof.
    pub(super) async fn save(self, grant: &Grant) -> store::Result<()> {
        let key = self.keys().grant;
        let sealed = self.encrypt(&key, grant)?;
        let put = store::put(&key, &sealed, LIFE, self.host);
        let (saved, ()) = join(put, self.save_proof(grant)).await;
        saved?;
        self.log(Event::GrantCreated);
        self.remember(&key, &sealed);
        Ok(())
    }

    /// Writes a grant that has been refreshed. A failure is logged: the token is valid anyway, and this
    /// instance remembers it for a minute; a later call refreshes again or asks the user.
    async fn save_refreshed(self, grant: &Grant) {
        let key = self.keys().grant;
        if let Ok(sealed) = self.encrypt(&key, grant) {
            self.remember(&key, &sealed);
            self.log(Event::GrantRefreshed);
            let _ = store::put(&key, &sealed, LIFE, self.host).await;
        }
    }

    fn encrypt(self, key: &str, grant: &Grant) -> store::Result<String> {
        let text = json::to_string(grant);
        let sealed = self.store.grant_keys.seal(key, text.as_bytes(), self.host);
        sealed.map_err(|_| StoreError("no random bytes".to_owned()))
    }

    /// Deletes the user's grant and returns its newest copy, which the provider should revoke. After an error
    /// the grant is still valid, or cannot be revoked yet because it could not be read.
    ///
    /// The deletion is a separate record, because a location that still has the old copy may refresh it
    /// and write it again. A grant is valid only if the user agreed after the deletion.
    pub(super) async fn delete(self) -> store::Result<Option<Grant>> {
        let Self { host, .. } = self;
        let (keys, all) = (&self.keys(), self.all_keys());
        let read = self.stored_grant(&all).await;
        let (stored, failed) = read.map_or_else(|error| (None, Some(error)), |it| (it, None));
        let newest = GrantState::newest(vec![stored, self.recently_written(keys)], None);
        let granted_ms = newest.grant.as_ref().map_or(0, |grant| grant.granted_ms);
        let deleted_ms = host.now_ms().saturating_add(CLOCK_SKEW_MS).max(granted_ms);
        // A repeated deletion must not cover less than the first one, which has removed the grant.
        let before = match &newest.grant {
            None => store::get(&keys.deleted, host).await.ok().flatten(),
            Some(_) => None,
        };
        let before = before.and_then(|text| text.parse().ok()).unwrap_or_default();
        let deleted_ms = deleted_ms.max(before).to_string();
        // Instances that do not have the current key yet read under the previous one.
        for keys in &all {
            store::put(&keys.deleted, &deleted_ms, DELETED_LIFE, host).await?;
        }
        self.remember(&keys.deleted, &deleted_ms);
        // The client repeats the request, and then the grant can be revoked.
        failed.map_or(Ok(()), Err)?;
        // A refresh may have finished while the deletion was being written. A later one sees the deletion.
        let newest = GrantState::newest(vec![newest.grant, self.recently_written(keys)], None);
        // The grant is invalid already. This removes its tokens from the store.
        for keys in &all {
            let _ = store::delete(&keys.grant, host).await;
        }
        if newest.grant.is_some() {
            self.log(Event::GrantDeleted);
        }
        Ok(newest.grant)
    }
}
