//! The search in the catalogue, as calls and lists see it: a capability provides it.

use std::borrow::Cow;
use std::ptr;

use super::RequestContext;
use super::rejection::Rejection;
use super::selector::ToolSelector;
use crate::catalog::{Entry, List, Needs, SearchIndex, Tool};
use crate::json::{Object, Value};
use crate::text::excerpt;

/// The search in the catalogue.
#[derive(Debug, Clone, Copy)]
pub struct Search {
    /// The tool that searches.
    pub search_tool: &'static Tool,
    /// The tool that calls the one that its input names. Only input that names none reaches the tool itself.
    pub call_tool: &'static Tool,
    /// Both of them, as objects of MCP's `tools/list` with a comma in between.
    pub listed: &'static str,
    /// The index.
    pub index: &'static SearchIndex,
    /// [`SearchIndex::find`]: a pointer, so that the code is linked only if a capability provides the search.
    pub find: Find,
    /// `TOOLS_LIST`.
    pub mode: ListMode,
}

/// [`SearchIndex::find`].
pub type Find = fn(&SearchIndex, &str, usize, &dyn Fn(usize) -> bool) -> Vec<usize>;

/// The most tools that `?query=` of a list finds.
const MAX_FOUND: usize = 20;

impl Search {
    /// Whether `tool` is one of its own. Everyone may call these: they show and call what the caller may run.
    pub(super) fn has(&self, tool: &Tool) -> bool {
        ptr::eq(tool, self.search_tool) || ptr::eq(tool, self.call_tool)
    }
}

/// Which tools the list of a client has that asks for none of the modes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListMode {
    /// All.
    All,
    /// Those that are always listed, and the tools of the search.
    Search,
    /// All, up to a number of tools; then as [`Search`](Self::Search).
    Auto,
}

/// The most tools that `auto` lists. Models select worse among more than 30 to 50.
const MAX_LISTED: usize = 40;

impl RequestContext<'_> {
    /// The search, if the list `list` is to have its tools and the pinned ones only: `?tools=search` says so, or
    /// `TOOLS_LIST` without `?tools=all`.
    ///
    /// # Errors
    /// [`Rejection::Malformed`]: `tools` of the query is neither.
    pub fn search_instead_of(&self, list: &'static List) -> Result<Option<&Search>, Rejection> {
        let mut parameters = form_urlencoded::parse(self.query.as_bytes());
        let chosen = parameters.find(|(name, _)| name == "tools");
        let (search, mode) =
            match (chosen.as_ref().map(|(_, value)| &**value), &self.pipeline.search) {
                (None, None) | (Some("all"), _) => return Ok(None),
                (None, Some(search)) => (search, search.mode),
                (Some("search"), Some(search)) => (search, ListMode::Search),
                (Some("search"), None) => return Err(not_served()),
                (Some(_), _) => {
                    return Err(Rejection::Malformed("tools must be all or search".to_owned()));
                }
            };
        let is_short = match mode {
            ListMode::All => false,
            ListMode::Search => true,
            ListMode::Auto => self.shown_entries(list).nth(MAX_LISTED).is_some(),
        };
        Ok(is_short.then_some(search))
    }

    /// The entries of `list` that a short list has: those of pinned tools that the caller finds.
    pub fn pinned_entries(
        &self,
        list: &'static List,
        search: &Search,
    ) -> impl Iterator<Item = &'static Entry> + Clone {
        let pinned = search.index.pinned;
        self.shown_entries(list).filter(move |entry| pinned.contains(&entry.tool))
    }

    /// The entries of `list` that the caller may see and whose tools `is_selected`: those that `?query=` of the URL finds, the
    /// best first, otherwise all.
    ///
    /// # Errors
    /// [`Rejection::Malformed`]: the URL has a query, but the Worker does not serve the search.
    pub fn selected_entries(
        &self,
        list: &'static List,
        is_selected: &dyn Fn(&Tool) -> bool,
    ) -> Result<Vec<&'static Entry>, Rejection> {
        let tools = self.pipeline.catalog.tools;
        let tool = |at: usize| tools.get(at).filter(|tool| is_selected(tool));
        let mut parameters = form_urlencoded::parse(self.query.as_bytes());
        let Some((_, query)) = parameters.find(|(name, _)| name == "query") else {
            let entries = self.allowed_entries(list).filter(|entry| tool(entry.tool).is_some());
            return Ok(entries.collect());
        };
        let search = self.pipeline.search.as_ref().ok_or_else(not_served)?;
        // Skills and views come after the tools, in an order of their own. The search finds tools.
        let end = list.entries.partition_point(|entry| entry.needs == Needs::Tool);
        let listed = list.entries.get(..end).unwrap_or_default();
        let entry = |at: usize| {
            let place = listed.binary_search_by_key(&at, |entry| entry.tool).ok()?;
            listed.get(place)
        };
        let is_listed =
            |at: usize| entry(at).is_some() && tool(at).is_some_and(|tool| self.allows(tool));
        let found = (search.find)(search.index, &query, MAX_FOUND, &is_listed);
        Ok(found.into_iter().filter_map(entry).collect())
    }

    /// The tool that `selector` names, at a version that the client gives apart from the name. Tools of the search have none:
    /// it is that of the tool that `call_tool` is to call.
    pub(crate) fn at_version<'t>(
        &self,
        selector: ToolSelector<'t>,
        version: Option<&str>,
    ) -> ToolSelector<'t> {
        let Some(version) = version else { return selector };
        match self.resolve(&selector) {
            Ok(tool) if self.tool_of_search(&selector).is_none() => {
                ToolSelector::Id(format!("{}.{}@{version}", tool.toolkit, tool.tool).into())
            }
            // Calling an unknown tool is rejected for its name.
            _ => selector,
        }
    }

    /// What a call is a call of: its own tool, or the one that the input of `call_tool` names, with the `arguments` there
    /// and at the `version` that the client gives apart from the name.
    ///
    /// # Errors
    /// [`Rejection::UnknownTool`] or [`Rejection::UnknownVersion`]: the input names no tool that the caller finds.
    pub(crate) fn target<'t>(
        &self,
        selector: ToolSelector<'t>,
        input: Value<'t>,
        version: Option<&str>,
    ) -> Result<(ToolSelector<'t>, Value<'t>), Rejection> {
        let is_named = |search: &&Search| matches!(&selector, ToolSelector::Name(name) if name == search.call_tool.name);
        match self.pipeline.search.as_ref().filter(is_named) {
            Some(search) => self.target_of(search, input, version),
            None => Ok((selector, input)),
        }
    }

    /// What a call of `call_tool` is a call of.
    // Few calls are: the others need not wait until it is compiled.
    #[inline(never)]
    fn target_of<'t>(
        &self,
        search: &Search,
        input: Value<'t>,
        version: Option<&str>,
    ) -> Result<(ToolSelector<'t>, Value<'t>), Rejection> {
        let (name, arguments) = match named(input, search.call_tool.name) {
            Ok(named) => named,
            // The schema of `call_tool` says what is wrong.
            Err(input) => return Ok((ToolSelector::Resolved(search.call_tool), input)),
        };
        let target = ToolSelector::Name(name);
        match self.resolve(&self.at_version(target.clone(), version)) {
            Ok(tool) if self.shows(tool) => Ok((ToolSelector::Resolved(tool), arguments)),
            Err(rejection @ Rejection::UnknownVersion { name, .. }) if self.finds(name) => {
                Err(rejection)
            }
            _ => Err(self.unknown(&target)),
        }
    }

    /// The tool of the search that a selector of an unknown tool names.
    pub(super) fn tool_of_search(&self, selector: &ToolSelector<'_>) -> Option<&'static Tool> {
        let (Some(search), ToolSelector::Name(name)) = (&self.pipeline.search, selector) else {
            return None;
        };
        [search.search_tool, search.call_tool].into_iter().find(|tool| tool.name == name)
    }

    fn finds(&self, name: &str) -> bool {
        self.pipeline.catalog.named(name).is_some_and(|tool| self.shows(tool))
    }

    /// The rejection of a tool that does not exist, as far as the caller may know.
    fn unknown(&self, selector: &ToolSelector<'_>) -> Rejection {
        let name = match selector {
            ToolSelector::Name(name) => excerpt(name),
            ToolSelector::Id(_) | ToolSelector::Resolved(_) => String::new(),
        };
        Rejection::UnknownTool { id: name.clone(), name, meant: self.nearest(selector) }
    }
}

/// The name and the arguments in the input of `call_tool`; the input if it has none, or names `call_tool` itself.
fn named<'t>(input: Value<'t>, call_tool: &str) -> Result<(Cow<'t, str>, Value<'t>), Value<'t>> {
    let Value::Object(mut members) = input else { return Err(input) };
    let known = members.iter().all(|(name, _)| ["name", "arguments"].contains(&&**name));
    let is_name = members.get("name").and_then(Value::as_str).is_some_and(|name| name != call_tool);
    let arguments = match members.get("arguments") {
        None | Some(Value::Null | Value::Object(_)) => members.take("arguments"),
        Some(_) => return Err(Value::Object(members)),
    };
    match members.take("name") {
        Some(Value::String(name)) if known && is_name => {
            let arguments = arguments.filter(|arguments| !arguments.is_null());
            Ok((name, arguments.unwrap_or_else(|| Value::Object(Object::default()))))
        }
        name => {
            for (member, value) in [("name", name), ("arguments", arguments)] {
                if let Some(value) = value {
                    members.insert(member.into(), value);
                }
            }
            Err(Value::Object(members))
        }
    }
}

/// The rejection of a search that the Worker does not serve.
fn not_served() -> Rejection {
    Rejection::Malformed("this server does not serve the search in its tools".to_owned())
}
