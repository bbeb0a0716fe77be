//! Tests of the lifecycle of a grant: refreshed, rejected, deleted.

use super::super::owner::Owner;
use super::*;
use toolbooth::principal::Principal;
use toolbooth::testing::ready;

/// One hour, as most servers give.
const HOUR: u64 = 3_600_000;

fn granted_for_an_hour() -> Harness {
    let harness = start();
    upstream(|server| server.expires_in = Some(3_600));
    granted(&harness);
    harness
}

#[test]
fn an_access_token_is_refreshed_before_it_ends() {
    for keeps in [false, true] {
        let harness = granted_for_an_hour();
        upstream(|server| server.keeps_refresh_token = keeps);
        assert_eq!(harness.given_token(), "access-1");
        harness.wait(HOUR - 5 * 60_000);
        assert_eq!(harness.given_token(), "access-2");
        harness.wait(STALE_MS);
        assert_eq!(harness.given_token(), "access-2", "it was kept");
        harness.wait(HOUR);
        assert_eq!(
            harness.given_token(),
            "access-3",
            "with a refresh token that is new or, {keeps}, kept"
        );
    }
}

#[test]
fn what_a_refresh_says_of_scopes() {
    for (scope, expected) in [
        (None, 200),
        (Some(""), 200),
        (Some(" "), 200),
        (Some("send"), 200),
        (Some("offline"), 400),
    ] {
        let harness = granted_for_an_hour();
        upstream(|server| server.scope = scope);
        for _ in 0..2 {
            harness.wait(HOUR + STALE_MS);
            assert_eq!(harness.call_for("ada", "token").0, expected, "{scope:?}");
        }
    }
}

#[test]
fn a_refresh_whose_answer_is_of_no_use_asks_the_user() {
    for answer in
        [r#"{"access_token":"a","token_type":"bot"}"#, r#"{"access_token":"a b"}"#, "{}", "<p>"]
    {
        let harness = granted_for_an_hour();
        upstream(|server| server.instead = Some((200, answer)));
        harness.wait(HOUR + STALE_MS);
        // The page then says what is wrong.
        let asked = harness.challenge();
        upstream(|server| server.instead = None);
        let browser = Browser::default();
        let back = agree(&browser.leave(&harness, &asked));
        upstream(|server| server.instead = Some((200, answer)));
        let page = browser.visit(&harness, ("GET", &back));
        assert_eq!(page.status, 502, "{answer}");
        let page = text(&page);
        assert!(page.contains("waiting does not help") && !page.contains("Try again"), "{page}");
        assert!(harness.host.printed().contains("provider_unusable"), "{answer}");
        harness.wait(STALE_MS);
        assert_eq!(harness.status(&asked), "failed", "{answer}");
        upstream(|server| server.instead = None);
    }
}

#[test]
fn a_reader_that_is_a_minute_behind_uses_the_old_token_while_it_is_good() {
    let harness = granted_for_an_hour();
    harness.wait(HOUR - 5 * 60_000 - 30_000 - STALE_MS);
    assert_eq!(harness.given_token(), "access-1");
    harness.wait(30_000);
    harness.host.store.location.set(1);
    assert_eq!(harness.given_token(), "access-2");
    // This place has read the old grant half a minute ago. Its refresh token is used up.
    harness.host.store.location.set(0);
    assert_eq!(harness.given_token(), "access-1");
    harness.wait(STALE_MS);
    assert_eq!(harness.given_token(), "access-2");
}

#[test]
fn a_refresh_that_fails() {
    let dead = r#"{"error":"invalid_grant"}"#;
    // Before the end of the access token, and after it.
    for (instead, down, early, late) in [
        (Some((400, dead)), false, 200, "asked"),
        (Some((200, dead)), false, 200, "asked"),
        (Some((500, "")), false, 200, "unavailable"),
        (None, true, 200, "unavailable"),
    ] {
        let harness = granted_for_an_hour();
        upstream(|server| (server.instead, server.down) = (instead, down));
        harness.wait(HOUR - 60_000 - STALE_MS);
        assert_eq!(harness.call_for("ada", "token").0, early, "{instead:?}");
        harness.wait(60_000);
        let (status, body) = harness.call_for("ada", "token");
        assert_eq!(status, 400, "{instead:?}");
        let asked = body["missing_requirements"]["authorization"].is_array();
        assert_eq!(if asked { "asked" } else { "unavailable" }, late, "{body}");
        upstream(|server| (server.instead, server.down) = (None, false));
    }
}

#[test]
fn without_a_refresh_token_the_user_is_asked_when_the_token_ends() {
    let harness = start();
    let asked = harness.challenge();
    let browser = Browser::default();
    let back = agree(&browser.leave(&harness, &asked));
    upstream(|server| {
        server.instead =
            Some((200, r#"{"access_token":"only","expires_in":600,"scope":"send,offline"}"#));
    });
    assert_eq!(browser.visit(&harness, ("GET", &back)).status, 200);
    harness.wait(STALE_MS);
    assert_eq!(harness.given_token(), "only");
    harness.wait(530_000);
    assert_eq!(harness.given_token(), "only");
    harness.wait(20_000);
    let asked = harness.challenge();
    assert_eq!(harness.status(&asked), "pending", "the grant that ended does not count");
}

#[test]
fn an_authorization_that_has_already_ended_fails_the_challenge() {
    for (lasts, status, check) in [
        (r#""expires_in":0"#, 502, "failed"),
        (r#""expires_in":"0""#, 502, "failed"),
        (r#""expires_in":-1"#, 502, "failed"),
        (r#""expires_in":59"#, 502, "failed"),
        (r#""expires_in":62"#, 200, "completed"),
        (r#""expires_in":"3600""#, 200, "completed"),
        (r#""expires_in":null"#, 200, "completed"),
        (r#""expires_in":0,"refresh_token":"r""#, 200, "completed"),
    ] {
        let harness = start();
        let asked = harness.challenge();
        let browser = Browser::default();
        let back = agree(&browser.leave(&harness, &asked));
        let answer = format!(r#"{{"access_token":"a","scope":"send,offline",{lasts}}}"#);
        upstream(|server| server.instead = Some((200, answer.leak())));
        let page = browser.visit(&harness, ("GET", &back));
        assert_eq!(page.status, status, "{lasts}: {}", text(&page));
        let ended = text(&page).contains("has already expired");
        assert_eq!(ended, status == 502, "{lasts}: {}", text(&page));
        harness.wait(STALE_MS);
        assert_eq!(harness.status(&asked), check, "{lasts}");
    }
}

#[test]
fn a_grant_that_has_ended_does_not_complete_a_challenge() {
    let harness = start();
    let browser = Browser::default();
    let back = agree(&browser.leave(&harness, &harness.challenge()));
    let answer = r#"{"access_token":"only","expires_in":120,"scope":"send,offline"}"#;
    upstream(|server| server.instead = Some((200, answer)));
    // This challenge knows nothing of the grant that comes of the first.
    let second = harness.challenge();
    assert_eq!(browser.visit(&harness, ("GET", &back)).status, 200);
    harness.wait(STALE_MS);
    assert_eq!(harness.status(&second), "completed");
    harness.wait(STALE_MS);
    assert_eq!(
        harness.status(&second),
        "pending",
        "no call can use it, but the user may agree again"
    );
    upstream(|server| server.instead = None);
    complete(&harness, &second, &Browser::default());
    harness.wait(STALE_MS);
    assert_eq!(harness.status(&second), "completed");
    assert_eq!(harness.given_token(), "access-1");
}

#[test]
fn a_refreshed_grant_that_cannot_be_kept_serves_the_call() {
    let harness = granted_for_an_hour();
    harness.wait(HOUR - 5 * 60_000);
    harness.host.store.fails_writes.set(true);
    assert_eq!(harness.given_token(), "access-2");
    assert!(harness.log().contains("Error store"), "{}", harness.log());
    harness.host.store.fails_writes.set(false);
    // The new refresh token is lost. The old access token is used to its end, then the user is asked.
    assert_eq!(harness.given_token(), "access-1");
    harness.wait(5 * 60_000);
    harness.challenge();
}

#[test]
fn a_revoked_grant_becomes_a_challenge() {
    let harness = start();
    granted(&harness);
    let asked = harness.challenge_for("ada", "revoked");
    assert_eq!(harness.status(&asked), "pending", "the rejected grant does not count");
    let page = Browser::default().visit(&harness, ("GET", &asked.url));
    assert!(text(&page).contains("send"), "{}", text(&page));
    complete(&harness, &asked, &Browser::default());
    // This place still reads the old grant, and asks again; that must not hurt the new one.
    harness.challenge_for("ada", "revoked");
    harness.wait(STALE_MS);
    assert_eq!(harness.status(&asked), "completed");
    assert_eq!(harness.given_token(), "access-2");
}

#[test]
fn x48_a_token_of_the_clients_own_counts_and_is_not_replaced() {
    let harness = start();
    granted(&harness);
    for (text, status, message) in
        [("token", 200, None), ("revoked", 400, Some("Authorization required"))]
    {
        let call = serde_json::json!({"tool_id": "Echo.Private", "input": {"text": text},
            "context": {"user_id": "ada", "secrets": [{"id": "KEY", "value": "k"}],
                "authorization": [{"id": "mail", "token": "own"}]}});
        let json = [("content-type", "application/json")];
        let answer = harness.ask(("POST", "/oxp/call"), &json, &call.to_string());
        let body: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
        assert_eq!((answer.status, body["message"].as_str()), (status, message), "{body}");
        assert!(body["missing_requirements"].is_null(), "the client knows where its token is from");
        assert!(status == 400 || body["value"] == "own");
    }
}

#[test]
fn x48_a_token_that_cannot_be_sent_is_named() {
    let harness = start();
    let long = "a".repeat(16 * 1024 + 1);
    for (token, good) in [
        ("own", true),
        ("a b", false),
        ("a\r\nx-injected: 1", false),
        ("tok\u{e9}n", false),
        (&*long, false),
        (&long[1..], true),
    ] {
        let call = ("ada", "token", serde_json::json!([{"id": "mail", "token": token}]));
        let (status, body) = ready(harness.call_with(&harness.instance(), &[], call));
        assert_eq!(status, if good { 200 } else { 400 }, "{body}");
        let detail = "context.authorization: the token with id \"mail\" must be at most 16384 \
            visible ASCII characters, without spaces";
        assert!(good || body["developer_message"] == detail, "{body}");
    }
}

#[test]
fn x48_without_a_user_there_is_nobody_to_ask() {
    let harness = start();
    let long = "u".repeat(129);
    for (user, user_id, detail) in [
        ("", true, "the call lacks context.authorization with id \"mail\", context.user_id"),
        (&*long, false, "context: user_id must have at most 128 bytes"),
    ] {
        let (status, body) = harness.call_for(user, "token");
        assert_eq!(status, 400);
        assert_eq!(body["developer_message"], detail);
        assert_eq!(body["missing_requirements"]["user_id"] == true, user_id, "{body}");
    }
    let widest = "\u{1}".repeat(128);
    let asked = harness.challenge_for(&widest, "token");
    Browser::default().leave(&harness, &asked);
}

#[test]
fn scopes_that_are_not_granted() {
    for (scope, status) in [
        (Some("send offline extra"), 200),
        (Some("offline,send"), 200),
        (None, 200),
        (Some("send"), 200),
        (Some("offline"), 400),
        // No list of scopes: a GitHub App has permissions instead.
        (Some(""), 200),
    ] {
        let harness = start();
        let asked = harness.challenge();
        let browser = Browser::default();
        let back = agree(&browser.leave(&harness, &asked));
        upstream(|server| server.scope = scope);
        let page = browser.visit(&harness, ("GET", &back));
        assert_eq!(page.status, status, "{scope:?}: {}", text(&page));
        harness.wait(STALE_MS);
        let check = if status == 200 { "completed" } else { "failed" };
        assert_eq!(harness.status(&asked), check, "{scope:?}");
    }
}

#[test]
fn a_grant_of_very_many_scopes_can_be_asked_for_again() {
    let harness = start();
    let many: String =
        (0..100).map(|it| format!(" https://mail.example/scopes/{it:030}")).collect();
    let instead = format!(r#"{{"access_token":"a","scope":"send offline{many}"}}"#);
    let browser = Browser::default();
    let back = agree(&browser.leave(&harness, &harness.challenge()));
    upstream(|server| server.instead = Some((200, instead.leak())));
    assert_eq!(browser.visit(&harness, ("GET", &back)).status, 200);
    upstream(|server| server.instead = None);
    harness.wait(STALE_MS);
    let asked = harness.challenge_for("ada", "revoked");
    let page = browser.visit(&harness, ("GET", &asked.url));
    assert!(page.status == 200 && text(&page).contains("scopes/"), "{}", text(&page));
    assert_eq!(browser.visit(&harness, ("POST", &asked.url)).status, 303);
}

#[test]
fn a_forgotten_grant() {
    let harness = start();
    granted(&harness);
    let delete = |path: &str| {
        let answer = harness.ask(("DELETE", path), &[], "");
        (answer.status, text(&answer).to_owned())
    };
    assert_eq!(harness.given_token(), "access-1");
    for (path, status) in [
        ("/auth/grants/mail", 400),
        ("/auth/grants/mail?user_id=", 400),
        ("/auth/grants/files?user_id=ada", 404),
        ("/auth/grants/mail?user_id=bob", 204),
        ("/auth/grants/mail?user_id=ada", 204),
    ] {
        assert_eq!(delete(path).0, status, "{path}");
    }
    let left = harness.host.store.values();
    assert!(left.keys().all(|key| !key.starts_with("grant:")), "no token stays there: {left:?}");
    assert_eq!(harness.given_token(), "access-1", "who has read it may use it for another minute");
    harness.wait(STALE_MS);
    harness.challenge();
    harness.wait(1_000);
    harness.host.store.fails_writes.set(true);
    let (status, body) = delete("/auth/grants/mail?user_id=ada");
    assert_eq!(status, 400);
    assert!(body.contains("its KV namespace does not answer"), "{body}");
}

#[test]
fn keys_that_change() {
    let mut harness = start();
    granted(&harness);
    let sealed = harness.host.store.values();
    let kinds: Vec<_> = sealed.keys().map(|key| key.split(':').next().unwrap()).collect();
    assert_eq!(kinds, ["grant", "proof"]);
    assert!(sealed.values().all(|value| value.starts_with("v1.a.")), "{sealed:?}");
    const NEW: &str = "b:BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBA=";
    let both = format!("{NEW},a:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=");
    harness.restart(&[("GRANT_KEYS", &both)]);
    assert_eq!(harness.given_token(), "access-1", "all keys open");
    harness.restart(&[("GRANT_KEYS", NEW)]);
    let asked = harness.challenge();
    assert!(harness.log().contains("no key of GRANT_KEYS decrypts it"), "{}", harness.log());
    complete(&harness, &asked, &Browser::default());
    let values = harness.host.store.values();
    let mut grants = values.iter().filter(|(key, _)| key.starts_with("grant:"));
    assert!(grants.all(|(_, value)| value.starts_with("v1.b.")), "{values:?}");
}

#[test]
fn a_user_of_one_way_in_is_not_the_user_of_another() {
    let scopes = || toolbooth::principal::Scopes::NONE;
    let key = |name: &str| Principal::key(name, scopes());
    let by = |issuer: &str, subject: Option<&str>| Principal::User {
        issuer: issuer.to_owned(),
        subject: subject.map(str::to_owned),
        scopes: scopes(),
        client: None,
        rule: None,
        budgets: Vec::new(),
        tenant: None,
        client_ref: None,
        team: None,
        actor: None,
        grant: None,
    };
    let token = |subject: Option<&str>| by("one", subject);
    let others = by("two", Some("ada"));
    let callers = [Principal::ANONYMOUS, key("a"), key("b"), token(Some("ada")), others];
    let owners: Vec<_> =
        callers.iter().map(|principal| Owner::of(principal, Some("ada")).unwrap()).collect();
    for (at, one) in owners.iter().enumerate() {
        assert!(owners[..at].iter().all(|other| other != one), "{:?}", callers[at]);
    }
    for (principal, named, expected) in [
        (token(Some("ada")), None, Ok("ada")),
        (token(Some("ada")), Some(""), Ok("ada")),
        (
            token(Some("ada")),
            Some("bob"),
            Err("user_id must match the token's `sub`, or be absent"),
        ),
        (token(None), None, Err("the token must have a `sub`")),
        (token(None), Some("ada"), Err("the token must have a `sub`")),
        (key("a"), Some(""), Err("user_id is missing")),
        (key("a"), Some("bob"), Ok("bob")),
    ] {
        let got = Owner::of(&principal, named).map(|owner| owner.user);
        assert_eq!(got, expected.map(str::to_owned), "{principal:?} {named:?}");
    }
}

#[test]
fn anonymous_callers_get_no_grants_where_tools_ask_for_a_sign_in() {
    const SECRET: (&str, &str) = ("JWT_SECRET", "a secret of at least thirty-two bytes");
    for origin in ["https://tools.example", "http://localhost:8787"] {
        let harness = start_with(&[
            ("AUTH", "none, jwt"),
            SECRET,
            ("JWT_ISSUER", "https://login.example"),
            ("PUBLIC_URL", origin),
            ("MCP_PER_TOOL_AUTHORIZATION", "true"),
        ]);
        assert!(!harness.log().contains("AUTH must not contain none"), "{}", harness.log());
        let (status, body) = harness.call_for("ada", "token");
        assert_eq!(status, 400, "{body}");
        assert_eq!(body["missing_requirements"]["user_id"], true, "{body}");
        // The page that explains how to authorize calls, and no challenge.
        let asked = &body["missing_requirements"]["authorization"][0];
        assert!(asked["url"].as_str().is_some_and(|url| url.contains("/auth/help/")), "{body}");
        assert!(asked["check_url"].is_null(), "{body}");
        let forget = harness.ask(("DELETE", "/auth/grants/mail?user_id=ada"), &[], "");
        assert_eq!(forget.status, 400, "{origin}");
    }
}

#[test]
fn anonymous_callers_get_no_grants_on_a_public_server() {
    for (auth, origin, wrong) in [
        ("none", "https://tools.example", true),
        ("none,api-key", "https://tools.example", true),
        ("api-key", "https://tools.example", false),
        ("none", "http://localhost:8787", false),
        ("none", "http://127.0.0.1:8787", false),
        ("none", "https://localhost.example", true),
    ] {
        let harness = start_with(&[("AUTH", auth), ("PUBLIC_URL", origin)]);
        let (status, body) = harness.call_for("ada", "token");
        let told = harness.log().contains("AUTH must not contain none");
        assert_eq!(told, wrong, "{auth} {origin}: {}", harness.log());
        let unavailable = body["message"] == "The tool server is temporarily unavailable";
        assert_eq!((status, unavailable), (400, wrong), "{auth} {origin}: {body}");
        let forget = harness.ask(("DELETE", "/auth/grants/mail?user_id=ada"), &[], "");
        assert_eq!(
            forget.status,
            if wrong { 400 } else { 204 },
            "{auth} {origin}: without credentials"
        );
    }
}
