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
        let (text, by_name) = match self {
            Self::Resolved(tool) => return Ok(tool),
            Self::Id(text) => (text, false),
            Self::Name(text) => (text, true),
        };
        if by_name && let Some(tool) = catalog.named(text) {
            return Ok(tool);
        }
        let meant = None;
        let id = match ToolRef::parse(text) {
            Ok(id) => id,
            Err(InvalidToolId) if !by_name => return Err(Rejection::InvalidToolId { meant }),
            Err(InvalidToolId) => {
                let id = excerpt(text);
                return Err(Rejection::UnknownTool { name: id.clone(), id, meant });
            }
        };
        let joined = |separator| excerpt(&format!("{}{separator}{}", id.toolkit, id.tool));
        Err(match catalog.find(&id) {
            Found::Tool(tool) => return Ok(tool),
            Found::UnknownVersion(tool) => {
                let version = id.version.as_ref().map(|version| requested_version(version, text));
                let version = version.unwrap_or_default();
                Rejection::UnknownVersion { id: joined("."), name: tool.name, version }
            }
            Found::Unknown => {
                let name = if by_name { excerpt(text) } else { joined("_") };
                Rejection::UnknownTool { id: joined("."), name, meant }
            }
        })
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

/// The requested version: in full, or as sent if one of its numbers is too large.
fn requested_version(version: &Version, text: &str) -> String {
    let sent = text.split_once('@').map_or("", |(_, sent)| sent);
    let too_large = [version.major, version.minor, version.patch].contains(&u64::MAX);
    if too_large { excerpt(sent) } else { version.to_string() }
}
