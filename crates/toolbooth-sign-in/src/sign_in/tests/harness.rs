//! A client, a person's browser, and stand-ins for other servers around a server.

use std::cell::RefCell;
use std::collections::BTreeMap;

use base64ct::{Base64UrlUnpadded, Encoding};
use form_urlencoded::Serializer;
use serde_json::Value;
use sha2::{Digest, Sha256};

use toolbooth::Server;
use toolbooth::http::{Body, Request, Response};
use toolbooth::testing::Pairs;
use toolbooth::testing::echo::CATALOG;
use toolbooth::testing::{FakeHost, Upstream, ready};

pub(super) const ORIGIN: &str = "https://tools.example";
pub(super) const RESOURCE: &str = "https://tools.example/mcp";
pub(super) const REDIRECT: &str = "https://client.example/cb";
pub(super) const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
/// The key that people type, and its entry.
pub(super) const KEY: &str = "calendar-key";
const API_KEYS: &str = r#"[{"name":"Calendar","scopes":["echo:a"],"hash":"e8b18fbe02fad6aa9ce82b235322e7c10196478f011f9f8617b1b75d6db57961"}]"#;

pub(super) const VARIABLES: &[(&str, &str)] = &[
    ("AUTH", "sign-in, api-key"),
    ("API_KEYS", API_KEYS),
    ("PUBLIC_URL", ORIGIN),
    ("STATE_KEY", "0123456789abcdef0123456789abcdef"),
];

/// A server with its host.
pub(super) struct Harness {
    pub(super) server: Server,
    pub(super) host: FakeHost,
}

/// A browser: it keeps cookies, each until a time in milliseconds.
#[derive(Default)]
pub(super) struct Browser(RefCell<BTreeMap<String, (String, u64)>>);

/// A registered client.
pub(super) struct Registered {
    pub(super) id: String,
    pub(super) secret: Option<String>,
}

impl Harness {
    pub(super) fn new() -> Self {
        Self::with(&[], |_| panic!("no request is expected"))
    }

    /// A harness with further variables, and a function that answers the requests to other servers.
    pub(super) fn with(variables: &[(&str, &str)], upstream: Upstream) -> Self {
        let all: Vec<_> = VARIABLES.iter().chain(variables).copied().collect();
        let host = FakeHost { upstream, ..FakeHost::with(&all) };
        let server = Server::new(CATALOG, crate::tests::CAPABILITIES, &host);
        assert_eq!(server.state().pipeline.settings.problems, Vec::<String>::new());
        Self { server, host }
    }

    /// Another instance of the server, at another location.
    pub(super) fn restart(&mut self, variables: &[(&str, &str)]) {
        for (name, value) in variables {
            self.host.variables.insert((*name).to_owned(), (*value).to_owned());
        }
        self.server = Server::new(CATALOG, crate::tests::CAPABILITIES, &self.host);
    }

    pub(super) fn wait(&self, ms: u64) {
        self.host.now_ms.set(self.host.now_ms.get() + ms);
    }

    pub(super) fn send(
        &self,
        route: (&str, &str),
        headers: &[(&str, &str)],
        body: &str,
    ) -> Response {
        ready(self.answer(route, headers, body))
    }

    /// The response, for requests at the same time.
    pub(super) async fn answer(
        &self,
        (method, path): (&str, &str),
        headers: &[(&str, &str)],
        body: &str,
    ) -> Response {
        let path = path.strip_prefix(ORIGIN).unwrap_or(path);
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let headers = &Pairs(headers);
        let body = Body::from(body);
        let request =
            Request { method: method.into(), path, query, headers, body, own_origin: None };
        self.server.answer(request, &self.host).await.head
    }

    /// Registers a client.
    pub(super) fn register(&self, metadata: &Value) -> (u16, Value) {
        let headers = [("content-type", "application/json")];
        let response = self.send(("POST", "/oauth/register"), &headers, &metadata.to_string());
        (response.status, json(&response))
    }

    /// A public client that uses refresh tokens.
    pub(super) fn client(&self) -> Registered {
        self.client_of("none")
    }

    pub(super) fn client_of(&self, method: &str) -> Registered {
        let (status, body) = self.register(&serde_json::json!({
            "client_name": "Client", "redirect_uris": [REDIRECT, "http://localhost/cb"],
            "token_endpoint_auth_method": method,
            "grant_types": ["authorization_code", "refresh_token"],
        }));
        assert_eq!(status, 201, "{body}");
        let text = |name: &str| body[name].as_str().map(str::to_owned);
        Registered { id: text("client_id").unwrap(), secret: text("client_secret") }
    }

    /// A request to the token endpoint.
    pub(super) fn token(&self, fields: &[(&str, &str)]) -> (u16, Value) {
        self.form("/oauth/token", &[], fields)
    }

    pub(super) fn form(
        &self,
        path: &str,
        headers: &[(&str, &str)],
        fields: &[(&str, &str)],
    ) -> (u16, Value) {
        let form = [("content-type", "application/x-www-form-urlencoded")];
        let headers: Vec<_> = form.iter().chain(headers).copied().collect();
        let response = self.send(("POST", path), &headers, &encode(fields));
        let body = if response.body.is_empty() { Value::Null } else { json(&response) };
        (response.status, body)
    }

    /// Exchanges a code.
    pub(super) fn exchange(&self, client: &Registered, code: &str) -> (u16, Value) {
        self.token(&code_fields(&client.id, code))
    }

    pub(super) fn refresh(&self, client: &Registered, token: &str) -> (u16, Value) {
        self.token(&[
            ("grant_type", "refresh_token"),
            ("client_id", &client.id),
            ("refresh_token", token),
        ])
    }

    /// The status of a call of the tool without scopes.
    pub(super) fn call(&self, token: &str) -> u16 {
        let authorization = format!("Bearer {token}");
        let headers = [("content-type", "application/json"), ("authorization", &authorization)];
        let body = r#"{"tool_id":"Echo.Say","input":{"text":"hi"}}"#;
        self.send(("POST", "/tools/call"), &headers, body).status
    }
}

/// The fields with which a code is exchanged.
pub(super) fn code_fields<'a>(client_id: &'a str, code: &'a str) -> [(&'static str, &'a str); 5] {
    [
        ("grant_type", "authorization_code"),
        ("client_id", client_id),
        ("code", code),
        ("redirect_uri", REDIRECT),
        ("code_verifier", VERIFIER),
    ]
}

/// The parameters of an authorization request.
pub(super) fn request(client_id: &str) -> Vec<(&'static str, String)> {
    let challenge = Base64UrlUnpadded::encode_string(&Sha256::digest(VERIFIER));
    [
        ("response_type", "code"),
        ("client_id", client_id),
        ("redirect_uri", REDIRECT),
        ("state", "s t&ate"),
        ("code_challenge", &challenge),
        ("code_challenge_method", "S256"),
        ("resource", RESOURCE),
    ]
    .map(|(name, value)| (name, value.to_owned()))
    .to_vec()
}

/// The request with some parameters replaced; an empty one is omitted.
pub(super) fn changed(
    mut parameters: Vec<(&'static str, String)>,
    changes: &[(&'static str, &str)],
) -> Vec<(&'static str, String)> {
    for (name, value) in changes {
        parameters.retain(|(known, _)| known != name);
        if !value.is_empty() {
            parameters.push((name, (*value).to_owned()));
        }
    }
    parameters
}

pub(super) fn encode<V: AsRef<str>>(fields: &[(&str, V)]) -> String {
    let mut form = Serializer::new(String::new());
    form.extend_pairs(fields.iter().map(|(name, value)| (name, value.as_ref())));
    form.finish()
}

impl Browser {
    /// Has the cookies of another browser.
    pub(super) fn copy(&self, other: &Self) {
        *self.0.borrow_mut() = other.0.borrow().clone();
    }

    pub(super) fn send(
        &self,
        harness: &Harness,
        (method, url): (&str, &str),
        headers: &[(&str, &str)],
        body: &str,
    ) -> Response {
        let now_ms = harness.host.now_ms.get();
        self.0.borrow_mut().retain(|_, (_, expires_ms)| now_ms < *expires_ms);
        let cookies: Vec<String> =
            self.0.borrow().iter().map(|(name, (value, _))| format!("{name}={value}")).collect();
        let cookies = cookies.join("; ");
        let own = [("cookie", cookies.as_str())];
        let headers: Vec<_> = headers.iter().chain(&own).copied().collect();
        let response = harness.send((method, url), &headers, body);
        for (_, set) in response.headers.iter().filter(|(name, _)| *name == "set-cookie") {
            let (name, rest) = set.split_once('=').unwrap();
            let value = rest.split(';').next().unwrap();
            assert!(name.len() + value.len() < 4_000);
            for attribute in ["Path=/", "Secure", "HttpOnly", "SameSite=Lax"] {
                assert!(rest.contains(attribute), "{set}");
            }
            let age = rest.split("Max-Age=").nth(1).unwrap().split(';').next().unwrap();
            let expires_ms = now_ms + age.parse::<u64>().unwrap() * 1000;
            self.0.borrow_mut().insert(name.to_owned(), (value.to_owned(), expires_ms));
        }
        response
    }

    /// Opens the consent page.
    pub(super) fn open(&self, harness: &Harness, parameters: &[(&str, String)]) -> Response {
        let url = format!("/oauth/authorize?{}", encode(parameters));
        self.send(harness, ("GET", &url), &[], "")
    }

    /// Sends the form of a page.
    pub(super) fn answer(
        &self,
        harness: &Harness,
        page: &Response,
        fields: &[(&str, &str)],
    ) -> Response {
        let text = text(page);
        let (_, rest) =
            text.split_once("name=\"request\" value=\"").unwrap_or_else(|| panic!("{text}"));
        let request = rest.split('"').next().unwrap();
        let fields: Vec<_> = [("request", request)].iter().chain(fields).copied().collect();
        self.submit(harness, &encode(&fields))
    }

    pub(super) fn submit(&self, harness: &Harness, body: &str) -> Response {
        let headers = [
            ("content-type", "application/x-www-form-urlencoded"),
            ("sec-fetch-site", "same-origin"),
        ];
        self.send(harness, ("POST", "/oauth/authorize"), &headers, body)
    }

    /// Agrees with the API key, and returns the code.
    pub(super) fn code(&self, harness: &Harness, parameters: &[(&str, String)]) -> String {
        let page = self.open(harness, parameters);
        let response = self.answer(harness, &page, &[("with", "key"), ("api_key", KEY)]);
        assert_eq!(response.status, 303, "{}", text(&response));
        query(location(&response), "code").unwrap()
    }
}

pub(super) fn text(response: &Response) -> &str {
    str::from_utf8(&response.body).unwrap()
}

pub(super) fn json(response: &Response) -> Value {
    serde_json::from_slice(&response.body).unwrap_or_else(|_| panic!("{}", text(response)))
}

pub(super) fn location(response: &Response) -> &str {
    header(response, "location").unwrap_or_else(|| panic!("{} {}", response.status, text(response)))
}

pub(super) fn header<'a>(response: &'a Response, name: &str) -> Option<&'a str> {
    response.headers.iter().find(|(known, _)| *known == name).map(|(_, value)| &**value)
}

/// A parameter of a URL.
pub(super) fn query(url: &str, name: &str) -> Option<String> {
    let (_, query) = url.split_once('?')?;
    let mut pairs = form_urlencoded::parse(query.as_bytes());
    pairs.find(|(known, _)| known == name).map(|(_, value)| value.into_owned())
}
