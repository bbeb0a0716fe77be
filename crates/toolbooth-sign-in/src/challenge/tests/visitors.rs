//! Who opens a challenge of an application, whose users the server does not know.

use serde_json::{Value, json};

use super::*;
use crate::tests::provider::MAIL;
use toolbooth::settings::Settings;
use toolbooth::testing::FakeHost;

const VERIFIED: &str = r#"[
    {"name":"Calendar","scopes":[],"hash":"e8b18fbe02fad6aa9ce82b235322e7c10196478f011f9f8617b1b75d6db57961","verify_url":"https://calendar.example/verify?x=1"},
    {"name":"Other","scopes":[],"hash":"15b5f344504549a217d5e34c7ae9b0af03c413536b0d0c0fc48822ac8922d3c8"}]"#;
const OTHER: (&str, &str) = ("oxp-api-key", "ada-key");

fn verified_harness() -> Harness {
    start_with(&[("API_KEYS", VERIFIED)])
}

/// What the application is sent with a browser.
fn state(browser: &Browser, harness: &Harness, url: &str) -> String {
    let response = browser.visit(harness, ("GET", url));
    assert_eq!(response.status, 303, "{}", text(&response));
    let location = header(&response, "location").unwrap().to_owned();
    assert!(location.starts_with("https://calendar.example/verify?x=1&state="), "{location}");
    field(location.split_once('?').unwrap().1, "state").unwrap()
}

/// The application confirms its user.
fn confirm(harness: &Harness, key: (&str, &str), state: &str, user: &str) -> (u16, Value) {
    let body = json!({"state": state, "user_id": user}).to_string();
    let headers = [key, ("content-type", "application/json")];
    let response = harness.ask(("POST", "/auth/confirm"), &headers, &body);
    let caching = response.headers.iter().filter(|(name, _)| *name == "cache-control");
    assert_eq!(caching.map(|(_, value)| &**value).collect::<Vec<_>>(), ["no-store"]);
    (response.status, serde_json::from_slice(&response.body).unwrap_or_default())
}

#[test]
fn an_application_verifies_its_user() {
    let harness = verified_harness();
    let asked = harness.challenge();
    let browser = Browser::default();
    let state = state(&browser, &harness, &asked.url);
    // The form leads nowhere before.
    let early = browser.visit(&harness, ("POST", &asked.url));
    assert!(header(&early, "location").unwrap().starts_with("https://calendar.example/"));
    let state_2 = self::state(&browser, &harness, &asked.url);
    assert_ne!(state, state_2, "each visit has its own");
    let (status, body) = confirm(&harness, harness::KEY, &state_2, "ada");
    assert_eq!((status, body["status"].as_str()), (200, Some("verified")), "{body}");
    let url = body["url"].as_str().unwrap();
    let response = browser.visit(&harness, ("GET", url));
    let page_url = header(&response, "location").unwrap();
    assert_eq!(Some(page_url), asked.url.strip_prefix(harness::ORIGIN));
    for visit in ["opened", "reloaded", "gone back to"] {
        if visit == "gone back to" {
            // The browser's history has the address that the application redirected to.
            let again = browser.visit(&harness, ("GET", url));
            assert_eq!(header(&again, "location"), Some(page_url));
        }
        let page = browser.visit(&harness, ("GET", page_url));
        for part in
            ["<bdi>calendar.example</bdi>", "<bdi>ada</bdi>", "Continue only if you started"]
        {
            assert!(text(&page).contains(part), "{visit}, {part}: {}", text(&page));
        }
    }
    complete(&harness, &asked, &browser);
    harness.wait(STALE_MS);
    assert_eq!(harness.given_token(), "access-1");
}

#[test]
fn a_value_is_of_use_in_the_users_browser_only_and_once() {
    let harness = verified_harness();
    let asked = harness.challenge();
    let (attacker, victim) = (Browser::default(), Browser::default());
    let state = state(&attacker, &harness, &asked.url);
    let (_, body) = confirm(&harness, harness::KEY, &state, "ada");
    let url = body["url"].as_str().unwrap();
    // The victim opens what the attacker was redirected to: without a cookie, and with one of their own.
    for _ in 0..2 {
        let page = victim.visit(&harness, ("GET", url));
        assert_eq!(page.status, 403, "{}", text(&page));
        assert!(text(&page).contains("Continue in the browser where you started"));
        self::state(&victim, &harness, &asked.url);
    }
    // Of another challenge, changed, or late.
    let other = harness.challenge();
    let value = field(url.split_once('?').unwrap().1, "v").unwrap();
    for (url, status) in [
        (format!("{}&v={value}", other.url), 400),
        (format!("{}&v={}", asked.url, &value[1..]), 400),
        (format!("{}&v=", asked.url), 400),
    ] {
        let page = attacker.visit(&harness, ("GET", &url));
        assert_eq!(page.status, status, "{}", text(&page));
    }
    harness.wait(2 * 60_000);
    let late = attacker.visit(&harness, ("GET", url));
    assert!(text(&late).contains("This took too long"), "{}", text(&late));
    assert_eq!(harness.status(&asked), "pending", "nothing is lost");
}

#[test]
fn another_user_gets_a_page_and_the_link_still_works() {
    let harness = verified_harness();
    let asked = harness.challenge();
    let browser = Browser::default();
    let state = state(&browser, &harness, &asked.url);
    let (status, body) = confirm(&harness, harness::KEY, &state, "bob");
    assert_eq!((status, body["status"].as_str()), (200, Some("other_user")), "{body}");
    let page = browser.visit(&harness, ("GET", body["url"].as_str().unwrap()));
    assert_eq!(page.status, 403);
    assert!(text(&page).contains("This link is for someone else"), "{}", text(&page));
    assert_eq!(harness.status(&asked), "pending");
    let state = self::state(&browser, &harness, &asked.url);
    assert_eq!(confirm(&harness, harness::KEY, &state, "ada").0, 200);
}

#[test]
fn confirmations_that_are_rejected() {
    let harness = verified_harness();
    let asked = harness.challenge();
    let good = state(&Browser::default(), &harness, &asked.url);
    let (_, browser) = good.split_once('.').unwrap();
    for (key, state, status) in [
        (harness::KEY, good.clone(), 200),
        (OTHER, good.clone(), 400),
        (("oxp-api-key", "wrong"), good.clone(), 401),
        (harness::KEY, format!("A{}", &good[1..]), 400),
        (harness::KEY, browser.to_owned(), 400),
        (harness::KEY, String::new(), 400),
    ] {
        let (got, body) = confirm(&harness, key, &state, "ada");
        assert_eq!(got, status, "{body}");
        assert!(!body.to_string().contains("ada") || status == 200, "{body}");
    }
    for (headers, body, status) in [
        (&[("content-type", "application/json")][..], "{}", 400),
        (&[("content-type", "application/json")], "[]", 400),
        (&[], "{}", 415),
    ] {
        assert_eq!(harness.ask(("POST", "/auth/confirm"), headers, body).status, status, "{body}");
    }
    harness.wait(13 * 60_000);
    assert_eq!(confirm(&harness, harness::KEY, &good, "ada").0, 400, "it has expired");
}

#[test]
fn without_verification_the_operator_decides() {
    let at = VERIFIED.replace(
        r#""verify_url":"https://calendar.example/verify?x=1""#,
        r#""host":"calendar.example""#,
    );
    let harness = start_with(&[("API_KEYS", &at)]);
    let asked = harness.challenge();
    let page = Browser::default().visit(&harness, ("GET", &asked.url));
    for part in ["<bdi>Calendar</bdi>", "<bdi>calendar.example</bdi>", "the user above is you"] {
        assert!(text(&page).contains(part), "{part}: {}", text(&page));
    }
    for keys in [at.as_str(), harness::VARIABLES[1].1] {
        let mut harness = start_with(&[("API_KEYS", keys)]);
        // The default, except on this machine.
        harness.host.variables.remove("UNVERIFIED_USERS");
        let asked = harness.challenge();
        for method in ["GET", "POST"] {
            let page = Browser::default().visit(&harness, (method, &asked.url));
            assert_eq!(page.status, 403);
            assert!(text(&page).contains("This link cannot be used"), "{}", text(&page));
        }
        assert_eq!(harness.status(&asked), "failed");
        harness.instance().log_warnings(&harness.host);
        assert!(harness.log().contains("has no verify_url"), "{}", harness.log());
    }
    let harness = start_with(&[("API_KEYS", VERIFIED), ("UNVERIFIED_USERS", "deny")]);
    let asked = harness.challenge();
    state(&Browser::default(), &harness, &asked.url);
    assert_eq!(harness.status(&asked), "pending");
}

#[test]
fn variables_of_unverified_users() {
    let keys = |member: &str| {
        VERIFIED.replace(r#""verify_url":"https://calendar.example/verify?x=1""#, member)
    };
    for (name, value, wrong) in [
        ("UNVERIFIED_USERS", "allow".to_owned(), None),
        ("UNVERIFIED_USERS", "deny".to_owned(), None),
        ("UNVERIFIED_USERS", "no".to_owned(), Some("UNVERIFIED_USERS must be allow or deny")),
        ("API_KEYS", keys(r#""verify_url":"https://c.example""#), None),
        ("API_KEYS", keys(r#""verify_url":"http://localhost:1/v""#), None),
        (
            "API_KEYS",
            keys(r#""verify_url":"http://c.example""#),
            Some("API_KEYS[0].verify_url of \"Calendar\" must be"),
        ),
        (
            "API_KEYS",
            keys(r#""verify_url":1"#),
            Some("API_KEYS[0].verify_url of \"Calendar\" must be"),
        ),
        ("API_KEYS", keys(r#""host":"c.example:8443""#), None),
        (
            "API_KEYS",
            keys(r#""host":"https://c.example""#),
            Some("API_KEYS[0].host of \"Calendar\" must be"),
        ),
        ("API_KEYS", keys(r#""host":"""#), Some("API_KEYS[0].host of \"Calendar\" must be")),
        (
            "API_KEYS",
            keys(r#""host":"c.example","verify_url":"https://c.example""#),
            Some("API_KEYS[0] of \"Calendar\" must not have both"),
        ),
        ("API_KEYS", keys(r#""other":1"#), Some("API_KEYS[0] of \"Calendar\" must be an object")),
    ] {
        let variables = [harness::VARIABLES, MAIL, &[(name, &*value)]].concat();
        let Settings { problems, rejected, .. } =
            toolbooth::testing::settings(crate::tests::CAPABILITIES, &FakeHost::with(&variables));
        let problems = [problems, rejected].concat();
        match wrong {
            None => assert!(problems.is_empty(), "{value}: {problems:?}"),
            Some(start) => assert!(problems[0].starts_with(start), "{value}: {problems:?}"),
        }
    }
}
