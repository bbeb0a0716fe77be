//! Protocols: one module each. A protocol decodes bytes into calls and encodes outcomes into bytes; it
//! knows its wire format and nothing else.
//!
//! It knows other protocols only where it builds on them: [`envelope`] on [`oxp`], OpenTool on JSON-RPC,
//! and the root on those that it distinguishes. To add one, add a module next to [`oxp`] and a row in
//! [`PROTOCOLS`], and list its rendered lists in [`list_forms`]: CONTRIBUTING.md has the checklist.

mod consent;
mod context;
pub mod envelope;
mod jsonrpc;
mod keywords;
mod marks;
pub(crate) mod mcp;
mod opentool;
pub mod oxp;
mod page;
mod portable;
mod providers;
mod root;
mod route;
mod xaibo;

pub use consent::ConsentHandler;
pub use page::{Page, PageError};
pub(crate) use root::ROOT;
pub use route::{
    CallHandler, CallResponse, Cors, Handler, MethodHandler, PostRequest, Protocol, Route,
};
use route::{get, post};

use serde::Serialize;

use crate::call::Rejection;
use crate::catalog::ListForm;
use crate::http::{Headers, Response};

/// The route table: where each protocol is mounted. The first mount whose prefix matches a path wins,
/// so longer prefixes come first and the root, which matches every path, last.
pub const PROTOCOLS: &[(&str, &Protocol)] = &[
    ("/otc", &envelope::OTC),
    ("/oxp/1.0", &envelope::OXP),
    ("/oxp", &oxp::OXP),
    ("/xaibo", &xaibo::XAIBO),
    ("/opentool", &opentool::OPENTOOL),
    ("/jsonrpc", &jsonrpc::JSONRPC),
    ("/mcp", &mcp::MCP),
    ("/providers/openai-responses", &providers::OPENAI_RESPONSES),
    ("/providers/openai", &providers::OPENAI),
    ("/providers/anthropic", &providers::ANTHROPIC),
    ("/providers/gemini", &providers::GEMINI),
    ("/providers", &providers::CAPABILITIES),
    ("/.well-known", &mcp::RESOURCE_METADATA),
    ("/auth/check", &consent::CHECK),
    ("/auth", &consent::CONSENT),
    ("", &root::ROOT),
];

/// Every list that some protocol serves of a catalogue, for the build to render.
///
/// They are separate from the protocols because only the build renders them: what nothing in the
/// Worker refers to is not part of it.
pub fn list_forms() -> impl Iterator<Item = &'static ListForm> {
    let lists: &[&[ListForm]] =
        &[&[oxp::LIST], envelope::LISTS, &[opentool::LIST], &[xaibo::LIST], mcp::LISTS];
    lists.iter().chain(providers::LISTS).flat_map(|forms| forms.iter())
}

/// Writes `body` for a rejected request, with the header that HTTP requires.
fn rejected(status: u16, rejection: &Rejection, body: crate::json::Writer) -> Response {
    let mut response = Response::written(status, body);
    response.headers.extend(rejection.header().map(|(name, value)| (name, value.into())));
    response
}

/// The response to a rejected request: `body` in the protocol's format, with the header that HTTP requires.
fn rejection_response(status: u16, rejection: &Rejection, body: &impl Serialize) -> Response {
    let mut response = Response::json_of(status, body);
    response.headers.extend(rejection.header().map(|(name, value)| (name, value.into())));
    response
}

/// The `check_version` of a protocol that has no header for its version.
fn version_free(_: &dyn Headers) -> Result<(), Rejection> {
    Ok(())
}

#[cfg(test)]
mod tests;
