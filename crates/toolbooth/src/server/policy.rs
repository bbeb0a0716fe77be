//! Enforces the policy of a route, in one place for all routes, and runs its handler.

use std::rc::Rc;

use super::Server;
use crate::call::{self, Rejection, Sent};
use crate::host::boxed;
use crate::http::{self, Answer, BodyError, Headers};
use crate::route::{BodyFormat, Credentials, Limit, Policy, Route, RouteRequest};

impl Server {
    /// Enforces the policy of the route that a request has, and reads its body.
    ///
    /// # Errors
    /// Why the policy rejects it.
    pub(super) async fn enforce(
        &self,
        route: &'static Route,
        request: &mut RouteRequest<'_>,
    ) -> Result<(), Rejection> {
        let admitted = self.admit(route.policy, request).await;
        admitted.inspect_err(|rejection| request.log_rejection(rejection))?;
        let received = self.receive(route.policy, request).await;
        received.inspect_err(|rejection| route.handler.rejected(request, rejection))
    }

    /// Checks who sends a request. Without valid credentials, the body is not read.
    async fn admit(&self, policy: Policy, request: &mut RouteRequest<'_>) -> Result<(), Rejection> {
        let RouteRequest { headers, host, .. } = *request;
        if !(policy.is_enabled)(&self.state) {
            return Err(Rejection::NOT_FOUND);
        }
        if policy.limit == Limit::Network {
            boxed(call::count_visit(headers, host)).await?;
        }
        if policy.rejects_other_sites && request.origin.is_none() && is_other_site(headers) {
            return Err(Rejection::ForbiddenOrigin);
        }
        if policy.credentials == Credentials::Needed {
            let name = request.protocol.name;
            let authenticated = self.state.authenticate(name, request.target, headers, host).await;
            request.proves_possession = match &authenticated {
                Ok(authenticated) => authenticated.is_bound,
                Err(Rejection::Unauthenticated { sent, .. }) => matches!(sent, Sent::Proof { .. }),
                Err(_) => false,
            };
            request.principal = authenticated?.principal;
        }
        if policy.records_calls {
            request.calls = self.state.pipeline.events.recorder(headers, host);
        }
        Ok(())
    }

    /// Counts a request of a known sender, and reads its body.
    async fn receive(
        &self,
        policy: Policy,
        request: &mut RouteRequest<'_>,
    ) -> Result<(), Rejection> {
        if policy.limit == Limit::Caller {
            boxed(request.context().count(1)).await?;
        }
        if policy.needs_configuration && !self.state.pipeline.settings.problems.is_empty() {
            return Err(call::misconfigured());
        }
        if policy.body == BodyFormat::Unread {
            return Ok(());
        }
        self.read((policy.max_body_bytes)(&self.state), request).await?;
        match policy.body {
            BodyFormat::Json if !http::is_json(request.headers) => {
                Err(Rejection::UnsupportedMediaType)
            }
            BodyFormat::Form if !http::is_form(request.headers) => {
                let expected = "the body must be application/x-www-form-urlencoded";
                Err(Rejection::Malformed(expected.to_owned()))
            }
            BodyFormat::Unread | BodyFormat::Json | BodyFormat::Form => Ok(()),
        }
    }

    async fn read(&self, limit: usize, request: &mut RouteRequest<'_>) -> Result<(), Rejection> {
        let read = match request.unread {
            None if request.body.len() > limit => Err(BodyError::TooLarge),
            None => return Ok(()),
            Some(stream) => boxed(stream.read(limit)).await,
        };
        request.body = read.map_err(|error| match error {
            BodyError::TooLarge => Rejection::PayloadTooLarge { limit },
            BodyError::Incomplete => Rejection::InvalidJson("the body is incomplete".to_owned()),
        })?;
        request.unread = None;
        Ok(())
    }
}

/// Serves a request that fulfils the policy of its route.
///
/// # Errors
/// Why the handler rejects it.
pub(super) async fn serve<'a>(
    route: &'static Route,
    request: &Rc<RouteRequest<'a>>,
) -> Result<Answer<'a>, Rejection> {
    let answer = route.handler.serve(request).await;
    answer.inspect_err(|rejection| route.handler.rejected(request, rejection))
}

/// Whether a page of a different site sent a request.
fn is_other_site(headers: &dyn Headers) -> bool {
    headers.get("sec-fetch-site").is_some_and(|site| matches!(&*site, "cross-site" | "same-site"))
}
