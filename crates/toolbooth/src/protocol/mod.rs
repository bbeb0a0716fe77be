//! The protocols, one module each.
//!
//! A protocol decodes a body into calls and encodes their outcomes. It knows its wire format and nothing
//! else, except for the protocols it is built on: [`envelope`] on [`oxp`], OpenTool on JSON-RPC, and the root
//! on those that it recognizes. A new protocol is a module and a row in the table of `built_in`; CONTRIBUTING.md
//! has the checklist.

mod bounded;
mod context;
mod discriminator;
pub mod envelope;
mod health;
pub(crate) mod jsonrpc;
mod keywords;
pub(crate) mod langchain;
#[cfg(feature = "mcp")]
pub(crate) mod mcp;
pub(crate) mod opentool;
pub mod oxp;
mod portable;
#[cfg(feature = "providers")]
pub(crate) mod providers;
#[cfg(feature = "rest")]
pub(crate) mod rest;
mod root;
#[cfg(any(test, feature = "testing"))]
pub mod sample;
mod shapes;
#[cfg(feature = "xaibo")]
pub(crate) mod xaibo;

pub(crate) use root::ROOT;

use serde::Serialize;

use crate::call::Rejection;
use crate::capability::Capability;
use crate::http::Response;

/// The protocols of the seeds, and the root of the host.
pub(crate) static CORE: Capability = Capability {
    name: "protocols",
    protocols: &[
        ("", &root::ROOT),
        ("/otc", &envelope::OTC),
        ("/oxp/1.0", &envelope::OXP),
        ("/oxp", &oxp::OXP),
        ("/langchain", &langchain::LANGCHAIN),
        ("/opentool", &opentool::OPENTOOL),
        ("/jsonrpc", &jsonrpc::JSONRPC),
    ],
    variables: &[],
};

/// Writes `body` for a rejected request, with the header that HTTP requires.
pub(crate) fn rejection_response(
    status: u16,
    rejection: &Rejection,
    body: &(impl Serialize + ?Sized),
) -> Response {
    let mut response = Response::json_of(status, body);
    response.headers.extend(rejection.header().map(|(name, value)| (name, value.into())));
    response
}

#[cfg(test)]
mod tests;
