//! Challenges are bound to the person who has signed in, and to no other.

use serde_json::Value;

use super::harness::{
    Browser, Harness, KEY, header, json, location, query, request, start_with, text,
};
use toolbooth::host::{HttpError, HttpRequest, HttpResponse};
use toolbooth::http::Response;

const TOKEN: &str = "https://mail.example/token";

/// The key that another person types.
pub(super) const OTHER_KEY: &str = "ada-key";
const API_KEYS: &str = r#"[
    {"name":"Calendar","scopes":["echo:a"],"hash":"e8b18fbe02fad6aa9ce82b235322e7c10196478f011f9f8617b1b75d6db57961"},
    {"name":"Ada","scopes":[],"hash":"15b5f344504549a217d5e34c7ae9b0af03c413536b0d0c0fc48822ac8922d3c8"}]"#;

pub(super) const MAIL: &[(&str, &str)] = &[
    ("API_KEYS", API_KEYS),
    ("OAUTH_PROVIDERS", "mail"),
    ("GRANT_KEYS", "a:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="),
    ("OAUTH_MAIL_CLIENT_ID", "booth"),
    ("OAUTH_MAIL_CLIENT_SECRET", "secret"),
    ("OAUTH_MAIL_AUTHORIZE_URL", "https://mail.example/authorize"),
    ("OAUTH_MAIL_TOKEN_URL", TOKEN),
    ("OAUTH_MAIL_REVOKE_URL", "https://mail.example/revoke"),
];

pub(super) fn mail(request: &HttpRequest<'_>) -> Result<HttpResponse, HttpError> {
    let body = match &*request.url {
        TOKEN => r#"{"access_token":"a","token_type":"bearer","refresh_token":"r"}"#,
        "https://mail.example/revoke" => "",
        other => panic!("{other}"),
    };
    Ok(HttpResponse::new(200, body))
}

/// A server whose tools need mail.
pub(super) fn mail_harness() -> Harness {
    start_with(MAIL, mail)
}

/// An access token of the person who types this key.
pub(super) fn access_token(harness: &Harness, key: &str) -> String {
    let client = harness.client();
    let browser = Browser::default();
    let page = browser.open(harness, &request(&client.id));
    let response = browser.answer(harness, &page, &[("with", "key"), ("api_key", key)]);
    let code = query(location(&response), "code").unwrap();
    let (status, body) = harness.exchange(&client, &code);
    assert_eq!(status, 200, "{body}");
    body["access_token"].as_str().unwrap().to_owned()
}

/// Calls the tool that needs mail.
pub(super) fn call(harness: &Harness, token: &str) -> (u16, Value) {
    let authorization = format!("Bearer {token}");
    let headers = [("content-type", "application/json"), ("authorization", &authorization)];
    let body = r#"{"tool_id":"Echo.Private","input":{"text":"hi"},
        "context":{"secrets":[{"id":"KEY","value":"k"}]}}"#;
    let response = harness.send(("POST", "/oxp/call"), &headers, body);
    (response.status, json(&response))
}

/// The URL of the challenge that such a call gets.
pub(super) fn challenge(harness: &Harness, token: &str) -> String {
    let (status, body) = call(harness, token);
    assert_eq!(status, 400, "{body}");
    body["missing_requirements"]["authorization"][0]["url"].as_str().unwrap().to_owned()
}

pub(super) fn get(harness: &Harness, browser: &Browser, url: &str) -> Response {
    browser.send(harness, ("GET", url), &[("sec-fetch-site", "none")], "")
}

fn post(harness: &Harness, browser: &Browser, url: &str) -> Response {
    browser.send(harness, ("POST", url), &[("sec-fetch-site", "same-origin")], "")
}

/// Signs in on the page that a redirect leads to.
pub(super) fn sign_in(
    harness: &Harness,
    browser: &Browser,
    redirect: &Response,
    key: &str,
) -> Response {
    assert_eq!(redirect.status, 303, "{}", text(redirect));
    assert!(location(redirect).starts_with("/oauth/authorize/sign-in"), "{}", location(redirect));
    let page = get(harness, browser, location(redirect));
    assert!(text(&page).contains("<h1>Sign in</h1>"), "{}", text(&page));
    browser.answer(harness, &page, &[("with", "key"), ("api_key", key)])
}

/// Goes to the provider and comes back with a code.
pub(super) fn grant(harness: &Harness, browser: &Browser, url: &str) {
    let leave = post(harness, browser, url);
    assert!(
        location(&leave).starts_with("https://mail.example/authorize?"),
        "{}",
        location(&leave)
    );
    let state = query(location(&leave), "state").unwrap();
    let back = format!("/auth/callback/mail?code=c&state={state}");
    let done = get(harness, browser, &back);
    assert!(text(&done).contains("<h1>Done</h1>"), "{}", text(&done));
}

#[test]
fn only_the_person_whom_a_challenge_names_continues() {
    let harness = mail_harness();
    let token = access_token(&harness, KEY);
    let url = challenge(&harness, &token);
    let browser = Browser::default();
    // Without a sign-in: neither the page nor its form leads on.
    for method in ["GET", "POST"] {
        let response =
            browser.send(&harness, (method, &url), &[("sec-fetch-site", "same-origin")], "");
        assert_eq!(query(location(&response), "c"), query(&url, "c"));
    }
    // The wrong person has.
    let back = sign_in(&harness, &browser, &get(&harness, &browser, &url), OTHER_KEY);
    assert_eq!(format!("https://tools.example{}", location(&back)), url);
    for response in [get(&harness, &browser, &url), post(&harness, &browser, &url)] {
        assert_eq!(response.status, 403);
        assert!(text(&response).contains("<bdi>Ada</bdi>"), "{}", text(&response));
        assert!(text(&response).contains("This link is for someone else"));
        assert!(!text(&response).contains("Calendar"), "it names no other person");
    }
    // Nothing is lost: the right person signs in with another account.
    let html = get(&harness, &browser, &url);
    let other = text(&html).split("href=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let page = get(&harness, &browser, &other);
    assert!(!text(&page).contains("Continue as"), "{}", text(&page));
    let back = browser.answer(&harness, &page, &[("with", "key"), ("api_key", KEY)]);
    let page = get(&harness, &browser, location(&back));
    assert_eq!(page.status, 200, "{}", text(&page));
    for part in [
        "<strong><bdi>Client</bdi></strong> asks for access to your account at <bdi>mail",
        "You are signed in as</dt><dd><strong><bdi>Calendar</bdi>",
        "Continue to <bdi>mail",
    ] {
        assert!(text(&page).contains(part), "{}", text(&page));
    }
    grant(&harness, &browser, &url);
    harness.wait(toolbooth::testing::STALE_MS);
    assert_eq!(call(&harness, &token).0, 200);
    assert_eq!(
        call(&harness, &access_token(&harness, OTHER_KEY)).0,
        400,
        "it is not the grant of others"
    );
}

#[test]
fn a_sign_in_page_leads_to_pages_of_the_server_only() {
    let harness = mail_harness();
    for (query, status, expected) in [
        ("", 200, Some("/account")),
        ("?c=abc", 200, Some("/auth/start?c=abc")),
        ("?c=https://evil.example", 200, Some("/auth/start?c=https%3A%2F%2Fevil.example")),
        ("?c=a%26b%0d%0a", 200, Some("/auth/start?c=a%26b%0D%0A")),
        (&format!("?c={}", "a".repeat(3_501)), 400, None),
    ] {
        let browser = Browser::default();
        let page = get(&harness, &browser, &format!("/oauth/authorize/sign-in{query}"));
        assert_eq!(page.status, status, "{query}");
        assert_eq!(header(&page, "x-frame-options"), Some("DENY"));
        assert_eq!(header(&page, "cross-origin-opener-policy"), Some("same-origin"));
        let Some(expected) = expected else { continue };
        let back = browser.answer(&harness, &page, &[("with", "key"), ("api_key", KEY)]);
        assert_eq!(location(&back), expected);
        let wrong = browser.answer(&harness, &page, &[("with", "key"), ("api_key", "x")]);
        assert_eq!(wrong.status, 403);
        let declined = browser.answer(&harness, &page, &[("with", "denial")]);
        assert!(
            location(&declined).starts_with("/oauth/authorize/sign-in"),
            "no loop, no redirect"
        );
        let other_browser = Browser::default();
        assert_eq!(
            other_browser.answer(&harness, &page, &[("with", "key"), ("api_key", KEY)]).status,
            403
        );
    }
}
