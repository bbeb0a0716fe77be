//! Decides which tools a caller may see and call.

use super::Tool;
use crate::call::Rejection;
use crate::principal::Principal;
use crate::settings::{Allowlist, Permission, Settings};

impl Settings {
    /// Whether `principal` may call `tool`, and so sees it in lists.
    pub fn allows(&self, principal: &Principal, tool: &Tool) -> bool {
        self.admit(principal, tool).is_ok()
    }

    /// Checks that `principal` may call `tool`: the operator allows the tool, to its API key too, and it has the scopes.
    ///
    /// # Errors
    /// Why it may not.
    pub(crate) fn admit(&self, principal: &Principal, tool: &Tool) -> Result<(), Rejection> {
        let name = tool.name;
        if self.permission(tool) == Permission::Denied {
            return Err(Rejection::ToolNotAllowed { name });
        }
        let tools = self.key_of(principal).and_then(|key| key.tools.as_ref());
        if tools.is_some_and(|tools| tool.permission_in(tools) == Permission::Denied) {
            return Err(Rejection::ToolNotInKey { name });
        }
        if !principal.scopes().cover(tool.scopes) {
            return Err(Rejection::MissingScope { name, scopes: tool.scopes });
        }
        Ok(())
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
