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

use super::{Cors, Handler, Protocol, Route, get, post, rejected, version_free};
use crate::call::{Pipeline, Rejection, RejectionKind};
use crate::catalog::ListForm;
use crate::http::Response;
use crate::json::Writer;

/// OpenAI Chat Completions.
pub(super) static OPENAI: Protocol = protocol(
    "openai",
    "OpenAI Chat Completions",
    &[
        Route { path: "/tools", methods: &[get(Handler::List(openai::chat_tools))] },
        Route { path: "/call", methods: &[post(Handler::Call(call::openai))] },
    ],
);
/// OpenAI Responses.
pub(super) static OPENAI_RESPONSES: Protocol = protocol(
    "openai-responses",
    "OpenAI Responses",
    &[
        Route { path: "/tools", methods: &[get(Handler::List(openai::responses_tools))] },
        Route { path: "/call", methods: &[post(Handler::Call(call::openai_responses))] },
    ],
);
/// Anthropic Messages.
pub(super) static ANTHROPIC: Protocol = protocol(
    "anthropic",
    "Anthropic Messages",
    &[
        Route { path: "/tools", methods: &[get(Handler::List(anthropic::tools))] },
        Route { path: "/call", methods: &[post(Handler::Call(call::anthropic))] },
    ],
);
/// Gemini generateContent.
pub(super) static GEMINI: Protocol = protocol(
    "gemini",
    "Gemini generateContent",
    &[
        Route { path: "/tools", methods: &[get(Handler::List(gemini::tools))] },
        Route { path: "/call", methods: &[post(Handler::Call(call::gemini))] },
    ],
);
/// What the providers support, for all four.
pub(super) static CAPABILITIES: Protocol = protocol(
    "providers",
    "What model providers support",
    &[Route { path: "", methods: &[get(Handler::List(capabilities::page))] }],
);

/// The lists of [`OPENAI`].
pub(super) const OPENAI_LISTS: &[ListForm] = openai::CHAT_FORMS;
/// The lists of [`OPENAI_RESPONSES`].
pub(super) const OPENAI_RESPONSES_LISTS: &[ListForm] = openai::RESPONSES_FORMS;
/// The lists of [`ANTHROPIC`].
pub(super) const ANTHROPIC_LISTS: &[ListForm] = anthropic::FORMS;
/// The lists of [`GEMINI`].
pub(super) const GEMINI_LISTS: &[ListForm] = gemini::FORMS;

const fn protocol(name: &'static str, title: &'static str, routes: &'static [Route]) -> Protocol {
    Protocol {
        name,
        title,
        listed: true,
        routes,
        check_version: version_free,
        encode_rejection,
        response_headers: &[],
        cors: Cors::Configured,
    }
}

/// Writes a rejection in the format of 2api.ai's 5.4.
fn encode_rejection(rejection: &Rejection, _: &Pipeline) -> Response {
    let description = rejection.describe();
    let kind = description.kind;
    rejected(kind.status(), rejection, body(kind.code(), class(kind), &description.to_string()))
}

/// The `type` of an error.
fn class(kind: RejectionKind) -> &'static str {
    match kind {
        RejectionKind::Unauthenticated => "authentication_error",
        RejectionKind::ForbiddenOrigin
        | RejectionKind::ToolNotAllowed
        | RejectionKind::MissingScope => "permission_error",
        RejectionKind::TooManyRequests => "rate_limit_error",
        RejectionKind::Unavailable | RejectionKind::Internal => "server_error",
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
        | RejectionKind::CannotAsk => "invalid_request_error",
    }
}

/// What went wrong with a request as a whole, in the form of 2api.ai's 5.4: `code` is a word for
/// programs, `message` says what went wrong, where, and what was expected. `class` is
/// `invalid_request_error`, `authentication_error`, `permission_error`, `rate_limit_error`,
/// `semantic_error` or `server_error`.
fn error(status: u16, code: &'static str, class: &'static str, message: &str) -> Response {
    Response::written(status, body(code, class, message))
}

fn body(code: &str, class: &str, message: &str) -> Writer {
    let mut body = Writer::new();
    body.json(r#"{"error":{"code":"#).string(code).json(r#","message":"#).string(message);
    body.json(r#","type":"#).string(class).json("}}");
    body
}
