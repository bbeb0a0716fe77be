//! The catalogue: tool ids, versions, definitions, and the lookup of one tool among many.
//!
//! A catalogue is compiled in. `toolbooth-build` checks the definition files and writes the static
//! tables that [`Catalog`] points to; nothing is read, sorted or rendered while a request waits.

mod definition;
mod id;
mod tool;

pub use definition::{
    Annotations, AuthorizationRequirement, Definition, Deprecated, Example, ExampleError, OAuth2,
    Requirements, SecretRequirement,
};
pub use id::{InvalidToolId, ToolRef, parse_version};
pub use semver::Version;
pub use tool::{Handler, RunError, Tool, Validator, run};

use crate::config::Variable;

/// All tools of a booth with their rendered lists.
#[derive(Debug, Clone, Copy)]
pub struct Catalog {
    /// The tools, sorted by toolkit, tool and version.
    pub tools: &'static [Tool],
    /// Each protocol's list of the tools.
    pub lists: Lists,
    /// The variables that the tools read.
    pub variables: &'static [Variable],
}

/// The list of all tools in each protocol's form.
#[derive(Debug, Clone, Copy)]
pub struct Lists {
    /// OXP, [`crate::dialect::oxp::render_list`].
    pub oxp: List,
}

/// A list rendered at build time.
#[derive(Debug, Clone, Copy)]
pub struct List {
    /// The response body.
    pub body: &'static [u8],
    /// A strong entity tag of `body`, with its quotes.
    pub etag: &'static str,
}

/// What became of a lookup.
#[derive(Debug)]
pub enum Found {
    /// The tool that the reference means.
    Tool(&'static Tool),
    /// There is such a tool, but not in that version.
    NoSuchVersion(&'static Tool),
    /// There is no such tool.
    Unknown,
}

impl Catalog {
    /// Finds the tool that `wanted` means (OXP call-tool, "Tool Version Resolution"): the exact
    /// version where one is named, the highest otherwise. Two binary searches, whatever the size.
    pub fn find(&self, wanted: &ToolRef<'_>) -> Found {
        let key = (wanted.toolkit, wanted.tool);
        let start = self.tools.partition_point(|tool| (tool.toolkit, tool.tool) < key);
        let rest = self.tools.get(start..).unwrap_or_default();
        let count = rest.partition_point(|tool| (tool.toolkit, tool.tool) == key);
        let versions = rest.get(..count).unwrap_or_default();
        let Some(latest) = versions.last() else { return Found::Unknown };
        match &wanted.version {
            None => Found::Tool(latest),
            Some(version) => match versions.binary_search_by(|tool| tool.version.cmp(version)) {
                Ok(at) => versions.get(at).map_or(Found::Unknown, Found::Tool),
                Err(_) => Found::NoSuchVersion(latest),
            },
        }
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
                Found::NoSuchVersion(tool) => {
                    Err(format!("no such version of {}.{}", tool.toolkit, tool.tool))
                }
                Found::Unknown => Err("unknown".to_owned()),
            };
            assert_eq!(got, expected.map(str::to_owned).map_err(str::to_owned), "{asked}");
        }
    }
}
