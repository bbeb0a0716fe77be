//! A fake GitHub API for the tests, with the same responses as in the Worker's tests.

use toolbooth::host::{HttpError, HttpRequest, HttpResponse};

const ISSUE: &str = include_str!("../../tests/github/issue.json");
const ISSUES: &str = include_str!("../../tests/github/issues.json");

/// Responds like GitHub.
pub(crate) fn github(request: &HttpRequest<'_>) -> Result<HttpResponse, HttpError> {
    let (path, query) = request.url.split_once('?').unwrap_or((&request.url, ""));
    let known = path == "https://api.github.com/repos/octocat/hello-world/issues";
    let token = request.headers.iter().any(|(name, value)| {
        *name == "authorization" && value.strip_prefix("Bearer ").is_some_and(|it| !it.is_empty())
    });
    match (request.method, known) {
        _ if !token => answer(401, r#"{"message":"Requires authentication"}"#),
        ("POST", true) => answer(201, ISSUE),
        ("GET", true) if query == "state=open&per_page=30&page=1" => answer(200, ISSUES),
        ("GET", true) => answer(200, "[]"),
        _ => answer(404, r#"{"message":"Not Found"}"#),
    }
}

/// A response with this status and body.
pub(crate) fn answer(status: u16, body: &str) -> Result<HttpResponse, HttpError> {
    Ok(HttpResponse::new(status, body))
}
