//! Encodes errors as problems (RFC 9457).

use serde::Serialize;
use serde_json::{Map, Value};

use crate::call::{Description, InvalidInput, Rejection, RejectionKind};
use crate::http::Response;
use crate::json;
use crate::protocol::oxp::AuthorizationChallenge;
use crate::tool::ToolError;

#[derive(Default, Serialize)]
struct Problem<'a> {
    r#type: String,
    title: &'a str,
    status: u16,
    #[serde(skip_serializing_if = "str::is_empty")]
    detail: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    parameter_errors: Option<Map<String, Value>>,
    /// What helps a model to correct its input.
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt: Option<&'a str>,
    /// Whether the same call, or one with better input, may succeed.
    #[serde(skip_serializing_if = "Option::is_none")]
    can_retry: Option<bool>,
    /// Milliseconds to wait before the next attempt.
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after_ms: Option<u64>,
    /// For a log.
    #[serde(skip_serializing_if = "Option::is_none")]
    developer_message: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    authorization: Vec<AuthorizationChallenge>,
}

impl<'a> Problem<'a> {
    fn new(status: u16, code: &str, title: &'a str, detail: &'a str) -> Self {
        let r#type = format!("urn:toolbooth:{code}");
        Self { r#type, title, status, detail, ..Self::default() }
    }

    fn into_response(self) -> Response {
        let body = json::to_vec(&self).into();
        let response = Response { body, ..Response::empty(self.status) };
        response.with("content-type", "application/problem+json").with("cache-control", "no-store")
    }
}

/// The problem of a tool that ran and failed. 422, because the request was understood and the server works.
pub(in crate::protocol) fn failed(error: &ToolError) -> Response {
    let problem = Problem {
        prompt: error.additional_prompt_content.as_deref(),
        can_retry: Some(error.can_retry),
        retry_after_ms: error.retry_after_ms,
        developer_message: error.developer_message.as_deref(),
        ..Problem::new(422, "tool_error", "The tool failed", &error.message)
    };
    problem.into_response()
}

pub(super) fn invalid(input: &InvalidInput) -> Response {
    let detail = input.to_string();
    let problem = Problem {
        parameter_errors: Some(input.by_parameter()),
        ..Problem::new(422, "invalid_input", "Some input parameters are invalid", &detail)
    };
    problem.into_response()
}

/// The problem of a rejected request, with the header that HTTP requires.
pub(in crate::protocol) fn reject(rejection: &Rejection) -> Response {
    let Description { kind, message, mut detail } = rejection.describe();
    // The path names the tool, and what a call lacks cannot be sent with it.
    let status = match kind {
        RejectionKind::InvalidToolId
        | RejectionKind::UnknownTool
        | RejectionKind::UnknownVersion => 404,
        RejectionKind::MissingRequirements => 403,
        kind => kind.status(),
    };
    let mut authorization = Vec::new();
    if let Rejection::MissingRequirements(missing) = rejection {
        detail = format!("the call lacks {}{}", missing.things(), missing.granting()).into();
        authorization = AuthorizationChallenge::of(missing);
    }
    let retry_after_ms = rejection.retry_after().map(|seconds| u64::from(seconds) * 1000);
    let problem = Problem {
        retry_after_ms,
        authorization,
        ..Problem::new(status, kind.code(), &message, &detail)
    };
    let mut response = problem.into_response();
    response.headers.extend(rejection.header().map(|(name, value)| (name, value.into())));
    response
}
