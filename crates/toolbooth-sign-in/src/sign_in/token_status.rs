//! The status of tokens in the store: which codes are spent, which refresh tokens have been replaced, which grants are revoked,
//! which sessions have ended.
//!
//! docs/STORAGE.md describes what happens if a read is a minute old.

use crate::purpose;
use std::time::Duration;

use super::grant::RefreshClaims;
use super::session::SESSION_SECONDS;
use super::{CODE_LIFE_MS, REFRESH_LIFE_MS};
use crate::oauth::RecentWrites;
use toolbooth::host::{Host, Level, StoreError};
use toolbooth::seal::StateKeys;

/// A kind of entry: the part of its key before the hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Entry {
    /// The code of a grant was used.
    SpentCode,
    /// The newest refresh token of a grant that was used: its generation and id.
    Rotation,
    /// The grant is revoked.
    Revoked,
    /// A session was ended by signing out.
    SignedOut,
}

impl Entry {
    fn key(self, hash: &str) -> String {
        let prefix = match self {
            Self::SpentCode => "code",
            Self::Rotation => "rotation",
            Self::Revoked => "revoked",
            Self::SignedOut => "signed-out",
        };
        format!("{prefix}:{hash}")
    }

    /// Longer than that of the token, by more than clocks differ and stores lag.
    fn life(self) -> Duration {
        match self {
            Self::SpentCode => Duration::from_millis(CODE_LIFE_MS + 2 * 60_000),
            Self::Rotation | Self::Revoked => Duration::from_millis(REFRESH_LIFE_MS + 86_400_000),
            Self::SignedOut => Duration::from_secs(SESSION_SECONDS + 3600),
        }
    }
}

/// Reads and writes the status of tokens. This instance's own are known at once.
#[derive(Debug)]
pub(super) struct TokenStatusStore {
    keys: StateKeys,
    recent: RecentWrites,
}

/// Whether a refresh token may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenUse {
    /// It may: it is the newest, or its successor was never used because the response was lost.
    Allowed,
    /// Its successor, or another token of its generation, was used: a copy exists.
    Reused,
}

impl TokenStatusStore {
    pub(super) fn new(keys: StateKeys) -> Self {
        Self { keys, recent: RecentWrites::default() }
    }

    /// The values of an entry, under the current key and the previous one.
    async fn read(
        &self,
        entry: Entry,
        grant: &str,
        host: &dyn Host,
    ) -> Result<Vec<String>, StoreError> {
        let hashes = self.keys.hashes(purpose::CLIENT_GRANT, &[grant]);
        let mut values = Vec::new();
        // The current key comes last, because writes use it, and nothing is awaited between its read and the write.
        for hash in hashes.iter().collect::<Vec<_>>().into_iter().rev() {
            let key = entry.key(hash);
            let recent = || self.recent.get(&key, host.now_ms()).filter(|value| !value.is_empty());
            let value = match recent() {
                Some(value) => Some(value),
                None => {
                    let stored = host.get(&key).await.inspect_err(|error| log(error, host))?;
                    // A concurrent request of this instance may have written it meanwhile.
                    recent().or(stored)
                }
            };
            values.extend(value);
        }
        Ok(values)
    }

    async fn write(
        &self,
        entry: Entry,
        grant: &str,
        value: &str,
        host: &dyn Host,
    ) -> Result<(), StoreError> {
        let key = entry.key(&self.keys.hash(purpose::CLIENT_GRANT, &[grant]));
        // At once, so that a concurrent request of this instance sees it.
        self.recent.insert(&key, value, host.now_ms());
        host.put(&key, value, Some(entry.life())).await.inspect_err(|error| {
            // Nothing is known again.
            self.recent.insert(&key, "", host.now_ms());
            log(error, host);
        })
    }

    /// Spends the code of a grant; false if it was spent before.
    pub(super) async fn spend_code(
        &self,
        grant: &str,
        host: &dyn Host,
    ) -> Result<bool, StoreError> {
        if !self.read(Entry::SpentCode, grant, host).await?.is_empty() {
            return Ok(false);
        }
        self.write(Entry::SpentCode, grant, "1", host).await.map(|()| true)
    }

    /// Whether a refresh token may be used, and if so, marks it as the newest that was.
    pub(super) async fn use_refresh_token(
        &self,
        claims: &RefreshClaims,
        host: &dyn Host,
    ) -> Result<TokenUse, StoreError> {
        let grant = &claims.grant.id;
        let values = self.read(Entry::Rotation, grant, host).await?;
        let newest = values.iter().filter_map(|value| parse(value)).max();
        match newest {
            Some((generation, _)) if claims.generation < generation => Ok(TokenUse::Reused),
            Some((generation, id)) if claims.generation == generation => {
                Ok(if id == claims.id { TokenUse::Allowed } else { TokenUse::Reused })
            }
            _ => {
                let value = format!("{} {}", claims.generation, claims.id);
                self.write(Entry::Rotation, grant, &value, host).await?;
                Ok(TokenUse::Allowed)
            }
        }
    }

    /// Whether a grant is revoked.
    pub(super) async fn is_revoked(
        &self,
        grant: &str,
        host: &dyn Host,
    ) -> Result<bool, StoreError> {
        Ok(!self.read(Entry::Revoked, grant, host).await?.is_empty())
    }

    /// Revokes a grant: its refresh tokens are invalid from now on.
    pub(super) async fn revoke(&self, grant: &str, host: &dyn Host) -> Result<(), StoreError> {
        self.write(Entry::Revoked, grant, "1", host).await
    }

    /// Whether a session was ended by signing out.
    pub(super) async fn is_signed_out(
        &self,
        session: &str,
        host: &dyn Host,
    ) -> Result<bool, StoreError> {
        Ok(!self.read(Entry::SignedOut, session, host).await?.is_empty())
    }

    /// Ends a session: a copy of its cookie is invalid from now on.
    pub(super) async fn sign_out(&self, session: &str, host: &dyn Host) -> Result<(), StoreError> {
        self.write(Entry::SignedOut, session, "1", host).await
    }
}

/// The generation and the id in a [`Entry::Rotation`].
fn parse(value: &str) -> Option<(u32, &str)> {
    let (generation, id) = value.split_once(' ')?;
    Some((generation.parse().ok()?, id))
}

fn log(error: &StoreError, host: &dyn Host) {
    host.log(Level::Error, "store", &[("problem", &error.0)]);
}
