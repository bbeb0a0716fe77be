//! The grants of a user: for the page of their account, and their deletion.

use super::grant_store::STORE_UNAVAILABLE;
use super::{Challenges, Owner};
use crate::oauth::{OAuthClient, store};
use toolbooth::call::{Rejection, VisibleTools};
use toolbooth::catalog::Tool;
use toolbooth::host::Host;
use toolbooth::http::{Answer, Response};
use toolbooth::principal::Person;
use toolbooth::route::RouteRequest;
use toolbooth::url::query_parameter;

/// A grant, without its tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GrantSummary {
    pub(crate) provider: String,
    pub(crate) title: String,
    pub(crate) scopes: Vec<String>,
    /// When the user agreed, in milliseconds since the Unix epoch.
    pub(crate) granted_ms: u64,
    /// The tools that can use it, as pages name them.
    pub(crate) tools: Vec<String>,
}

/// The newest version of each of these tools, which are sorted like the catalogue.
pub(crate) fn newest(tools: impl Iterator<Item = &'static Tool>) -> Vec<&'static Tool> {
    let mut newest: Vec<&'static Tool> = Vec::new();
    for tool in tools {
        match newest.last_mut() {
            Some(last) if (last.toolkit, last.tool) == (tool.toolkit, tool.tool) => *last = tool,
            _ => newest.push(tool),
        }
    }
    newest
}

/// The tools that a grant with these scopes enables. Versions of a tool count as one.
pub(super) fn enabled_tools(
    provider: &str,
    scopes: &[String],
    tools: impl Iterator<Item = &'static Tool>,
) -> Vec<&'static Tool> {
    let is_granted = |scope: &&str| scopes.iter().any(|granted| granted == scope);
    let is_enabled = |tool: &Tool| {
        let mut required = tool.authorization.iter();
        required.any(|it| it.id == provider && it.scopes.iter().all(is_granted))
    };
    newest(tools.filter(|tool| is_enabled(tool)))
}

impl Challenges {
    /// A user's grants, in the order of the providers. `tools` are those that the user sees.
    pub(crate) async fn grants_of(
        &self,
        owner: &Owner,
        tools: impl Iterator<Item = &'static Tool> + Clone,
        host: &dyn Host,
    ) -> store::Result<Vec<GrantSummary>> {
        let mut summaries = Vec::new();
        for client in &self.clients {
            let provider = &client.provider;
            let stored = self.grant(owner, &provider.id, host);
            let Some(grant) = stored.find(None).await?.grant else { continue };
            summaries.push(GrantSummary {
                provider: provider.id.clone(),
                title: provider.title.clone(),
                tools: enabled_tools(&provider.id, &grant.scopes, tools.clone())
                    .into_iter()
                    .map(Tool::label)
                    .collect(),
                scopes: grant.scopes,
                granted_ms: grant.granted_ms,
            });
        }
        Ok(summaries)
    }

    /// The titles of the providers where tools that a person may call can use an account. A store that fails names none.
    pub(super) async fn connected_accounts(
        &self,
        person: &Person,
        tools: VisibleTools<'_>,
        host: &dyn Host,
    ) -> Vec<String> {
        let mut titles = Vec::new();
        for (issuer, subject) in &person.subjects {
            let owner = Owner::user_of(issuer, subject);
            let caller = [owner.caller_with(Some(person), tools.settings)];
            let grants = self.grants_of(&owner, tools.to(&caller), host).await;
            let usable = grants.into_iter().flatten().filter(|grant| !grant.tools.is_empty());
            titles.extend(usable.map(|grant| grant.title));
        }
        titles
    }

    /// Deletes a user's grant, if there is one, then has the provider revoke it. In this order, because the deletion
    /// takes effect whatever the provider does, while calls with a grant that is revoked first would fail.
    pub(crate) async fn delete_grant_of(
        &self,
        owner: &Owner,
        client: &OAuthClient,
        host: &dyn Host,
    ) -> store::Result<()> {
        let stored = self.grant(owner, &client.provider.id, host);
        if let Some(grant) = stored.delete().await? {
            stored.revoke(&grant, client).await;
        }
        Ok(())
    }
}

/// `DELETE /auth/grants/{provider}`: deletes the user's grant, if there is one, then has the provider revoke it.
pub(super) async fn delete_grant<'a>(request: &RouteRequest<'a>) -> Result<Answer<'a>, Rejection> {
    let RouteRequest { query, parameter, ref principal, ref origin, host, .. } = *request;
    // Pages that may not call may not delete grants either.
    let origins = request.state.pipeline.settings.cors.origins(false);
    if origin.as_ref().is_some_and(|origin| !origins.allow(origin)) {
        return Err(Rejection::ForbiddenOrigin);
    }
    let challenges = Challenges::of(request)?;
    let client = challenges.provider(parameter).ok_or(Rejection::NOT_FOUND)?;
    let named = query_parameter(query, "user_id");
    // A user who is not that of the token is rejected below.
    let user = request.state.settings().user_of(principal, named.as_deref());
    let owner = Owner::of(principal, user.unwrap_or(named.as_deref()));
    let owner = owner.map_err(|error| Rejection::Malformed(format!("in the query: {error}")))?;
    let deleted = challenges.delete_grant_of(&owner, client, host).await;
    deleted.map_err(|_| STORE_UNAVAILABLE)?;
    Ok(Response::empty(204).with("cache-control", "no-store").into())
}
