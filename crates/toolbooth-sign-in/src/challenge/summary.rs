//! The grants of a user, for the page of their account.

use super::challenges::Challenges;
use super::grant_store::GrantId;
use super::owner::Owner;
use crate::oauth::OAuthClient;
use toolbooth::catalog::Tool;
use toolbooth::host::{Host, StoreError};

/// A grant, without its tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GrantSummary {
    /// The id of the provider.
    pub(crate) provider: String,
    /// The provider's name for people.
    pub(crate) title: String,
    pub(crate) scopes: Vec<String>,
    /// When the user consented, in milliseconds since the Unix epoch.
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
    ) -> Result<Vec<GrantSummary>, StoreError> {
        let mut summaries = Vec::new();
        for client in self.clients() {
            let provider = &client.provider;
            let id = GrantId { owner, provider: &provider.id };
            let Some(grant) = self.grants.find(id, None, host).await?.grant else { continue };
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
}

impl Challenges {
    /// Deletes a user's grant, if there is one, then has the provider revoke it. In this order, because the deletion
    /// takes effect whatever the provider does, while calls with a grant that is revoked first would fail.
    pub(crate) async fn delete_grant_of(
        &self,
        owner: &Owner,
        client: &OAuthClient,
        host: &dyn Host,
    ) -> Result<(), StoreError> {
        let id = GrantId { owner, provider: &client.provider.id };
        if let Some(grant) = self.grants.delete(id, host).await? {
            self.grants.revoke((id, client), &grant, host).await;
        }
        Ok(())
    }
}
