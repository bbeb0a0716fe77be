//! `GET /health` (OXP health-check).

use super::Server;
use crate::host::{Host, Level};
use crate::http::{Headers, Response};
use crate::json::Writer;
use crate::principal::Principal;

/// The key that `/health` reads. Nothing ever writes it, so a cached miss is the right answer.
const HEALTH_KEY: &str = "health";

impl Server {
    /// Reports 200 if calls can be served and 503 if not. Only callers with valid credentials learn
    /// why not; the log has it too. No cache keeps the response.
    pub(super) async fn health(&self, headers: &dyn Headers, host: &dyn Host) -> Response {
        let mut problems = self.pipeline.settings.problems.clone();
        if let Err(error) = host.get(HEALTH_KEY).await {
            host.log(Level::Error, "store", &[("problem", &error.0)]);
            problems.push("the KV namespace does not answer".to_owned());
        }
        let (status, word) = if problems.is_empty() { (200, "OK") } else { (503, "unavailable") };
        let mut body = Writer::new();
        body.json("{").member("status").string(word);
        if !problems.is_empty() && self.knows_caller(headers, host).await {
            body.member("problems").strings(&problems);
        }
        body.json("}");
        Response::written(status, body)
    }

    /// Whether a request has valid credentials.
    async fn knows_caller(&self, headers: &dyn Headers, host: &dyn Host) -> bool {
        let principal = self.authenticator.authenticate(headers, host).await;
        principal.is_ok_and(|principal| !matches!(principal, Principal::Anonymous { .. }))
    }
}
