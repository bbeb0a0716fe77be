//! A client for the parts of GitHub's REST API that the tools use.

use std::time::Duration;

use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use toolbooth::host::{HttpError, HttpRequest, HttpResponse};
use toolbooth::url::path_segment;
use toolbooth::{Context, ToolError};

/// The id of the OAuth provider in the definitions.
const PROVIDER: &str = "github";
const TIMEOUT: Duration = Duration::from_secs(10);
/// How long to wait before retrying after a temporary failure.
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
    /// Present if the issue is a pull request.
    #[serde(default, skip_serializing)]
    pub(crate) pull_request: Option<IgnoredAny>,
}

/// The path of a repository's issues.
///
/// # Errors
/// A name is not a valid path segment. The input schemas already reject such names.
pub(crate) fn issues(owner: &str, repository: &str) -> Result<String, ToolError> {
    Ok(format!("/repos/{}/{}/issues", path_segment(owner)?, path_segment(repository)?))
}

/// Sends a request on behalf of the user and parses the response. Every failure is a tool error.
pub(crate) async fn request<T: DeserializeOwned>(
    context: &Context<'_>,
    method: &'static str,
    path: &str,
    body: Option<Vec<u8>>,
) -> Result<T, ToolError> {
    send(context, method, path, body).await?.json().ok_or_else(|| {
        context.warn("github", &[("fault", "the response does not have the documented format")]);
        ToolError::new("GitHub returned an invalid response")
    })
}

/// Sends a request and maps failures to tool errors. Not generic, so it is compiled once.
async fn send(
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
    let response = context.send(request).await.map_err(|error| {
        let error = match error {
            HttpError::Timeout => ToolError::new("GitHub did not respond in time"),
            HttpError::TooLarge => ToolError::new("GitHub's response was too large"),
            _ => ToolError::new("GitHub could not be reached"),
        };
        // A request that makes changes may have succeeded, so do not suggest a retry.
        if changes { error } else { error.retry_after_ms(SOON_MS) }
    })?;
    if !(200..300).contains(&response.status) {
        context.warn("github", &[("status", &response.status.to_string())]);
    }
    let wait = response.retry_after_ms;
    match response.status {
        200 | 201 => Ok(response),
        // A redirect means the repository was renamed. Do not follow it: the token is for this URL only.
        301 | 302 | 307 | 308 => Err(ToolError::new("The repository was renamed")
            .developer_message(format!("GitHub returned {}.", response.status))),
        401 => Err(context.token_refused(PROVIDER)),
        // GitHub also uses 403 for rate limits, with a Retry-After header.
        403 if wait.is_none() => {
            Err(ToolError::new("The user is not allowed to do this on GitHub")
                .developer_message("GitHub returned 403."))
        }
        403 | 429 => Err(ToolError::new("GitHub received too many requests")
            .retry_after_ms(wait.unwrap_or(MINUTE_MS))),
        404 => Err(ToolError::new("The repository was not found").developer_message(
            "GitHub returned 404: it does not exist, or the user has no access.",
        )),
        410 => Err(ToolError::new("Issues are disabled in this repository")
            .developer_message("GitHub returned 410.")),
        422 => {
            Err(ToolError::new("GitHub rejected this issue")
                .developer_message("GitHub returned 422."))
        }
        500.. => {
            let error = ToolError::new("GitHub had an internal error")
                .developer_message(format!("GitHub returned {}.", response.status));
            Err(if changes { error } else { error.retry_after_ms(wait.unwrap_or(SOON_MS)) })
        }
        status => Err(ToolError::new("GitHub rejected the request")
            .developer_message(format!("GitHub returned {status}."))),
    }
}
