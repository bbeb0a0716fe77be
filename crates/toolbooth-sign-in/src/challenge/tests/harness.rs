//! A client, a user's browser and an authorization server around a server.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::oauth::code_challenge;
use toolbooth::Server;
use toolbooth::host::{HttpError, HttpRequest, HttpResponse};
use toolbooth::http::{Body, Request, Response};
use toolbooth::testing::Pairs;
use toolbooth::testing::echo::CATALOG;
use toolbooth::testing::{FakeHost, ready};

pub(super) const ORIGIN: &str = "https://tools.example";
/// Where the provider `mail` sends users back.
pub(super) const CALLBACK: &str = "https://tools.example/auth/callback/mail";
const AUTHORIZE: &str = "https://mail.example/authorize?v=1";
const TOKEN: &str = "https://mail.example/token";

/// The application that calls, by its key.
pub(crate) const KEY: (&str, &str) = ("oxp-api-key", "calendar-key");
const API_KEYS: &str = r#"[{"name":"Calendar","scopes":[],"hash":"e8b18fbe02fad6aa9ce82b235322e7c10196478f011f9f8617b1b75d6db57961"}]"#;

/// A server whose tools may ask for authorization at `mail`.
pub(crate) const VARIABLES: &[(&str, &str)] = &[
    ("AUTH", "api-key"),
    ("API_KEYS", API_KEYS),
    ("OAUTH_PROVIDERS", "mail"),
    ("PUBLIC_URL", ORIGIN),
    ("STATE_KEY", "0123456789abcdef0123456789abcdef"),
    ("GRANT_KEYS", "a:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="),
    ("OAUTH_MAIL_CLIENT_ID", "booth"),
    ("OAUTH_MAIL_CLIENT_SECRET", "s&cret"),
    ("OAUTH_MAIL_TITLE", "<Mail>"),
    ("OAUTH_MAIL_AUTHORIZE_URL", AUTHORIZE),
    ("OAUTH_MAIL_TOKEN_URL", TOKEN),
    ("OAUTH_MAIL_SCOPES", "offline"),
    ("UNVERIFIED_USERS", "allow"),
];

/// The state of the authorization server.
#[derive(Default)]
pub(super) struct FakeAuthorizationServer {
    pub(super) down: bool,
    /// Answers with this status and body instead.
    pub(super) instead: Option<(u16, &'static str)>,
    /// Scopes that the user grants; all if absent.
    pub(super) scope: Option<&'static str>,
    /// Seconds; none if absent.
    pub(super) expires_in: Option<u64>,
    pub(super) keeps_refresh_token: bool,
    /// `iss` of the discovery document.
    pub(super) issuer: &'static str,
    /// Whether that document promises `iss` in callbacks.
    pub(super) tells_issuer: bool,
    /// Codes and refresh tokens that were used, with the challenge that codes were given for.
    used: BTreeSet<String>,
    codes: BTreeMap<String, String>,
    issued: u32,
    /// How often it was asked, in vain or not.
    pub(super) tried: usize,
    /// The bodies that came.
    pub(super) asked: Vec<String>,
    /// What came to be revoked: method, address, `Authorization` and body.
    pub(super) revoked: Vec<(String, String, String, String)>,
    /// Answers these with this status instead.
    pub(super) revocation_status: Option<u16>,
    /// Where its discovery document says that grants are revoked.
    pub(super) revocation_endpoint: Option<&'static str>,
}

thread_local! {
    pub(super) static SERVER: RefCell<FakeAuthorizationServer> = RefCell::default();
}

pub(super) fn upstream<T>(with: impl FnOnce(&mut FakeAuthorizationServer) -> T) -> T {
    SERVER.with_borrow_mut(with)
}

impl FakeAuthorizationServer {
    fn answer(&mut self, request: &HttpRequest<'_>) -> Result<HttpResponse, HttpError> {
        let reply = |status, body: &str| Ok(HttpResponse::new(status, body));
        self.tried += 1;
        if self.down {
            return Err(HttpError::Timeout);
        }
        if request.url.contains("/revoke") {
            let body = String::from_utf8(request.body.clone().unwrap()).unwrap();
            let mut headers = request.headers.iter();
            let authorization = headers.find(|(name, _)| *name == "authorization");
            let authorization = authorization.map_or("", |(_, value)| value).to_owned();
            self.used.extend(field(&body, "token"));
            self.revoked.push((
                request.method.into(),
                request.url.to_string(),
                authorization,
                body,
            ));
            return reply(self.revocation_status.unwrap_or(200), "");
        }
        if let Some((status, body)) = self.instead {
            return reply(status, body);
        }
        if request.url.ends_with("/.well-known/openid-configuration") {
            let document = json!({"issuer": self.issuer, "authorization_endpoint": AUTHORIZE,
                "token_endpoint": TOKEN, "revocation_endpoint": self.revocation_endpoint,
                "authorization_response_iss_parameter_supported": self.tells_issuer});
            return reply(200, &document.to_string());
        }
        assert_eq!((request.method, request.url.as_ref()), ("POST", TOKEN));
        let body = String::from_utf8(request.body.clone().unwrap()).unwrap();
        let basic = request
            .headers
            .iter()
            .any(|(name, value)| *name == "authorization" && value == "Basic Ym9vdGg6cyUyNmNyZXQ=");
        assert!(basic || body.contains("client_id=booth&client_secret=s%26cret"), "{body}");
        self.asked.push(body.clone());
        let field = |name: &str| field(&body, name).unwrap_or_default();
        let once = match field("grant_type").as_str() {
            "authorization_code" => {
                assert_eq!(field("redirect_uri"), CALLBACK);
                let challenge = code_challenge(&field("code_verifier"));
                (self.codes.get(&field("code")) == Some(&challenge)).then(|| field("code"))
            }
            "refresh_token" => Some(field("refresh_token")),
            other => panic!("{other}"),
        };
        let is_new = |once: &String| self.keeps_refresh_token || self.used.insert(once.clone());
        if !once.as_ref().is_some_and(is_new) {
            return reply(400, r#"{"error":"invalid_grant"}"#);
        }
        self.issued += 1;
        let mut tokens = json!({"access_token": format!("access-{}", self.issued),
            "token_type": "bearer", "expires_in": self.expires_in, "scope": self.scope});
        if !(self.keeps_refresh_token && self.issued > 1) {
            tokens["refresh_token"] = json!(format!("refresh-{}", self.issued));
        }
        reply(200, &tokens.to_string())
    }
}

/// An address with another first letter in the value of the field `name`.
pub(super) fn tampered(address: &str, name: &str) -> String {
    let (before, value) = address.split_once(&format!("{name}=")).unwrap();
    let letter = if value.starts_with('A') { 'B' } else { 'A' };
    format!("{before}{name}={letter}{}", &value[1..])
}

/// A field of a form or a query.
pub(super) fn field(form: &str, name: &str) -> Option<String> {
    let mut fields = form_urlencoded::parse(form.as_bytes());
    fields.find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
}

/// The value of a response's header.
pub(super) fn header<'a>(answer: &'a Response, name: &str) -> Option<&'a str> {
    answer.headers.iter().find(|(key, _)| *key == name).map(|(_, value)| value.as_ref())
}

pub(super) fn text(answer: &Response) -> String {
    String::from_utf8(answer.body.to_vec()).unwrap()
}

/// A challenge as a client reads it.
pub(super) struct InputRequired {
    pub(super) url: String,
    pub(super) check_url: String,
}

pub(super) struct Harness {
    pub(super) host: FakeHost,
}

impl Harness {
    pub(super) fn new() -> Self {
        Self::with(&[])
    }

    /// With additional variables, which may replace those in [`VARIABLES`].
    pub(super) fn with(variables: &[(&str, &str)]) -> Self {
        upstream(|server| *server = FakeAuthorizationServer::default());
        let all: Vec<_> = VARIABLES.iter().chain(variables).copied().collect();
        let upstream = |request: &HttpRequest<'_>| upstream(|server| server.answer(request));
        let host = FakeHost { upstream, ..FakeHost::with(&all) };
        Self { host }
    }

    pub(super) fn wait(&self, ms: u64) {
        self.host.now_ms.set(self.host.now_ms.get() + ms);
    }

    /// Asks an instance that has just started; `at` is an address or a path.
    pub(super) fn ask(
        &self,
        request: (&str, &str),
        headers: &[(&str, &str)],
        body: &str,
    ) -> Response {
        ready(self.ask_at(&self.instance(), request, headers, body))
    }

    /// An instance, which knows nothing of what others have done.
    pub(super) fn instance(&self) -> Server {
        Server::new(CATALOG, crate::tests::CAPABILITIES, &self.host)
    }

    /// Asks that instance. Headers that come first count.
    pub(super) async fn ask_at(
        &self,
        server: &Server,
        (method, at): (&str, &str),
        headers: &[(&str, &str)],
        body: &str,
    ) -> Response {
        let path = at.strip_prefix(ORIGIN).unwrap_or(at);
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let request = Request {
            own_origin: None,
            method: method.into(),
            path,
            query,
            headers: &Pairs(&[headers, &[KEY]].concat()),
            body: Body::from(body),
        };
        server.answer(request, &self.host).await.head
    }

    /// Calls the tool that needs mail for `user`; `input` says what it does.
    pub(super) fn call_for(&self, user: &str, input: &str) -> (u16, Value) {
        ready(self.call_at(&self.instance(), user, input))
    }

    /// The same, of that instance.
    pub(super) async fn call_at(&self, server: &Server, user: &str, input: &str) -> (u16, Value) {
        self.call_with(server, &[], (user, input, json!([]))).await
    }

    /// The same, with these headers and `context.authorization`.
    pub(super) async fn call_with(
        &self,
        server: &Server,
        headers: &[(&str, &str)],
        (user, input, authorization): (&str, &str, Value),
    ) -> (u16, Value) {
        let call = json!({"tool_id": "Echo.Private", "input": {"text": input},
            "context": {"user_id": user, "secrets": [{"id": "KEY", "value": "k"}],
                "authorization": authorization}});
        let headers = [headers, &[("content-type", "application/json")]].concat();
        let answer = self.ask_at(server, ("POST", "/oxp/call"), &headers, &call.to_string()).await;
        (answer.status, serde_json::from_slice(&answer.body).unwrap())
    }

    /// The token that a call is given.
    pub(super) fn token(&self) -> String {
        let (status, body) = self.call_for("ada", "token");
        assert_eq!(status, 200, "{body}");
        body["value"].as_str().unwrap_or_default().to_owned()
    }

    /// The challenge that a call is answered with.
    pub(super) fn challenge(&self) -> InputRequired {
        self.challenge_for("ada", "token")
    }

    pub(super) fn challenge_for(&self, user: &str, input: &str) -> InputRequired {
        let (status, body) = self.call_for(user, input);
        assert_eq!(status, 400, "{body}");
        let all = body["missing_requirements"]["authorization"].as_array().unwrap();
        let [one] = all.as_slice() else { panic!("{body}") };
        let keys: Vec<_> = one.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["check_url", "id", "url"], "the schema is closed");
        let text = |key: &str| one[key].as_str().unwrap().to_owned();
        InputRequired { url: text("url"), check_url: text("check_url") }
    }

    pub(super) fn status(&self, asked: &InputRequired) -> String {
        self.check(asked)["status"].as_str().unwrap().to_owned()
    }

    /// All that the check says.
    pub(super) fn check(&self, asked: &InputRequired) -> Value {
        let answer = self.ask(("GET", &asked.check_url), &[], "");
        assert_eq!(answer.status, 200, "X21");
        assert_eq!(header(&answer, "access-control-allow-origin"), Some("*"));
        serde_json::from_slice(&answer.body).unwrap()
    }

    /// Everything that was logged.
    pub(super) fn log(&self) -> String {
        self.host.log.borrow().join("\n")
    }
}

/// A user's browser.
#[derive(Default)]
pub(super) struct Browser {
    pub(super) cookies: BTreeMap<String, String>,
}

impl Browser {
    pub(super) fn send(&mut self, harness: &Harness, request: (&str, &str)) -> Response {
        self.send_at(harness, &harness.instance(), request)
    }

    /// Sends to that instance.
    pub(super) fn send_at(
        &mut self,
        harness: &Harness,
        server: &Server,
        request: (&str, &str),
    ) -> Response {
        let cookies: Vec<_> =
            self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let headers = [("cookie", &*cookies.join("; ")), ("sec-fetch-site", "same-origin")];
        let answer = ready(harness.ask_at(server, request, &headers, ""));
        if let Some(set) = header(&answer, "set-cookie") {
            let (name, rest) = set.split_once('=').unwrap();
            let (value, attributes) = rest.split_once("; ").unwrap();
            assert!(name.starts_with("__Host-"), "{name}");
            assert_eq!(attributes, "Max-Age=900; Path=/; Secure; HttpOnly; SameSite=Lax");
            assert!(set.len() < 4096, "the most that browsers keep");
            self.cookies.insert(name.to_owned(), value.to_owned());
        }
        answer
    }

    /// Goes from the challenge's page to the provider, and returns the address there.
    pub(super) fn leave(&mut self, harness: &Harness, asked: &InputRequired) -> String {
        let page = self.send(harness, ("GET", &asked.url));
        assert_eq!(page.status, 200, "{}", text(&page));
        let answer = self.send(harness, ("POST", &asked.url));
        assert_eq!(answer.status, 303, "{}", text(&answer));
        let location = header(&answer, "location").unwrap().to_owned();
        assert!(location.starts_with(AUTHORIZE), "{location}");
        location
    }
}

/// What the provider sends the user back to, when the user agrees.
pub(super) fn agree(location: &str) -> String {
    let query = location.split_once('?').unwrap().1;
    let get = |name: &str| field(query, name).unwrap();
    let fixed = ["response_type", "client_id", "scope", "code_challenge_method"].map(get);
    assert_eq!(fixed, ["code", "booth", "send offline", "S256"]);
    let code = upstream(|server| {
        let code = format!("code-{}", server.codes.len());
        server.codes.insert(code.clone(), get("code_challenge"));
        code
    });
    format!("{}?code={code}&state={}", get("redirect_uri"), get("state"))
}

/// What the provider sends the user back to, with an error instead of a code.
pub(super) fn disagree(location: &str, error: &str) -> String {
    let state = field(location.split_once('?').unwrap().1, "state").unwrap();
    format!("{CALLBACK}?error={error}&state={state}")
}
