//! `GET /health` (OXP health-check): reports whether calls can be served.

use serde::Serialize;

use crate::call::Rejection;
use crate::host::Level;
use crate::http::{Answer, Response};
use crate::route::{Policy, Route, RouteRequest};

/// The route.
pub(super) const HEALTH: Route = Route::get("/health", Policy::PUBLIC, &health);

/// The key that `/health` reads. It is never written, so a cached miss is correct.
const HEALTH_KEY: &str = "health";

/// The body of the response.
#[derive(Serialize)]
struct Health<'a> {
    status: &'static str,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    problems: &'a [String],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    warnings: &'a [String],
}

/// Responds with 200 if calls can be served and with 503 if not. What only disables some tools is a
/// warning: after a 503, load balancers would take the other tools away. Only callers with valid credentials get the problems and
/// warnings, which are also in the log. The response is not cached.
async fn health<'a>(request: &RouteRequest<'a>) -> Result<Answer<'a>, Rejection> {
    (request.protocol.check_version)(request.headers)?;
    let RouteRequest { server, host, headers, .. } = *request;
    let mut problems = server.pipeline().settings.problems.clone();
    if let Err(error) = host.get(HEALTH_KEY).await {
        host.log(Level::Error, "store", &[("problem", &error.0)]);
        problems.push("the KV namespace does not answer".to_owned());
    }
    let (status, text) = if problems.is_empty() { (200, "OK") } else { (503, "unavailable") };
    let warnings = server.warnings();
    let has_details = !problems.is_empty() || !warnings.is_empty();
    let mut health = Health { status: text, problems: &[], warnings: &[] };
    if has_details && server.is_authenticated(headers, host).await {
        (health.problems, health.warnings) = (&problems, warnings);
    }
    Ok(Response::json_of(status, &health).into())
}
