//! The consent page, and the redirect of users who agree to the provider.

use super::error::FlowError;
use super::shared::{parameter, retry_url};
use crate::catalog::Tool;
use crate::challenge::challenges::Challenges;
use crate::challenge::claims::ChallengeClaims;
use crate::challenge::constants::LIFE_MS;
use crate::challenge::page::{self, ConsentPage};
use crate::host::Host;
use crate::http::{Headers, Response};
use crate::oauth::cookie::{self, State};
use crate::oauth::page::{notice, redirect};
use crate::oauth::{AuthorizationRequest, CsrfToken, PkceVerifier, TokenPurpose};

impl Challenges {
    /// `GET /auth/start`: shows who requests what. `tools` are those that may be called.
    pub(crate) fn consent_page(
        &self,
        query: &str,
        tools: impl Iterator<Item = &'static Tool>,
        host: &dyn Host,
    ) -> Response {
        let token = parameter(query, "c").unwrap_or_default();
        let page = match self.pending(&token, host) {
            Ok((claims, client)) => page::consent(&ConsentPage {
                token: &token,
                provider: &client.provider.title,
                provider_url: client.provider.endpoints.url(),
                application: &claims.owner.application,
                user: &claims.owner.user,
                tool: &claims.tool,
                others: &other_tools(&claims, tools),
                scopes: &claims.scopes(),
            }),
            Err(error) => notice(error.notice(), None),
        };
        self.secured(page)
    }

    /// `POST /auth/start`: binds the challenge to the browser and redirects it to the provider.
    pub(crate) async fn begin(
        &self,
        query: &str,
        headers: &dyn Headers,
        host: &dyn Host,
    ) -> Response {
        let token = parameter(query, "c").unwrap_or_default();
        let redirect = self.redirect_to_provider(&token, headers, host).await;
        let page = redirect
            .unwrap_or_else(|error| notice(error.notice(), retry_url(error, &token).as_deref()));
        self.secured(page)
    }

    async fn redirect_to_provider(
        &self,
        token: &str,
        headers: &dyn Headers,
        host: &dyn Host,
    ) -> Result<Response, FlowError> {
        let (claims, client) = self.pending(token, host)?;
        // Only our own page may send this form, because only that has shown the user what it grants.
        let is_same_origin = match headers.get("sec-fetch-site") {
            Some(site) => site == "same-origin",
            None => headers.get("origin").is_some_and(|it| it == self.settings.public_url),
        };
        if !is_same_origin {
            return Err(FlowError::CrossSite);
        }
        let server = client.server(host).await?;
        let csrf_token = CsrfToken::random(host).map_err(|_| FlowError::Internal)?;
        let parts = [&*claims.id, csrf_token.expose()];
        let keys = &self.state_keys;
        let state = State {
            challenge: claims.id.clone(),
            browser: keys.hash(TokenPurpose::Browser, &parts),
        };
        let expires_ms = host.now_ms().saturating_add(LIFE_MS);
        let location = client.authorization_url(
            &server,
            &AuthorizationRequest {
                redirect_uri: &self.redirect_uri(client),
                scopes: &claims.scopes(),
                state: &keys.seal(TokenPurpose::State, &state, expires_ms),
                verifier: &PkceVerifier::new(keys.hash(TokenPurpose::Verifier, &parts)),
            },
        );
        let cookie = cookie::set(&claims.id, &format!("{}.{token}", csrf_token.expose()));
        Ok(redirect(location).with("set-cookie", cookie))
    }
}

/// The other tools that can use the grant: it belongs to the application and not to one tool.
/// Versions of a tool count as one.
fn other_tools(
    claims: &ChallengeClaims,
    tools: impl Iterator<Item = &'static Tool>,
) -> Vec<String> {
    let scopes = claims.scopes();
    let is_granted = |scope: &&str| scopes.iter().any(|granted| granted == scope);
    let is_enabled = |tool: &Tool| {
        let mut required = tool.authorization.iter();
        required.any(|it| it.id == claims.provider && it.scopes.iter().all(is_granted))
    };
    let (own_name, _) = claims.tool.split_once('@').unwrap_or((&claims.tool, ""));
    let mut others: Vec<String> = Vec::new();
    for tool in tools.filter(|tool| is_enabled(tool)) {
        let name = format!("{}.{}", tool.toolkit, tool.tool);
        // The catalogue is sorted, so versions of a tool are adjacent.
        if name != own_name && others.last() != Some(&name) {
            others.push(name);
        }
    }
    others
}
