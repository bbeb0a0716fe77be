//! Handlers: what serves the requests of a route.

use super::RouteRequest;
use crate::call::Rejection;
use crate::host::{BoxFuture, boxed};
use crate::http::Answer;

/// What a handler answers: a response, or why the request is rejected. The server encodes the rejection.
pub type RouteResponse<'a, 'r> = BoxFuture<'r, Result<Answer<'a>, Rejection>>;

/// Serves the requests of a route, after the server has enforced its policy. An async function from a [`RouteRequest`] to an
/// [`Answer`] is a handler.
pub trait Handler: Sync {
    /// Serves a request.
    fn serve<'a: 'r, 'r>(&'r self, request: &'r RouteRequest<'a>) -> RouteResponse<'a, 'r>;

    /// Logs a request with valid credentials that was rejected, by the policy or by the handler; by default only if
    /// its calls are recorded.
    fn rejected(&self, request: &RouteRequest<'_>, rejection: &Rejection) {
        request.calls.reject_all(rejection.describe().kind.code(), request.host);
    }

    /// Whether the index and `Allow` name the route.
    fn is_listed(&self) -> bool {
        true
    }
}

impl<F> Handler for F
where
    F: for<'a, 'r> AsyncFn(&'r RouteRequest<'a>) -> Result<Answer<'a>, Rejection> + Sync,
{
    fn serve<'a: 'r, 'r>(&'r self, request: &'r RouteRequest<'a>) -> RouteResponse<'a, 'r> {
        boxed(self(request))
    }
}

/// Rejects a method that the path does not accept, but that clients use to find out whether they need credentials:
/// without them the response is 401, with them 405.
#[derive(Debug, Clone, Copy)]
pub struct MethodNotAllowed;

impl Handler for MethodNotAllowed {
    fn serve<'a: 'r, 'r>(&'r self, request: &'r RouteRequest<'a>) -> RouteResponse<'a, 'r> {
        boxed(async move { Err(request.not_allowed()) })
    }

    fn is_listed(&self) -> bool {
        false
    }
}
