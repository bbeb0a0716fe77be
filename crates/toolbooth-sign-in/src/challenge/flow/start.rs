//! The page of a challenge, and the redirect of users who agree to the provider.

use super::visitor::Visit;
use super::{ChallengeError, error_page};
use crate::challenge::page::{self, ChallengePage};
use crate::challenge::user_grants::enabled_tools;
use crate::challenge::{ChallengeClaims, Challenges};
use crate::oauth::{FlowError, FlowPurpose, NewFlow};
use toolbooth::call::{Rejection, VisibleTools};
use toolbooth::catalog::Tool;
use toolbooth::http::{Answer, Response, is_same_origin};
use toolbooth::principal::Person;
use toolbooth::route::RouteRequest;
use toolbooth::url::query_parameter;

/// The query parameter of the form with which users refuse.
pub(crate) const DENY: &str = "deny";

/// `GET /auth/start`: shows who requests what.
pub(crate) async fn show<'a>(request: &RouteRequest<'a>) -> Result<Answer<'a>, Rejection> {
    let challenges = Challenges::of(request)?;
    let person = request.state.person(request.headers, request.host).await;
    let page = challenges.start_page(request, person.as_ref());
    if let Err(error) = &page {
        let token = query_parameter(request.query, "c").unwrap_or_default();
        challenges.log_rejected(*error, &token, request.host);
    }
    Ok(challenges.page(page).into())
}

/// `POST /auth/start`: binds the challenge to the browser and redirects it to the provider, or fails the challenge.
pub(crate) async fn begin<'a>(request: &RouteRequest<'a>) -> Result<Answer<'a>, Rejection> {
    let challenges = Challenges::of(request)?;
    let person = request.state.person(request.headers, request.host).await;
    let token = query_parameter(request.query, "c").unwrap_or_default();
    let response = challenges.decide(&token, request, person.as_ref()).await;
    let response = response.unwrap_or_else(|error| {
        challenges.log_rejected(error, &token, request.host);
        error_page(error, &token)
    });
    Ok(challenges.page(Ok(response)).into())
}

impl Challenges {
    fn start_page(
        &self,
        request: &RouteRequest<'_>,
        person: Option<&Person>,
    ) -> Result<Response, ChallengeError> {
        let tools = request.state.tools();
        let token = query_parameter(request.query, "c").unwrap_or_default();
        let (claims, client) = self.pending(&token, request.host)?;
        let visitor = match self.visit((&claims, &token), request.query, request, person)? {
            Visit::Admitted(visitor) => visitor,
            Visit::Respond(response) => return Ok(response),
        };
        let caller = claims.owner.caller_with(person, tools.settings);
        Ok(page::challenge(&ChallengePage {
            token: &token,
            provider: &client.provider.title,
            claims: &claims,
            visitor,
            tool: &tool_label(&claims, tools),
            others: &other_tools(&claims, tools.to(&[caller])),
        }))
    }

    async fn decide(
        &self,
        token: &str,
        request: &RouteRequest<'_>,
        person: Option<&Person>,
    ) -> Result<Response, ChallengeError> {
        let RouteRequest { query, headers, host, .. } = *request;
        let (claims, client) = self.pending(token, host)?;
        // Only our own page may send this form, because only that has shown the user what it grants.
        if !is_same_origin(headers, &self.public_url) {
            return Err(ChallengeError::CrossSite);
        }
        // The user may have signed out since they opened the page, or its address may have been made up.
        let visit = self.visit((&claims, token), "", request, person)?;
        if let Visit::Respond(response) = visit {
            return Ok(response);
        }
        if query_parameter(query, DENY).is_some() {
            self.grants.save_failure(&claims.id, host.now_ms(), host).await;
            return Err(FlowError::Denied.into());
        }
        let scopes = claims.scopes();
        let flow = NewFlow {
            purpose: FlowPurpose::Challenge,
            id: &claims.id,
            token,
            scopes: &scopes,
            parameters: client.provider.parameters,
        };
        Ok(self.flow.begin(client, flow, host).await?)
    }
}

/// The other tools that can use the grant: it belongs to the application. Versions of a tool count as one.
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
