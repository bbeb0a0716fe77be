//! Sends the requests of an OAuth 2 client: discovery, authorization, code and refresh token.

use base64ct::{Base64, Encoding};
use form_urlencoded::{Serializer, byte_serialize};

use super::discovery::{DiscoveryCache, DiscoveryDocument, ProviderEndpoints};
use super::error::TokenError;
use super::pkce::PkceVerifier;
use super::provider::{ClientAuth, ProviderSettings};
use super::token::TokenResponse;
use toolbooth::host::{Host, HttpRequest, HttpResponse, Level};
use toolbooth::secret::Secret;

/// This server's client at a provider.
#[derive(Debug, Clone)]
pub(crate) struct OAuthClient {
    /// The provider, as configured.
    pub provider: ProviderSettings,
    discovered: DiscoveryCache,
}

/// The parameters of an authorization request (RFC 6749, 4.1.1) that differ between users.
pub(crate) struct AuthorizationRequest<'a> {
    pub(crate) redirect_uri: &'a str,
    pub(crate) scopes: &'a [String],
    pub(crate) state: &'a str,
    pub(crate) verifier: &'a PkceVerifier,
}

impl OAuthClient {
    /// A client at this provider.
    pub(crate) fn new(provider: ProviderSettings) -> Self {
        Self { provider, discovered: DiscoveryCache::default() }
    }

    /// Finds the provider's endpoints. A discovery document is fetched every ten minutes, and after the
    /// provider has returned no tokens: its endpoints may have changed.
    ///
    /// # Errors
    /// [`TokenError::Unreachable`]: the discovery document cannot be fetched or used.
    pub(crate) async fn server(&self, host: &dyn Host) -> Result<ProviderEndpoints, TokenError> {
        let issuer = match ProviderEndpoints::configured(&self.provider) {
            Ok(server) => return Ok(server),
            Err(issuer) => issuer,
        };
        if let Some(server) = self.discovered.get(host.now_ms()) {
            return Ok(server);
        }
        let request = HttpRequest::get(DiscoveryDocument::url(issuer));
        let response = self.send(request, host).await?;
        let document: Option<DiscoveryDocument> =
            (response.status == 200).then(|| response.json()).flatten();
        let server = document.ok_or(TokenError::Unreachable);
        let server = server.and_then(|document| document.server(issuer, &self.provider));
        let server =
            server.inspect_err(|_| self.log("its discovery document cannot be used", host))?;
        self.discovered.insert(&server, host.now_ms());
        Ok(server)
    }

    /// The URL to which a browser is sent for an authorization (RFC 6749, 4.1.1; RFC 7636, 4.3).
    pub(crate) fn authorization_url(
        &self,
        server: &ProviderEndpoints,
        request: &AuthorizationRequest<'_>,
    ) -> String {
        let separator = if server.authorize.contains('?') { '&' } else { '?' };
        let mut query = Serializer::new(String::new());
        query.extend_pairs([
            ("response_type", "code"),
            ("client_id", &self.provider.client_id),
            ("redirect_uri", request.redirect_uri),
            ("scope", &request.scopes.join(" ")),
            ("state", request.state),
            ("code_challenge", &request.verifier.challenge()),
            ("code_challenge_method", "S256"),
        ]);
        query.extend_pairs(self.provider.parameters);
        format!("{}{separator}{}", server.authorize, query.finish())
    }

    /// Exchanges an authorization code for tokens (RFC 6749, 4.1.3; RFC 7636, 4.5).
    pub(crate) async fn exchange_code(
        &self,
        server: &ProviderEndpoints,
        (code, redirect_uri): (&str, &str),
        verifier: &PkceVerifier,
        host: &dyn Host,
    ) -> Result<TokenResponse, TokenError> {
        let fields = [
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", redirect_uri),
            ("code_verifier", verifier.expose()),
        ];
        self.request_tokens(server, &fields, host).await
    }

    /// Requests a new access token (RFC 6749, 6).
    pub(crate) async fn refresh(
        &self,
        refresh_token: &Secret,
        host: &dyn Host,
    ) -> Result<TokenResponse, TokenError> {
        let server = self.server(host).await?;
        let fields = [("grant_type", "refresh_token"), ("refresh_token", refresh_token.expose())];
        self.request_tokens(&server, &fields, host).await
    }

    async fn request_tokens(
        &self,
        server: &ProviderEndpoints,
        fields: &[(&str, &str)],
        host: &dyn Host,
    ) -> Result<TokenResponse, TokenError> {
        let form = self.form(server, &server.token, fields);
        let tokens = match self.send(form, host).await {
            Ok(response) => TokenResponse::read(&response).inspect_err(|error| {
                let problem = match error {
                    TokenError::Rejected => "it rejects the request",
                    TokenError::Unreachable => "its response contains no tokens",
                };
                self.log(problem, host);
            }),
            Err(error) => Err(error),
        };
        tokens.inspect_err(|_| self.discovered.expire(host.now_ms()))
    }

    /// A form for one of the server's endpoints, with the client's credentials (RFC 6749, 2.3.1).
    pub(super) fn form<'a>(
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

    pub(super) async fn send(
        &self,
        request: HttpRequest<'_>,
        host: &dyn Host,
    ) -> Result<HttpResponse, TokenError> {
        host.send(request).await.map_err(|error| {
            self.log(&error.to_string(), host);
            TokenError::Unreachable
        })
    }

    pub(super) fn log(&self, problem: &str, host: &dyn Host) {
        let details = [("provider", &*self.provider.id), ("problem", problem)];
        host.log(Level::Warn, "authorization_server", &details);
    }
}
