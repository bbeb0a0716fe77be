//! Policies: what a request must fulfil before its handler runs.

use super::{RouteRequest, State};
use crate::call::Rejection;
use crate::http::Response;

/// What a request must fulfil before its handler runs.
///
/// The router needs `answers_head`. The server then checks, in the order of `server::policy`: `is_enabled`; the limit of the
/// network; `rejects_other_sites`; `credentials`; the limit of the caller; `needs_configuration`; `body`.
#[derive(Debug, Clone, Copy)]
pub struct Policy {
    /// Whether the operator has configured what the route is for. If not, the response is 404.
    pub is_enabled: fn(&State) -> bool,
    /// Whether `HEAD` may run a route for `GET`.
    pub answers_head: bool,
    /// What the request counts against.
    pub limit: Limit,
    /// Whether images, links and other requests without CORS of other sites' pages are rejected. Those have no `Origin`.
    pub rejects_other_sites: bool,
    /// Which credentials it needs.
    pub credentials: Credentials,
    /// Whether the calls of tools in it are recorded, for the log.
    pub records_calls: bool,
    /// Whether it is rejected while the configuration is invalid. Calls of tools are then rejected one by one instead.
    pub needs_configuration: bool,
    /// What of its body is read.
    pub body: BodyFormat,
    /// The size of the largest body. [`Policy::PUBLIC`] has the variable `MAX_BODY_BYTES`.
    pub max_body_bytes: fn(&State) -> usize,
    /// How a rejection is written.
    pub errors: ErrorForm,
}

/// Which rate limit a request counts against, before its body is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// None, or only the calls in its body.
    None,
    /// That of its network: no credentials are needed, or they are checked later.
    Network,
    /// That of the caller, like one call.
    Caller,
}

/// Which credentials a request needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Credentials {
    /// None. Those that it has are not read.
    NotNeeded,
    /// Those of a caller.
    Needed,
}

/// The body that a route reads, up to the size that its policy allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyFormat {
    /// None.
    Unread,
    /// JSON, which the request declares.
    Json,
    /// The fields of a form, which the request declares.
    Form,
}

/// How a rejection is written.
#[derive(Debug, Clone, Copy)]
pub enum ErrorForm {
    /// In the protocol's format.
    Protocol,
    /// As a page for people, or in a format that the client asks for; in the protocol's format if there is none.
    Page(fn(&Rejection, &RouteRequest<'_>) -> Option<Response>),
}

fn always(_: &State) -> bool {
    true
}

/// The variable `MAX_BODY_BYTES`.
fn max_body_bytes(state: &State) -> usize {
    state.settings().limits.max_body_bytes
}

impl Policy {
    /// Everyone may send the request.
    pub const PUBLIC: Self = Self {
        is_enabled: always,
        answers_head: true,
        limit: Limit::None,
        rejects_other_sites: false,
        credentials: Credentials::NotNeeded,
        records_calls: false,
        needs_configuration: false,
        body: BodyFormat::Unread,
        max_body_bytes,
        errors: ErrorForm::Protocol,
    };

    /// Callers with valid credentials may send the request.
    pub const CALLER: Self = Self { credentials: Credentials::Needed, ..Self::PUBLIC };

    /// The request has calls of tools in a body of JSON.
    pub const CALLS: Self = Self { records_calls: true, body: BodyFormat::Json, ..Self::CALLER };

    /// The request has the call of a tool in its query.
    pub const QUERY_CALL: Self =
        Self { records_calls: true, rejects_other_sites: true, ..Self::CALLER };

    /// The request comes from a person's browser or from a client without a key, and counts against the limit of its network.
    pub const NETWORK: Self = Self { limit: Limit::Network, ..Self::PUBLIC };

    /// The same, with a body.
    #[must_use]
    pub const fn with_body(self, body: BodyFormat) -> Self {
        Self { body, ..self }
    }
}
