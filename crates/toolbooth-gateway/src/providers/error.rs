//! The error body that all providers' routes share (2api.ai, 5.4).

use serde::Serialize;

use toolbooth::call::{Pipeline, Rejection, RejectionKind};
use toolbooth::http::Response;
use toolbooth::protocol::rejection_response;

#[derive(Serialize)]
pub(crate) struct ErrorBody<E> {
    pub(crate) error: E,
}

#[derive(Serialize)]
pub(super) struct ProviderError<'a> {
    /// A stable word for programs.
    pub(super) code: &'a str,
    /// What went wrong, where, and what was expected.
    pub(super) message: &'a str,
    pub(super) r#type: ErrorType,
    /// The features that the provider does not accept, sorted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) incompatible_features: Vec<&'static str>,
    /// The tools that have them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) tools: Vec<IncompatibleTool>,
}

#[derive(Serialize)]
pub(super) struct IncompatibleTool {
    pub(super) name: &'static str,
    pub(super) incompatible_features: &'static [&'static str],
}

impl<'a> ProviderError<'a> {
    fn new(r#type: ErrorType, code: &'a str, message: &'a str) -> ErrorBody<Self> {
        let (incompatible_features, tools) = (Vec::new(), Vec::new());
        ErrorBody { error: Self { code, message, r#type, incompatible_features, tools } }
    }
}

#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) enum ErrorType {
    #[serde(rename = "invalid_request_error")]
    InvalidRequest,
    #[serde(rename = "authentication_error")]
    Authentication,
    #[serde(rename = "permission_error")]
    Permission,
    #[serde(rename = "rate_limit_error")]
    RateLimit,
    /// The request is well-formed, but the provider cannot use what it asks for.
    #[serde(rename = "semantic_error")]
    Semantic,
    #[serde(rename = "server_error")]
    Server,
}

impl ErrorType {
    /// That of a rejected request.
    pub(crate) fn of(kind: RejectionKind) -> Self {
        match kind {
            RejectionKind::Unauthenticated => Self::Authentication,
            RejectionKind::ForbiddenOrigin
            | RejectionKind::ToolNotAllowed
            | RejectionKind::MissingScope => Self::Permission,
            RejectionKind::TooManyRequests
            | RejectionKind::BudgetExceeded
            | RejectionKind::TooManyTasks => Self::RateLimit,
            RejectionKind::Unavailable | RejectionKind::Internal => Self::Server,
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
            | RejectionKind::CannotAsk
            | RejectionKind::NeedsTask => Self::InvalidRequest,
        }
    }
}

pub(super) fn encode_rejection(rejection: &Rejection, _: &Pipeline) -> Response {
    let description = rejection.describe();
    let (kind, message) = (description.kind, description.to_string());
    let body = ProviderError::new(ErrorType::of(kind), kind.code(), &message);
    rejection_response(kind.status(), rejection, &body)
}

/// The response to a request with an error that only these protocols have.
pub(super) fn invalid_request(code: &'static str, message: &str) -> Response {
    Response::json_of(400, &ProviderError::new(ErrorType::InvalidRequest, code, message))
}
