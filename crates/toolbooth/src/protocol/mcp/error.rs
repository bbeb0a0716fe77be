//! JSON-RPC errors: their codes, their data, and the rejections that become one.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;

use super::client_request::{ClientCapabilities, UrlElicitation};
use super::message::{Era, MODERN};
use super::{resource_metadata, response};
use crate::call::{Pipeline, Rejection, RejectionKind};
use crate::http::Response;
use crate::text::excerpt;

/// The code of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ErrorCode {
    /// The body is not JSON.
    ParseError,
    /// The body is not a message, or HTTP or authentication reject it.
    InvalidRequest,
    /// The method does not exist.
    MethodNotFound,
    /// The method does not accept these parameters.
    InvalidParams,
    /// The server failed.
    InternalError,
    /// A header and the body disagree.
    HeaderMismatch,
    /// The client lacks a capability that the tool needs.
    MissingClientCapability,
    /// The protocol version is not supported.
    UnsupportedProtocolVersion,
    /// The user must open a URL (2025-11-25).
    UrlElicitationRequired,
    /// The resource does not exist (before 2026-07-28).
    ResourceNotFound,
}

impl ErrorCode {
    fn number(self) -> i32 {
        match self {
            Self::ParseError => -32700,
            Self::InvalidRequest => -32600,
            Self::MethodNotFound => -32601,
            Self::InvalidParams => -32602,
            Self::InternalError => -32603,
            Self::HeaderMismatch => -32020,
            Self::MissingClientCapability => -32021,
            Self::UnsupportedProtocolVersion => -32022,
            Self::UrlElicitationRequired => -32042,
            Self::ResourceNotFound => -32002,
        }
    }

    /// Its name in the log.
    fn name(self) -> &'static str {
        match self {
            Self::ParseError => "invalid_json",
            Self::InvalidRequest => "invalid_request",
            Self::MethodNotFound => "method_not_found",
            Self::InvalidParams => "invalid_params",
            Self::InternalError => "server_error",
            Self::HeaderMismatch => "header_mismatch",
            Self::MissingClientCapability => "unanswerable",
            Self::UnsupportedProtocolVersion => "unsupported_version",
            Self::UrlElicitationRequired => "missing_requirements",
            Self::ResourceNotFound => "resource_not_found",
        }
    }

    /// The HTTP status, unless the error has its own.
    fn status(self) -> u16 {
        match self {
            Self::ParseError
            | Self::InvalidRequest
            | Self::HeaderMismatch
            | Self::MissingClientCapability
            | Self::UnsupportedProtocolVersion => 400,
            Self::MethodNotFound
            | Self::InvalidParams
            | Self::UrlElicitationRequired
            | Self::ResourceNotFound => 200,
            Self::InternalError => 500,
        }
    }
}

/// `data` of an error, for programs.
#[derive(Debug, Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub(super) enum ErrorData {
    /// Of an unsupported protocol version.
    UnsupportedVersion { supported: [&'static str; 1], requested: String },
    /// Of a resource that does not exist.
    ResourceNotFound { uri: String },
    /// Of a tool that asks for input which the client cannot provide.
    MissingCapabilities { required_capabilities: ClientCapabilities },
    /// Of a call that needs the user's authorization.
    Elicitations { elicitations: Vec<UrlElicitation> },
}

/// An error that answers a message.
#[derive(Debug)]
pub(super) struct McpError {
    status: u16,
    code: ErrorCode,
    message: Cow<'static, str>,
    data: Option<ErrorData>,
}

impl McpError {
    /// An error with the status of its code.
    pub(super) fn new(code: ErrorCode, message: impl Into<Cow<'static, str>>) -> Self {
        Self { status: code.status(), code, message: message.into(), data: None }
    }

    /// The name of its code in the log.
    pub(super) fn name(&self) -> &'static str {
        self.code.name()
    }

    /// With another status.
    pub(super) fn status(self, status: u16) -> Self {
        Self { status, ..self }
    }

    /// With data.
    pub(super) fn data(self, data: ErrorData) -> Self {
        Self { data: Some(data), ..self }
    }

    /// The method does not exist. 2026-07-28 demands 404 then.
    pub(super) fn unknown_method(method: &str, era: Era) -> Self {
        let message = format!("Unknown method: {}", excerpt(method));
        let error = Self::new(ErrorCode::MethodNotFound, message);
        match era {
            Era::Modern => error.status(404),
            Era::Legacy => error,
        }
    }

    /// The protocol version is not supported.
    pub(super) fn unsupported_version(requested: &str) -> Self {
        let message = format!("Unsupported protocol version; use {MODERN}");
        Self::new(ErrorCode::UnsupportedProtocolVersion, message).data(
            ErrorData::UnsupportedVersion { supported: [MODERN], requested: excerpt(requested) },
        )
    }

    /// The resource does not exist.
    pub(super) fn unknown_resource(uri: &str, era: Era) -> Self {
        let code = match era {
            Era::Modern => ErrorCode::InvalidParams,
            Era::Legacy => ErrorCode::ResourceNotFound,
        };
        Self::new(code, "Resource not found; resources/list returns the available ones")
            .data(ErrorData::ResourceNotFound { uri: excerpt(uri) })
    }

    /// Writes the error; the id is null if the request has none that could be read.
    pub(super) fn encode(&self, id: Option<&Value>) -> Response {
        #[derive(Serialize)]
        struct ErrorMessage<'a> {
            jsonrpc: &'static str,
            id: Option<&'a Value>,
            error: ErrorObject<'a>,
        }
        #[derive(Serialize)]
        struct ErrorObject<'a> {
            code: i32,
            message: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            data: Option<&'a ErrorData>,
        }
        let error = ErrorObject {
            code: self.code.number(),
            message: &self.message,
            data: self.data.as_ref(),
        };
        response::write(self.status, &ErrorMessage { jsonrpc: "2.0", id, error })
    }
}

/// The code of a rejection.
fn code(kind: RejectionKind) -> ErrorCode {
    match kind {
        RejectionKind::InvalidJson => ErrorCode::ParseError,
        RejectionKind::NotFound
        | RejectionKind::NotServed
        | RejectionKind::MethodNotAllowed
        | RejectionKind::ForbiddenOrigin
        | RejectionKind::PayloadTooLarge
        | RejectionKind::UnsupportedMediaType
        | RejectionKind::Unauthenticated
        | RejectionKind::MissingScope
        | RejectionKind::TooManyRequests => ErrorCode::InvalidRequest,
        RejectionKind::UnsupportedVersion => ErrorCode::UnsupportedProtocolVersion,
        RejectionKind::Malformed
        | RejectionKind::InvalidToolId
        | RejectionKind::UnknownTool
        | RejectionKind::UnknownVersion
        | RejectionKind::ToolNotAllowed
        | RejectionKind::MissingRequirements
        | RejectionKind::CannotAsk => ErrorCode::InvalidParams,
        RejectionKind::Unavailable | RejectionKind::Internal => ErrorCode::InternalError,
    }
}

impl From<Rejection> for McpError {
    fn from(rejection: Rejection) -> Self {
        Self::from(&rejection)
    }
}

impl From<&Rejection> for McpError {
    /// Invalid parameters are an error of JSON-RPC alone, and HTTP's status is 200. Every other
    /// rejection keeps its status.
    fn from(rejection: &Rejection) -> Self {
        let description = rejection.describe();
        let code = code(description.kind);
        let error = Self::new(code, description.to_string());
        match code {
            ErrorCode::InvalidParams => error,
            _ => error.status(description.kind.status()),
        }
    }
}

/// Writes a rejection with the header that HTTP requires. `WWW-Authenticate` also says where the
/// metadata of the OAuth resource is and which scopes to ask for (RFC 9728, 5.1).
pub(super) fn encode_rejection(
    rejection: &Rejection,
    id: Option<&Value>,
    pipeline: &Pipeline,
) -> Response {
    let mut response = McpError::from(rejection).encode(id);
    if let Some((name, mut value)) = rejection.header() {
        if let (Some(resource), "www-authenticate") = (&pipeline.settings.mcp_resource, name) {
            let scopes = match rejection {
                Rejection::Unauthenticated { .. } => pipeline.catalog.scopes(),
                _ => Vec::new(),
            };
            value.push_str(&resource_metadata::challenge_parameters(resource, &scopes));
        }
        response.headers.push((name, value.into()));
    }
    response
}
