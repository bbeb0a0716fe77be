//! Handlers of requests with calls of tools.

use std::rc::Rc;

use super::{Handler, RouteRequest};
use crate::call::{Rejection, RequestContext};
use crate::host::{BoxFuture, async_trait};
use crate::http::{Answer, Response};
use crate::json::{self, Value};

/// Decodes a body, passes its calls to the pipeline and encodes the outcomes. An error rejects the whole request.
pub type CallHandler = for<'a> fn(PostRequest<'a>) -> CallResponse<'a>;

/// Passes the call in a query to the pipeline and encodes its outcome.
pub type QueryHandler = for<'a> fn(RequestContext<'a>) -> CallResponse<'a>;

/// The response to a request with calls, or why the whole request is rejected.
pub type CallResponse<'a> = BoxFuture<'a, Result<Response, Rejection>>;

/// A request with a JSON body.
pub struct PostRequest<'a> {
    /// The body. Its texts borrow from the bytes that were received.
    pub body: Value<'a>,
    /// The rest of the request.
    pub context: RequestContext<'a>,
}

/// Serves the calls in a body of JSON.
#[derive(Debug, Clone, Copy)]
pub struct Calls(pub CallHandler);

/// Serves the call in a query. The second function says whether the tool that the path names can be called like that.
#[derive(Debug, Clone, Copy)]
pub struct QueryCalls(pub QueryHandler, pub for<'a> fn(&RequestContext<'a>) -> bool);

#[async_trait(?Send)]
impl Handler for Calls {
    async fn serve<'a>(&self, request: &Rc<RouteRequest<'a>>) -> Result<Answer<'a>, Rejection> {
        let context = request.context();
        let body = json::parse(request.text()?)
            .map_err(|error| Rejection::InvalidJson(error.to_string()))?;
        (request.protocol.check_version)(request.headers)?;
        (self.0)(PostRequest { body, context }).await.map(Answer::from)
    }
}

#[async_trait(?Send)]
impl Handler for QueryCalls {
    async fn serve<'a>(&self, request: &Rc<RouteRequest<'a>>) -> Result<Answer<'a>, Rejection> {
        (request.protocol.check_version)(request.headers)?;
        (self.0)(request.context()).await.map(Answer::from)
    }

    fn accepts(&self, request: Option<&RouteRequest<'_>>) -> bool {
        request.is_none_or(|request| (self.1)(&request.context()))
    }
}
