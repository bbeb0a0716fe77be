//! `STATE_KEY` is replaced while the one before it is still accepted.

use super::*;

const HOUR: u64 = 3_600_000;
const OLD: &str = "0123456789abcdef0123456789abcdef";
const NEW: &str = "fedcba9876543210fedcba9876543210";
const PATH: &str = "/auth/grants/mail?user_id=ada";

/// Makes all instances that start from now on have these keys.
fn rotate(harness: &mut Harness, current: &str, previous: &str) {
    for (name, value) in [("STATE_KEY", current), ("STATE_KEY_PREVIOUS", previous)] {
        harness.host.variables.insert(name.to_owned(), value.to_owned());
    }
}

fn granted_for_an_hour() -> Harness {
    let harness = start();
    upstream(|server| server.expires_in = Some(3_600));
    granted(&harness);
    harness
}

fn asked_for(harness: &Harness, token: &str) -> Vec<String> {
    harness.host.store.operations.take();
    assert_eq!(harness.given_token(), token);
    harness.host.store.operations.take()
}

#[test]
fn a_grant_is_found_and_moves_when_it_is_next_written() {
    let mut harness = granted_for_an_hour();
    rotate(&mut harness, NEW, OLD);
    let (found, missed) = ("get grant: found", "get grant: missed");
    let deleted = "get deleted: missed";
    assert_eq!(asked_for(&harness, "access-1"), [missed, found, deleted, deleted]);
    harness.wait(HOUR);
    assert_eq!(asked_for(&harness, "access-2"), [missed, found, deleted, deleted, "put grant"]);
    harness.wait(STALE_MS);
    assert_eq!(asked_for(&harness, "access-2"), [found, deleted, deleted]);
    rotate(&mut harness, NEW, "");
    assert_eq!(asked_for(&harness, "access-2"), [found, deleted], "without the key before");
}

#[test]
fn without_the_key_before_users_are_asked_again() {
    let mut harness = granted_for_an_hour();
    rotate(&mut harness, NEW, "");
    let asked = harness.challenge();
    complete(&harness, &asked, &Browser::default());
    harness.wait(STALE_MS);
    assert_eq!(harness.status(&asked), "completed");
}

#[test]
fn a_deletion_counts_under_both_keys() {
    // The key of the instance that deletes, and of the one that refreshes an old copy after that.
    for (deleting, refreshing) in [(OLD, NEW), (NEW, OLD), (NEW, NEW)] {
        let mut harness = granted_for_an_hour();
        let with =
            |harness: &mut Harness, key| rotate(harness, key, if key == NEW { OLD } else { "" });
        with(&mut harness, refreshing);
        harness.wait(HOUR - 5 * 60_000 - STALE_MS - 30_000);
        assert_eq!(harness.given_token(), "access-1");
        with(&mut harness, deleting);
        harness.host.store.location.set(9);
        assert_eq!(harness.ask(("DELETE", PATH), &[], "").status, 204);
        harness.host.store.location.set(0);
        with(&mut harness, refreshing);
        harness.wait(40_000);
        assert_eq!(harness.given_token(), "access-2", "the minute is not over");
        harness.wait(STALE_MS);
        for (key, place) in [(OLD, 0), (NEW, 0), (OLD, 3), (NEW, 4)] {
            with(&mut harness, key);
            harness.host.store.location.set(place);
            let asked = harness.challenge();
            assert_eq!(harness.status(&asked), "pending", "{deleting} {refreshing} {key} {place}");
        }
    }
}

#[test]
fn a_user_who_has_left_for_the_provider_can_finish() {
    let mut harness = start();
    let asked = harness.challenge();
    let browser = Browser::default();
    let back = agree(&browser.leave(&harness, &asked));
    let denied = harness.challenge_for("bob", "token");
    let other = Browser::default();
    let away = disagree(&other.leave(&harness, &denied), "access_denied");
    assert_eq!(other.visit(&harness, ("GET", &away)).status, 403);
    rotate(&mut harness, NEW, OLD);
    let page = browser.visit(&harness, ("GET", &back));
    assert_eq!(page.status, 200, "the verifier is that of the key before: {}", text(&page));
    harness.wait(STALE_MS);
    assert_eq!(harness.status(&asked), "completed");
    assert_eq!(harness.status(&denied), "failed");
    assert_eq!(harness.given_token(), "access-1");
}
