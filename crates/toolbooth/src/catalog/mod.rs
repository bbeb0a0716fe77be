//! The catalogue: tool ids, versions, definitions, and the lookup of tools.
//!
//! A catalogue is compiled in. `toolbooth-build` checks the definition files and generates the static tables
//! that [`Catalog`] refers to, so that no request has to read, sort or render them.

mod body;
mod definition;
mod http;
mod id;
mod list;
mod search;
mod server;
mod skill;
mod tool;
mod view;

pub use body::{Block, CompressedText, ListBody, decompress};
pub use definition::{
    Annotations, AuthorizationRequirement, Binding, Completion, Csp, Definition, Deprecated,
    Example, ExampleCall, ExampleError, Listing, NoSettings, OAuth2, Prompt, PromptArgument,
    Requirements, Resource, SecretRequirement, TaskSupport, Ui, ViewPermissions, Visibility,
};
pub use http::{
    AuthDefinition, BasicDefinition, BodyDefinition, BodyType, EncodingDefinition, ExampleResponse,
    FailureDefinition, HttpDefinition, HttpMethod, OAuthDefinition, PaginationDefinition,
    ParameterDefinition, ParameterPlace, ParameterStyle, SecretPlaceDefinition, ToolkitDefinition,
    VariableDefinition, VariableKind,
};
pub use id::{InvalidToolId, ToolRef, parse_version};
pub use list::{Entry, List, ListForm, Listed, Lists, Needs, Rendering};
pub use search::{SearchIndex, terms};
pub use semver::Version;
pub use server::ServerInfo;
pub use skill::{Skill, SkillFile, SkillForm};
pub use tool::{
    Authorization, ExternalFn, HeaderParameter, HttpFn, Limit, QueryParameter, QueryValue, Run,
    RunError, SERVICE, Tool, ToolFn, ToolFuture, run,
};
pub use view::{ReadView, View, ViewForm, Views};

use crate::names::order;
use crate::tool::Variable;

/// All tools of a server with their rendered lists.
#[derive(Debug, Clone, Copy)]
pub struct Catalog {
    /// The tools, sorted by toolkit, tool and version.
    pub tools: &'static [Tool],
    /// The names of the tools, sorted, with the index in `tools`. A plain name means the latest version, a
    /// [`versioned_name`] its own.
    pub names: &'static [(&'static str, usize)],
    /// The lists of each protocol that is compiled in.
    pub lists: &'static [Lists],
    /// The variables that the tools read.
    pub variables: &'static [Variable],
    /// How the host calls functions outside of this program; `None` if no tool has one, so that nothing is linked for them, and
    /// in native tests.
    pub external: Option<ExternalFn>,
    /// The views of the tools.
    pub views: Views,
    /// How the server names itself.
    pub server: ServerInfo,
}

/// The name of one version of a tool, for protocols that have names instead of ids: `Name__1_0_0`.
///
/// Plain and versioned names are unique in a catalogue; otherwise the build fails.
pub fn versioned_name(name: &str, version: &Version) -> String {
    format!("{name}__{}_{}_{}", version.major, version.minor, version.patch)
}

/// The result of a lookup.
#[derive(Debug)]
pub enum Found {
    /// The tool.
    Tool(&'static Tool),
    /// The tool exists, but not in this version.
    UnknownVersion(&'static Tool),
    /// The tool does not exist.
    Unknown,
}

impl Catalog {
    /// Whether a tool has a function outside of this program.
    pub const fn has_external(&self) -> bool {
        let mut tools = self.tools;
        while let [tool, rest @ ..] = tools {
            if let Run::External(_) = tool.run {
                return true;
            }
            tools = rest;
        }
        false
    }

    /// Whether a tool can run as a task.
    pub const fn has_tasks(&self) -> bool {
        let mut tools = self.tools;
        while let [tool, rest @ ..] = tools {
            if tool.task.is_some() {
                return true;
            }
            tools = rest;
        }
        false
    }

    /// Finds a tool by its id (OXP call-tool, "Tool Version Resolution"): the exact version if the id has
    /// one, otherwise the highest.
    pub fn find(&self, id: &ToolRef<'_>) -> Found {
        let against =
            |tool: &Tool| order(tool.toolkit, id.toolkit).then_with(|| order(tool.tool, id.tool));
        let start = self.tools.partition_point(|tool| against(tool).is_lt());
        let end = self.tools.partition_point(|tool| against(tool).is_le());
        let versions = self.tools.get(start..end).unwrap_or_default();
        let Some(latest) = versions.last() else { return Found::Unknown };
        match &id.version {
            None => Found::Tool(latest),
            Some(version) => match versions.binary_search_by(|tool| tool.version.cmp(version)) {
                Ok(index) => versions.get(index).map_or(Found::Unknown, Found::Tool),
                Err(_) => Found::UnknownVersion(latest),
            },
        }
    }

    /// Finds a tool by its plain name (the latest version) or its versioned name.
    pub fn named(&self, name: &str) -> Option<&'static Tool> {
        let index = self.names.binary_search_by(|(known, _)| order(known, name)).ok()?;
        self.names.get(index).and_then(|(_, tool)| self.tools.get(*tool))
    }

    /// The scopes that tools require, sorted and without duplicates.
    pub fn scopes(&self) -> Vec<&'static str> {
        // A set or a sort would link more code than this.
        let mut scopes: Vec<&'static str> = Vec::new();
        for scope in self.tools.iter().flat_map(|tool| tool.scopes) {
            if let Err(at) = scopes.binary_search(scope) {
                scopes.insert(at, scope);
            }
        }
        scopes
    }

    /// The index of the search, if the Worker serves it.
    pub fn search_index(&self) -> Option<&'static SearchIndex> {
        self.lists.iter().find_map(|it| it.search.as_ref())
    }

    /// The list with this [`ListForm::name`].
    pub fn list(&self, name: &str) -> Option<&'static List> {
        self.lists.iter().flat_map(|it| it.lists).find(|list| list.name == name)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    #[test]
    fn version_resolution() {
        let catalog = crate::testing::echo::CATALOG;
        // X11 to X14: the requested tool, and the version that runs
        for (requested, expected) in [
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
            let got = match catalog.find(&ToolRef::parse(requested).unwrap()) {
                Found::Tool(tool) => Ok(tool.version.to_string()),
                Found::UnknownVersion(tool) => {
                    Err(format!("no such version of {}.{}", tool.toolkit, tool.tool))
                }
                Found::Unknown => Err("unknown".to_owned()),
            };
            assert_eq!(got, expected.map(str::to_owned).map_err(str::to_owned), "{requested}");
        }
    }

    #[test]
    fn names_and_versioned_names() {
        let catalog = crate::testing::echo::CATALOG;
        for (requested, expected) in [
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
            let got = catalog.named(requested).map(|tool| tool.version.to_string());
            assert_eq!(got.as_deref(), expected, "{requested}");
        }
        for (name, index) in catalog.names {
            let tool = &catalog.tools[*index];
            let versioned = versioned_name(tool.name, &tool.version);
            assert!(*name == tool.name || *name == versioned, "{name}");
        }
    }
}
