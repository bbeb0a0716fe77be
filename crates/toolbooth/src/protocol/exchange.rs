//! What passes between the server and a protocol.

use std::borrow::Cow;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::call::{Outcome, Rejection, ToolRequest};

use crate::catalog::{Catalog, Entry, List};
use crate::host::Host;
use crate::http::{Headers, Response};
use crate::json::Value;
use crate::principal::Principal;
use crate::settings::Settings;

/// A request without a body that matters.
pub struct ListRequest<'a> {
    /// The query, without `?`.
    pub query: &'a str,
    /// Who asks.
    pub principal: &'a Principal,
    /// The tools.
    pub catalog: &'static Catalog,
    /// The configuration.
    pub settings: &'a Settings,
}

impl ListRequest<'_> {
    /// The list `name` as it was rendered.
    ///
    /// # Errors
    /// [`Rejection::Unavailable`]: the catalogue was built without it.
    pub fn list(&self, name: &str) -> Result<&'static List, Rejection> {
        let missing = Rejection::Unavailable("its catalogue lacks the list of this protocol");
        self.catalog.list(name).ok_or(missing)
    }

    /// The list `name` with all tools that the caller may run.
    ///
    /// # Errors
    /// As [`list`](Self::list).
    pub fn page(&self, name: &str) -> Result<Page, Rejection> {
        let list = self.list(name)?;
        let tool = |entry: &Entry| self.catalog.tools.get(entry.tool);
        let allowed = |entry: &Entry| {
            tool(entry).is_some_and(|tool| self.settings.allows(self.principal, tool))
        };
        Ok(Page::of_list(list, list.entries.iter().filter(|entry| allowed(entry))))
    }
}

/// A page of JSON, with what caches and readers must know of it.
#[derive(Debug)]
pub struct Page {
    /// The JSON text.
    pub body: Cow<'static, str>,
    /// A strong entity tag, with its quotes.
    pub etag: Cow<'static, str>,
    /// Further headers.
    pub headers: Vec<(&'static str, Cow<'static, str>)>,
}

impl Page {
    /// A page that was made just now.
    pub fn of(body: impl Into<Cow<'static, str>>) -> Self {
        let body = body.into();
        let mut hasher = DefaultHasher::new();
        body.hash(&mut hasher);
        Self { etag: format!("\"{:016x}\"", hasher.finish()).into(), body, headers: Vec::new() }
    }

    /// A list with some of its entries; as it was rendered where none that fits is left out.
    pub fn of_list<'a>(
        list: &'static List,
        entries: impl Iterator<Item = &'a Entry> + Clone,
    ) -> Self {
        let fits = |entry: &&Entry| entry.unfit.is_empty();
        if entries.clone().filter(fits).count() < list.entries.iter().filter(fits).count() {
            return Self::of(list.select(entries));
        }
        Self { body: list.body.into(), etag: list.etag.into(), headers: Vec::new() }
    }

    /// The same page once more, without copying it.
    pub fn lend(&'static self) -> Self {
        let headers = self.headers.iter().map(|(name, value)| (*name, Cow::Borrowed(&**value)));
        Self {
            body: Cow::Borrowed(&self.body),
            etag: Cow::Borrowed(&self.etag),
            headers: headers.collect(),
        }
    }
}

/// A request with a JSON body.
pub struct PostRequest<'a> {
    /// The headers.
    pub headers: &'a dyn Headers,
    /// The query, without `?`.
    pub query: &'a str,
    /// Who sent it.
    pub principal: &'a Principal,
    /// Whether answers are the same for every caller.
    pub same_for_all: bool,
    /// The body, whose texts lie where it was received.
    pub body: Value<'a>,
    /// The tools.
    pub catalog: &'static Catalog,
    /// The configuration.
    pub settings: &'a Settings,
    /// The clock, randomness and log.
    pub host: &'a dyn Host,
}

impl PostRequest<'_> {
    /// The request as one for what was rendered at build time.
    pub fn reading(&self) -> ListRequest<'_> {
        let Self { query, principal, catalog, settings, .. } = *self;
        ListRequest { query, principal, catalog, settings }
    }
}

/// What a protocol makes of a request: calls, and how what comes of them is told.
pub struct Exchange<'t> {
    /// The calls, in order. One that could not be read stands here as its rejection.
    pub calls: Vec<Result<ToolRequest<'t>, Rejection>>,
    /// Writes the response. Its outcomes are those of the calls, one by one.
    pub reply: Box<dyn FnOnce(Vec<Outcome>) -> Response + 't>,
}

impl<'t> Exchange<'t> {
    /// An exchange of one call.
    pub fn single(
        call: Result<ToolRequest<'t>, Rejection>,
        reply: impl FnOnce(Outcome) -> Response + 't,
    ) -> Self {
        let reply = |outcomes: Vec<Outcome>| {
            let none = || Outcome::Refused(Rejection::Unavailable("it lost the call"));
            reply(outcomes.into_iter().next().unwrap_or_else(none))
        };
        Self { calls: vec![call], reply: Box::new(reply) }
    }

    /// An exchange without a call: the answer is known.
    pub fn answered(answer: Response) -> Self {
        Self { calls: Vec::new(), reply: Box::new(|_| answer) }
    }
}

impl fmt::Debug for Exchange<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exchange").field("calls", &self.calls).finish_non_exhaustive()
    }
}
