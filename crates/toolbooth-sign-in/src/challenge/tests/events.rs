//! Tests of the events that a flow logs.

use serde_json::{Value, json};

use super::deletion::{HOUR, PATH, REVOKE, granted_for_an_hour};
use super::*;
use toolbooth::host::Level;

/// The events since the last call, except calls: the whole lines without caller and provider, which are the same
/// in all.
fn events(harness: &Harness) -> Vec<String> {
    let lines = harness.host.lines.take();
    let read = |(level, line): (Level, String)| {
        for secret in ["access-", "refresh-", "ada", "code-", "calendar-key", "auth/"] {
            assert!(!line.contains(secret), "{secret} is in the log: {line}");
        }
        let line: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(line["caller"], "key:Calendar", "{line}");
        if line["event"] == "call" {
            return None;
        }
        assert_eq!((level, &line["provider"]), (Level::Info, &json!("mail")), "{line}");
        Some(line["event"].as_str().unwrap().to_owned())
    };
    lines.into_iter().filter_map(read).collect()
}

#[test]
fn the_life_of_a_grant_is_logged() {
    let harness = granted_for_an_hour(&[REVOKE]);
    assert_eq!(events(&harness), ["challenge_issued", "grant_created"]);
    assert_eq!(harness.given_token(), "access-1");
    assert_eq!(events(&harness), <[String; 0]>::default());
    harness.wait(HOUR);
    assert_eq!(harness.given_token(), "access-2");
    assert_eq!(events(&harness), ["grant_refreshed"]);
    harness.wait(STALE_MS);
    assert_eq!(harness.ask(("DELETE", PATH), &[], "").status, 204);
    assert_eq!(events(&harness), ["grant_deleted", "grant_revoked"]);
    harness.wait(STALE_MS);
    assert_eq!(harness.ask(("DELETE", PATH), &[], "").status, 204);
    assert_eq!(events(&harness), <[String; 0]>::default(), "there was no grant");
}

#[test]
fn a_provider_that_does_not_revoke_is_not_an_event() {
    let harness = granted_for_an_hour(&[REVOKE]);
    events(&harness);
    upstream(|server| server.revocation_status = Some(503));
    assert_eq!(harness.ask(("DELETE", PATH), &[], "").status, 204);
    assert_eq!(events(&harness), ["grant_deleted"]);
}

#[test]
fn a_token_that_a_service_rejects_issues_a_challenge() {
    let harness = granted_for_an_hour(&[]);
    events(&harness);
    harness.challenge_for("ada", "revoked");
    assert_eq!(events(&harness), ["challenge_issued"]);
}
