//! Decides which tools a caller may see and call.

use super::Tool;
use crate::principal::Principal;
use crate::settings::{Permission, Settings};

impl Settings {
    /// Whether `principal` may call `tool`, and so sees it in lists.
    pub fn allows(&self, principal: &Principal, tool: &Tool) -> bool {
        self.permission(tool) != Permission::Denied && principal.scopes().cover(tool.scopes)
    }

    /// Whether the operator allows `tool`.
    pub fn permission(&self, tool: &Tool) -> Permission {
        let has_version = |version: &str| tool.version.to_string() == version;
        self.allowlist.permission((tool.toolkit, tool.tool), tool.name, has_version)
    }
}
