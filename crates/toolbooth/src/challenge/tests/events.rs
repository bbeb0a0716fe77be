//! Tests of the events that a flow logs.

use serde_json::{Value, json};

use super::deletion::{HOUR, PATH, REVOKE, granted_for_an_hour};
use super::*;
use crate::host::Level;

/// The events since the last call, except calls: the whole lines without caller and provider, which are the same
/// in all.
fn events(world: &World) -> Vec<String> {
    let lines = world.host.lines.take();
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
    let world = granted_for_an_hour(&[REVOKE]);
    assert_eq!(events(&world), ["challenge_issued", "grant_created"]);
    assert_eq!(world.token(), "access-1");
    assert_eq!(events(&world), <[String; 0]>::default());
    world.wait(HOUR);
    assert_eq!(world.token(), "access-2");
    assert_eq!(events(&world), ["grant_refreshed"]);
    world.wait(STALE_MS);
    assert_eq!(world.ask(("DELETE", PATH), &[], "").status, 204);
    assert_eq!(events(&world), ["grant_deleted", "grant_revoked"]);
    world.wait(STALE_MS);
    assert_eq!(world.ask(("DELETE", PATH), &[], "").status, 204);
    assert_eq!(events(&world), <[String; 0]>::default(), "there was no grant");
}

#[test]
fn a_provider_that_does_not_revoke_is_not_an_event() {
    let world = granted_for_an_hour(&[REVOKE]);
    events(&world);
    upstream(|server| server.revocation_status = Some(503));
    assert_eq!(world.ask(("DELETE", PATH), &[], "").status, 204);
    assert_eq!(events(&world), ["grant_deleted"]);
}

#[test]
fn a_token_that_a_service_rejects_issues_a_challenge() {
    let world = granted_for_an_hour(&[]);
    events(&world);
    world.challenge_for("ada", "revoked");
    assert_eq!(events(&world), ["challenge_issued"]);
}
