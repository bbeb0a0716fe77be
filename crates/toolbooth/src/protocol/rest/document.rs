//! The documents that describe the tools. The build renders their parts; a request selects the parts of the tools
//! that the caller may run, and inserts the address of the server.

use serde_json::Value;

use crate::call::{Rejection, RequestContext};
use crate::catalog::{Rendering, Tool};
use crate::protocol::definition::text;
use crate::route::{Page, PageError};

/// Stands for the origin of the server in rendered documents.
pub(super) const ORIGIN: &str = "https://toolbooth.invalid";

pub(super) struct Document {
    /// The name of its list.
    pub(super) list: &'static str,
    pub(super) content_type: &'static str,
    /// The text between two tools.
    pub(super) separator: &'static str,
    /// What the list contains about credentials.
    pub(super) credentials: Option<Credentials>,
}

/// The parts of a list that say which credentials to send. They are replaced if callers need none.
pub(super) struct Credentials {
    /// How each of them begins.
    pub(super) start: &'static str,
    /// How it ends.
    pub(super) end: &'static str,
    /// What replaces it.
    pub(super) instead: &'static str,
}

impl Document {
    pub(super) const fn json(list: &'static str, credentials: Credentials) -> Self {
        let content_type = "application/json";
        Self { list, content_type, separator: ",", credentials: Some(credentials) }
    }

    pub(super) const fn text(list: &'static str) -> Self {
        let content_type = "text/plain; charset=utf-8";
        Self { list, content_type, separator: "", credentials: None }
    }

    /// The document for the caller. `?toolkit=A,B` selects tools: toolkits of which the caller may run some.
    /// `?query=` selects those that it finds, the best first.
    pub(super) fn page(&self, context: &RequestContext<'_>) -> Result<Page, PageError> {
        let list = context.list(self.list)?;
        let toolkits = toolkits(context)?;
        let is_selected = |tool: &Tool| {
            toolkits.as_ref().is_none_or(|selected| selected.iter().any(|one| one == tool.toolkit))
        };
        let entries = context.selected_entries(list, &is_selected)?;
        let mut text = list.compose(entries, self.separator).replace(ORIGIN, &context.origin());
        if let (Some(credentials), true) = (&self.credentials, context.pipeline.same_for_all) {
            text = credentials.replace(&text);
        }
        Ok(Page::of_type(self.content_type, text))
    }
}

impl Credentials {
    pub(super) fn replace(&self, mut text: &str) -> String {
        let mut replaced = String::with_capacity(text.len());
        while let Some((before, rest)) = text.split_once(self.start) {
            replaced.push_str(before);
            replaced.push_str(self.instead);
            text = rest.split_once(self.end).map_or("", |(_, after)| after);
        }
        replaced + text
    }
}

/// The toolkits that the query selects, if it does.
fn toolkits(context: &RequestContext<'_>) -> Result<Option<Vec<String>>, Rejection> {
    let mut parameters = form_urlencoded::parse(context.query.as_bytes());
    let Some((_, value)) = parameters.find(|(name, _)| name == "toolkit") else { return Ok(None) };
    let selected: Vec<String> = value.split(',').map(|one| one.trim().to_owned()).collect();
    context.check_toolkits(&selected)?;
    Ok(Some(selected))
}

/// Renders a member of an object.
pub(super) fn member(name: &str, value: &Value) -> Rendering {
    text(format!("{}:{value}", Value::from(name)))
}
