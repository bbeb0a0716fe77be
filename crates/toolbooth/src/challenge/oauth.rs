//! What is said to an authorization server: discovery, the code for tokens, refresh, forms in general.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base64ct::{Base64, Encoding};
use form_urlencoded::{Serializer, byte_serialize};
use serde::Deserialize;

use super::STALE_MS;
use super::provider::{Addresses, ClientAuth, Provider, Revocation};
use super::tokens::{TokenError, TokenResponse};
use crate::address::is_secure;
use crate::host::{Host, HttpRequest, HttpResponse, Level};
use crate::tool::Secret;

/// How long a discovery document is used before it is fetched again.
const DISCOVERY_LIFE_MS: u64 = 10 * 60 * 1000;

/// Where a provider is, and how it knows its client.
#[derive(Debug, Clone)]
pub(super) struct AuthorizationServer {
    pub(super) authorize: String,
    issuer: Option<String>,
    /// Whether it promises to name itself when it sends users back (RFC 9207, 3).
    tells_issuer: bool,
    token: String,
    client_auth: ClientAuth,
    /// How it revokes a grant, if it can.
    pub(super) revocation: Option<Revocation>,
}

/// What an instance remembers of a provider's discovery document, and when it was fetched.
///
/// It is locked only to look and to write: a request that waited for another one's fetch would wait
/// forever if that one is cancelled. Requests at the same moment each fetch for themselves.
#[derive(Debug, Clone, Default)]
pub(super) struct Discovered(Arc<Mutex<Option<(AuthorizationServer, u64)>>>);

impl Discovered {
    fn known(&self) -> MutexGuard<'_, Option<(AuthorizationServer, u64)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn get(&self, now_ms: u64) -> Option<AuthorizationServer> {
        let known = self.known();
        let fresh = |at: u64| now_ms.saturating_sub(at) < DISCOVERY_LIFE_MS;
        known.as_ref().filter(|(_, at)| fresh(*at)).map(|(server, _)| server.clone())
    }

    fn set(&self, server: &AuthorizationServer, now_ms: u64) {
        *self.known() = Some((server.clone(), now_ms));
    }

    /// Has the document fetched again if it is at least a minute old. Anybody who has a challenge can
    /// make a code up, and so have the provider refuse.
    fn forget(&self, now_ms: u64) {
        self.known().take_if(|(_, at)| now_ms.saturating_sub(*at) >= STALE_MS);
    }
}

/// Finds the addresses of a provider. A discovery document is fetched once in ten minutes, and again
/// when the provider gives no tokens: its addresses may have changed.
///
/// # Errors
/// [`TokenError::Away`]: its discovery document is not there or not one.
pub(super) async fn server(
    provider: &Provider,
    host: &dyn Host,
) -> Result<AuthorizationServer, TokenError> {
    let issuer = match &provider.addresses {
        Addresses::Known { authorize, token } => {
            return Ok(AuthorizationServer {
                authorize: authorize.clone(),
                issuer: None,
                tells_issuer: false,
                token: token.clone(),
                client_auth: provider.client_auth.unwrap_or(ClientAuth::Post),
                revocation: provider.revocation.clone(),
            });
        }
        Addresses::Issuer(issuer) => issuer,
    };
    if let Some(server) = provider.discovered.get(host.now_ms()) {
        return Ok(server);
    }
    #[derive(Deserialize)]
    struct Document {
        issuer: String,
        authorization_endpoint: String,
        token_endpoint: String,
        revocation_endpoint: Option<String>,
        #[serde(default)]
        authorization_response_iss_parameter_supported: bool,
        #[serde(default = "basic")]
        token_endpoint_auth_methods_supported: Vec<String>,
    }
    /// What a document means that does not say.
    fn basic() -> Vec<String> {
        vec!["client_secret_basic".to_owned()]
    }
    // An issuer elsewhere has no business on this machine.
    let here = issuer.starts_with("http://");
    let belongs = |address: &str| is_secure(address) && (here || address.starts_with("https://"));
    let url = format!("{}/.well-known/openid-configuration", issuer.trim_end_matches('/'));
    let answer = send(provider, HttpRequest::get(url), host).await?;
    let document: Option<Document> = (answer.status == 200).then(|| answer.json()).flatten();
    let document = document.filter(|it| {
        it.issuer == *issuer && belongs(&it.authorization_endpoint) && belongs(&it.token_endpoint)
    });
    let Some(document) = document else {
        note(provider, "its discovery document cannot be used", host);
        return Err(TokenError::Away);
    };
    let methods = document.token_endpoint_auth_methods_supported;
    let discovered = if methods.iter().any(|method| method == "client_secret_basic") {
        ClientAuth::Basic
    } else {
        ClientAuth::Post
    };
    let discovered_revocation = document.revocation_endpoint.filter(|it| belongs(it));
    let server = AuthorizationServer {
        authorize: document.authorization_endpoint,
        issuer: Some(document.issuer),
        tells_issuer: document.authorization_response_iss_parameter_supported,
        token: document.token_endpoint,
        client_auth: provider.client_auth.unwrap_or(discovered),
        revocation: provider
            .revocation
            .clone()
            .or_else(|| discovered_revocation.map(Revocation::Standard)),
    };
    provider.discovered.set(&server, host.now_ms());
    Ok(server)
}

impl AuthorizationServer {
    /// Whether it is this server that has sent a user back with `iss`: the code may be another
    /// server's (RFC 9207, 2.4).
    pub(super) fn has_sent(&self, iss: Option<&str>) -> bool {
        match (&self.issuer, iss) {
            (Some(issuer), Some(iss)) => issuer == iss,
            (Some(_), None) => !self.tells_issuer,
            (None, _) => true,
        }
    }

    /// Exchanges an authorization code (RFC 6749, 4.1.3; RFC 7636, 4.5).
    pub(super) async fn exchange(
        &self,
        provider: &Provider,
        (code, redirect_uri, verifier): (&str, &str, &str),
        host: &dyn Host,
    ) -> Result<TokenResponse, TokenError> {
        let fields = [
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", redirect_uri),
            ("code_verifier", verifier),
        ];
        self.ask(provider, &fields, host)
            .await
            .inspect_err(|_| provider.discovered.forget(host.now_ms()))
    }

    /// Asks for a new access token (RFC 6749, 6).
    pub(super) async fn refresh(
        &self,
        provider: &Provider,
        refresh: &Secret,
        host: &dyn Host,
    ) -> Result<TokenResponse, TokenError> {
        let fields = [("grant_type", "refresh_token"), ("refresh_token", refresh.expose())];
        self.ask(provider, &fields, host)
            .await
            .inspect_err(|_| provider.discovered.forget(host.now_ms()))
    }

    async fn ask(
        &self,
        provider: &Provider,
        fields: &[(&str, &str)],
        host: &dyn Host,
    ) -> Result<TokenResponse, TokenError> {
        let answer = send(provider, self.form(provider, &self.token, fields), host).await?;
        TokenResponse::read(&answer).inspect_err(|no_tokens| {
            let rejected = *no_tokens == TokenError::Refused;
            let what = if rejected { "it refuses" } else { "its answer has no tokens" };
            note(provider, what, host);
        })
    }

    /// A form for one of its endpoints, with the client's credentials (RFC 6749, 2.3.1).
    pub(super) fn form<'a>(
        &self,
        provider: &Provider,
        url: &'a str,
        fields: &[(&str, &str)],
    ) -> HttpRequest<'a> {
        let mut form = Serializer::new(String::new());
        form.extend_pairs(fields);
        let mut headers = vec![
            ("content-type", "application/x-www-form-urlencoded".into()),
            // GitHub answers in another form without it.
            ("accept", "application/json".into()),
        ];
        match (&provider.client_secret, self.client_auth) {
            (Some(secret), ClientAuth::Basic) => {
                let encoded = |text: &str| byte_serialize(text.as_bytes()).collect::<String>();
                let pair = format!("{}:{}", encoded(&provider.client_id), encoded(secret.expose()));
                let pair = Base64::encode_string(pair.as_bytes());
                headers.push(("authorization", format!("Basic {pair}").into()));
            }
            (secret, _) => {
                form.append_pair("client_id", &provider.client_id);
                if let Some(secret) = secret {
                    form.append_pair("client_secret", secret.expose());
                }
            }
        }
        HttpRequest {
            method: "POST",
            headers,
            body: Some(form.finish().into_bytes()),
            ..HttpRequest::get(url)
        }
    }
}

pub(super) async fn send(
    provider: &Provider,
    request: HttpRequest<'_>,
    host: &dyn Host,
) -> Result<HttpResponse, TokenError> {
    host.send(request).await.map_err(|error| {
        note(provider, &error.to_string(), host);
        TokenError::Away
    })
}

pub(super) fn note(provider: &Provider, what: &str, host: &dyn Host) {
    host.log(Level::Warn, "authorization_server", &[("provider", &provider.id), ("fault", what)]);
}
