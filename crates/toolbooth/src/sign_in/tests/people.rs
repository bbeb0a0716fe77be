//! Who signs in and how, and the consent page.

use std::cell::RefCell;

use base64ct::{Base64UrlUnpadded, Encoding};
use serde_json::{Value, json};

use super::world::{
    Browser, KEY, ORIGIN, World, changed, encode, header, location, query, request, text,
};
use crate::host::{HttpError, HttpRequest, HttpResponse, SignatureAlgorithm};
use crate::testing::fake_signature;

#[test]
fn the_page_shows_who_asks_for_what() {
    let world = World::new();
    let (_, body) = world.register(&json!({
        "client_name": "<b>Evil\u{202e}</b> & \"Co\"", "redirect_uris": [super::REDIRECT],
        "token_endpoint_auth_method": "none", "grant_types": ["authorization_code", "refresh_token"],
    }));
    let id = body["client_id"].as_str().unwrap();
    let page = Browser::default().open(&world, &request(id));
    let html = text(&page);
    for part in [
        "<bdi>&lt;b&gt;Evil&lt;/b&gt; &amp; &quot;Co&quot;</bdi>",
        "Nobody has verified its name.",
        "<bdi>client.example</bdi>",
        "<code>echo:a</code>: use <bdi>",
        "stay connected",
        "API key of this server",
        "Cancel",
    ] {
        assert!(html.contains(part), "{part}: {html}");
    }
    assert!(!html.contains("<b>"), "{html}");
    let get = |name| header(&page, name).unwrap_or_default();
    let policy = get("content-security-policy");
    for part in ["default-src 'none'", "frame-ancestors 'none'", "form-action 'self' https:"] {
        assert!(policy.contains(part), "{policy}");
    }
    assert_eq!(get("x-frame-options"), "DENY");
    assert_eq!(get("cache-control"), "no-store");
    assert_eq!(get("referrer-policy"), "same-origin");
    assert_eq!(header(&page, "cross-origin-opener-policy"), None, "clients wait for their window");
    assert!(header(&page, "strict-transport-security").is_some());
}

#[test]
fn the_form_is_bound_to_the_page_and_the_browser() {
    let world = World::new();
    let client = world.client();
    let (browser, stranger) = (Browser::default(), Browser::default());
    let page = browser.open(&world, &request(&client.id));
    let agree = [("with", "key"), ("api_key", KEY)];
    // Another browser: with a page of its own, or none.
    assert_eq!(stranger.answer(&world, &page, &agree).status, 403);
    stranger.open(&world, &request(&client.id));
    assert_eq!(stranger.answer(&world, &page, &agree).status, 403);
    // Another site.
    let html = text(&page);
    let token = html.split_once("name=\"request\" value=\"").unwrap().1.split('"').next().unwrap();
    let fields = [("request", token), ("with", "key"), ("api_key", KEY)];
    let form = ("content-type", "application/x-www-form-urlencoded");
    for (headers, status) in [
        (&[form, ("sec-fetch-site", "cross-site")][..], 403),
        (&[form, ("sec-fetch-site", "same-site")], 403),
        (&[form, ("sec-fetch-site", "none")], 403),
        (&[form, ("origin", "https://evil.example")], 403),
        (&[form], 403),
        (&[("sec-fetch-site", "same-origin")], 400),
        (&[form, ("origin", ORIGIN)], 303),
        (&[form, ("sec-fetch-site", "same-origin")], 303),
    ] {
        let response =
            browser.send(&world, ("POST", "/oauth/authorize"), headers, &encode(&fields));
        assert_eq!(response.status, status, "{headers:?} {}", text(&response));
    }
    // Another request, or a changed one.
    for token in ["", "x", &token[1..]] {
        let fields = [("request", token), ("with", "key"), ("api_key", KEY)];
        assert_eq!(browser.submit(&world, &encode(&fields)).status, 400, "{token}");
    }
    // Two tabs work, and a page works after the back button.
    let other = browser.open(&world, &request(&client.id));
    for page in [&page, &other, &page] {
        assert_eq!(browser.answer(&world, page, &agree).status, 303);
    }
    world.wait(15 * 60_000);
    let late = browser.answer(&world, &page, &agree);
    assert!(text(&late).contains("This took too long"));
}

#[test]
fn what_people_can_answer() {
    let world = World::new();
    let client = world.client();
    let browser = Browser::default();
    let page = browser.open(&world, &request(&client.id));
    for (fields, expected) in [
        (&[("with", "key"), ("api_key", "wrong")][..], Err("The key is not valid")),
        (&[("with", "key")], Err("The key is not valid")),
        (&[("with", "session")], Err("This took too long")),
        (&[("with", "access")], Err("This took too long")),
        (&[("with", "developer")], Err("This address is not valid")),
        (&[("with", "provider"), ("provider", "github")], Err("This address is not valid")),
        (&[("with", "")], Err("This address is not valid")),
        (&[("with", "nobody")], Ok(("error", "access_denied"))),
    ] {
        let response = browser.answer(&world, &page, fields);
        match expected {
            Ok((name, value)) => {
                assert_eq!(query(location(&response), name).as_deref(), Some(value));
                assert_eq!(query(location(&response), "state").as_deref(), Some("s t&ate"));
                assert_eq!(query(location(&response), "iss").as_deref(), Some(ORIGIN));
            }
            Err(title) => assert!(text(&response).contains(title), "{}", text(&response)),
        }
    }
}

const TWO_KEYS: &str = r#"[
    {"name":"Calendar","scopes":["*"],"hash":"e8b18fbe02fad6aa9ce82b235322e7c10196478f011f9f8617b1b75d6db57961"},
    {"name":"Other","scopes":["*"],"hash":"580843d03d2216ff1a275d0991bad66e4d1af871171d929e9de604b7959f9bca"}
]"#;

#[test]
fn a_session_needs_no_second_sign_in_but_consent() {
    let mut world = World::new();
    let client = world.client();
    let browser = Browser::default();
    browser.code(&world, &request(&client.id));
    let page = browser.open(&world, &request(&client.id));
    assert!(text(&page).contains("Allow as <bdi>Calendar</bdi>"));
    assert_eq!(browser.answer(&world, &page, &[("with", "session")]).status, 303);
    // Somebody else signs in, in another tab.
    world.restart(&[("API_KEYS", TWO_KEYS)]);
    let other = browser.open(&world, &request(&client.id));
    let fields = [("with", "key"), ("api_key", "other-key")];
    assert_eq!(browser.answer(&world, &other, &fields).status, 303);
    assert_eq!(browser.answer(&world, &page, &[("with", "session")]).status, 400);
    let page = browser.open(&world, &request(&client.id));
    assert!(text(&page).contains("Allow as <bdi>Other</bdi>"));
    // Without the key there is no session any more.
    world.restart(&[("API_KEYS", r#"[{"name":"Calendar","scopes":["*"],"hash":"0000000000000000000000000000000000000000000000000000000000000000"}]"#)]);
    assert_eq!(browser.answer(&world, &page, &[("with", "session")]).status, 400);
    assert!(!text(&browser.open(&world, &request(&client.id))).contains("Allow as"));
}

#[test]
fn a_key_that_is_withdrawn_or_changed() {
    for (keys, status, scope) in [
        (
            r#"[{"name":"Calendar","scopes":["echo:b"],"hash":"e8b18fbe02fad6aa9ce82b235322e7c10196478f011f9f8617b1b75d6db57961"}]"#,
            200,
            "",
        ),
        (
            r#"[{"name":"Other","scopes":["*"],"hash":"e8b18fbe02fad6aa9ce82b235322e7c10196478f011f9f8617b1b75d6db57961"}]"#,
            400,
            "",
        ),
        (
            r#"[{"name":"Calendar","scopes":["*"],"hash":"0000000000000000000000000000000000000000000000000000000000000000"}]"#,
            400,
            "",
        ),
    ] {
        let mut world = World::new();
        let client = world.client();
        let code = super::code(&world, &client);
        let (_, tokens) = world.exchange(&client, &code);
        world.restart(&[("API_KEYS", keys)]);
        let (got, body) = world.refresh(&client, tokens["refresh_token"].as_str().unwrap());
        assert_eq!(got, status, "{keys} {body}");
        assert_eq!(body["scope"].as_str().unwrap_or_default(), scope, "{keys}");
    }
}

thread_local! {
    /// The account that providers describe, and the requests to them.
    static ACCOUNT: RefCell<Value> = RefCell::default();
    static REQUESTS: RefCell<Vec<String>> = RefCell::default();
}

/// GitHub, and an issuer `https://corp.example`.
fn providers(request: &HttpRequest<'_>) -> Result<HttpResponse, HttpError> {
    let body = request.body.clone().unwrap_or_default();
    REQUESTS.with_borrow_mut(|all| {
        all.push(format!(
            "{} {} {}",
            request.method,
            request.url,
            String::from_utf8(body).unwrap()
        ));
    });
    let account = ACCOUNT.with_borrow(Clone::clone);
    let (status, body) = match &*request.url {
        "https://corp.example/.well-known/openid-configuration" => (
            200,
            json!({"issuer": "https://corp.example", "authorization_endpoint": "https://corp.example/authorize",
                "token_endpoint": "https://corp.example/token", "userinfo_endpoint": "https://corp.example/me",
                "authorization_response_iss_parameter_supported": true}),
        ),
        "https://corp.example/token" | "https://github.com/login/oauth/access_token" => {
            (200, json!({"access_token": "upstream-token", "token_type": "bearer"}))
        }
        "https://corp.example/me" | "https://api.github.com/user" => {
            let authorization = request.headers.iter().find(|(name, _)| *name == "authorization");
            assert_eq!(authorization.unwrap().1, "Bearer upstream-token");
            (200, account)
        }
        "https://api.github.com/user/emails" => (200, account["emails"].clone()),
        "https://api.github.com/user/memberships/orgs/acme" => match account["acme"].as_str() {
            Some(state) => (200, json!({"state": state})),
            None => (404, json!({})),
        },
        other => panic!("{other}"),
    };
    let body = body.to_string().into_bytes();
    Ok(HttpResponse { status, retry_after_ms: None, body })
}

const PROVIDERS: &[(&str, &str)] = &[
    ("OAUTH_PROVIDERS", "github, corp"),
    ("OAUTH_GITHUB_CLIENT_ID", "g1"),
    ("OAUTH_GITHUB_CLIENT_SECRET", "gs"),
    ("OAUTH_CORP_CLIENT_ID", "c1"),
    ("OAUTH_CORP_ISSUER", "https://corp.example"),
];

fn world_for(allowed: &str) -> World {
    let variables: Vec<_> =
        PROVIDERS.iter().chain(&[("SIGN_IN_ALLOWED", allowed)]).copied().collect();
    World::with(&variables, providers)
}

/// Signs in at a provider; gives the response to its callback.
fn sign_in(world: &World, browser: &Browser, provider: &str) -> crate::http::Response {
    let client = world.client();
    let page = browser.open(world, &request(&client.id));
    let leave = browser.answer(world, &page, &[("with", "provider"), ("provider", provider)]);
    assert_eq!(leave.status, 303, "{}", text(&leave));
    let url = callback_of(&leave);
    browser.send(world, ("GET", &url), &[], "")
}

/// Where a provider sends the browser back.
fn callback_of(leave: &crate::http::Response) -> String {
    let url = location(leave);
    let get = |name: &str| query(url, name).unwrap_or_default();
    let iss = if url.starts_with("https://corp") { "&iss=https%3A%2F%2Fcorp.example" } else { "" };
    format!("{}?code=upstream-code&state={}{iss}", get("redirect_uri"), get("state"))
}

#[test]
fn who_may_sign_in_at_a_provider() {
    let github = json!({"id": 583231, "login": "Octocat"});
    let with = |name: &str, value: Value| {
        let mut account = github.clone();
        account[name] = value;
        account
    };
    let email = |email: &str, verified: bool| {
        with("emails", json!([{"email": email, "primary": true, "verified": verified}]))
    };
    let corp = |email: &str, verified: Value| json!({"sub": "s1", "email": email, "email_verified": verified});
    for (provider, allowed, account, may) in [
        ("github", "github:octocat", github.clone(), true),
        ("github", "github:id/583231", github.clone(), true),
        ("github", "github:*", github.clone(), true),
        ("github", "github:id/1, github:OCTOCAT", github.clone(), true),
        ("github", "github:somebody", github.clone(), false),
        ("github", "github:583231", github.clone(), false),
        ("github", "github:id/5832", github.clone(), false),
        ("github", "github:somebody, corp:*", github.clone(), false),
        ("github", "github:org/acme", with("acme", json!("active")), true),
        ("github", "github:org/acme", with("acme", json!("pending")), false),
        ("github", "github:org/acme", github.clone(), false),
        ("github", "github:ada@a.example", email("Ada@a.example", true), true),
        ("github", "github:ada@a.example", email("ada@a.example", false), false),
        ("github", "github:@a.example", email("ada@a.example", true), true),
        ("github", "github:@a.example", email("ada@b.a.example", true), false),
        ("corp", "corp:*", corp("", json!(null)), true),
        ("corp", "corp:id/s1", corp("", json!(null)), true),
        ("corp", "corp:id/s2", corp("", json!(null)), false),
        ("corp", "corp:@a.example", corp("ada@A.example", json!(true)), true),
        ("corp", "corp:@a.example", corp("ada@a.example", json!("true")), true),
        ("corp", "corp:@a.example", corp("ada@a.example", json!(false)), false),
        ("corp", "corp:@a.example", corp("ada@a.example", json!(null)), false),
        ("corp", "corp:@a.example", corp("a@a.example@b.example", json!(true)), false),
    ] {
        let world = world_for(allowed);
        ACCOUNT.set(account.clone());
        let response = sign_in(&world, &Browser::default(), provider);
        assert_eq!(
            response.status,
            if may { 303 } else { 403 },
            "{allowed} {account} {}",
            text(&response)
        );
    }
}

#[test]
fn a_sign_in_at_a_provider() {
    let world = world_for("corp:id/s1");
    ACCOUNT.set(json!({"sub": "s1", "email": "ada@a.example", "email_verified": true}));
    let browser = Browser::default();
    let client = world.client();
    let page =
        browser.open(&world, &changed(request(&client.id), &[("scope", "echo:a echo:b echo:c")]));
    assert!(!text(&page).contains("GitHub"), "nobody may sign in there");
    let leave = browser.answer(&world, &page, &[("with", "provider"), ("provider", "corp")]);
    let url = location(&leave);
    for (name, value) in [
        ("redirect_uri", "https://booth.example/auth/callback/corp"),
        ("scope", "openid email"),
        ("client_id", "c1"),
        ("code_challenge_method", "S256"),
    ] {
        assert_eq!(query(url, name).as_deref(), Some(value), "{url}");
    }
    let callback = callback_of(&leave);
    // Another browser, another issuer, another provider, a changed state.
    let other = Browser::default().send(&world, ("GET", &callback), &[], "");
    assert_eq!(other.status, 403);
    for (from, to) in [
        ("iss=https%3A%2F%2Fcorp.example", "iss=https%3A%2F%2Fevil.example"),
        ("&iss=https%3A%2F%2Fcorp.example", ""),
        ("callback/corp", "callback/github"),
    ] {
        let url = callback.replace(from, to);
        assert_eq!(browser.send(&world, ("GET", &url), &[], "").status, 400, "{to}");
    }
    let back = browser.send(&world, ("GET", &callback), &[], "");
    let code = query(location(&back), "code").unwrap();
    let (status, tokens) = world.exchange(&client, &code);
    assert_eq!((status, &tokens["scope"]), (200, &json!("echo:a echo:b")));
    let claims = tokens["access_token"].as_str().unwrap().split('.').nth(1).unwrap();
    let claims: Value =
        serde_json::from_slice(&Base64UrlUnpadded::decode_vec(claims).unwrap()).unwrap();
    assert_eq!(claims["sub"], "corp:s1");
    assert_eq!(claims["iss"], ORIGIN);
    let printed = world.host.printed();
    for secret in ["upstream-token", "ada@a.example", "upstream-code"] {
        assert!(!printed.contains(secret), "{printed}");
    }
    // The callback again: the cookie is gone.
    assert_eq!(browser.send(&world, ("GET", &callback), &[], "").status, 403);
}

#[test]
fn somebody_who_declines_at_the_provider() {
    let world = world_for("github:octocat");
    let browser = Browser::default();
    let client = world.client();
    let page = browser.open(&world, &request(&client.id));
    let leave = browser.answer(&world, &page, &[("with", "provider"), ("provider", "github")]);
    let url = callback_of(&leave).replace("code=upstream-code", "error=access_denied");
    let back = browser.send(&world, ("GET", &url), &[], "");
    assert_eq!(query(location(&back), "error").as_deref(), Some("access_denied"));
}

#[test]
fn somebody_who_is_no_longer_allowed() {
    let mut world = world_for("github:octocat, github:hubot");
    ACCOUNT.set(json!({"id": 1, "login": "octocat"}));
    let response = sign_in(&world, &Browser::default(), "github");
    let code = query(location(&response), "code").unwrap();
    let client = world.client();
    assert_eq!(world.exchange(&client, &code).0, 400, "the code is another client's");
    let browser = Browser::default();
    let client = world.client();
    let page = browser.open(&world, &request(&client.id));
    let leave = browser.answer(&world, &page, &[("with", "provider"), ("provider", "github")]);
    let back = browser.send(&world, ("GET", &callback_of(&leave)), &[], "");
    let (_, tokens) = world.exchange(&client, &query(location(&back), "code").unwrap());
    world.restart(&[("SIGN_IN_ALLOWED", "github:hubot")]);
    let (status, body) = world.refresh(&client, tokens["refresh_token"].as_str().unwrap());
    assert_eq!((status, &body["error"]), (400, &json!("invalid_grant")));
}

const TEAM: &str = "https://acme.cloudflareaccess.com";

fn access_keys(request: &HttpRequest<'_>) -> Result<HttpResponse, HttpError> {
    assert_eq!(request.url, format!("{TEAM}/cdn-cgi/access/certs"));
    let keys = json!({"keys": [{"kty": "RSA", "n": "m".repeat(342), "e": "AQAB", "kid": "1"}]});
    Ok(HttpResponse { status: 200, retry_after_ms: None, body: keys.to_string().into_bytes() })
}

#[test]
fn cloudflare_access() {
    let access = [("ACCESS_TEAM_DOMAIN", TEAM), ("ACCESS_AUDIENCE", "tag")];
    let world = World::with(&access, access_keys);
    let client = world.client();
    let now = world.host.now_ms.get() / 1000;
    let token = |changes: &[(&str, Value)]| {
        let mut claims = json!({"iss": TEAM, "aud": ["tag"], "sub": "u1", "email": "ada@a.example", "exp": now + 600});
        for (name, value) in changes {
            claims[*name] = value.clone();
        }
        let encode = |value: &Value| Base64UrlUnpadded::encode_string(value.to_string().as_bytes());
        let message =
            format!("{}.{}", encode(&json!({"alg": "RS256", "kid": "1"})), encode(&claims));
        let jwk = json!({"kty": "RSA", "n": "m".repeat(342), "e": "AQAB"}).to_string();
        let signature = fake_signature(SignatureAlgorithm::Rs256, &jwk, message.as_bytes());
        format!("{message}.{}", Base64UrlUnpadded::encode_string(&signature))
    };
    let url = format!("/oauth/authorize?{}", encode(&request(&client.id)));
    for (token, works) in [
        (token(&[]), true),
        (token(&[("aud", json!(["other"]))]), false),
        (token(&[("iss", json!("https://evil.cloudflareaccess.com"))]), false),
        (token(&[("exp", json!(now - 600))]), false),
        (token(&[("sub", json!(""))]), false),
        (format!("{}A", token(&[])), false),
        ("x".to_owned(), false),
    ] {
        let browser = Browser::default();
        let header = ("cf-access-jwt-assertion", token.as_str());
        let page = browser.send(&world, ("GET", &url), &[header], "");
        assert_eq!(text(&page).contains("Allow as <bdi>ada@a.example</bdi>"), works, "{token}");
        let html = text(&page);
        let request = html.split_once("name=\"request\" value=\"").unwrap().1;
        let request = request.split('"').next().unwrap();
        let body = encode(&[("request", request), ("with", "access")]);
        let form = ("content-type", "application/x-www-form-urlencoded");
        let headers = [form, ("sec-fetch-site", "same-origin"), header];
        let response = browser.send(&world, ("POST", "/oauth/authorize"), &headers, &body);
        assert_eq!(response.status, if works { 303 } else { 400 }, "{token}");
    }
}

#[test]
fn the_developer_signs_in_on_this_machine_only() {
    const LOCAL: &str = "http://localhost:8787";
    for (public_url, development, host, works) in [
        (LOCAL, "true", "localhost:8787", true),
        (LOCAL, "true", "127.0.0.1:8787", true),
        (LOCAL, "true", "booth.example", false),
        (LOCAL, "false", "localhost:8787", false),
        (ORIGIN, "true", "localhost:8787", false),
        (ORIGIN, "true", "booth.example", false),
    ] {
        let variables = [("PUBLIC_URL", public_url), ("DEVELOPMENT", development)];
        let world = World::with(&variables, |_| panic!());
        let client = world.client();
        let browser = Browser::default();
        let parameters = changed(request(&client.id), &[("resource", "")]);
        let url = format!("/oauth/authorize?{}", encode(&parameters));
        let page = browser.send(&world, ("GET", &url), &[("host", host)], "");
        assert_eq!(text(&page).contains("Allow as the developer"), works, "{public_url} {host}");
        let html = text(&page);
        let request = html.split_once("name=\"request\" value=\"").unwrap().1;
        let body =
            encode(&[("request", request.split('"').next().unwrap()), ("with", "developer")]);
        let form = ("content-type", "application/x-www-form-urlencoded");
        let headers = [form, ("sec-fetch-site", "same-origin"), ("host", host)];
        let response = browser.send(&world, ("POST", "/oauth/authorize"), &headers, &body);
        assert_eq!(response.status, if works { 303 } else { 400 }, "{public_url} {host}");
    }
}

#[test]
fn nobody_signs_in_unless_somebody_is_allowed() {
    use crate::settings::Settings;
    use crate::testing::FakeHost;
    const BASE: &[(&str, &str)] = &[
        ("AUTH", "sign-in"),
        ("PUBLIC_URL", ORIGIN),
        ("STATE_KEY", "0123456789abcdef0123456789abcdef"),
    ];
    const CORP: [(&str, &str); 3] = [
        ("OAUTH_PROVIDERS", "corp"),
        ("OAUTH_CORP_CLIENT_ID", "c1"),
        ("OAUTH_CORP_ISSUER", "https://corp.example"),
    ];
    for (variables, wrong) in [
        (&[][..], Some("SIGN_IN_ALLOWED")),
        (&[("SIGN_IN_ALLOWED", "github:octocat")], Some("SIGN_IN_ALLOWED")),
        (&[("SIGN_IN_ALLOWED", "octocat")], Some("SIGN_IN_ALLOWED")),
        (
            &[CORP[0], CORP[1], CORP[2], ("SIGN_IN_ALLOWED", "corp:id/1, corp:ada@corp.example")],
            None,
        ),
        (&[CORP[0], CORP[1], CORP[2], ("SIGN_IN_ALLOWED", "corp:admin")], Some("SIGN_IN_ALLOWED")),
        (
            &[CORP[0], CORP[1], CORP[2], ("SIGN_IN_ALLOWED", "corp:org/acme")],
            Some("SIGN_IN_ALLOWED"),
        ),
        (&[("OAUTH_PROVIDERS", "api-key")], Some("OAUTH_PROVIDERS")),
        (&[("ACCESS_TEAM_DOMAIN", TEAM), ("ACCESS_AUDIENCE", "tag")], None),
        (&[("ACCESS_TEAM_DOMAIN", TEAM)], Some("ACCESS_AUDIENCE")),
        (&[("ACCESS_AUDIENCE", "tag")], Some("ACCESS_AUDIENCE")),
        (&[("PUBLIC_URL", "")], Some("PUBLIC_URL")),
        (&[("STATE_KEY", "")], Some("STATE_KEY")),
    ] {
        let all: Vec<_> = BASE.iter().chain(variables).copied().collect();
        let problems = Settings::read(&FakeHost::with(&all), &[]).problems;
        match wrong {
            None => assert!(problems.is_empty(), "{variables:?} {problems:?}"),
            Some(name) => {
                assert!(
                    problems.iter().any(|it| it.starts_with(name)),
                    "{variables:?} {problems:?}"
                );
            }
        }
    }
}
