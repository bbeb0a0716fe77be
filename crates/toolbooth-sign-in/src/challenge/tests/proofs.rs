//! The proof that the check gives out, and a call that brings it.

use pollster::block_on;
use serde_json::{Value, json};

use super::*;
use toolbooth::host::Store;
use toolbooth::testing::ready;

/// The authorization that a client sends.
fn with(token: &str) -> Value {
    json!([{"id": "mail", "token": token}])
}

pub(super) fn call(harness: &Harness, user: &str, token: &str) -> (u16, Value) {
    block_on(harness.call_with(&harness.instance(), &[], (user, "token", with(token))))
}

/// A proof of ada's grant, from a place that sees it.
fn proof(harness: &Harness, asked: &InputRequired) -> String {
    harness.host.store.location.set(9);
    let check = harness.check(asked);
    harness.host.store.location.set(0);
    assert_eq!(check["status"], "completed");
    check["proof"].as_str().unwrap().to_owned()
}

#[test]
fn x21_a_retry_after_completion_works_where_the_store_is_a_minute_behind() {
    let harness = start();
    let asked = harness.challenge();
    assert!(harness.check(&asked)["proof"].is_null(), "there is nothing to prove");
    complete(&harness, &asked, &Browser::default());
    let proof = proof(&harness, &asked);
    // The first call has left a miss here.
    assert_eq!(harness.call_for("ada", "token").0, 400, "without the proof");
    let (status, body) = call(&harness, "ada", &proof);
    assert_eq!((status, body["value"].as_str()), (200, Some("access-1")), "{body}");
    // A service may reject it like any token: the user is then asked for a new grant.
    let revoked = ("ada", "revoked", with(&proof));
    let (status, body) = block_on(harness.call_with(&harness.instance(), &[], revoked));
    let again = &body["missing_requirements"]["authorization"][0];
    assert_eq!(status, 400, "{body}");
    let again = InputRequired {
        url: String::new(),
        check_url: again["check_url"].as_str().unwrap().into(),
    };
    harness.wait(STALE_MS);
    assert_eq!(harness.status(&again), "pending");
    assert!(!harness.log().contains("access-1"));
}

#[test]
fn a_proof_is_a_handle_that_says_nothing() {
    let harness = start();
    let asked = harness.challenge();
    complete(&harness, &asked, &Browser::default());
    let proof = proof(&harness, &asked);
    let handle = proof.strip_prefix("toolbooth-proof.").unwrap();
    assert_eq!(handle.len(), 43, "a hash: {handle}");
    let values = format!("{:?}", harness.host.store.values());
    assert!(!values.contains(handle), "nor can it be found in the store");
    // Every challenge that the grant completes gets the same, without a write.
    let second = harness.challenge();
    harness.host.store.operations.take();
    assert_eq!(self::proof(&harness, &second), proof);
    assert!(
        harness.host.store.operations.take().iter().all(|operation| operation.starts_with("get "))
    );
    // Only the grant contains the refresh token.
    for (key, value) in harness.host.store.values() {
        let grant = String::from_utf8(grant_keys().open(&key, &value).unwrap()).unwrap();
        assert_eq!(grant.contains("refresh-1"), key.starts_with("grant:"), "{key}: {grant}");
    }
}

#[test]
fn a_proof_that_cannot_be_read_costs_a_minute_and_nothing_else() {
    let harness = start();
    let asked = harness.challenge();
    complete(&harness, &asked, &Browser::default());
    let proof = proof(&harness, &asked);
    harness.host.store.fails_reads_of.set(Some("proof:"));
    let (status, body) = call(&harness, "ada", &proof);
    assert_eq!(status, 400, "{body}");
    let again = &body["missing_requirements"]["authorization"][0]["check_url"];
    let again = InputRequired { url: String::new(), check_url: again.as_str().unwrap().to_owned() };
    harness.host.store.fails_reads_of.set(None);
    harness.wait(STALE_MS);
    assert_eq!(harness.status(&again), "completed", "without any action of the user");
    assert_eq!(call(&harness, "ada", &proof).0, 200);
}

#[test]
fn a_proof_ends_with_the_grant() {
    let harness = start();
    let asked = harness.challenge();
    complete(&harness, &asked, &Browser::default());
    let proof = proof(&harness, &asked);
    assert_eq!(call(&harness, "ada", &proof).0, 200);
    harness.wait(2_000);
    harness.host.store.location.set(9);
    let deleted = harness.ask(("DELETE", "/auth/grants/mail?user_id=ada"), &[], "");
    assert_eq!(deleted.status, 204);
    harness.host.store.location.set(5);
    assert_eq!(call(&harness, "ada", &proof).0, 400, "where it was never read before");
    harness.host.store.location.set(0);
    harness.wait(STALE_MS - 2_000);
    assert_eq!(call(&harness, "ada", &proof).0, 400, "everywhere, a minute after the last look");
}

#[test]
fn proofs_that_do_not_count() {
    const TWO: &str = r#"[
        {"name":"Calendar","scopes":[],"hash":"e8b18fbe02fad6aa9ce82b235322e7c10196478f011f9f8617b1b75d6db57961"},
        {"name":"Other","scopes":[],"hash":"9b346041bc9a49574eb2665b2ad2a0a3f9f9cce4e42f5d1f26deb8a256b5966a"}]"#;
    let harness = start_with(&[("API_KEYS", TWO)]);
    let asked = harness.challenge();
    complete(&harness, &asked, &Browser::default());
    let proof = proof(&harness, &asked);
    let stored = harness.host.store.values();
    let (key, sealed) = stored.iter().find(|(key, _)| key.starts_with("proof:")).unwrap();
    let at = proof.len() - 5;
    let changed =
        format!("{}{}", &proof[..at], if &proof[at..] == "AAAAA" { "BBBBB" } else { "AAAAA" });
    let other: &[(&str, &str)] = &[("oxp-api-key", "key-one")];
    for (what, headers, user, token) in [
        ("another user", &[][..], "bob", &*proof),
        ("another application", other, "ada", &proof),
        ("changed", &[], "ada", &changed),
        ("cut off", &[], "ada", &proof[..40]),
        ("nothing but the beginning", &[], "ada", "toolbooth-proof."),
        ("the stored value", &[], "ada", &format!("toolbooth-proof.{sealed}")),
        ("its key there", &[], "ada", &key.replace("proof:", "toolbooth-proof.")),
    ] {
        let call = (user, "token", with(token));
        let (status, body) = block_on(harness.call_with(&harness.instance(), headers, call));
        assert_eq!(status, 400, "{what}: {body}");
        let challenge = &body["missing_requirements"]["authorization"][0]["url"];
        assert!(challenge.is_string(), "{what}: the user is asked: {body}");
    }
    assert_eq!(call(&harness, "ada", &proof).0, 200, "it is good all the time");
    // Five minutes later the store must know, and a proof helps no longer where it does not.
    let grant = stored.keys().find(|key| key.starts_with("grant:")).unwrap();
    harness.wait(1_000);
    ready(harness.host.delete(grant)).unwrap();
    harness.wait(297_000);
    assert_eq!(call(&harness, "ada", &proof).0, 200);
    harness.wait(2_000);
    assert_eq!(call(&harness, "ada", &proof).0, 400, "over");
}

#[test]
fn a_proof_lives_no_longer_than_its_token() {
    let harness = start();
    upstream(|server| server.expires_in = Some(30));
    let asked = harness.challenge();
    complete(&harness, &asked, &Browser::default());
    let proof = proof(&harness, &asked);
    assert_eq!(call(&harness, "ada", &proof).0, 200);
    harness.wait(30_000);
    assert_eq!(call(&harness, "ada", &proof).0, 400, "here the grant is not seen yet");
    harness.host.store.location.set(8);
    let check = harness.check(&asked);
    assert_eq!((check["status"].as_str(), check.get("proof")), (Some("completed"), None));
    assert_eq!(harness.given_token(), "access-2", "a call refreshes it");
}

#[test]
fn where_the_provider_is_not_configured_a_proof_is_no_token() {
    let mut harness = start();
    let asked = harness.challenge();
    complete(&harness, &asked, &Browser::default());
    let proof = proof(&harness, &asked);
    harness.host.variables.remove("OAUTH_PROVIDERS");
    let (status, body) = call(&harness, "ada", &proof);
    assert_eq!(status, 400, "it would go to the service: {body}");
}
