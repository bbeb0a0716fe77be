//! Refresh tokens that serve only once, and calls that all need one at the same moment.

use pollster::block_on;
use toolbooth::log::CallRecorder;

use super::*;
use toolbooth::call::{Outcome, RequestContext, ToolRequest, ToolSelector, join_all};
use toolbooth::host::LEDGER;
use toolbooth::principal::Principal;
use toolbooth::testing::Pairs;
use toolbooth::tool::{Credentials, Secret};

const HOUR: u64 = 3_600_000;

/// A harness with a grant whose access token has ended.
fn ended() -> Harness {
    let harness = start();
    upstream(|server| server.expires_in = Some(3_600));
    granted(&harness);
    harness.wait(HOUR);
    harness
}

fn refreshed() -> usize {
    upstream(|server| server.asked.iter().filter(|it| it.contains("refresh_token=")).count())
}

#[test]
fn calls_of_one_request_refresh_once() {
    for (down, times) in [(false, 1), (true, 1)] {
        let harness = ended();
        harness.host.upstream_waits.set(true);
        let before = upstream(|server| {
            server.down = down;
            server.tried
        });
        let input = serde_json::json!({"text": "token"});
        let call = |_| {
            Ok(ToolRequest {
                credentials: Credentials {
                    user_id: Some("ada".to_owned()),
                    secrets: [("KEY".to_owned(), Secret::new("k".to_owned()))].into(),
                    ..Credentials::default()
                },
                ..ToolRequest::new(ToolSelector::Id("Echo.Private".into()), (&input).into())
            })
        };
        let principal = Principal::key("Calendar", toolbooth::principal::Scopes::NONE);
        let done = |it: &Outcome| matches!(it, Outcome::Done { value, .. } if value == "access-2");
        let server = harness.instance();
        let context = RequestContext {
            query: "",
            parameter: "",
            headers: &Pairs(&[]),
            principal: &principal,
            pipeline: &server.state().pipeline,
            host: &harness.host,
            calls: &CallRecorder::default(),
            only: None,
            shows_protected: false,
            listener: None,
        };
        let outcomes = block_on(context.call_all((0..5).map(call).collect())).unwrap();
        assert_eq!(outcomes.iter().all(done), !down);
        assert_eq!(upstream(|server| server.tried) - before, times, "the server is asked once");
    }
}

#[test]
fn requests_that_refresh_at_the_same_moment_all_get_the_new_token() {
    let harness = ended();
    let server = harness.instance();
    harness.host.upstream_waits.set(true);
    let calls = (0..3).map(|_| harness.call_at(&server, "ada", "token"));
    for (status, body) in block_on(join_all(calls)) {
        assert_eq!(status, 200, "{body}");
        assert_eq!(body["value"], "access-2");
    }
    assert_eq!(refreshed(), 3, "the rejections of the second and the third changed nothing");
}

#[test]
fn an_instance_does_not_use_a_refresh_token_again_that_it_has_used() {
    for store_works in [true, false] {
        let harness = ended();
        let server = harness.instance();
        harness.host.store.fails_writes.set(!store_works);
        for _ in 0..59 {
            let (status, body) = block_on(harness.call_at(&server, "ada", "token"));
            assert_eq!((status, body["value"].as_str()), (200, Some("access-2")), "{store_works}");
            harness.wait(1_000);
        }
        assert_eq!(refreshed(), 1, "although the store still reads the old grant, {store_works}");
    }
}

#[test]
fn the_second_location_to_refresh_asks_and_its_challenge_completes_by_itself() {
    let harness = start();
    upstream(|server| server.expires_in = Some(120));
    granted(&harness);
    harness.wait(25_000);
    harness.host.store.location.set(1);
    assert_eq!(harness.given_token(), "access-1");
    harness.wait(36_000);
    harness.host.store.location.set(0);
    assert_eq!(harness.given_token(), "access-2");
    // This place has read the old grant half a minute ago: its token has ended, and its refresh token
    // is used up.
    harness.host.store.location.set(1);
    let asked = harness.challenge();
    assert_eq!(harness.status(&asked), "pending");
    harness.wait(STALE_MS);
    assert_eq!(harness.status(&asked), "completed", "without any action of the user");
    assert_eq!(harness.given_token(), "access-2");
}

#[test]
fn a_refresh_that_gives_less_is_kept_and_the_user_asked_for_the_rest() {
    let harness = start();
    upstream(|server| server.expires_in = Some(3_600));
    granted(&harness);
    upstream(|server| server.scope = Some("offline"));
    harness.wait(HOUR - 3 * 60_000);
    assert_eq!(harness.given_token(), "access-1", "which is still good");
    harness.wait(STALE_MS);
    let asked = harness.challenge();
    assert_eq!(harness.status(&asked), "pending");
    assert_eq!(refreshed(), 1, "the new refresh token is not lost");
    upstream(|server| server.scope = None);
    complete(&harness, &asked, &Browser::default());
    harness.wait(STALE_MS);
    assert_eq!(harness.status(&asked), "completed");
}

#[test]
fn a_server_that_does_not_respond_is_not_asked_again_for_a_while() {
    let harness = ended();
    let server = harness.instance();
    upstream(|server| server.down = true);
    let before = upstream(|server| server.tried);
    for (wait, tried) in [(0, 1), (1_000, 1), (3_000, 1), (1_500, 2)] {
        harness.wait(wait);
        let (status, body) = block_on(harness.call_at(&server, "ada", "token"));
        let detail = "the authorization server does not answer";
        assert_eq!((status, body["developer_message"].as_str()), (400, Some(detail)));
        assert_eq!(upstream(|server| server.tried) - before, tried, "after {wait} ms more");
    }
    upstream(|server| server.down = false);
    harness.wait(5_000);
    assert_eq!(block_on(harness.call_at(&server, "ada", "token")).0, 200);
}

#[test]
fn a_grant_that_is_forgotten_here_is_forgotten_here_at_once() {
    let harness = start();
    granted(&harness);
    let server = harness.instance();
    assert_eq!(block_on(harness.call_at(&server, "ada", "token")).0, 200);
    let path = "/auth/grants/mail?user_id=ada";
    let forget = |server| block_on(harness.ask_at(server, ("DELETE", path), &[], "")).status;
    harness.host.store.fails_writes.set(true);
    assert_eq!(forget(&server), 400);
    assert_eq!(block_on(harness.call_at(&server, "ada", "token")).0, 200, "it was not forgotten");
    harness.host.store.fails_writes.set(false);
    harness.wait(1_000);
    assert_eq!(forget(&server), 204);
    assert_eq!(block_on(harness.call_at(&server, "ada", "token")).0, 400);
    harness.wait(2_000);
    complete(&harness, &harness.challenge_for("ada", "revoked"), &Browser::default());
    harness.wait(STALE_MS);
    assert_eq!(block_on(harness.call_at(&server, "ada", "token")).0, 200, "a new one counts");
}

#[test]
fn with_a_ledger_a_provider_sees_the_code_of_a_callback_once() {
    for (is_bound, asked) in [(false, 2), (true, 1)] {
        let mut harness = start();
        harness.host.bindings.extend(is_bound.then_some(LEDGER));
        let browser = Browser::default();
        let challenge = harness.challenge();
        let back = agree(&browser.leave(&harness, &challenge));
        let cookies = browser.cookies();
        let cookie = [("cookie", &*cookies)];
        let servers = [harness.instance(), harness.instance()];
        harness.host.upstream_waits.set(true);
        let visits =
            servers.iter().map(|server| harness.ask_at(server, ("GET", &back), &cookie, ""));
        let mut statuses: Vec<u16> =
            block_on(join_all(visits)).iter().map(|page| page.status).collect();
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 400]);
        assert_eq!(upstream(|server| server.asked.len()), asked, "{is_bound}");
        harness.wait(STALE_MS);
        assert_eq!(harness.status(&challenge), "completed");
    }
}

#[test]
fn with_a_ledger_a_browser_that_makes_up_codes_costs_one_request() {
    for (is_bound, asked) in [(false, 3), (true, 1)] {
        let mut harness = start();
        harness.host.bindings.extend(is_bound.then_some(LEDGER));
        let browser = Browser::default();
        let challenge = harness.challenge();
        let back = agree(&browser.leave(&harness, &challenge));
        for made_up in ["code=x", "code=y", "code=z"] {
            let back = back.replace("code=code-0", made_up);
            let page = browser.visit(&harness, ("GET", &back));
            assert_eq!(page.status, 400);
            assert!(text(&page).contains("start again"), "{}", text(&page));
        }
        assert_eq!(upstream(|server| server.asked.len()), asked, "{is_bound}");
        // Who starts again has a new code, and may reload the page.
        let back = agree(&browser.leave(&harness, &challenge));
        for _ in 0..2 {
            assert_eq!(browser.visit(&harness, ("GET", &back)).status, 200, "{is_bound}");
        }
        assert_eq!(upstream(|server| server.asked.len()), asked + 1, "{is_bound}");
    }
}
