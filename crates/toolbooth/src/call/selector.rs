//! How a client selects a tool, and the lookup of that tool.

use std::borrow::Cow;

use super::rejection::Rejection;
use crate::catalog::{Catalog, Found, InvalidToolId, Tool, ToolRef, Version};
use crate::text::{excerpt, nearest};

/// How a client selects a tool.
#[derive(Debug, Clone)]
pub enum ToolSelector<'t> {
    /// By its id only: `Toolkit.Tool[@version]`.
    Id(Cow<'t, str>),
    /// By its name, its versioned name or its id, for protocols with function names.
    Name(Cow<'t, str>),
    /// The tool, which the protocol has already found.
    Resolved(&'static Tool),
}

impl ToolSelector<'_> {
    /// Finds the tool. [`RequestContext::resolve`](super::RequestContext::resolve) adds which tool was probably meant.
    ///
    /// # Errors
    /// [`Rejection::InvalidToolId`], [`Rejection::UnknownTool`] or [`Rejection::UnknownVersion`].
    pub fn resolve(&self, catalog: &Catalog) -> Result<&'static Tool, Rejection> {
        match self {
            Self::Resolved(tool) => Ok(tool),
            Self::Id(text) => match ToolRef::parse(text) {
                Ok(id) => {
                    let name = || excerpt(&format!("{}_{}", id.toolkit, id.tool));
                    find(catalog, &id, text, name)
                }
                Err(InvalidToolId) => Err(Rejection::InvalidToolId { meant: None }),
            },
            Self::Name(name) => {
                if let Some(tool) = catalog.named(name) {
                    return Ok(tool);
                }
                match ToolRef::parse(name) {
                    Ok(id) => find(catalog, &id, name, || excerpt(name)),
                    Err(InvalidToolId) => Err(unknown(excerpt(name), excerpt(name))),
                }
            }
        }
    }

    /// The id or name of the tool that was probably meant, among those that `allows` accepts. Only tools whose first
    /// letter is right are compared in full, because there may be thousands.
    pub(super) fn nearest(
        &self,
        tools: impl Iterator<Item = &'static Tool>,
        allows: impl Fn(&Tool) -> bool,
    ) -> Option<String> {
        let (text, describe): (_, fn(&Tool) -> String) = match self {
            Self::Id(text) => (text, |tool| format!("{}.{}", tool.toolkit, tool.tool)),
            Self::Name(text) => (text, |tool| tool.name.to_owned()),
            Self::Resolved(_) => return None,
        };
        let text = text.split('@').next().unwrap_or_default();
        let first = text.bytes().next()?;
        let mut similar = Vec::new();
        for tool in tools {
            let starts = tool.name.bytes().next();
            let is_similar = starts.is_some_and(|byte| byte.eq_ignore_ascii_case(&first));
            let is_same = tool.tool.eq_ignore_ascii_case(text);
            if (is_same || is_similar) && allows(tool) {
                if is_same {
                    return Some(describe(tool));
                }
                similar.push(describe(tool));
            }
        }
        nearest(text, similar.iter().map(String::as_str)).map(str::to_owned)
    }
}

fn unknown(id: String, name: String) -> Rejection {
    Rejection::UnknownTool { id, name, meant: None }
}

/// Finds a tool by its id. `text` is the id as sent, and `name` the tool's name in an error.
fn find(
    catalog: &Catalog,
    id: &ToolRef<'_>,
    text: &str,
    name: impl FnOnce() -> String,
) -> Result<&'static Tool, Rejection> {
    let unversioned = || excerpt(&format!("{}.{}", id.toolkit, id.tool));
    match catalog.find(id) {
        Found::Tool(tool) => Ok(tool),
        Found::UnknownVersion(tool) => {
            let version = id.version.as_ref().map(|version| requested_version(version, text));
            let version = version.unwrap_or_default();
            Err(Rejection::UnknownVersion { id: unversioned(), name: tool.name, version })
        }
        Found::Unknown => Err(unknown(unversioned(), name())),
    }
}

/// The requested version: in full, or as sent if one of its numbers is too large.
fn requested_version(version: &Version, text: &str) -> String {
    let sent = text.split_once('@').map_or("", |(_, sent)| sent);
    let too_large = [version.major, version.minor, version.patch].contains(&u64::MAX);
    if too_large { excerpt(sent) } else { version.to_string() }
}
