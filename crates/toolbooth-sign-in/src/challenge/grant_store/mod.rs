//! Reads, writes and deletes grants in the store. docs/STORAGE.md describes each key and value.
//!
//! - `token`: access tokens of grants, refreshed when they are about to expire; `proof`: what replaces a grant that
//!   another location cannot read yet.

mod proof;
mod token;

pub(super) use token::AccessTokenError;

use std::time::Duration;

use futures_util::future::{join, join_all};

use super::{Event, Grant, GrantEvent, LIFE_MS, Owner};
use crate::oauth::{RecentWrites, store};
use crate::purpose;
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

#[derive(Debug, Clone, Copy)]
pub(super) struct GrantId<'a> {
    pub(super) owner: &'a Owner,
    pub(super) provider: &'a str,
}

impl<'a> GrantId<'a> {
    /// The parts of hashes that depend on the user and the provider.
    pub(super) fn parts(self) -> [&'a str; 4] {
        let Owner { method, application, user } = self.owner;
        [method, application, user, self.provider]
    }
}

#[derive(Debug)]
pub(super) struct GrantStore {
    pub(super) state_keys: StateKeys,
    grant_keys: GrantKeys,
    pub(super) recent_writes: RecentWrites,
    pub(super) events: EventLog,
}

pub(super) struct GrantState {
    /// The grant, if there is one that has not been deleted.
    pub(super) grant: Option<Grant>,
    /// Grants issued until then are deleted.
    pub(super) deleted_ms: Option<u64>,
}

impl GrantState {
    /// Picks the newest of several copies of a grant: that to which the user agreed last, refreshed last.
    fn newest(copies: impl IntoIterator<Item = Option<Grant>>, deleted_ms: Option<u64>) -> Self {
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

impl GrantStore {
    pub(super) fn new(
        grant_keys: &GrantKeySettings,
        state_keys: StateKeys,
        events: EventLog,
    ) -> Self {
        let grant_keys = GrantKeys::new(grant_keys);
        Self { state_keys, grant_keys, recent_writes: RecentWrites::default(), events }
    }

    pub(super) fn log<'a>(
        &self,
        event: fn(GrantEvent<'a>) -> Event<'a>,
        GrantId { owner, provider }: GrantId<'a>,
        host: &dyn Host,
    ) {
        let caller = owner.caller(&self.events);
        self.events.write(&event(GrantEvent { provider, caller }), host);
    }

    /// The keys to write to.
    fn keys(&self, id: GrantId<'_>) -> StoreKeys {
        StoreKeys::new(&self.state_keys.hash(purpose::GRANT, &id.parts()))
    }

    /// The keys to read from: those of the current `STATE_KEY`, then those of the previous one.
    fn all_keys(&self, id: GrantId<'_>) -> Vec<StoreKeys> {
        let hashes = self.state_keys.hashes(purpose::GRANT, &id.parts());
        hashes.iter().map(StoreKeys::new).collect()
    }

    /// The user's grant in the store, which may be a minute behind.
    pub(super) async fn load(
        &self,
        id: GrantId<'_>,
        host: &dyn Host,
    ) -> store::Result<Option<Grant>> {
        let (grant, deleted_ms) = self.stored(&self.all_keys(id), host).await?;
        Ok(GrantState::newest([grant], deleted_ms).grant)
    }

    /// The user's grant as a call sees it: in the store, in the recent writes of this instance, or by a proof.
    pub(super) async fn find(
        &self,
        id: GrantId<'_>,
        proof: Option<&str>,
        host: &dyn Host,
    ) -> store::Result<GrantState> {
        let (keys, all) = (&self.keys(id), self.all_keys(id));
        let (stored, proven) =
            join(self.stored(&all, host), self.load_by_proof(id, proof, host)).await;
        let (stored, deleted_ms) = stored?;
        let deleted_ms = deleted_ms.max(self.recently_deleted(keys, host));
        // Of equal copies the last one is picked. The copy of the proof has no refresh token.
        Ok(GrantState::newest([proven, stored, self.recently_written(keys, host)], deleted_ms))
    }

    /// The stored grant, even if it is deleted, and its deletion.
    async fn stored(
        &self,
        all: &[StoreKeys],
        host: &dyn Host,
    ) -> store::Result<(Option<Grant>, Option<u64>)> {
        let deleted = join_all(all.iter().map(|keys| store::get(&keys.deleted, host)));
        let (grant, deleted) = join(self.stored_grant(all, host), deleted).await;
        // A grant that was deleted under the previous key may have been refreshed under the current.
        let deleted: Vec<_> = deleted.into_iter().collect::<store::Result<_>>()?;
        Ok((grant?, deleted.iter().flatten().filter_map(|text| text.parse().ok()).max()))
    }

    /// The stored grant, even if it is deleted. It is under the previous key until it is next written.
    async fn stored_grant(
        &self,
        all: &[StoreKeys],
        host: &dyn Host,
    ) -> store::Result<Option<Grant>> {
        for keys in all {
            if let Some(grant) = self.read(&keys.grant, host).await? {
                return Ok(Some(grant));
            }
        }
        Ok(None)
    }

    pub(super) async fn read(&self, key: &str, host: &dyn Host) -> store::Result<Option<Grant>> {
        let Some(sealed) = store::get(key, host).await? else { return Ok(None) };
        let grant = self.decrypt(key, &sealed);
        if grant.is_none() {
            host.log(Level::Warn, "grant", &[("problem", "no key of GRANT_KEYS decrypts it")]);
        }
        Ok(grant)
    }

    fn decrypt(&self, key: &str, sealed: &str) -> Option<Grant> {
        json::read(&self.grant_keys.open(key, sealed)?)
    }

    fn recently_written(&self, keys: &StoreKeys, host: &dyn Host) -> Option<Grant> {
        self.decrypt(&keys.grant, &self.recent_writes.get(&keys.grant, host.now_ms())?)
    }

    fn recently_deleted(&self, keys: &StoreKeys, host: &dyn Host) -> Option<u64> {
        self.recent_writes.get(&keys.deleted, host.now_ms())?.parse().ok()
    }

    /// The state of a grant by the recent writes of this instance alone.
    pub(super) fn recent(&self, id: GrantId<'_>, host: &dyn Host) -> GrantState {
        let keys = self.keys(id);
        GrantState::newest([self.recently_written(&keys, host)], self.recently_deleted(&keys, host))
    }

    /// Writes the grant of a user who has just agreed, replacing the one before, and its proof.
    pub(super) async fn save(
        &self,
        id: GrantId<'_>,
        grant: &Grant,
        host: &dyn Host,
    ) -> store::Result<()> {
        let StoreKeys { grant: key, .. } = self.keys(id);
        let sealed = self.encrypt(&key, grant, host)?;
        let (saved, ()) =
            join(store::put(&key, &sealed, LIFE, host), self.save_proof(id, grant, host)).await;
        saved?;
        self.log(Event::GrantCreated, id, host);
        self.recent_writes.insert(&key, &sealed, host.now_ms());
        Ok(())
    }

    /// Writes a grant that has been refreshed. A failure is logged: the token is valid anyway, and this
    /// instance remembers it for a minute; a later call refreshes again or asks the user.
    pub(super) async fn save_refreshed(&self, id: GrantId<'_>, grant: &Grant, host: &dyn Host) {
        let StoreKeys { grant: key, .. } = self.keys(id);
        if let Ok(sealed) = self.encrypt(&key, grant, host) {
            self.recent_writes.insert(&key, &sealed, host.now_ms());
            self.log(Event::GrantRefreshed, id, host);
            let _ = store::put(&key, &sealed, LIFE, host).await;
        }
    }

    pub(super) fn encrypt(
        &self,
        key: &str,
        grant: &Grant,
        host: &dyn Host,
    ) -> store::Result<String> {
        let sealed = self.grant_keys.seal(key, json::to_string(grant).as_bytes(), host);
        sealed.map_err(|_| StoreError("no random bytes".to_owned()))
    }

    /// Deletes a user's grant and returns its newest copy, which the provider should revoke. After an error
    /// the grant is still valid, or cannot be revoked yet because it could not be read.
    ///
    /// The deletion is a separate record, because a location that still has the old copy may refresh it
    /// and write it again. A grant is valid only if the user agreed after the deletion.
    pub(super) async fn delete(
        &self,
        id: GrantId<'_>,
        host: &dyn Host,
    ) -> store::Result<Option<Grant>> {
        let (keys, all) = (&self.keys(id), self.all_keys(id));
        let read = self.stored_grant(&all, host).await;
        let (stored, failed) = read.map_or_else(|error| (None, Some(error)), |it| (it, None));
        let GrantState { grant, .. } =
            GrantState::newest([stored, self.recently_written(keys, host)], None);
        let now_ms = host.now_ms();
        let granted_ms = grant.as_ref().map_or(0, |grant| grant.granted_ms);
        let deleted_ms = now_ms.saturating_add(CLOCK_SKEW_MS).max(granted_ms);
        // A repeated deletion must not cover less than the first one, which has removed the grant.
        let before = match &grant {
            None => store::get(&keys.deleted, host).await.ok().flatten(),
            Some(_) => None,
        };
        let before = before.and_then(|text| text.parse().ok()).unwrap_or_default();
        let deleted_ms = deleted_ms.max(before).to_string();
        // Instances that do not have the current key yet read under the previous one.
        for keys in &all {
            store::put(&keys.deleted, &deleted_ms, DELETED_LIFE, host).await?;
        }
        self.recent_writes.insert(&keys.deleted, &deleted_ms, now_ms);
        // The client repeats the request, and then the grant can be revoked.
        failed.map_or(Ok(()), Err)?;
        // A refresh may have finished while the deletion was being written. A later one sees the deletion.
        let GrantState { grant, .. } =
            GrantState::newest([grant, self.recently_written(keys, host)], None);
        // The grant is invalid already. This removes its tokens from the store.
        for keys in &all {
            let _ = store::delete(&keys.grant, host).await;
        }
        if grant.is_some() {
            self.log(Event::GrantDeleted, id, host);
        }
        Ok(grant)
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
