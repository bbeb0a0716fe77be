//! The error body that all providers' routes share (2api.ai, 5.4).

use serde::Serialize;

use crate::call::{Pipeline, Rejection, RejectionKind};
use crate::http::Response;
use crate::protocol::rejection_response;

/// The body of an error response.
#[derive(Serialize)]
pub(super) struct ErrorBody<E> {
    pub(super) error: E,
}

/// An error without further members.
#[derive(Serialize)]
struct ProviderError<'a> {
    /// A stable word for programs.
    code: &'a str,
    /// What went wrong, where, and what was expected.
    message: &'a str,
    r#type: ErrorType,
}

/// The `type` of an error.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ErrorType {
    InvalidRequestError,
    AuthenticationError,
    PermissionError,
    RateLimitError,
    /// The request is well-formed, but the provider cannot use what it asks for.
    SemanticError,
    ServerError,
}

impl ErrorType {
    fn of(kind: RejectionKind) -> Self {
        match kind {
            RejectionKind::Unauthenticated => Self::AuthenticationError,
            RejectionKind::ForbiddenOrigin
            | RejectionKind::ToolNotAllowed
            | RejectionKind::MissingScope => Self::PermissionError,
            RejectionKind::TooManyRequests => Self::RateLimitError,
            RejectionKind::Unavailable | RejectionKind::Internal => Self::ServerError,
            RejectionKind::NotFound
            | RejectionKind::NotServed
            | RejectionKind::MethodNotAllowed
            | RejectionKind::PayloadTooLarge
            | RejectionKind::UnsupportedMediaType
            | RejectionKind::InvalidJson
            | RejectionKind::Malformed
            | RejectionKind::UnsupportedVersion
            | RejectionKind::InvalidToolId
            | RejectionKind::UnknownTool
            | RejectionKind::UnknownVersion
            | RejectionKind::MissingRequirements
            | RejectionKind::CannotAsk => Self::InvalidRequestError,
        }
    }
}

/// The response to a rejected request.
pub(super) fn encode_rejection(rejection: &Rejection, _: &Pipeline) -> Response {
    let description = rejection.describe();
    let kind = description.kind;
    let error = ProviderError {
        code: kind.code(),
        message: &description.to_string(),
        r#type: ErrorType::of(kind),
    };
    rejection_response(kind.status(), rejection, &ErrorBody { error })
}

/// The response to a request with an error that only these protocols have.
pub(super) fn invalid_request(code: &'static str, message: &str) -> Response {
    let error = ProviderError { code, message, r#type: ErrorType::InvalidRequestError };
    Response::json_of(400, &ErrorBody { error })
}
