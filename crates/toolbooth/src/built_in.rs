//! The table of the built-in capabilities, with the lists that the build renders and the samples of the tests.

#[cfg(feature = "sign-in")]
use crate::account;
#[cfg(feature = "challenges")]
use crate::callback;
use crate::capability::Capability;
use crate::catalog::ListForm;
#[cfg(feature = "challenges")]
use crate::challenge;
#[cfg(feature = "gateway")]
use crate::gateway;
#[cfg(feature = "mcp")]
use crate::protocol::mcp;
#[cfg(feature = "providers")]
use crate::protocol::providers;
#[cfg(feature = "rest")]
use crate::protocol::rest;
#[cfg(any(test, feature = "testing"))]
use crate::protocol::sample;
#[cfg(feature = "xaibo")]
use crate::protocol::xaibo;
use crate::protocol::{CORE, envelope, jsonrpc, opentool, oxp};
#[cfg(any(test, feature = "testing"))]
use crate::protocol::{ROOT, langchain};
#[cfg(feature = "sign-in")]
use crate::sign_in;

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
capabilities! {
    CORE {
        lists: &[&[envelope::OTC_LIST, envelope::OXP_LIST, oxp::LIST, opentool::LIST, jsonrpc::LIST]],
        samples: {
            "" => ROOT: &[
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
    gateway::routes::CAPABILITY { lists: &[], samples: {} }
    #[cfg(feature = "sign-in")]
    sign_in::routes::CAPABILITY { lists: &[], samples: {} }
    #[cfg(feature = "sign-in")]
    account::routes::CAPABILITY { lists: &[], samples: {} }
    #[cfg(feature = "challenges")]
    challenge::routes::CAPABILITY { lists: &[], samples: {} }
    #[cfg(feature = "challenges")]
    callback::CAPABILITY { lists: &[], samples: {} }
}
