//! How providers are found, and whose answer a callback is.

use super::*;

const ISSUER: &str = "https://mail.example";

#[test]
fn providers_that_are_discovered() {
    let found = r#"{"issuer":"https://mail.example","token_endpoint":"https://mail.example/token",
        "authorization_endpoint":"https://mail.example/authorize?v=1"}"#;
    assert!(serde_json::from_str::<serde_json::Value>(found).is_ok());
    let insecure: &str = r#"{"issuer":"https://mail.example","token_endpoint":"http://mail.example/token",
        "authorization_endpoint":"https://mail.example/authorize"}"#;
    let here: &str = r#"{"issuer":"https://mail.example","token_endpoint":"http://127.0.0.1/token",
        "authorization_endpoint":"https://mail.example/authorize"}"#;
    let there: &str = r#"{"issuer":"https://mail.example","token_endpoint":"https://mail.example/token",
        "authorization_endpoint":"http://localhost:9/authorize"}"#;
    for (issuer, instead, iss, started, ended) in [
        (ISSUER, None, "", 303, 200),
        (ISSUER, None, "&iss=https%3A%2F%2Fmail.example", 303, 200),
        (ISSUER, None, "&iss=https%3A%2F%2Fevil.example", 303, 400),
        ("https://evil.example", None, "", 502, 0),
        (ISSUER, Some((404, "")), "", 502, 0),
        (ISSUER, Some((200, "<html>")), "", 502, 0),
        (ISSUER, Some((200, insecure)), "", 502, 0),
        // An issuer elsewhere must not lead the server to its own machine.
        (ISSUER, Some((200, here)), "", 502, 0),
        (ISSUER, Some((200, there)), "", 502, 0),
        (ISSUER, Some((302, found)), "", 502, 0),
    ] {
        let harness = start_with(&[("OAUTH_MAIL_ISSUER", ISSUER)]);
        upstream(|server| (server.issuer, server.instead) = (issuer, instead));
        let asked = harness.challenge();
        let browser = Browser::default();
        let answer = browser.visit(&harness, ("POST", &asked.url));
        assert_eq!(answer.status, started, "{issuer} {instead:?}");
        if let Some(location) = header(&answer, "location") {
            let back = agree(location);
            let page = browser.visit(&harness, ("GET", &format!("{back}{iss}")));
            assert_eq!(page.status, ended, "{iss}: {}", text(&page));
        }
    }
}

/// A harness whose provider is found by discovery.
fn discovered() -> Harness {
    let harness = start_with(&[("OAUTH_MAIL_ISSUER", ISSUER)]);
    upstream(|server| server.issuer = ISSUER);
    harness
}

#[test]
fn an_error_counts_only_when_it_is_clear_whose_it_is() {
    let (own, other) = ("&iss=https%3A%2F%2Fmail.example", "&iss=https%3A%2F%2Fevil.example");
    for (promises, iss, error, status, check) in [
        (true, own, "access_denied", 403, "failed"),
        (true, own, "invalid_scope", 400, "failed"),
        (true, own, "server_error", 502, "pending"),
        (true, other, "access_denied", 400, "pending"),
        (true, other, "invalid_scope", 400, "pending"),
        (true, "", "access_denied", 400, "pending"),
        (true, "&iss=", "access_denied", 400, "pending"),
        (false, "", "access_denied", 403, "failed"),
        (false, own, "access_denied", 403, "failed"),
        (false, other, "access_denied", 400, "pending"),
        (false, other, "invalid_scope", 400, "pending"),
    ] {
        let harness = discovered();
        upstream(|server| server.tells_issuer = promises);
        let asked = harness.challenge();
        let browser = Browser::default();
        let back = disagree(&browser.leave(&harness, &asked), error);
        let page = browser.visit(&harness, ("GET", &format!("{back}{iss}")));
        assert_eq!(page.status, status, "{promises} {iss} {error}: {}", text(&page));
        assert_eq!(harness.status(&asked), check, "{promises} {iss} {error}");
    }
    // While it cannot be known whose it is, it decides nothing.
    let harness = discovered();
    let asked = harness.challenge();
    let browser = Browser::default();
    let back = disagree(&browser.leave(&harness, &asked), "access_denied");
    upstream(|server| server.down = true);
    assert_eq!(browser.visit(&harness, ("GET", &back)).status, 502);
    assert_eq!(harness.status(&asked), "pending");
}

#[test]
fn an_answer_at_the_address_of_another_provider_is_not_used() {
    let harness = start_with(&[
        ("OAUTH_PROVIDERS", "mail,disk"),
        ("OAUTH_DISK_CLIENT_ID", "booth"),
        ("OAUTH_DISK_ISSUER", "https://disk.example"),
    ]);
    let asked = harness.challenge();
    let browser = Browser::default();
    let location = browser.leave(&harness, &asked);
    let elsewhere = |back: &str| back.replace("/callback/mail?", "/callback/disk?");
    let back = agree(&location);
    for bad in [
        elsewhere(&back),
        elsewhere(&disagree(&location, "access_denied")),
        back.replace("/callback/mail?", "/callback/none?"),
    ] {
        let page = browser.visit(&harness, ("GET", &bad));
        assert_eq!(page.status, 400, "{bad}: {}", text(&page));
        assert!(text(&page).contains("This address is not valid"), "{}", text(&page));
    }
    assert_eq!(upstream(|server| server.tried), 0, "the code is not used");
    assert_eq!(harness.status(&asked), "pending");
    assert_eq!(browser.visit(&harness, ("GET", &back)).status, 200, "the right one still works");
}

#[test]
fn a_server_that_promises_to_name_itself_does() {
    for (promises, iss, status) in [
        (true, "&iss=https%3A%2F%2Fmail.example", 200),
        (true, "&iss=https%3A%2F%2Fevil.example", 400),
        (true, "&iss=", 400),
        (true, "", 400),
        (false, "", 200),
    ] {
        let harness = discovered();
        upstream(|server| server.tells_issuer = promises);
        let browser = Browser::default();
        let back = agree(&browser.leave(&harness, &harness.challenge()));
        let page = browser.visit(&harness, ("GET", &format!("{back}{iss}")));
        assert_eq!(page.status, status, "{promises} {iss}: {}", text(&page));
        let used = upstream(|server| server.asked.len());
        assert_eq!(used, usize::from(status == 200), "whose the code is stands before its use");
    }
}

#[test]
fn an_instance_keeps_a_discovery_document_for_ten_minutes() {
    let harness = discovered();
    let server = harness.instance();
    let start = || {
        let before = upstream(|server| server.tried);
        let asked = harness.challenge();
        let own = [("sec-fetch-site", "same-origin")];
        let answer = ready(harness.ask_at(&server, ("POST", &asked.url), &own, ""));
        (answer.status, upstream(|server| server.tried) - before)
    };
    assert_eq!(start(), (303, 1));
    assert_eq!(start(), (303, 0));
    // What is known is used also while the provider is away.
    upstream(|server| server.down = true);
    harness.wait(9 * 60_000);
    assert_eq!(start(), (303, 0));
    harness.wait(60_000);
    // A failure is not kept.
    assert_eq!([start(), start()], [(502, 1), (502, 1)]);
    upstream(|server| server.down = false);
    assert_eq!([start(), start()], [(303, 1), (303, 0)]);
    // Another instance asks for itself.
    assert_eq!(Browser::default().visit(&harness, ("POST", &harness.challenge().url)).status, 303);
    assert_eq!(start(), (303, 0));
}

#[test]
fn a_provider_that_gives_no_tokens_is_discovered_anew() {
    for (instead, status) in [((404, ""), 400), ((503, ""), 502), ((400, r#"{"error":"x"}"#), 400)]
    {
        let harness = discovered();
        let server = harness.instance();
        let asked = harness.challenge();
        let browser = Browser::default();
        let send = |method: &str, at: &str| {
            let tried = upstream(|server| server.tried);
            let answer = browser.visit_at(&harness, &server, (method, at));
            (answer, upstream(|server| server.tried) - tried)
        };
        let (answer, tried) = send("POST", &asked.url);
        assert_eq!(tried, 1, "discovery");
        let back = agree(header(&answer, "location").unwrap());
        upstream(|server| server.instead = Some(instead));
        // A younger document is kept: codes that are made up must not cause a fetch each.
        harness.wait(STALE_MS);
        let (answer, tried) = send("GET", &back);
        assert_eq!((answer.status, tried), (status, 1), "the code: {instead:?}");
        upstream(|server| server.instead = None);
        let (answer, tried) = send("GET", &back);
        assert_eq!((answer.status, tried), (200, 2), "discovery and the code: {instead:?}");
    }
}
