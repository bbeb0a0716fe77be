//! Tokens for clients that act for themselves (RFC 6749, 4.4; MCP's extension OAuth Client Credentials): the entries of `API_KEYS`.

use super::client_grant::ClientGrant;
use super::error::UNAUTHORIZED_CLIENT;
use super::proof::OfferedKey;
use super::token::Issue;
use super::{AuthorizationServer, Credentials, OAuthError, Parameters, hash};
use crate::oauth::random_text;
use toolbooth::http::Response;
use toolbooth::route::RouteRequest;

/// The grant type (RFC 6749, 4.4.2).
pub(super) const CLIENT_CREDENTIALS: &str = "client_credentials";

impl AuthorizationServer {
    /// Whether there are clients that may use the grant.
    pub(super) fn has_machines(&self) -> bool {
        !self.login.settings.api_keys.is_empty()
    }

    /// Issues an access token to a client of `API_KEYS`. It gets no refresh token (RFC 6749, 4.4.3).
    pub(super) async fn client_credentials(
        &self,
        form: &Parameters,
        key: OfferedKey<'_>,
        request: &RouteRequest<'_>,
    ) -> Result<Response, OAuthError> {
        let RouteRequest { headers, host, .. } = *request;
        let credentials = Credentials::read(form, headers)?;
        let Some(entry) = self.machine(&credentials.client_id) else {
            self.authenticate_client(&credentials, None, host).await?;
            let expected = "this grant is for the entries of API_KEYS";
            return Err(UNAUTHORIZED_CLIENT.error(expected));
        };
        let identity = self.authenticate_machine(&credentials, host).await?;
        let key = key.accept().await?;
        let requested: Option<Vec<&str>> = form.get("scope").map(|it| it.split(' ').collect());
        self.check_known(requested.as_deref())?;
        let scopes = self.common_scopes(&[requested], &entry.scopes);
        let client_id = credentials.client_id;
        let grant = ClientGrant {
            id: random_text(host)?,
            client: hash(&client_id),
            client_name: entry.name.clone(),
            identity,
            scopes,
            offline: false,
            document: None,
            granted_ms: host.now_ms(),
        };
        self.issue(Issue::new(CLIENT_CREDENTIALS, client_id, grant, key), host)
    }
}
