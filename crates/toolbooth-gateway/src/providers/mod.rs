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
mod sample;
pub(crate) mod schema;
mod strict;

pub(crate) use call::{for_model, tool_request};
use error::encode_rejection;
pub(crate) use error::{ErrorBody, ErrorType};
use toolbooth::capability::{Capability, CapabilityLists};
use toolbooth::route::{
    Calls, Document, EncodeRejection, PathSample, Policy, Protocol, Route, for_tests,
};

/// The capability.
pub static CAPABILITY: Capability = Capability {
    protocols: &[
        ("/providers/openai-responses", &OPENAI_RESPONSES),
        ("/providers/openai", &OPENAI),
        ("/providers/anthropic", &ANTHROPIC),
        ("/providers/gemini", &GEMINI),
        ("/providers", &CAPABILITIES),
    ],
    call_forms: &[
        "a model's response, with its tool calls, at /providers/openai/call, /providers/openai-responses/call, \
         /providers/anthropic/call and /providers/gemini/call",
    ],
    ..Capability::new("providers")
};

pub(crate) static OPENAI: Protocol = protocol(
    "openai",
    "OpenAI Chat Completions",
    &[
        Route::get("/tools", Policy::CALLER, &Document(openai::chat_tools)),
        Route::post("/call", Policy::CALLS, &Calls(openai::chat_calls)),
    ],
    &[(&["/call"], &sample::CHAT)],
);
pub(crate) static OPENAI_RESPONSES: Protocol = protocol(
    "openai-responses",
    "OpenAI Responses",
    &[
        Route::get("/tools", Policy::CALLER, &Document(openai::responses_tools)),
        Route::post("/call", Policy::CALLS, &Calls(openai::responses_calls)),
    ],
    &[(&["/call"], &sample::RESPONSES)],
);
pub(crate) static ANTHROPIC: Protocol = protocol(
    "anthropic",
    "Anthropic Messages",
    &[
        Route::get("/tools", Policy::CALLER, &Document(anthropic::tools)),
        Route::post("/call", Policy::CALLS, &Calls(anthropic::calls)),
    ],
    &[(&["/call"], &sample::MESSAGES)],
);
pub(crate) static GEMINI: Protocol = protocol(
    "gemini",
    "Gemini generateContent",
    &[
        Route::get("/tools", Policy::CALLER, &Document(gemini::tools)),
        Route::post("/call", Policy::CALLS, &Calls(gemini::calls)),
    ],
    &[(&["/call"], &sample::CONTENT)],
);
pub(crate) static CAPABILITIES: Protocol = protocol(
    "providers",
    "What model providers support",
    &[Route::get("", Policy::CALLER, &Document(capabilities::page))],
    &[(&[], &sample::CHAT)],
);

/// The lists of tools, for the build to render. A Worker must not refer to them: they contain the code that renders.
pub static LISTS: CapabilityLists = CapabilityLists {
    capability: CAPABILITY.name,
    forms: &[openai::RESPONSES_FORMS, openai::CHAT_FORMS, anthropic::FORMS, gemini::FORMS],
};

const fn protocol(
    name: &'static str,
    title: &'static str,
    routes: &'static [Route],
    samples: &'static [PathSample],
) -> Protocol {
    let errors = EncodeRejection::Plain(encode_rejection);
    Protocol { routes, samples: for_tests(samples), ..Protocol::new(name, title, errors) }
}
