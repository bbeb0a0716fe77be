//! People who sign in at a provider.

mod denied;
mod unsaid;

use std::cell::RefCell;

use base64ct::{Base64UrlUnpadded, Encoding};
use serde_json::{Value, json};

use super::harness::{
    Browser, Harness, ORIGIN, changed, location, query, request, start_with, text,
};
use toolbooth::host::{HttpError, HttpRequest, HttpResponse, SIGN_IN_LIMITER};
use toolbooth::http::Response;
use toolbooth::testing::STALE_MS;

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
    let mut account = ACCOUNT.with_borrow(Clone::clone);
    if account["tokens"].is_null() {
        account["tokens"] = json!({"access_token": "upstream-token", "token_type": "bearer"});
    }
    let (status, body) = match &*request.url {
        "https://corp.example/.well-known/openid-configuration" => (
            200,
            json!({"issuer": "https://corp.example", "authorization_endpoint": "https://corp.example/authorize",
                "token_endpoint": "https://corp.example/token", "userinfo_endpoint": "https://corp.example/me",
                "authorization_response_iss_parameter_supported": true}),
        ),
        "https://corp.example/token"
        | "https://github.com/login/oauth/access_token"
        | "https://oauth2.googleapis.com/token" => (200, account["tokens"].clone()),
        "https://corp.example/me"
        | "https://api.github.com/user"
        | "https://openidconnect.googleapis.com/v1/userinfo" => {
            let authorization = request.headers.iter().find(|(name, _)| *name == "authorization");
            let status = account["status"].as_u64().unwrap_or(200);
            match &*authorization.unwrap().1 {
                "Bearer upstream-token" => (u16::try_from(status).unwrap(), account),
                "Bearer refreshed-token" => (200, account),
                other => panic!("{other}"),
            }
        }
        "https://api.github.com/user/emails" => match account["emails"].as_u64() {
            Some(status) => (u16::try_from(status).unwrap(), json!({"message": "Not Found"})),
            None => (200, account["emails"].clone()),
        },
        other => match other.strip_prefix("https://api.github.com/user/memberships/orgs/") {
            Some(organization) => match &account[organization] {
                Value::String(state) => (200, json!({"state": state})),
                Value::Number(status) => {
                    let status = u16::try_from(status.as_u64().unwrap()).unwrap();
                    (status, json!({"message": account["message"]}))
                }
                _ => (404, json!({})),
            },
            None => panic!("{other}"),
        },
    };
    let body = body.to_string().into_bytes();
    Ok(HttpResponse::new(status, body))
}

const PROVIDERS: &[(&str, &str)] = &[
    ("OAUTH_PROVIDERS", "github, corp, google"),
    ("OAUTH_GOOGLE_CLIENT_ID", "go1"),
    ("OAUTH_GITHUB_CLIENT_ID", "g1"),
    ("OAUTH_GITHUB_CLIENT_SECRET", "gs"),
    ("OAUTH_CORP_CLIENT_ID", "c1"),
    ("OAUTH_CORP_ISSUER", "https://corp.example"),
];

fn harness_for(allowed: &str) -> Harness {
    let variables: Vec<_> =
        PROVIDERS.iter().chain(&[("SIGN_IN_ALLOWED", allowed)]).copied().collect();
    start_with(&variables, providers)
}

/// Signs in at a provider, and returns the response to its callback.
fn sign_in(harness: &Harness, browser: &Browser, provider: &str) -> Response {
    let client = harness.client();
    let page = browser.open(harness, &request(&client.id));
    let leave = browser.answer(harness, &page, &[("with", "provider"), ("provider", provider)]);
    assert_eq!(leave.status, 303, "{}", text(&leave));
    let url = callback_of(&leave);
    browser.send(harness, ("GET", &url), &[], "")
}

/// Where a provider sends the browser back.
fn callback_of(leave: &Response) -> String {
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
    let google = |email: &str, hd: Option<&str>| json!({"sub": "s1", "email": email, "email_verified": true, "hd": hd});
    for (provider, allowed, account, may) in [
        ("github", "github:octocat", github.clone(), true),
        ("github", "github:id/583231", github.clone(), true),
        ("github", "github:*", github.clone(), true),
        ("github", "github:id/1, github:OCTOCAT", github.clone(), true),
        ("github", "github:hubot", github.clone(), false),
        ("github", "github:583231", github.clone(), false),
        ("github", "github:id/5832", github.clone(), false),
        ("github", "github:hubot, corp:*", github.clone(), false),
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
        ("google", "google:@a.example", google("ada@a.example", Some("a.example")), true),
        ("google", "google:@a.example", google("ada@a.example", None), false),
        ("google", "google:@a.example", google("ada@a.example", Some("b.example")), false),
        ("google", "google:ada@a.example", google("Ada@a.example", Some("A.example")), true),
        // The mailbox may have another owner now, but the account keeps the address.
        ("google", "google:ada@a.example", google("ada@a.example", None), false),
        ("google", "google:ada@a.example", google("ada@a.example", Some("b.example")), false),
        ("google", "google:ada@gmail.com", google("ada@gmail.com", None), true),
    ] {
        let harness = harness_for(allowed);
        ACCOUNT.set(account.clone());
        let response = sign_in(&harness, &Browser::default(), provider);
        assert_eq!(
            response.status,
            if may { 303 } else { 403 },
            "{allowed} {account} {}",
            text(&response)
        );
        let rule = match provider {
            "github" => "github:id/583231",
            "google" => "google:id/s1",
            _ => "corp:id/s1",
        };
        let log = format!("{:?}", harness.host.lines.borrow());
        assert_eq!(text(&response).contains(&format!("<bdi>{rule}</bdi>")), !may, "{rule}");
        assert_eq!(log.contains(rule), !may, "{log}");
        if !may {
            // The operator adds the rule that the page shows.
            let harness = harness_for(&format!("{allowed}, {rule}"));
            assert_eq!(sign_in(&harness, &Browser::default(), provider).status, 303, "{rule}");
        }
    }
}

#[test]
fn a_sign_in_at_a_provider() {
    let harness = harness_for(r#"[{"who": "corp:id/s1", "scopes": ["echo:*"]}]"#);
    ACCOUNT.set(json!({"sub": "s1", "email": "ada@a.example", "email_verified": true}));
    let browser = Browser::default();
    let client = harness.client();
    let page =
        browser.open(&harness, &changed(request(&client.id), &[("scope", "echo:a echo:b echo:c")]));
    assert!(!text(&page).contains("GitHub"), "no rule allows to sign in there");
    let leave = browser.answer(&harness, &page, &[("with", "provider"), ("provider", "corp")]);
    let url = location(&leave);
    for (name, value) in [
        ("redirect_uri", "https://tools.example/auth/callback/corp"),
        ("scope", "openid email"),
        ("client_id", "c1"),
        ("code_challenge_method", "S256"),
    ] {
        assert_eq!(query(url, name).as_deref(), Some(value), "{url}");
    }
    let callback = callback_of(&leave);
    // Another browser, another issuer, another provider, a changed state.
    let other = Browser::default().send(&harness, ("GET", &callback), &[], "");
    assert_eq!(other.status, 403);
    for (from, to) in [
        ("iss=https%3A%2F%2Fcorp.example", "iss=https%3A%2F%2Fevil.example"),
        ("&iss=https%3A%2F%2Fcorp.example", ""),
        ("callback/corp", "callback/github"),
    ] {
        let url = callback.replace(from, to);
        assert_eq!(browser.send(&harness, ("GET", &url), &[], "").status, 400, "{to}");
    }
    let back = browser.send(&harness, ("GET", &callback), &[], "");
    let code = query(location(&back), "code").unwrap();
    let (status, tokens) = harness.exchange(&client, &code);
    assert_eq!((status, &tokens["scope"]), (200, &json!("echo:a echo:b")));
    let claims = tokens["access_token"].as_str().unwrap().split('.').nth(1).unwrap();
    let claims: Value =
        serde_json::from_slice(&Base64UrlUnpadded::decode_vec(claims).unwrap()).unwrap();
    assert_eq!(claims["sub"], "corp:s1");
    assert_eq!(claims["iss"], ORIGIN);
    let printed = harness.host.printed();
    for secret in ["upstream-token", "ada@a.example", "upstream-code"] {
        assert!(!printed.contains(secret), "{printed}");
    }
    // The callback again: the cookie is gone.
    assert_eq!(browser.send(&harness, ("GET", &callback), &[], "").status, 403);
}

#[test]
fn a_sign_in_is_five_requests_of_its_network_and_no_call() {
    let mut harness = harness_for("corp:*");
    harness.host.limit = Some(Ok(1));
    harness.host.limits.insert(SIGN_IN_LIMITER, Ok(5));
    ACCOUNT.set(json!({"sub": "s1"}));
    let browser = Browser::default();
    let client = harness.client();
    let page = browser.open(&harness, &request(&client.id));
    let leave = browser.answer(&harness, &page, &[("with", "provider"), ("provider", "corp")]);
    let back = browser.send(&harness, ("GET", &callback_of(&leave)), &[], "");
    let (status, tokens) = harness.exchange(&client, &query(location(&back), "code").unwrap());
    assert_eq!(status, 200, "{tokens}");
    assert_eq!(harness.host.taken.borrow()["SIGN_IN_LIMITER address:"], 5);
    assert_eq!(harness.call(tokens["access_token"].as_str().unwrap()), 200);
    let page = browser.open(&harness, &request(&client.id));
    assert_eq!(page.status, 429, "{}", text(&page));
    let line = harness.host.lines.borrow().last().unwrap().1.clone();
    assert_eq!(
        line,
        r#"{"audit":1,"outcome":"rejected","event":"request_rejected","protocol":"authorize","caller":"anonymous","error.type":"too_many_requests","http.response.status_code":429}"#
    );
}

#[test]
fn a_request_that_is_too_long_is_rejected_before_the_provider() {
    let harness = harness_for("corp:*");
    ACCOUNT.set(json!({"sub": "s1"}));
    let client = harness.client();
    let mut rejected = 0;
    // In a token, each of these characters takes eight bytes.
    let lengths: Vec<_> = (300..500).step_by(4).collect();
    for length in &lengths {
        let state = "\u{1}".repeat(*length);
        let browser = Browser::default();
        let page = browser.open(&harness, &changed(request(&client.id), &[("state", &state)]));
        let leave = browser.answer(&harness, &page, &[("with", "provider"), ("provider", "corp")]);
        if leave.status == 400 {
            assert!(text(&leave).contains("This request is too long"), "{}", text(&leave));
            rejected += 1;
            continue;
        }
        let done = browser.send(&harness, ("GET", &callback_of(&leave)), &[], "");
        assert_eq!(query(location(&done), "state"), Some(state), "{length}");
    }
    assert!((1..lengths.len()).contains(&rejected), "{rejected}");
}

#[test]
fn a_server_that_is_not_configured_completes_no_sign_in() {
    let mut harness = harness_for("corp:id/s1");
    ACCOUNT.set(json!({"sub": "s1"}));
    let browser = Browser::default();
    let client = harness.client();
    let page = browser.open(&harness, &request(&client.id));
    let leave = browser.answer(&harness, &page, &[("with", "provider"), ("provider", "corp")]);
    let callback = callback_of(&leave);
    harness.restart(&[("MAX_TOOL_CALLS", "0")]);
    let back = browser.send(&harness, ("GET", &callback), &[], "");
    assert_eq!(back.status, 503);
    assert!(text(&back).contains("This server is not set up"), "{}", text(&back));
    harness.restart(&[("MAX_TOOL_CALLS", "1")]);
    assert_eq!(browser.send(&harness, ("GET", &callback), &[], "").status, 303);
}

#[test]
fn somebody_who_declines_at_the_provider() {
    let harness = harness_for("github:octocat");
    let browser = Browser::default();
    let client = harness.client();
    let page = browser.open(&harness, &request(&client.id));
    let leave = browser.answer(&harness, &page, &[("with", "provider"), ("provider", "github")]);
    let url = callback_of(&leave).replace("code=upstream-code", "error=access_denied");
    let back = browser.send(&harness, ("GET", &url), &[], "");
    assert_eq!(query(location(&back), "error").as_deref(), Some("access_denied"));
}

#[test]
fn somebody_who_is_no_longer_allowed() {
    let mut harness = harness_for("github:octocat, github:hubot");
    ACCOUNT.set(json!({"id": 1, "login": "octocat"}));
    let response = sign_in(&harness, &Browser::default(), "github");
    let code = query(location(&response), "code").unwrap();
    let client = harness.client();
    assert_eq!(harness.exchange(&client, &code).0, 400, "the code is another client's");
    let browser = Browser::default();
    let client = harness.client();
    let page = browser.open(&harness, &request(&client.id));
    let leave = browser.answer(&harness, &page, &[("with", "provider"), ("provider", "github")]);
    let back = browser.send(&harness, ("GET", &callback_of(&leave)), &[], "");
    let (_, tokens) = harness.exchange(&client, &query(location(&back), "code").unwrap());
    harness.restart(&[("SIGN_IN_ALLOWED", "github:hubot")]);
    let (status, body) = harness.refresh(&client, tokens["refresh_token"].as_str().unwrap());
    assert_eq!((status, &body["error"]), (400, &json!("invalid_grant")));
}
