//! A booth: a catalogue with its configuration, answering requests.

mod authorize;
mod limit;

use std::borrow::Cow;
use std::future::{Future, poll_fn};
use std::task::Poll;

use futures_util::future::maybe_done;

use crate::auth::{self, Access, resource};
use crate::call::{self, Caller, Outcome, Prepared, Refusal};
use crate::catalog::Catalog;
use crate::challenge::Address;
use crate::config::Config;
use crate::dialect::{self, Action, Dialect, Exchange, Page, Posted, Reading};
use crate::host::{Host, Level, rare};
use crate::http::{self, Body, BodyError, Headers, Inbound, Method, Outbound};
use crate::json::{self, Writer};

/// Serves a catalogue.
#[derive(Debug)]
pub struct Booth {
    catalog: &'static Catalog,
    config: Config,
    access: Access,
    /// Whether calls are counted. Bindings do not change while a booth lives.
    limited: bool,
}

/// The key that `/health` reads. Nothing ever writes it, so a cached miss is the right answer.
const HEALTH_KEY: &str = "health";

/// Who may keep a page. "no-cache" lets caches keep it but ask each time: a deployment shows at once.
const FOR_ALL: &[(&str, &str)] = &[("cache-control", "no-cache")];
/// The same for a page that depends on the caller.
const FOR_THE_CALLER: &[(&str, &str)] =
    &[("cache-control", "private, no-cache"), ("vary", auth::VARY)];

impl Booth {
    /// A booth for `catalog`, configured by the host's variables. Problems are logged once, here.
    pub fn new(catalog: &'static Catalog, host: &dyn Host) -> Self {
        let mut config = Config::read(host, catalog.variables);
        let access = Access::read(host, &mut config.problems);
        let public = config.challenges.as_ref().is_some_and(|challenges| !challenges.is_local());
        if public && access.lets_strangers_in() {
            config.problems.push(
                "AUTH must not have none where OAUTH_PROVIDERS is set: whoever guesses a user's id \
                 would act with that user's grants"
                    .to_owned(),
            );
        }
        for problem in &config.problems {
            host.log(Level::Error, "configuration", &[("problem", problem)]);
        }
        Self { catalog, config, access, limited: host.is_limited() }
    }

    /// Answers one request, whatever it is.
    pub async fn answer(&self, request: Inbound<'_>, host: &dyn Host) -> Outbound {
        if let Some(address) = Address::of(request.path) {
            return rare(self.authorize(address, request, host)).await;
        }
        let (dialect, action) = dialect::route(request.method, request.path);
        let origins = self.config.origins_of(dialect.web_clients);
        let Inbound { method, query, headers, body, .. } = request;
        // Only browsers send it. Neither `Host` nor the request's own address says whether a page may
        // call: after DNS rebinding, both have the name that the page chose.
        let origin = headers.get("origin");
        if method == Method::Options
            && let Some(origin) = &origin
            && origins.allow(origin)
            && let Some(answer) = http::preflight(headers, origin, origins)
        {
            return (dialect.sign)(answer);
        }
        let answer = match action {
            _ if origin.as_ref().is_some_and(|origin| !origins.allow(origin)) => {
                Err(Refusal::ForbiddenOrigin)
            }
            Err(Refusal::MethodNotAllowed { allow }) if method == Method::Options => {
                Ok(Outbound::empty(204).with("allow", allow))
            }
            Err(refusal) => Err(refusal),
            Ok(Action::Health) => rare(self.health(dialect, headers, host)).await,
            Ok(Action::Public(read)) => {
                self.read(dialect, headers, query, &Caller::ANONYMOUS, FOR_ALL, *read)
            }
            Ok(Action::Read(read)) => self.list(dialect, headers, query, host, *read).await,
            Ok(Action::Call(call)) => self.call(dialect, headers, query, body, host, *call).await,
            Ok(Action::Refuse(refuse)) => Ok(refuse()),
        };
        let answer = answer
            .map_or_else(|refusal| self.refused(dialect, refusal), |answer| (dialect.sign)(answer));
        let mut answer = http::cross_origin(answer, origin, origins);
        if method == Method::Head {
            answer.body = (&[]).into();
        }
        answer
    }

    /// What to answer when a request could not be served because something crashed.
    pub fn failed(&self, method: Method, path: &str, headers: &dyn Headers) -> Outbound {
        let (dialect, _) = dialect::route(method, path);
        let answer = (dialect.sign)((dialect.refuse)(Refusal::Failed));
        http::cross_origin(
            answer,
            headers.get("origin"),
            self.config.origins_of(dialect.web_clients),
        )
    }

    /// All bytes of a body.
    ///
    /// # Errors
    /// It is too large, or did not arrive as a whole.
    async fn receive(&self, body: Body<'_>) -> Result<Vec<u8>, Refusal> {
        let limit = self.config.max_body_bytes;
        let read = match body {
            Body::Read(bytes) if bytes.len() > limit => Err(BodyError::TooLarge),
            Body::Read(bytes) => Ok(bytes),
            Body::Unread(stream) => rare(stream.read(limit)).await,
        };
        read.map_err(|error| match error {
            BodyError::TooLarge => Refusal::TooLarge { limit },
            BodyError::Incomplete => Refusal::InvalidJson("it was cut off".to_owned()),
        })
    }

    /// Reads the body of a request, as far as all protocols agree: type, JSON, version.
    fn post<'a>(
        &'a self,
        dialect: &Dialect,
        headers: &'a dyn Headers,
        query: &'a str,
        body: &'a [u8],
        caller: &'a Caller,
        host: &'a dyn Host,
    ) -> Result<Posted<'a>, Refusal> {
        if !http::is_json(headers) {
            return Err(Refusal::NotJson);
        }
        let text =
            str::from_utf8(body).map_err(|_| Refusal::InvalidJson("it is not UTF-8".to_owned()))?;
        let body = json::parse(text).map_err(|error| Refusal::InvalidJson(error.to_string()))?;
        (dialect.check)(headers)?;
        let (catalog, config) = (self.catalog, &self.config);
        let same_for_all = self.access.is_same_for_all();
        Ok(Posted { headers, query, caller, same_for_all, body, catalog, config, host })
    }

    /// Takes the calls of a request. A caller without valid credentials gets 401 before the body is parsed,
    /// and before the rest of it is read.
    async fn call(
        &self,
        dialect: &Dialect,
        headers: &dyn Headers,
        query: &str,
        body: Body<'_>,
        host: &dyn Host,
        read: for<'t> fn(Posted<'t>) -> Exchange<'t>,
    ) -> Result<Outbound, Refusal> {
        let caller = self.access.authenticate(headers, host).await?;
        let body = self.receive(body).await?;
        let exchange = read(self.post(dialect, headers, query, &body, &caller, host)?);
        // A counter that nobody has set up is not asked.
        if self.limited && !exchange.calls.is_empty() {
            rare(self.count(&caller, headers, exchange.calls.len(), host)).await?;
        }
        Ok(self.exchange(dialect, exchange, &caller, host).await)
    }

    /// Serves the calls of one request. Several of them run side by side, after one after another has
    /// got its tokens: most refresh tokens serve only once, and what the first call has refreshed the
    /// next ones use.
    pub(crate) async fn exchange(
        &self,
        dialect: &Dialect,
        exchange: Exchange<'_>,
        caller: &Caller,
        host: &dyn Host,
    ) -> Outbound {
        let config = &self.config;
        let mut prepared = Vec::with_capacity(exchange.calls.len());
        for call in exchange.calls {
            prepared.push(match call {
                Ok(call) => call::prepare(call, caller, self.catalog, config, host).await,
                Err(refusal) => Err(Outcome::Refused(refusal)),
            });
        }
        let run = async |prepared: Result<Prepared<'_>, Outcome>| match prepared {
            Ok(prepared) => prepared.run(caller, config, host).await,
            Err(outcome) => outcome,
        };
        // A call that is alone needs nobody to watch over it.
        let outcomes = match <[_; 1]>::try_from(prepared) {
            Ok([alone]) => vec![run(alone).await],
            Err(several) => rare(side_by_side(several.into_iter().map(run))).await,
        };
        let header = match outcomes.as_slice() {
            [Outcome::Refused(refusal)] => self.header(dialect, refusal),
            _ => None,
        };
        let mut answer = (exchange.reply)(outcomes);
        // Where the protocol tells a refusal in its body alone, HTTP has nothing to add.
        if answer.status == 403 {
            answer.headers.extend(header.map(|(name, value)| (name, value.into())));
        }
        answer
    }

    /// Gives a list to a caller. What it shows depends on the caller wherever one is asked for, and
    /// then it is for nobody else.
    async fn list(
        &self,
        dialect: &Dialect,
        headers: &dyn Headers,
        query: &str,
        host: &dyn Host,
        read: fn(&Reading<'_>) -> Result<Page, Outbound>,
    ) -> Result<Outbound, Refusal> {
        let caller = self.access.authenticate(headers, host).await?;
        let caching = if self.access.is_same_for_all() { FOR_ALL } else { FOR_THE_CALLER };
        self.read(dialect, headers, query, &caller, caching, read)
    }

    fn read(
        &self,
        dialect: &Dialect,
        headers: &dyn Headers,
        query: &str,
        caller: &Caller,
        caching: &'static [(&'static str, &'static str)],
        read: fn(&Reading<'_>) -> Result<Page, Outbound>,
    ) -> Result<Outbound, Refusal> {
        (dialect.check)(headers)?;
        let reading = Reading { query, caller, catalog: self.catalog, config: &self.config };
        let page = match read(&reading) {
            Ok(page) => page,
            Err(answer) => return Ok(answer),
        };
        let mut answer = if http::matches_etag(headers, &page.etag) {
            Outbound::empty(304)
        } else {
            Outbound::json(
                200,
                match page.body {
                    Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
                    Cow::Owned(text) => Cow::Owned(text.into_bytes()),
                },
            )
        };
        answer.headers.extend(page.headers);
        answer.headers.push(("etag", page.etag));
        answer.headers.extend(caching.iter().map(|(name, value)| (*name, Cow::Borrowed(*value))));
        Ok(answer)
    }

    /// Tells a refusal of a whole request, with the header that HTTP has for it.
    fn refused(&self, dialect: &Dialect, refusal: Refusal) -> Outbound {
        let header = self.header(dialect, &refusal);
        let mut answer = (dialect.refuse)(refusal);
        answer.headers.extend(header.map(|(name, value)| (name, value.into())));
        (dialect.sign)(answer)
    }

    /// The header that HTTP has for a refusal. Where the protocol is an OAuth resource, it says where
    /// a client finds out whom to ask for a token, and for which scopes.
    fn header(&self, dialect: &Dialect, refusal: &Refusal) -> Option<(&'static str, String)> {
        let (name, mut value) = refusal.header()?;
        let resource = self.config.resource.as_ref().filter(|_| dialect.web_clients);
        if let (Some(resource), "www-authenticate") = (resource, name) {
            let scopes = match refusal {
                Refusal::Unauthenticated { .. } => resource::scopes(self.catalog),
                _ => Vec::new(),
            };
            value.push_str(&resource.pointer(&scopes));
        }
        Some((name, value))
    }

    /// `GET /health` (OXP health-check): 200 when calls can be served, 503 when not. Only callers
    /// with good credentials are told why not; the log has it too. No cache keeps the answer.
    async fn health(
        &self,
        dialect: &Dialect,
        headers: &dyn Headers,
        host: &dyn Host,
    ) -> Result<Outbound, Refusal> {
        (dialect.check)(headers)?;
        let mut problems = self.config.problems.clone();
        if let Err(error) = host.get(HEALTH_KEY).await {
            host.log(Level::Error, "store", &[("problem", &error.0)]);
            problems.push("the KV namespace does not answer".to_owned());
        }
        let (status, word) = if problems.is_empty() { (200, "OK") } else { (503, "unavailable") };
        let mut body = Writer::new();
        body.json("{").member("status").string(word);
        if !problems.is_empty() && self.knows_caller(headers, host).await {
            body.member("problems").strings(&problems);
        }
        body.json("}");
        Ok(Outbound::written(status, body))
    }

    /// Whether a request has good credentials.
    async fn knows_caller(&self, headers: &dyn Headers, host: &dyn Host) -> bool {
        let caller = self.access.authenticate(headers, host).await;
        caller.is_ok_and(|caller| !matches!(caller, Caller::Anonymous { .. }))
    }
}

/// Runs a few futures side by side; their outputs stand in their order. `join_all` links a queue for
/// many besides, of which each is polled only when it can go on.
async fn side_by_side<F: Future>(futures: impl Iterator<Item = F>) -> Vec<F::Output> {
    let mut all: Vec<_> = futures.map(|one| Box::pin(maybe_done(one))).collect();
    poll_fn(|context| {
        let mut waiting = false;
        for one in &mut all {
            waiting |= one.as_mut().poll(context).is_pending();
        }
        if waiting { Poll::Pending } else { Poll::Ready(()) }
    })
    .await;
    all.iter_mut().filter_map(|one| one.as_mut().take_output()).collect()
}

#[cfg(test)]
pub(crate) mod tests;
