//! Grants in the store: kept, found, deleted. docs/STORAGE.md describes each key and value.

use std::time::Duration;

use futures_util::future::{join, join3};

use super::LIFE_MS;
use super::grant::Grant;
use super::owner::Owner;
use super::recent::RecentWrites;
use super::seal::SealKeys;
use super::state::{Hashes, StateKeys};
use super::token::TokenPurpose;
use crate::host::{Host, Level, SHORTEST_LIFE, StoreError};
use crate::json;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// How long a grant is kept after its last change.
const LIFE: Duration = DAY.saturating_mul(180);
/// How long a deletion is kept. A location that does not know of it yet may still write the grant
/// for a minute: the deletion must outlive that copy.
const DELETED_LIFE: Duration = DAY.saturating_mul(181);
/// How far the clocks of two locations may be apart. A deletion also covers grants that seem to be
/// younger by this much.
const CLOCK_SKEW_MS: u64 = 2_000;

/// Whose grant, and the id of the provider.
pub(super) type Whose<'a> = (&'a Owner, &'a str);

/// Where grants are kept.
#[derive(Debug, Clone)]
pub(super) struct GrantStore {
    pub(super) state: StateKeys,
    pub(super) seal: SealKeys,
    pub(super) recent: RecentWrites,
}

/// What is known of a user's grant.
pub(super) struct Known {
    /// The grant, if there is one that has not been deleted.
    pub(super) grant: Option<Grant>,
    /// Grants issued at or before this time count as deleted.
    pub(super) deleted_ms: Option<u64>,
}

impl Known {
    /// Of several copies of a grant the newest counts: the one of the latest consent, refreshed last.
    fn newest(copies: impl IntoIterator<Item = Option<Grant>>, deleted_ms: Option<u64>) -> Self {
        let copies = copies.into_iter().flatten().filter(|grant| grant.outlives(deleted_ms));
        Self { grant: copies.max_by_key(Grant::age), deleted_ms }
    }
}

/// The keys of a user's grant and of its deletion.
struct Keys {
    grant: String,
    deleted: String,
}

impl Keys {
    fn of(hash: &str) -> Self {
        Self { grant: format!("grant:{hash}"), deleted: format!("deleted:{hash}") }
    }
}

impl GrantStore {
    /// The keys that are written to.
    fn keys(&self, whose: Whose<'_>) -> Keys {
        Keys::of(&self.state.hash(TokenPurpose::Grant, &parts(whose)))
    }

    /// The keys that may have been written to, those of the current `STATE_KEY` first.
    fn all_keys(&self, whose: Whose<'_>) -> (Keys, Option<Keys>) {
        let Hashes { current, previous } = self.state.hashes(TokenPurpose::Grant, &parts(whose));
        (Keys::of(&current), previous.as_deref().map(Keys::of))
    }

    /// The user's grant as the store knows it, which may be a minute behind.
    pub(super) async fn load(
        &self,
        whose: Whose<'_>,
        host: &dyn Host,
    ) -> Result<Option<Grant>, StoreError> {
        let (grant, deleted_ms) = self.stored(&self.all_keys(whose), host).await?;
        Ok(Known::newest([grant], deleted_ms).grant)
    }

    /// The user's grant as a call finds it: in the store, in what this instance has just written, or
    /// by the proof that the client sends.
    pub(super) async fn find(
        &self,
        whose: Whose<'_>,
        proof: Option<&str>,
        host: &dyn Host,
    ) -> Result<Known, StoreError> {
        let all @ (keys, _) = &self.all_keys(whose);
        let (stored, proven) = join(self.stored(all, host), self.proven(whose, proof, host)).await;
        let (stored, deleted_ms) = stored?;
        let deleted_ms = deleted_ms.max(self.deleted_here(keys, host));
        // Of equal copies the last counts. The proof has no refresh token.
        Ok(Known::newest([proven, stored, self.written_here(keys, host)], deleted_ms))
    }

    /// The grant, also a deleted one, and its deletion.
    async fn stored(
        &self,
        all: &(Keys, Option<Keys>),
        host: &dyn Host,
    ) -> Result<(Option<Grant>, Option<u64>), StoreError> {
        let (keys, previous) = all;
        let deleted = get(&keys.deleted, host);
        let (grant, deleted, before) = join3(self.stored_grant(all, host), deleted, async {
            match previous {
                Some(previous) => get(&previous.deleted, host).await,
                None => Ok(None),
            }
        })
        .await;
        // A grant that was deleted under the previous key may have been refreshed under the current.
        let deleted = [deleted?, before?].into_iter().flatten();
        Ok((grant?, deleted.filter_map(|text| text.parse().ok()).max()))
    }

    /// The grant, also a deleted one: under the previous key only until it is next written.
    async fn stored_grant(
        &self,
        (keys, previous): &(Keys, Option<Keys>),
        host: &dyn Host,
    ) -> Result<Option<Grant>, StoreError> {
        match (self.read(&keys.grant, host).await?, previous) {
            (None, Some(previous)) => self.read(&previous.grant, host).await,
            (grant, _) => Ok(grant),
        }
    }

    /// The sealed grant under a key.
    pub(super) async fn read(
        &self,
        key: &str,
        host: &dyn Host,
    ) -> Result<Option<Grant>, StoreError> {
        let Some(sealed) = get(key, host).await? else { return Ok(None) };
        let grant = self.opened(key, &sealed);
        if grant.is_none() {
            host.log(Level::Warn, "grant", &[("fault", "no key of GRANT_KEYS opens it")]);
        }
        Ok(grant)
    }

    fn opened(&self, key: &str, sealed: &str) -> Option<Grant> {
        json::read(&self.seal.open(key, sealed)?)
    }

    fn written_here(&self, keys: &Keys, host: &dyn Host) -> Option<Grant> {
        self.opened(&keys.grant, &self.recent.written(&keys.grant, host.now_ms())?)
    }

    fn deleted_here(&self, keys: &Keys, host: &dyn Host) -> Option<u64> {
        self.recent.written(&keys.deleted, host.now_ms())?.parse().ok()
    }

    /// What this instance itself has written within the last minute.
    pub(super) fn recent(&self, whose: Whose<'_>, host: &dyn Host) -> Known {
        let keys = self.keys(whose);
        Known::newest([self.written_here(&keys, host)], self.deleted_here(&keys, host))
    }

    /// Keeps the grant of a user who has just consented in the place of the one before, and its proof.
    pub(super) async fn save(
        &self,
        whose: Whose<'_>,
        grant: &Grant,
        host: &dyn Host,
    ) -> Result<(), StoreError> {
        let Keys { grant: key, .. } = self.keys(whose);
        let sealed = self.sealed(&key, grant, host)?;
        let (saved, ()) =
            join(put(&key, &sealed, LIFE, host), self.prove(whose, grant, host)).await;
        saved?;
        self.recent.wrote(&key, &sealed, host.now_ms());
        Ok(())
    }

    /// Keeps a grant that has been refreshed. A failure is logged: the token is good all the same, and
    /// this instance knows it for a minute; a later call refreshes again or asks the user.
    pub(super) async fn keep(&self, whose: Whose<'_>, grant: &Grant, host: &dyn Host) {
        let Keys { grant: key, .. } = self.keys(whose);
        if let Ok(sealed) = self.sealed(&key, grant, host) {
            self.recent.wrote(&key, &sealed, host.now_ms());
            let _ = put(&key, &sealed, LIFE, host).await;
        }
    }

    pub(super) fn sealed(
        &self,
        key: &str,
        grant: &Grant,
        host: &dyn Host,
    ) -> Result<String, StoreError> {
        let sealed = self.seal.seal(key, json::to_string(grant).as_bytes(), host);
        sealed.map_err(|_| StoreError("no random bytes".to_owned()))
    }

    /// Deletes a user's grant and returns the newest copy of it, which the provider should revoke.
    ///
    /// What deletes it is a record of its own: a location that still has the old copy may refresh it
    /// and write it again. A grant counts only if the user gave it after the deletion.
    ///
    /// # Errors
    /// The deletion could not be written, so the grant still counts; or the grant could not be read, so
    /// nobody can revoke it yet.
    pub(super) async fn delete(
        &self,
        whose: Whose<'_>,
        host: &dyn Host,
    ) -> Result<Option<Grant>, StoreError> {
        let all @ (keys, previous) = &self.all_keys(whose);
        let read = self.stored_grant(all, host).await;
        let (stored, failed) = read.map_or_else(|error| (None, Some(error)), |it| (it, None));
        let Known { grant, .. } = Known::newest([stored, self.written_here(keys, host)], None);
        let now_ms = host.now_ms();
        let granted_ms = grant.as_ref().map_or(0, |grant| grant.granted_ms);
        let deleted_ms = now_ms.saturating_add(CLOCK_SKEW_MS).max(granted_ms);
        // A repeated DELETE must not cover less than the first one, which has removed the grant.
        let before = match &grant {
            None => get(&keys.deleted, host).await.ok().flatten(),
            Some(_) => None,
        };
        let before = before.and_then(|text| text.parse().ok()).unwrap_or_default();
        let deleted_ms = deleted_ms.max(before).to_string();
        // Instances that do not have the current key yet look under the previous one.
        let all = [Some(keys), previous.as_ref()];
        for keys in all.into_iter().flatten() {
            put(&keys.deleted, &deleted_ms, DELETED_LIFE, host).await?;
        }
        self.recent.wrote(&keys.deleted, &deleted_ms, now_ms);
        // The caller tries again, and then the provider can be asked to revoke the grant.
        failed.map_or(Ok(()), Err)?;
        // A refresh may have ended while the deletion was being written. A later one sees the deletion.
        let Known { grant, .. } = Known::newest([grant, self.written_here(keys, host)], None);
        // The grant is dead already. This takes its tokens out of the store.
        for keys in all.into_iter().flatten() {
            let _ = host.delete(&keys.grant).await.inspect_err(|error| note(error, host));
        }
        Ok(grant)
    }

    /// Notes that a challenge has failed, if nothing else comes of it before `from_ms`.
    pub(super) async fn fail(&self, challenge: &str, from_ms: u64, host: &dyn Host) {
        let life = Duration::from_millis(LIFE_MS).max(SHORTEST_LIFE);
        // Without it the challenge will be seen as failed when it expires.
        let key = failure_key(&self.state.hash(TokenPurpose::Failure, &[challenge]));
        let _ = put(&key, &from_ms.to_string(), life, host).await;
    }

    /// Whether a challenge is known to have failed.
    pub(super) async fn has_failed(&self, challenge: &str, host: &dyn Host) -> bool {
        for hash in self.state.hashes(TokenPurpose::Failure, &[challenge]).iter() {
            let value = get(&failure_key(hash), host).await.ok().flatten();
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

/// What a hash of a user and a provider is made of.
pub(super) fn parts<'a>((owner, provider): Whose<'a>) -> [&'a str; 4] {
    [&owner.way, &owner.application, &owner.user, provider]
}

async fn get(key: &str, host: &dyn Host) -> Result<Option<String>, StoreError> {
    host.get(key).await.inspect_err(|error| note(error, host))
}

pub(super) async fn put(
    key: &str,
    value: &str,
    life: Duration,
    host: &dyn Host,
) -> Result<(), StoreError> {
    host.put(key, value, life).await.inspect_err(|error| note(error, host))
}

fn note(error: &StoreError, host: &dyn Host) {
    host.log(Level::Error, "store", &[("problem", &error.0)]);
}
