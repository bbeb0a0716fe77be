//! Which tools pages name: those that the person can use.

use super::account::account;
use super::harness::{Browser, KEY, request, start_with, text};
use super::visitors::{MAIL, access_token, call, challenge, get, grant, mail, sign_in};
use toolbooth::testing::STALE_MS;

/// The entries of `Calendar`, whose key is [`KEY`], and of `Other`, whose key is `other-key`, with these members.
fn keys(calendar: &str, other: &str) -> String {
    format!(
        r#"[{{"name":"Calendar",{calendar},"hash":"e8b18fbe02fad6aa9ce82b235322e7c10196478f011f9f8617b1b75d6db57961"}},
            {{"name":"Other",{other},"hash":"580843d03d2216ff1a275d0991bad66e4d1af871171d929e9de604b7959f9bca"}}]"#
    )
}

const ALL: &str = r#""scopes":["*"]"#;
const NOTE: &str = "If you sign in with a different account";

#[test]
fn the_consent_page_names_what_the_client_can_call() {
    const SCOPED: &str = "<code>echo:a</code>: <bdi>Echo.Scoped</bdi>";
    const SAY: &str = "<bdi>Echo.Say</bdi>";
    const PRIVATE: &str = "<bdi>Use an account (Echo.Private)</bdi>";
    let limited = r#""scopes":["echo:a"],"tools":["Echo.Say"]"#;
    let nothing = r#""scopes":[],"tools":[]"#;
    let scopes = r#""scopes":["echo:a","echo:b"],"tools":["Echo.Scoped"]"#;
    for (calendar, other, signed_in, present, absent) in [
        // An unknown person may have either key.
        (
            limited,
            limited,
            false,
            &[SAY, "<code>echo:a</code>: no tool"][..],
            &[SCOPED, PRIVATE, "echo:b", NOTE][..],
        ),
        (limited, ALL, false, &[SAY, PRIVATE, SCOPED, "echo:b"], &[NOTE]),
        (scopes, nothing, false, &[SCOPED], &[SAY, PRIVATE, NOTE]),
        (nothing, nothing, false, &["No tool at present"], &["<bdi>Echo", "echo:a", NOTE]),
        (limited, ALL, true, &[SAY, NOTE], &[SCOPED, PRIVATE, "echo:b"]),
        (ALL, limited, true, &[SAY, PRIVATE, SCOPED], &[NOTE]),
    ] {
        let harness = start_with(&[("API_KEYS", &keys(calendar, other))], |_| panic!("no request"));
        let client = harness.client();
        let browser = Browser::default();
        if signed_in {
            browser.code(&harness, &request(&client.id));
        }
        let page = browser.open(&harness, &request(&client.id));
        let html = text(&page);
        for part in present {
            assert!(html.contains(part), "{calendar} {other} {part}: {html}");
        }
        for part in absent {
            assert!(!html.contains(part), "{calendar} {other} {part}: {html}");
        }
    }
}

#[test]
fn the_account_names_the_tools_that_can_still_use_a_grant() {
    let mut harness = start_with(MAIL, mail);
    let url = challenge(&harness, &access_token(&harness, KEY));
    let browser = Browser::default();
    sign_in(&harness, &browser, &get(&harness, &browser, &url), KEY);
    grant(&harness, &browser, &url);
    harness.wait(STALE_MS);
    for (calendar, expected) in [
        (r#""scopes":[]"#, "<li><bdi>Use an account (Echo.Private)</bdi></li>"),
        (
            r#""scopes":[],"tools":["Echo.Private"]"#,
            "<li><bdi>Use an account (Echo.Private)</bdi></li>",
        ),
        (r#""scopes":["*"],"tools":["Echo.Say"]"#, "none at present"),
    ] {
        harness.restart(&[("API_KEYS", &keys(calendar, ALL))]);
        let page = account(&harness, &Browser::default(), KEY);
        assert!(text(&page).contains(expected), "{calendar}: {}", text(&page));
    }
    let (status, body) = call(&harness, &access_token(&harness, KEY));
    let is_challenge = !body["missing_requirements"].is_null();
    assert_eq!((status, is_challenge), (400, false), "such a call is rejected: {body}");
}

#[test]
fn the_consent_page_names_accounts_that_the_client_can_use_at_once() {
    const NOTE: &str = "You have allowed tools to use <bdi>";
    let mut harness = start_with(MAIL, mail);
    let client = harness.client();
    let url = challenge(&harness, &access_token(&harness, KEY));
    let browser = Browser::default();
    sign_in(&harness, &browser, &get(&harness, &browser, &url), KEY);
    let page = browser.open(&harness, &request(&client.id));
    assert!(!text(&page).contains(NOTE), "{}", text(&page));
    grant(&harness, &browser, &url);
    harness.wait(STALE_MS);
    for (browser, is_named) in [(&browser, true), (&Browser::default(), false)] {
        let page = browser.open(&harness, &request(&client.id));
        assert_eq!(text(&page).contains(NOTE), is_named, "{}", text(&page));
    }
    // A store that fails does not stop the sign-in.
    harness.restart(&[]);
    harness.host.store.fails_reads_of.set(Some("grant"));
    let page = browser.open(&harness, &request(&client.id));
    assert_eq!(page.status, 200, "{}", text(&page));
}
