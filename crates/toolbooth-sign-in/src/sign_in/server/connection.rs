//! The clients that a person has connected, for the page of their account. The store keeps a record of each, which no
//! token depends on.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::client_grant::{REFRESH_LIFE_MS, parts};
use super::{AuthorizationServer, ClientGrant};
use crate::oauth::store;
use crate::purpose;
use crate::sign_in::event::RevocationReason;
use toolbooth::call::join_all;
use toolbooth::host::{BoxFuture, Host, SHORTEST_LIFE, boxed};

const DAY_MS: u64 = 86_400_000;
/// The record outlives every refresh token of the grant.
const LIFE_MS: u64 = DAY_MS + REFRESH_LIFE_MS + DAY_MS;
/// The length of an id.
const RANDOM_TEXT: usize = 22;
/// The most clients that are listed: the newest.
const MOST: usize = 100;
/// The most records that are read to find them: Workers KV allows 1,000 operations, with those for their status.
const MOST_READ: usize = 600;
/// How many are read at once: whenever one arrives, all of them are polled.
const AT_ONCE: usize = 50;

/// A client that a person has connected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Connection {
    /// The id of the grant.
    #[serde(rename = "i")]
    pub(crate) id: String,
    /// The client's name. Anyone can choose any.
    #[serde(rename = "n")]
    pub(crate) name: String,
    /// The host that its codes went to.
    #[serde(rename = "d")]
    pub(crate) destination: String,
    #[serde(rename = "s")]
    pub(crate) scopes: Vec<String>,
    /// When the person agreed, in milliseconds since the Unix epoch.
    #[serde(rename = "t")]
    pub(crate) granted_ms: u64,
    /// When the client first got new tokens on the last day that it did, if it ever has: like `granted_ms`.
    #[serde(rename = "u", default, skip_serializing_if = "Option::is_none")]
    pub(crate) used_ms: Option<u64>,
}

/// A connection that is being read, if there is one.
type ConnectionRead<'a> = BoxFuture<'a, store::Result<Option<Connection>>>;

/// What these reads find, in their order.
async fn read_all(reads: Vec<ConnectionRead<'_>>) -> store::Result<Vec<Connection>> {
    let mut reads = reads.into_iter();
    let mut found = Vec::new();
    loop {
        let some = join_all(reads.by_ref().take(AT_ONCE)).await;
        if some.is_empty() {
            return Ok(found);
        }
        for connection in some {
            found.extend(connection?);
        }
    }
}

/// When the day of a time began (UTC). A client's record is written once a day.
pub(super) fn day_start(ms: u64) -> u64 {
    ms - ms % DAY_MS
}

impl AuthorizationServer {
    fn connection_keys(&self, subject: &str, id: &str) -> Vec<String> {
        let (id, _) = parts(id);
        let hashes = self.login.keys.hashes(purpose::CONNECTION, &[subject]);
        hashes.iter().map(|hash| format!("connection:{hash}:{id}")).collect()
    }

    /// Records that a client is connected, and when it was last used. A failure is logged: the client works, but the
    /// person cannot see it in their account until it is recorded again.
    pub(super) async fn record(
        &self,
        grant: &ClientGrant,
        (destination, used_ms): (&str, Option<u64>),
        refreshes: bool,
        host: &dyn Host,
    ) {
        let connection = Connection {
            id: grant.id.clone(),
            name: grant.client_name.clone(),
            destination: destination.to_owned(),
            scopes: grant.scopes.clone(),
            granted_ms: grant.granted_ms,
            used_ms,
        };
        let token_ms = self.settings.token_seconds.saturating_mul(1000);
        let now_ms = host.now_ms();
        let left_ms = self.ends_ms(grant).saturating_sub(now_ms).saturating_add(token_ms);
        let life_ms = if refreshes { LIFE_MS.min(left_ms) } else { token_ms };
        let life = Duration::from_millis(life_ms).max(SHORTEST_LIFE);
        let expires_ms = now_ms.saturating_add(life_ms);
        let record = self.login.keys.seal(purpose::CONNECTION, &connection, expires_ms);
        let hash = self.login.keys.hash(purpose::CONNECTION, &[&grant.identity.subject()]);
        let key = format!("connection:{hash}:{}", parts(&grant.id).0);
        let _ = store::put(&key, &record, life, host).await;
    }

    /// The clients that a person has connected, the newest first.
    pub(crate) async fn connections(
        &self,
        subject: &str,
        host: &dyn Host,
    ) -> store::Result<Vec<Connection>> {
        let mut keys = Vec::new();
        for prefix in self.connection_keys(subject, "") {
            keys.extend(store::list(&prefix, host).await?);
        }
        // The order of the keys is that of random ids.
        keys.truncate(MOST_READ);
        let records =
            keys.iter().map(|key| -> ConnectionRead<'_> { boxed(self.connection(key, host)) });
        let mut connections: Vec<Connection> = Vec::new();
        for new in read_all(records.collect()).await? {
            // Newest first. A sort would link its algorithm for this type.
            let at = connections
                .partition_point(|it| (it.granted_ms, &it.id) > (new.granted_ms, &new.id));
            connections.insert(at, new);
        }
        // While the key is replaced, there may be a record for each.
        connections.dedup_by(|a, b| a.id == b.id);
        connections.truncate(MOST);
        let current = connections.into_iter();
        read_all(
            current
                .map(|it| -> ConnectionRead<'_> { boxed(self.unless_revoked(it, host)) })
                .collect(),
        )
        .await
    }

    async fn unless_revoked(
        &self,
        connection: Connection,
        host: &dyn Host,
    ) -> store::Result<Option<Connection>> {
        let is_revoked = self.is_revoked(&connection.id, host).await?;
        Ok(Some(connection).filter(|_| !is_revoked))
    }

    async fn connection(&self, key: &str, host: &dyn Host) -> store::Result<Option<Connection>> {
        let record = store::get(key, host).await?;
        let now_ms = host.now_ms();
        Ok(record.and_then(|text| self.login.keys.open(purpose::CONNECTION, &text, now_ms).ok()))
    }

    /// Ends the grant of a client that this person has connected; false if there is none.
    pub(crate) async fn disconnect(
        &self,
        subject: &str,
        id: &str,
        host: &dyn Host,
    ) -> store::Result<bool> {
        if parts(id).0.len() != RANDOM_TEXT {
            return Ok(false);
        }
        let mut is_own = false;
        for key in self.connection_keys(subject, id) {
            is_own |= store::get(&key, host).await?.is_some();
        }
        // The form may be sent again, while the record can still be read.
        if is_own && !self.is_revoked(id, host).await? {
            self.end_grant(subject, (id, None), RevocationReason::Disconnected, host).await?;
        }
        Ok(is_own)
    }

    /// Removes the record of a grant that has been revoked.
    pub(super) async fn forget_connection(&self, subject: &str, id: &str, host: &dyn Host) {
        for key in self.connection_keys(subject, id) {
            let _ = store::delete(&key, host).await;
        }
    }
}
