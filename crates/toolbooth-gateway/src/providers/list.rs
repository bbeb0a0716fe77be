//! `GET /providers/<provider>/tools`: the tools in a provider's format, ready to send to it.

use std::collections::BTreeSet;

use super::error::{ErrorBody, ErrorType, IncompatibleTool, ProviderError, invalid_request};
use super::query::ListQuery;
use toolbooth::call::{Rejection, RequestContext, did_you_mean};
use toolbooth::catalog::{Entry, List, ListForm, Listed, Rendering};
use toolbooth::http::Response;
use toolbooth::route::{Page, PageError};

/// The maximum number of tools in a list (2api.ai, 7.1 "Tools per request").
pub(super) const MAX_TOOLS: usize = 128;

/// The maximum length of the warning header, in bytes.
const MAX_WARNING_BYTES: usize = 1024;

const EMPTY: &str = "the list is empty, which providers reject: send no tools instead";

/// A list in the format that most providers have: an array.
pub(super) const fn form(name: &'static str, entry: fn(&Listed<'_>) -> Rendering) -> ListForm {
    ListForm { name, head: "[", tail: "]", entry }
}

/// The search that a provider has in the tools of a request.
pub(super) struct ProviderSearch {
    /// The tool that searches, as JSON.
    pub(super) tool: &'static str,
    /// How the tools of a toolkit that it finds are written.
    pub(super) toolkit: fn(&str, String) -> String,
}

/// The most tools of a request that the provider searches: Anthropic's limit.
const MAX_DEFERRED: usize = 10_000;

/// The tools that the query selects, in the format of `provider` (2api.ai, 3.1): an excerpt of the list `plain`, or of
/// that of strict tools with the most that the provider accepts, unless there is none for a reason. The error: the query
/// is invalid, a tool is incompatible with the provider (5.4), or there are too many tools (7.1).
pub(super) fn tools(
    context: &RequestContext<'_>,
    provider: &str,
    plain: &'static str,
    strict: Result<(&'static str, usize), &str>,
    search: Option<&ProviderSearch>,
) -> Result<Page, PageError> {
    let query = ListQuery::parse(context.query)?;
    let search = if query.search { Some(search.ok_or_else(|| no_search(provider))?) } else { None };
    let (name, limit) = match (query.strict, strict) {
        (false, _) => (plain, MAX_TOOLS),
        (true, Ok(strict)) => strict,
        (true, Err(reason)) => return Err(Rejection::Malformed(reason.to_owned()).into()),
    };
    let selected = query.tools(context).map_err(not_found)?;
    let list = context.list(name)?;
    let is_selected = |entry: &&Entry| {
        let tool = context.pipeline.catalog.tools.get(entry.tool);
        tool.is_some_and(|tool| selected.iter().any(|one| std::ptr::eq(*one, tool)))
    };
    let is_compatible = |entry: &&Entry| {
        entry.is_listed() && (!query.strict_schemas || entry.unsupported.is_empty())
    };
    let (compatible, incompatible): (Vec<&'static Entry>, Vec<&'static Entry>) =
        list.entries.iter().filter(is_selected).partition(is_compatible);
    if !incompatible.is_empty() && !query.skip_incompatible {
        let strict = if query.strict { "strict tools of " } else { "" };
        let target = format!("{strict}{provider}");
        return Err(PageError::Response(incompatible_tools(&incompatible, &target)));
    }
    let limit = match search {
        // A lower limit is that of strict tools, which the provider compiles before it searches.
        Some(_) if limit == MAX_TOOLS => MAX_DEFERRED,
        _ => limit,
    };
    if compatible.len() > limit {
        let strict = if query.strict { "strict " } else { "" };
        let message = format!(
            "{} tools are selected, but {provider} accepts at most {limit} {strict}tools in a request. Narrow \
             the list with include or toolkit",
            compatible.len()
        );
        return Err(PageError::Response(invalid_request("too_many_tools", &message)));
    }
    let mut page = match search {
        None => Page::of_entries(list, compatible.iter().copied()),
        Some(search) => Page::new(deferred(search, list, &compatible, context)),
    };
    let omitted = incompatible
        .iter()
        .map(|entry| format!("{} is omitted: {}", entry.name, entry.unsupported.join(", ")));
    let warnings = compatible.iter().flat_map(|entry| {
        entry.warnings.iter().map(|warning| format!("{}: {warning}", entry.name))
    });
    let empty = compatible.is_empty().then(|| EMPTY.to_owned());
    let warning = header_value(empty.into_iter().chain(omitted).chain(warnings).collect());
    page.headers.extend(warning.map(|text| ("toolbooth-warning", text.into())));
    Ok(page)
}

/// The provider's search, the pinned tools, and all others for the search to find.
fn deferred(
    search: &ProviderSearch,
    list: &List,
    entries: &[&'static Entry],
    context: &RequestContext<'_>,
) -> String {
    let catalog = context.pipeline.catalog;
    let pinned = catalog.search_index().map_or(&[][..], |index| index.pinned);
    let (pinned, others): (Vec<&Entry>, Vec<&Entry>) =
        entries.iter().partition(|entry| pinned.contains(&entry.tool));
    let mut items = vec![search.tool.to_owned()];
    items.extend(pinned.iter().map(|entry| list.json(entry).to_owned()));
    let toolkit = |entry: &Entry| catalog.tools.get(entry.tool).map_or("", |tool| tool.toolkit);
    // The catalogue is sorted by toolkit.
    for tools in others.chunk_by(|one, next| toolkit(one) == toolkit(next)) {
        let deferred = tools.iter().filter_map(|entry| list.json(entry).strip_prefix('{'));
        let deferred: Vec<_> =
            deferred.map(|rest| format!("{{\"defer_loading\":true,{rest}")).collect();
        let name = tools.first().map_or("", |entry| toolkit(entry));
        items.push((search.toolkit)(name, deferred.join(",")));
    }
    format!("[{}]", items.join(","))
}

fn no_search(provider: &str) -> Rejection {
    Rejection::Malformed(format!(
        "tools must be all: {provider} has no search of its own; a model can use search_tools and call_tool of this server"
    ))
}

/// The response if `include` names a tool that does not exist.
fn not_found(rejection: Rejection) -> PageError {
    let message = match rejection {
        Rejection::UnknownTool { name, meant, .. } => format!(
            "include: there is no tool \"{name}\"; expected a name, a versioned name such as \
             Name__1_0_0, or an id such as Toolkit.Tool@1.0.0{}",
            did_you_mean(meant.as_deref(), ". D")
        ),
        Rejection::UnknownVersion { id, version, .. } => {
            format!("include: {id} has no version {version}")
        }
        rejection => return rejection.into(),
    };
    PageError::Response(invalid_request("tool_not_found", &message))
}

/// Warnings as a header value; `None` if there are none. They are ASCII, as the names of tools and keywords are.
fn header_value(warnings: Vec<String>) -> Option<String> {
    let mut value = String::new();
    for (position, warning) in warnings.iter().enumerate() {
        if value.len() + warning.len() > MAX_WARNING_BYTES {
            value.push_str(&format!("and {} more", warnings.len() - position));
            return Some(value);
        }
        value.push_str(warning);
        if position + 1 < warnings.len() {
            value.push_str("; ");
        }
    }
    (!value.is_empty()).then_some(value)
}

/// The response if the provider does not accept some of the tools (2api.ai, 5.4).
fn incompatible_tools(entries: &[&'static Entry], target: &str) -> Response {
    let mut features = BTreeSet::new();
    features.extend(entries.iter().flat_map(|entry| entry.unsupported).copied());
    let (first, of_first) =
        entries.first().map_or(("", [].as_slice()), |it| (it.name, it.unsupported));
    let (others, them) = match entries.len() {
        0 | 1 => (String::new(), "it"),
        count => (format!(". error.tools lists {count} such tools"), "them"),
    };
    let message = format!(
        "Tool '{first}' has '{}', which {target} cannot use{others}. Omit {them} with \
         skip_incompatible=true, or narrow the list with include or toolkit",
        of_first.join("', '"),
    );
    let tool = |entry: &&'static Entry| IncompatibleTool {
        name: entry.name,
        incompatible_features: entry.unsupported,
    };
    let error = ProviderError {
        code: "tool_schema_incompatible",
        message: &message,
        r#type: ErrorType::Semantic,
        incompatible_features: features.into_iter().collect(),
        tools: entries.iter().map(tool).collect(),
    };
    Response::json_of(400, &ErrorBody { error })
}

#[cfg(test)]
mod tests;
