//! A server: a catalogue with its configuration, answering requests.

mod authorize;
mod limit;

use std::borrow::Cow;
use std::future::{Future, poll_fn};
use std::task::Poll;

use futures_util::future::maybe_done;

use crate::auth::{self, Authenticator, resource};
use crate::call::{self, Outcome, Prepared, Rejection};
use crate::catalog::Catalog;
use crate::challenge::Address;
use crate::host::{Host, Level, rare};
use crate::http::{self, Body, BodyError, Headers, Method, Request, Response};
use crate::json::{self, Writer};
use crate::principal::Principal;
use crate::protocol::{self, Exchange, Handler, ListRequest, Page, PostRequest, Protocol};
use crate::settings::Settings;

/// Serves a catalogue.
#[derive(Debug)]
pub struct Server {
    catalog: &'static Catalog,
    settings: Settings,
    access: Authenticator,
    /// Whether calls are counted. Bindings do not change while a server lives.
    limited: bool,
}

/// The key that `/health` reads. Nothing ever writes it, so a cached miss is the right answer.
const HEALTH_KEY: &str = "health";

/// Who may keep a page. "no-cache" lets caches keep it but ask each time: a deployment shows at once.
const FOR_ALL: &[(&str, &str)] = &[("cache-control", "no-cache")];
/// The same for a page that depends on the caller.
const FOR_THE_CALLER: &[(&str, &str)] =
    &[("cache-control", "private, no-cache"), ("vary", auth::VARY)];

impl Server {
    /// A server for `catalog`, configured by the host's variables. Problems are logged once, here.
    pub fn new(catalog: &'static Catalog, host: &dyn Host) -> Self {
        let mut settings = Settings::read(host, catalog.variables);
        let access = Authenticator::read(host, &mut settings.problems);
        let public = settings.challenges.as_ref().is_some_and(|challenges| !challenges.is_local());
        if public && access.lets_strangers_in() {
            settings.problems.push(
                "AUTH must not have none where OAUTH_PROVIDERS is set: whoever guesses a user's id \
                 would act with that user's grants"
                    .to_owned(),
            );
        }
        for problem in &settings.problems {
            host.log(Level::Error, "configuration", &[("problem", problem)]);
        }
        Self { catalog, settings, access, limited: host.is_limited() }
    }

    /// Answers one request, whatever it is.
    pub async fn answer(&self, request: Request<'_>, host: &dyn Host) -> Response {
        if let Some(address) = Address::of(request.path) {
            return rare(self.authorize(address, request, host)).await;
        }
        let (protocol, action) = protocol::route(request.method, request.path);
        let origins = self.settings.origins_of(protocol.web_clients);
        let Request { method, query, headers, body, .. } = request;
        // Only browsers send it. Neither `Host` nor the request's own address says whether a page may
        // call: after DNS rebinding, both have the name that the page chose.
        let origin = headers.get("origin");
        if method == Method::Options
            && let Some(origin) = &origin
            && origins.allow(origin)
            && let Some(answer) = http::preflight(headers, origin, origins)
        {
            return (protocol.decorate)(answer);
        }
        let answer = match action {
            _ if origin.as_ref().is_some_and(|origin| !origins.allow(origin)) => {
                Err(Rejection::ForbiddenOrigin)
            }
            Err(Rejection::MethodNotAllowed { allow }) if method == Method::Options => {
                Ok(Response::empty(204).with("allow", allow))
            }
            Err(rejection) => Err(rejection),
            Ok(Handler::Health) => rare(self.health(protocol, headers, host)).await,
            Ok(Handler::Public(read)) => {
                self.read(protocol, headers, query, &Principal::ANONYMOUS, FOR_ALL, *read)
            }
            Ok(Handler::Read(read)) => self.list(protocol, headers, query, host, *read).await,
            Ok(Handler::Call(call)) => self.call(protocol, headers, query, body, host, *call).await,
            Ok(Handler::Refuse(reject)) => Ok(reject()),
        };
        let answer = answer.map_or_else(
            |rejection| self.rejected(protocol, rejection),
            |answer| (protocol.decorate)(answer),
        );
        let mut answer = http::cross_origin(answer, origin, origins);
        if method == Method::Head {
            answer.body = (&[]).into();
        }
        answer
    }

    /// What to answer when a request could not be served because something crashed.
    pub fn failed(&self, method: Method, path: &str, headers: &dyn Headers) -> Response {
        let (protocol, _) = protocol::route(method, path);
        let answer = (protocol.decorate)((protocol.reject)(Rejection::Failed));
        http::cross_origin(
            answer,
            headers.get("origin"),
            self.settings.origins_of(protocol.web_clients),
        )
    }

    /// All bytes of a body.
    ///
    /// # Errors
    /// It is too large, or did not arrive as a whole.
    async fn receive(&self, body: Body<'_>) -> Result<Vec<u8>, Rejection> {
        let limit = self.settings.max_body_bytes;
        let read = match body {
            Body::Read(bytes) if bytes.len() > limit => Err(BodyError::TooLarge),
            Body::Read(bytes) => Ok(bytes),
            Body::Unread(stream) => rare(stream.read(limit)).await,
        };
        read.map_err(|error| match error {
            BodyError::TooLarge => Rejection::TooLarge { limit },
            BodyError::Incomplete => Rejection::InvalidJson("it was cut off".to_owned()),
        })
    }

    /// Reads the body of a request, as far as all protocols agree: type, JSON, version.
    fn post<'a>(
        &'a self,
        protocol: &Protocol,
        headers: &'a dyn Headers,
        query: &'a str,
        body: &'a [u8],
        principal: &'a Principal,
        host: &'a dyn Host,
    ) -> Result<PostRequest<'a>, Rejection> {
        if !http::is_json(headers) {
            return Err(Rejection::NotJson);
        }
        let text = str::from_utf8(body)
            .map_err(|_| Rejection::InvalidJson("it is not UTF-8".to_owned()))?;
        let body = json::parse(text).map_err(|error| Rejection::InvalidJson(error.to_string()))?;
        (protocol.check)(headers)?;
        let (catalog, settings) = (self.catalog, &self.settings);
        let same_for_all = self.access.is_same_for_all();
        Ok(PostRequest { headers, query, principal, same_for_all, body, catalog, settings, host })
    }

    /// Takes the calls of a request. A caller without valid credentials gets 401 before the body is parsed,
    /// and before the rest of it is read.
    async fn call(
        &self,
        protocol: &Protocol,
        headers: &dyn Headers,
        query: &str,
        body: Body<'_>,
        host: &dyn Host,
        read: for<'t> fn(PostRequest<'t>) -> Exchange<'t>,
    ) -> Result<Response, Rejection> {
        let principal = self.access.authenticate(headers, host).await?;
        let body = self.receive(body).await?;
        let exchange = read(self.post(protocol, headers, query, &body, &principal, host)?);
        // A counter that nobody has set up is not asked.
        if self.limited && !exchange.calls.is_empty() {
            rare(self.count(&principal, headers, exchange.calls.len(), host)).await?;
        }
        Ok(self.exchange(protocol, exchange, &principal, host).await)
    }

    /// Serves the calls of one request. Several of them run side by side, after one after another has
    /// got its tokens: most refresh tokens serve only once, and what the first call has refreshed the
    /// next ones use.
    pub(crate) async fn exchange(
        &self,
        protocol: &Protocol,
        exchange: Exchange<'_>,
        principal: &Principal,
        host: &dyn Host,
    ) -> Response {
        let settings = &self.settings;
        let mut prepared = Vec::with_capacity(exchange.calls.len());
        for call in exchange.calls {
            prepared.push(match call {
                Ok(call) => call::prepare(call, principal, self.catalog, settings, host).await,
                Err(rejection) => Err(Outcome::Refused(rejection)),
            });
        }
        let run = async |prepared: Result<Prepared<'_>, Outcome>| match prepared {
            Ok(prepared) => prepared.run(principal, settings, host).await,
            Err(outcome) => outcome,
        };
        // A call that is alone needs nobody to watch over it.
        let outcomes = match <[_; 1]>::try_from(prepared) {
            Ok([alone]) => vec![run(alone).await],
            Err(several) => rare(side_by_side(several.into_iter().map(run))).await,
        };
        let header = match outcomes.as_slice() {
            [Outcome::Refused(rejection)] => self.header(protocol, rejection),
            _ => None,
        };
        let mut answer = (exchange.reply)(outcomes);
        // Where the protocol tells a rejection in its body alone, HTTP has nothing to add.
        if answer.status == 403 {
            answer.headers.extend(header.map(|(name, value)| (name, value.into())));
        }
        answer
    }

    /// Gives a list to a caller. What it shows depends on the caller wherever one is asked for, and
    /// then it is for nobody else.
    async fn list(
        &self,
        protocol: &Protocol,
        headers: &dyn Headers,
        query: &str,
        host: &dyn Host,
        read: fn(&ListRequest<'_>) -> Result<Page, Response>,
    ) -> Result<Response, Rejection> {
        let principal = self.access.authenticate(headers, host).await?;
        let caching = if self.access.is_same_for_all() { FOR_ALL } else { FOR_THE_CALLER };
        self.read(protocol, headers, query, &principal, caching, read)
    }

    fn read(
        &self,
        protocol: &Protocol,
        headers: &dyn Headers,
        query: &str,
        principal: &Principal,
        caching: &'static [(&'static str, &'static str)],
        read: fn(&ListRequest<'_>) -> Result<Page, Response>,
    ) -> Result<Response, Rejection> {
        (protocol.check)(headers)?;
        let reading =
            ListRequest { query, principal, catalog: self.catalog, settings: &self.settings };
        let page = match read(&reading) {
            Ok(page) => page,
            Err(answer) => return Ok(answer),
        };
        let mut answer = if http::matches_etag(headers, &page.etag) {
            Response::empty(304)
        } else {
            Response::json(
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

    /// Tells a rejection of a whole request, with the header that HTTP has for it.
    fn rejected(&self, protocol: &Protocol, rejection: Rejection) -> Response {
        let header = self.header(protocol, &rejection);
        let mut answer = (protocol.reject)(rejection);
        answer.headers.extend(header.map(|(name, value)| (name, value.into())));
        (protocol.decorate)(answer)
    }

    /// The header that HTTP has for a rejection. Where the protocol is an OAuth resource, it says where
    /// a client finds out whom to ask for a token, and for which scopes.
    fn header(&self, protocol: &Protocol, rejection: &Rejection) -> Option<(&'static str, String)> {
        let (name, mut value) = rejection.header()?;
        let resource = self.settings.resource.as_ref().filter(|_| protocol.web_clients);
        if let (Some(resource), "www-authenticate") = (resource, name) {
            let scopes = match rejection {
                Rejection::Unauthenticated { .. } => resource::scopes(self.catalog),
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
        protocol: &Protocol,
        headers: &dyn Headers,
        host: &dyn Host,
    ) -> Result<Response, Rejection> {
        (protocol.check)(headers)?;
        let mut problems = self.settings.problems.clone();
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
        Ok(Response::written(status, body))
    }

    /// Whether a request has good credentials.
    async fn knows_caller(&self, headers: &dyn Headers, host: &dyn Host) -> bool {
        let principal = self.access.authenticate(headers, host).await;
        principal.is_ok_and(|principal| !matches!(principal, Principal::Anonymous { .. }))
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
