//! Credentials: an API key, and a token that its holder has allowed a client to have.

use serde_json::{Value, json};
use toolbooth::Server;
use toolbooth::http::{Method, Response};
use toolbooth::testing::FakeHost;

use crate::scenario::Message;

const ORIGIN: &str = "https://tools.example";
const REDIRECT: &str = "https://client.example/cb";
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
/// The SHA-256 of the verifier (RFC 7636, appendix B).
const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
const KEY: &str = "calendar-key";
const API_KEYS: &str = r#"[{"name":"Calendar","scopes":[],"hash":"e8b18fbe02fad6aa9ce82b235322e7c10196478f011f9f8617b1b75d6db57961"}]"#;

pub(crate) const KEY_HEADER: (&str, &str) = ("authorization", "Bearer calendar-key");

/// The host of a server that accepts the key, and tokens of people who have it.
pub(crate) fn host() -> FakeHost {
    FakeHost::with(&[
        ("AUTH", "sign-in, api-key"),
        ("API_KEYS", API_KEYS),
        ("PUBLIC_URL", ORIGIN),
        ("STATE_KEY", "0123456789abcdef0123456789abcdef"),
    ])
}

/// Registers a client, signs in with the key, and gets a token as the client does.
pub(crate) fn access_token(server: &Server, host: &FakeHost) -> String {
    let client = json!({
        "client_name": "Client", "redirect_uris": [REDIRECT],
        "token_endpoint_auth_method": "none", "grant_types": ["authorization_code"],
    });
    let registered = Message::post("/oauth/register", &client).send(server, host);
    let client_id = member(&registered, "client_id");

    let request = form(&[
        ("response_type", "code"),
        ("client_id", &client_id),
        ("redirect_uri", REDIRECT),
        ("code_challenge", CHALLENGE),
        ("code_challenge_method", "S256"),
        ("resource", &format!("{ORIGIN}/mcp")),
    ]);
    let page = Message::get(&format!("/oauth/authorize?{request}")).send(server, host);
    let text = String::from_utf8_lossy(&page.body);
    let (_, rest) = text.split_once("name=\"request\" value=\"").expect("a form");
    let sealed = rest.split('"').next().unwrap_or_default();
    let fields = form(&[("request", sealed), ("with", "key"), ("api_key", KEY)]);
    let cookies: Vec<_> =
        headers(&page, "set-cookie").filter_map(|it| it.split(';').next()).collect();
    let agreed = post("/oauth/authorize", fields)
        .with([("cookie", &cookies.join("; ")), ("sec-fetch-site", "same-origin")])
        .send(server, host);
    let location = headers(&agreed, "location").next().unwrap_or_default();
    let (_, query) = location.split_once('?').expect("the way back to the client");
    let mut parameters = form_urlencoded::parse(query.as_bytes());
    let (_, code) = parameters.find(|(name, _)| name == "code").expect("a code");

    let fields = form(&[
        ("grant_type", "authorization_code"),
        ("client_id", &client_id),
        ("code", &code),
        ("redirect_uri", REDIRECT),
        ("code_verifier", VERIFIER),
    ]);
    member(&post("/oauth/token", fields).send(server, host), "access_token")
}

fn form(fields: &[(&str, &str)]) -> String {
    form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish()
}

fn post(path: &str, fields: String) -> Message {
    let headers = vec![("content-type", "application/x-www-form-urlencoded".to_owned())];
    Message { method: Method::Post, path: path.to_owned(), headers, body: fields.into_bytes() }
}

fn headers<'a>(response: &'a Response, name: &str) -> impl Iterator<Item = &'a str> {
    response.headers.iter().filter(move |(known, _)| *known == name).map(|(_, value)| &**value)
}

/// A member of a response that is a text.
fn member(response: &Response, name: &str) -> String {
    let body: Value = serde_json::from_slice(&response.body).unwrap_or_default();
    let text = body[name].as_str();
    text.unwrap_or_else(|| panic!("{}", String::from_utf8_lossy(&response.body))).to_owned()
}
