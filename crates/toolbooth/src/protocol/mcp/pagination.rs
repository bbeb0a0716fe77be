//! The lists: pages of what was rendered at build time, for the tools that the caller may run.

use serde::Serialize;

use super::client_request::as_map;
use super::error::McpError;
use super::message::McpRequest;
use super::response::CacheScope;
use crate::call::RequestContext;
use crate::catalog::{Entry, List, Rendering};
use crate::http::Response;
use crate::json::{self, Rendered, Value};
use crate::protocol::definition::text;
use crate::route::Page;

/// The result of a method that lists something: the items, and the cursor of the next page if there is one.
#[derive(Serialize)]
#[serde(transparent)]
struct ListResult<'a> {
    #[serde(serialize_with = "as_map")]
    members: &'a [(&'static str, Rendered<'a>)],
}

/// A list: `items`, a JSON array, as the member `name`.
pub(super) fn respond(
    name: &'static str,
    items: &str,
    next_cursor: Option<String>,
    request: &McpRequest<'_>,
    context: &RequestContext<'_>,
) -> Response {
    let cursor = next_cursor.map(|cursor| json::to_string(&cursor));
    let mut members = vec![(name, Rendered(items))];
    members.extend(cursor.as_deref().map(|cursor| ("nextCursor", Rendered(cursor))));
    request.cacheable_result(&ListResult { members: &members }, CacheScope::of(context))
}

/// The page that the client asks for, as the member `name`. Everything is on one page, because many clients never ask
/// for a second one, unless the URL of the server has `page_size`.
#[inline(never)]
pub(super) fn list(
    name: &'static str,
    list: &str,
    request: &McpRequest<'_>,
    context: &RequestContext<'_>,
) -> Result<Response, McpError> {
    let list = context.list(list)?;
    if page_size(context.query).is_none() && !request.params.contains("cursor") {
        let page = Page::of_entries(list, context.allowed_entries(list));
        return Ok(respond(name, &page.body, None, request, context));
    }
    let allows = |entry: &Entry| context.allows_entry(entry);
    let ListPage { entries, next_cursor } = page(list, &allows, request, context)?;
    Ok(respond(name, &list.select(entries), next_cursor, request, context))
}

/// A page of a list.
pub(super) struct ListPage {
    pub(super) entries: Vec<&'static Entry>,
    /// The cursor of the next page, if there is one.
    pub(super) next_cursor: Option<String>,
}

/// The page that the client asks for, of the entries that are `shown`: all of them, unless the URL of the server has `page_size`.
pub(super) fn page(
    list: &'static List,
    shown: &dyn Fn(&Entry) -> bool,
    request: &McpRequest<'_>,
    context: &RequestContext<'_>,
) -> Result<ListPage, McpError> {
    let unknown_cursor = || McpError::invalid_params("cursor is not from this list");
    let cursor = request.params.get("cursor").map(|cursor| {
        let place = cursor.as_str().and_then(|cursor| cursor.parse::<usize>().ok());
        place.ok_or_else(unknown_cursor)
    });
    let cursor = cursor.transpose()?;
    let Some(size) = page_size(context.query) else {
        check_no_cursor(request)?;
        let entries = list.entries.iter().filter(|entry| shown(entry)).collect();
        return Ok(ListPage { entries, next_cursor: None });
    };
    // A cursor is the place of the next page's first entry in the list.
    let start = cursor.unwrap_or_default();
    if cursor.is_some() && start >= list.entries.len() {
        return Err(unknown_cursor());
    }
    let rest = list.entries.iter().enumerate().skip(start);
    let rest: Vec<_> = rest.filter(|(_, entry)| shown(entry)).collect();
    Ok(ListPage {
        entries: rest.iter().take(size).map(|(_, entry)| *entry).collect(),
        next_cursor: rest.get(size).map(|(place, _)| place.to_string()),
    })
}

/// Rejects the cursor of a list without further pages.
pub(super) fn check_no_cursor(request: &McpRequest<'_>) -> Result<(), McpError> {
    if request.params.contains("cursor") {
        let message = "cursor is not supported: this list has only one page";
        return Err(McpError::invalid_params(message));
    }
    Ok(())
}

/// `page_size` of the URL, if it is a positive number.
fn page_size(query: &str) -> Option<usize> {
    let mut pairs = form_urlencoded::parse(query.as_bytes());
    let size = pairs.find(|(name, _)| name == "page_size")?.1.parse().ok()?;
    (size > 0).then_some(size)
}

/// The items that a list has of the tools that the caller may run, read one tool at a time. [`render_array`] has rendered it.
pub(super) fn items(
    context: &RequestContext<'_>,
    list: &str,
) -> Result<impl Iterator<Item = Value<'static>>, McpError> {
    let list = context.list(list)?;
    let read = |entry| match json::parse(list.json(entry)) {
        Ok(Value::Array(items)) => items,
        _ => Vec::new(),
    };
    Ok(context.allowed_entries(list).flat_map(read))
}

/// The items that a list for [`items`] has of one tool: an array.
pub(super) fn render_array(items: impl Iterator<Item = serde_json::Value>) -> Rendering {
    let items: Vec<_> = items.collect();
    if items.is_empty() { Rendering::Omitted } else { Rendering::of(&items) }
}

/// The items that a list has of one tool, separated by commas.
pub(super) fn render_items(items: impl Iterator<Item = serde_json::Value>) -> Rendering {
    let items: Vec<_> = items.map(|item| item.to_string()).collect();
    match items.as_slice() {
        [] => Rendering::Omitted,
        items => text(items.join(",")),
    }
}
