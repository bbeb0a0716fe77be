//! The function-calling formats of model providers (2api.ai, "Tool Calling", 3 to 7): each provider's own
//! tool list, calls and results.
//!
//! The client sits between the model and the server. It sends the tool list to the model, posts the model's
//! response here, and appends the results to its conversation with the model.

pub(crate) mod anthropic;
mod call;
mod capabilities;
mod error;
pub(crate) mod gemini;
mod list;
pub(crate) mod openai;
mod parameters;
mod query;
pub(crate) mod schema;
mod strict;

use super::{Cors, EncodeRejection, Handler, Protocol, Route, get, post, version_free};
use crate::catalog::ListForm;
pub(crate) use call::for_model;
pub(crate) use error::ErrorType;
use error::encode_rejection;

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
/// What each provider supports.
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
        encode_rejection: EncodeRejection::Plain(encode_rejection),
        response_headers: &[],
        cors: Cors::Configured,
    }
}
