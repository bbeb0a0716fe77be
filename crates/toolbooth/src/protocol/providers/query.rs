//! The query of a provider's list: which tools, in which versions.

use super::parameters::{self, either};
use crate::call::{Rejection, RequestContext};
use crate::catalog::{Catalog, Found, InvalidToolId, Tool, ToolRef, Version, parse_version};
use crate::settings::Permission;
use crate::text::excerpt;

const PARAMETERS: [&str; 5] = ["strict", "include", "toolkit", "version", "skip_incompatible"];
const FLAG: [&str; 2] = ["true", "false"];

/// What a client asks of a list. Each parameter narrows it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Query {
    /// `strict=true|false`: tools whose calls the provider holds to the schema. Default: false.
    pub(super) strict: bool,
    /// `skip_incompatible=true|false`: leave out tools that the provider does not take, instead of
    /// refusing. Default: false.
    pub(super) skip_incompatible: bool,
    /// `version=latest|all|x.y.z`, for tools that `include` does not name with a version. Default:
    /// latest.
    version: Versions,
    /// `include=a,b`: these tools only, by name, versioned name or id.
    include: Option<Vec<String>>,
    /// `toolkit=X,Y`: tools of these toolkits only.
    toolkit: Option<Vec<String>>,
}

#[derive(Debug, PartialEq, Eq)]
enum Versions {
    Latest,
    All,
    One(Version),
}

impl Query {
    /// Reads a query.
    ///
    /// # Errors
    /// [`Rejection::Malformed`]: a parameter that there is not, that stands there twice, or that has
    /// another value.
    pub(super) fn read(query: &str) -> Result<Self, Rejection> {
        let mut read = Self {
            strict: false,
            skip_incompatible: false,
            version: Versions::Latest,
            include: None,
            toolkit: None,
        };
        parameters::each(query, &PARAMETERS, |name, value| {
            match name {
                "strict" => read.strict = either(name, value, FLAG)?,
                "skip_incompatible" => read.skip_incompatible = either(name, value, FLAG)?,
                "version" => read.version = versions(value)?,
                "include" => read.include = Some(names(name, value)?),
                _ => read.toolkit = Some(names(name, value)?),
            }
            Ok(())
        })
        .map_err(wrong)?;
        Ok(read)
    }

    /// The places of the tools that are asked for and may be called.
    ///
    /// # Errors
    /// [`Rejection::UnknownTool`] and its like for a tool that is asked for by name and not there,
    /// [`Rejection::ToolNotAllowed`] and [`Rejection::MissingScope`] for one that may not be called,
    /// [`Rejection::Malformed`] for a toolkit or version that no tool has.
    pub(super) fn tools(
        &self,
        context: &RequestContext<'_>,
    ) -> Result<Vec<&'static Tool>, Rejection> {
        let catalog = context.pipeline.catalog;
        let mut tools: Vec<&Tool> = match &self.include {
            None => catalog.tools.iter().filter(|tool| self.version.has(tool, catalog)).collect(),
            Some(names) => {
                let mut included = Vec::new();
                for name in names {
                    included.extend(self.included(name, context)?);
                }
                included
            }
        };
        for toolkit in self.toolkit.iter().flatten() {
            if !catalog.tools.iter().any(|tool| tool.toolkit == toolkit) {
                return Err(wrong(format!(
                    "toolkit: there is no toolkit \"{}\"; expected the part of a tool's id before the dot",
                    excerpt(toolkit)
                )));
            }
        }
        if let Some(toolkits) = &self.toolkit {
            tools.retain(|tool| toolkits.iter().any(|one| one == tool.toolkit));
        }
        if let (true, Versions::One(version)) = (tools.is_empty(), &self.version) {
            return Err(wrong(format!("version: no tool that is asked for has version {version}")));
        }
        tools.retain(|tool| context.allows(tool));
        Ok(tools)
    }

    /// The versions that one name in `include` means.
    fn included(
        &self,
        name: &str,
        context: &RequestContext<'_>,
    ) -> Result<Vec<&'static Tool>, Rejection> {
        let catalog = context.pipeline.catalog;
        let unknown = || Rejection::UnknownTool { id: excerpt(name), name: excerpt(name) };
        let (tool, exact) = match (catalog.named(name), ToolRef::parse(name)) {
            (Some(tool), _) => (tool, tool.name != name),
            (None, Ok(id)) => match catalog.find(&id) {
                Found::Tool(tool) => (tool, id.version.is_some()),
                Found::UnknownVersion(tool) => {
                    let version = id.version.map_or_else(String::new, |it| it.to_string());
                    let id = format!("{}.{}", tool.toolkit, tool.tool);
                    return Err(Rejection::UnknownVersion { id, name: tool.name, version });
                }
                Found::Unknown => return Err(unknown()),
            },
            (None, Err(InvalidToolId)) => return Err(unknown()),
        };
        let versions: Vec<&Tool> = catalog
            .tools
            .iter()
            .filter(|one| one.toolkit == tool.toolkit && one.tool == tool.tool)
            .filter(|one| {
                if exact { one.version == tool.version } else { self.version.has(one, catalog) }
            })
            .collect();
        if versions.is_empty() {
            let Versions::One(version) = &self.version else { return Err(unknown()) };
            let id = format!("{}.{}", tool.toolkit, tool.tool);
            return Err(Rejection::UnknownVersion {
                id,
                name: tool.name,
                version: version.to_string(),
            });
        }
        if !versions.iter().any(|one| context.allows(one)) {
            let permitted = versions
                .iter()
                .find(|one| context.pipeline.settings.permission(one) != Permission::Denied);
            return Err(match permitted {
                Some(one) => Rejection::MissingScope { name: one.name, scopes: one.scopes },
                None => Rejection::ToolNotAllowed { name: tool.name },
            });
        }
        Ok(versions)
    }
}

impl Versions {
    fn has(&self, tool: &Tool, catalog: &Catalog) -> bool {
        match self {
            Self::Latest => {
                catalog.named(tool.name).is_some_and(|latest| latest.version == tool.version)
            }
            Self::All => true,
            Self::One(version) => tool.version == *version,
        }
    }
}

fn wrong(message: String) -> Rejection {
    Rejection::Malformed(message)
}

fn versions(value: &str) -> Result<Versions, String> {
    match value {
        "latest" => Ok(Versions::Latest),
        "all" => Ok(Versions::All),
        _ => parse_version(value)
            .map(Versions::One)
            .ok_or_else(|| "version must be latest, all, or a version x.y.z".to_owned()),
    }
}

fn names(name: &str, value: &str) -> Result<Vec<String>, String> {
    let names: Vec<String> =
        value.split(',').map(str::trim).filter(|one| !one.is_empty()).map(str::to_owned).collect();
    if names.is_empty() {
        return Err(format!("{name} must hold one or more names, with commas between"));
    }
    Ok(names)
}

#[cfg(test)]
mod tests;
