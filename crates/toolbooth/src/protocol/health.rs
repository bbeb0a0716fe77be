//! `GET /health` (OXP health-check): reports whether calls can be served.

use std::borrow::Cow;

use serde::Serialize;

use crate::call::Rejection;
use crate::host::Level;
use crate::http::{Answer, Response};
use crate::principal::{Principal, Scopes};
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
    problems: Vec<Cow<'a, str>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    warnings: Vec<Cow<'a, str>>,
}

/// What a caller may read of the findings about the configuration. They name other callers and tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Details {
    /// Without credentials: nothing.
    None,
    /// With credentials: which variables they are about.
    Names,
    /// With all scopes, as the operator: everything.
    All,
}

impl Details {
    /// What a caller may read.
    fn of(principal: &Principal) -> Self {
        match principal {
            Principal::Anonymous { .. } => Self::None,
            caller if *caller.scopes() == Scopes::All => Self::All,
            _ => Self::Names,
        }
    }

    /// The findings, as the caller may read them. Each begins with the name of a variable or a binding.
    fn select(self, findings: &[String]) -> Vec<Cow<'_, str>> {
        let mut selected = Vec::new();
        for finding in findings {
            let text = match self {
                Self::None => continue,
                Self::All => Cow::Borrowed(&**finding),
                Self::Names => {
                    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
                    let name = finding.split(|c| !is_name(c)).next().unwrap_or_default();
                    Cow::Owned(format!("{name}: details are in the log"))
                }
            };
            if !selected.contains(&text) {
                selected.push(text);
            }
        }
        selected
    }
}

/// Responds with 200 if calls can be served and with 503 if not. What only disables some tools is a
/// warning: after a 503, load balancers would take the other tools away. [`Details`] says who reads the problems and
/// warnings, which are also in the log. The response is not cached.
async fn health<'a>(request: &RouteRequest<'a>) -> Result<Answer<'a>, Rejection> {
    (request.protocol.check_version)(request.headers)?;
    let RouteRequest { state, host, headers, .. } = *request;
    let (problems, warnings) = (&state.pipeline.settings.problems, &state.warnings);
    let store = host.get(HEALTH_KEY).await;
    if let Err(error) = &store {
        host.log(Level::Error, "store", &[("problem", &error.0)]);
    }
    let is_ready = problems.is_empty() && store.is_ok();
    let details = match is_ready && warnings.is_empty() {
        true => Details::None,
        false => state.caller(headers, host).await.as_ref().map_or(Details::None, Details::of),
    };
    let (status, text) = if is_ready { (200, "OK") } else { (503, "unavailable") };
    let mut health = Health {
        status: text,
        problems: details.select(problems),
        warnings: details.select(warnings),
    };
    if store.is_err() && details != Details::None {
        health.problems.push("the KV namespace does not answer".into());
    }
    Ok(Response::json_of(status, &health).into())
}
