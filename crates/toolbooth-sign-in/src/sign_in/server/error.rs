//! Errors of the endpoints for clients (RFC 6749, 5.2; RFC 7591, 3.2.2).

use std::borrow::Cow;

use serde::Serialize;

use toolbooth::host::{NoRandomness, StoreError};
use toolbooth::http::{Headers, Response};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OAuthErrorCode {
    pub(crate) name: &'static str,
    status: u16,
}

const fn code(name: &'static str, status: u16) -> OAuthErrorCode {
    OAuthErrorCode { name, status }
}

pub(crate) const INVALID_REQUEST: OAuthErrorCode = code("invalid_request", 400);
pub(crate) const INVALID_CLIENT: OAuthErrorCode = code("invalid_client", 401);
pub(crate) const INVALID_GRANT: OAuthErrorCode = code("invalid_grant", 400);
pub(crate) const INVALID_SCOPE: OAuthErrorCode = code("invalid_scope", 400);
pub(crate) const INVALID_TARGET: OAuthErrorCode = code("invalid_target", 400);
pub(crate) const INVALID_DPOP_PROOF: OAuthErrorCode = code("invalid_dpop_proof", 400);
pub(crate) const USE_DPOP_NONCE: OAuthErrorCode = code("use_dpop_nonce", 400);
pub(crate) const UNAUTHORIZED_CLIENT: OAuthErrorCode = code("unauthorized_client", 400);
pub(crate) const UNSUPPORTED_GRANT_TYPE: OAuthErrorCode = code("unsupported_grant_type", 400);
pub(crate) const UNSUPPORTED_RESPONSE_TYPE: OAuthErrorCode = code("unsupported_response_type", 400);
pub(crate) const INVALID_REDIRECT_URI: OAuthErrorCode = code("invalid_redirect_uri", 400);
pub(crate) const INVALID_CLIENT_METADATA: OAuthErrorCode = code("invalid_client_metadata", 400);
pub(crate) const ACCESS_DENIED: OAuthErrorCode = code("access_denied", 403);
pub(crate) const TEMPORARILY_UNAVAILABLE: OAuthErrorCode = code("temporarily_unavailable", 503);
pub(crate) const SERVER_ERROR: OAuthErrorCode = code("server_error", 500);

impl OAuthErrorCode {
    /// An error with this code. The description is for developers and contains nothing that the client sent.
    pub(crate) fn error(self, description: impl Into<Cow<'static, str>>) -> OAuthError {
        OAuthError { code: self, description: description.into() }
    }
}

/// Why a request of a client is rejected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OAuthError {
    pub(crate) code: OAuthErrorCode,
    pub(crate) description: Cow<'static, str>,
}

#[derive(Serialize)]
struct ErrorBody<'a> {
    error: &'static str,
    error_description: &'a str,
}

impl OAuthError {
    /// The same request may succeed in a moment.
    pub(super) fn try_again() -> Self {
        TEMPORARILY_UNAVAILABLE.error("try again in a few seconds")
    }

    /// The response, with a status that does not follow from the code.
    pub(crate) fn with_status(&self, status: u16) -> Response {
        let body = ErrorBody { error: self.code.name, error_description: &self.description };
        let response = Response::json_of(status, &body);
        match self.code {
            TEMPORARILY_UNAVAILABLE => response.with("retry-after", "5"),
            _ => response,
        }
    }

    /// The response to a client with these headers.
    pub(super) fn response_to(&self, headers: &dyn Headers) -> Response {
        let response = self.response();
        // RFC 6749, 5.2: only if the client tried to authenticate in this way.
        match (self.code, headers.get("authorization")) {
            (INVALID_CLIENT, Some(_)) => {
                response.with("www-authenticate", "Basic realm=\"toolbooth\"")
            }
            _ => response,
        }
    }

    pub(super) fn response(&self) -> Response {
        self.with_status(self.code.status)
    }
}

impl From<StoreError> for OAuthError {
    fn from(_: StoreError) -> Self {
        Self::try_again()
    }
}

impl From<NoRandomness> for OAuthError {
    fn from(_: NoRandomness) -> Self {
        Self::try_again()
    }
}
