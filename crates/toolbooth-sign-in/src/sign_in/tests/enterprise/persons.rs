//! A person of a company is the same in a browser, sees what was asserted, and can be denied.

use super::super::harness::{location, query, text};
use super::*;

/// The `sub` of an access token.
fn subject(token: &str) -> String {
    let claims = Base64UrlUnpadded::decode_vec(token.split('.').nth(1).unwrap()).unwrap();
    let claims: Value = serde_json::from_slice(&claims).unwrap();
    assert_eq!((&claims["aud"], &claims["client_id"]), (&json!(RESOURCE), &json!("agent")));
    claims["sub"].as_str().unwrap().to_owned()
}

#[test]
fn a_person_is_the_same_in_a_browser_and_can_be_denied() {
    let corp: &[(&str, &str)] = &[
        ("OAUTH_PROVIDERS", "corp"),
        ("OAUTH_CORP_CLIENT_ID", "c1"),
        ("OAUTH_CORP_ISSUER", ISSUER),
        ("SIGN_IN_ALLOWED", r#"[{"who": "corp:*", "scopes": ["*"]}]"#),
    ];
    let entry = issuers(json!({"scopes": ["echo:a"]}));
    let alone = start(&entry, &[]);
    let ada = subject(&alone.of_ada(&json!({})));
    assert!(ada.starts_with("enterprise.") && !ada.contains("ada"), "{ada}");
    assert_eq!(ada, subject(&alone.of_ada(&json!({"email": "ada@acme.example"}))));
    assert_ne!(ada, subject(&alone.of_ada(&json!({"sub": "bob"}))));
    let mut both = start(&entry, corp);
    let (status, body) = both.assert_with("1", &json!({}), "");
    assert_eq!(
        (status, &body["scope"]),
        (200, &json!("echo:a")),
        "not the scopes of SIGN_IN_ALLOWED"
    );
    let token = body["access_token"].as_str().unwrap();
    assert_eq!((subject(token).as_str(), both.call(token)), ("corp:ada", 200));
    both.restart(&[("SIGN_IN_DENIED", "corp:id/ada")]);
    assert_eq!(both.call(token), 401);
    assert_eq!(result(&both.assert_with("1", &json!({}), "")), "invalid_grant 400");
}

#[test]
fn who_is_denied_where_nobody_signs_in() {
    const SLASH: &str = "https://acme.example/";
    let (none, ada) = (json!({}), json!({"email": "Ada@Acme.example"}));
    let unverified = json!({"email": "ada@acme.example", "email_verified": false});
    let no_address = json!({"email": "ada"});
    let bob = json!({"sub": "bob", "email": "bob@other.example"});
    for (issuer, denied, claims, works) in [
        (ISSUER, "corp:id/ada", &none, false),
        (ISSUER, "corp:id/ada", &bob, true),
        (ISSUER, "corp:*", &bob, false),
        (ISSUER, "corp:ada@acme.example", &ada, false),
        (ISSUER, "corp:ada@acme.example", &unverified, false),
        (ISSUER, "corp:ada@acme.example", &bob, true),
        (ISSUER, "corp:@acme.example", &ada, false),
        (ISSUER, "corp:@acme.example", &unverified, false),
        (ISSUER, "corp:@acme.example", &bob, true),
        // It is not known whether the rule is about this person.
        (ISSUER, "corp:ada@acme.example", &none, false),
        (ISSUER, "corp:@acme.example", &none, false),
        (ISSUER, "corp:@acme.example", &no_address, false),
        (ISSUER, "corp:ada@acme.example", &json!({"email": 1}), false),
        (ISSUER, "corp:@acme.example", &json!({"email": "ada@"}), false),
        // A second provider of the same issuer, and a slash at the end of one of the two.
        (ISSUER, "again:id/ada", &none, false),
        (SLASH, "corp:id/ada", &none, false),
        (SLASH, "corp:@acme.example", &ada, false),
        (SLASH, "again:@acme.example", &none, false),
        ("https://acme.example//", "corp:id/ada", &none, true),
        ("https://acme.example/a", "corp:id/ada", &none, true),
        (GOOGLE, "google:ada@acme.example", &ada, false),
        (GOOGLE, "google:ada@acme.example", &none, false),
        (GOOGLE, "google:id/ada", &none, false),
        (GOOGLE, "other-google:@acme.example", &ada, false),
        // Rules about people of other issuers.
        (GOOGLE, "corp:id/ada, corp:ada@acme.example", &ada, true),
        (GOOGLE, "corp:@acme.example", &none, true),
        (ISSUER, "google:id/ada, google:@acme.example", &none, true),
        (ISSUER, "plain:id/ada, plain:@acme.example", &none, true),
    ] {
        let mut harness = start_as(issuer, PROVIDERS);
        let mut claims = claims.clone();
        claims["iss"] = json!(issuer);
        let token = harness.of_ada(&claims);
        assert_eq!(harness.call(&token), 200);
        harness.restart(&[("SIGN_IN_DENIED", denied)]);
        let expected = if works { 200 } else { 401 };
        assert_eq!(harness.call(&token), expected, "{issuer} {denied} {claims}");
        let expected = if works { "echo:a" } else { "invalid_grant 400" };
        let response = harness.assert_with("1", &claims, "");
        assert_eq!(result(&response), expected, "{issuer} {denied} {claims}");
    }
    // The provider is configured after the token was issued.
    let mut harness = start_as(ISSUER, &[]);
    let token = harness.of_ada(&none);
    harness.restart(&[PROVIDERS, &[("SIGN_IN_DENIED", "corp:id/ada")]].concat());
    assert_eq!(harness.call(&token), 401);
}

#[test]
fn the_subject_does_not_depend_on_who_may_sign_in_with_a_browser() {
    for (issuer, expected) in [
        (ISSUER, "corp:ada"),
        ("https://acme.example/", "corp:ada"),
        (GOOGLE, "google:ada"),
        ("https://other.example", "enterprise."),
    ] {
        for allowed in ["", "corp:*", "again:*", "google:*, again:id/bob", "plain:*"] {
            let harness = start_as(issuer, &[PROVIDERS, &[("SIGN_IN_ALLOWED", allowed)]].concat());
            let subject = subject(&harness.of_ada(&json!({"iss": issuer})));
            assert!(subject.starts_with(expected), "{issuer} {allowed}: {subject}");
        }
    }
}

/// Signs Ada in at her company with a browser, and returns the page of her account.
fn account(harness: &Harness, browser: &Browser) -> String {
    let page = browser.send(harness, ("GET", "/oauth/authorize/sign-in"), &[], "");
    let leave = browser.answer(harness, &page, &[("with", "provider"), ("provider", "corp")]);
    let state = query(location(&leave), "state").unwrap();
    let back =
        format!("/auth/callback/corp?code=c&state={state}&iss={}", "https%3A%2F%2Facme.example");
    let back = browser.send(harness, ("GET", &back), &[], "");
    assert_eq!(location(&back), "/account");
    let page = browser.send(harness, ("GET", "/account"), &[], "");
    text(&page).to_owned()
}

#[test]
fn a_person_sees_and_ends_what_the_company_has_asserted() {
    let entry = issuers(json!({"rules": {"eng": {"scopes": ["echo:a"]}}}));
    let corp = [
        ("OAUTH_PROVIDERS", "corp, mail"),
        ("OAUTH_CORP_CLIENT_ID", "c1"),
        ("OAUTH_CORP_ISSUER", ISSUER),
        ("SIGN_IN_ALLOWED", "corp:*"),
    ];
    let mut harness = start(&entry, &[MAIL, &corp].concat());
    let at = |path: &str| format!("{ISSUER}{path}");
    let document = json!({
        "issuer": ISSUER, "jwks_uri": KEYS, "authorization_endpoint": at("/authorize"),
        "token_endpoint": at("/token"), "userinfo_endpoint": at("/userinfo"),
    });
    serve(DISCOVERY, 200, document.clone());
    serve(&at("/.well-known/oauth-authorization-server"), 200, document);
    serve(&at("/token"), 200, json!({"access_token": "t", "token_type": "Bearer"}));
    serve(&at("/userinfo"), 200, json!({"sub": "ada"}));
    let mail = json!({"access_token": "a", "token_type": "bearer", "refresh_token": "r"});
    serve("https://mail.example/token", 200, mail);
    let eng = json!({"groups": ["eng"]});
    let first = harness.of_ada(&eng);
    harness.wait(2_000);
    let second = harness.of_ada(&eng);
    let browser = Browser::default();
    let page = account(&harness, &browser);
    assert_eq!(page.matches("Disconnect <bdi>Agent</bdi>").count(), 1, "one client: {page}");
    assert!(page.contains("acme.example"), "{page}");
    let value = |name: &str| {
        let start = format!("name=\"{name}\" value=\"");
        page.split(&start).nth(1).unwrap().split('"').next().unwrap().to_owned()
    };
    let fields =
        [("form", value("form")), ("do", "disconnect".to_owned()), ("client", value("client"))];
    let headers =
        [("content-type", "application/x-www-form-urlencoded"), ("sec-fetch-site", "same-origin")];
    assert_eq!([&first, &second].map(|token| harness.call(token)), [200, 200]);
    harness.wait(2_000);
    let ended = browser.send(&harness, ("POST", "/account"), &headers, &encode(&fields));
    assert_eq!(ended.status, 303, "{}", text(&ended));
    harness.wait(61_000);
    assert_eq!([&first, &second].map(|token| harness.call(token)), [401, 401]);
    let page = browser.send(&harness, ("GET", "/account"), &[], "");
    assert!(!text(&page).contains("Agent"));
    // The company may authorize the client again, as long as a rule admits the person.
    let third = harness.of_ada(&eng);
    assert_eq!(harness.call(&third), 200);
    // What she authorizes in the browser is there for the client, whose next token has it too.
    let url = challenge(&harness, &third);
    get(&harness, &browser, &url);
    grant(&harness, &browser, &url);
    harness.wait(STALE_MS);
    let fourth = harness.of_ada(&eng);
    assert_eq!([&third, &fourth].map(|token| call(&harness, token).0), [200, 200]);
    let page = browser.send(&harness, ("GET", "/account"), &[], "");
    assert!(text(&page).contains("Your account at"), "{page:?}");
    // Without a rule she loses all of it.
    harness.restart(&[("ENTERPRISE_ISSUERS", &issuers(json!({"rules": {}})).to_string())]);
    assert_eq!([&third, &fourth].map(|token| call(&harness, token).0), [401, 401]);
    assert_eq!(result(&harness.assert_with("1", &eng, "")), "invalid_grant 400");
}
