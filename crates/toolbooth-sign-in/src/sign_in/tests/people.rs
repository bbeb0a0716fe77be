//! The consent page, and people who answer it with an API key, a session or as the development user.

use serde_json::json;

use super::harness::{
    Browser, KEY, ORIGIN, VERIFIER, changed, encode, header, location, query, request, start,
    start_with, text,
};

#[test]
fn the_page_shows_who_asks_for_what() {
    let harness = start_with(&[("API_KEYS", TWO_KEYS)], |_| panic!("no request is expected"));
    let (_, body) = harness.register(&json!({
        "client_name": "<b>Evil\u{202e}</b> & \"Co\"", "redirect_uris": [super::REDIRECT],
        "token_endpoint_auth_method": "none", "grant_types": ["authorization_code", "refresh_token"],
    }));
    let id = body["client_id"].as_str().unwrap();
    let page = Browser::default().open(&harness, &request(id));
    let html = text(&page);
    for part in [
        "<title>Connect &lt;b&gt;Evil&lt;/b&gt; &amp; &quot;Co&quot;</title>",
        "<h1>Connect <bdi>&lt;b&gt;Evil&lt;/b&gt; &amp; &quot;Co&quot;</bdi></h1>",
        "<strong><bdi>&lt;b&gt;Evil&lt;/b&gt; &amp; &quot;Co&quot;</bdi></strong> wants",
        "Its name is not verified.",
        "<bdi>client.example</bdi>",
        "<code>echo:a</code>: <bdi>",
        "stays connected",
        "API key of this server",
        "Deny",
    ] {
        assert!(html.contains(part), "{part}: {html}");
    }
    assert!(!html.contains("<b>"), "{html}");
    let get = |name| header(&page, name).unwrap_or_default();
    let policy = get("content-security-policy");
    for part in ["default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'"] {
        assert!(policy.contains(part), "{policy}");
    }
    assert!(!policy.contains("form-action"), "the client's callback may redirect anywhere");
    assert_eq!(get("x-frame-options"), "DENY");
    assert_eq!(get("cache-control"), "no-store");
    assert_eq!(get("referrer-policy"), "same-origin");
    assert_eq!(header(&page, "cross-origin-opener-policy"), None, "clients wait for their window");
    assert!(header(&page, "strict-transport-security").is_some());
}

#[test]
fn the_form_is_bound_to_the_page_and_the_browser() {
    let harness = start();
    let client = harness.client();
    let (browser, stranger) = (Browser::default(), Browser::default());
    let page = browser.open(&harness, &request(&client.id));
    let agree = [("with", "key"), ("api_key", KEY)];
    // Another browser: with a page of its own, or none.
    assert_eq!(stranger.answer(&harness, &page, &agree).status, 403);
    stranger.open(&harness, &request(&client.id));
    assert_eq!(stranger.answer(&harness, &page, &agree).status, 403);
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
            browser.send(&harness, ("POST", "/oauth/authorize"), headers, &encode(&fields));
        assert_eq!(response.status, status, "{headers:?} {}", text(&response));
    }
    // Another request, or a changed one.
    for token in ["", "x", &token[1..]] {
        let fields = [("request", token), ("with", "key"), ("api_key", KEY)];
        assert_eq!(browser.submit(&harness, &encode(&fields)).status, 400, "{token}");
    }
    // Two tabs work, and a page works after the back button.
    let other = browser.open(&harness, &request(&client.id));
    for page in [&page, &other, &page] {
        assert_eq!(browser.answer(&harness, page, &agree).status, 303);
    }
    harness.wait(15 * 60_000);
    let late = browser.answer(&harness, &page, &agree);
    assert!(text(&late).contains("This took too long"));
}

#[test]
fn what_people_can_answer() {
    let harness = start();
    let client = harness.client();
    let browser = Browser::default();
    let page = browser.open(&harness, &request(&client.id));
    for (fields, expected) in [
        (&[("with", "key"), ("api_key", "wrong")][..], Err("The key is not valid")),
        (&[("with", "key")], Err("The key is not valid")),
        (&[("with", "session")], Err("This took too long")),
        (&[("with", "access")], Err("This took too long")),
        (&[("with", "developer")], Err("This address is not valid")),
        (&[("with", "provider"), ("provider", "github")], Err("This address is not valid")),
        (&[("with", "")], Err("This address is not valid")),
        (&[("with", "denial")], Ok(("error", "access_denied"))),
    ] {
        let response = browser.answer(&harness, &page, fields);
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
    let mut harness = start();
    let client = harness.client();
    let browser = Browser::default();
    browser.code(&harness, &request(&client.id));
    let page = browser.open(&harness, &request(&client.id));
    assert!(text(&page).contains("Allow as <bdi>Calendar</bdi>"));
    assert_eq!(browser.answer(&harness, &page, &[("with", "session")]).status, 303);
    // A different person signs in, in another tab.
    harness.restart(&[("API_KEYS", TWO_KEYS)]);
    let other = browser.open(&harness, &request(&client.id));
    let fields = [("with", "key"), ("api_key", "other-key")];
    assert_eq!(browser.answer(&harness, &other, &fields).status, 303);
    assert_eq!(browser.answer(&harness, &page, &[("with", "session")]).status, 400);
    let page = browser.open(&harness, &request(&client.id));
    assert!(text(&page).contains("Allow as <bdi>Other</bdi>"));
    // Without the key there is no session any more.
    harness.restart(&[("API_KEYS", r#"[{"name":"Calendar","scopes":["*"],"hash":"0000000000000000000000000000000000000000000000000000000000000000"}]"#)]);
    assert_eq!(browser.answer(&harness, &page, &[("with", "session")]).status, 400);
    assert!(!text(&browser.open(&harness, &request(&client.id))).contains("Allow as"));
}

#[test]
fn only_the_servers_own_page_learns_about_the_person() {
    let harness = start();
    for (redirect, name) in [
        ("https://tools.example/signed-in", Some("Calendar")),
        ("https://tools.example/signed-in/x", None),
        ("https://tools.example.evil.example/signed-in", None),
        (super::REDIRECT, None),
    ] {
        let (_, client) = harness.register(&json!({
            "redirect_uris": [redirect], "token_endpoint_auth_method": "none",
            "grant_types": ["authorization_code", "refresh_token"],
        }));
        let id = client["client_id"].as_str().unwrap().to_owned();
        let request = changed(request(&id), &[("redirect_uri", redirect)]);
        let code = Browser::default().code(&harness, &request);
        let (status, tokens) = harness.token(&[
            ("grant_type", "authorization_code"),
            ("client_id", &id),
            ("code", &code),
            ("code_verifier", VERIFIER),
        ]);
        assert_eq!(status, 200, "{tokens}");
        assert_eq!(tokens["name"].as_str(), name, "{redirect}");
        let available = name.map(|_| "echo:a");
        assert_eq!(tokens["available_scope"].as_str(), available, "{redirect}");
    }
}

#[test]
fn a_key_that_is_withdrawn_or_changed() {
    const OLD: &str = "e8b18fbe02fad6aa9ce82b235322e7c10196478f011f9f8617b1b75d6db57961";
    const NEW: &str = "0000000000000000000000000000000000000000000000000000000000000000";
    for (members, status, scope, call) in [
        (r#""name":"Calendar","scopes":["echo:b"],"hash":"OLD""#, 200, "", 200),
        (
            r#""name":"Calendar","scopes":["echo:a"],"hash":"NEW","previous_hash":"OLD""#,
            200,
            "echo:a",
            200,
        ),
        // A new key of the same name is a different one.
        (r#""name":"Calendar","scopes":["*"],"hash":"NEW""#, 400, "", 401),
        // It has the tools of the key.
        (
            r#""name":"Calendar","scopes":["echo:a"],"hash":"OLD","tools":["Echo.Scoped"]"#,
            200,
            "echo:a",
            400,
        ),
        (
            r#""name":"Calendar","scopes":["echo:a"],"hash":"OLD","tools":["Echo.Say"]"#,
            200,
            "echo:a",
            200,
        ),
        // Without the key it ends at once.
        (r#""name":"Other","scopes":["*"],"hash":"OLD""#, 400, "", 401),
    ] {
        let keys = &*format!("[{{{}}}]", members.replace("OLD", OLD).replace("NEW", NEW));
        let mut harness = start();
        let client = harness.client();
        let code = super::code(&harness, &client);
        let (_, tokens) = harness.exchange(&client, &code);
        harness.restart(&[("API_KEYS", keys)]);
        let (got, body) = harness.refresh(&client, tokens["refresh_token"].as_str().unwrap());
        assert_eq!(got, status, "{keys} {body}");
        assert_eq!(body["scope"].as_str().unwrap_or_default(), scope, "{keys}");
        assert_eq!(harness.call(tokens["access_token"].as_str().unwrap()), call, "{keys}");
    }
}

#[test]
fn the_developer_signs_in_on_this_machine_only() {
    const LOCAL: &str = "http://localhost:8787";
    for (public_url, development, host, works) in [
        (LOCAL, "true", "localhost:8787", true),
        (LOCAL, "true", "127.0.0.1:8787", true),
        (LOCAL, "true", "tools.example", false),
        (LOCAL, "false", "localhost:8787", false),
        (ORIGIN, "true", "localhost:8787", false),
        (ORIGIN, "true", "tools.example", false),
    ] {
        let variables = [("PUBLIC_URL", public_url), ("DEVELOPMENT", development)];
        let harness = start_with(&variables, |_| panic!());
        let client = harness.client();
        let browser = Browser::default();
        let parameters = changed(request(&client.id), &[("resource", "")]);
        let url = format!("/oauth/authorize?{}", encode(&parameters));
        let page = browser.send(&harness, ("GET", &url), &[("host", host)], "");
        assert_eq!(text(&page).contains("Allow as Dev User"), works, "{public_url} {host}");
        let html = text(&page);
        let request = html.split_once("name=\"request\" value=\"").unwrap().1;
        let body =
            encode(&[("request", request.split('"').next().unwrap()), ("with", "developer")]);
        let form = ("content-type", "application/x-www-form-urlencoded");
        let headers = [form, ("sec-fetch-site", "same-origin"), ("host", host)];
        let response = browser.send(&harness, ("POST", "/oauth/authorize"), &headers, &body);
        assert_eq!(response.status, if works { 303 } else { 400 }, "{public_url} {host}");
        // With a session there is one button, not two that say the same.
        let again = browser.send(&harness, ("GET", &url), &[("host", host)], "");
        let buttons = text(&again).matches("Allow as Dev User").count()
            + text(&again).matches("Allow as <bdi>Dev User").count();
        assert_eq!(buttons, usize::from(works), "{public_url} {host}");
    }
}

#[test]
fn a_session_does_not_renew_itself() {
    const HOUR_MS: u64 = 3_600_000;
    let harness = start();
    let client = harness.client();
    let browser = Browser::default();
    browser.code(&harness, &request(&client.id));
    let page = || browser.open(&harness, &request(&client.id));
    let is_known = || text(&page()).contains("Allow as <bdi>Calendar</bdi>");
    harness.wait(11 * HOUR_MS);
    assert!(is_known());
    let response = browser.answer(&harness, &page(), &[("with", "session")]);
    assert!(query(location(&response), "code").is_some(), "{}", text(&response));
    assert_eq!(header(&response, "set-cookie"), None);
    harness.wait(2 * HOUR_MS);
    assert!(!is_known());
}
