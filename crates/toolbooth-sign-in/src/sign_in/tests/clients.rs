//! Registration, and how clients authenticate.

use base64ct::{Base64, Base64UrlUnpadded, Encoding};
use serde_json::{Value, json};

use super::harness::{
    Browser, ORIGIN, REDIRECT, RESOURCE, Registered, changed, code_fields, encode, header,
    location, query, request, start, start_with, text,
};
use super::{KEY, code};
use toolbooth::host::SIGN_IN_LIMITER;

#[test]
fn requests_of_clients_count_against_the_limit_of_their_network() {
    let mut harness = start();
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
fn a_registration_ends() {
    const DAY_MS: u64 = 86_400_000;
    let harness = start();
    let client = harness.client();
    harness.wait(399 * DAY_MS);
    let (status, tokens) = harness.exchange(&client, &code(&harness, &client));
    assert_eq!(status, 200, "{tokens}");
    harness.wait(DAY_MS);
    assert_eq!(Browser::default().open(&harness, &request(&client.id)).status, 400);
    let (status, body) = harness.refresh(&client, tokens["refresh_token"].as_str().unwrap());
    assert_eq!((status, &body["error"]), (401, &json!("invalid_client")), "it registers again");
}

#[test]
fn registrations() {
    let harness = start();
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
        let harness = start_with(variables, |_| panic!());
        let (_, body) = harness.register(&metadata);
        let id = body["client_id"].as_str().unwrap();
        let parameters = changed(request(id), &[("redirect_uri", CURSOR)]);
        let page = Browser::default().open(&harness, &parameters);
        assert_eq!(page.status, status, "{variables:?}");
    }
}

#[test]
fn secrets_of_clients() {
    let harness = start();
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
    let harness = start_with(&[("SIGN_IN_CLIENTS", CLIENTS)], |_| panic!());
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

#[test]
fn a_redirect_to_any_port_of_this_machine() {
    let harness = start();
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

#[test]
fn an_access_token_has_the_claims_of_rfc_9068() {
    let harness = start();
    let others = (0..20).map(|at| format!("https://client.example/{at}/{}", "x".repeat(40)));
    let others: Vec<String> = others.collect();
    for (others, is_long) in [(&others[..0], false), (&others, true)] {
        let uris = [&[REDIRECT.to_owned()], others].concat();
        let metadata = json!({"redirect_uris": uris, "token_endpoint_auth_method": "none"});
        let (_, client) = harness.register(&metadata);
        let id = client["client_id"].as_str().unwrap().to_owned();
        let client = Registered { id, secret: None };
        let code = Browser::default().code(&harness, &request(&client.id));
        let (_, tokens) = harness.exchange(&client, &code);
        let token = tokens["access_token"].as_str().unwrap();
        let parts: Vec<Value> = token
            .split('.')
            .take(2)
            .map(|part| Base64UrlUnpadded::decode_vec(part).unwrap())
            .map(|part| serde_json::from_slice(&part).unwrap())
            .collect();
        assert_eq!(parts[0], json!({"alg": "HS256", "typ": "at+jwt"}));
        let claims = &parts[1];
        let now = harness.host.now_ms.get() / 1000;
        for (name, expected) in [
            ("iss", json!(ORIGIN)),
            ("aud", json!(RESOURCE)),
            ("sub", json!("api-key:Calendar")),
            ("iat", json!(now)),
            ("exp", json!(now + 3600)),
            ("scope", json!("echo:a")),
        ] {
            assert_eq!(claims[name], expected, "{name}");
        }
        assert!(claims["jti"].as_str().is_some_and(|id| id.len() == 22), "{claims}");
        let named = claims["client_id"].as_str().unwrap();
        assert_eq!(named == client.id, !is_long, "{} {named}", client.id.len());
        assert!(named.len() <= 1_000 && token.len() < 2_500, "{}", token.len());
        // The client can revoke it, in whichever form its id is there.
        let form = [("client_id", &*client.id), ("token", token)];
        assert_eq!(harness.form("/oauth/revoke", &[], &form).0, 200);
        let (status, _) = harness.refresh(&client, tokens["refresh_token"].as_str().unwrap());
        assert_eq!(status, 400, "the grant has ended");
    }
}
