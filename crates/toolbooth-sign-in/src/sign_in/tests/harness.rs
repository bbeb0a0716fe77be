//! Clients of the authorization server, and people who sign in.

use base64ct::{Base64UrlUnpadded, Encoding};
use serde_json::Value;
use sha2::{Digest, Sha256};

use toolbooth::http::Response;
use toolbooth::testing::Upstream;

pub(super) use crate::tests::harness::{
    Browser, Harness, KEY, ORIGIN, Variables, encode, header, json, location, query, text,
};

pub(super) const RESOURCE: &str = "https://tools.example/mcp";
pub(super) const REDIRECT: &str = "https://client.example/cb";
pub(super) const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
/// The entry of the key that people type.
const API_KEYS: &str = r#"[{"name":"Calendar","scopes":["echo:a"],"hash":"e8b18fbe02fad6aa9ce82b235322e7c10196478f011f9f8617b1b75d6db57961"}]"#;

pub(super) const VARIABLES: &Variables<'_> = &[
    ("AUTH", "sign-in, api-key"),
    ("API_KEYS", API_KEYS),
    ("PUBLIC_URL", ORIGIN),
    ("STATE_KEY", "0123456789abcdef0123456789abcdef"),
];

/// A registered client.
pub(super) struct Registered {
    pub(super) id: String,
    pub(super) secret: Option<String>,
}

pub(super) fn start() -> Harness {
    start_with(&[], |_| panic!("no request is expected"))
}

/// With further variables, and a function that answers the requests to other servers.
pub(super) fn start_with(variables: &Variables<'_>, upstream: Upstream) -> Harness {
    let harness = Harness::start([VARIABLES, variables], upstream, &[]);
    assert_eq!(harness.server.state().pipeline.settings.problems, Vec::<String>::new());
    harness
}

impl Harness {
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
        let secret = client.secret.as_deref().unwrap_or_default();
        self.token(&[&code_fields(&client.id, code)[..], &[("client_secret", secret)]].concat())
    }

    pub(super) fn refresh(&self, client: &Registered, token: &str) -> (u16, Value) {
        self.token(&[
            ("grant_type", "refresh_token"),
            ("client_id", &client.id),
            ("refresh_token", token),
            ("client_secret", client.secret.as_deref().unwrap_or_default()),
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

impl Browser {
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
