//! The types of the route table: protocols, routes, methods and handlers.

use std::fmt;

use serde::Serialize;

#[cfg(feature = "challenges")]
use super::consent::ConsentHandler;
#[cfg(feature = "gateway")]
use super::gateway::GatewayHandler;
use super::page::{Page, PageError};
#[cfg(feature = "sign-in")]
use super::sign_in::SignInHandler;
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
    pub encode_rejection: EncodeRejection,
    /// Headers of every response.
    pub response_headers: &'static [(&'static str, &'static str)],
    /// Which web pages may call.
    pub cors: Cors,
}

/// How a protocol encodes the response to a rejected request.
#[derive(Debug, Clone, Copy)]
pub enum EncodeRejection {
    /// Every request that is rejected for the same reason gets the same response.
    Plain(fn(&Rejection, &Pipeline) -> Response),
    /// The response repeats the id of the request, if its body begins with an object that has one.
    WithId(fn(&Rejection, Option<&serde_json::Value>, &Pipeline) -> Response),
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
    /// Passes the call in the query to the pipeline and encodes its outcome.
    #[cfg(feature = "rest")]
    Query(QueryHandler),
    /// Serves a route of the chat gateway.
    #[cfg(feature = "gateway")]
    Gateway(GatewayHandler),
    /// Performs a step of an authorization, for a user in a browser or for a client that polls.
    #[cfg(feature = "challenges")]
    Consent(ConsentHandler),
    /// Performs a step of a sign-in, for a person in a browser or for a client.
    #[cfg(feature = "sign-in")]
    SignIn(SignInHandler),
    /// Explains to developers how calls are authorized at a provider.
    #[cfg(feature = "challenges")]
    AuthorizationHelp,
    /// Belongs to the protocol, but a hosted server cannot serve it, for this reason. The index omits it.
    NotServed(&'static str),
    /// The path does not accept the method, but clients use it to find out whether they need credentials: without
    /// them the response is 401, with them 405.
    NotAllowed,
}

/// Serves the calls in a request.
pub type CallHandler = for<'a> fn(PostRequest<'a>) -> CallResponse<'a>;

/// Serves the call in a query.
#[cfg(feature = "rest")]
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

impl fmt::Debug for PostRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostRequest").field("body", &self.body).finish_non_exhaustive()
    }
}

/// A method of a path. Displays as `GET /tools`.
#[derive(Debug, Serialize)]
pub struct Endpoint {
    method: &'static str,
    path: String,
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method, self.path)
    }
}

impl Protocol {
    /// Its endpoints below a mount, without those that are not served.
    pub(crate) fn endpoints(&self, mount: &str) -> impl Iterator<Item = Endpoint> {
        self.routes.iter().flat_map(move |route| {
            let served = route.methods.iter().filter(|one| one.handler.is_listed());
            served.map(move |one| Endpoint {
                method: one.method.name(),
                path: format!("{mount}{}", route.path),
            })
        })
    }
}

impl Route {
    /// The handler of a method. A path that is not served is not served for any method.
    pub fn handler(&self, method: Method) -> Option<&Handler> {
        let find = |method| self.methods.iter().find(|one| one.method == method);
        let found = match method {
            Method::Head => find(Method::Get).filter(|one| one.handler.answers_head()),
            method => find(method),
        };
        let not_served = || {
            let mut handlers = self.methods.iter();
            handlers.find(|one| matches!(one.handler, Handler::NotServed(_)))
        };
        found.or_else(not_served).map(|one| &one.handler)
    }

    /// The methods it accepts, as in an `Allow` header.
    pub fn allow(&self) -> String {
        let mut allow = String::new();
        for one in self.methods.iter().filter(|one| one.handler.is_allowed()) {
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

    /// Whether `Allow` names its method.
    fn is_allowed(&self) -> bool {
        !matches!(self, Self::NotAllowed)
    }

    /// Whether the index names it.
    fn is_listed(&self) -> bool {
        !matches!(self, Self::NotServed(_) | Self::NotAllowed)
    }
}
