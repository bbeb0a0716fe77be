//! The catalogue: tool ids, versions, definitions, and the lookup of one tool among many.
//!
//! A catalogue is compiled in. `toolbooth-build` checks the definition files and writes the static
//! tables that [`Catalog`] points to; nothing is read, sorted or rendered while a request waits.

mod definition;
mod id;
mod list;
mod permission;
mod tool;

pub use definition::{
    Annotations, AuthorizationRequirement, Definition, Deprecated, Example, ExampleError, OAuth2,
    Prompt, PromptArgument, Requirements, Resource, SecretRequirement,
};
pub use id::{InvalidToolId, ToolRef, parse_version};
pub use list::{Entry, List, ListForm, Listed, Rendering};
pub use semver::Version;
pub use tool::{Authorization, HeaderParameter, RunError, Tool, ToolFn, ToolFuture, run};

use crate::names::order;
use crate::tool::Variable;

/// All tools of a server with their rendered lists.
#[derive(Debug, Clone, Copy)]
pub struct Catalog {
    /// The tools, sorted by toolkit, tool and version.
    pub tools: &'static [Tool],
    /// The names of the tools, sorted: each plain name means the latest version, each
    /// [`versioned_name`] its own. With the tool's place in `tools`.
    pub names: &'static [(&'static str, usize)],
    /// Each protocol's lists of the tools.
    pub lists: &'static [List],
    /// The variables that the tools read.
    pub variables: &'static [Variable],
}

/// The name that means one version of a tool wherever a tool has a name and no id: `Name__1_0_0`.
///
/// The build refuses a catalogue in which two names, plain or versioned, are the same, so that
/// every name leads back to one tool.
pub fn versioned_name(name: &str, version: &Version) -> String {
    format!("{name}__{}_{}_{}", version.major, version.minor, version.patch)
}

/// What became of a lookup.
#[derive(Debug)]
pub enum Found {
    /// The tool that the reference means.
    Tool(&'static Tool),
    /// There is such a tool, but not in that version.
    UnknownVersion(&'static Tool),
    /// There is no such tool.
    Unknown,
}

impl Catalog {
    /// Finds the tool that `wanted` means (OXP call-tool, "Tool Version Resolution"): the exact
    /// version where one is named, the highest otherwise. A binary search, whatever the size.
    pub fn find(&self, wanted: &ToolRef<'_>) -> Found {
        let against = |tool: &Tool| {
            order(tool.toolkit, wanted.toolkit).then_with(|| order(tool.tool, wanted.tool))
        };
        let start = self.tools.partition_point(|tool| against(tool).is_lt());
        let rest = self.tools.get(start..).unwrap_or_default();
        // A tool has few versions.
        let count = rest.iter().take_while(|tool| against(tool).is_eq()).count();
        let versions = rest.get(..count).unwrap_or_default();
        let Some(latest) = versions.last() else { return Found::Unknown };
        match &wanted.version {
            None => Found::Tool(latest),
            Some(version) => match versions.binary_search_by(|tool| tool.version.cmp(version)) {
                Ok(at) => versions.get(at).map_or(Found::Unknown, Found::Tool),
                Err(_) => Found::UnknownVersion(latest),
            },
        }
    }

    /// Finds a tool by its plain name (the latest version) or its versioned name.
    pub fn named(&self, name: &str) -> Option<&'static Tool> {
        let at = self.names.binary_search_by(|(known, _)| order(known, name)).ok()?;
        self.names.get(at).and_then(|(_, tool)| self.tools.get(*tool))
    }

    /// The list that the protocols call `name`.
    pub fn list(&self, name: &str) -> Option<&'static List> {
        self.lists.iter().find(|list| list.name == name)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    #[test]
    fn version_resolution() {
        let catalog = crate::call::tests::CATALOG;
        // X11 to X14: what is asked for, and the version that runs
        for (asked, expected) in [
            ("Echo.Say", Ok("2.0.0")),
            ("Echo.Say@1.0.0", Ok("1.0.0")),
            ("Echo.Say@1", Ok("1.0.0")),
            ("Echo.Say@01", Ok("1.0.0")),
            ("Echo.Say@1.10.0", Ok("1.10.0")),
            ("Echo.Say@2", Ok("2.0.0")),
            ("Echo.Say@2.0.0", Ok("2.0.0")),
            ("Echo.Say@0", Err("no such version of Echo.Say")),
            ("Echo.Say@1.1.0", Err("no such version of Echo.Say")),
            ("Echo.Say@3", Err("no such version of Echo.Say")),
            ("Echo.Say@99999999999999999999999.0.0", Err("no such version of Echo.Say")),
            ("Echo.Shout", Err("unknown")),
            ("Ech.Say", Err("unknown")),
            ("Echo.Say2", Err("unknown")),
            ("Zebra.Say", Err("unknown")),
            ("Aardvark.Say", Err("unknown")),
        ] {
            let got = match catalog.find(&ToolRef::parse(asked).unwrap()) {
                Found::Tool(tool) => Ok(tool.version.to_string()),
                Found::UnknownVersion(tool) => {
                    Err(format!("no such version of {}.{}", tool.toolkit, tool.tool))
                }
                Found::Unknown => Err("unknown".to_owned()),
            };
            assert_eq!(got, expected.map(str::to_owned).map_err(str::to_owned), "{asked}");
        }
    }

    #[test]
    fn names_and_versioned_names() {
        let catalog = crate::call::tests::CATALOG;
        for (asked, expected) in [
            ("Echo_Say", Some("2.0.0")),
            ("Echo_Say__1_0_0", Some("1.0.0")),
            ("Echo_Say__1_10_0", Some("1.10.0")),
            ("Echo_Say__2_0_0", Some("2.0.0")),
            ("Echo_Say__2", None),
            ("Echo_Say__3_0_0", None),
            ("Echo_Say__", None),
            ("echo_say", None),
            ("Echo.Say", None),
            ("", None),
        ] {
            let got = catalog.named(asked).map(|tool| tool.version.to_string());
            assert_eq!(got.as_deref(), expected, "{asked}");
        }
        for (name, at) in catalog.names {
            let tool = &catalog.tools[*at];
            let versioned = versioned_name(tool.name, &tool.version);
            assert!(*name == tool.name || *name == versioned, "{name}");
        }
    }
}
