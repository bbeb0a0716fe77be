//! Sends the requests of an OAuth 2 client: discovery, authorization, code, refresh token and revocation.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use base64ct::{Base64, Encoding};
use form_urlencoded::{Serializer, byte_serialize};
use serde::Serialize;

use super::discovery::{DiscoveryDocument, ProviderEndpoints};
use super::provider::{ClientAuth, EndpointSettings, ProviderSettings, RevocationEndpoint};
use super::token::{ProviderError, TokenResponse, is_temporary};
use toolbooth::auth::{AuthError, DescriptionVerifier};
use toolbooth::host::{Host, HttpError, HttpRequest, HttpResponse, Level, boxed};
use toolbooth::json::{self, Object};
use toolbooth::secret::Secret;

/// How long a discovery document is used before it is fetched again.
const FRESH_MS: u64 = 10 * 60 * 1000;
/// A younger document is not fetched again after a failure: anyone who has a challenge can make up a
/// code, and so cause one.
const MIN_AGE_MS: u64 = 60 * 1000;
/// After a refresh that a provider did not answer, it gets no other one for this long.
const UNREACHABLE_MS: u64 = 5_000;

/// This server's client at a provider.
#[derive(Debug)]
pub(crate) struct OAuthClient {
    pub provider: ProviderSettings,
    /// The server that this instance has discovered, and when it fetched the document.
    ///
    /// Locked only to read and to write: a request that waited for another one's fetch would wait forever
    /// if that one is cancelled. Requests at the same moment each fetch the document.
    discovered: Mutex<Option<(ProviderEndpoints, u64)>>,
    /// When a refresh was not answered.
    unreachable_ms: AtomicU64,
    /// Verifies descriptions of accounts that are signed, if the issuer is known.
    descriptions: Option<DescriptionVerifier>,
}

/// The body of GitHub's "delete an app authorization".
#[derive(Serialize)]
struct GitHubAuthorization<'a> {
    access_token: &'a str,
}

impl OAuthClient {
    pub(crate) fn new(provider: ProviderSettings) -> Self {
        let descriptions = provider
            .issuer()
            .map(|issuer| DescriptionVerifier::new(issuer.to_owned(), provider.client_id.clone()));
        let (discovered, unreachable_ms) = (Mutex::default(), AtomicU64::default());
        Self { provider, discovered, unreachable_ms, descriptions }
    }

    fn discovered(&self) -> MutexGuard<'_, Option<(ProviderEndpoints, u64)>> {
        self.discovered.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Finds the provider's endpoints. A discovery document is fetched every ten minutes, and after the
    /// provider has returned no tokens: its endpoints may have changed.
    pub(crate) async fn server(&self, host: &dyn Host) -> Result<ProviderEndpoints, ProviderError> {
        let issuer = match &self.provider.endpoints {
            EndpointSettings::Issuer(issuer) => issuer,
            EndpointSettings::Configured { authorize, token } => {
                return Ok(ProviderEndpoints::configured(authorize, token, &self.provider));
            }
        };
        let now_ms = host.now_ms();
        let known = self.discovered().clone();
        if let Some((server, at)) = known
            && now_ms.saturating_sub(at) < FRESH_MS
        {
            return Ok(server);
        }
        let request = HttpRequest::get(DiscoveryDocument::url(issuer));
        let response = self.send(request, host).await?;
        let document = json::parse_bytes(&response.body).filter(|_| response.status == 200);
        let document: Option<DiscoveryDocument<'_>> = document.as_ref().and_then(json::read_value);
        let server = document.and_then(|document| document.server(issuer, &self.provider));
        let server = server.ok_or_else(|| {
            let problem = "its discovery document cannot be used";
            self.log(&format!("{problem} (status {})", response.status), host);
            match is_temporary(response.status) {
                true => ProviderError::Unreachable,
                false => ProviderError::Unusable(problem),
            }
        })?;
        *self.discovered() = Some((server.clone(), host.now_ms()));
        Ok(server)
    }

    /// Requests a new access token (RFC 6749, 6), unless a provider has just not responded: another request would only
    /// make callers wait.
    pub(crate) async fn refresh(
        &self,
        refresh_token: &Secret,
        host: &dyn Host,
    ) -> Result<TokenResponse, ProviderError> {
        let failed_ms = self.unreachable_ms.load(Ordering::Relaxed);
        if host.now_ms().saturating_sub(failed_ms) < UNREACHABLE_MS {
            return Err(ProviderError::Unreachable);
        }
        let fields = [("grant_type", "refresh_token"), ("refresh_token", refresh_token.expose())];
        let tokens = match self.server(host).await {
            Ok(server) => self.request_tokens(&server, &fields, host).await,
            Err(error) => Err(error),
        };
        if matches!(tokens, Err(ProviderError::Unreachable)) {
            self.unreachable_ms.store(host.now_ms(), Ordering::Relaxed);
        }
        tokens
    }

    pub(super) async fn request_tokens(
        &self,
        server: &ProviderEndpoints,
        fields: &[(&str, &str)],
        host: &dyn Host,
    ) -> Result<TokenResponse, ProviderError> {
        let form = self.form(server, &server.token, fields);
        let tokens = self.send(form, host).await.and_then(|response| {
            TokenResponse::read(&response).inspect_err(|error| {
                let problem = match error {
                    ProviderError::Rejected => "it rejects the request for tokens",
                    ProviderError::Unreachable => "it gives no tokens now",
                    ProviderError::Unusable(reason) => reason,
                };
                self.log(&format!("{problem} (status {})", response.status), host);
            })
        });
        tokens.inspect_err(|_| {
            let is_old = |(_, at): &mut (_, u64)| host.now_ms().saturating_sub(*at) >= MIN_AGE_MS;
            self.discovered().take_if(is_old);
        })
    }

    /// Revokes the tokens of a grant (RFC 7009), if the provider can; returns whether it did. A failure is logged: the
    /// server itself no longer uses the grant anyway.
    pub(crate) async fn revoke(
        &self,
        (access_token, refresh_token): (&str, Option<&str>),
        host: &dyn Host,
    ) -> bool {
        let Ok(server) = self.server(host).await else { return false };
        let request = match &server.revocation {
            None => return false,
            Some(RevocationEndpoint::Standard(url)) => {
                // Revoking the refresh token should also end the access tokens issued for it.
                let (token, hint) = match refresh_token {
                    Some(refresh_token) => (refresh_token, "refresh_token"),
                    None => (access_token, "access_token"),
                };
                self.form(&server, url, &[("token", token), ("token_type_hint", hint)])
            }
            Some(RevocationEndpoint::GitHub { url, client_secret }) => {
                let credentials = format!("{}:{}", self.provider.client_id, client_secret.expose());
                let credentials = Base64::encode_string(credentials.as_bytes());
                HttpRequest {
                    method: "DELETE",
                    headers: vec![
                        ("accept", "application/vnd.github+json".into()),
                        ("authorization", format!("Basic {credentials}").into()),
                        ("content-type", "application/json".into()),
                        // GitHub rejects requests without it.
                        ("user-agent", "toolbooth".into()),
                        ("x-github-api-version", "2022-11-28".into()),
                    ],
                    body: Some(json::to_vec(&GitHubAuthorization { access_token })),
                    ..HttpRequest::get(url.as_str())
                }
            }
        };
        let Ok(response) = self.send(request, host).await else { return false };
        let is_revoked = (200..300).contains(&response.status);
        if !is_revoked {
            self.log("it did not revoke a grant", host);
        }
        is_revoked
    }

    /// A form for one of the server's endpoints, with the client's credentials (RFC 6749, 2.3.1).
    fn form<'a>(
        &self,
        server: &ProviderEndpoints,
        url: &'a str,
        fields: &[(&str, &str)],
    ) -> HttpRequest<'a> {
        let ProviderSettings { client_id, client_secret, .. } = &self.provider;
        let mut form = Serializer::new(String::new());
        form.extend_pairs(fields);
        let mut headers = vec![
            ("content-type", "application/x-www-form-urlencoded".into()),
            // Without it GitHub responds with a form.
            ("accept", "application/json".into()),
        ];
        match (client_secret, server.client_auth) {
            (Some(secret), ClientAuth::Basic) => {
                let encoded = |text: &str| byte_serialize(text.as_bytes()).collect::<String>();
                let pair = format!("{}:{}", encoded(client_id), encoded(secret.expose()));
                let pair = Base64::encode_string(pair.as_bytes());
                headers.push(("authorization", format!("Basic {pair}").into()));
            }
            (secret, ClientAuth::Basic | ClientAuth::Post) => {
                form.append_pair("client_id", client_id);
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

    pub(crate) async fn send(
        &self,
        request: HttpRequest<'_>,
        host: &dyn Host,
    ) -> Result<HttpResponse, ProviderError> {
        host.send(request).await.map_err(|error| {
            self.log(&error.to_string(), host);
            match error {
                HttpError::TooLarge => ProviderError::Unusable("its response is too large"),
                _ => ProviderError::Unreachable,
            }
        })
    }

    /// The claims of a signed description of an account.
    pub(crate) async fn signed_description(
        &self,
        token: &str,
        host: &dyn Host,
    ) -> Result<Object<'static>, ProviderError> {
        let descriptions = self.descriptions.as_ref();
        let unknown = ProviderError::Unusable("it is signed, and OAUTH_<ID>_ISSUER is not set");
        let claims = boxed(descriptions.ok_or(unknown)?.verify(token, host)).await;
        claims.map_err(|error| match error {
            AuthError::KeysUnavailable => ProviderError::Unreachable,
            _ => ProviderError::Unusable(
                "it is signed, and its signature or its claims are not valid",
            ),
        })
    }

    /// Logs what is wrong with the provider.
    pub(crate) fn log(&self, problem: &str, host: &dyn Host) {
        let details = [("provider", &*self.provider.id), ("problem", problem)];
        host.log(Level::Warn, "authorization_server", &details);
    }
}
