//! The built-in capabilities, the lists that the build renders, and the samples of the tests.

use crate::account;
use crate::capability::{Capabilities, Capability, CapabilityLists};
use crate::challenge;
use crate::gateway;
use crate::protocol::{CORE, envelope, jsonrpc, mcp, opentool, oxp, providers, rest, xaibo};
use crate::sign_in;

#[cfg(any(test, feature = "testing"))]
pub use testing::{samples, settings};

/// Every capability of this crate, for tests and documentation. A Worker lists those that it serves.
pub static BUILT_IN: &[&Capability] = &[
    &CORE,
    &xaibo::CAPABILITY,
    &rest::CAPABILITY,
    &mcp::CAPABILITY,
    &providers::CAPABILITY,
    &gateway::routes::CAPABILITY,
    &sign_in::routes::CAPABILITY,
    &account::routes::CAPABILITY,
    &challenge::routes::CAPABILITY,
];

/// The same, as a server has them.
pub const ALL: Capabilities = Capabilities(BUILT_IN);

/// Every list of tools that a protocol serves, for the build to render. The Worker must not refer to it: it would contain
/// the code that renders.
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
    CapabilityLists {
        capability: providers::CAPABILITY.name,
        forms: &[
            providers::OPENAI_RESPONSES_LISTS,
            providers::OPENAI_LISTS,
            providers::ANTHROPIC_LISTS,
            providers::GEMINI_LISTS,
        ],
    },
];

/// What only tests need.
#[cfg(any(test, feature = "testing"))]
mod testing {
    use super::*;
    use crate::host::Variables;
    use crate::protocol::{ROOT, langchain, sample};
    use crate::settings::Settings;

    /// The settings of a server with every capability, for tests.
    pub fn settings(host: &dyn Variables) -> Settings {
        Settings::read(host, &ALL.settings(), &[])
    }

    /// The sample calls of each protocol that serves calls.
    pub fn samples() -> impl Iterator<Item = &'static sample::ProtocolSamples> {
        macro_rules! samples {
            ($($mount:literal => $protocol:path: $samples:expr;)*) => {
                &[$(sample::ProtocolSamples { mount: $mount, protocol: &$protocol, samples: $samples },)*]
            };
        }
        const SAMPLES: &[sample::ProtocolSamples] = samples! {
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
            "/xaibo" => xaibo::XAIBO: &[(&["/execute"], &sample::XAIBO)];
            "/rest" => rest::REST: &[(&["/{name}"], &sample::REST)];
            "/mcp" => mcp::MCP: &[(&[""], &sample::MCP)];
            "/providers/openai-responses" => providers::OPENAI_RESPONSES: &[(&["/call"], &sample::OPENAI_RESPONSES)];
            "/providers/openai" => providers::OPENAI: &[(&["/call"], &sample::OPENAI)];
            "/providers/anthropic" => providers::ANTHROPIC: &[(&["/call"], &sample::ANTHROPIC)];
            "/providers/gemini" => providers::GEMINI: &[(&["/call"], &sample::GEMINI)];
            "/providers" => providers::CAPABILITIES: &[(&[], &sample::OPENAI)];
        };
        SAMPLES.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repository;
    use crate::settings::VariableDoc;

    /// `UPDATE_DOCS=1 cargo test -p toolbooth configuration` writes the rows.
    #[test]
    fn the_configuration_is_documented() {
        const FILE: &str = "docs/CONFIGURATION.md";
        let Some(documentation) = repository::text(FILE) else { return };
        let mut lines: Vec<String> = documentation.lines().map(str::to_owned).collect();
        for VariableDoc { name, doc } in ALL.variable_docs() {
            let start = format!("| `{name}`");
            let row = lines.iter_mut().find(|line| line.starts_with(&start));
            let row = row.unwrap_or_else(|| panic!("{FILE} has no row of {name}"));
            // The first cell also says whether it is a secret.
            let (first, _) = row[1..].split_once('|').unwrap();
            *row = format!("|{first}| {doc} |");
        }
        let written = lines.join("\n") + "\n";
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(repository::path(FILE).unwrap(), &written).unwrap();
        } else {
            assert_eq!(
                written, documentation,
                "run UPDATE_DOCS=1 cargo test -p toolbooth configuration"
            );
        }
    }
}
