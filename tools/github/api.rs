//! GitHub's REST API, as far as the tools need it.

use std::time::Duration;

use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use toolbooth::host::{HttpError, HttpRequest, HttpResponse};
use toolbooth::url::path_segment;
use toolbooth::{Context, ToolError};

/// The provider whose token GitHub takes.
const PROVIDER: &str = "github";
const TIMEOUT: Duration = Duration::from_secs(10);
/// How long to wait after a fault that may be gone soon.
const SOON_MS: u64 = 2_000;
const MINUTE_MS: u64 = 60_000;

/// An issue.
#[derive(Deserialize, Serialize)]
pub(crate) struct Issue {
    number: u64,
    title: String,
    state: String,
    #[serde(rename(deserialize = "html_url"))]
    url: String,
    /// There when it is a pull request.
    #[serde(default, skip_serializing)]
    pub(crate) pull_request: Option<IgnoredAny>,
}

/// The path of a repository's issues.
///
/// # Errors
/// A name is not a path segment. The schemas refuse such names first.
pub(crate) fn issues(owner: &str, repository: &str) -> Result<String, ToolError> {
    Ok(format!("/repos/{}/{}/issues", path_segment(owner)?, path_segment(repository)?))
}

/// Asks GitHub in the user's name; every way in which that can fail is a tool error.
pub(crate) async fn ask<T: DeserializeOwned>(
    context: &Context<'_>,
    method: &'static str,
    path: &str,
    body: Option<Vec<u8>>,
) -> Result<T, ToolError> {
    answered(context, method, path, body).await?.json().ok_or_else(|| {
        context.warn("github", &[("fault", "the answer is not in the documented form")]);
        ToolError::new("GitHub's answer could not be read")
    })
}

/// The answer, if it is one that can be read; the same for every type of it.
async fn answered(
    context: &Context<'_>,
    method: &'static str,
    path: &str,
    body: Option<Vec<u8>>,
) -> Result<HttpResponse, ToolError> {
    let token = context.token(PROVIDER).map(|token| token.expose()).unwrap_or_default();
    let request = HttpRequest {
        method,
        headers: vec![
            ("accept", "application/vnd.github+json".into()),
            ("authorization", format!("Bearer {token}").into()),
            ("content-type", "application/json".into()),
            ("user-agent", "toolbooth".into()),
            ("x-github-api-version", "2022-11-28".into()),
        ],
        body,
        timeout: TIMEOUT,
        ..HttpRequest::get(format!("{}{path}", context.variable("GITHUB_API_URL")))
    };
    let changes = method != "GET";
    let answer = context.send(request).await.map_err(|error| {
        context.warn("github", &[("fault", &error.to_string())]);
        let error = match error {
            HttpError::Timeout => ToolError::new("GitHub did not answer in time"),
            HttpError::TooLarge => ToolError::new("GitHub's answer was too large"),
            HttpError::Unreachable(_) => ToolError::new("GitHub could not be reached"),
        };
        // What was asked for may have been done.
        if changes { error } else { error.retry_after_ms(SOON_MS) }
    })?;
    if !(200..300).contains(&answer.status) {
        context.warn("github", &[("status", &answer.status.to_string())]);
    }
    let wait = answer.retry_after_ms;
    match answer.status {
        200 | 201 => Ok(answer),
        // What GitHub sends on has another name now; the token goes nowhere but where it is meant to.
        301 | 302 | 307 | 308 => Err(ToolError::new("The repository has another name now")
            .developer_message(format!("GitHub answered {}.", answer.status))),
        401 => Err(context.token_refused(PROVIDER)),
        // GitHub limits by 403 too, and then says how long to wait.
        403 if wait.is_none() => Err(ToolError::new("GitHub does not allow this to the user")
            .developer_message("GitHub answered 403.")),
        403 | 429 => {
            Err(ToolError::new("GitHub is asked too often")
                .retry_after_ms(wait.unwrap_or(MINUTE_MS)))
        }
        404 => Err(ToolError::new("The repository was not found").developer_message(
            "GitHub answered 404: it does not exist, or the user may not see it.",
        )),
        410 => Err(ToolError::new("The repository has no issues")
            .developer_message("GitHub answered 410: issues are turned off.")),
        422 => {
            Err(ToolError::new("GitHub refuses this issue")
                .developer_message("GitHub answered 422."))
        }
        500.. => {
            let error = ToolError::new("GitHub has a fault")
                .developer_message(format!("GitHub answered {}.", answer.status));
            Err(if changes { error } else { error.retry_after_ms(wait.unwrap_or(SOON_MS)) })
        }
        status => Err(ToolError::new("GitHub refused the request")
            .developer_message(format!("GitHub answered {status}."))),
    }
}
