//! A booth: a catalogue with its configuration, answering requests.

use serde::Serialize;

use crate::call::{self, Outcome, Refusal};
use crate::catalog::Catalog;
use crate::config::Config;
use crate::dialect::{self, Dialect, Endpoint};
use crate::host::{Host, Level};
use crate::http::{self, Body, Headers, Inbound, Method, Outbound};

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
        if let Some(answer) = http::preflight(&request, &self.config.origins) {
            return dialect::route(request.method, request.path).0.sign(answer);
        }
        let Inbound { method, path, headers, body } = request;
        let (dialect, endpoint) = dialect::route(method, path);
        let answer = match endpoint {
            Err(Refusal::MethodNotAllowed { allow }) if method == Method::Options => {
                Outbound::empty(204).with("allow", allow)
            }
            Err(refusal) => dialect.encode(Outcome::Refused(refusal)),
            Ok(Endpoint::Health) => self.health(dialect, headers, host).await,
            Ok(Endpoint::List) => self.list(dialect, headers),
            Ok(Endpoint::Call) => dialect.encode(self.call(dialect, headers, body, host).await),
        };
        let mut answer = http::cross_origin(dialect.sign(answer), headers, &self.config.origins);
        if method == Method::Head {
            answer.body = (&[]).into();
        }
        answer
    }

    async fn call(
        &self,
        dialect: Dialect,
        headers: &dyn Headers,
        body: Body,
        host: &dyn Host,
    ) -> Outcome {
        if !self.config.problems.is_empty() {
            let detail = "its configuration is wrong; GET /health says what";
            return Outcome::Refused(Refusal::Unavailable(detail));
        }
        let Body::Whole(body) = body else {
            return Outcome::Refused(Refusal::TooLarge { limit: self.config.max_body_bytes });
        };
        match dialect.decode(headers, &body) {
            Ok(call) => call::serve(call, self.catalog, &self.config, host).await,
            Err(refusal) => Outcome::Refused(refusal),
        }
    }

    fn list(&self, dialect: Dialect, headers: &dyn Headers) -> Outbound {
        if let Err(refusal) = dialect.check_version(headers) {
            return dialect.encode(Outcome::Refused(refusal));
        }
        let list = dialect.list(self.catalog);
        let answer = if http::matches_etag(headers, list.etag) {
            Outbound::empty(304)
        } else {
            Outbound::json(200, list.body)
        };
        // "no-cache" lets caches keep it but ask each time: a deployment shows at once.
        answer.with("etag", list.etag).with("cache-control", "no-cache")
    }

    /// `GET /health` (OXP health-check): 200 when calls can be served, 503 with the reasons when not.
    async fn health(&self, dialect: Dialect, headers: &dyn Headers, host: &dyn Host) -> Outbound {
        if let Err(refusal) = dialect.check_version(headers) {
            return dialect.encode(Outcome::Refused(refusal));
        }
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
        Outbound::json(status, body).with("cache-control", "no-store")
    }
}

#[cfg(test)]
mod tests;
