//! A booth: a catalogue with its configuration, answering requests.

use std::borrow::Cow;

use futures_util::future::join_all;
use serde::Serialize;

use crate::call::{self, Call, Caller, Outcome, Refusal};
use crate::catalog::Catalog;
use crate::challenge::{Address, Challenges};
use crate::config::Config;
use crate::dialect::{self, Action, Dialect, Exchange, Page, Posted, Reading};
use crate::host::{Host, Level};
use crate::http::{self, Body, Headers, Inbound, Method, Outbound};
use crate::json;

/// Serves a catalogue.
#[derive(Debug)]
pub struct Booth {
    catalog: &'static Catalog,
    config: Config,
}

/// The key that `/health` reads. Nothing ever writes it, so a cached miss is the right answer.
const HEALTH_KEY: &str = "health";

impl Booth {
    /// A booth for `catalog`, configured by the host's variables. Problems are logged once, here.
    pub fn new(catalog: &'static Catalog, host: &dyn Host) -> Self {
        let config = Config::read(host, catalog.variables);
        for problem in &config.problems {
            host.log(Level::Error, "configuration", &[("problem", problem)]);
        }
        Self { catalog, config }
    }

    /// The largest request body that is worth reading, in bytes.
    pub fn max_body_bytes(&self) -> usize {
        self.config.max_body_bytes
    }

    /// Answers one request, whatever it is.
    pub async fn answer(&self, request: Inbound<'_>, host: &dyn Host) -> Outbound {
        if let Some(address) = Address::of(request.path) {
            return self.authorize(address, request, host).await;
        }
        if let Some(answer) = http::preflight(&request, &self.config.origins) {
            return (dialect::route(request.method, request.path).0.sign)(answer);
        }
        let Inbound { method, path, query, headers, body } = request;
        let (dialect, action) = dialect::route(method, path);
        let answer = match action {
            Err(Refusal::MethodNotAllowed { allow }) if method == Method::Options => {
                Ok(Outbound::empty(204).with("allow", allow))
            }
            Err(refusal) => Err(refusal),
            Ok(Action::Health) => self.health(dialect, headers, host).await,
            Ok(Action::Read(read)) => self.read(dialect, headers, query, *read),
            Ok(Action::Call(call)) => match self.post(dialect, headers, query, body, host) {
                Ok(posted) => Ok(self.exchange(call(posted), host).await),
                Err(refusal) => Err(refusal),
            },
            Ok(Action::Refuse(refuse)) => Ok(refuse()),
        };
        let answer = answer.unwrap_or_else(dialect.refuse);
        let answer = (dialect.sign)(answer);
        let mut answer = http::cross_origin(answer, headers, &self.config.origins);
        if method == Method::Head {
            answer.body = (&[]).into();
        }
        answer
    }

    /// Answers at the addresses of challenges and grants, which belong to no protocol; what must be
    /// told as JSON has the form of the root. Only a page of the same origin, or none, may use them,
    /// but for the check, which any page may read.
    async fn authorize(
        &self,
        address: Address<'_>,
        request: Inbound<'_>,
        host: &dyn Host,
    ) -> Outbound {
        let Inbound { method, path, query, headers, .. } = request;
        let (dialect, _) = dialect::route(method, path);
        let this = self.config.challenges.as_ref();
        let refuse = |refusal| (dialect.sign)((dialect.refuse)(refusal));
        let mut answer = match (address, method) {
            (Address::Check, Method::Get | Method::Head) => {
                Challenges::check(this, query, host).await
            }
            (Address::Start, Method::Get | Method::Head) => Challenges::ask(this, query, host),
            (Address::Start, Method::Post) => Challenges::go(this, (query, headers), host).await,
            (Address::Callback, Method::Get) => {
                Challenges::back(this, (query, headers), host).await
            }
            (Address::Grant(provider), Method::Delete) => {
                let caller = &Caller::Anonymous;
                let forget = Challenges::forget(this, (provider, query), caller, host).await;
                forget.unwrap_or_else(refuse)
            }
            (address, Method::Options) => preflight(address),
            (address, _) => refuse(Refusal::MethodNotAllowed { allow: address.allow() }),
        };
        if method == Method::Head {
            answer.body = (&[]).into();
        }
        answer
    }

    /// What to answer when a request could not be served because something crashed.
    pub fn failed(&self, method: Method, path: &str, headers: &dyn Headers) -> Outbound {
        let (dialect, _) = dialect::route(method, path);
        let answer = (dialect.sign)((dialect.refuse)(Refusal::Failed));
        http::cross_origin(answer, headers, &self.config.origins)
    }

    /// Reads the body of a request, as far as all protocols agree: size, type, JSON, version.
    fn post<'a>(
        &'a self,
        dialect: &Dialect,
        headers: &'a dyn Headers,
        query: &'a str,
        body: Body,
        host: &'a dyn Host,
    ) -> Result<Posted<'a>, Refusal> {
        let Body::Whole(body) = body else {
            return Err(Refusal::TooLarge { limit: self.config.max_body_bytes });
        };
        if !http::is_json(headers) {
            return Err(Refusal::NotJson);
        }
        let body = json::parse(&body).map_err(|error| Refusal::InvalidJson(error.to_string()))?;
        (dialect.check)(headers)?;
        let (catalog, config) = (self.catalog, &self.config);
        Ok(Posted { headers, query, body, catalog, config, host })
    }

    /// Serves the calls of one request, several of them side by side.
    async fn exchange(&self, exchange: Exchange, host: &dyn Host) -> Outbound {
        let serve = |call: Result<Call, Refusal>| async {
            match call {
                Ok(call) => call::serve(call, self.catalog, &self.config, host).await,
                Err(refusal) => Outcome::Refused(refusal),
            }
        };
        let outcomes = join_all(exchange.calls.into_iter().map(serve)).await;
        (exchange.reply)(outcomes)
    }

    fn read(
        &self,
        dialect: &Dialect,
        headers: &dyn Headers,
        query: &str,
        read: fn(&Reading<'_>) -> Result<Page, Outbound>,
    ) -> Result<Outbound, Refusal> {
        (dialect.check)(headers)?;
        let page = match read(&Reading { query, catalog: self.catalog, config: &self.config }) {
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
        // "no-cache" lets caches keep it but ask each time: a deployment shows at once.
        Ok(answer.with("etag", page.etag).with("cache-control", "no-cache"))
    }

    /// `GET /health` (OXP health-check): 200 when calls can be served, 503 with the reasons when not.
    async fn health(
        &self,
        dialect: &Dialect,
        headers: &dyn Headers,
        host: &dyn Host,
    ) -> Result<Outbound, Refusal> {
        (dialect.check)(headers)?;
        #[derive(Serialize)]
        struct Health<'a> {
            status: &'static str,
            #[serde(skip_serializing_if = "<[_]>::is_empty")]
            problems: &'a [String],
        }
        let mut problems = self.config.problems.clone();
        if let Err(error) = host.get(HEALTH_KEY).await {
            host.log(Level::Error, "store", &[("problem", &error.0)]);
            problems.push("the KV namespace does not answer".to_owned());
        }
        let (status, word) = if problems.is_empty() { (200, "OK") } else { (503, "unavailable") };
        let body =
            serde_json::to_vec(&Health { status: word, problems: &problems }).unwrap_or_default();
        Ok(Outbound::json(status, body).with("cache-control", "no-store"))
    }
}

/// Answers `OPTIONS` at the addresses of challenges.
fn preflight(address: Address<'_>) -> Outbound {
    let answer = Outbound::empty(204).with("allow", address.allow());
    if address != Address::Check {
        return answer;
    }
    answer
        .with("access-control-allow-origin", "*")
        .with("access-control-allow-methods", "GET, HEAD")
        .with("access-control-allow-headers", "*, authorization")
        .with("access-control-max-age", "86400")
}

#[cfg(test)]
pub(crate) mod tests;
