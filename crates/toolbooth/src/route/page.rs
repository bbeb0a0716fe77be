//! A page that clients may cache: a list of tools, or a document.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

use super::{Credentials, Handler, RouteRequest};
use crate::auth;
use crate::call::{Rejection, RequestContext};
use crate::catalog::{Entry, List};
use crate::host::async_trait;
use crate::http::{self, Answer, Headers, Response};

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
    /// Further headers. One for caching replaces that of its handler.
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

    /// The list `name` with all tools that the caller may run, or those of them that `?query=` finds.
    ///
    /// # Errors
    /// As of [`RequestContext::list`] and [`RequestContext::selected_entries`].
    pub fn of_list(name: &str, context: &RequestContext<'_>) -> Result<Self, Rejection> {
        let list = context.list(name)?;
        let entries = context.selected_entries(list, &|_| true)?;
        Ok(Self::of_entries(list, entries.iter().copied()))
    }

    /// A list with some of its entries. It is used as rendered if no compatible entry is missing.
    pub fn of_entries<'a>(
        list: &'static List,
        entries: impl Iterator<Item = &'a Entry> + Clone,
    ) -> Self {
        let fits = |entry: &&Entry| entry.is_listed();
        if entries.clone().filter(fits).count() < list.entries.iter().filter(fits).count() {
            return Self::new(list.select(entries));
        }
        Self {
            content_type: JSON,
            body: list.body.text().into(),
            etag: list.etag.into(),
            headers: Vec::new(),
        }
    }

    /// The response to everyone, which shared caches may keep.
    pub(crate) fn shared(self, headers: &dyn Headers) -> Response {
        self.respond(SHARED_CACHING, headers)
    }

    /// Responds with the page, or with 304 if the client has the current one.
    fn respond(self, caching: Caching, headers: &dyn Headers) -> Response {
        let mut response = if http::matches_etag(headers, &self.etag) {
            Response::empty(304)
        } else {
            let body = match self.body {
                Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
                Cow::Owned(text) => Cow::Owned(text.into_bytes()),
            };
            let content_type = Cow::Borrowed(self.content_type);
            Response { status: 200, headers: vec![("content-type", content_type)], body }
        };
        let has_own_caching = self.headers.iter().any(|(name, _)| *name == "cache-control");
        let caching = if has_own_caching { &[] } else { caching };
        response.headers.extend(self.headers);
        response.headers.push(("etag", self.etag));
        response.headers.extend(caching.iter().map(|(name, value)| (*name, Cow::Borrowed(*value))));
        response
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

/// Makes a page for the caller.
pub type PageHandler = fn(&RequestContext<'_>) -> Result<Page, PageError>;

/// Serves a page: a list of tools, or a document.
#[derive(Debug, Clone, Copy)]
pub struct Document(pub PageHandler);

/// The caching headers of a page.
type Caching = &'static [(&'static str, &'static str)];

/// Caching of a page that is the same for every caller. Caches may keep it but must revalidate it, so
/// that a new deployment takes effect at once.
const SHARED_CACHING: Caching = &[("cache-control", "no-cache")];
/// Caching of a page that depends on the caller.
const PRIVATE_CACHING: Caching = &[("cache-control", "private, no-cache"), ("vary", auth::VARY)];

#[async_trait(?Send)]
impl Handler for Document {
    async fn serve<'a>(&self, request: &Rc<RouteRequest<'a>>) -> Result<Answer<'a>, Rejection> {
        (request.protocol.check_version)(request.headers)?;
        let context = request.context();
        let page = match (self.0)(&context) {
            Ok(page) => page,
            Err(PageError::Rejected(rejection)) => return Err(rejection),
            Err(PageError::Response(response)) => return Ok(response.into()),
        };
        let route = request.route;
        let is_public = route.is_some_and(|it| it.policy.credentials == Credentials::NotNeeded);
        let is_shared = is_public || context.pipeline.same_for_all;
        let caching = if is_shared { SHARED_CACHING } else { PRIVATE_CACHING };
        Ok(page.respond(caching, request.headers).into())
    }
}
