//! Dynamic client registration (RFC 7591). The registration is sealed into the `client_id`, and the secret is a hash of
//! it, so nothing is stored.

use serde::{Deserialize, Serialize};

use super::error::{ACCESS_DENIED, INVALID_CLIENT_METADATA, INVALID_REDIRECT_URI, OAuthError};
use super::{AuthorizationServer, hash};
use crate::oauth::random_text;
use crate::purpose;
use crate::redirect_uri::{self, RedirectKind};
use crate::sign_in::event::{AuthMethod, SignInEvent};
use toolbooth::call::Rejection;
use toolbooth::host::Host;
use toolbooth::http::{Answer, Response};
use toolbooth::json;
use toolbooth::names::is_invisible;
use toolbooth::route::RouteRequest;

/// The longest name of a client, in characters.
const MAX_NAME: usize = 64;
/// How long all redirect URIs of a client may be together, in bytes.
const MAX_URIS_BYTES: usize = 1_500;
/// How long a registration is valid, in milliseconds: longer than a connection that begins at once.
const LIFE_MS: u64 = 400 * 86_400 * 1000;

/// What a `client_id` contains. The names are short, because it travels in URLs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Registration {
    /// A random id, so that no two clients have the same secret.
    #[serde(rename = "i")]
    pub(super) id: String,
    #[serde(rename = "n")]
    pub(super) name: String,
    #[serde(rename = "u")]
    pub(super) redirect_uris: Vec<String>,
    #[serde(rename = "r")]
    pub(super) refreshes: bool,
    #[serde(rename = "a")]
    pub(super) method: AuthMethod,
}

/// The members of a registration request that are used. Others, and unknown grant types, are ignored (RFC 7591, 2).
#[derive(Deserialize)]
struct RegistrationRequest<'v> {
    #[serde(default)]
    redirect_uris: Vec<String>,
    client_name: Option<&'v str>,
    token_endpoint_auth_method: Option<&'v str>,
    #[serde(borrow)]
    grant_types: Option<Vec<&'v str>>,
    #[serde(borrow)]
    response_types: Option<Vec<&'v str>>,
}

/// RFC 7591, 3.2.1.
#[derive(Serialize)]
struct RegistrationResponse<'a> {
    client_id: &'a str,
    client_id_issued_at: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    client_secret: Option<String>,
    /// Zero: it does not expire. Required with a secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    client_secret_expires_at: Option<u64>,
    client_name: &'a str,
    redirect_uris: &'a [String],
    grant_types: &'a [&'static str],
    response_types: [&'static str; 1],
    token_endpoint_auth_method: AuthMethod,
}

/// A name without characters that are invisible or change the text around them; `None` if nothing is left.
pub(super) fn display_name(name: &str) -> Option<String> {
    let visible = name.chars().filter(|c| !is_invisible(*c));
    let name: String = visible.take(MAX_NAME).collect();
    Some(name.trim().to_owned()).filter(|name| !name.is_empty())
}

/// `POST /oauth/register`.
pub(crate) async fn register<'a>(request: &RouteRequest<'a>) -> Result<Answer<'a>, Rejection> {
    let server = AuthorizationServer::of(request)?;
    let registered = server.register(&request.body, request.host).unwrap_or_else(|error| {
        let (code, reason) = (error.code.name, &*error.description);
        server.login.log(SignInEvent::ClientRejected { error: code, reason }, request.host);
        error.response()
    });
    Ok(registered.into())
}

impl AuthorizationServer {
    fn register(&self, body: &[u8], host: &dyn Host) -> Result<Response, OAuthError> {
        let invalid = |description: &'static str| INVALID_CLIENT_METADATA.error(description);
        let body = json::parse_bytes(body);
        let request: Option<RegistrationRequest<'_>> = body.as_ref().and_then(json::read_value);
        let request =
            request.ok_or(invalid("the body must be a JSON object of client metadata"))?;
        let redirect_uris = self.usable_uris(request.redirect_uris)?;
        if !self.may_connect(&redirect_uris) {
            return Err(
                ACCESS_DENIED.error("clients cannot register: ask the operator of the server")
            );
        }
        let method = match request.token_endpoint_auth_method {
            Some("none") => AuthMethod::None,
            Some("client_secret_post") => AuthMethod::ClientSecretPost,
            // The default (RFC 7591, 2).
            Some("client_secret_basic") | None => AuthMethod::ClientSecretBasic,
            Some(_) => {
                return Err(invalid(
                    "`token_endpoint_auth_method` must be none, client_secret_basic or \
                     client_secret_post",
                ));
            }
        };
        let lists = |grant: &str| request.grant_types.iter().flatten().any(|it| *it == grant);
        if request.grant_types.is_some() && !lists("authorization_code") {
            return Err(invalid("`grant_types` must include authorization_code"));
        }
        if request.response_types.is_some_and(|types| !types.contains(&"code")) {
            return Err(invalid("`response_types` must include code"));
        }
        let name = request.client_name.and_then(display_name);
        let name = name.unwrap_or_else(|| {
            redirect_uris.first().map(|uri| redirect_uri::destination(uri)).unwrap_or_default()
        });
        let registration = Registration {
            id: random_text(host)?,
            name,
            redirect_uris,
            // Many clients that use refresh tokens list no grant types.
            refreshes: request.grant_types.is_none() || lists("refresh_token"),
            method,
        };
        let (client_id, response) = self.registered(&registration, host.now_ms());
        let client = self.client_ref(&hash(&client_id));
        self.login.log(SignInEvent::ClientRegistered { auth_method: method, client }, host);
        Ok(response)
    }

    /// The redirect URIs that a client can use. One of a private scheme that is not allowed does not matter beside
    /// others: Cursor registers three.
    fn usable_uris(&self, uris: Vec<String>) -> Result<Vec<String>, OAuthError> {
        let is_forbidden = |uri: &String| redirect_uri::kind(uri) == RedirectKind::Forbidden;
        let has_forbidden = uris.iter().any(is_forbidden);
        let uris: Vec<String> = uris.into_iter().filter(|uri| self.is_usable(uri)).collect();
        let expected = if has_forbidden {
            "`redirect_uris` must be https, http on this machine, or of a native application"
        } else if uris.is_empty() {
            "`redirect_uris` must have one that is https or http on this machine, and of a domain that the operator allows"
        } else if uris.iter().map(String::len).sum::<usize>() > MAX_URIS_BYTES {
            "`redirect_uris` are too long"
        } else {
            return Ok(uris);
        };
        Err(INVALID_REDIRECT_URI.error(expected))
    }

    /// The id of a client, and the response with it.
    fn registered(&self, registration: &Registration, now_ms: u64) -> (String, Response) {
        let expires_ms = now_ms.saturating_add(LIFE_MS);
        let client_id = self.login.keys.seal(purpose::REGISTRATION, registration, expires_ms);
        let is_public = registration.method == AuthMethod::None;
        let secret = || self.login.keys.hash(purpose::CLIENT_SECRET, &[&client_id]);
        let grants: &[&'static str] = match registration.refreshes {
            true => &["authorization_code", "refresh_token"],
            false => &["authorization_code"],
        };
        let response = Response::json_of(
            201,
            &RegistrationResponse {
                client_id: &client_id,
                client_id_issued_at: now_ms / 1000,
                client_secret: (!is_public).then(secret),
                client_secret_expires_at: (!is_public).then_some(0),
                client_name: &registration.name,
                redirect_uris: &registration.redirect_uris,
                grant_types: grants,
                response_types: ["code"],
                token_endpoint_auth_method: registration.method,
            },
        );
        (client_id, response)
    }
}
