//! Registration, documents, and how clients authenticate.

use std::cell::{Cell, RefCell};

use base64ct::{Base64, Base64UrlUnpadded, Encoding};
use serde_json::{Value, json};

use super::harness::{
    Browser, Harness, REDIRECT, Registered, changed, code_fields, encode, header, location, query,
    request, text,
};
use super::{KEY, code};
use toolbooth::host::{HttpError, HttpRequest, HttpResponse, SIGN_IN_LIMITER, SignatureAlgorithm};
use toolbooth::testing::{STALE_MS, fake_signature};

#[test]
fn requests_of_clients_count_against_the_limit_of_their_network() {
    let mut harness = Harness::new();
    let client = harness.client();
    let (_, tokens) = harness.exchange(&client, &code(&harness, &client));
    let token = tokens["refresh_token"].as_str().unwrap();
    harness.host.limits.insert(SIGN_IN_LIMITER, Ok(1));
    let refresh =
        [("grant_type", "refresh_token"), ("client_id", &*client.id), ("refresh_token", token)];
    let revoke = [("client_id", &*client.id), ("token", token)];
    let form = "application/x-www-form-urlencoded";
    let registration = json!({"redirect_uris": [REDIRECT]}).to_string();
    for (at, (path, content_type, body, status)) in [
        ("/oauth/token", form, encode(&refresh), 200),
        ("/oauth/revoke", form, encode(&revoke), 200),
        ("/oauth/register", "application/json", registration, 201),
    ]
    .into_iter()
    .enumerate()
    {
        let network = format!("192.0.2.{at}");
        let headers = [("content-type", content_type), ("cf-connecting-ip", &*network)];
        assert_eq!(harness.send(("POST", path), &headers, &body).status, status, "{path}");
        harness.host.store.operations.borrow_mut().clear();
        let limited = harness.send(("POST", path), &headers, &body);
        assert_eq!((limited.status, header(&limited, "retry-after")), (429, Some("60")), "{path}");
        assert_eq!(super::json(&limited)["error"], "temporarily_unavailable", "{path}");
        assert_eq!(*harness.host.store.operations.borrow(), Vec::<String>::new(), "{path}");
        assert_eq!(
            harness.host.taken.borrow()[&format!("{SIGN_IN_LIMITER} address:{network}")],
            2,
            "{path}"
        );
    }
}

#[test]
fn registrations() {
    let harness = Harness::new();
    let https = json!([REDIRECT]);
    for (metadata, expected) in [
        (json!({"redirect_uris": https}), Ok("client_secret_basic")),
        (
            json!({"redirect_uris": https, "token_endpoint_auth_method": "client_secret_post"}),
            Ok("client_secret_post"),
        ),
        (json!({"redirect_uris": https, "token_endpoint_auth_method": "none"}), Ok("none")),
        (
            json!({"redirect_uris": https, "token_endpoint_auth_method": "private_key_jwt"}),
            Err("invalid_client_metadata"),
        ),
        // Unknown grant types are ignored.
        (
            json!({"redirect_uris": https, "grant_types":
                ["authorization_code", "urn:ietf:params:oauth:grant-type:jwt-bearer"]}),
            Ok("client_secret_basic"),
        ),
        (
            json!({"redirect_uris": https, "grant_types": ["client_credentials"]}),
            Err("invalid_client_metadata"),
        ),
        (
            json!({"redirect_uris": https, "response_types": ["token"]}),
            Err("invalid_client_metadata"),
        ),
        (json!({"redirect_uris": []}), Err("invalid_redirect_uri")),
        (json!({}), Err("invalid_redirect_uri")),
        (json!({"redirect_uris": ["javascript:alert(1)"]}), Err("invalid_redirect_uri")),
        (json!({"redirect_uris": [REDIRECT, "javascript:alert(1)"]}), Err("invalid_redirect_uri")),
        (json!({"redirect_uris": ["http://client.example/cb"]}), Err("invalid_redirect_uri")),
        (json!({"redirect_uris": ["cursor://a/cb"]}), Err("invalid_redirect_uri")),
        (json!({"redirect_uris": ["cursor://a/cb", REDIRECT]}), Ok("client_secret_basic")),
        (json!({"redirect_uris": "x"}), Err("invalid_client_metadata")),
        (json!([]), Err("invalid_client_metadata")),
    ] {
        let (status, body) = harness.register(&metadata);
        let got = match status {
            201 => Ok(body["token_endpoint_auth_method"].as_str().unwrap()),
            _ => Err(body["error"].as_str().unwrap()),
        };
        assert_eq!(got, expected, "{metadata}: {body}");
        if status == 201 {
            let is_public = expected == Ok("none");
            assert_eq!(body.get("client_secret").is_none(), is_public, "{metadata}");
            assert_eq!(body["redirect_uris"], https, "{metadata}");
            assert!(body.get("registration_client_uri").is_none());
        }
    }
    assert!(harness.host.store.operations.borrow().is_empty(), "nothing is stored");
}

#[test]
fn a_native_application_whose_scheme_is_allowed() {
    const CURSOR: &str = "cursor://anysphere.cursor-mcp/oauth/callback";
    let metadata = json!({"redirect_uris": [CURSOR, "http://localhost/cb"],
        "token_endpoint_auth_method": "none"});
    for (variables, status) in [(&[][..], 400), (&[("SIGN_IN_REDIRECT_SCHEMES", "cursor")], 200)] {
        let harness = Harness::with(variables, |_| panic!());
        let (_, body) = harness.register(&metadata);
        let id = body["client_id"].as_str().unwrap();
        let parameters = changed(request(id), &[("redirect_uri", CURSOR)]);
        let page = Browser::default().open(&harness, &parameters);
        assert_eq!(page.status, status, "{variables:?}");
    }
}

#[test]
fn secrets_of_clients() {
    let harness = Harness::new();
    let (client, other) =
        (harness.client_of("client_secret_basic"), harness.client_of("client_secret_post"));
    let (secret, foreign) = (client.secret.clone().unwrap(), other.secret.unwrap());
    let send = |basic: Option<&str>, post: Option<&str>| {
        let code = code(&harness, &client);
        let mut fields = code_fields(&client.id, &code).to_vec();
        fields.extend(post.map(|secret| ("client_secret", secret)));
        let has_header = basic.is_some();
        let basic = basic.map(|secret| {
            format!("Basic {}", Base64::encode_string(format!("{}:{secret}", client.id).as_bytes()))
        });
        let headers: Vec<_> = basic.iter().map(|value| ("authorization", value.as_str())).collect();
        let form = ("content-type", "application/x-www-form-urlencoded");
        let headers: Vec<_> = [form].into_iter().chain(headers).collect();
        let response = harness.send(("POST", "/oauth/token"), &headers, &encode(&fields));
        let challenge = header(&response, "www-authenticate");
        assert_eq!(challenge.is_some(), has_header && response.status == 401);
        response.status
    };
    for (basic, post, status) in [
        (Some(&*secret), None, 200),
        (None, Some(&*secret), 200),
        (None, None, 401),
        (Some(""), None, 401),
        (Some("wrong"), None, 401),
        (None, Some("wrong"), 401),
        (Some(&*foreign), None, 401),
        (Some(&*secret), Some(&*secret), 400),
    ] {
        assert_eq!(send(basic, post), status, "{basic:?} {post:?}");
    }
}

#[test]
fn clients_of_the_operator() {
    // The hash of "secret".
    const CLIENTS: &str = r#"[
        {"id":"public","name":"Public","redirect_uris":["https://client.example/cb"]},
        {"id":"claude","name":"Claude","redirect_uris":["https://client.example/cb","https://other.example/cb"],
         "secret_hash":"2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b"},
        {"id":"https://client.example/me","name":"Me","redirect_uris":["https://client.example/cb"],"secret":"x"}]"#;
    let harness = Harness::with(&[("SIGN_IN_CLIENTS", CLIENTS)], |_| panic!());
    for (id, secret, status) in [
        ("public", None, 200),
        ("claude", Some("secret"), 200),
        ("claude", Some("wrong"), 401),
        ("claude", None, 401),
    ] {
        let client = Registered { id: id.to_owned(), secret: None };
        let code = code(&harness, &client);
        let mut fields = code_fields(id, &code).to_vec();
        fields.extend(secret.map(|secret| ("client_secret", secret)));
        assert_eq!(harness.token(&fields).0, status, "{id} {secret:?}");
    }
    // The third is invalid. Its id does not mean the client that the document there describes.
    let id = "https://client.example/me";
    assert_eq!(Browser::default().open(&harness, &request(id)).status, 400);
    let (status, body) = harness.token(&code_fields(id, "x"));
    assert_eq!((status, body["error"].as_str()), (401, Some("invalid_client")), "{body}");
}

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
    let harness = Harness::with(&[], upstream);
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
        let harness = Harness::with(&[], upstream);
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
    for (status, document, shown) in
        [(503, json!(null), 502), (200, json!({"client_id": "https://claude.ai/other"}), 400)]
    {
        let harness = Harness::with(&[], upstream);
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
    let harness = Harness::with(&[], upstream);
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
    let mut harness = Harness::with(&[], upstream);
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
            let expected = if document == &only { 401 } else { 200 };
            harness.wait(1_500);
            assert_eq!(harness.form("/oauth/revoke", &[], &fields).0, expected, "{name}");
        }
    }
}

#[test]
fn an_assertion_is_used_once() {
    let mut harness = Harness::with(&[], upstream);
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
        let mut harness = Harness::with(&[], upstream);
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
        let mut harness = Harness::with(&[], upstream);
        serve(CLAUDE, 200, claude());
        harness.restart(&[("SIGN_IN_CLIENT_DOMAINS", domains)]);
        let page = Browser::default().open(&harness, &request(CLAUDE));
        assert_eq!(page.status, may, "{domains}");
    }
}

#[test]
fn which_clients_may_connect() {
    const PAGE: &str = "https://tools.example/signed-in";
    for (mode, registers, documents) in
        [("open", true, true), ("documents", false, true), ("none", false, false)]
    {
        let mut harness = Harness::with(&[], upstream);
        serve(CLAUDE, 200, claude());
        let earlier = harness.client();
        harness.restart(&[("SIGN_IN_REGISTRATION", mode)]);
        let metadata = harness.send(("GET", "/.well-known/oauth-authorization-server"), &[], "");
        let metadata = super::json(&metadata);
        assert_eq!(metadata["registration_endpoint"].is_string(), registers, "{mode}");
        assert_eq!(metadata["client_id_metadata_document_supported"], documents, "{mode}");
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

#[test]
fn a_redirect_to_any_port_of_this_machine() {
    let harness = Harness::new();
    let client = harness.client();
    let uri = "http://localhost:51234/cb";
    let parameters = changed(request(&client.id), &[("redirect_uri", uri)]);
    let browser = Browser::default();
    let page = browser.open(&harness, &parameters);
    assert!(text(&page).contains("a program on this computer"));
    let response = browser.answer(&harness, &page, &[("with", "key"), ("api_key", KEY)]);
    assert!(location(&response).starts_with(uri));
    let code = query(location(&response), "code").unwrap();
    let mut fields = code_fields(&client.id, &code);
    assert_eq!(harness.token(&fields).0, 400, "the redirect URI is another");
    fields[3].1 = uri;
    assert_eq!(harness.token(&fields).0, 200);
}
