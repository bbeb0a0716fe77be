//! The lists: pages of what was rendered at build time, for the tools that the caller may run.

use std::borrow::Cow;

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::error::{ErrorCode, McpError};
use super::message::McpRequest;
use crate::call::RequestContext;
use crate::catalog::{Entry, ListForm, Rendering};
use crate::json;
use crate::route::Page;

/// A page of a list.
pub(super) struct ListPage {
    /// The items, as a JSON array.
    pub(super) items: Cow<'static, str>,
    /// The cursor of the next page, if there is one.
    pub(super) next_cursor: Option<String>,
}

/// The page that the client asks for. Everything is on one page, because many clients never ask for a second
/// one, unless the URL of the server has `page_size`.
pub(super) fn page(
    request: &McpRequest<'_>,
    context: &RequestContext<'_>,
    list: &ListForm,
) -> Result<ListPage, McpError> {
    let invalid = |message| McpError::new(ErrorCode::InvalidParams, message);
    let unknown_cursor = || invalid("cursor is not from this list");
    let cursor = match request.params.get("cursor") {
        None => None,
        Some(cursor) => {
            let cursor = cursor.as_str().and_then(|cursor| cursor.parse::<usize>().ok());
            Some(cursor.ok_or_else(unknown_cursor)?)
        }
    };
    let Some(size) = page_size(context.query) else {
        if cursor.is_some() {
            return Err(invalid("cursor is not supported: this list has only one page"));
        }
        let page = Page::of_list(list.name, context)?;
        return Ok(ListPage { items: page.body, next_cursor: None });
    };
    // A cursor is the place of the next page's first tool in the catalogue.
    let start = cursor.unwrap_or_default();
    let list = context.list(list.name)?;
    if cursor.is_some() && !list.entries.iter().any(|entry| entry.tool == start) {
        return Err(unknown_cursor());
    }
    let rest: Vec<_> = context.allowed_entries(list).filter(|entry| entry.tool >= start).collect();
    Ok(ListPage {
        items: list.select(rest.iter().take(size).copied()).into(),
        next_cursor: rest.get(size).map(|entry| entry.tool.to_string()),
    })
}

/// `page_size` of the URL, if it is a positive number.
fn page_size(query: &str) -> Option<usize> {
    let mut pairs = form_urlencoded::parse(query.as_bytes());
    let size = pairs.find(|(name, _)| name == "page_size")?.1.parse().ok()?;
    (size > 0).then_some(size)
}

/// The items that the list has of the tools that the caller may run, deserialized one tool at a time.
pub(super) fn items<T: DeserializeOwned>(
    context: &RequestContext<'_>,
    list: &ListForm,
) -> Result<impl Iterator<Item = T>, McpError> {
    let list = context.list(list.name)?;
    // An entry has all items of a tool. The build has serialized them, so they deserialize.
    let read = |entry: &'static Entry| json::read::<Vec<T>>(list.select([entry]).as_bytes());
    Ok(context.allowed_entries(list).filter_map(read).flatten())
}

/// The items that a list has of one tool, separated by commas.
pub(super) fn render_items(items: &[Value]) -> Rendering {
    if items.is_empty() {
        return Rendering::Omitted;
    }
    let items: Vec<_> = items.iter().map(Value::to_string).collect();
    Rendering::Supported { json: items.join(","), warnings: Vec::new() }
}
