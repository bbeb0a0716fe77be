//! What a person has granted to a client: the content of authorization codes and refresh tokens.

use crate::purpose;
use serde::{Deserialize, Serialize};

use super::client::DocumentAuth;
use super::identity::Identity;
use super::{CODE_LIFE_MS, REFRESH_LIFE_MS, SignIn};
use toolbooth::seal::InvalidToken;

/// What a person has granted to a client. Each consent is a new grant: it does not end earlier ones.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ClientGrant {
    /// A random id.
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
    #[serde(rename = "g")]
    pub(super) grant: ClientGrant,
    #[serde(rename = "u")]
    pub(super) redirect_uri: String,
    #[serde(rename = "h")]
    pub(super) code_challenge: String,
    /// Whether the client gets a refresh token.
    #[serde(rename = "f")]
    pub(super) refreshes: bool,
}

/// The content of a refresh token.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct RefreshClaims {
    #[serde(rename = "g")]
    pub(super) grant: ClientGrant,
    /// How many refreshes came before it.
    #[serde(rename = "n")]
    pub(super) generation: u32,
    /// A random id: of two tokens of one generation, only one may be used.
    #[serde(rename = "i")]
    pub(super) id: String,
    /// The host that the code went to.
    #[serde(rename = "d")]
    pub(super) destination: String,
    /// When the connection was last recorded, in milliseconds since the Unix epoch.
    #[serde(rename = "r")]
    pub(super) recorded_ms: u64,
}

impl SignIn {
    pub(super) fn code(&self, claims: &CodeClaims, now_ms: u64) -> String {
        let expires_ms = now_ms.saturating_add(CODE_LIFE_MS);
        self.keys.seal(purpose::AUTHORIZATION_CODE, claims, expires_ms)
    }

    pub(super) fn open_code(&self, code: &str, now_ms: u64) -> Result<CodeClaims, InvalidToken> {
        self.keys.open(purpose::AUTHORIZATION_CODE, code, now_ms)
    }

    pub(super) fn refresh_token(&self, claims: &RefreshClaims, now_ms: u64) -> String {
        let expires_ms = now_ms.saturating_add(REFRESH_LIFE_MS);
        self.keys.seal(purpose::REFRESH_TOKEN, claims, expires_ms)
    }

    pub(super) fn open_refresh_token(
        &self,
        token: &str,
        now_ms: u64,
    ) -> Result<RefreshClaims, InvalidToken> {
        self.keys.open(purpose::REFRESH_TOKEN, token, now_ms)
    }
}
