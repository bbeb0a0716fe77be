//! What a caller sees of the server: the tools in lists, and the address.

use std::ptr;

use super::pipeline::{Pipeline, RequestContext};
use super::rejection::Rejection;
use crate::address::is_localhost;
use crate::catalog::{Entry, List, Needs, Tool};
use crate::principal::Principal;
use crate::text::excerpt;
use crate::tool::ServerView;

/// Whether a catalogue that has `only` these tools has `tool`.
pub(crate) fn has(only: Option<&[&'static Tool]>, tool: &Tool) -> bool {
    only.is_none_or(|only| only.iter().any(|one| ptr::eq(*one, tool)))
}

impl ServerView<'_> {
    /// Whether a caller finds `tool`.
    pub(crate) fn shows(&self, principal: &Principal, tool: &Tool) -> bool {
        let is_shown = match self.shows_protected {
            true => self.settings.allows_after_sign_in(principal, tool),
            false => self.settings.allows(principal, tool),
        };
        is_shown && has(self.only, tool)
    }
}

impl RequestContext<'_> {
    /// Whether the caller may run `tool`, and so sees it in lists.
    pub fn allows(&self, tool: &Tool) -> bool {
        has(self.only, tool) && self.pipeline.settings.allows(self.principal, tool)
    }

    /// Whether the caller finds `tool`: it may run it, or MCP shows what it may run after signing in.
    pub fn shows(&self, tool: &Tool) -> bool {
        self.server_view().shows(self.principal, tool)
    }

    /// The server as this request sees it.
    pub(super) fn server_view(&self) -> ServerView<'_> {
        let Pipeline { catalog, settings, .. } = self.pipeline;
        let (only, shows_protected) = (self.only, self.shows_protected);
        ServerView { catalog, settings, only, shows_protected }
    }

    /// The list `name`, rendered at build time.
    ///
    /// # Errors
    /// [`Rejection::Unavailable`]: the catalogue was built without it.
    pub fn list(&self, name: &str) -> Result<&'static List, Rejection> {
        let missing = Rejection::Unavailable("its catalogue has no list for this protocol");
        self.pipeline.catalog.list(name).ok_or(missing)
    }

    /// Whether the caller may run the tools that an entry needs.
    pub fn allows_entry(&self, entry: &Entry) -> bool {
        let tools = self.pipeline.catalog.tools;
        let allows = |at: usize| tools.get(at).is_some_and(|tool| self.allows(tool));
        match entry.needs {
            Needs::Tool => allows(entry.tool),
            Needs::Toolkit => {
                let toolkit = tools.get(entry.tool).map(|tool| tool.toolkit);
                tools.iter().any(|tool| Some(tool.toolkit) == toolkit && self.allows(tool))
            }
            Needs::Tools(needed) => needed.iter().all(|at| allows(*at)),
            Needs::AnyOf(tools) => tools.iter().any(|at| allows(*at)),
        }
    }

    /// The entries of `list` whose tools the caller may run.
    pub fn allowed_entries(
        &self,
        list: &'static List,
    ) -> impl Iterator<Item = &'static Entry> + Clone {
        let context = *self;
        list.entries.iter().filter(move |entry| context.allows_entry(entry))
    }

    /// The entries of a list of tools that the caller finds.
    pub fn shown_entries(
        &self,
        list: &'static List,
    ) -> impl Iterator<Item = &'static Entry> + Clone {
        let context = *self;
        let tools = self.pipeline.catalog.tools;
        let is_shown =
            move |entry: &&Entry| tools.get(entry.tool).is_some_and(|tool| context.shows(tool));
        list.entries.iter().filter(is_shown)
    }

    /// Checks that each of these toolkits has a tool that the caller may run. Others are rejected as if they did not
    /// exist, so that their names stay secret.
    ///
    /// # Errors
    /// [`Rejection::Malformed`]: one has none.
    pub fn check_toolkits(&self, toolkits: &[String]) -> Result<(), Rejection> {
        let tools = self.pipeline.catalog.tools;
        let is_visible = |name: &&String| {
            tools.iter().any(|tool| tool.toolkit == name.as_str() && self.allows(tool))
        };
        match toolkits.iter().find(|name| !is_visible(name)) {
            None => Ok(()),
            Some(unknown) => Err(Rejection::Malformed(format!(
                "toolkit: there is no toolkit \"{}\" with tools that you may call; expected the part of a tool's id \
                 before the dot",
                excerpt(unknown)
            ))),
        }
    }

    /// The origin of the server: `PUBLIC_URL`, otherwise that of the host that the client has called. Empty if that is
    /// not known, so that addresses are relative.
    pub(crate) fn origin(&self) -> String {
        if let Some(public_url) = &self.pipeline.settings.public_url {
            return public_url.clone();
        }
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:[]".contains(&byte);
        match self.headers.get("host") {
            Some(host) if !host.is_empty() && host.bytes().all(is_part) => {
                let scheme = if is_localhost(&host) { "http" } else { "https" };
                format!("{scheme}://{host}")
            }
            _ => String::new(),
        }
    }
}
