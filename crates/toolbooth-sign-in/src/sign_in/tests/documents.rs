//! Clients that documents describe, where clients may be, and which may connect.

use std::cell::{Cell, RefCell};

use base64ct::{Base64UrlUnpadded, Encoding};
use serde_json::{Value, json};

use super::code;
use super::harness::{
    Browser, REDIRECT, Registered, changed, code_fields, request, start_with, text,
};
use toolbooth::host::{HttpError, HttpRequest, HttpResponse, SignatureAlgorithm};
use toolbooth::testing::{STALE_MS, fake_signature, repository};

thread_local! {
    /// The documents that other servers serve, by URL, and the requests for them.
    static DOCUMENTS: RefCell<Vec<(String, u16, Value)>> = RefCell::default();
    static REQUESTS: RefCell<Vec<String>> = RefCell::default();
    /// For how many seconds they may be kept.
    static MAX_AGE: Cell<Option<u64>> = Cell::default();
}

fn serve(url: &str, status: u16, document: Value) {
    DOCUMENTS.with_borrow_mut(|all| {
        all.retain(|(known, ..)| known != url);
        all.push((url.to_owned(), status, document));
    });
}

fn upstream(request: &HttpRequest<'_>) -> Result<HttpResponse, HttpError> {
    REQUESTS.with_borrow_mut(|all| all.push(request.url.to_string()));
    DOCUMENTS.with_borrow(|all| {
        let found = all.iter().find(|(url, ..)| *url == *request.url);
        let (_, status, document) = found.ok_or(HttpError::Timeout)?;
        let mut response = HttpResponse::new(*status, document.to_string());
        response.max_age_ms = MAX_AGE.get().map(|seconds| seconds * 1000);
        Ok(response)
    })
}

const CLAUDE: &str = "https://claude.ai/oauth/mcp-oauth-client-metadata";
const CHATGPT: &str = "https://chatgpt.com/oauth/abc/client.json";
const JWKS: &str = "https://chatgpt.com/oauth/jwks.json";

fn claude() -> Value {
    json!({
        "client_id": CLAUDE, "client_name": "Claude",
        "redirect_uris": [REDIRECT],
        "grant_types": ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:jwt-bearer"],
        "response_types": ["code"], "token_endpoint_auth_method": "none",
    })
}

fn chatgpt() -> Value {
    json!({
        "client_id": CHATGPT, "client_name": "ChatGPT", "redirect_uris": [REDIRECT],
        "grant_types": ["authorization_code", "refresh_token"],
        "token_endpoint_auth_method": "private_key_jwt",
        "token_endpoint_auth_methods_supported": ["none", "private_key_jwt"],
        "token_endpoint_auth_signing_alg": "RS256", "jwks_uri": JWKS,
    })
}

#[test]
fn a_client_with_a_document() {
    let harness = start_with(&[], upstream);
    serve(CLAUDE, 200, claude());
    let client = Registered { id: CLAUDE.to_owned(), secret: None };
    let page = Browser::default().open(&harness, &request(CLAUDE));
    assert!(text(&page).contains("<bdi>claude.ai</bdi>"), "{}", text(&page));
    let code = code(&harness, &client);
    // Only the consent page needs the document.
    serve(CLAUDE, 503, json!(null));
    REQUESTS.with_borrow_mut(Vec::clear);
    let (status, tokens) = harness.exchange(&client, &code);
    assert_eq!(status, 200, "{tokens}");
    assert_eq!(harness.refresh(&client, tokens["refresh_token"].as_str().unwrap()).0, 200);
    assert!(REQUESTS.with_borrow(Vec::is_empty));
}

#[test]
fn a_document_is_kept_as_long_as_it_says_within_bounds() {
    const HOUR: u64 = 3_600;
    let fetched = || REQUESTS.with_borrow_mut(|all| std::mem::take(all).len());
    for (max_age, kept) in
        [(None, 60), (Some(0), 60), (Some(1), 60), (Some(600), 600), (Some(48 * HOUR), 24 * HOUR)]
    {
        let harness = start_with(&[], upstream);
        let open = || Browser::default().open(&harness, &request(CLAUDE)).status;
        serve(CLAUDE, 200, claude());
        MAX_AGE.set(max_age);
        fetched();
        assert_eq!((open(), open(), fetched()), (200, 200, 1), "{max_age:?}");
        harness.wait((kept - 1) * 1000);
        assert_eq!((open(), fetched()), (200, 0), "{max_age:?}");
        harness.wait(1000);
        assert_eq!((open(), fetched()), (200, 1), "{max_age:?}");
    }
    // Failures for a minute.
    for (status, document, shown) in [
        (503, json!(null), 502),
        (404, json!(null), 400),
        (200, json!({"client_id": "https://claude.ai/other"}), 400),
    ] {
        let harness = start_with(&[], upstream);
        let open = || Browser::default().open(&harness, &request(CLAUDE)).status;
        serve(CLAUDE, status, document);
        fetched();
        assert_eq!((open(), open(), fetched()), (shown, shown, 1));
        serve(CLAUDE, 200, claude());
        harness.wait(59_000);
        assert_eq!((open(), fetched()), (shown, 0));
        harness.wait(1_000);
        assert_eq!((open(), fetched()), (200, 1));
    }
    // Many others remove it, and take no more memory.
    let harness = start_with(&[], upstream);
    let open = |id: &str| Browser::default().open(&harness, &request(id)).status;
    MAX_AGE.set(Some(HOUR));
    open(CLAUDE);
    for other in 0..64 {
        open(&format!("https://a.example/{other}"));
    }
    fetched();
    assert_eq!((open(CLAUDE), fetched()), (200, 1));
}

/// An assertion that the fake host accepts, if `key` is that of the document.
fn assertion(claims: &Value, modulus: &str) -> String {
    let encode = |value: &Value| Base64UrlUnpadded::encode_string(value.to_string().as_bytes());
    let header = json!({"alg": "RS256", "kid": "1", "typ": "JWT"});
    let message = format!("{}.{}", encode(&header), encode(claims));
    let jwk = json!({"kty": "RSA", "n": modulus, "e": "AQAB"}).to_string();
    // The members in the order in which the library writes them.
    let jwk = serde_json::from_str::<Value>(&jwk).unwrap().to_string();
    let signature = fake_signature(SignatureAlgorithm::Rs256, &jwk, message.as_bytes());
    format!("{message}.{}", Base64UrlUnpadded::encode_string(&signature))
}

#[test]
fn private_key_jwt_is_verified_and_never_skipped() {
    let mut harness = start_with(&[], upstream);
    let modulus = "m".repeat(342);
    serve(JWKS, 200, json!({"keys": [{"kty": "RSA", "n": modulus, "e": "AQAB", "kid": "1"}]}));
    let mut only = chatgpt();
    only["token_endpoint_auth_methods_supported"] = json!(["private_key_jwt"]);
    let now = harness.host.now_ms.get() / 1000;
    let good =
        json!({"iss": CHATGPT, "sub": CHATGPT, "aud": super::ORIGIN, "exp": now + 600, "jti": "1"});
    let with = |name: &str, value: Value| {
        let mut claims = good.clone();
        claims[name] = value;
        claims
    };
    // Keys by value.
    let mut inline = only.clone();
    inline.as_object_mut().unwrap().remove("jwks_uri");
    inline["jwks"] = json!({"keys": [{"kty": "RSA", "n": modulus, "e": "AQAB", "kid": "1"}]});
    let mut inline_or_none = inline.clone();
    inline_or_none["token_endpoint_auth_methods_supported"] = json!(["none"]);
    let (other, token) = ("https://chatgpt.com/oauth/other", "https://tools.example/oauth/token");
    for (at, (document, claims, key, status)) in [
        (&chatgpt(), None, &*modulus, 200),
        (&chatgpt(), Some(good.clone()), &modulus, 200),
        (&chatgpt(), Some(good.clone()), "other", 401),
        (&only, None, &modulus, 401),
        (&only, Some(good.clone()), &modulus, 200),
        (&only, Some(with("aud", json!(token))), &modulus, 200),
        (&only, Some(good.clone()), "other", 401),
        (&only, Some(with("aud", json!(other))), &modulus, 401),
        (&only, Some(with("iss", json!(other))), &modulus, 401),
        (&only, Some(with("sub", json!(other))), &modulus, 401),
        (&only, Some(with("exp", json!(now - 600))), &modulus, 401),
        (&only, Some(with("exp", json!(now + 86_400))), &modulus, 401),
        (&inline, None, &modulus, 401),
        (&inline, Some(good.clone()), &modulus, 200),
        (&inline, Some(good.clone()), "other", 401),
        (&inline, Some(with("sub", json!(other))), &modulus, 401),
        (&inline_or_none, None, &modulus, 200),
        (&inline_or_none, Some(good.clone()), &modulus, 200),
        (&inline_or_none, Some(good.clone()), "other", 401),
    ]
    .into_iter()
    .enumerate()
    {
        serve(CHATGPT, 200, document.clone());
        // An instance that does not have the document of the row before.
        harness.restart(&[]);
        let client = Registered { id: CHATGPT.to_owned(), secret: None };
        let code = code(&harness, &client);
        let assertion = claims.as_ref().map(|claims| {
            let mut claims = claims.clone();
            claims["jti"] = json!(at.to_string());
            assertion(&claims, key)
        });
        let mut fields = code_fields(CHATGPT, &code).to_vec();
        if let Some(assertion) = &assertion {
            fields.push(("client_assertion", assertion));
            fields.push((
                "client_assertion_type",
                "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
            ));
        }
        let (got, body) = harness.token(&fields);
        assert_eq!(got, status, "{document} {claims:?} {key}: {body}");
        // Neither token is revoked without what the document demands.
        for name in ["access_token", "refresh_token"] {
            let Some(token) = body[name].as_str() else { continue };
            let fields = [("client_id", CHATGPT), ("token", token)];
            let must =
                document["token_endpoint_auth_methods_supported"] == json!(["private_key_jwt"]);
            let expected = if must { 401 } else { 200 };
            harness.wait(1_500);
            assert_eq!(harness.form("/oauth/revoke", &[], &fields).0, expected, "{name}");
        }
    }
}

/// They are too long for codes and tokens, so the document is fetched again.
#[test]
fn keys_by_value_are_those_of_the_document_now() {
    let mut harness = start_with(&[], upstream);
    let set = |modulus: &str| json!({"keys": [{"kty": "RSA", "n": modulus.repeat(342), "e": "AQAB", "kid": "1"}]});
    let document = |more: Value| {
        let mut document = json!({"client_id": CLAUDE, "client_name": "Claude", "redirect_uris": [REDIRECT],
            "token_endpoint_auth_method": "private_key_jwt"});
        document.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        document
    };
    let now = harness.host.now_ms.get() / 1000;
    let client = Registered { id: CLAUDE.to_owned(), secret: None };
    for (at, (status, later, key, expected)) in [
        (200, document(json!({"jwks": set("a")})), "a", 200),
        (200, document(json!({"jwks": set("b")})), "a", 401),
        (200, document(json!({"jwks": set("b")})), "b", 200),
        (200, document(json!({"token_endpoint_auth_method": "none"})), "a", 401),
        (200, document(json!({})), "a", 401),
        (503, json!(null), "a", 503),
    ]
    .into_iter()
    .enumerate()
    {
        serve(CLAUDE, 200, document(json!({"jwks": set("a")})));
        harness.restart(&[]);
        let code = code(&harness, &client);
        assert!(code.len() < 1_500, "{}", code.len());
        serve(CLAUDE, status, later.clone());
        harness.restart(&[]);
        let claims = json!({"iss": CLAUDE, "sub": CLAUDE, "aud": super::ORIGIN, "exp": now + 60, "jti": at.to_string()});
        let assertion = assertion(&claims, &key.repeat(342));
        let mut fields = code_fields(CLAUDE, &code).to_vec();
        fields.push(("client_assertion", &assertion));
        fields.push((
            "client_assertion_type",
            "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
        ));
        let (got, body) = harness.token(&fields);
        assert_eq!(got, expected, "{later} {key}: {body}");
    }
}

#[test]
fn an_assertion_is_used_once() {
    let mut harness = start_with(&[], upstream);
    let modulus = "m".repeat(342);
    serve(JWKS, 200, json!({"keys": [{"kty": "RSA", "n": modulus, "e": "AQAB", "kid": "1"}]}));
    let mut only = chatgpt();
    only["token_endpoint_auth_methods_supported"] = json!(["private_key_jwt"]);
    serve(CHATGPT, 200, only);
    let client = Registered { id: CHATGPT.to_owned(), secret: None };
    let now = harness.host.now_ms.get() / 1000;
    let claims = |jti: Option<&str>, seconds: u64| {
        let mut claims =
            json!({"iss": CHATGPT, "sub": CHATGPT, "aud": super::ORIGIN, "exp": now + seconds});
        if let Some(jti) = jti {
            claims["jti"] = json!(jti);
        }
        assertion(&claims, &modulus)
    };
    for (assertion, status) in [
        (claims(Some("1"), 600), 200),
        (claims(Some("1"), 600), 401),
        // The same id with different claims.
        (claims(Some("1"), 700), 401),
        (claims(Some("2"), 600), 200),
        (claims(None, 600), 200),
        (claims(None, 600), 200),
    ] {
        harness.wait(1_500);
        let code = code(&harness, &client);
        let mut fields = code_fields(CHATGPT, &code).to_vec();
        fields.push(("client_assertion", &assertion));
        fields.push((
            "client_assertion_type",
            "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
        ));
        let (got, body) = harness.token(&fields);
        assert_eq!(got, status, "{assertion} {body}");
        if status == 200 {
            // At a different instance, as soon as the store has it.
            harness.wait(STALE_MS);
            harness.restart(&[]);
        }
    }
}

#[test]
fn where_clients_may_be() {
    for (uri, may) in [
        ("https://client.example/cb", true),
        ("https://app.client.example:8443/cb", true),
        ("https://Client.Example/cb", true),
        ("https://evilclient.example/cb", false),
        ("https://client.example.evil.example/cb", false),
        ("https://other.example/cb", false),
        ("http://localhost:3000/cb", true),
        ("https://tools.example/signed-in", true),
    ] {
        let mut harness = start_with(&[], upstream);
        let metadata = json!({"redirect_uris": [uri], "token_endpoint_auth_method": "none"});
        let (_, earlier) = harness.register(&metadata);
        harness.restart(&[("SIGN_IN_CLIENT_DOMAINS", "claude.ai, client.example")]);
        let (status, body) = harness.register(&metadata);
        assert_eq!(status, if may { 201 } else { 400 }, "{uri} {body}");
        let earlier = earlier["client_id"].as_str().unwrap();
        let parameters = changed(request(earlier), &[("redirect_uri", uri)]);
        let page = Browser::default().open(&harness, &parameters);
        assert_eq!(page.status, if may { 200 } else { 400 }, "{uri}: registered before");
    }
    // The document's domain, and that of the address which it names.
    for (domains, may) in
        [("claude.ai, client.example", 200), ("client.example", 403), ("claude.ai", 400)]
    {
        let mut harness = start_with(&[], upstream);
        serve(CLAUDE, 200, claude());
        harness.restart(&[("SIGN_IN_CLIENT_DOMAINS", domains)]);
        let page = Browser::default().open(&harness, &request(CLAUDE));
        assert_eq!(page.status, may, "{domains}");
    }
}

#[test]
fn which_clients_may_connect() {
    const PAGE: &str = "https://tools.example/signed-in";
    // Crates that are packed alone have no contracts.
    let contract = repository::text("docs/contracts/well-known.json");
    let contract = contract.map(|text| serde_json::from_str::<Value>(&text).unwrap());
    for (mode, registers, documents) in
        [("open", true, true), ("documents", false, true), ("none", false, false)]
    {
        let mut harness = start_with(&[], upstream);
        serve(CLAUDE, 200, claude());
        let earlier = harness.client();
        harness.restart(&[("SIGN_IN_REGISTRATION", mode)]);
        let metadata = harness.send(("GET", "/.well-known/oauth-authorization-server"), &[], "");
        let metadata = super::json(&metadata);
        assert_eq!(metadata["registration_endpoint"].is_string(), registers, "{mode}");
        assert_eq!(metadata["client_id_metadata_document_supported"], documents, "{mode}");
        if let Some(contract) = &contract {
            let schema = &contract["components"]["schemas"]["ServerMetadata"];
            jsonschema::validate(schema, &metadata).unwrap();
        }
        let (status, _) = harness.register(&json!({"redirect_uris": [REDIRECT]}));
        assert_eq!(status, if registers { 201 } else { 403 }, "{mode}");
        let open = |id: &str, uri: &str| {
            let parameters = changed(request(id), &[("redirect_uri", uri)]);
            Browser::default().open(&harness, &parameters).status
        };
        let allowed = |may: bool| if may { 200 } else { 403 };
        assert_eq!(
            open(&earlier.id, REDIRECT),
            allowed(registers),
            "{mode}: it has registered before"
        );
        let callback = claude()["redirect_uris"][0].as_str().unwrap().to_owned();
        assert_eq!(open(CLAUDE, &callback), allowed(documents), "{mode}");
        // The server's own pages.
        for (uris, may) in [(json!([PAGE]), true), (json!([PAGE, REDIRECT]), registers)] {
            let (status, body) = harness
                .register(&json!({"redirect_uris": uris, "token_endpoint_auth_method": "none"}));
            assert_eq!(status, if may { 201 } else { 403 }, "{mode} {uris}");
            if let Some(id) = body["client_id"].as_str() {
                assert_eq!(open(id, PAGE), 200, "{mode} {uris}");
            }
        }
    }
}
