//! The consent page, and the redirect of users who agree to the provider.

use super::error::ChallengeError;
use super::shared::error_page;
use super::visitor::Visit;
use crate::call::VisibleTools;
use crate::catalog::Tool;
use crate::challenge::challenges::Challenges;
use crate::challenge::claims::ChallengeClaims;
use crate::challenge::page::{self, ConsentPage};
use crate::challenge::summary::enabled_tools;
use crate::host::Host;
use crate::http::{Headers, Response, is_same_origin};
use crate::oauth::page::notice;
use crate::oauth::{FlowPurpose, NewFlow};
use crate::principal::Person;
use crate::url::query_parameter;

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
    ) -> Result<Response, ChallengeError> {
        let token = query_parameter(query, "c").unwrap_or_default();
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
        let token = query_parameter(query, "c").unwrap_or_default();
        let redirect = self.redirect_to_provider(&token, headers, person, host).await;
        self.secured(redirect.unwrap_or_else(|error| error_page(error, &token)))
    }

    async fn redirect_to_provider(
        &self,
        token: &str,
        headers: &dyn Headers,
        person: Option<&Person>,
        host: &dyn Host,
    ) -> Result<Response, ChallengeError> {
        let (claims, client) = self.pending(token, host)?;
        // Only our own page may send this form, because only that has shown the user what it grants.
        if !is_same_origin(headers, &self.settings.public_url) {
            return Err(ChallengeError::CrossSite);
        }
        // Whoever has opened the page may have signed out since, or its address may have been made up.
        if let Visit::Elsewhere(response) =
            self.visit((&claims, token), ("", headers), person, host)?
        {
            return Ok(response);
        }
        let scopes = claims.scopes();
        let flow =
            NewFlow { purpose: FlowPurpose::Challenge, id: &claims.id, token, scopes: &scopes };
        Ok(self.flow.begin(client, flow, host).await?)
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
