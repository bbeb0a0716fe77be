//! `GET /providers/<provider>/tools`: a provider's own list of tools, ready to send to it.

use super::error;
use super::query::Query;
use crate::call::{Rejection, RequestContext};
use crate::catalog::Entry;
use crate::http::Response;
use crate::json;
use crate::protocol::{Page, PageError};

/// The most tools in one list (2api.ai, 7.1 "Tools per request").
pub(super) const MOST: usize = 128;

/// The longest header of warnings, in bytes.
const LONGEST_WARNING: usize = 1024;

/// What is said of a list of no tools.
const EMPTY: &str = "the list is empty, which providers refuse: send no tools instead";

/// A provider's lists.
pub(super) struct Lists {
    /// The provider and interface, as people call it.
    pub(super) provider: &'static str,
    /// The list of tools that are not strict.
    pub(super) plain: &'static str,
    /// The list of strict tools, or why there is none.
    pub(super) strict: Result<&'static str, &'static str>,
    /// The most tools in a strict list.
    pub(super) most_strict: usize,
}

/// The tools that the query asks for, in the provider's form (2api.ai, 3.1).
///
/// # Errors
/// The answer to a query that is wrong, to a tool that the provider does not take (5.4), and to
/// too many tools (7.1).
pub(super) fn tools(context: &RequestContext<'_>, lists: &Lists) -> Result<Page, PageError> {
    let query = Query::read(context.query)?;
    let (name, most) = match (query.strict, lists.strict) {
        (false, _) => (lists.plain, MOST),
        (true, Ok(name)) => (name, lists.most_strict),
        (true, Err(why)) => return Err(Rejection::Malformed(why.to_owned()).into()),
    };
    let wanted = query.tools(context).map_err(not_found)?;
    let list = context.list(name)?;
    let is_wanted = |entry: &&Entry| {
        let tool = context.pipeline.catalog.tools.get(entry.tool);
        tool.is_some_and(|tool| wanted.iter().any(|one| std::ptr::eq(*one, tool)))
    };
    let (fitting, unfit): (Vec<&Entry>, Vec<&Entry>) =
        list.entries.iter().filter(is_wanted).partition(|entry| entry.unfit.is_empty());
    let kind = if query.strict { "strict tools of " } else { "" };
    if !unfit.is_empty() && !query.skip_incompatible {
        return Err(PageError::Response(incompatible(
            &unfit,
            &format!("{kind}{}", lists.provider),
        )));
    }
    if fitting.len() > most {
        let message = format!(
            "{} tools were asked for; {kind}{} are at most {most} a request. Choose with include or \
             toolkit",
            fitting.len(),
            lists.provider
        );
        let response = error(400, "too_many_tools", "invalid_request_error", &message);
        return Err(PageError::Response(response));
    }
    let mut page = Page::of_entries(list, fitting.iter().copied());
    let left_out =
        unfit.iter().map(|entry| format!("{} is left out: {}", entry.name, entry.unfit.join(", ")));
    let noted = fitting.iter().flat_map(|entry| {
        entry.warnings.iter().map(|warning| format!("{}: {warning}", entry.name))
    });
    let empty = fitting.is_empty().then(|| EMPTY.to_owned());
    let warning = in_a_header(empty.into_iter().chain(left_out).chain(noted).collect());
    page.headers.extend(warning.map(|text| ("toolbooth-warning", text.into())));
    Ok(page)
}

/// The answer to a query for tools that there are not.
fn not_found(rejection: Rejection) -> PageError {
    let message = match rejection {
        Rejection::UnknownTool { name, .. } => format!(
            "include: there is no tool \"{name}\"; expected a name, a versioned name such as \
             Name__1_0_0, or an id such as Toolkit.Tool@1.0.0"
        ),
        Rejection::UnknownVersion { id, version, .. } => {
            format!("include: {id} has no version {version}")
        }
        rejection => return rejection.into(),
    };
    PageError::Response(error(400, "tool_not_found", "invalid_request_error", &message))
}

/// Warnings as the value of one header; nothing if there are none. Names of tools, keywords and
/// the words between them are ASCII.
fn in_a_header(warnings: Vec<String>) -> Option<String> {
    let mut told = String::new();
    for (place, warning) in warnings.iter().enumerate() {
        if told.len() + warning.len() > LONGEST_WARNING {
            told.push_str(&format!("and {} more", warnings.len() - place));
            return Some(told);
        }
        told.push_str(warning);
        if place + 1 < warnings.len() {
            told.push_str("; ");
        }
    }
    (!told.is_empty()).then_some(told)
}

/// The answer to tools that the provider does not take (2api.ai, 5.4).
fn incompatible(unfit: &[&Entry], provider: &str) -> Response {
    let mut features = Vec::new();
    for feature in unfit.iter().flat_map(|entry| entry.unfit) {
        if let Err(place) = features.binary_search(feature) {
            features.insert(place, *feature);
        }
    }
    let (first, of_first) = unfit.first().map_or(("", [].as_slice()), |one| (one.name, one.unfit));
    let (others, them) = match unfit.len() {
        0 | 1 => (String::new(), "it"),
        count => (format!(". error.tools names {count} such tools"), "them"),
    };
    let message = format!(
        "Tool '{first}' has '{}', which {provider} cannot take{others}. Leave {them} out with \
         skip_incompatible=true, or choose with include or toolkit",
        of_first.join("', '"),
    );
    let tool = |entry: &&Entry| {
        json::object([("name", entry.name.into()), ("incompatible_features", entry.unfit.into())])
    };
    let error = json::object([
        ("code", "tool_schema_incompatible".into()),
        ("message", message.into()),
        ("type", "semantic_error".into()),
        ("incompatible_features", features.into()),
        ("tools", unfit.iter().map(tool).collect()),
    ]);
    Response::json(400, json::text(&json::object([("error", error)])).into_bytes())
        .with("cache-control", "no-store")
}

#[cfg(test)]
mod tests;
