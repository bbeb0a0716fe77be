//! The clients of the authorization server: which there are, and how each is found.

use crate::purpose;
use base64ct::{Base64UrlUnpadded, Encoding};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::SignIn;
use super::client_document::{self, DocumentError};
use super::registration::Registration;
use crate::redirect_uri;
use toolbooth::host::Host;

/// A client, as an authorization request needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Client {
    /// The hash of its `client_id`.
    pub(super) hash: String,
    /// Its name for people. Anyone can choose any.
    pub(super) name: String,
    /// What is known about who it is.
    pub(super) origin: ClientOrigin,
    /// Where it may receive codes.
    pub(super) redirect_uris: Vec<String>,
    /// Whether it can use refresh tokens.
    pub(super) refreshes: bool,
    /// How it authenticates, if its document says so.
    pub(super) document: Option<DocumentAuth>,
}

/// What is known about who a client is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ClientOrigin {
    /// The operator has registered it.
    Operator,
    /// It is described at a URL of this domain.
    Document { domain: String },
    /// It has registered itself.
    Registration,
}

/// How a client with a metadata document authenticates. It is part of codes and refresh tokens, so that the document is
/// fetched for the consent page only.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct DocumentAuth {
    /// Whether it need not authenticate.
    #[serde(rename = "n")]
    pub(super) none: bool,
    /// Where its keys are, if it can authenticate with `private_key_jwt`.
    #[serde(rename = "j", default, skip_serializing_if = "Option::is_none")]
    pub(super) jwks_uri: Option<String>,
}

/// Why an authorization request has no valid client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ClientError {
    /// It was never registered, or the registration is no longer valid.
    Unknown,
    /// Its metadata document cannot be used.
    InvalidDocument,
    /// Its metadata document cannot be fetched.
    Unreachable,
}

/// The hash of a `client_id`, for tokens: some ids are long.
pub(super) fn hash(client_id: &str) -> String {
    Base64UrlUnpadded::encode_string(&Sha256::digest(client_id))
}

impl SignIn {
    /// The client of an authorization request.
    pub(super) async fn client(&self, id: &str, host: &dyn Host) -> Result<Client, ClientError> {
        if let Some(known) = self.settings.clients.iter().find(|client| client.id == id) {
            return Ok(Client {
                hash: hash(id),
                name: known.name.clone(),
                origin: ClientOrigin::Operator,
                redirect_uris: known.redirect_uris.clone(),
                refreshes: true,
                document: None,
            });
        }
        if self.settings.rejected_clients.iter().any(|rejected| rejected == id) {
            return Err(ClientError::Unknown);
        }
        if client_document::is_client_id(id, self.settings.is_local) {
            let document = client_document::fetch(id, host).await;
            return document.map_err(|error| match error {
                DocumentError::Invalid => ClientError::InvalidDocument,
                DocumentError::Unreachable => ClientError::Unreachable,
            });
        }
        let registration = self.registration(id, host).ok_or(ClientError::Unknown)?;
        Ok(Client {
            hash: hash(id),
            name: registration.name,
            origin: ClientOrigin::Registration,
            redirect_uris: registration.redirect_uris,
            refreshes: registration.refreshes,
            document: None,
        })
    }

    /// The registration that a `client_id` is.
    pub(super) fn registration(&self, id: &str, host: &dyn Host) -> Option<Registration> {
        self.keys.open(purpose::REGISTRATION, id, host.now_ms()).ok()
    }

    /// Whether a client may receive codes at a URI.
    pub(super) fn may_redirect(&self, client: &Client, uri: &str) -> bool {
        redirect_uri::is_allowed(uri, &self.settings.redirect_schemes)
            && client.redirect_uris.iter().any(|known| redirect_uri::matches(known, uri))
    }
}
