//! Requests that meet each other or come again, and callers who misuse the addresses.

use futures_util::future::join;
use pollster::block_on;

use super::deletion::{HOUR, PATH, REVOKE, granted_for_an_hour};
use super::*;
use toolbooth::host::Store;
use toolbooth::http::{Body, Method, Request};
use toolbooth::testing::Pairs;

#[test]
fn a_refresh_that_ends_while_the_deletion_is_written() {
    let harness = granted_for_an_hour(&[REVOKE]);
    harness.wait(HOUR);
    let server = harness.instance();
    harness.host.upstream_waits.set(true);
    harness.host.store_waits.set(true);
    let call = harness.call_at(&server, "ada", "token");
    let del = harness.ask_at(&server, ("DELETE", PATH), &[], "");
    let ((status, body), answer) = block_on(join(call, del));
    assert_eq!(answer.status, 204);
    let revoked: Vec<_> =
        upstream(|server| server.revoked.iter().filter_map(|it| field(&it.3, "token")).collect());
    assert_eq!(revoked, ["refresh-2"], "{status} {body}");
}

#[test]
fn a_second_delete_does_not_undo_the_first() {
    // As in clocks_that_differ: the grant was given where the clock is ten minutes ahead.
    let harness = granted_for_an_hour(&[]);
    let old = harness.host.store.values();
    harness.host.now_ms.set(harness.host.now_ms.get() - 10 * 60_000);
    harness.host.store.location.set(9);
    assert_eq!(harness.ask(("DELETE", PATH), &[], "").status, 204);
    harness.wait(61_000);
    assert_eq!(harness.ask(("DELETE", PATH), &[], "").status, 204);
    let (key, sealed) = old.iter().find(|(key, _)| key.starts_with("grant:")).unwrap();
    harness.wait(10 * 60_000);
    ready(harness.host.put(key, sealed, Some(std::time::Duration::from_secs(6000)))).unwrap();
    for place in [0, 1, 2, 9] {
        harness.host.store.location.set(place);
        assert_eq!(harness.call_for("ada", "token").0, 400, "place {place}");
    }
}

#[test]
fn a_challenge_with_many_short_scopes_opens() {
    let harness = start();
    let many: String = (b'a'..=b'z')
        .flat_map(|a| (b'a'..=b'z').map(move |b| format!(" {}{}", a as char, b as char)))
        .collect();
    let instead = format!(r#"{{"access_token":"a","scope":"send offline{many}"}}"#);
    let browser = Browser::default();
    let back = agree(&browser.leave(&harness, &harness.challenge()));
    upstream(|server| server.instead = Some((200, instead.leak())));
    assert_eq!(browser.visit(&harness, ("GET", &back)).status, 200);
    upstream(|server| server.instead = None);
    harness.wait(STALE_MS);
    let asked = harness.challenge_for("ada", "revoked");
    let page = browser.visit(&harness, ("GET", &asked.url));
    assert_eq!(page.status, 200, "{} {}", asked.url.len(), text(&page));
}

#[test]
fn codes_that_are_made_up_do_not_empty_the_discovery_cache() {
    let harness = start_with(&[("OAUTH_MAIL_ISSUER", "https://mail.example")]);
    upstream(|server| server.issuer = "https://mail.example");
    let server = harness.instance();
    let asked = harness.challenge();
    let browser = Browser::default();
    let answer = browser.visit_at(&harness, &server, ("POST", &asked.url));
    let back = agree(header(&answer, "location").unwrap()).replace("code=code", "code=x");
    let before = upstream(|server| server.tried);
    for _ in 0..10 {
        let page = browser.visit_at(&harness, &server, ("GET", &back));
        assert_eq!(page.status, 400);
        harness.wait(1_000);
    }
    // One for each code: the discovery document is known.
    assert_eq!(upstream(|server| server.tried) - before, 10);
}

#[test]
fn a_foreign_page_deletes_no_grant() {
    let harness = granted_for_an_hour(&[]);
    let foreign = [("origin", "https://evil.example")];
    let call = ready(harness.call_with(
        &harness.instance(),
        &foreign,
        ("ada", "token", serde_json::json!([])),
    ));
    let answer = harness.ask(("DELETE", PATH), &foreign, "");
    assert_eq!((call.0, answer.status), (403, 403));
}

#[test]
fn a_page_of_the_server_deletes_a_grant_at_each_of_its_addresses() {
    const PAGE: &str = "https://tools.workers.example";
    let there = granted_for_an_hour(&[]);
    let (path, query) = PATH.split_once('?').unwrap();
    for (own_origin, status) in [(None, 403), (Some(harness::ORIGIN), 403), (Some(PAGE), 204)] {
        let headers = &Pairs(&[harness::KEY, ("origin", PAGE)]);
        let (method, body) = (Method::Delete, Body::from(""));
        let request = Request { method, path, query, own_origin, headers, body };
        let server = there.instance();
        assert_eq!(
            ready(server.answer(request, &there.host)).head.status,
            status,
            "{own_origin:?}"
        );
    }
}

#[test]
fn names_that_differ_in_spaces_look_different() {
    let harness = start();
    let mut pages = Vec::new();
    for user in ["ada", "ada\u{a0}", "ada\u{2003}", "ada\u{2800}", "a da"] {
        let asked = harness.challenge_for(user, "token");
        let page = Browser::default().visit(&harness, ("GET", &asked.url));
        let page = text(&page);
        let at = page.find("Your user ID in the application").unwrap();
        pages.push(page[at..at + 80].to_owned());
    }
    assert!(!pages[1..].contains(&pages[0]), "{pages:?}");
}

#[test]
fn a_grant_that_cannot_be_read_is_not_removed_before_it_is_revoked() {
    let harness = granted_for_an_hour(&[REVOKE]);
    harness.host.store.fails_reads_of.set(Some("grant:"));
    assert_eq!(harness.ask(("DELETE", PATH), &[], "").status, 400);
    harness.host.store.fails_reads_of.set(None);
    harness.wait(STALE_MS);
    assert_eq!(harness.call_for("ada", "token").0, 400, "it is deleted all the same");
    assert_eq!(harness.ask(("DELETE", PATH), &[], "").status, 204);
    assert_eq!(upstream(|server| server.revoked.len()), 1);
}
