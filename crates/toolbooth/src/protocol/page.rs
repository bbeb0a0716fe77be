//! A page that clients may cache: a list of tools, or a document.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::call::{Rejection, RequestContext};
use crate::catalog::{Entry, List};
use crate::http::Response;

const JSON: &str = "application/json";

/// A page with its entity tag.
#[derive(Debug)]
pub struct Page {
    /// Its media type.
    pub content_type: &'static str,
    /// The text.
    pub body: Cow<'static, str>,
    /// A strong entity tag, with its quotes.
    pub etag: Cow<'static, str>,
    /// Further headers.
    pub headers: Vec<(&'static str, Cow<'static, str>)>,
}

/// Why a request for a page failed.
#[derive(Debug)]
pub enum PageError {
    /// It is rejected, in the protocol's format.
    Rejected(Rejection),
    /// The handler has written the response.
    Response(Response),
}

impl From<Rejection> for PageError {
    fn from(rejection: Rejection) -> Self {
        Self::Rejected(rejection)
    }
}

impl Page {
    /// A page of JSON with this body.
    pub fn new(body: impl Into<Cow<'static, str>>) -> Self {
        Self::of_type(JSON, body)
    }

    /// A page with this media type and body.
    pub fn of_type(content_type: &'static str, body: impl Into<Cow<'static, str>>) -> Self {
        let body = body.into();
        let mut hasher = DefaultHasher::new();
        body.hash(&mut hasher);
        let etag = format!("\"{:016x}\"", hasher.finish()).into();
        Self { content_type, etag, body, headers: Vec::new() }
    }

    /// The list `name` with all tools that the caller may run.
    ///
    /// # Errors
    /// As of [`RequestContext::list`].
    pub fn of_list(name: &str, context: &RequestContext<'_>) -> Result<Self, Rejection> {
        let list = context.list(name)?;
        Ok(Self::of_entries(list, context.allowed_entries(list)))
    }

    /// A list with some of its entries. It is used as rendered if no compatible entry is missing.
    pub fn of_entries<'a>(
        list: &'static List,
        entries: impl Iterator<Item = &'a Entry> + Clone,
    ) -> Self {
        let fits = |entry: &&Entry| entry.unfit.is_empty();
        if entries.clone().filter(fits).count() < list.entries.iter().filter(fits).count() {
            return Self::new(list.select(entries));
        }
        Self {
            content_type: JSON,
            body: list.body.into(),
            etag: list.etag.into(),
            headers: Vec::new(),
        }
    }

    /// The same page without copying it.
    pub fn borrowed(&'static self) -> Self {
        let headers = self.headers.iter().map(|(name, value)| (*name, Cow::Borrowed(&**value)));
        Self {
            content_type: self.content_type,
            body: Cow::Borrowed(&self.body),
            etag: Cow::Borrowed(&self.etag),
            headers: headers.collect(),
        }
    }
}
