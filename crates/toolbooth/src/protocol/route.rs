//! The types of the route table: protocols, routes, methods and handlers.

use std::fmt;

#[cfg(feature = "challenges")]
use super::consent::ConsentHandler;
#[cfg(feature = "gateway")]
use super::gateway::GatewayHandler;
use super::page::{Page, PageError};
use crate::call::{Pipeline, Rejection, RequestContext};
use crate::host::BoxFuture;
use crate::http::{Headers, Method, Response};
use crate::json::Value;

/// A protocol: its routes, and the format of its errors.
#[derive(Debug)]
pub struct Protocol {
    /// Its name in the index.
    pub name: &'static str,
    /// Its name for people, with the version.
    pub title: &'static str,
    /// Whether the index at `GET /` names it.
    pub listed: bool,
    /// Its routes; no two have the same path.
    pub routes: &'static [Route],
    /// Rejects headers that ask for a version that is not served.
    pub check_version: fn(&dyn Headers) -> Result<(), Rejection>,
    /// Encodes the response to a rejected request, with the header that HTTP requires.
    pub encode_rejection: fn(&Rejection, &Pipeline) -> Response,
    /// Headers of every response.
    pub response_headers: &'static [(&'static str, &'static str)],
    /// Which web pages may call.
    pub cors: Cors,
}

/// Which web pages may call a route from a browser.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cors {
    /// The pages that the operator allows.
    Configured,
    /// The pages that the operator allows, and those of well-known web clients.
    WebClients,
    /// Every page. The responses do not depend on cookies or on the network of the browser.
    AnyPage,
    /// Only the server's own pages.
    SameOrigin,
}

/// A path with its methods.
#[derive(Debug)]
pub struct Route {
    /// The path below the mount. A last segment of `{…}` matches any one segment.
    pub path: &'static str,
    /// What each method does.
    pub methods: &'static [MethodHandler],
}

/// One method of a route.
#[derive(Debug)]
pub struct MethodHandler {
    /// The method.
    pub method: Method,
    /// What it does.
    pub handler: Handler,
}

/// A handler of `GET`, which also answers `HEAD`.
pub(crate) const fn get(handler: Handler) -> MethodHandler {
    MethodHandler { method: Method::Get, handler }
}

/// A handler of `POST`.
pub(crate) const fn post(handler: Handler) -> MethodHandler {
    MethodHandler { method: Method::Post, handler }
}

/// A handler of `DELETE`.
#[cfg(feature = "challenges")]
pub(crate) const fn delete(handler: Handler) -> MethodHandler {
    MethodHandler { method: Method::Delete, handler }
}

/// What a route does.
#[derive(Debug)]
pub enum Handler {
    /// Reports whether the server is ready.
    Health,
    /// Returns a page to everyone.
    Public(fn(&RequestContext<'_>) -> Result<Page, PageError>),
    /// Returns a page to callers with valid credentials.
    List(fn(&RequestContext<'_>) -> Result<Page, PageError>),
    /// Decodes a body, passes its calls to the pipeline and encodes the outcomes. An error rejects the
    /// whole request.
    Call(CallHandler),
    /// Serves a route of the chat gateway.
    #[cfg(feature = "gateway")]
    Gateway(GatewayHandler),
    /// Performs a step of an authorization, for a user in a browser or for a client that polls.
    #[cfg(feature = "challenges")]
    Consent(ConsentHandler),
    /// Belongs to the protocol, but a hosted server cannot serve it, for this reason. The index omits it.
    NotServed(&'static str),
}

/// Serves the calls in a request.
pub type CallHandler = for<'a> fn(PostRequest<'a>) -> CallResponse<'a>;

/// The response of a [`CallHandler`], or why the whole request is rejected.
pub type CallResponse<'a> = BoxFuture<'a, Result<Response, Rejection>>;

/// A request with a JSON body.
pub struct PostRequest<'a> {
    /// The body. Its texts borrow from the bytes that were received.
    pub body: Value<'a>,
    /// The rest of the request.
    pub context: RequestContext<'a>,
}

impl fmt::Debug for PostRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostRequest").field("body", &self.body).finish_non_exhaustive()
    }
}

impl Route {
    /// The handler of a method.
    pub fn handler(&self, method: Method) -> Option<&Handler> {
        let find = |method| self.methods.iter().find(|one| one.method == method);
        if method == Method::Head {
            return find(Method::Get).map(|one| &one.handler).filter(|it| it.answers_head());
        }
        find(method).map(|one| &one.handler)
    }

    /// The methods it accepts, as in an `Allow` header.
    pub fn allow(&self) -> String {
        let mut allow = String::new();
        for one in self.methods {
            allow.push_str(one.method.name());
            allow.push_str(", ");
            if one.method == Method::Get && one.handler.answers_head() {
                allow.push_str("HEAD, ");
            }
        }
        allow.push_str("OPTIONS");
        allow
    }
}

impl Handler {
    /// Whether `HEAD` may run it. At the callback of an authorization it would use up the code and show
    /// no page.
    fn answers_head(&self) -> bool {
        match self {
            #[cfg(feature = "challenges")]
            Self::Consent(ConsentHandler::Callback) => false,
            _ => true,
        }
    }

    /// Whether the index names it.
    pub(crate) fn is_listed(&self) -> bool {
        !matches!(self, Self::NotServed(_))
    }
}
