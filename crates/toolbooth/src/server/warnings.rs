//! What the operator should know about the configuration, although the server can serve calls.

use crate::catalog::{Catalog, Tool};
use crate::settings::{Permission, Settings};

/// Without the feature there are no providers to configure.
#[cfg(not(feature = "challenges"))]
pub(super) fn warnings(_: &Catalog, _: &Settings) -> Vec<String> {
    Vec::new()
}

/// Warnings for the operator: one for each provider that tools require and that users cannot authorize at.
#[cfg(feature = "challenges")]
pub(super) fn warnings(catalog: &Catalog, settings: &Settings) -> Vec<String> {
    let configured = settings.consent.iter().flat_map(|consent| &consent.providers);
    let configured: Vec<&str> = configured.map(|provider| provider.id.as_str()).collect();
    let mut warnings: Vec<(&str, &Tool, usize)> = Vec::new();
    let permitted = |tool: &&Tool| settings.permission(tool) != Permission::Denied;
    for tool in catalog.tools.iter().filter(permitted) {
        for required in tool.authorization.iter().filter(|it| !configured.contains(&it.id)) {
            match warnings.iter_mut().find(|(id, ..)| *id == required.id) {
                Some((_, first, others)) => *others += usize::from(first.name != tool.name),
                None => warnings.push((required.id, tool, 0)),
            }
        }
    }
    let describe = |(id, tool, others): (&str, &Tool, usize)| {
        let (tools, require) = match others {
            0 => (tool.name.to_owned(), "requires"),
            others => (format!("{} and {others} more", tool.name), "require"),
        };
        format!(
            "OAUTH_PROVIDERS does not include \"{id}\", which {tools} {require}: users cannot grant access, so \
             clients must send tokens"
        )
    };
    warnings.into_iter().map(describe).collect()
}
