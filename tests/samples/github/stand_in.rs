//! A fake GitHub API for the tests, with the same responses as in the Worker's tests.

use toolbooth::host::{HttpError, HttpRequest, HttpResponse};
use toolbooth::testing::respond;

const ISSUE: &str = include_str!("responses/issue.json");
const ISSUES: &str = include_str!("responses/issues.json");

/// Responds like GitHub.
pub(crate) fn github(request: &HttpRequest<'_>) -> Result<HttpResponse, HttpError> {
    let (path, query) = request.url.split_once('?').unwrap_or((&request.url, ""));
    let known = path == "https://api.github.com/repos/octocat/hello-world/issues";
    let token = request.headers.iter().any(|(name, value)| {
        *name == "authorization" && value.strip_prefix("Bearer ").is_some_and(|it| !it.is_empty())
    });
    match (request.method, known) {
        _ if !token => respond(401, r#"{"message":"Requires authentication"}"#),
        ("POST", true) => respond(201, ISSUE),
        ("GET", true) if query == "state=open&per_page=30&page=1" => respond(200, ISSUES),
        ("GET", true) => respond(200, "[]"),
        _ => respond(404, r#"{"message":"Not Found"}"#),
    }
}
