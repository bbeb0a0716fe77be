//! Anthropic Messages.

mod answer;
mod block;
mod checks;
mod content;
pub(in crate::gateway) mod estimate;
pub(in crate::gateway) mod models;
mod native;
mod part;
mod repair;
mod request;
mod stream;
mod thinking;
mod tools;
mod waiting;

use std::borrow::Cow;

use serde::Serialize;

use crate::gateway::answer::completion::CompletionInfo;
use crate::gateway::conversation::request::ChatRequest;
use crate::gateway::error::{ErrorDetails, ErrorKind, GatewayError, Result};
use crate::gateway::format::adapter::Format;
use crate::gateway::format::front::Answer;
use crate::gateway::format::front::EventEncoder;
use crate::gateway::format::front::Front;
use crate::gateway::format::front::RequestLimits;
use crate::gateway::notes::{Notes, renamed};
use crate::wire::Media;
use stream::MessageEncoder;
use toolbooth::call::{Pipeline, Rejection};
use toolbooth::http::{Headers, Response};
use toolbooth::json;
use toolbooth::protocol::rejection_response;
use toolbooth::route::RouteRequest;

/// Requests for messages, or only for the number of their tokens.
#[derive(Debug)]
pub(crate) struct Messages {
    pub(crate) counts_only: bool,
}

impl Front for Messages {
    fn decode(&self, body: &str, headers: &dyn Headers, notes: &Notes) -> Result<ChatRequest> {
        request::decode(body, headers, notes, self.counts_only)
    }

    fn reads(&self, format: Format) -> bool {
        format == Format::Anthropic
    }

    fn has_place_for(&self, _: &Media<'_>) -> bool {
        false
    }

    fn limits(&self) -> RequestLimits {
        RequestLimits::Agents
    }

    fn encode(&self, answer: &Answer<'_>) -> Vec<u8> {
        answer::encode(answer)
    }

    fn events(&self, request: &ChatRequest, info: CompletionInfo) -> Box<dyn EventEncoder> {
        Box::new(MessageEncoder::new(request, info))
    }

    fn keep_alive(&self) -> &'static [u8] {
        b"event: ping\ndata: {\"type\":\"ping\"}\n\n"
    }

    fn status(&self, error: &GatewayError) -> u16 {
        status(error.kind)
    }

    fn error(&self, error: &GatewayError) -> Vec<u8> {
        json::to_vec(&error_body(error))
    }
}

#[derive(Serialize)]
#[serde(tag = "type", rename = "error")]
struct ErrorBody<'a> {
    error: ErrorObject<'a>,
    request_id: Option<&'a str>,
}

#[derive(Serialize)]
struct ErrorObject<'a> {
    r#type: &'static str,
    message: Cow<'a, str>,
}

impl<'a> ErrorBody<'a> {
    fn new(status: u16, message: Cow<'a, str>) -> Self {
        Self { error: ErrorObject { r#type: error_type(status), message }, request_id: None }
    }
}

/// The status of an error. Anthropic has one of its own for models that are overloaded, which its SDKs and proxies know.
fn status(kind: ErrorKind) -> u16 {
    if kind == ErrorKind::Overloaded { 529 } else { kind.status() }
}

/// The type of Anthropic's errors with a status.
fn error_type(status: u16) -> &'static str {
    match status {
        401 => "authentication_error",
        402 => "billing_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        504 => "timeout_error",
        529 => "overloaded_error",
        400..=499 => "invalid_request_error",
        _ => "api_error",
    }
}

/// An error, whose message says where the fault is: the form has no member for that.
fn error_body(error: &GatewayError) -> ErrorBody<'_> {
    let ErrorDetails { kind, message, param, .. } = &**error;
    let message = match param.as_deref().map(|param| (param, own_path(param))) {
        None => Cow::Borrowed(message.as_str()),
        Some((param, path)) if message.contains(param) => message.replace(param, &path).into(),
        Some((_, path)) => format!("{path}: {message}").into(),
    };
    ErrorBody::new(status(*kind), message)
}

/// A path in the gateway's form of a request as clients of this format write it.
fn own_path(path: &str) -> String {
    let path = path.replace(".function.parameters", ".input_schema").replace(".function.", ".");
    renamed(&path, NAMES)
}

/// Members of the gateway's form of a request, and what they are called in this one.
const NAMES: &[(&str, &str)] = &[
    ("max_completion_tokens", "max_tokens"),
    ("messages[].extra_content.anthropic", "messages[].content[].thinking"),
    ("parallel_tool_calls", "tool_choice.disable_parallel_tool_use"),
    ("reasoning_effort", "output_config.effort"),
    ("response_format.json_schema", "output_config.format"),
    ("response_format", "output_config.format"),
    ("safety_identifier", "metadata.user_id"),
    ("stop", "stop_sequences"),
];

/// The response to a request that the policy of its route rejects.
pub(crate) fn encode_rejection(rejection: &Rejection, _: &Pipeline) -> Response {
    let description = rejection.describe();
    let status = description.kind.status();
    let message = description.to_string();
    rejection_response(status, rejection, &ErrorBody::new(status, message.into()))
}

/// The response to a client of Anthropic whose request for a list is rejected.
pub(crate) fn list_rejection(
    rejection: &Rejection,
    request: &RouteRequest<'_>,
) -> Option<Response> {
    let description = rejection.describe();
    let status = description.kind.status();
    models::is_asked_for(request.headers)
        .then(|| Response::json_of(status, &ErrorBody::new(status, description.to_string().into())))
}

#[cfg(test)]
mod tests;
