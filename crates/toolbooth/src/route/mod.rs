//! Routes: a method and a path, the policy that a request must fulfil, and the handler that serves it.
//!
//! A [`Protocol`] is a table of these, which a capability mounts at a path. The server enforces the [`Policy`] of a
//! [`Route`], in one place for all of them, and then runs its [`Handler`], usually an async function from a [`RouteRequest`] to a response:
//!
//! - [`Calls`] and [`QueryCalls`] wrap functions that serve calls of tools;
//! - [`Document`] wraps functions that return a [`Page`], which clients may cache.

mod calls;
mod handler;
mod page;
mod policy;
mod request;
mod sample;
mod state;
mod warnings;

pub use calls::{CallHandler, CallResponse, Calls, PostRequest, QueryCalls, QueryHandler};
pub use handler::{Handler, MethodNotAllowed};
pub use page::{Document, Page, PageError, PageHandler};
pub use policy::{BodyFormat, Credentials, ErrorForm, Limit, Policy};
pub use request::RouteRequest;
pub(crate) use sample::only;
pub use sample::{PathSample, Sample, SampleCall, ValueForm, for_tests, response_json};
pub use state::State;

use std::fmt;

use serde::Serialize;

use crate::call::{Pipeline, Rejection};
use crate::http::{Headers, Method, Response};

/// A protocol: its routes, and the format of its errors.
#[derive(Debug)]
pub struct Protocol {
    /// Its name in the index.
    pub name: &'static str,
    /// Its name for people, with the version.
    pub title: &'static str,
    /// Whether the index at `GET /` names it.
    pub listed: bool,
    /// Its routes; no two have the same path and method.
    pub routes: &'static [Route],
    /// Paths that belong to the protocol, but that a hosted server cannot serve, with the reason. The index omits them.
    pub not_served: &'static [(&'static str, &'static str)],
    /// Rejects headers that ask for a version that is not served. [`Calls`], [`QueryCalls`] and [`Document`] call it, after the
    /// body has been read as JSON; the other handlers of a protocol with versions must call it themselves.
    pub check_version: fn(&dyn Headers) -> Result<(), Rejection>,
    /// Encodes the response to a rejected request, with the header that HTTP requires.
    pub encode_rejection: EncodeRejection,
    /// Headers of every response.
    pub response_headers: &'static [(&'static str, &'static str)],
    /// Which web pages may call.
    pub cors: Cors,
    /// How to write calls: see [`for_tests`].
    pub samples: &'static [PathSample],
}

/// The `check_version` of a protocol that has no header for its version.
///
/// # Errors
/// None.
fn any_version(_: &dyn Headers) -> Result<(), Rejection> {
    Ok(())
}

/// How a protocol encodes the response to a rejected request.
#[derive(Debug, Clone, Copy)]
pub enum EncodeRejection {
    /// Every request that is rejected for the same reason gets the same response.
    Plain(fn(&Rejection, &Pipeline) -> Response),
    /// The response repeats the id of the request, which the function looks for in the beginning of the body.
    WithId(fn(&Rejection, start: &[u8], &Pipeline) -> Response),
}

/// How much of a body that is not read otherwise is read for the id, in bytes.
pub const MAX_ID_BYTES: usize = 8 * 1024;

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

/// A method of a path.
#[derive(Clone, Copy)]
pub struct Route {
    /// The method. `GET` also answers `HEAD`.
    pub method: Method,
    /// The path below the mount. A first or last segment of `{…}` matches any one segment, and a last one of `{+…}` any number
    /// of them.
    pub path: &'static str,
    /// What a request must fulfil before it is served.
    pub policy: Policy,
    /// Serves the requests.
    pub handler: &'static dyn Handler,
}

impl Route {
    /// A route for `GET` and `HEAD`.
    pub const fn get(path: &'static str, policy: Policy, handler: &'static dyn Handler) -> Self {
        Self { method: Method::Get, path, policy, handler }
    }

    /// A route for `POST`.
    pub const fn post(path: &'static str, policy: Policy, handler: &'static dyn Handler) -> Self {
        Self { method: Method::Post, path, policy, handler }
    }

    /// A route for `DELETE`.
    pub const fn delete(path: &'static str, policy: Policy, handler: &'static dyn Handler) -> Self {
        Self { method: Method::Delete, path, policy, handler }
    }

    fn accepts(&self, method: Method) -> bool {
        match method {
            Method::Head => self.method == Method::Get && self.policy.answers_head,
            method => self.method == method,
        }
    }
}

impl fmt::Debug for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { method, path, policy, .. } = self;
        let mut debug = f.debug_struct("Route");
        debug.field("method", method).field("path", path).field("policy", policy);
        debug.finish_non_exhaustive()
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
    /// A protocol that the index names, without routes, versions and headers of its own.
    pub const fn new(
        name: &'static str,
        title: &'static str,
        encode_rejection: EncodeRejection,
    ) -> Self {
        Self {
            name,
            title,
            listed: true,
            routes: &[],
            not_served: &[],
            check_version: any_version,
            encode_rejection,
            response_headers: &[],
            cors: Cors::Configured,
            samples: &[],
        }
    }

    pub(crate) fn endpoints(&self, mount: &str) -> impl Iterator<Item = Endpoint> {
        let served = self.routes.iter().filter(|route| route.handler.is_listed());
        served.map(move |route| Endpoint {
            method: route.method.name(),
            path: format!("{mount}{}", route.path),
        })
    }

    pub(crate) fn route(&self, path: &str, method: Method) -> Option<&'static Route> {
        self.methods(path).find(|route| route.accepts(method))
    }

    /// The methods that a path accepts, as in an `Allow` header.
    pub(crate) fn allow(&self, path: &str, is_named: &dyn Fn(&Route) -> bool) -> String {
        let mut allow = Vec::new();
        for route in self.methods(path).filter(|route| is_named(route)) {
            let head = Some("HEAD").filter(|_| route.accepts(Method::Head));
            allow.extend([route.method.name()].into_iter().chain(head));
        }
        allow.push("OPTIONS");
        allow.join(", ")
    }

    fn methods(&self, path: &str) -> impl Iterator<Item = &'static Route> {
        self.routes.iter().filter(move |route| route.path == path)
    }
}
