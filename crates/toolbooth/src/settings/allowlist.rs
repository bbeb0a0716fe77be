//! Which tools the operator allows: `TOOL_ALLOWLIST` and `TOOL_ALLOWLIST_MODE`.

use super::reader::{VariableDoc, VariableReader, list};

/// Whether the operator allows a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Permission {
    /// It may be called.
    Given,
    /// It may be called, and each call is logged.
    Warned,
    /// It may not be called.
    Denied,
}

/// The tools that may be called, or the names that the tools of a chat may have (2api.ai, 7.2 "Tool Name Allowlist").
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allowlist {
    /// Ids with or without version, names, or `Toolkit.*`.
    tools: Vec<String>,
    /// The permission of all other tools.
    others: Permission,
}

pub(super) const TOOL_ALLOWLIST: &str = "TOOL_ALLOWLIST";
pub(super) const TOOL_ALLOWLIST_MODE: &str = "TOOL_ALLOWLIST_MODE";

pub(super) static DOCS: &[VariableDoc] = &[
    VariableDoc::new(
        TOOL_ALLOWLIST,
        "the tools that may be called, separated by commas: an id (`Calculator.Add`), an id with \
         its exact version (`Calculator.Add@1.0.0`), a name (`Calculator_Add`) or a toolkit \
         (`Calculator.*`). Case matters | all tools. Set to the empty string: no tool | entries \
         that match no tool are ignored, with a warning",
    ),
    VariableDoc::new(
        TOOL_ALLOWLIST_MODE,
        "for all other tools: `enforce` rejects their calls and hides them from lists, `warn` logs \
         their calls, `off` ignores the list | `enforce` if `TOOL_ALLOWLIST` is set, otherwise \
         `off` | no tool is listed",
    ),
];

impl Allowlist {
    /// Reads a list and its mode from variables of these names. Without a valid mode, it allows no tool.
    pub fn read(reader: &mut VariableReader<'_>, list: &str, mode: &str) -> Self {
        let (tools, text) = (reader.text(list), reader.text(mode));
        Self::parse(tools.as_deref(), text.as_deref()).unwrap_or_else(|expected| {
            reader.problem(mode, expected);
            Self::only(Vec::new())
        })
    }

    /// Allows these tools only: ids with or without version, names, or `Toolkit.*`.
    pub fn only(tools: Vec<String>) -> Self {
        Self { tools, others: Permission::Denied }
    }

    fn parse(tools: Option<&str>, mode: Option<&str>) -> Result<Self, &'static str> {
        let tools = tools.map(|tools| list(tools).map(str::to_owned).collect());
        Self::new(tools, mode).ok_or("must be enforce, warn or off")
    }

    /// A list with a mode; without one, it is enforced. `None` for another mode.
    pub(super) fn new(tools: Option<Vec<String>>, mode: Option<&str>) -> Option<Self> {
        let others = match (mode, &tools) {
            (Some("off"), _) | (None, None) => Permission::Given,
            (Some("warn"), _) => Permission::Warned,
            (Some("enforce"), _) | (None, Some(_)) => Permission::Denied,
            _ => return None,
        };
        Some(Self { tools: tools.unwrap_or_default(), others })
    }

    /// The permission of a name, if the list has only names.
    pub fn of_name(&self, name: &str) -> Permission {
        if self.lists(name) { Permission::Given } else { self.others }
    }

    /// Whether a name is in the list, whatever the others are allowed.
    pub fn lists(&self, name: &str) -> bool {
        self.tools.iter().any(|it| it == name)
    }

    /// The permission of the tool `toolkit.tool`; `name` is its name and `has_version` compares its
    /// version with one of the list.
    pub fn permission(
        &self,
        (toolkit, tool): (&str, &str),
        name: &str,
        has_version: impl Fn(&str) -> bool,
    ) -> Permission {
        if self.others == Permission::Given {
            return Permission::Given;
        }
        let is_listed = |listed: &String| {
            let (id, version) = match listed.split_once('@') {
                Some((id, version)) => (id, Some(version)),
                None => (listed.as_str(), None),
            };
            *listed == name
                || version.is_none_or(&has_version)
                    && id.split_once('.').is_some_and(|(listed_toolkit, listed_tool)| {
                        listed_toolkit == toolkit && (listed_tool == "*" || listed_tool == tool)
                    })
        };
        if self.tools.iter().any(is_listed) { Permission::Given } else { self.others }
    }

    /// The entries, unless the list has no effect.
    pub(crate) fn entries(&self) -> &[String] {
        if self.others == Permission::Given { &[] } else { &self.tools }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_allowlist() {
        use Permission::{Denied, Given, Warned};
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
            assert_eq!(
                allowlist.permission(("Echo", "Say"), "Echo_Say", |version| version == "1.10.0"),
                expected,
                "{listed:?} {mode:?}"
            );
        }
    }
}
