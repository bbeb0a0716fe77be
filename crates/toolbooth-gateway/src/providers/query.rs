//! The query of a tool list: selects tools and versions.

use super::parameters::{self, choice};
use toolbooth::call::{Rejection, RequestContext, ToolSelector};
use toolbooth::catalog::{Catalog, Found, InvalidToolId, Tool, ToolRef, Version, parse_version};
use toolbooth::schema::text::excerpt;

const PARAMETERS: [&str; 7] =
    ["strict", "strict_schemas", "include", "toolkit", "version", "skip_incompatible", "tools"];
const FLAG: [&str; 2] = ["true", "false"];

/// The parameters. Each of them narrows the list.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ListQuery {
    /// `strict=true|false`: tools whose schema the provider enforces. Default: false.
    pub(super) strict: bool,
    /// `strict_schemas=true|false`: a tool is incompatible if its schema in the list would allow more than its own. Default: false.
    pub(super) strict_schemas: bool,
    /// `skip_incompatible=true|false`: omit tools that the provider does not accept, instead of rejecting the
    /// request. Default: false.
    pub(super) skip_incompatible: bool,
    /// `tools=search|all`: tools that the provider's own search finds. Default: all.
    pub(super) search: bool,
    /// `version=latest|all|x.y.z`, for tools that `include` names without a version. Default: latest.
    version: VersionFilter,
    /// `include=a,b`: only these tools, by name, versioned name or id.
    include: Option<Vec<String>>,
    /// `toolkit=X,Y`: only tools of these toolkits.
    toolkit: Option<Vec<String>>,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum VersionFilter {
    #[default]
    Latest,
    All,
    One(Version),
}

impl ListQuery {
    pub(super) fn parse(query: &str) -> Result<Self, Rejection> {
        let mut parsed = Self::default();
        parameters::for_each(query, &PARAMETERS, |name, value| {
            match name {
                "strict" => parsed.strict = choice(name, value, FLAG)?,
                "strict_schemas" => parsed.strict_schemas = choice(name, value, FLAG)?,
                "skip_incompatible" => parsed.skip_incompatible = choice(name, value, FLAG)?,
                "tools" => parsed.search = choice(name, value, ["search", "all"])?,
                "version" => parsed.version = version_filter(value)?,
                "include" => parsed.include = Some(names(name, value)?),
                _ => parsed.toolkit = Some(names(name, value)?),
            }
            Ok(())
        })
        .map_err(malformed)?;
        Ok(parsed)
    }

    /// The selected tools that the caller may run. The error: `include` names a tool that does not exist or that the caller
    /// may not run, or no tool has the toolkit or version.
    pub(super) fn tools(
        &self,
        context: &RequestContext<'_>,
    ) -> Result<Vec<&'static Tool>, Rejection> {
        let catalog = context.pipeline.catalog;
        let mut tools: Vec<&Tool> = match &self.include {
            None => {
                catalog.tools.iter().filter(|tool| self.version.matches(tool, catalog)).collect()
            }
            Some(names) => {
                let mut included = Vec::new();
                for name in names {
                    included.extend(self.included(name, context)?);
                }
                included
            }
        };
        if let Some(toolkits) = &self.toolkit {
            context.check_toolkits(toolkits)?;
            tools.retain(|tool| toolkits.iter().any(|one| one == tool.toolkit));
        }
        if let (true, VersionFilter::One(version)) = (tools.is_empty(), &self.version) {
            return Err(malformed(format!(
                "version: none of the selected tools has version {version}"
            )));
        }
        tools.retain(|tool| context.allows(tool));
        Ok(tools)
    }

    /// The versions of a tool that a name in `include` selects.
    fn included(
        &self,
        name: &str,
        context: &RequestContext<'_>,
    ) -> Result<Vec<&'static Tool>, Rejection> {
        let catalog = context.pipeline.catalog;
        let unknown = || Rejection::UnknownTool {
            id: excerpt(name),
            name: excerpt(name),
            meant: context.nearest(&ToolSelector::Name(name.into())),
        };
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
                if exact { one.version == tool.version } else { self.version.matches(one, catalog) }
            })
            .collect();
        if versions.is_empty() {
            let VersionFilter::One(version) = &self.version else { return Err(unknown()) };
            let id = format!("{}.{}", tool.toolkit, tool.tool);
            return Err(Rejection::UnknownVersion {
                id,
                name: tool.name,
                version: version.to_string(),
            });
        }
        let settings = &context.pipeline.settings;
        let rejections =
            versions.iter().map(|one| settings.authorize(context.principal, one).err());
        let Some(rejections) = rejections.collect::<Option<Vec<_>>>() else { return Ok(versions) };
        // Another version may only lack a scope.
        let mut scopes =
            rejections.iter().filter(|it| matches!(it, Rejection::MissingScope { .. }));
        let rejection = scopes.next().or(rejections.first()).cloned().unwrap_or_else(unknown);
        Err(rejection.of_caller(context.principal))
    }
}

impl VersionFilter {
    fn matches(&self, tool: &Tool, catalog: &Catalog) -> bool {
        match self {
            Self::Latest => {
                catalog.named(tool.name).is_some_and(|latest| latest.version == tool.version)
            }
            Self::All => true,
            Self::One(version) => tool.version == *version,
        }
    }
}

fn malformed(message: String) -> Rejection {
    Rejection::Malformed(message)
}

fn version_filter(value: &str) -> Result<VersionFilter, String> {
    match value {
        "latest" => Ok(VersionFilter::Latest),
        "all" => Ok(VersionFilter::All),
        _ => parse_version(value)
            .map(VersionFilter::One)
            .ok_or_else(|| "version must be latest, all or x.y.z".to_owned()),
    }
}

fn names(name: &str, value: &str) -> Result<Vec<String>, String> {
    let names: Vec<String> =
        value.split(',').map(str::trim).filter(|one| !one.is_empty()).map(str::to_owned).collect();
    if names.is_empty() {
        return Err(format!("{name} must be a comma-separated list of names"));
    }
    Ok(names)
}

#[cfg(test)]
mod tests;
