//! The consent page, and the redirect of users who agree to the provider.

use super::error::ChallengeError;
use super::shared::error_page;
use super::visitor::Visit;
use crate::challenge::challenges::Challenges;
use crate::challenge::claims::ChallengeClaims;
use crate::challenge::page::{self, ConsentPage};
use crate::challenge::summary::enabled_tools;
use crate::oauth::page::notice;
use crate::oauth::{FlowPurpose, NewFlow};
use toolbooth::call::VisibleTools;
use toolbooth::catalog::Tool;
use toolbooth::host::Host;
use toolbooth::http::{Headers, Response, is_same_origin};
use toolbooth::principal::Person;
use toolbooth::url::query_parameter;

/// The query parameter of the form with which users refuse.
pub(in crate::challenge) const DENY: &str = "deny";

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
            Visit::Respond(response) => return Ok(response),
        };
        let caller = claims.owner.caller_with(person, tools.settings);
        Ok(page::consent(&ConsentPage {
            token: &token,
            provider: &client.provider.title,
            provider_url: client.provider.endpoints.url(),
            visitor,
            application: claims.application(),
            user: &claims.owner.user,
            tool: &tool_label(&claims, tools),
            others: &other_tools(&claims, tools.to(&[caller])),
            scopes: &claims.scopes(),
        }))
    }

    /// `POST /auth/start`: binds the challenge to the browser and redirects it to the provider; with `deny`, fails the
    /// challenge.
    pub(crate) async fn begin(
        &self,
        (query, headers): (&str, &dyn Headers),
        person: Option<&Person>,
        host: &dyn Host,
    ) -> Response {
        let token = query_parameter(query, "c").unwrap_or_default();
        let is_denied = query_parameter(query, DENY).is_some();
        let response = self.decide(&token, is_denied, headers, person, host).await;
        self.secured(response.unwrap_or_else(|error| error_page(error, &token)))
    }

    async fn decide(
        &self,
        token: &str,
        is_denied: bool,
        headers: &dyn Headers,
        person: Option<&Person>,
        host: &dyn Host,
    ) -> Result<Response, ChallengeError> {
        let (claims, client) = self.pending(token, host)?;
        // Only our own page may send this form, because only that has shown the user what it grants.
        if !is_same_origin(headers, &self.settings.public_url) {
            return Err(ChallengeError::CrossSite);
        }
        // The user may have signed out since they opened the page, or its address may have been made up.
        if let Visit::Respond(response) =
            self.visit((&claims, token), ("", headers), person, host)?
        {
            return Ok(response);
        }
        if is_denied {
            self.grants.save_failure(&claims.id, host.now_ms(), host).await;
            return Err(ChallengeError::Denied);
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
    let own_id = id_without_version(&claims.tool);
    let all = enabled_tools(&claims.provider, &claims.scopes(), tools).into_iter();
    let others = all.filter(|tool| id_without_version(&tool.id()) != own_id);
    others.map(Tool::label).collect()
}

/// How the page names the tool that the challenge is for. A later deployment may not have it.
fn tool_label(claims: &ChallengeClaims, tools: VisibleTools<'_>) -> String {
    let known = tools.catalog.tools.iter().find(|tool| tool.id() == claims.tool);
    known.map_or_else(|| id_without_version(&claims.tool).to_owned(), Tool::label)
}

fn id_without_version(id: &str) -> &str {
    id.split_once('@').map_or(id, |(id, _)| id)
}
