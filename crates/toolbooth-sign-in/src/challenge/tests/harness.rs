//! A client of tools that need a user's account at `mail`, and the user's browser.

use serde_json::{Value, json};

use crate::tests::harness::{Variables, header, location, text};
use crate::tests::provider::{self, AUTHORIZE, FakeAuthorizationServer, MAIL, upstream};
use toolbooth::Server;
use toolbooth::http::Response;
use toolbooth::testing::ready;

pub(super) use crate::tests::harness::{Browser, Harness, ORIGIN};

/// The application that calls, by its key.
pub(crate) const KEY: (&str, &str) = ("oxp-api-key", crate::tests::harness::KEY);

/// A server whose tools may ask for authorization at `mail`.
pub(crate) const VARIABLES: &Variables<'_> = &[
    ("AUTH", "api-key"),
    (
        "API_KEYS",
        r#"[{"name":"Calendar","scopes":[],"hash":"e8b18fbe02fad6aa9ce82b235322e7c10196478f011f9f8617b1b75d6db57961"}]"#,
    ),
    ("PUBLIC_URL", ORIGIN),
    ("STATE_KEY", "0123456789abcdef0123456789abcdef"),
    ("UNVERIFIED_USERS", "allow"),
];

pub(super) fn start() -> Harness {
    start_with(&[])
}

/// With additional variables, which may replace those of the server.
pub(super) fn start_with(variables: &Variables<'_>) -> Harness {
    upstream(|server| *server = FakeAuthorizationServer::default());
    Harness::start([&[VARIABLES, MAIL].concat(), variables], provider::answer, &[KEY])
}

/// An address with another first letter in the value of the field `name`.
pub(super) fn tampered(address: &str, name: &str) -> String {
    let (before, value) = address.split_once(&format!("{name}=")).unwrap();
    let letter = if value.starts_with('A') { 'B' } else { 'A' };
    format!("{before}{name}={letter}{}", &value[1..])
}

/// A challenge as a client reads it.
pub(super) struct InputRequired {
    pub(super) url: String,
    pub(super) check_url: String,
}

/// With no variables but these.
pub(super) fn bare(variables: &Variables<'_>) -> Harness {
    Harness::start([variables, &[]], provider::answer, &[KEY])
}

impl Harness {
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
    pub(super) fn given_token(&self) -> String {
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
}

impl Browser {
    /// Sends a request from a page of the server, or opens a link.
    pub(super) fn visit(&self, harness: &Harness, route: (&str, &str)) -> Response {
        self.visit_at(harness, &harness.instance(), route)
    }

    /// The same, at that instance.
    pub(super) fn visit_at(
        &self,
        harness: &Harness,
        server: &Server,
        route: (&str, &str),
    ) -> Response {
        self.send_at(harness, server, route, &[("sec-fetch-site", "same-origin")], "")
    }

    /// Goes from the challenge's page to the provider, and returns the address there.
    pub(super) fn leave(&self, harness: &Harness, asked: &InputRequired) -> String {
        let page = self.visit(harness, ("GET", &asked.url));
        assert_eq!(page.status, 200, "{}", text(&page));
        let answer = self.visit(harness, ("POST", &asked.url));
        assert_eq!(answer.status, 303, "{}", text(&answer));
        assert!(header(&answer, "set-cookie").unwrap().contains("; Max-Age=900; "));
        assert!(location(&answer).starts_with(AUTHORIZE), "{}", location(&answer));
        location(&answer).to_owned()
    }
}
