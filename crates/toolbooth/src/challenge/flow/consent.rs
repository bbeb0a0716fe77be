//! The consent page, and the redirect of users who agree to the provider.

use super::error::FlowError;
use super::shared::{error_page, parameter};
use super::visitor::Visit;
use crate::catalog::{Tool, VisibleTools};
use crate::challenge::challenges::Challenges;
use crate::challenge::claims::ChallengeClaims;
use crate::challenge::constants::LIFE_MS;
use crate::challenge::page::{self, ConsentPage};
use crate::challenge::summary::enabled_tools;
use crate::host::Host;
use crate::http::{Headers, Response, is_same_origin};
use crate::oauth::cookie::{self, State};
use crate::oauth::page::{notice, redirect};
use crate::oauth::{AuthorizationRequest, CsrfToken, PkceVerifier, TokenPurpose};
use crate::principal::Person;

impl Challenges {
    /// `GET /auth/start`: shows who requests what. `person` is who has signed in with the browser.
    pub(crate) fn consent_page(
        &self,
        request: (&str, &dyn Headers),
        person: Option<&Person>,
        tools: VisibleTools<'_>,
        host: &dyn Host,
    ) -> Response {
        let page = self.try_consent_page(request, person, tools, host);
        self.secured(page.unwrap_or_else(|error| notice(error.notice(), None)))
    }

    fn try_consent_page(
        &self,
        (query, headers): (&str, &dyn Headers),
        person: Option<&Person>,
        tools: VisibleTools<'_>,
        host: &dyn Host,
    ) -> Result<Response, FlowError> {
        let token = parameter(query, "c").unwrap_or_default();
        let (claims, client) = self.pending(&token, host)?;
        let visitor = match self.visit((&claims, &token), (query, headers), person, host)? {
            Visit::Admitted(visitor) => visitor,
            Visit::Elsewhere(response) => return Ok(response),
        };
        let caller = claims.owner.caller_with(person, tools.settings);
        Ok(page::consent(&ConsentPage {
            token: &token,
            provider: &client.provider.title,
            provider_url: client.provider.endpoints.url(),
            visitor,
            application: claims.application(),
            user: &claims.owner.user,
            tool: &claims.tool,
            others: &other_tools(&claims, tools.to(&[caller])),
            scopes: &claims.scopes(),
        }))
    }

    /// `POST /auth/start`: binds the challenge to the browser and redirects it to the provider.
    pub(crate) async fn begin(
        &self,
        (query, headers): (&str, &dyn Headers),
        person: Option<&Person>,
        host: &dyn Host,
    ) -> Response {
        let token = parameter(query, "c").unwrap_or_default();
        let redirect = self.redirect_to_provider(&token, headers, person, host).await;
        self.secured(redirect.unwrap_or_else(|error| error_page(error, &token)))
    }

    async fn redirect_to_provider(
        &self,
        token: &str,
        headers: &dyn Headers,
        person: Option<&Person>,
        host: &dyn Host,
    ) -> Result<Response, FlowError> {
        let (claims, client) = self.pending(token, host)?;
        // Only our own page may send this form, because only that has shown the user what it grants.
        if !is_same_origin(headers, &self.settings.public_url) {
            return Err(FlowError::CrossSite);
        }
        // Whoever has opened the page may have signed out since, or its address may have been made up.
        if let Visit::Elsewhere(response) =
            self.visit((&claims, token), ("", headers), person, host)?
        {
            return Ok(response);
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
    let (own_name, _) = claims.tool.split_once('@').unwrap_or((&claims.tool, ""));
    let mut others = enabled_tools(&claims.provider, &claims.scopes(), tools);
    others.retain(|name| name != own_name);
    others
}
