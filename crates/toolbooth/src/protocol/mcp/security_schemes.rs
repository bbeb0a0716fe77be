//! What each tool needs of its caller: `securitySchemes` (SEP-1488), at the tool and in its `_meta`, because clients of some SDKs
//! see only the latter. They are hints: the pipeline decides who may call.

use serde::Serialize;

use super::error::McpError;
use super::message::McpRequest;
use super::pagination::{self, ListPage};
use crate::call::{RequestContext, Search};
use crate::catalog::{Entry, List, Tool};
use crate::http::Response;
use crate::json;
use crate::settings::Settings;

/// A way to call a tool.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum SecurityScheme {
    /// Without credentials.
    NoAuth,
    /// With a token that has all of these scopes.
    OAuth2 {
        #[serde(skip_serializing_if = "<[_]>::is_empty")]
        scopes: &'static [&'static str],
    },
}

/// `securitySchemes` of a tool: an array, of which one entry is enough.
fn of_tool(tool: &Tool, settings: &Settings) -> String {
    let scheme = if is_open(tool, settings) {
        SecurityScheme::NoAuth
    } else {
        SecurityScheme::OAuth2 { scopes: tool.scopes }
    };
    json::to_string(&[scheme])
}

/// Whether callers without credentials may call `tool`, and it needs nothing of a user: who they are, or a token of theirs.
fn is_open(tool: &Tool, settings: &Settings) -> bool {
    let covers = settings.auth.anonymous.as_ref().is_some_and(|it| it.cover(tool.scopes));
    covers && tool.authorization.is_empty() && !tool.user_id
}

/// The tools of a list that the caller finds, with their schemes.
pub(super) fn list_tools(
    list: &'static List,
    request: &McpRequest<'_>,
    context: &RequestContext<'_>,
) -> Result<Response, McpError> {
    let shown = |entry: &Entry| {
        let tool = context.pipeline.catalog.tools.get(entry.tool);
        tool.is_some_and(|tool| context.shows(tool))
    };
    let ListPage { entries, next_cursor } = pagination::page(list, &shown, request, context)?;
    let tools = format!("[{}]", entries_of(list, entries.into_iter(), context));
    Ok(pagination::respond("tools", &tools, next_cursor, request, context))
}

/// The tools of the search and the pinned ones, with their schemes, separated by commas.
pub(super) fn short_list(
    list: &'static List,
    search: &Search,
    context: &RequestContext<'_>,
) -> String {
    let pinned = entries_of(list, context.pinned_entries(list, search), context);
    let own = of_search(search);
    if pinned.is_empty() { own } else { format!("{own},{pinned}") }
}

/// Entries with their schemes, separated by commas.
fn entries_of(
    list: &'static List,
    entries: impl Iterator<Item = &'static Entry>,
    context: &RequestContext<'_>,
) -> String {
    let mut text = String::new();
    for entry in entries.filter(|entry| entry.is_listed()) {
        let Some(tool) = context.pipeline.catalog.tools.get(entry.tool) else { continue };
        let comma = if text.is_empty() { "" } else { "," };
        let schemes = of_tool(tool, &context.pipeline.settings);
        text.push_str(comma);
        text.push_str(&with_schemes(list.json(entry), &schemes));
    }
    text
}

/// A tool with its schemes. The build writes `_meta` last, and it is never empty.
fn with_schemes(tool: &str, schemes: &str) -> String {
    let members = tool.strip_suffix("}}").unwrap_or_default();
    format!(r#"{members},"securitySchemes":{schemes}}},"securitySchemes":{schemes}}}"#)
}

/// The tools of the search. Everyone may call them, and those who have signed in find and call more.
fn of_search(search: &Search) -> String {
    let schemes =
        json::to_string(&[SecurityScheme::NoAuth, SecurityScheme::OAuth2 { scopes: &[] }]);
    // No schema in them has a member `name` with a text.
    let begin = r#"{"name":""#;
    let with_schemes = format!(
        r#"{{"_meta":{{"securitySchemes":{schemes}}},"securitySchemes":{schemes},"name":""#
    );
    search.listed.replace(begin, &with_schemes)
}
