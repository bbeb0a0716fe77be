//! Tools for GitHub issues, on behalf of the user who authorized them.

mod api;
#[cfg(test)]
pub(crate) mod stand_in;
#[cfg(test)]
mod tests;

use serde::Serialize;
use toolbooth::address::secure_base_address;
use toolbooth::tool::Variable;
use toolbooth::{Context, ToolError, json};

use crate::types::github::{create_issue, list_issues};
use api::Issue;

/// The base URL of GitHub's REST API; set it for GitHub Enterprise.
pub(crate) const API_URL: Variable =
    Variable::new("GITHUB_API_URL", "https://api.github.com", secure_base_address);

/// Opens an issue.
pub(crate) async fn create_issue(
    input: create_issue::Input,
    context: &Context<'_>,
) -> Result<Issue, ToolError> {
    /// The request body of GitHub's "Create an issue".
    #[derive(Serialize)]
    struct NewIssue {
        title: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        body: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        labels: Option<Vec<String>>,
    }
    let create_issue::Input { owner, repository, title, body, labels } = input;
    let issue = json::to_string(&NewIssue { title, body, labels });
    api::request(context, "POST", &api::issues(&owner, &repository)?, Some(issue.into_bytes()))
        .await
}

#[derive(Serialize)]
pub(crate) struct Issues {
    issues: Vec<Issue>,
    next_page: Option<u32>,
}

const PER_PAGE: usize = 30;

/// Lists the issues of a repository.
pub(crate) async fn list_issues(
    input: list_issues::Input,
    context: &Context<'_>,
) -> Result<Issues, ToolError> {
    let list_issues::Input { owner, repository, state, page } = input;
    let path = api::issues(&owner, &repository)?;
    let path = format!("{path}?state={}&per_page={PER_PAGE}&page={page}", state.as_str());
    let listed: Vec<Issue> = api::request(context, "GET", &path, None).await?;
    let next_page = (listed.len() == PER_PAGE).then(|| page + 1);
    // GitHub's list also contains pull requests.
    let issues = listed.into_iter().filter(|it| it.pull_request.is_none()).collect();
    Ok(Issues { issues, next_page })
}
