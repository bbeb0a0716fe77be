//! Finds the endpoints of an authorization server (OpenID Connect Discovery 1.0).

use serde::Deserialize;

use super::provider::{ClientAuth, ProviderSettings, RevocationEndpoint};
use toolbooth::address::is_secure;

/// The endpoints of an authorization server, and how a client authenticates there.
#[derive(Debug, Clone)]
pub(crate) struct ProviderEndpoints {
    pub(super) authorize: String,
    pub(super) token: String,
    issuer: Option<String>,
    /// Whether it promises `iss` in authorization responses (RFC 9207, 3).
    sends_issuer: bool,
    pub(super) client_auth: ClientAuth,
    /// How it revokes a grant, if it can.
    pub(super) revocation: Option<RevocationEndpoint>,
    pub(crate) userinfo: Option<String>,
}

impl ProviderEndpoints {
    /// Whether an authorization response with this `iss` is from this server. Otherwise its code may
    /// be another server's (RFC 9207, 2.4).
    pub(crate) fn is_issuer(&self, iss: Option<&str>) -> bool {
        match (&self.issuer, iss) {
            (Some(issuer), Some(iss)) => issuer == iss,
            (Some(_), None) => !self.sends_issuer,
            (None, _) => true,
        }
    }

    /// The server of a provider whose endpoints are configured.
    pub(super) fn configured(authorize: &str, token: &str, provider: &ProviderSettings) -> Self {
        Self {
            authorize: authorize.to_owned(),
            token: token.to_owned(),
            issuer: None,
            sends_issuer: false,
            client_auth: provider.client_auth.unwrap_or(ClientAuth::Post),
            revocation: provider.revocation.clone(),
            userinfo: provider.userinfo.clone(),
        }
    }
}

/// The members of a discovery document that are used.
#[derive(Deserialize)]
pub(super) struct DiscoveryDocument<'v> {
    issuer: &'v str,
    authorization_endpoint: &'v str,
    token_endpoint: &'v str,
    revocation_endpoint: Option<&'v str>,
    userinfo_endpoint: Option<&'v str>,
    #[serde(default)]
    authorization_response_iss_parameter_supported: bool,
    /// Default: `client_secret_basic`.
    #[serde(borrow)]
    token_endpoint_auth_methods_supported: Option<Vec<&'v str>>,
}

impl DiscoveryDocument<'_> {
    pub(super) fn url(issuer: &str) -> String {
        format!("{}/.well-known/openid-configuration", issuer.trim_end_matches('/'))
    }

    /// The server that the document of `issuer` describes. What `provider` configures takes precedence.
    /// `None`: the document is another issuer's, or its endpoints are not secure.
    pub(super) fn server(
        self,
        issuer: &str,
        provider: &ProviderSettings,
    ) -> Option<ProviderEndpoints> {
        // An issuer elsewhere must not make the server send requests to its own machine.
        let is_local = issuer.starts_with("http://");
        let is_allowed = |url: &str| is_secure(url) && (is_local || url.starts_with("https://"));
        let endpoints = [self.authorization_endpoint, self.token_endpoint];
        if self.issuer != issuer || !endpoints.into_iter().all(is_allowed) {
            return None;
        }
        let methods = self.token_endpoint_auth_methods_supported;
        let takes_basic = methods.is_none_or(|all| all.contains(&"client_secret_basic"));
        let client_auth = if takes_basic { ClientAuth::Basic } else { ClientAuth::Post };
        let allowed = |url: Option<&str>| url.filter(|url| is_allowed(url)).map(str::to_owned);
        let revocation = allowed(self.revocation_endpoint).map(RevocationEndpoint::Standard);
        let userinfo = allowed(self.userinfo_endpoint);
        Some(ProviderEndpoints {
            authorize: self.authorization_endpoint.to_owned(),
            token: self.token_endpoint.to_owned(),
            issuer: Some(self.issuer.to_owned()),
            sends_issuer: self.authorization_response_iss_parameter_supported,
            client_auth: provider.client_auth.unwrap_or(client_auth),
            revocation: provider.revocation.clone().or(revocation),
            userinfo: provider.userinfo.clone().or(userinfo),
        })
    }
}
