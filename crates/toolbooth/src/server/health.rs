//! `GET /health` (OXP health-check): reports whether calls can be served.

use serde::Serialize;

use super::Server;
use crate::host::{Host, Level};
use crate::http::{Headers, Response};
use crate::principal::Principal;

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

impl Server {
    /// Responds with 200 if calls can be served and with 503 if not. What only disables some tools is a
    /// warning: after a 503, load balancers would take the other tools away. Only callers with valid credentials get the problems and
    /// warnings, which are also in the log. The response is not cached.
    pub(super) async fn health(&self, headers: &dyn Headers, host: &dyn Host) -> Response {
        let mut problems = self.pipeline.settings.problems.clone();
        if let Err(error) = host.get(HEALTH_KEY).await {
            host.log(Level::Error, "store", &[("problem", &error.0)]);
            problems.push("the KV namespace does not answer".to_owned());
        }
        let (status, text) = if problems.is_empty() { (200, "OK") } else { (503, "unavailable") };
        let has_details = !problems.is_empty() || !self.warnings.is_empty();
        let mut health = Health { status: text, problems: &[], warnings: &[] };
        if has_details && self.is_authenticated(headers, host).await {
            (health.problems, health.warnings) = (&problems, &self.warnings);
        }
        Response::json_of(status, &health)
    }

    /// Whether a request has valid credentials.
    async fn is_authenticated(&self, headers: &dyn Headers, host: &dyn Host) -> bool {
        let principal = self.authenticator.authenticate(headers, host).await;
        principal.is_ok_and(|principal| !matches!(principal, Principal::Anonymous { .. }))
    }
}
