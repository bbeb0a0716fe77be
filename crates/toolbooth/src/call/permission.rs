//! Decides which tools a caller may see and call.

use super::rejection::Rejection;
use crate::catalog::Catalog;
use crate::catalog::Tool;
use crate::principal::Principal;
use crate::settings::{Allowlist, Permission, Settings};

impl Settings {
    /// Whether `principal` may call `tool`, and so sees it in lists.
    pub fn allows(&self, principal: &Principal, tool: &Tool) -> bool {
        self.authorize(principal, tool).is_ok()
    }

    /// Whether `principal` may call `tool` once it has signed in, or has further scopes.
    pub(super) fn allows_after_sign_in(&self, principal: &Principal, tool: &Tool) -> bool {
        match self.authorize(principal, tool) {
            Ok(()) => true,
            Err(Rejection::MissingScope { .. }) => principal.can_sign_in(),
            Err(_) => false,
        }
    }

    /// Checks that `principal` may call `tool`: the operator allows the tool, to its API key and its team too, and to the entry that acts for it and
    /// the team of that, and it has the scopes.
    pub fn authorize(&self, principal: &Principal, tool: &Tool) -> Result<(), Rejection> {
        let name = tool.name;
        if self.permission(tool) == Permission::Denied {
            return Err(Rejection::ToolNotAllowed { name });
        }
        let actor = principal.actor().and_then(|name| self.key_named(name));
        let actors_team = actor.and_then(|key| self.teams.get(key.team?));
        let keys = self.key_of(principal).into_iter().chain(actor);
        let mut lists = keys.filter_map(|key| key.tools.as_ref());
        if lists.any(|tools| tool.permission_in(tools) == Permission::Denied) {
            return Err(Rejection::ToolNotInKey { name });
        }
        let teams = self.team_of(principal).into_iter().chain(actors_team);
        let mut lists = teams.filter_map(|team| team.tools.as_ref());
        if lists.any(|tools| tool.permission_in(tools) == Permission::Denied) {
            return Err(Rejection::ToolNotInTeam { name });
        }
        if !principal.scopes().cover(tool.scopes) {
            return Err(Rejection::MissingScope { name, scopes: tool.scopes, held: Vec::new() });
        }
        Ok(())
    }

    /// Whether the operator allows `tool`.
    pub fn permission(&self, tool: &Tool) -> Permission {
        tool.permission_in(&self.allowlist)
    }
}

/// The tools of a server, as callers see them.
#[derive(Debug, Clone, Copy)]
pub struct VisibleTools<'a> {
    /// The catalogue.
    pub catalog: &'static Catalog,
    /// The settings, which can allow some of its tools only.
    pub settings: &'a Settings,
}

impl<'a> VisibleTools<'a> {
    /// Those that one of `callers` sees, with the scopes that it has.
    pub fn to(self, callers: &[Principal]) -> impl Iterator<Item = &'static Tool> + Clone {
        let settings = self.settings;
        let sees = move |tool: &&Tool| callers.iter().any(|caller| settings.allows(caller, tool));
        self.catalog.tools.iter().filter(sees)
    }

    /// Those that the operator allows.
    pub fn permitted(self) -> impl Iterator<Item = &'static Tool> + 'a {
        let is_permitted = move |tool: &&Tool| self.settings.permission(tool) != Permission::Denied;
        self.catalog.tools.iter().filter(is_permitted)
    }
}

impl Tool {
    /// Whether `allowlist` has the tool.
    pub fn permission_in(&self, allowlist: &Allowlist) -> Permission {
        let has_version = |version: &str| self.version.to_string() == version;
        allowlist.permission((self.toolkit, self.tool), self.name, has_version)
    }
}
