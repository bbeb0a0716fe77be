//! What passes between the booth and a dialect.

use std::borrow::Cow;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::call::{Call, Caller, Outcome, Refusal};
use crate::catalog::{Catalog, Entry, List};
use crate::config::Config;
use crate::host::Host;
use crate::http::{Headers, Outbound};
use crate::json::Value;

/// A request without a body that matters.
pub struct Reading<'a> {
    /// The query, without `?`.
    pub query: &'a str,
    /// Who asks.
    pub caller: &'a Caller,
    /// The tools.
    pub catalog: &'static Catalog,
    /// The configuration.
    pub config: &'a Config,
}

impl Reading<'_> {
    /// The list `name` as it was rendered.
    ///
    /// # Errors
    /// [`Refusal::Unavailable`]: the catalogue was built without it.
    pub fn list(&self, name: &str) -> Result<&'static List, Refusal> {
        let missing = Refusal::Unavailable("its catalogue lacks the list of this protocol");
        self.catalog.list(name).ok_or(missing)
    }

    /// The list `name` with all tools that the caller may run.
    ///
    /// # Errors
    /// As [`list`](Self::list).
    pub fn page(&self, name: &str) -> Result<Page, Refusal> {
        let list = self.list(name)?;
        let tool = |entry: &Entry| self.catalog.tools.get(entry.tool);
        let allowed =
            |entry: &Entry| tool(entry).is_some_and(|tool| self.config.allows(self.caller, tool));
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
pub struct Posted<'a> {
    /// The headers.
    pub headers: &'a dyn Headers,
    /// The query, without `?`.
    pub query: &'a str,
    /// Who sent it.
    pub caller: &'a Caller,
    /// Whether answers are the same for every caller.
    pub same_for_all: bool,
    /// The body, whose texts lie where it was received.
    pub body: Value<'a>,
    /// The tools.
    pub catalog: &'static Catalog,
    /// The configuration.
    pub config: &'a Config,
    /// The clock, randomness and log.
    pub host: &'a dyn Host,
}

impl Posted<'_> {
    /// The request as one for what was rendered at build time.
    pub fn reading(&self) -> Reading<'_> {
        let Self { query, caller, catalog, config, .. } = *self;
        Reading { query, caller, catalog, config }
    }
}

/// What a dialect makes of a request: calls, and how what comes of them is told.
pub struct Exchange<'t> {
    /// The calls, in order. One that could not be read stands here as its refusal.
    pub calls: Vec<Result<Call<'t>, Refusal>>,
    /// Writes the response. Its outcomes are those of the calls, one by one.
    pub reply: Box<dyn FnOnce(Vec<Outcome>) -> Outbound + 't>,
}

impl<'t> Exchange<'t> {
    /// An exchange of one call.
    pub fn single(
        call: Result<Call<'t>, Refusal>,
        reply: impl FnOnce(Outcome) -> Outbound + 't,
    ) -> Self {
        let reply = |outcomes: Vec<Outcome>| {
            let none = || Outcome::Refused(Refusal::Unavailable("it lost the call"));
            reply(outcomes.into_iter().next().unwrap_or_else(none))
        };
        Self { calls: vec![call], reply: Box::new(reply) }
    }

    /// An exchange without a call: the answer is known.
    pub fn answered(answer: Outbound) -> Self {
        Self { calls: Vec::new(), reply: Box::new(|_| answer) }
    }
}

impl fmt::Debug for Exchange<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exchange").field("calls", &self.calls).finish_non_exhaustive()
    }
}
