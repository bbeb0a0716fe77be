//! What a person has granted to a client: the content of authorization codes and refresh tokens.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{AuthorizationServer, DocumentAuth, OAuthError};
use crate::oauth::store;
use crate::purpose;
use crate::sign_in::event::{RevocationReason, SignInEvent};
use crate::sign_in::login::Identity;
use crate::sign_in::marks::Mark;
use toolbooth::host::Host;

/// How long an authorization code is valid, in milliseconds.
pub(super) const CODE_LIFE_MS: u64 = 2 * 60 * 1000;
/// How long a refresh token is valid, in milliseconds: 90 days from the beginning of the day on which it was issued (UTC).
pub(super) const REFRESH_LIFE_MS: u64 = 90 * 86_400 * 1000;

/// A code was used.
const SPENT_CODE: Mark =
    Mark { prefix: "code", life: Duration::from_millis(CODE_LIFE_MS + 2 * 60_000) };
const MARK_LIFE: Duration = Duration::from_millis(REFRESH_LIFE_MS + 86_400_000);
/// The generation of the newest refresh token of a grant that was used.
const ROTATION: Mark = Mark { prefix: "rotation", life: MARK_LIFE };
/// The same in the ledger, as a number that begins with 1, until the store shows the [`ROTATION`] everywhere.
const NEWEST: Mark = Mark { prefix: "refresh", life: Duration::from_secs(5 * 60) };
const REVOKED: Mark = Mark { prefix: "revoked", life: MARK_LIFE };

/// What a person has granted to a client. Each consent page is a new grant: it does not end earlier ones.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ClientGrant {
    #[serde(rename = "g")]
    pub(super) id: String,
    /// The hash of the client's id.
    #[serde(rename = "c")]
    pub(super) client: String,
    #[serde(rename = "n")]
    pub(super) client_name: String,
    #[serde(rename = "p")]
    pub(super) identity: Identity,
    #[serde(rename = "s")]
    pub(super) scopes: Vec<String>,
    /// Whether the client has requested `offline_access`, so that its scopes include it.
    #[serde(rename = "o", default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) offline: bool,
    /// How the client authenticates, if its document says so.
    #[serde(rename = "d", default, skip_serializing_if = "Option::is_none")]
    pub(super) document: Option<DocumentAuth>,
    /// When the person agreed, in milliseconds since the Unix epoch.
    #[serde(rename = "t")]
    pub(super) granted_ms: u64,
}

/// The content of an authorization code.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct CodeClaims {
    /// A random id.
    #[serde(rename = "i")]
    pub(super) id: String,
    #[serde(rename = "g")]
    pub(super) grant: ClientGrant,
    #[serde(rename = "u")]
    pub(super) redirect_uri: String,
    #[serde(rename = "h")]
    pub(super) code_challenge: String,
    /// Whether the client gets a refresh token.
    #[serde(rename = "f")]
    pub(super) refreshes: bool,
    /// The thumbprint of the key that it is bound to (RFC 9449, 10).
    #[serde(rename = "k", default, skip_serializing_if = "Option::is_none")]
    pub(super) key: Option<String>,
}

/// The content of a refresh token. All tokens of one generation are copies of one token: a client that repeats a refresh, or
/// several processes of a client, get the same successor.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct RefreshClaims {
    #[serde(rename = "g")]
    pub(super) grant: ClientGrant,
    /// How many refreshes came before it.
    #[serde(rename = "n")]
    pub(super) generation: u32,
    /// The host that the code went to.
    #[serde(rename = "d")]
    pub(super) destination: String,
    /// When the connection was last recorded, in milliseconds since the Unix epoch.
    #[serde(rename = "r")]
    pub(super) recorded_ms: u64,
    /// The thumbprint of the key that it is bound to, if its client cannot authenticate (RFC 9449, 5).
    #[serde(rename = "k", default, skip_serializing_if = "Option::is_none")]
    pub(super) key: Option<String>,
}

impl AuthorizationServer {
    /// Spends a code; false if it was spent before.
    pub(super) async fn spend_code(&self, code: &str, host: &dyn Host) -> store::Result<bool> {
        self.marks.use_once(&SPENT_CODE, code, host).await
    }

    /// Marks a refresh token as the newest that was used. False if its successor was used before: then a copy exists. Until then
    /// it may be used again, however late: the response may have been lost, and who has the token could have used it before.
    pub(super) async fn use_refresh_token(
        &self,
        claims: &RefreshClaims,
        host: &dyn Host,
    ) -> Result<bool, OAuthError> {
        let (grant, generation) = (&claims.grant.id, claims.generation);
        let values = self.marks.values(&ROTATION, grant, host).await?;
        let newest = values.iter().filter_map(|value| parse_rotation(value)).max();
        if newest.is_some_and(|newest| generation < newest) {
            return Ok(false);
        }
        // The store may not show yet that the successor was used elsewhere.
        let number = u64::from(generation).saturating_add(1);
        let before = self.marks.raise(&NEWEST, grant, number, host).await?;
        if before.is_some_and(|before| number < before) {
            return Ok(false);
        }
        if newest == Some(generation) {
            return Ok(true);
        }
        match self.marks.set(&ROTATION, grant, &generation.to_string(), host).await {
            // A request with the same token has written it at this moment: a key takes one write a second.
            Err(_) if before == Some(number) => Ok(true),
            written => Ok(written.map(|()| true)?),
        }
    }

    /// When a grant ends, however often its tokens are refreshed.
    pub(super) fn ends_ms(&self, grant: &ClientGrant) -> u64 {
        grant.granted_ms.saturating_add(self.settings.connection_ms)
    }

    pub(super) async fn is_revoked(&self, grant: &str, host: &dyn Host) -> store::Result<bool> {
        let (id, asserted_ms) = parts(grant);
        let values = self.marks.values(&REVOKED, id, host).await?;
        let ends = |ended_ms: &String| match (asserted_ms, ended_ms.parse::<u64>()) {
            (Some(asserted_ms), Ok(ended_ms)) => asserted_ms <= ended_ms,
            _ => true,
        };
        Ok(values.iter().any(ends))
    }

    /// The id of the grant of a person who has answered the consent page with this id. Whoever clicks twice, because the browser
    /// seems to do nothing, answers it twice: that is one grant with two codes.
    pub(super) fn consented_grant(&self, page: &str, subject: &str) -> String {
        let hash = self.login.keys.hash(purpose::CLIENT_GRANT, &["consented", page, subject]);
        format!("{hash:.22}")
    }

    /// The id of the grant of a person whose company authorizes a client again and again: with the time, so that an end of the
    /// grant is one of what was asserted until then.
    pub(super) fn asserted_grant(&self, subject: &str, client_id: &str, now_ms: u64) -> String {
        let hash = self.login.keys.hash(purpose::CLIENT_GRANT, &["asserted", subject, client_id]);
        format!("{hash:.22}.{now_ms}")
    }

    /// Revokes a person's grant to a client, whose id has the hash `client` if that is known: its refresh tokens are invalid from now on, and its access tokens as soon as the store says so.
    pub(super) async fn end_grant(
        &self,
        subject: &str,
        (grant, client): (&str, Option<&str>),
        reason: RevocationReason,
        host: &dyn Host,
    ) -> store::Result<()> {
        let (id, asserted_ms) = parts(grant);
        let value = asserted_ms.map_or("1".to_owned(), |_| host.now_ms().to_string());
        self.marks.set(&REVOKED, id, &value, host).await?;
        self.forget_connection(subject, grant, host).await;
        let caller = self.login.caller(subject);
        let client = client.map(|client| self.client_ref(client));
        self.login.log(SignInEvent::ClientRevoked { reason, caller, client }, host);
        Ok(())
    }
}

/// The id of a grant, under which the store has it, and when a company has asserted it, if one has.
pub(super) fn parts(grant: &str) -> (&str, Option<u64>) {
    match grant.split_once('.') {
        Some((id, asserted_ms)) => (id, asserted_ms.parse().ok()),
        None => (grant, None),
    }
}

/// The generation in a [`ROTATION`]. Earlier versions wrote more after it.
fn parse_rotation(value: &str) -> Option<u32> {
    value.split(' ').next()?.parse().ok()
}
