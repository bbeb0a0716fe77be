//! The function-calling formats of model providers, as 2api.ai unifies them (its pages
//! "Tool Calling" 3 to 7): each provider's own tool list, and its own form of calls and results.
//!
//! The client stays between the model and the server: it takes the list from here, shows it to the
//! model, posts here what the model answered, and sends back to the model what it gets.

mod anthropic;
mod call;
mod capabilities;
mod gemini;
mod list;
mod openai;
mod parameters;
mod query;
mod schema;
mod strict;

use super::{Handler, Protocol, Route, no_version, unsigned};
use crate::call::{Rejection, asks_back};
use crate::catalog::ListForm;
use crate::http::Response;
use crate::json::Writer;

/// OpenAI Chat Completions.
pub(super) static OPENAI: Protocol = protocol(
    "openai",
    "OpenAI Chat Completions",
    &[Route { path: "/tools", action: Handler::Read(openai::chat_tools) }, call::OPENAI],
);
/// OpenAI Responses.
pub(super) static OPENAI_RESPONSES: Protocol = protocol(
    "openai-responses",
    "OpenAI Responses",
    &[
        Route { path: "/tools", action: Handler::Read(openai::responses_tools) },
        call::OPENAI_RESPONSES,
    ],
);
/// Anthropic Messages.
pub(super) static ANTHROPIC: Protocol = protocol(
    "anthropic",
    "Anthropic Messages",
    &[Route { path: "/tools", action: Handler::Read(anthropic::tools) }, call::ANTHROPIC],
);
/// Gemini generateContent.
pub(super) static GEMINI: Protocol = protocol(
    "gemini",
    "Gemini generateContent",
    &[Route { path: "/tools", action: Handler::Read(gemini::tools) }, call::GEMINI],
);
/// What the providers can do, for all four.
pub(super) static CAPABILITIES: Protocol = protocol(
    "providers",
    "What model providers take",
    &[Route { path: "", action: Handler::Read(capabilities::page) }],
);

/// The lists of all four.
pub(super) const LISTS: &[&[ListForm]] =
    &[openai::CHAT_FORMS, openai::RESPONSES_FORMS, anthropic::FORMS, gemini::FORMS];

const fn protocol(
    name: &'static str,
    title: &'static str,
    endpoints: &'static [Route],
) -> Protocol {
    Protocol {
        name,
        title,
        endpoints,
        check: no_version,
        reject,
        decorate: unsigned,
        web_clients: false,
    }
}

/// Tells why a request was turned away.
pub(super) fn reject(rejection: Rejection) -> Response {
    let (status, code, class, message) = match rejection {
        Rejection::NotFound => (
            404,
            "not_found",
            "invalid_request_error",
            "There is nothing at this address; GET / lists the addresses".to_owned(),
        ),
        Rejection::MethodNotAllowed { allow } => {
            let message = format!("This address takes {allow}");
            return error(405, "method_not_allowed", "invalid_request_error", message)
                .with("allow", allow);
        }
        Rejection::ForbiddenOrigin => (
            403,
            "origin_not_allowed",
            "permission_error",
            "Pages of the request's Origin may not call; see ALLOWED_ORIGINS".to_owned(),
        ),
        Rejection::TooLarge { limit } => (
            413,
            "request_too_large",
            "invalid_request_error",
            format!("The body may have at most {limit} bytes"),
        ),
        Rejection::NotJson => (
            415,
            "unsupported_media_type",
            "invalid_request_error",
            "Send the header Content-Type: application/json".to_owned(),
        ),
        Rejection::InvalidJson(detail) => (
            400,
            "invalid_json",
            "invalid_request_error",
            format!("The body is not valid JSON: {detail}"),
        ),
        Rejection::Malformed(detail) => (400, "invalid_request", "invalid_request_error", detail),
        Rejection::UnsupportedVersion { supported } => (
            400,
            "unsupported_version",
            "invalid_request_error",
            format!("The version must be {supported}"),
        ),
        Rejection::InvalidToolId
        | Rejection::UnknownTool { .. }
        | Rejection::NoSuchVersion { .. } => {
            (400, "tool_not_found", "invalid_request_error", "There is no such tool".to_owned())
        }
        Rejection::Forbidden { name } => (
            403,
            "tool_not_allowed",
            "permission_error",
            format!("Tool '{name}' may not be called"),
        ),
        Rejection::Unauthenticated { reason, .. } => (
            401,
            "unauthenticated",
            "authentication_error",
            format!("The request needs valid credentials: {reason}"),
        ),
        Rejection::MissingScope { name, scopes } => (
            403,
            "missing_scope",
            "permission_error",
            format!("Tool '{name}' requires the scopes: {}", scopes.join(" ")),
        ),
        Rejection::TooManyRequests { retry_after } => (
            429,
            "too_many_requests",
            "rate_limit_error",
            format!("Too many calls; try again after {retry_after} seconds"),
        ),
        Rejection::MissingRequirements(_) => (
            400,
            "missing_requirements",
            "invalid_request_error",
            "The call lacks what the tool requires".to_owned(),
        ),
        Rejection::Unanswerable { lacking, .. } => {
            (400, "unanswerable", "invalid_request_error", asks_back(&lacking))
        }
        Rejection::Unavailable(detail) => (
            503,
            "unavailable",
            "server_error",
            format!("The tool server is temporarily unavailable: {detail}"),
        ),
        Rejection::Failed => {
            (500, "server_error", "server_error", "The tool server failed".to_owned())
        }
    };
    error(status, code, class, message)
}

/// What went wrong with a request as a whole, in the form of 2api.ai's 5.4: `code` is a word for
/// programs, `message` says what went wrong, where, and what was expected. `class` is
/// `invalid_request_error`, `authentication_error`, `permission_error`, `rate_limit_error`,
/// `semantic_error` or `server_error`.
fn error(status: u16, code: &'static str, class: &'static str, message: String) -> Response {
    let mut body = Writer::new();
    body.json(r#"{"error":{"code":"#).string(code).json(r#","message":"#).string(&message);
    body.json(r#","type":"#).string(class).json("}}");
    Response::written(status, body)
}
