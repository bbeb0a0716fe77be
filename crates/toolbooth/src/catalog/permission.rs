//! Decides which tools a caller may see and call.

use super::Tool;
use crate::principal::Principal;
use crate::settings::{Allowlist, Permission, Settings};

impl Settings {
    /// Whether `principal` may call `tool`, and so sees it in lists.
    pub fn allows(&self, principal: &Principal, tool: &Tool) -> bool {
        self.permission(tool) != Permission::Denied && principal.scopes().cover(tool.scopes)
    }

    /// Whether the operator allows `tool`.
    pub fn permission(&self, tool: &Tool) -> Permission {
        tool.permission_in(&self.allowlist)
    }
}

impl Tool {
    /// Whether `allowlist` has the tool.
    pub(crate) fn permission_in(&self, allowlist: &Allowlist) -> Permission {
        let has_version = |version: &str| self.version.to_string() == version;
        allowlist.permission((self.toolkit, self.tool), self.name, has_version)
    }
}
