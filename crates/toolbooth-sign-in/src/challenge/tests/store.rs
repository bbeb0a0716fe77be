//! What is asked of the store, step by step, and what becomes of it when the store fails.

use super::*;

/// What a step asked of the store.
fn asked_for(harness: &Harness, step: impl FnOnce()) -> Vec<String> {
    harness.host.store.operations.take();
    step();
    harness.host.store.operations.take()
}

#[test]
fn what_each_step_asks_of_the_store() {
    let harness = start();
    let mut asked = None;
    let ops = asked_for(&harness, || asked = Some(harness.challenge()));
    let asked = asked.unwrap();
    assert_eq!(ops, ["get grant: missed", "get deleted: missed"], "a call");
    let ops = asked_for(&harness, || assert_eq!(harness.status(&asked), "pending"));
    let three = ["get grant: missed", "get deleted: missed", "get failed: missed"];
    assert_eq!(ops, three, "the check");
    let browser = Browser::default();
    let mut back = String::new();
    let ops = asked_for(&harness, || back = agree(&browser.leave(&harness, &asked)));
    assert_eq!(ops, [""; 0], "to the provider");
    let ops = asked_for(&harness, || {
        assert_eq!(Browser::default().visit(&harness, ("GET", &back)).status, 403);
        assert_eq!(
            browser.visit(&harness, ("GET", "/auth/callback/mail?state=x&code=x")).status,
            400
        );
    });
    assert_eq!(ops, [""; 0], "a rejected callback");
    let early = browser.clone();
    let ops =
        asked_for(&harness, || assert_eq!(browser.visit(&harness, ("GET", &back)).status, 200));
    assert_eq!(ops, ["put grant", "put proof"], "the callback, without a look at what was there");
    let ops =
        asked_for(&harness, || assert_eq!(browser.visit(&harness, ("GET", &back)).status, 200));
    assert_eq!(ops, [""; 0], "the callback again");
    let browser = early;
    let ops =
        asked_for(&harness, || assert_eq!(browser.visit(&harness, ("GET", &back)).status, 400));
    assert_eq!(ops, ["put failed"], "the callback at the same moment: never the grant");
    harness.wait(STALE_MS);
    let mut proof = String::new();
    let ops = asked_for(&harness, || {
        let check = harness.check(&asked);
        assert_eq!((&check["status"], &check["provider"]), (&"completed".into(), &"<Mail>".into()));
        proof = check["proof"].as_str().unwrap().to_owned();
    });
    assert_eq!(ops, ["get grant: found", "get deleted: missed"], "the check");
    let ops = asked_for(&harness, || assert_eq!(harness.given_token(), "access-1"));
    assert_eq!(ops, ["get grant: found", "get deleted: missed"], "a call");
    let ops = asked_for(&harness, || assert_eq!(proofs::call(&harness, "ada", &proof).0, 200));
    let three = ["get grant: found", "get deleted: missed", "get proof: found"];
    assert_eq!(ops, three, "a call with the proof");
    let ops = asked_for(&harness, || assert_eq!(proofs::call(&harness, "ada", "own").0, 200));
    assert_eq!(ops, [""; 0], "a call with a token of its own");
    let denied = disagree(&browser.leave(&harness, &asked), "access_denied");
    let ops =
        asked_for(&harness, || assert_eq!(browser.visit(&harness, ("GET", &denied)).status, 403));
    assert_eq!(ops, ["put failed"], "a denial");
    let ops = asked_for(&harness, || {
        assert_eq!(harness.ask(("DELETE", "/auth/grants/mail?user_id=ada"), &[], "").status, 204);
    });
    assert_eq!(ops, ["get grant: found", "put deleted", "delete grant"], "forgetting");
    let ops =
        asked_for(&harness, || assert_eq!(harness.ask(("GET", "/health"), &[], "").status, 200));
    assert_eq!(ops, ["get health: missed"], "which is never written");

    let harness = start();
    upstream(|server| server.expires_in = Some(60));
    granted(&harness);
    let ops = asked_for(&harness, || assert_eq!(harness.given_token(), "access-2"));
    assert_eq!(ops, ["get grant: found", "get deleted: missed", "put grant"], "a refresh");
}

/// Which keys are read before they are written the test above shows: `grant` by calls and checks,
/// `failed` by checks. Here each such read is made just before the write, so that the miss is
/// remembered for the longest time.
#[test]
fn a_miss_that_is_remembered_costs_a_minute_and_nothing_else() {
    let harness = start();
    let asked = harness.challenge();
    let browser = Browser::default();
    let back = agree(&browser.leave(&harness, &asked));
    assert_eq!(harness.status(&asked), "pending");
    assert_eq!(browser.visit(&harness, ("GET", &back)).status, 200);
    assert_eq!(harness.status(&asked), "pending", "the miss of the grant");
    let second = harness.challenge();
    harness.wait(STALE_MS);
    assert_eq!(harness.status(&asked), "completed");
    assert_eq!(harness.status(&second), "completed");
    assert_eq!(harness.given_token(), "access-1");

    let harness = start();
    let asked = harness.challenge();
    let browser = Browser::default();
    let denied = disagree(&browser.leave(&harness, &asked), "access_denied");
    assert_eq!(harness.status(&asked), "pending");
    assert_eq!(browser.visit(&harness, ("GET", &denied)).status, 403);
    assert_eq!(harness.status(&asked), "pending", "the miss of the failure");
    harness.wait(STALE_MS);
    assert_eq!(harness.status(&asked), "failed");
}

#[test]
fn a_callback_that_comes_twice_at_once_is_never_told_as_a_failure() {
    // The client's call has left a miss of the grant; no check has looked for a failure yet.
    let harness = start();
    let asked = harness.challenge();
    let browser = Browser::default();
    let back = agree(&browser.leave(&harness, &asked));
    let twin = browser.clone();
    assert_eq!(browser.visit(&harness, ("GET", &back)).status, 200);
    harness.wait(1_000);
    assert_eq!(twin.visit(&harness, ("GET", &back)).status, 400, "the provider takes a code once");
    for _ in 0..60 {
        assert_ne!(harness.status(&asked), "failed");
        harness.wait(1_000);
    }
    assert_eq!(harness.status(&asked), "completed");
    assert_eq!(harness.given_token(), "access-1");
}

#[test]
fn a_check_that_cannot_read_the_grant_decides_nothing() {
    let harness = start();
    let asked = harness.challenge();
    let browser = Browser::default();
    let denied = disagree(&browser.leave(&harness, &asked), "access_denied");
    browser.visit(&harness, ("GET", &denied));
    complete(&harness, &asked, &browser);
    harness.wait(STALE_MS);
    for (unreadable, status) in [
        (Some("grant:"), "pending"),
        (Some("deleted:"), "pending"),
        (Some("failed:"), "completed"),
        (None, "completed"),
    ] {
        harness.host.store.fails_reads_of.set(unreadable);
        assert_eq!(harness.status(&asked), status, "{unreadable:?}");
    }
}

#[test]
fn a_grant_that_was_not_kept_is_nowhere() {
    let harness = start();
    let server = harness.instance();
    let asked = harness.challenge();
    let browser = Browser::default();
    let back = agree(&browser.leave(&harness, &asked));
    harness.host.store.fails_writes.set(true);
    let cookies = browser.cookies();
    let cookie = [("cookie", &*cookies)];
    let page = pollster::block_on(harness.ask_at(&server, ("GET", &back), &cookie, ""));
    assert_eq!(page.status, 503, "the page says so");
    let (status, _) = pollster::block_on(harness.call_at(&server, "ada", "token"));
    assert_eq!(status, 400, "and so it is, also where the callback came to");
}
