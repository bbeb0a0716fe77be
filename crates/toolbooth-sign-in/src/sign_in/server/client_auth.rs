//! How clients authenticate at the endpoints for them (RFC 6749, 2.3; RFC 7523, 2.2).

use std::time::Duration;

use base64ct::{Base64, Base64UrlUnpadded, Encoding};
use percent_encoding::percent_decode_str;
use sha2::{Digest, Sha256};
use subtle::{Choice, ConstantTimeEq};

use super::error::{INVALID_CLIENT, INVALID_REQUEST, OAuthError};
use super::{AuthorizationServer, DocumentAuth, Parameters, ServerSettings, client_document, hash};
use crate::paths::TOKEN;
use crate::purpose;
use crate::sign_in::event::AuthMethod;
use crate::sign_in::login::{Identity, public_keys_hash};
use crate::sign_in::marks::Mark;
use toolbooth::auth::{AssertionVerifier, AuthError, key_hash, unverified_claim};
use toolbooth::host::Host;
use toolbooth::http::Headers;
use toolbooth::json::Value;
use toolbooth::settings::{ApiKeySettings, ClientKeys};

/// The only type of assertion (RFC 7523, 2.2).
const JWT_BEARER: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
/// The longest lifetime of an assertion, in seconds.
const MAX_ASSERTION_SECONDS: u64 = 3600;

/// An assertion was used.
const USED_ASSERTION: Mark =
    Mark { prefix: "assertion", life: Duration::from_secs(MAX_ASSERTION_SECONDS + 600) };

/// What a request says about its client.
#[derive(Debug)]
pub(super) struct Credentials {
    pub(super) client_id: String,
    secret: Option<String>,
    assertion: Option<String>,
}

fn invalid(description: &'static str) -> OAuthError {
    INVALID_CLIENT.error(description)
}

fn no_keys() -> OAuthError {
    invalid("the client's document has no keys")
}

/// The id and the secret in an `Authorization` header (RFC 6749, 2.3.1).
fn basic(header: &str) -> Option<(String, String)> {
    let (scheme, pair) = header.trim().split_once(' ')?;
    let pair = Base64::decode_vec(pair.trim()).ok()?;
    let pair = String::from_utf8(pair).ok()?;
    let (id, secret) = pair.split_once(':').filter(|_| scheme.eq_ignore_ascii_case("basic"))?;
    let decode = |text: &str| {
        let text = text.replace('+', " ");
        percent_decode_str(&text).decode_utf8().ok().map(|text| text.into_owned())
    };
    Some((decode(id)?, decode(secret)?))
}

impl Credentials {
    /// Reads them from the form and the `Authorization` header.
    pub(super) fn read(form: &Parameters, headers: &dyn Headers) -> Result<Self, OAuthError> {
        let header = headers.get("authorization");
        let header = match header.as_deref() {
            Some(header) => Some(basic(header).ok_or(invalid("the header is not HTTP Basic"))?),
            None => None,
        };
        let assertion = form.get("client_assertion").map(str::to_owned);
        if assertion.is_some() && form.get("client_assertion_type") != Some(JWT_BEARER) {
            return Err(invalid("`client_assertion_type` is not supported"));
        }
        let body_secret = form.get("client_secret").map(str::to_owned);
        let methods = [header.is_some(), body_secret.is_some(), assertion.is_some()];
        if methods.into_iter().filter(|used| *used).count() > 1 {
            return Err(INVALID_REQUEST.error("the client must authenticate in one way only"));
        }
        let named = form.get("client_id").map(str::to_owned);
        let (id, secret) = match header {
            // A public client may send an empty password.
            Some((id, secret)) => (Some(id), Some(secret).filter(|it| !it.is_empty())),
            None => (assertion.as_deref().and_then(|it| unverified_claim(it, "sub")), body_secret),
        };
        match (id, named) {
            (Some(id), Some(named)) if id != named => Err(invalid("the client ids differ")),
            (Some(client_id), _) | (None, Some(client_id)) => {
                Ok(Self { client_id, secret, assertion })
            }
            (None, None) => Err(invalid("`client_id` is missing")),
        }
    }
}

impl AuthorizationServer {
    /// Authenticates a client, or finds that it need not: then the result is false. `document` is how it does if it has a metadata
    /// document.
    pub(super) async fn authenticate_client(
        &self,
        credentials: &Credentials,
        document: Option<&DocumentAuth>,
        host: &dyn Host,
    ) -> Result<bool, OAuthError> {
        let Credentials { client_id: id, secret, assertion } = credentials;
        let secret = secret.as_deref();
        if let Some(client) = self.settings.clients.iter().find(|client| client.id == *id) {
            return match (&client.secret_hash, secret) {
                (None, _) => Ok(false),
                (Some(hash), Some(secret)) if is_hash(secret, hash) => Ok(true),
                (Some(_), _) => Err(invalid("the client's secret is not valid")),
            };
        }
        if self.settings.rejected_clients.contains(id) {
            return Err(invalid("the client's registration is not valid"));
        }
        if client_document::is_client_id(id, self.login.settings.is_local) {
            return match (document, assertion) {
                // Without a valid code or token the request fails anyway.
                (None, _) => Ok(false),
                (Some(DocumentAuth { none: true, .. }), None) => Ok(false),
                (Some(document), Some(assertion)) if document.has_keys() => {
                    let keys = self.document_keys(id, document, host).await?;
                    let verifier = verifier(keys, id, &self.login.settings.public_url);
                    self.verify_assertion((id, &verifier), assertion, host).await.map(|()| true)
                }
                (Some(_), _) => Err(invalid("the client must authenticate as its document says")),
            };
        }
        if self.machine(id).is_some() {
            return self.authenticate_machine(credentials, host).await.map(|_| true);
        }
        let registration = self.registration(id, host);
        match registration.ok_or(invalid("the client is not registered"))?.method {
            AuthMethod::None => Ok(false),
            AuthMethod::ClientSecretBasic | AuthMethod::ClientSecretPost => {
                let secret = secret.unwrap_or_default();
                let key = self.login.keys.verify_hash(purpose::CLIENT_SECRET, &[id], secret);
                key.map(|_| true).ok_or(invalid("the client's secret is not valid"))
            }
        }
    }

    /// Authenticates a client that can: one of the operator with a secret, or one whose document has keys. Returns its name, and
    /// how it authenticates if it has a document.
    pub(super) async fn authenticate_confidential(
        &self,
        credentials: &Credentials,
        host: &dyn Host,
    ) -> Result<(String, Option<DocumentAuth>), OAuthError> {
        let id = &credentials.client_id;
        let own = self.settings.clients.iter().find(|client| client.id == *id);
        let (name, document) = match own {
            Some(client) if client.secret_hash.is_some() => (client.name.clone(), None),
            // Only documents that the operator has listed are fetched.
            None if client_document::is_client_id(id, self.login.settings.is_local)
                && self.is_of_a_company(id) =>
            {
                let unusable = |_| invalid("the client's document cannot be used");
                let client = self.client(id, host).await.map_err(unusable)?;
                let document =
                    client.document.filter(DocumentAuth::has_keys).ok_or_else(no_keys)?;
                (client.name, Some(DocumentAuth { none: false, ..document }))
            }
            _ => {
                let expected = "this grant is for clients with a secret in SIGN_IN_CLIENTS, or with keys in the document of \
                                a client of ENTERPRISE_ISSUERS";
                return Err(invalid(expected));
            }
        };
        self.authenticate_client(credentials, document.as_ref(), host).await?;
        Ok((name, document))
    }

    /// The keys of a client with a document.
    async fn document_keys(
        &self,
        id: &str,
        document: &DocumentAuth,
        host: &dyn Host,
    ) -> Result<ClientKeys, OAuthError> {
        if let Some(jwks_uri) = &document.jwks_uri {
            return Ok(ClientKeys::Url(jwks_uri.clone()));
        }
        let client = self.documents.client(id, host).await;
        let client = client.map_err(|problem| match problem.is_temporary() {
            true => OAuthError::try_again(),
            false => invalid("the client's document cannot be used"),
        })?;
        Ok(ClientKeys::Set(client.jwks.ok_or_else(no_keys)?))
    }

    /// The entry of `API_KEYS` that is a client with this id. An id means one client: those of `SIGN_IN_CLIENTS`, and addresses of
    /// documents, are others.
    pub(super) fn machine(&self, id: &str) -> Option<&ApiKeySettings> {
        let ServerSettings { clients, rejected_clients, .. } = &*self.settings;
        let is_other = clients.iter().any(|client| client.id == id)
            || rejected_clients.iter().any(|rejected| rejected == id)
            || client_document::is_client_id(id, self.login.settings.is_local);
        self.login.settings.api_key(id).filter(|_| !is_other)
    }

    /// Authenticates a client of `API_KEYS` by its key or with its public keys, and returns who it is.
    pub(super) async fn authenticate_machine(
        &self,
        credentials: &Credentials,
        host: &dyn Host,
    ) -> Result<Identity, OAuthError> {
        let Credentials { client_id: id, secret, assertion } = credentials;
        let entry = self.machine(id).ok_or(invalid("the client is not an entry of API_KEYS"))?;
        let keys = entry.keys.as_ref().zip(self.verifiers.get(id));
        let hash = match (secret, assertion, keys) {
            (Some(secret), None, _) => {
                let hash = key_hash(secret);
                let mut is_known = Choice::from(0);
                for known in entry.hashes() {
                    is_known |= known.ct_eq(&hash);
                }
                if !bool::from(is_known) {
                    return Err(invalid("the client's secret is not valid"));
                }
                Base64UrlUnpadded::encode_string(&hash)
            }
            (None, Some(assertion), Some((keys, verifier))) => {
                self.verify_assertion((id, verifier), assertion, host).await?;
                public_keys_hash(keys)
            }
            _ => {
                let expected = "the client must authenticate with its key as the secret, or with private_key_jwt if its entry \
                                has jwks or jwks_uri";
                return Err(invalid(expected));
            }
        };
        Ok(Identity::Machine { name: id.clone(), hash })
    }

    /// Verifies a `private_key_jwt` (RFC 7523, 3) with a key that the client publishes.
    async fn verify_assertion(
        &self,
        (id, verifier): (&str, &AssertionVerifier),
        assertion: &str,
        host: &dyn Host,
    ) -> Result<(), OAuthError> {
        let claims = verifier.verify(assertion, host).await.map_err(|error| match error {
            AuthError::KeysUnavailable => OAuthError::try_again(),
            _ => invalid("the client's assertion is not valid"),
        })?;
        #[allow(clippy::cast_precision_loss)]
        let last = (host.now_ms() / 1000).saturating_add(MAX_ASSERTION_SECONDS) as f64;
        let expires = claims.get("exp").and_then(Value::as_f64).unwrap_or(f64::MAX);
        let is_own = claims.get("sub").and_then(Value::as_str) == Some(id);
        if !is_own || expires > last {
            return Err(invalid("the client's assertion is not valid"));
        }
        let Some(jti) = claims.get("jti").and_then(Value::as_str) else {
            // Optional (RFC 7523, 3). An assertion of a machine needs no code or token beside it, so each works once.
            return match self.machine(id) {
                Some(_) => Err(invalid("the client's assertion has no `jti`")),
                None => Ok(()),
            };
        };
        let used = format!("{} {jti}", hash(id));
        match self.marks.use_once(&USED_ASSERTION, &used, host).await? {
            true => Ok(()),
            false => Err(invalid("the client's assertion was used before")),
        }
    }
}

/// A verifier of the assertions with which the client `id` authenticates at the server `issuer`.
pub(super) fn verifier(keys: ClientKeys, id: &str, issuer: &str) -> AssertionVerifier {
    let audiences = vec![issuer.to_owned(), format!("{issuer}{TOKEN}")];
    AssertionVerifier::new(keys, id.to_owned(), audiences)
}

/// Whether the SHA-256 of `secret` is `hash`, in hexadecimal digits.
fn is_hash(secret: &str, hash: &str) -> bool {
    let own: String = Sha256::digest(secret).iter().map(|byte| format!("{byte:02x}")).collect();
    own.as_bytes().ct_eq(hash.as_bytes()).into()
}
