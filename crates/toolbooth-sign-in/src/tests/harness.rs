//! A server with its host, people's browsers, and responses, as all tests of this crate use them.

use std::cell::RefCell;
use std::collections::BTreeMap;

use form_urlencoded::Serializer;
use serde_json::Value;

use toolbooth::Server;
use toolbooth::http::{Body, Request, Response};
use toolbooth::testing::Pairs;
use toolbooth::testing::echo::CATALOG;
use toolbooth::testing::{FakeHost, Upstream, ready};

pub(crate) const ORIGIN: &str = "https://tools.example";
/// The API key of `Calendar`.
pub(crate) const KEY: &str = "calendar-key";

/// A server with its host.
pub(crate) struct Harness {
    pub(crate) server: Server,
    pub(crate) host: FakeHost,
    /// The headers that every request has, unless it has one of that name itself.
    headers: &'static [(&'static str, &'static str)],
}

/// Variables of a server; later ones replace earlier ones.
pub(crate) type Variables<'a> = [(&'a str, &'a str)];

impl Harness {
    /// A server with these variables, a function that answers the requests to other servers, and headers of every request.
    pub(crate) fn start(
        variables: [&Variables<'_>; 2],
        upstream: Upstream,
        headers: &'static [(&'static str, &'static str)],
    ) -> Self {
        let host = FakeHost { upstream, ..FakeHost::with(&variables.concat()) };
        let server = Server::new(CATALOG, super::CAPABILITIES, &host);
        Self { server, host, headers }
    }

    /// An instance, which knows nothing of what others have done.
    pub(crate) fn instance(&self) -> Server {
        Server::new(CATALOG, super::CAPABILITIES, &self.host)
    }

    /// Replaces the instance of the server, at another location, and some variables.
    pub(crate) fn restart(&mut self, variables: &Variables<'_>) {
        for (name, value) in variables {
            self.host.variables.insert((*name).to_owned(), (*value).to_owned());
        }
        self.server = self.instance();
    }

    pub(crate) fn wait(&self, ms: u64) {
        self.host.now_ms.set(self.host.now_ms.get() + ms);
    }

    /// Everything that was logged.
    pub(crate) fn log(&self) -> String {
        self.host.log.borrow().join("\n")
    }

    /// Asks the instance of the harness; the route is a method, and an address or a path.
    pub(crate) fn send(
        &self,
        route: (&str, &str),
        headers: &[(&str, &str)],
        body: &str,
    ) -> Response {
        ready(self.answer(route, headers, body))
    }

    /// The same, for requests at the same time.
    pub(crate) async fn answer(
        &self,
        route: (&str, &str),
        headers: &[(&str, &str)],
        body: &str,
    ) -> Response {
        self.ask_at(&self.server, route, headers, body).await
    }

    /// Asks an instance that has just started.
    pub(crate) fn ask(
        &self,
        route: (&str, &str),
        headers: &[(&str, &str)],
        body: &str,
    ) -> Response {
        ready(self.ask_at(&self.instance(), route, headers, body))
    }

    /// Asks that instance. Headers that come first count.
    pub(crate) async fn ask_at(
        &self,
        server: &Server,
        (method, at): (&str, &str),
        headers: &[(&str, &str)],
        body: &str,
    ) -> Response {
        let path = at.strip_prefix(ORIGIN).unwrap_or(at);
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let headers = &Pairs(&[headers, self.headers].concat());
        let body = Body::from(body);
        let request =
            Request { method: method.into(), path, query, headers, body, own_origin: None };
        server.answer(request, &self.host).await.head
    }
}

/// A browser: it keeps cookies, each until a time in milliseconds.
#[derive(Default, Clone)]
pub(crate) struct Browser(RefCell<BTreeMap<String, (String, u64)>>);

impl Browser {
    /// Has the cookies of another browser.
    pub(crate) fn copy(&self, other: &Self) {
        *self.0.borrow_mut() = other.0.borrow().clone();
    }

    /// Has a cookie that does not expire.
    pub(crate) fn keep(&self, name: String, value: String) {
        self.0.borrow_mut().insert(name, (value, u64::MAX));
    }

    /// The value of its `Cookie` header.
    pub(crate) fn cookies(&self) -> String {
        let cookies = self.0.borrow();
        let pairs = cookies.iter().map(|(name, (value, _))| format!("{name}={value}"));
        pairs.collect::<Vec<_>>().join("; ")
    }

    /// Asks the instance of the harness.
    pub(crate) fn send(
        &self,
        harness: &Harness,
        route: (&str, &str),
        headers: &[(&str, &str)],
        body: &str,
    ) -> Response {
        self.send_at(harness, &harness.server, route, headers, body)
    }

    /// Asks that instance.
    pub(crate) fn send_at(
        &self,
        harness: &Harness,
        server: &Server,
        route: (&str, &str),
        headers: &[(&str, &str)],
        body: &str,
    ) -> Response {
        let now_ms = harness.host.now_ms.get();
        self.0.borrow_mut().retain(|_, (_, expires_ms)| now_ms < *expires_ms);
        let cookies = self.cookies();
        let headers = [headers, &[("cookie", &*cookies)]].concat();
        let response = ready(harness.ask_at(server, route, &headers, body));
        for (_, set) in response.headers.iter().filter(|(name, _)| *name == "set-cookie") {
            let (name, rest) = set.split_once('=').unwrap();
            let (value, attributes) = rest.split_once("; ").unwrap();
            assert!(name.starts_with("__Host-"), "{name}");
            assert!(set.len() < 4096, "the most that browsers keep");
            let (age, others) = attributes.split_once("; ").unwrap();
            assert_eq!(others, "Path=/; Secure; HttpOnly; SameSite=Lax");
            let age: u64 = age.strip_prefix("Max-Age=").unwrap().parse().unwrap();
            let expires_ms = now_ms + age * 1000;
            self.0.borrow_mut().insert(name.to_owned(), (value.to_owned(), expires_ms));
        }
        response
    }
}

pub(crate) fn encode<V: AsRef<str>>(fields: &[(&str, V)]) -> String {
    let mut form = Serializer::new(String::new());
    form.extend_pairs(fields.iter().map(|(name, value)| (name, value.as_ref())));
    form.finish()
}

/// A field of a form or a query.
pub(crate) fn field(form: &str, name: &str) -> Option<String> {
    let mut fields = form_urlencoded::parse(form.as_bytes());
    fields.find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
}

/// A parameter of a URL.
pub(crate) fn query(url: &str, name: &str) -> Option<String> {
    field(url.split_once('?')?.1, name)
}

/// The value of a response's header.
pub(crate) fn header<'a>(response: &'a Response, name: &str) -> Option<&'a str> {
    response.headers.iter().find(|(known, _)| *known == name).map(|(_, value)| &**value)
}

pub(crate) fn location(response: &Response) -> &str {
    header(response, "location").unwrap_or_else(|| panic!("{} {}", response.status, text(response)))
}

pub(crate) fn text(response: &Response) -> &str {
    str::from_utf8(&response.body).unwrap()
}

pub(crate) fn json(response: &Response) -> Value {
    serde_json::from_slice(&response.body).unwrap_or_else(|_| panic!("{}", text(response)))
}
