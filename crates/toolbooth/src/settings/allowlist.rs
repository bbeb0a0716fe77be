//! Which tools the operator lets be called.

use crate::catalog::Tool;

/// Whether the operator lets a tool be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Permission {
    /// It may be called.
    Given,
    /// It may be called, and the operator wants to know.
    Warned,
    /// It may not be called.
    Denied,
}

/// The tools that may be called (2api.ai, 7.2 "Tool Name Allowlist").
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Allowlist {
    /// Ids with or without version, names, or `Toolkit.*`.
    tools: Vec<String>,
    /// What becomes of the others.
    others: Permission,
}

impl Allowlist {
    /// Denies every tool.
    pub(super) fn closed() -> Self {
        Self { tools: Vec::new(), others: Permission::Denied }
    }

    /// Reads the list and the mode; a list without a mode is enforced.
    ///
    /// # Errors
    /// What was expected of the mode instead.
    pub(super) fn parse(tools: Option<&str>, mode: Option<&str>) -> Result<Self, &'static str> {
        let others = match (mode, tools) {
            (Some("off"), _) | (None, None) => Permission::Given,
            (Some("warn"), _) => Permission::Warned,
            (Some("enforce"), _) | (None, Some(_)) => Permission::Denied,
            _ => return Err("must be enforce, warn or off"),
        };
        let tools = tools.unwrap_or_default().split(',').map(str::trim);
        Ok(Self {
            tools: tools.filter(|tool| !tool.is_empty()).map(str::to_owned).collect(),
            others,
        })
    }

    pub(super) fn permission(&self, tool: &Tool) -> Permission {
        if self.others == Permission::Given {
            return Permission::Given;
        }
        let names = |listed: &String| {
            let (id, version) = match listed.split_once('@') {
                Some((id, version)) => (id, Some(version)),
                None => (listed.as_str(), None),
            };
            let version_fits = version.is_none_or(|version| tool.version.to_string() == version);
            *listed == tool.name
                || version_fits
                    && id.split_once('.').is_some_and(|(toolkit, one)| {
                        toolkit == tool.toolkit && (one == "*" || one == tool.tool)
                    })
        };
        if self.tools.iter().any(names) { Permission::Given } else { self.others }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_allowlist() {
        use Permission::{Denied, Given, Warned};
        let tool = crate::call::tests::CATALOG.named("Echo_Say__1_10_0").unwrap();
        for (listed, mode, expected) in [
            (None, None, Given),
            (None, Some("off"), Given),
            (None, Some("warn"), Warned),
            (None, Some("enforce"), Denied),
            (Some(""), None, Denied),
            (Some("Echo.Say"), None, Given),
            (Some("Echo.Say@1.10.0"), None, Given),
            (Some("Echo.Say@1.0.0"), None, Denied),
            (Some("Echo_Say"), None, Given),
            (Some("Echo.*"), None, Given),
            (Some("Other.Tool, Echo.Say"), Some("enforce"), Given),
            (Some("Other.Tool"), Some("enforce"), Denied),
            (Some("Other.Tool"), Some("warn"), Warned),
            (Some("Other.Tool"), Some("off"), Given),
            (Some("echo.say"), None, Denied),
            (Some("Echo"), None, Denied),
            (Some("*"), None, Denied),
        ] {
            let allowlist = Allowlist::parse(listed, mode).unwrap();
            assert_eq!(allowlist.permission(tool), expected, "{listed:?} {mode:?}");
        }
    }
}
