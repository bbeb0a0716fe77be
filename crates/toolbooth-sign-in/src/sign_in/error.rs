//! Errors of the endpoints for clients (RFC 6749, 5.2; RFC 7591, 3.2.2).

use std::borrow::Cow;

use serde::Serialize;

use toolbooth::http::{Headers, Response};

/// The code of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OAuthErrorCode {
    InvalidRequest,
    InvalidClient,
    InvalidGrant,
    InvalidScope,
    InvalidTarget,
    UnsupportedGrantType,
    UnsupportedResponseType,
    InvalidRedirectUri,
    InvalidClientMetadata,
    AccessDenied,
    TemporarilyUnavailable,
    ServerError,
}

impl OAuthErrorCode {
    /// The code as text.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::InvalidRequest => "invalid_request",
            Self::InvalidClient => "invalid_client",
            Self::InvalidGrant => "invalid_grant",
            Self::InvalidScope => "invalid_scope",
            Self::InvalidTarget => "invalid_target",
            Self::UnsupportedGrantType => "unsupported_grant_type",
            Self::UnsupportedResponseType => "unsupported_response_type",
            Self::InvalidRedirectUri => "invalid_redirect_uri",
            Self::InvalidClientMetadata => "invalid_client_metadata",
            Self::AccessDenied => "access_denied",
            Self::TemporarilyUnavailable => "temporarily_unavailable",
            Self::ServerError => "server_error",
        }
    }

    fn status(self) -> u16 {
        match self {
            Self::InvalidClient => 401,
            Self::AccessDenied => 403,
            Self::TemporarilyUnavailable => 503,
            Self::ServerError => 500,
            Self::InvalidRequest
            | Self::InvalidGrant
            | Self::InvalidScope
            | Self::InvalidTarget
            | Self::UnsupportedGrantType
            | Self::UnsupportedResponseType
            | Self::InvalidRedirectUri
            | Self::InvalidClientMetadata => 400,
        }
    }
}

/// Why a request of a client is rejected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OAuthError {
    pub(super) code: OAuthErrorCode,
    /// For developers. It contains nothing that the client sent.
    pub(super) description: Cow<'static, str>,
}

/// The body of an error response.
#[derive(Serialize)]
struct ErrorBody<'a> {
    error: &'static str,
    error_description: &'a str,
}

impl OAuthError {
    pub(crate) fn new(code: OAuthErrorCode, description: impl Into<Cow<'static, str>>) -> Self {
        Self { code, description: description.into() }
    }

    /// The store does not respond: the same request may succeed in a moment.
    pub(super) fn try_again() -> Self {
        Self::new(OAuthErrorCode::TemporarilyUnavailable, "try again in a few seconds")
    }

    /// The response, with a status that does not follow from the code.
    pub(crate) fn with_status(&self, status: u16) -> Response {
        let body = ErrorBody { error: self.code.name(), error_description: &self.description };
        let response = Response::json_of(status, &body);
        match self.code {
            OAuthErrorCode::TemporarilyUnavailable => response.with("retry-after", "5"),
            _ => response,
        }
    }

    /// The response to a client with these headers.
    pub(super) fn response_to(&self, headers: &dyn Headers) -> Response {
        let response = self.response();
        // RFC 6749, 5.2: only if the client tried to authenticate in this way.
        match (self.code, headers.get("authorization")) {
            (OAuthErrorCode::InvalidClient, Some(_)) => {
                response.with("www-authenticate", "Basic realm=\"toolbooth\"")
            }
            _ => response,
        }
    }

    /// The response.
    pub(crate) fn response(&self) -> Response {
        self.with_status(self.code.status())
    }
}
