//! The clients of the authorization server: which there are, and how each is found.

use base64ct::{Base64UrlUnpadded, Encoding};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::registration::Registration;
use super::{AuthorizationServer, RegistrationMode, client_document};
use crate::redirect_uri::{self, RedirectKind};
use crate::sign_in::login::Problem;
use crate::{paths, purpose};
use toolbooth::host::Host;

/// A client, as an authorization request needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Client {
    /// The hash of its `client_id`.
    pub(crate) hash: String,
    /// Its name for people. Anyone can choose any.
    pub(crate) name: String,
    pub(crate) origin: ClientOrigin,
    pub(crate) redirect_uris: Vec<String>,
    pub(crate) refreshes: bool,
    /// How it authenticates, if its document says so.
    pub(crate) document: Option<DocumentAuth>,
    /// Its key set, as JSON, if its document contains that.
    pub(crate) jwks: Option<String>,
}

/// What is known about who a client is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ClientOrigin {
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
pub(crate) struct DocumentAuth {
    /// Whether it need not authenticate.
    #[serde(rename = "n")]
    pub(super) none: bool,
    /// Where its keys are, if it can authenticate with `private_key_jwt`.
    #[serde(rename = "j", default, skip_serializing_if = "Option::is_none")]
    pub(super) jwks_uri: Option<String>,
    /// Whether the document itself has its keys, which are too long for codes: it is fetched again for them.
    #[serde(rename = "v", default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) by_value: bool,
}

impl DocumentAuth {
    /// Whether the client can authenticate with `private_key_jwt`.
    pub(super) fn has_keys(&self) -> bool {
        self.jwks_uri.is_some() || self.by_value
    }
}

/// The hash of a `client_id`, for tokens: some ids are long.
pub(super) fn hash(client_id: &str) -> String {
    Base64UrlUnpadded::encode_string(&Sha256::digest(client_id))
}

impl AuthorizationServer {
    pub(crate) async fn client(&self, id: &str, host: &dyn Host) -> Result<Client, Problem> {
        let known = self.settings.clients.iter().find(|client| client.id == id).cloned();
        let (origin, name, redirect_uris, refreshes) = if let Some(known) = known {
            (ClientOrigin::Operator, known.name, known.redirect_uris, true)
        } else if self.settings.rejected_clients.iter().any(|rejected| rejected == id) {
            return Err(Problem::UNKNOWN_CLIENT);
        } else if client_document::is_client_id(id, self.login.settings.is_local) {
            let is_allowed = self.settings.registration != RegistrationMode::None;
            if !is_allowed || !self.is_client_domain(id) {
                return Err(Problem::CLIENT_NOT_ALLOWED);
            }
            return self.documents.client(id, host).await;
        } else {
            let Registration { name, redirect_uris, refreshes, .. } =
                self.registration(id, host).ok_or(Problem::UNKNOWN_CLIENT)?;
            if !self.may_connect(&redirect_uris) {
                return Err(Problem::CLIENT_NOT_ALLOWED);
            }
            (ClientOrigin::Registration, name, redirect_uris, refreshes)
        };
        let (hash, document, jwks) = (hash(id), None, None);
        Ok(Client { hash, name, origin, redirect_uris, refreshes, document, jwks })
    }

    /// The registration that a `client_id` is.
    pub(super) fn registration(&self, id: &str, host: &dyn Host) -> Option<Registration> {
        self.login.keys.open(purpose::REGISTRATION, id, host.now_ms()).ok()
    }

    /// Whether a client that registers itself, with these redirect URIs, may connect. The pages of the server always may.
    pub(super) fn may_connect(&self, redirect_uris: &[String]) -> bool {
        self.settings.registration == RegistrationMode::Open
            || redirect_uris.iter().all(|uri| self.is_own_page(uri))
    }

    /// Whether a redirect URI is that of the server's own pages.
    pub(super) fn is_own_page(&self, uri: &str) -> bool {
        uri.strip_prefix(&*self.login.settings.public_url) == Some(paths::SIGNED_IN)
    }

    /// Whether a client that the operator has not registered may have a document, or receive codes, at a URL.
    fn is_client_domain(&self, url: &str) -> bool {
        let domains = &self.settings.client_domains;
        let host = redirect_uri::destination(url).to_ascii_lowercase();
        let host = host.split(':').next().unwrap_or_default();
        let is_below = |domain: &String| {
            let rest = host.strip_suffix(domain.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        };
        domains.is_empty()
            || redirect_uri::kind(url) != RedirectKind::Web
            || self.is_own_page(url)
            || domains.iter().any(is_below)
    }

    /// Whether a client that the operator has not registered may receive codes at a URI.
    pub(super) fn is_usable(&self, uri: &str) -> bool {
        redirect_uri::is_allowed(uri, &self.settings.redirect_schemes) && self.is_client_domain(uri)
    }

    /// Whether a client may receive codes at a URI.
    pub(crate) fn may_redirect(&self, client: &Client, uri: &str) -> bool {
        let is_allowed = match client.origin {
            ClientOrigin::Operator => {
                redirect_uri::is_allowed(uri, &self.settings.redirect_schemes)
            }
            ClientOrigin::Document { .. } | ClientOrigin::Registration => self.is_usable(uri),
        };
        is_allowed && client.redirect_uris.iter().any(|known| redirect_uri::matches(known, uri))
    }
}
