//! The protocols, one module each.
//!
//! A protocol decodes a body into calls and encodes their outcomes. It knows its wire format and nothing
//! else, except for the protocols it is built on: [`envelope`] on [`oxp`], OpenTool on JSON-RPC, and the root
//! on those that it recognizes. A new protocol is a module and a row in [`CORE`], or in a capability of its own; CONTRIBUTING.md
//! has the checklist.

mod context;
mod definition;
pub mod envelope;
mod health;
pub(crate) mod jsonrpc;
pub mod keywords;
pub(crate) mod langchain;
pub(crate) mod mcp;
pub(crate) mod opentool;
mod other_protocol;
pub mod oxp;
pub(crate) mod rest;
mod root;
mod sample;
pub(crate) mod search;
mod simple_schema;
pub(crate) mod tasks;
pub mod truncation;
pub(crate) mod usage;
pub(crate) mod xaibo;

pub use rest::typescript::type_in_typescript;

pub(crate) use root::ROOT;

use serde::Serialize;

use crate::call::Rejection;
use crate::capability::{Capability, CapabilityLists};
use crate::catalog::{SkillForm, ViewForm};
use crate::http::Response;

/// The protocols of the seeds, and the root of the host.
pub static CORE: Capability = Capability {
    protocols: &[
        ("", &root::ROOT),
        ("/otc", &envelope::OTC),
        ("/oxp/1.0", &envelope::OXP),
        ("/oxp", &oxp::OXP),
        ("/langchain", &langchain::LANGCHAIN),
        ("/opentool", &opentool::OPENTOOL),
        ("/jsonrpc", &jsonrpc::JSONRPC),
    ],
    call_forms: &[
        r#"{"tool_id":"Toolkit.Tool","input":{}} at /call (OXP), or with a name at /langchain/tools/call"#,
        r#"{"request":{"tool_id":"Toolkit.Tool","input":{}}} at /oxp/1.0/call and /otc/call"#,
        r#"{"jsonrpc":"2.0","id":"1","method":"Toolkit_Tool","params":{}} at /jsonrpc and /opentool/call"#,
    ],
    ..Capability::new("protocols")
};

/// The lists of tools, for the build to render. A Worker must not refer to them: they contain the code that renders.
pub static LISTS: &[CapabilityLists] = &[
    CapabilityLists {
        capability: CORE.name,
        forms: &[&[
            envelope::OTC_LIST,
            envelope::OXP_LIST,
            oxp::LIST,
            opentool::LIST,
            jsonrpc::LIST,
        ]],
    },
    CapabilityLists { capability: xaibo::CAPABILITY.name, forms: &[&[xaibo::LIST]] },
    CapabilityLists { capability: rest::CAPABILITY.name, forms: &[rest::LISTS] },
    CapabilityLists { capability: mcp::CAPABILITY.name, forms: &[mcp::LISTS] },
    CapabilityLists { capability: search::CAPABILITY.name, forms: &[&[search::LIST]] },
];

/// What the lists have of skills, for the build to render.
pub static SKILL_FORMS: &[&[SkillForm]] = &[mcp::SKILL_FORMS, rest::SKILL_FORMS];

/// What lists have of views, for the build to render.
pub static VIEW_FORM: ViewForm = mcp::VIEW_FORM;

/// Writes `body` for a rejected request, with the header that HTTP requires.
pub fn rejection_response(
    status: u16,
    rejection: &Rejection,
    body: &(impl Serialize + ?Sized),
) -> Response {
    let mut response = Response::json_of(status, body);
    response.headers.extend(rejection.header().map(|(name, value)| (name, value.into())));
    response
}

/// A response with server-sent events.
fn event_stream(events: String) -> Response {
    let response = Response { body: events.into_bytes().into(), ..Response::empty(200) };
    response.with("content-type", "text/event-stream").with("cache-control", "no-store")
}
