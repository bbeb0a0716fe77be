//! `GET /health` (OXP health-check): reports whether calls can be served.

use std::borrow::Cow;

use serde::Serialize;

use crate::call::Rejection;
use crate::host::Level;
use crate::http::{Answer, Response};
use crate::principal::{Principal, Scopes};
use crate::route::{Policy, Route, RouteRequest};

pub(super) const HEALTH: Route = Route::get("/health", Policy::PUBLIC, &health);

#[derive(Serialize)]
struct Health<'a> {
    status: &'static str,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    problems: Vec<Cow<'a, str>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    warnings: Vec<Cow<'a, str>>,
}

/// What a caller with credentials may read of the findings about the configuration, which name other callers and tools:
/// everything with all scopes, as the operator, otherwise the names of the variables and bindings.
fn readable<'f>(findings: &[&'f [String]], caller: Option<&Principal>) -> Vec<Cow<'f, str>> {
    let Some(caller) = caller else { return Vec::new() };
    let sees_all = *caller.scopes() == Scopes::All;
    let mut texts = Vec::new();
    for finding in findings.iter().copied().flatten() {
        let text = if sees_all {
            Cow::Borrowed(&**finding)
        } else {
            // Each begins with the name.
            let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let name = finding.split(|c| !is_name(c)).next().unwrap_or_default();
            Cow::Owned(format!("{name}: details are in the log"))
        };
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    texts
}

/// Responds with 200 if calls can be served and with 503 if not. What only disables some tools is a
/// warning: after a 503, load balancers would take the other tools away. The problems and warnings are also in the log.
/// The response is not cached.
async fn health<'a>(request: &RouteRequest<'a>) -> Result<Answer<'a>, Rejection> {
    (request.protocol.check_version)(request.headers)?;
    let RouteRequest { state, host, headers, .. } = *request;
    let settings = state.settings();
    let problems = &settings.problems;
    let warnings = [state.warnings(host), &settings.rejected, &state.unusable];
    // The key is never written, so a cached miss is correct.
    let store = host.get("health").await;
    if let Err(error) = &store {
        host.log(Level::Error, "store", &[("problem", &error.0)]);
    }
    let is_ready = problems.is_empty() && store.is_ok();
    let caller = match is_ready && warnings.iter().all(|it| it.is_empty()) {
        true => None,
        false => state.caller(request.target, headers, host).await,
    };
    let caller = caller.filter(|it| !matches!(it, Principal::Anonymous { .. }));
    let mut problems = readable(&[problems], caller.as_ref());
    if store.is_err() && caller.is_some() {
        problems.push("the KV namespace does not answer".into());
    }
    let warnings = readable(&warnings, caller.as_ref());
    let (status, text) = if is_ready { (200, "OK") } else { (503, "unavailable") };
    Ok(Response::json_of(status, &Health { status: text, problems, warnings }).into())
}
