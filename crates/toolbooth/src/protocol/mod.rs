//! The protocols, one module each, and the table of the built-in capabilities.
//!
//! A protocol decodes a body into calls and encodes their outcomes. It knows its wire format and nothing
//! else, except for the protocols it is built on: [`envelope`] on [`oxp`], OpenTool on JSON-RPC, and the root
//! on those that it recognizes. A new protocol is a module and a row in the table below; CONTRIBUTING.md has
//! the checklist.

mod bounded;
mod context;
mod discriminator;
pub mod envelope;
mod health;
mod jsonrpc;
mod keywords;
mod langchain;
#[cfg(feature = "mcp")]
pub(crate) mod mcp;
mod opentool;
pub mod oxp;
mod portable;
#[cfg(feature = "providers")]
pub(crate) mod providers;
#[cfg(feature = "rest")]
mod rest;
mod root;
#[cfg(any(test, feature = "testing"))]
pub mod sample;
mod shapes;
#[cfg(feature = "xaibo")]
mod xaibo;

pub(crate) use root::ROOT;

use serde::Serialize;

use crate::call::Rejection;
use crate::capability::Capability;
use crate::catalog::ListForm;
use crate::http::Response;

/// Turns the rows of the table into [`BUILT_IN`], [`list_forms`] and [`samples`](sample).
///
/// They are separate because the Worker contains what it refers to: it must not refer to code that renders
/// lists, which only the build needs, and not to samples, which only tests need.
macro_rules! capabilities {
    ($($(#[cfg(feature = $feature:literal)])? $capability:path {
        lists: $lists:expr,
        samples: { $($mount:literal => $protocol:path: $samples:expr;)* }
    })+) => {
        /// The capabilities of this crate.
        pub const BUILT_IN: &[&Capability] = &[$($(#[cfg(feature = $feature)])? &$capability,)+];

        /// Every list of tools that a protocol serves, for the build to render, with the Cargo feature of the protocol.
        pub fn list_forms() -> impl Iterator<Item = (Option<&'static str>, &'static ListForm)> {
            /// A Cargo feature, and the lists of a capability that needs it.
            type Lists = (Option<&'static str>, &'static [&'static [ListForm]]);
            const LISTS: &[Lists] = &[$(
                $(#[cfg(feature = $feature)])?
                (capabilities!(@feature $($feature)?), $lists),
            )+];
            LISTS.iter().flat_map(|(feature, forms)| {
                forms.iter().copied().flatten().map(|form| (*feature, form))
            })
        }

        /// The sample calls of each protocol that serves calls.
        #[cfg(any(test, feature = "testing"))]
        pub fn samples() -> impl Iterator<Item = &'static sample::ProtocolSamples> {
            const SAMPLES: &[&[sample::ProtocolSamples]] = &[$(
                $(#[cfg(feature = $feature)])?
                &[$(sample::ProtocolSamples { mount: $mount, protocol: &$protocol, samples: $samples },)*],
            )+];
            SAMPLES.iter().copied().flatten()
        }
    };
    (@feature $feature:literal) => { Some($feature) };
    (@feature) => { None };
}
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

capabilities! {
    CORE {
        lists: &[&[envelope::OTC_LIST, envelope::OXP_LIST, oxp::LIST, opentool::LIST, jsonrpc::LIST]],
        samples: {
            "" => root::ROOT: &[
                (&["/tools/call", "/call"], &sample::FLAT),
                (&["/tools/call", "/call"], &sample::OXP_ENVELOPE),
                (&["/tools/call", "/call"], &sample::OTC),
                (&["/tools/call", "/call"], &sample::OPENTOOL),
            ];
            "/otc" => envelope::OTC: &[(&["/tools/call", "/call"], &sample::OTC)];
            "/oxp/1.0" => envelope::OXP: &[(&["/tools/call", "/call"], &sample::OXP_ENVELOPE)];
            "/oxp" => oxp::OXP: &[(&["/tools/call", "/call"], &sample::FLAT)];
            "/langchain" => langchain::LANGCHAIN: &[(&["/tools/call"], &sample::LANGCHAIN)];
            "/opentool" => opentool::OPENTOOL: &[
                (&["/call"], &sample::OPENTOOL),
                (&["/streamCall"], &sample::OPENTOOL_STREAM),
            ];
            "/jsonrpc" => jsonrpc::JSONRPC: &[(&[""], &sample::JSONRPC)];
        }
    }
    #[cfg(feature = "xaibo")]
    xaibo::CAPABILITY {
        lists: &[&[xaibo::LIST]],
        samples: { "/xaibo" => xaibo::XAIBO: &[(&["/execute"], &sample::XAIBO)]; }
    }
    #[cfg(feature = "rest")]
    rest::CAPABILITY {
        lists: &[rest::LISTS],
        samples: { "/rest" => rest::REST: &[(&["/{name}"], &sample::REST)]; }
    }
    #[cfg(feature = "mcp")]
    mcp::CAPABILITY {
        lists: &[mcp::LISTS],
        samples: { "/mcp" => mcp::MCP: &[(&[""], &sample::MCP)]; }
    }
    #[cfg(feature = "providers")]
    providers::CAPABILITY {
        lists: &[
            providers::OPENAI_RESPONSES_LISTS,
            providers::OPENAI_LISTS,
            providers::ANTHROPIC_LISTS,
            providers::GEMINI_LISTS,
        ],
        samples: {
            "/providers/openai-responses" => providers::OPENAI_RESPONSES:
                &[(&["/call"], &sample::OPENAI_RESPONSES)];
            "/providers/openai" => providers::OPENAI: &[(&["/call"], &sample::OPENAI)];
            "/providers/anthropic" => providers::ANTHROPIC: &[(&["/call"], &sample::ANTHROPIC)];
            "/providers/gemini" => providers::GEMINI: &[(&["/call"], &sample::GEMINI)];
            "/providers" => providers::CAPABILITIES: &[(&[], &sample::OPENAI)];
        }
    }
    #[cfg(feature = "gateway")]
    crate::gateway::routes::CAPABILITY { lists: &[], samples: {} }
    #[cfg(feature = "sign-in")]
    crate::sign_in::routes::CAPABILITY { lists: &[], samples: {} }
    #[cfg(feature = "challenges")]
    crate::challenge::routes::CAPABILITY { lists: &[], samples: {} }
}

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
