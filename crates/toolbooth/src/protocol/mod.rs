//! The protocols, one module each, and the table of all of them.
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
use crate::catalog::ListForm;
use crate::http::{Headers, Response};
use crate::route::Protocol;

/// Turns the rows of the table into [`PROTOCOLS`], [`list_forms`] and [`SAMPLES`](sample).
///
/// They are separate because the Worker contains what it refers to: it must not refer to code that renders
/// lists, which only the build needs, and not to samples, which only tests need.
macro_rules! protocols {
    ($($(#[cfg(feature = $feature:literal)])? $mount:literal => $protocol:path { lists: $lists:expr, samples: $samples:expr })+) => {
        /// The route table: the path that each protocol is mounted at. The first matching prefix of a path
        /// counts, so longer prefixes come first and the root, which matches every path, comes last.
        pub const PROTOCOLS: &[(&str, &Protocol)] = &[$($(#[cfg(feature = $feature)])? ($mount, &$protocol),)+];

        /// Every list of tools that a protocol serves, for the build to render, with the Cargo feature of the protocol.
        pub fn list_forms() -> impl Iterator<Item = (Option<&'static str>, &'static ListForm)> {
            /// A Cargo feature, and the lists of a protocol that needs it.
            type Lists = (Option<&'static str>, &'static [ListForm]);
            const LISTS: &[Lists] = &[$(
                $(#[cfg(feature = $feature)])?
                (protocols!(@feature $($feature)?), $lists),
            )+];
            LISTS.iter().flat_map(|(feature, forms)| forms.iter().map(|form| (*feature, form)))
        }

        /// The sample calls of each protocol, in the order of [`PROTOCOLS`].
        #[cfg(any(test, feature = "testing"))]
        pub const SAMPLES: &[sample::ProtocolSamples] = &[$(
            $(#[cfg(feature = $feature)])?
            sample::ProtocolSamples { mount: $mount, protocol: &$protocol, samples: $samples },
        )+];
    };
    (@feature $feature:literal) => { Some($feature) };
    (@feature) => { None };
}

protocols! {
    "/otc" => envelope::OTC {
        lists: &[envelope::OTC_LIST],
        samples: &[(&["/tools/call", "/call"], &sample::OTC)]
    }
    "/oxp/1.0" => envelope::OXP {
        lists: &[envelope::OXP_LIST],
        samples: &[(&["/tools/call", "/call"], &sample::OXP_ENVELOPE)]
    }
    "/oxp" => oxp::OXP {
        lists: &[oxp::LIST],
        samples: &[(&["/tools/call", "/call"], &sample::FLAT)]
    }
    #[cfg(feature = "xaibo")]
    "/xaibo" => xaibo::XAIBO {
        lists: &[xaibo::LIST],
        samples: &[(&["/execute"], &sample::XAIBO)]
    }
    #[cfg(feature = "rest")]
    "/rest" => rest::REST {
        lists: rest::LISTS,
        samples: &[(&["/{name}"], &sample::REST)]
    }
    "/langchain" => langchain::LANGCHAIN {
        lists: &[],
        samples: &[(&["/tools/call"], &sample::LANGCHAIN)]
    }
    "/opentool" => opentool::OPENTOOL {
        lists: &[opentool::LIST],
        samples: &[(&["/call"], &sample::OPENTOOL), (&["/streamCall"], &sample::OPENTOOL_STREAM)]
    }
    "/jsonrpc" => jsonrpc::JSONRPC {
        lists: &[jsonrpc::LIST],
        samples: &[(&[""], &sample::JSONRPC)]
    }
    #[cfg(feature = "mcp")]
    "/mcp" => mcp::MCP {
        lists: mcp::LISTS,
        samples: &[(&[""], &sample::MCP)]
    }
    #[cfg(feature = "providers")]
    "/providers/openai-responses" => providers::OPENAI_RESPONSES {
        lists: providers::OPENAI_RESPONSES_LISTS,
        samples: &[(&["/call"], &sample::OPENAI_RESPONSES)]
    }
    #[cfg(feature = "providers")]
    "/providers/openai" => providers::OPENAI {
        lists: providers::OPENAI_LISTS,
        samples: &[(&["/call"], &sample::OPENAI)]
    }
    #[cfg(feature = "providers")]
    "/providers/anthropic" => providers::ANTHROPIC {
        lists: providers::ANTHROPIC_LISTS,
        samples: &[(&["/call"], &sample::ANTHROPIC)]
    }
    #[cfg(feature = "providers")]
    "/providers/gemini" => providers::GEMINI {
        lists: providers::GEMINI_LISTS,
        samples: &[(&["/call"], &sample::GEMINI)]
    }
    #[cfg(feature = "providers")]
    "/providers" => providers::CAPABILITIES {
        lists: &[],
        samples: &[(&[], &sample::OPENAI)]
    }
    #[cfg(feature = "gateway")]
    "/2api/v1" => crate::gateway::routes::TWO_API { lists: &[], samples: &[] }
    #[cfg(feature = "gateway")]
    "/v1" => crate::gateway::routes::GATEWAY { lists: &[], samples: &[] }
    #[cfg(feature = "mcp")]
    "/.well-known" => mcp::RESOURCE_METADATA { lists: &[], samples: &[] }
    #[cfg(feature = "mcp")]
    "/doctor" => mcp::DOCTOR { lists: &[], samples: &[] }
    #[cfg(feature = "sign-in")]
    "/oauth/authorize" => crate::sign_in::routes::AUTHORIZATION { lists: &[], samples: &[] }
    #[cfg(feature = "sign-in")]
    "/oauth" => crate::sign_in::routes::CLIENTS { lists: &[], samples: &[] }
    #[cfg(feature = "sign-in")]
    "/account" => crate::sign_in::routes::ACCOUNT { lists: &[], samples: &[] }
    #[cfg(feature = "challenges")]
    "/auth/check" => crate::challenge::routes::CHECK { lists: &[], samples: &[] }
    #[cfg(feature = "challenges")]
    "/auth" => crate::challenge::routes::CONSENT { lists: &[], samples: &[] }
    "" => root::ROOT {
        lists: &[],
        samples: &[
            (&["/tools/call", "/call"], &sample::FLAT),
            (&["/tools/call", "/call"], &sample::OXP_ENVELOPE),
            (&["/tools/call", "/call"], &sample::OTC),
            (&["/tools/call", "/call"], &sample::OPENTOOL),
        ]
    }
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

/// The `check_version` of a protocol that has no header for its version.
pub(crate) fn version_free(_: &dyn Headers) -> Result<(), Rejection> {
    Ok(())
}

#[cfg(test)]
mod tests;
