//! People of companies whose identity providers assert who they are: rules, keys and reuse, over time. What is wrong with a
//! single assertion is in tests/enterprise.test.mjs, with real signatures.

mod issuers;
mod persons;
mod rules;

use std::cell::RefCell;

use base64ct::{Base64UrlUnpadded, Encoding};
use serde_json::{Value, json};

use super::at_instances;
use super::harness::{Browser, Harness, ORIGIN, RESOURCE, encode, start_with};
use super::visitors::{MAIL, call, challenge, get, grant};
use toolbooth::host::{HttpError, HttpRequest, HttpResponse, LEDGER, SignatureAlgorithm};
use toolbooth::testing::{STALE_MS, fake_signature};

const ISSUER: &str = "https://acme.example";
const DISCOVERY: &str = "https://acme.example/.well-known/openid-configuration";
const KEYS: &str = "https://keys.acme.example/jwks?v=1";
const SECRET: &str = "calendar-key";
const CLIENTS: &str = r#"[{"id":"agent","name":"Agent","redirect_uris":["https://agent.example/cb"],
    "secret_hash":"e8b18fbe02fad6aa9ce82b235322e7c10196478f011f9f8617b1b75d6db57961"}]"#;

thread_local! {
    /// What other servers answer, by URL, and the requests for it.
    static ANSWERS: RefCell<Vec<(String, u16, Value)>> = RefCell::default();
    static REQUESTS: RefCell<Vec<String>> = RefCell::default();
}

fn upstream(request: &HttpRequest<'_>) -> Result<HttpResponse, HttpError> {
    REQUESTS.with_borrow_mut(|all| all.push(request.url.to_string()));
    ANSWERS.with_borrow(|all| {
        let found = all.iter().find(|(url, ..)| *url == *request.url);
        let (_, status, body) = found.ok_or(HttpError::Timeout)?;
        Ok(HttpResponse::new(*status, body.to_string()))
    })
}

fn serve(url: &str, status: u16, body: Value) {
    ANSWERS.with_borrow_mut(|all| {
        all.retain(|(known, ..)| known != url);
        all.push((url.to_owned(), status, body));
    });
}

/// How many requests were sent since this was last asked.
fn requests() -> usize {
    REQUESTS.with_borrow_mut(std::mem::take).len()
}

fn key(id: &str) -> Value {
    json!({"kty": "EC", "crv": "P-256", "x": "x", "y": "y", "kid": id})
}

fn publish(keys: &[&str]) {
    serve(DISCOVERY, 200, json!({"issuer": ISSUER, "jwks_uri": KEYS}));
    serve(KEYS, 200, json!({"keys": keys.iter().map(|id| key(id)).collect::<Vec<_>>()}));
}

fn start(issuers: &Value, more: &[(&str, &str)]) -> Harness {
    publish(&["1"]);
    let issuers = issuers.to_string();
    let variables = [("ENTERPRISE_ISSUERS", &*issuers), ("SIGN_IN_CLIENTS", CLIENTS)];
    start_with(&[&variables, more].concat(), upstream)
}

/// An entry of `ENTERPRISE_ISSUERS` with further members.
fn issuers(more: Value) -> Value {
    let mut entry = json!({"issuer": ISSUER, "clients": ["agent"]});
    entry.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!([entry])
}

/// An assertion of the company about Ada, with further claims, signed with the key `id`.
fn assertion(harness: &Harness, id: &str, more: &Value) -> String {
    thread_local!(static COUNT: RefCell<u32> = const { RefCell::new(0) });
    let count = COUNT.with_borrow_mut(|count| {
        *count += 1;
        *count
    });
    let now = harness.host.now_ms.get() / 1000;
    let mut claims = json!({
        "iss": ISSUER, "sub": "ada", "aud": ORIGIN, "resource": RESOURCE, "client_id": "agent",
        "jti": format!("j{count}"), "iat": now, "exp": now + 300,
    });
    claims.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let encode = |value: &Value| Base64UrlUnpadded::encode_string(value.to_string().as_bytes());
    let header = json!({"alg": "ES256", "kid": id, "typ": "oauth-id-jag+jwt"});
    let message = format!("{}.{}", encode(&header), encode(&claims));
    let jwk = json!({"kty": "EC", "crv": "P-256", "x": "x", "y": "y"}).to_string();
    let signature = fake_signature(SignatureAlgorithm::Es256, &jwk, message.as_bytes());
    format!("{message}.{}", Base64UrlUnpadded::encode_string(&signature))
}

fn fields<'a>(assertion: &'a str, scope: &'a str) -> Vec<(&'static str, &'a str)> {
    let fields = [
        ("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"),
        ("client_id", "agent"),
        ("client_secret", SECRET),
        ("assertion", assertion),
        ("scope", scope),
    ];
    fields.into_iter().filter(|(_, value)| !value.is_empty()).collect()
}

impl Harness {
    fn assert_with(&self, id: &str, claims: &Value, scope: &str) -> (u16, Value) {
        self.token(&fields(&assertion(self, id, claims), scope))
    }

    /// The access token of Ada, with these claims.
    fn of_ada(&self, claims: &Value) -> String {
        let (status, body) = self.assert_with("1", claims, "");
        assert_eq!(status, 200, "{body}");
        assert!(body.get("refresh_token").is_none(), "{body}");
        body["access_token"].as_str().unwrap().to_owned()
    }
}

/// The error of a response, or the scopes.
fn result((status, body): &(u16, Value)) -> String {
    match body["error"].as_str() {
        Some(error) => format!("{error} {status}"),
        None => body["scope"].as_str().unwrap().to_owned(),
    }
}

/// The issuer has these keys, whatever its address.
const OWN_KEYS: &str = "https://keys.example/own";

/// With an issuer of this name.
fn start_as(issuer: &str, more: &[(&str, &str)]) -> Harness {
    let entry = json!({"issuer": issuer, "jwks_uri": OWN_KEYS, "scopes": ["echo:a"]});
    let harness = start(&issuers(entry), more);
    serve(OWN_KEYS, 200, json!({"keys": [key("1")]}));
    harness
}

const GOOGLE: &str = "https://accounts.google.com";
/// Providers of the same issuers where people may not sign in with a browser.
const PROVIDERS: &[(&str, &str)] = &[
    ("OAUTH_PROVIDERS", "corp, again, google, other-google, plain"),
    ("OAUTH_CORP_CLIENT_ID", "c1"),
    ("OAUTH_CORP_ISSUER", ISSUER),
    ("OAUTH_AGAIN_CLIENT_ID", "c2"),
    ("OAUTH_AGAIN_ISSUER", "https://acme.example/"),
    ("OAUTH_GOOGLE_CLIENT_ID", "c3"),
    ("OAUTH_OTHER_GOOGLE_CLIENT_ID", "c4"),
    ("OAUTH_OTHER_GOOGLE_AUTHORIZE_URL", "https://accounts.google.com/o/oauth2/auth"),
    ("OAUTH_OTHER_GOOGLE_TOKEN_URL", "https://oauth2.googleapis.com/token"),
    ("OAUTH_OTHER_GOOGLE_USERINFO_URL", "https://openidconnect.googleapis.com/v1/userinfo"),
    ("OAUTH_PLAIN_CLIENT_ID", "c5"),
    ("OAUTH_PLAIN_AUTHORIZE_URL", "https://acme.example/authorize"),
    ("OAUTH_PLAIN_TOKEN_URL", "https://acme.example/token"),
    ("OAUTH_PLAIN_USERINFO_URL", "https://acme.example/userinfo"),
];

#[test]
fn the_extensions_of_mcp_are_declared_if_they_are_configured() {
    const COMPANY: &str = "io.modelcontextprotocol/enterprise-managed-authorization";
    const MACHINES: &str = "io.modelcontextprotocol/oauth-client-credentials";
    for (entry, keys, expected) in [
        (issuers(json!({})), None, json!({COMPANY: {}, MACHINES: {}})),
        (json!([]), None, json!({MACHINES: {}})),
        (issuers(json!({})), Some(("AUTH", "sign-in")), json!({COMPANY: {}})),
    ] {
        let harness = start(&entry, keys.as_slice());
        let token = match keys {
            None => super::harness::KEY.to_owned(),
            Some(_) => harness.of_ada(&json!({})),
        };
        let authorization = format!("Bearer {token}");
        let headers = [
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
            ("authorization", &*authorization),
        ];
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"},
        }});
        let reply = harness.send(("POST", "/mcp"), &headers, &body.to_string());
        let answer = super::harness::json(&reply);
        assert_eq!(answer["result"]["capabilities"]["extensions"], expected, "{answer}");
    }
}

#[test]
fn grants_of_others_are_as_before() {
    let harness = super::harness::start();
    let (status, body) = harness.token(&fields("x", ""));
    assert_eq!(result(&(status, body)), "unsupported_grant_type 400");
    let metadata = |harness: &Harness| {
        let path = "/.well-known/oauth-authorization-server";
        super::harness::json(&Browser::default().send(harness, ("GET", path), &[], ""))
    };
    let without = metadata(&harness);
    assert_eq!(
        without["grant_types_supported"],
        json!(["authorization_code", "refresh_token", "client_credentials"])
    );
    assert!(without.get("authorization_grant_profiles_supported").is_none());
    let with = metadata(&start(&issuers(json!({})), &[]));
    let profiles = json!(["urn:ietf:params:oauth:grant-profile:id-jag"]);
    assert_eq!(with["authorization_grant_profiles_supported"], profiles);
    assert_eq!(with["grant_types_supported"][2], "urn:ietf:params:oauth:grant-type:jwt-bearer");
}
