//! JSON-RPC errors: their codes, their data, and the rejections that become one.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;

use super::client_request::{ElicitParams, RequiredCapabilities};
use super::message::{Era, MODERN};
use super::{resource_metadata, response};
use crate::call::{Pipeline, Rejection, RejectionKind};
use crate::http::Response;
use crate::json;
use crate::text::excerpt;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ErrorCode {
    number: i32,
    /// The HTTP status, unless the error has its own.
    status: u16,
    /// Its name in the log.
    pub(super) name: &'static str,
}

impl ErrorCode {
    const PARSE_ERROR: Self = Self::new(-32700, 400, "invalid_json");
    /// The body is not a message, or HTTP or authentication reject it.
    pub(super) const INVALID_REQUEST: Self = Self::new(-32600, 400, "invalid_request");
    const METHOD_NOT_FOUND: Self = Self::new(-32601, 200, "method_not_found");
    /// The method does not accept these parameters.
    pub(super) const INVALID_PARAMS: Self = Self::new(-32602, 200, "invalid_params");
    pub(super) const INTERNAL_ERROR: Self = Self::new(-32603, 500, "server_error");
    /// A header and the body disagree.
    pub(super) const HEADER_MISMATCH: Self = Self::new(-32020, 400, "header_mismatch");
    /// The client lacks a capability that the tool needs.
    pub(super) const MISSING_CAPABILITY: Self = Self::new(-32021, 400, "unanswerable");
    const UNSUPPORTED_VERSION: Self = Self::new(-32022, 400, "unsupported_version");
    /// The user must open a URL (2025-11-25).
    pub(super) const URL_REQUIRED: Self = Self::new(-32042, 200, "missing_requirements");
    /// The resource does not exist (before 2026-07-28).
    const RESOURCE_NOT_FOUND: Self = Self::new(-32002, 200, "resource_not_found");

    const fn new(number: i32, status: u16, name: &'static str) -> Self {
        Self { number, status, name }
    }
}

/// `data` of an error, for programs.
#[derive(Debug, Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub(super) enum ErrorData {
    UnsupportedVersion { supported: [&'static str; 1], requested: String },
    ResourceNotFound { uri: String },
    MissingCapabilities { required_capabilities: RequiredCapabilities },
    Elicitations { elicitations: Vec<ElicitParams> },
}

/// An error that answers a message.
#[derive(Debug)]
pub(super) struct McpError {
    pub(super) code: ErrorCode,
    message: Cow<'static, str>,
    data: Option<ErrorData>,
}

impl McpError {
    pub(super) fn new(code: ErrorCode, message: impl Into<Cow<'static, str>>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// The method does not accept these parameters.
    pub(super) fn invalid_params(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorCode::INVALID_PARAMS, message)
    }

    /// With another HTTP status than that of its code.
    pub(super) fn status(mut self, status: u16) -> Self {
        self.code.status = status;
        self
    }

    pub(super) fn data(self, data: ErrorData) -> Self {
        Self { data: Some(data), ..self }
    }

    /// The method does not exist. 2026-07-28 demands 404 then.
    #[inline(never)]
    pub(super) fn unknown_method(method: &str, era: Era) -> Self {
        let message = format!("Unknown method: {}", excerpt(method));
        let error = Self::new(ErrorCode::METHOD_NOT_FOUND, message);
        if era == Era::Modern { error.status(404) } else { error }
    }

    pub(super) fn unsupported_version(requested: &str) -> Self {
        let message = format!("Unsupported protocol version; use {MODERN}");
        let data =
            ErrorData::UnsupportedVersion { supported: [MODERN], requested: excerpt(requested) };
        Self::new(ErrorCode::UNSUPPORTED_VERSION, message).data(data)
    }

    pub(super) fn unknown_resource(uri: &str, era: Era) -> Self {
        let code = match era {
            Era::Modern => ErrorCode::INVALID_PARAMS,
            Era::Legacy => ErrorCode::RESOURCE_NOT_FOUND,
        };
        Self::new(code, "Resource not found; resources/list returns the available ones")
            .data(ErrorData::ResourceNotFound { uri: excerpt(uri) })
    }

    /// Writes the error; the id is null if the request has none that could be read.
    #[inline(never)]
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
        let ErrorCode { number: code, status, .. } = self.code;
        let error = ErrorObject { code, message: &self.message, data: self.data.as_ref() };
        response::write(status, json::to_vec(&ErrorMessage { jsonrpc: "2.0", id, error }))
    }
}

fn code(kind: RejectionKind) -> ErrorCode {
    match kind {
        RejectionKind::InvalidJson => ErrorCode::PARSE_ERROR,
        RejectionKind::UnsupportedVersion => ErrorCode::UNSUPPORTED_VERSION,
        RejectionKind::Malformed
        | RejectionKind::InvalidToolId
        | RejectionKind::UnknownTool
        | RejectionKind::UnknownVersion
        | RejectionKind::ToolNotAllowed
        | RejectionKind::MissingRequirements
        | RejectionKind::CannotAsk
        | RejectionKind::NeedsTask => ErrorCode::INVALID_PARAMS,
        RejectionKind::Unavailable | RejectionKind::Internal => ErrorCode::INTERNAL_ERROR,
        _ => ErrorCode::INVALID_REQUEST,
    }
}

impl From<Rejection> for McpError {
    fn from(rejection: Rejection) -> Self {
        Self::from(&rejection)
    }
}

impl From<&Rejection> for McpError {
    /// Invalid parameters are an error of JSON-RPC alone, with HTTP's status 200. Other rejections keep theirs.
    fn from(rejection: &Rejection) -> Self {
        let description = rejection.describe();
        let code = code(description.kind);
        let error = Self::new(code, description.to_string());
        let is_param = code == ErrorCode::INVALID_PARAMS;
        if is_param { error } else { error.status(description.kind.status()) }
    }
}

/// Writes a rejection with the header that HTTP requires. `WWW-Authenticate` also says where the
/// metadata of the OAuth resource is and which scopes to ask for (RFC 9728, 5.1).
#[inline(never)]
pub(super) fn encode_rejection(
    rejection: &Rejection,
    id: Option<&Value>,
    pipeline: &Pipeline,
) -> Response {
    let is_unauthenticated = matches!(rejection, Rejection::Unauthenticated { .. });
    let has_resource = pipeline.settings.mcp_resource.is_some();
    let all =
        if is_unauthenticated && has_resource { pipeline.catalog.scopes() } else { Vec::new() };
    encode_asking_for(&all, rejection, id, pipeline)
}

/// Writes a rejection whose `WWW-Authenticate`, if it has one, asks for these scopes besides those that the rejection names.
pub(super) fn encode_asking_for(
    scopes: &[&str],
    rejection: &Rejection,
    id: Option<&Value>,
    pipeline: &Pipeline,
) -> Response {
    let mut response = McpError::from(rejection).encode(id);
    if let Some((name, mut value)) = rejection.header() {
        if let (Some(resource), "www-authenticate") = (&pipeline.settings.mcp_resource, name) {
            value.push_str(&resource_metadata::challenge_parameters(resource, scopes));
        }
        response.headers.push((name, value.into()));
    }
    response
}
