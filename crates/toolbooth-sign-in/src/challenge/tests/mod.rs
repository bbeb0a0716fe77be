//! Whole flows: a client, a user's browser and an authorization server around a server, over a store
//! that is a minute behind.

mod deletion;
mod discovery;
mod enabled;
mod events;
mod formats;
mod grants;
pub(crate) mod harness;
mod misuse;
mod pages;
mod proofs;
mod properties;
mod races;
mod rotation;
mod store;
mod visitors;

use crate::tests::harness::{field, header, text};
use crate::tests::provider::{agree, disagree, upstream};
use harness::{Browser, Harness, InputRequired, bare, start, start_with, tampered};
use toolbooth::seal::GrantKeys;
use toolbooth::settings::GrantKeySettings;
use toolbooth::testing::{STALE_MS, ready};

/// The `GRANT_KEYS` of the server.
fn grant_keys() -> GrantKeys {
    let keys = "a:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
    GrantKeys::new(&GrantKeySettings::parse(keys).unwrap())
}

/// Lets the user agree, and returns the address of the callback, which has been visited.
fn complete(harness: &Harness, asked: &InputRequired, browser: &Browser) -> String {
    let back = agree(&browser.leave(harness, asked));
    let page = browser.visit(harness, ("GET", &back));
    assert_eq!(page.status, 200, "{}", text(&page));
    assert!(text(&page).contains("<h1>Done</h1>"));
    back
}

/// A harness where the user has agreed, as every reader sees.
fn granted(harness: &Harness) {
    complete(harness, &harness.challenge(), &Browser::default());
    harness.wait(STALE_MS);
}

#[test]
fn x20_x21_a_call_a_challenge_a_grant_and_the_call_again() {
    let harness = start();
    let asked = harness.challenge();
    assert_eq!(harness.status(&asked), "pending");
    complete(&harness, &asked, &Browser::default());
    harness.wait(STALE_MS);
    assert_eq!(harness.status(&asked), "completed");
    assert_eq!(harness.given_token(), "access-1");
    let values = format!("{:?}", harness.host.store.values());
    for secret in ["access-1", "refresh-1", "ada", "mail"] {
        assert!(!values.contains(secret), "{secret} is in the store: {values}");
        assert!(!harness.log().contains(secret), "{}", harness.log());
    }
    assert_eq!(harness.call_for("bob", "token").0, 400, "it is another user's grant");
}

#[test]
fn x20_nothing_is_written_before_there_is_a_result() {
    let harness = start();
    let asked = harness.challenge();
    harness.status(&asked);
    Browser::default().leave(&harness, &asked);
    assert!(harness.host.store.values().is_empty());
}

#[test]
fn x21_completed_means_that_the_call_will_find_the_grant() {
    // Whenever the client asks, and wherever its last reads left the store's caches.
    for delays in [[0, 0, 0], [59_000, 500, 500], [30_000, 10_000, 30_000], [1_000, 58_000, 1_000]]
    {
        let harness = start();
        let asked = harness.challenge();
        for delay in delays {
            harness.wait(delay);
            assert_eq!(harness.status(&asked), "pending");
        }
        complete(&harness, &asked, &Browser::default());
        let mut seconds = 0;
        while harness.status(&asked) != "completed" {
            harness.wait(1_000);
            seconds += 1;
            assert!(seconds <= 60, "it takes at most a minute");
        }
        assert_eq!(harness.given_token(), "access-1", "{delays:?} after {seconds} s");
    }
}

#[test]
fn x21_a_call_that_is_made_too_early_gets_a_challenge_that_completes_by_itself() {
    let harness = start();
    complete(&harness, &harness.challenge(), &Browser::default());
    let second = harness.challenge();
    assert_eq!(harness.status(&second), "pending");
    harness.wait(STALE_MS);
    assert_eq!(harness.status(&second), "completed", "without any action of the user");
    assert_eq!(harness.given_token(), "access-1");
    // The same where the call comes from a place that has not looked yet, and then from one that has.
    let harness = start();
    let asked = harness.challenge();
    complete(&harness, &asked, &Browser::default());
    harness.host.store.location.set(1);
    assert_eq!(harness.status(&asked), "completed");
    assert_eq!(harness.given_token(), "access-1");
    harness.host.store.location.set(0);
    let second = harness.challenge();
    harness.wait(STALE_MS);
    assert_eq!(harness.status(&second), "completed");
}

#[test]
fn x21_checks_of_what_is_no_challenge_fail_with_200() {
    let harness = start();
    let asked = harness.challenge();
    let state =
        field(Browser::default().leave(&harness, &asked).split_once('?').unwrap().1, "state");
    for (what, url) in [
        ("nothing", "/auth/check".to_owned()),
        ("empty", "/auth/check?c=".to_owned()),
        ("unknown", "/auth/check?c=a.b".to_owned()),
        ("tampered", tampered(&asked.check_url, "c")),
        ("longer", format!("{}A", asked.check_url)),
        ("a token for something else", format!("/auth/check?c={}", state.unwrap())),
    ] {
        let tampered = InputRequired { url: String::new(), check_url: url };
        assert_eq!(harness.status(&tampered), "failed", "{what}");
    }
    harness.wait(14 * 60_000);
    assert_eq!(harness.status(&asked), "pending");
    harness.wait(60_000);
    assert_eq!(harness.status(&asked), "failed", "expired");
}

#[test]
fn a_user_who_says_no() {
    let harness = start();
    let asked = harness.challenge();
    let browser = Browser::default();
    let back = disagree(&browser.leave(&harness, &asked), "access_denied");
    let page = browser.visit(&harness, ("GET", &back));
    assert_eq!(page.status, 403);
    assert!(text(&page).contains("You declined"));
    assert_eq!(harness.status(&asked), "failed");
    assert_eq!(harness.call_for("ada", "token").0, 400);
    // The user may change their mind, also at the same address.
    complete(&harness, &asked, &browser);
    harness.wait(STALE_MS);
    assert_eq!(harness.status(&asked), "completed");
}

#[test]
fn a_user_who_says_no_before_they_go_to_the_provider() {
    let harness = start();
    let asked = harness.challenge();
    let browser = Browser::default();
    let page = browser.visit(&harness, ("GET", &asked.url));
    assert!(text(&page).contains("&amp;deny=1\"><button class=\"quiet\">Deny</button>"));
    let deny = format!("{}&deny=1", asked.url);
    let forged = harness.ask(("POST", &deny), &[("sec-fetch-site", "cross-site")], "");
    assert!(text(&forged).contains("This did not start here"), "{}", text(&forged));
    assert_eq!(harness.status(&asked), "pending");
    let page = browser.visit(&harness, ("POST", &deny));
    assert_eq!(page.status, 403);
    assert!(text(&page).contains("You declined"), "{}", text(&page));
    harness.wait(STALE_MS);
    assert_eq!(harness.status(&asked), "failed");
    // The user may change their mind.
    complete(&harness, &asked, &browser);
    harness.wait(STALE_MS);
    assert_eq!(harness.status(&asked), "completed");
}

#[test]
fn what_the_provider_sends_back() {
    let without = |name: &'static str| {
        move |back: String| {
            let (path, query) = back.split_once('?').unwrap();
            let rest = query.split('&').filter(|pair| !pair.starts_with(name));
            format!("{path}?{}", rest.collect::<Vec<_>>().join("&"))
        }
    };
    type Change = Box<dyn Fn(String) -> String>;
    let changes: Vec<(&str, Change, u16, &str)> = vec![
        ("tampered state", Box::new(|back| tampered(&back, "state")), 400, "pending"),
        ("no state", Box::new(without("state")), 400, "pending"),
        ("no code", Box::new(without("code")), 400, "pending"),
        ("a wrong code", Box::new(|back| back.replace("code=code", "code=c")), 400, "failed"),
        ("denied", Box::new(|back| back.replace("code=", "error=access_denied&x=")), 403, "failed"),
        (
            "invalid scope",
            Box::new(|back| back.replace("code=", "error=invalid_scope&x=")),
            400,
            "failed",
        ),
        (
            "a fault",
            Box::new(|back| back.replace("code=", "error=server_error&x=")),
            502,
            "pending",
        ),
        ("a code twice", Box::new(|back| format!("{back}&code=x")), 200, "completed"),
    ];
    for (what, change, status, check) in changes {
        let harness = start();
        let asked = harness.challenge();
        let browser = Browser::default();
        let back = change(agree(&browser.leave(&harness, &asked)));
        let page = browser.visit(&harness, ("GET", &back));
        assert_eq!(page.status, status, "{what}: {}", text(&page));
        harness.wait(STALE_MS);
        assert_eq!(harness.status(&asked), check, "{what}");
    }
}

#[test]
fn another_browser_is_refused() {
    let harness = start();
    let asked = harness.challenge();
    let first = Browser::default();
    let back = agree(&first.leave(&harness, &asked));
    let denial = back.replace("code=", "error=access_denied&x=");
    for back in [&back, &denial] {
        let page = Browser::default().visit(&harness, ("GET", back));
        assert_eq!(page.status, 403, "{}", text(&page));
        assert!(text(&page).contains("Continue in the browser where you started"));
        // Also when it has been to the provider itself, for the same challenge.
        let second = Browser::default();
        second.leave(&harness, &asked);
        assert_eq!(second.visit(&harness, ("GET", back)).status, 403);
    }
    assert!(harness.host.store.values().is_empty(), "nothing came of it");
    assert!(upstream(|server| server.asked.is_empty()), "nor was the code used");
    assert_eq!(first.visit(&harness, ("GET", &back)).status, 200, "the first may still go on");
}

#[test]
fn a_form_that_another_site_sends_is_refused() {
    let harness = start();
    let asked = harness.challenge();
    for (headers, status) in [
        (&[("sec-fetch-site", "cross-site"), ("origin", harness::ORIGIN)][..], 403),
        (&[("sec-fetch-site", "same-site")], 403),
        (&[("sec-fetch-site", "none")], 403),
        (&[("origin", "https://evil.example")], 403),
        (&[("origin", "null")], 403),
        (&[], 403),
        (&[("origin", harness::ORIGIN)], 303),
        (&[("sec-fetch-site", "same-origin"), ("origin", harness::ORIGIN)], 303),
    ] {
        let answer = harness.ask(("POST", &asked.url), headers, "");
        assert_eq!(answer.status, status, "{headers:?}");
        assert_eq!(header(&answer, "set-cookie").is_some(), status == 303, "{headers:?}");
    }
}

#[test]
fn a_callback_that_comes_again_is_harmless() {
    let harness = start();
    let asked = harness.challenge();
    let browser = Browser::default();
    let before = {
        let back = agree(&browser.leave(&harness, &asked));
        let before = browser.clone();
        assert_eq!(browser.visit(&harness, ("GET", &back)).status, 200);
        let again = browser.visit(&harness, ("GET", &back));
        assert!(again.status == 200 && text(&again).contains("Done"), "reloaded");
        assert_eq!(upstream(|server| server.asked.len()), 1, "without using the code again");
        (before, back)
    };
    // At the same time, before the browser had the response: the code is rejected, the grant is kept.
    let (browser, back) = before;
    harness.wait(1_000);
    assert_eq!(browser.visit(&harness, ("GET", &back)).status, 400);
    harness.wait(STALE_MS);
    assert_eq!(harness.status(&asked), "completed");
    assert_eq!(harness.given_token(), "access-1");
    // Nor does it help after the time is up.
    harness.wait(15 * 60_000);
    assert_eq!(browser.visit(&harness, ("GET", &back)).status, 400);
}

#[test]
fn the_user_has_13_minutes_and_the_client_two_more() {
    let harness = start();
    let asked = harness.challenge();
    let browser = Browser::default();
    harness.wait(12 * 60_000);
    let back = agree(&browser.leave(&harness, &asked));
    harness.wait(60_000);
    for request in [("GET", &*asked.url), ("POST", &asked.url), ("GET", &back)] {
        let page = browser.visit(&harness, request);
        assert_eq!(page.status, 400);
        assert!(text(&page).contains("took too long"), "{}", text(&page));
    }
    assert_eq!(harness.status(&asked), "pending");
}

#[test]
fn a_provider_that_fails_can_be_tried_again() {
    let away = |body| Some((503, body));
    for (instead, down, status, check) in [
        (None, true, 502, "pending"),
        (away(""), false, 502, "pending"),
        (Some((429, "{}")), false, 502, "pending"),
        (Some((429, r#"{"error":"slow_down"}"#)), false, 502, "pending"),
        (Some((400, r#"{"error":"temporarily_unavailable"}"#)), false, 502, "pending"),
        // The answer is of no use.
        (Some((200, "<html>")), false, 502, "failed"),
        (Some((200, r#"{"access_token":"a","token_type":"mac"}"#)), false, 502, "failed"),
        (Some((200, r#"{"access_token":""}"#)), false, 502, "failed"),
        (Some((200, r#"{"access_token":"a b"}"#)), false, 502, "failed"),
        (Some((200, r#"{"error":"bad_verification_code"}"#)), false, 400, "failed"),
        (Some((401, r#"{"error":"invalid_client"}"#)), false, 400, "failed"),
        (Some((404, "")), false, 400, "failed"),
    ] {
        let harness = start();
        let asked = harness.challenge();
        let browser = Browser::default();
        let back = agree(&browser.leave(&harness, &asked));
        upstream(|server| (server.instead, server.down) = (instead, down));
        let page = browser.visit(&harness, ("GET", &back));
        assert_eq!(page.status, status, "{instead:?}: {}", text(&page));
        assert_eq!(text(&page).contains("Try again"), check == "pending", "{instead:?}");
        // A rejected code may have been used by the same user already: the check waits until that is
        // visible in the store.
        harness.wait(STALE_MS);
        assert_eq!(harness.status(&asked), check, "{instead:?}");
        assert!(harness.log().contains("authorization_server"), "{}", harness.log());
        upstream(|server| (server.instead, server.down) = (None, false));
        complete(&harness, &asked, &browser);
    }
}

#[test]
fn a_store_that_fails_loses_nothing_but_time() {
    let mut harness = start();
    let asked = harness.challenge();
    let browser = Browser::default();
    let back = agree(&browser.leave(&harness, &asked));
    harness.host.store.fails_writes.set(true);
    let page = browser.visit(&harness, ("GET", &back));
    assert_eq!(page.status, 503);
    assert!(text(&page).contains("could not be saved") && text(&page).contains("Try again"));
    // If a denial cannot be stored, the user sees it, and the client only sees the challenge expire.
    let denied = disagree(&browser.leave(&harness, &asked), "access_denied");
    assert_eq!(browser.visit(&harness, ("GET", &denied)).status, 403);
    assert_eq!(harness.status(&asked), "pending");
    harness.host.store.fails_writes.set(false);
    complete(&harness, &asked, &browser);
    harness.wait(STALE_MS);
    assert_eq!(harness.status(&asked), "completed");

    harness.host.store_works = false;
    assert_eq!(harness.status(&asked), "pending", "nothing is decided while nothing is known");
    let (status, body) = harness.call_for("ada", "token");
    assert_eq!(
        (status, body["developer_message"].as_str()),
        (400, Some("its KV namespace does not answer"))
    );
}
