//! What users see, what the addresses take, and how providers are found.

use base64ct::{Base64UrlUnpadded, Encoding};

use super::*;
use crate::tests::provider::MAIL;
use toolbooth::host::SIGN_IN_LIMITER;
use toolbooth::testing::FakeHost;

#[test]
fn the_page_says_who_asks_for_what_for_whom() {
    let harness = start();
    let asked = harness.challenge_for("<b>\"ada\"&'", "token");
    let answer = harness.ask(("GET", &asked.url), &[], "");
    let page = text(&answer);
    for part in [
        "<strong><bdi>Calendar</bdi></strong> asks for access to your account at <bdi>",
        "An application with an API key for this server. The operator chose its name.",
        "&lt;Mail&gt;",
        "&lt;b&gt;&quot;ada&quot;&amp;&#39;",
        "<bdi>Use an account (Echo.Private)</bdi>",
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
fn the_page_says_what_is_known_of_the_application() {
    use crate::challenge::Owner;
    use crate::challenge::claims::ChallengeClaims;
    use crate::challenge::flow::Visitor;
    use crate::challenge::page::{ChallengePage, challenge};
    use toolbooth::principal::{Principal, Scopes};

    let user = |client: Option<&str>| Principal::User {
        issuer: "i".to_owned(),
        subject: Some("ada".to_owned()),
        scopes: Scopes::NONE,
        client: client.map(str::to_owned),
        rule: None,
        budgets: Vec::new(),
        tenant: None,
        client_ref: None,
        team: None,
        actor: None,
        grant: None,
    };
    let calendar = Principal::key("<Calendar>", Scopes::NONE);
    for (principal, name, origin) in [
        (calendar, "<strong><bdi>&lt;Calendar&gt;</bdi></strong>", "The operator chose its name."),
        (user(Some("<C>")), "<strong><bdi>&lt;C&gt;</bdi></strong>", "that you have connected"),
        (user(None), "An application", "This server does not know its name."),
        (Principal::ANONYMOUS, "An application", "This server cannot know which one it is."),
    ] {
        let claims = ChallengeClaims {
            id: String::new(),
            owner: Owner::of(&principal, Some("ada")).unwrap(),
            client: principal.client().map(str::to_owned),
            provider: "mail".to_owned(),
            required_scopes: Vec::new(),
            further_scopes: Vec::new(),
            tool: "Echo.Private@1.0.0".to_owned(),
            seen_ms: None,
        };
        let page = challenge(&ChallengePage {
            token: "t",
            provider: "Mail",
            claims: &claims,
            visitor: Visitor::Anyone { host: None },
            tool: &claims.tool,
            others: &[],
        });
        let page = text(&page);
        let asks = format!("<p>{name} asks for access to your account at <bdi>Mail</bdi>.</p>");
        assert!(page.contains(&asks) && page.contains(origin), "{principal:?}: {page}");
        assert!(page.contains("only what <bdi>Mail</bdi> gives every application"), "{page}");
    }
}

#[test]
fn addresses_tell_nothing_of_the_user() {
    let harness = start();
    let asked = harness.challenge_for("ada.lovelace", "token");
    let location = Browser::default().leave(&harness, &asked);
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
    let harness = start();
    let asked = harness.challenge();
    let browser = Browser::default();
    let redirect = browser.visit(&harness, ("POST", &asked.url));
    let pages = [
        harness.ask(("GET", &asked.url), &[], ""),
        harness.ask(("GET", "/auth/start"), &[], ""),
        harness.ask(("GET", "/auth/callback/mail"), &[], ""),
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
        assert_eq!(get("cross-origin-opener-policy"), "same-origin");
        assert_eq!(get("strict-transport-security"), "max-age=31536000");
        assert_eq!(header(&page, "access-control-allow-origin"), None);
    }
    let head = harness.ask(("HEAD", &asked.url), &[], "");
    assert!(head.status == 200 && head.body.is_empty());
}

#[test]
fn browsers_are_bound_to_tls_where_users_reach_the_server_by_it() {
    for (origin, bound) in [
        ("https://tools.example", true),
        ("https://tools.example:8443", true),
        ("http://localhost:8787", false),
        ("https://localhost:8787", false),
        ("https://127.0.0.1", false),
    ] {
        let harness = start_with(&[("PUBLIC_URL", origin)]);
        for path in ["/auth/start", "/auth/callback/mail"] {
            let page = harness.ask(("GET", path), &[], "");
            let policy = header(&page, "strict-transport-security");
            assert_eq!(policy.is_some(), bound, "{origin} {path}");
        }
    }
}

#[test]
fn nothing_in_a_value_is_unseen_or_turns_the_page_around() {
    let harness = start();
    let shown = |user: &str| {
        let page = harness.ask(("GET", &harness.challenge_for(user, "token").url), &[], "");
        let page = text(&page);
        let (_, rest) =
            page.split_once("Your user ID in the application</dt><dd><strong><bdi>").unwrap();
        rest.split_once("</bdi>").unwrap().0.to_owned()
    };
    for c in "\u{7}\n\u{85}\u{ad}\u{34f}\u{61c}\u{115f}\u{180e}\u{200b}\u{200c}\u{200d}\u{200e}\u{200f}\
              \u{2028}\u{2029}\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\u{2060}\u{2064}\u{2066}\u{2067}\
              \u{2068}\u{2069}\u{206f}\u{3164}\u{fe0f}\u{feff}\u{fff9}\u{fffb}\u{e0001}\u{e0061}\u{e01ef}"
        .chars()
    {
        assert_eq!(shown(&format!("a{c}b")), "a\u{fffd}b", "U+{:04X}", u32::from(c));
    }
    for user in ["Zoë Müller", "\u{5d0}\u{5d1} \u{627}\u{628}", "山田 😀", "e\u{301}"] {
        assert_eq!(shown(user), user);
    }
}

#[test]
fn addresses_that_ask_for_no_credentials_have_a_limit_for_each_network() {
    let mut harness = start();
    let asked = harness.challenge();
    harness.host.limits.insert(SIGN_IN_LIMITER, Ok(1));
    // The limit of calls is another one.
    harness.host.limit = Some(Ok(0));
    fn from(address: &str) -> [(&str, &str); 1] {
        [("cf-connecting-ip", address)]
    }
    let grant = "/auth/grants/mail?user_id=ada";
    for (at, (method, path, first, html)) in [
        ("GET", &*asked.url, 200, true),
        ("HEAD", &asked.url, 200, true),
        ("POST", &asked.url, 403, true),
        ("GET", "/auth/callback/mail", 400, true),
        ("GET", &asked.check_url, 200, false),
        ("HEAD", &asked.check_url, 200, false),
        ("DELETE", grant, 204, false),
    ]
    .into_iter()
    .enumerate()
    {
        let here = format!("192.0.2.{at}");
        assert_eq!(harness.ask((method, path), &from(&here), "").status, first, "{method} {path}");
        let answer = harness.ask((method, path), &from(&here), "");
        assert_eq!(answer.status, 429, "{method} {path}");
        assert_eq!(header(&answer, "retry-after"), Some("60"), "{method} {path}");
        assert_eq!(answer.body.is_empty(), method == "HEAD", "{method} {path}");
        let kind = if html { "text/html; charset=utf-8" } else { "application/json" };
        assert_eq!(header(&answer, "content-type"), Some(kind), "{method} {path}");
        let open = header(&answer, "access-control-allow-origin");
        assert_eq!(open.is_some(), path == asked.check_url, "{method} {path}");
        assert_eq!(header(&answer, "strict-transport-security").is_some(), html, "{method} {path}");
        assert_eq!(harness.ask(("OPTIONS", path), &from(&here), "").status, 204, "not counted");
        let counted = format!("{SIGN_IN_LIMITER} address:{here}");
        assert!(harness.host.taken.borrow().contains_key(&counted));
    }
    // Every network has a count of its own.
    assert_eq!(harness.ask(("GET", &asked.check_url), &from("192.0.2.99"), "").status, 200);
    let keys: Vec<_> = harness.host.taken.borrow().keys().cloned().collect();
    assert!(keys.iter().all(|key| key.starts_with("SIGN_IN_LIMITER address:192.0.2.")), "{keys:?}");
}

/// Browsers apply `form-action` to what comes after a form too, and nobody knows where a provider's redirects lead.
#[test]
fn the_policy_lets_the_form_lead_anywhere() {
    let harness = start();
    let answer = harness.ask(("GET", &harness.challenge().url), &[], "");
    let policy = header(&answer, "content-security-policy").unwrap();
    assert!(!policy.contains("form-action"), "{policy}");
    for part in ["default-src 'none'; ", "frame-ancestors 'none'; ", "base-uri 'none'"] {
        assert!(policy.contains(part), "{policy}");
    }
}

#[test]
fn methods_and_unknown_addresses() {
    let harness = start();
    let any = [("access-control-allow-origin", "*")];
    for (method, path, status, allow) in [
        ("PUT", "/auth/start", 405, Some("GET, HEAD, POST, OPTIONS")),
        ("POST", "/auth/callback/mail", 405, Some("GET, OPTIONS")),
        ("HEAD", "/auth/callback/mail", 405, Some("GET, OPTIONS")),
        ("POST", "/auth/check", 405, Some("GET, HEAD, OPTIONS")),
        ("GET", "/auth/grants/mail", 405, Some("DELETE, OPTIONS")),
        ("OPTIONS", "/auth/start", 204, Some("GET, HEAD, POST, OPTIONS")),
        ("OPTIONS", "/auth/check", 204, Some("GET, HEAD, OPTIONS")),
        ("POST", "/auth/help/mail", 405, Some("GET, HEAD, OPTIONS")),
        ("GET", "/auth/help/", 404, None),
        ("GET", "/auth/help/bank", 404, None),
        ("GET", "/auth", 404, None),
        ("GET", "/auth/", 404, None),
        ("GET", "/auth/start/", 404, None),
        ("GET", "/auth/callback", 404, None),
        ("GET", "/auth/callback/", 404, None),
        ("GET", "/auth/callback/mail/x", 404, None),
        ("DELETE", "/auth/grants/", 404, None),
        ("DELETE", "/auth/grants/mail/x", 404, None),
    ] {
        let answer = harness.ask((method, path), &[("origin", "https://a.example")], "");
        assert_eq!(answer.status, status, "{method} {path}");
        assert_eq!(header(&answer, "allow"), allow, "{method} {path}");
        let open = any.iter().any(|(name, value)| header(&answer, name) == Some(value));
        assert_eq!(open, path == "/auth/check", "{method} {path}");
    }
    // Without providers nothing is mounted there.
    let harness = bare(&[]);
    for (method, path) in [
        ("GET", "/auth/start?c=a"),
        ("POST", "/auth/start?c=a"),
        ("GET", "/auth/callback/mail?state=a"),
        ("GET", "/auth/check?c=a"),
        ("DELETE", "/auth/grants/mail?user_id=a"),
    ] {
        assert_eq!(harness.ask((method, path), &[], "").status, 404, "{method} {path}");
    }
}

#[test]
fn the_help_about_a_provider() {
    for harness in [start(), bare(&[])] {
        let answer = harness.ask(("GET", "/auth/help/mail"), &[], "");
        let page = text(&answer);
        assert_eq!(answer.status, 200, "{page}");
        let policy = header(&answer, "content-security-policy");
        assert!(policy.is_some_and(|it| it.starts_with("default-src 'none'")), "{policy:?}");
        for part in [
            "<html lang=\"en\">",
            "<title>Authorization: mail</title>",
            "[{\"id\": &quot;mail&quot;, \"token\": \"…\"}]",
            "toolbooth/context",
            "context.user_id",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
        for part in ["<script", "http://", "https://", "<img", "<link", "onclick"] {
            assert!(!page.contains(part), "{part}: {page}");
        }
    }
}

#[test]
fn where_the_help_is() {
    const OWN: &[(&str, &str)] = &[("PUBLIC_URL", "https://own.example")];
    for (variables, host, expected) in [
        (&[][..], None, "/auth/help/mail"),
        (&[], Some("tools.example"), "https://tools.example/auth/help/mail"),
        (&[], Some("localhost:8787"), "http://localhost:8787/auth/help/mail"),
        (&[], Some("tools.example/a"), "/auth/help/mail"),
        (&[], Some("user@tools.example"), "/auth/help/mail"),
        (&[], Some("a b"), "/auth/help/mail"),
        (OWN, Some("tools.example"), "https://own.example/auth/help/mail"),
    ] {
        let harness = bare(variables);
        let json = ("content-type", "application/json");
        let headers: Vec<_> = host.into_iter().map(|host| ("host", host)).chain([json]).collect();
        let body = r#"{"tool_id":"Echo.Private","input":{"text":"a"}}"#;
        let answer = harness.ask(("POST", "/call"), &headers, body);
        let body: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
        let expected = serde_json::json!([{"id": "mail", "url": expected}]);
        assert_eq!(body["missing_requirements"]["authorization"], expected, "{host:?}: {body}");
    }
}

#[test]
fn what_is_wrong_with_the_configuration_is_named() {
    for (name, value, wrong) in [
        ("OAUTH_PROVIDERS", "Mail", true),
        ("OAUTH_PROVIDERS", "", false),
        ("PUBLIC_URL", "https://tools.example/", true),
        ("PUBLIC_URL", "http://tools.example", true),
        ("PUBLIC_URL", "tools.example", true),
        ("PUBLIC_URL", "http://localhost:8787", false),
        ("STATE_KEY", "short", true),
        ("STATE_KEY", "", true),
        ("STATE_KEY_PREVIOUS", "short", true),
        ("STATE_KEY_PREVIOUS", "0123456789abcdef0123456789abcdef", true),
        ("STATE_KEY_PREVIOUS", "fedcba9876543210fedcba9876543210", false),
        ("GRANT_KEYS", "a", true),
        ("AUTH", "api-key, signin", true),
        ("OAUTH_MAIL_CLIENT_ID", "", true),
        ("OAUTH_MAIL_TOKEN_URL", "http://mail.example", true),
    ] {
        let all: Vec<_> = [harness::VARIABLES, MAIL, &[(name, value)]].concat();
        let settings =
            toolbooth::testing::settings(crate::tests::CAPABILITIES, &FakeHost::with(&all));
        assert_eq!(!settings.problems.is_empty(), wrong, "{name}={value}: {:?}", settings.problems);
        assert!(
            settings.problems.iter().all(|problem| problem.starts_with(name)),
            "{:?}",
            settings.problems
        );
    }
    let printed = format!(
        "{:?}",
        toolbooth::testing::settings(
            crate::tests::CAPABILITIES,
            &FakeHost::with(&[harness::VARIABLES, MAIL].concat())
        )
    );
    assert!(!printed.contains("s&cret") && !printed.contains("0123456789"), "{printed}");
}
