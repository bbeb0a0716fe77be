//! What users see, what the addresses take, and how providers are found.

use base64ct::{Base64UrlUnpadded, Encoding};

use super::*;
use crate::config::Config;
use crate::testing::FakeHost;

#[test]
fn the_page_says_who_asks_for_what_for_whom() {
    let world = World::new();
    let asked = world.challenge_for("<b>\"ada\"&'", "token");
    let answer = world.ask(("GET", &asked.url), &[], "");
    let page = text(&answer);
    for part in [
        "The application <strong><bdi>Calendar</bdi></strong>",
        "&lt;Mail&gt;",
        "&lt;b&gt;&quot;ada&quot;&amp;&#39;",
        "Echo.Private@1.0.0",
        "<bdi>send</bdi>",
        "<bdi>offline</bdi>",
        "method=\"post\"",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    for part in ["<b>", "<script", "http://", "https://", "<img", "<link", "onclick"] {
        assert!(!page.contains(part), "{part}: {page}");
    }
}

#[test]
fn addresses_tell_nothing_of_the_user() {
    let world = World::new();
    let asked = world.challenge_for("ada.lovelace", "token");
    let location = Browser::default().leave(&world, &asked);
    let state = field(location.split_once('?').unwrap().1, "state").unwrap();
    let token = |url: &str| url.split_once("?c=").unwrap().1.to_owned();
    for token in [token(&asked.url), token(&asked.check_url), state] {
        // Each part, for the tokens of many servers have dots.
        for part in token.split('.') {
            let bytes = Base64UrlUnpadded::decode_vec(part).unwrap();
            let text = String::from_utf8_lossy(&bytes);
            for secret in ["ada", "Calendar", "mail", "Echo", "send"] {
                assert!(!text.contains(secret) && !part.contains(secret), "{secret}: {text}");
            }
        }
    }
}

#[test]
fn pages_keep_to_themselves() {
    let world = World::new();
    let asked = world.challenge();
    let mut browser = Browser::default();
    let redirect = browser.send(&world, ("POST", &asked.url));
    let pages = [
        world.ask(("GET", &asked.url), &[], ""),
        world.ask(("GET", "/auth/start"), &[], ""),
        world.ask(("GET", "/auth/callback"), &[], ""),
        redirect,
    ];
    for page in pages {
        let get = |name: &str| header(&page, name).unwrap_or_default().to_owned();
        let policy = get("content-security-policy");
        assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"), "{policy}");
        assert!(policy.ends_with("frame-ancestors 'none'; base-uri 'none'"), "{policy}");
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(get("cache-control"), "no-store");
        assert_eq!(get("referrer-policy"), "same-origin");
        assert_eq!(get("x-frame-options"), "DENY");
        assert_eq!(header(&page, "access-control-allow-origin"), None);
    }
    let head = world.ask(("HEAD", &asked.url), &[], "");
    assert!(head.status == 200 && head.body.is_empty());
}

#[test]
fn the_policy_lets_the_form_go_where_the_provider_is() {
    for (authorize, expected) in [
        ("https://a.example/x", "form-action 'self' https:;"),
        ("http://127.0.0.1:9000/x", "form-action 'self' https: http://127.0.0.1:9000;"),
    ] {
        let world = World::with(&[("OAUTH_MAIL_AUTHORIZE_URL", authorize)]);
        let answer = world.ask(("GET", &world.challenge().url), &[], "");
        let policy = header(&answer, "content-security-policy").unwrap();
        assert!(policy.contains(expected), "{policy}");
    }
}

#[test]
fn methods_and_unknown_addresses() {
    let world = World::new();
    let any = [("access-control-allow-origin", "*")];
    for (method, path, status, allow) in [
        ("PUT", "/auth/start", 405, Some("GET, HEAD, POST, OPTIONS")),
        ("POST", "/auth/callback", 405, Some("GET, OPTIONS")),
        ("HEAD", "/auth/callback", 405, Some("GET, OPTIONS")),
        ("POST", "/auth/check", 405, Some("GET, HEAD, OPTIONS")),
        ("GET", "/auth/grants/mail", 405, Some("DELETE, OPTIONS")),
        ("OPTIONS", "/auth/start", 204, Some("GET, HEAD, POST, OPTIONS")),
        ("OPTIONS", "/auth/check", 204, Some("GET, HEAD, OPTIONS")),
        ("GET", "/auth", 404, None),
        ("GET", "/auth/", 404, None),
        ("GET", "/auth/start/", 404, None),
        ("DELETE", "/auth/grants/", 404, None),
        ("DELETE", "/auth/grants/mail/x", 404, None),
    ] {
        let answer = world.ask((method, path), &[("origin", "https://a.example")], "");
        assert_eq!(answer.status, status, "{method} {path}");
        assert_eq!(header(&answer, "allow"), allow, "{method} {path}");
        let open = any.iter().any(|(name, value)| header(&answer, name) == Some(value));
        assert_eq!(open, (method, path) == ("OPTIONS", "/auth/check"), "{method} {path}");
    }
    let world = World { host: FakeHost::default() };
    for (method, path, status) in [
        ("GET", "/auth/start?c=a", 400),
        ("POST", "/auth/start?c=a", 400),
        ("GET", "/auth/callback?state=a", 400),
        ("GET", "/auth/check?c=a", 200),
        ("DELETE", "/auth/grants/mail?user_id=a", 404),
    ] {
        assert_eq!(world.ask((method, path), &[], "").status, status, "{method} {path}");
    }
}

#[test]
fn providers_that_are_discovered() {
    const ISSUER: &str = "https://mail.example";
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
        let world = World::with(&[("OAUTH_MAIL_ISSUER", ISSUER)]);
        server(|server| (server.issuer, server.instead) = (issuer, instead));
        let asked = world.challenge();
        let mut browser = Browser::default();
        let answer = browser.send(&world, ("POST", &asked.url));
        assert_eq!(answer.status, started, "{issuer} {instead:?}");
        if let Some(location) = header(&answer, "location") {
            let back = agree(location);
            let page = browser.send(&world, ("GET", &format!("{back}{iss}")));
            assert_eq!(page.status, ended, "{iss}: {}", text(&page));
        }
    }
}

#[test]
fn a_server_that_promises_to_name_itself_does() {
    const ISSUER: &str = "https://mail.example";
    for (promises, iss, status) in [
        (true, "&iss=https%3A%2F%2Fmail.example", 200),
        (true, "&iss=https%3A%2F%2Fevil.example", 400),
        (true, "&iss=", 400),
        (true, "", 400),
        (false, "", 200),
    ] {
        let world = World::with(&[("OAUTH_MAIL_ISSUER", ISSUER)]);
        server(|server| (server.issuer, server.tells_issuer) = (ISSUER, promises));
        let mut browser = Browser::default();
        let back = agree(&browser.leave(&world, &world.challenge()));
        let page = browser.send(&world, ("GET", &format!("{back}{iss}")));
        assert_eq!(page.status, status, "{promises} {iss}: {}", text(&page));
        let used = server(|server| server.asked.len());
        assert_eq!(used, usize::from(status == 200), "whose the code is stands before its use");
    }
}

#[test]
fn what_is_wrong_with_the_configuration_is_named() {
    for (name, value, wrong) in [
        ("OAUTH_PROVIDERS", "Mail", true),
        ("OAUTH_PROVIDERS", "", false),
        ("PUBLIC_URL", "https://booth.example/", true),
        ("PUBLIC_URL", "http://booth.example", true),
        ("PUBLIC_URL", "booth.example", true),
        ("PUBLIC_URL", "http://localhost:8787", false),
        ("STATE_KEY", "short", true),
        ("GRANT_KEYS", "a", true),
        ("OAUTH_MAIL_CLIENT_ID", "", true),
        ("OAUTH_MAIL_TOKEN_URL", "http://mail.example", true),
    ] {
        let all: Vec<_> = world::VARIABLES.iter().copied().chain([(name, value)]).collect();
        let config = Config::read(&FakeHost::with(&all), &[]);
        assert_eq!(!config.problems.is_empty(), wrong, "{name}={value}: {:?}", config.problems);
        assert!(
            config.problems.iter().all(|problem| problem.starts_with(name)),
            "{:?}",
            config.problems
        );
    }
    let printed = format!("{:?}", Config::read(&FakeHost::with(world::VARIABLES), &[]));
    assert!(!printed.contains("s&cret") && !printed.contains("0123456789"), "{printed}");
}
