//! Handlers: what serves the requests of a route.

use std::rc::Rc;

use super::RouteRequest;
use crate::call::Rejection;
use crate::host::async_trait;
use crate::http::Answer;

/// Serves the requests of a route, after the server has enforced its policy. An async function from a [`RouteRequest`] to an
/// [`Answer`] is a handler.
#[async_trait(?Send)]
pub trait Handler: Sync {
    /// Serves a request: with a response, or the reason why it is rejected, which the server encodes. A stream that needs the
    /// request while it is written keeps a clone of `request`.
    async fn serve<'a>(&self, request: &Rc<RouteRequest<'a>>) -> Result<Answer<'a>, Rejection>;

    /// Logs a request with valid credentials that was rejected, by the policy or by the handler.
    fn rejected(&self, request: &RouteRequest<'_>, rejection: &Rejection) {
        if request.calls.is_recording() {
            request.calls.reject_all(rejection.describe().kind.code(), request.host);
        } else {
            request.log_rejection(rejection);
        }
    }

    /// Whether the index and `Allow` name the route.
    fn is_listed(&self) -> bool {
        true
    }

    /// Whether the response to an `OPTIONS` request names the route; `None` if its sender may not know which tools there are.
    fn accepts(&self, request: Option<&RouteRequest<'_>>) -> bool {
        let _ = request;
        self.is_listed()
    }
}

#[async_trait(?Send)]
impl<F> Handler for F
where
    F: for<'a, 'r> AsyncFn(&'r RouteRequest<'a>) -> Result<Answer<'a>, Rejection> + Sync,
{
    async fn serve<'a>(&self, request: &Rc<RouteRequest<'a>>) -> Result<Answer<'a>, Rejection> {
        self(request).await
    }
}

/// Rejects a method that the path does not accept, but that clients use to find out whether they need credentials:
/// without them the response is 401, with them 405.
#[derive(Debug, Clone, Copy)]
pub struct MethodNotAllowed;

#[async_trait(?Send)]
impl Handler for MethodNotAllowed {
    async fn serve<'a>(&self, request: &Rc<RouteRequest<'a>>) -> Result<Answer<'a>, Rejection> {
        Err(request.not_allowed())
    }

    fn is_listed(&self) -> bool {
        false
    }
}
