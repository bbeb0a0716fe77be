//! Tests of the deletion of grants: a deleted grant stays deleted despite concurrent requests, and the provider
//! is notified.

use futures_util::future::join;
use pollster::block_on;

use super::super::Challenges;
use super::super::grant::Grant;
use super::super::owner::Owner;
use super::*;
use crate::oauth::TokenResponse;
use toolbooth::Server;
use toolbooth::host::Store;
use toolbooth::principal::Principal;
use toolbooth::secret::Secret;
use toolbooth::testing::ready;

pub(super) const HOUR: u64 = 3_600_000;
const DAY: u64 = 24 * HOUR;
pub(super) const PATH: &str = "/auth/grants/mail?user_id=ada";
pub(super) const REVOKE: (&str, &str) = ("OAUTH_MAIL_REVOKE_URL", "https://mail.example/revoke");

/// A harness with a grant for an hour, as every reader sees.
pub(super) fn granted_for_an_hour(variables: &[(&str, &str)]) -> Harness {
    let harness = start_with(variables);
    upstream(|server| server.expires_in = Some(3_600));
    granted(&harness);
    harness
}

/// Deletes ada's grant from a place of its own.
fn delete(harness: &Harness) {
    let place = harness.host.store.location.replace(9);
    assert_eq!(harness.ask(("DELETE", PATH), &[], "").status, 204);
    harness.host.store.location.set(place);
}

async fn delete_at(harness: &Harness, server: &Server) -> u16 {
    harness.ask_at(server, ("DELETE", PATH), &[], "").await.status
}

/// Whether calls from any place find no grant, and no challenge completes by itself.
fn is_gone(harness: &Harness) {
    for place in [0, 1, 2, 9] {
        harness.host.store.location.set(place);
        let asked = harness.challenge();
        assert_eq!(harness.status(&asked), "pending", "place {place}");
    }
    harness.host.store.location.set(0);
}

fn issued() -> usize {
    upstream(|server| server.asked.len())
}

#[test]
fn an_unfinished_refresh_does_not_restore_a_deleted_grant() {
    for same_instance in [true, false] {
        let harness = granted_for_an_hour(if same_instance { &[REVOKE] } else { &[] });
        harness.wait(HOUR);
        let server = harness.instance();
        let another = harness.instance();
        let other = if same_instance { &server } else { &another };
        harness.host.upstream_waits.set(true);
        let call = harness.call_at(&server, "ada", "token");
        let deleted = async {
            let status = delete_at(&harness, other).await;
            harness.wait(1_000);
            status
        };
        let ((status, body), deleted) = block_on(join(call, deleted));
        harness.host.upstream_waits.set(false);
        assert_eq!(deleted, 204);
        assert_eq!(issued(), 2, "the refresh came through");
        assert_eq!(status, if same_instance { 400 } else { 200 }, "{body}");
        let revoked = upstream(|server| {
            let mut tokens: Vec<_> =
                server.revoked.iter().filter_map(|it| field(&it.3, "token")).collect();
            tokens.sort();
            tokens
        });
        assert_eq!(revoked, if same_instance { &["refresh-1", "refresh-2"][..] } else { &[] });
        let values = harness.host.store.values();
        let there = values.keys().any(|key| key.starts_with("grant:"));
        assert_eq!(there, !same_instance, "the other instance has written it again");
        harness.wait(STALE_MS);
        is_gone(&harness);
        harness.wait(179 * DAY);
        is_gone(&harness);
    }
}

#[test]
fn a_place_with_an_old_copy_refreshes_it_and_it_stays_deleted() {
    let harness = granted_for_an_hour(&[]);
    harness.wait(HOUR - 5 * 60_000 - STALE_MS - 30_000);
    harness.host.store.location.set(1);
    assert_eq!(
        harness.given_token(),
        "access-1",
        "this place has now read the grant, and no deletion"
    );
    harness.wait(1_000);
    delete(&harness);
    harness.host.store.location.set(2);
    assert_eq!(harness.call_for("ada", "token").0, 400, "gone at once where it was never read");
    harness.host.store.location.set(1);
    harness.wait(58_000);
    assert_eq!(harness.given_token(), "access-2", "within the minute that is promised");
    let written = harness.host.now_ms.get();
    harness.wait(1_000);
    is_gone(&harness);
    // The copy written late ends before the deletion does.
    let end = written + 180 * DAY;
    for now_ms in [end - 10_000, end + 10_000] {
        harness.host.now_ms.set(now_ms);
        is_gone(&harness);
        harness.wait(STALE_MS);
    }
}

#[test]
fn the_user_may_consent_again_at_once() {
    for (knows, wait) in [(true, 1_000), (true, 3_000), (false, 3_000)] {
        let harness = granted_for_an_hour(&[]);
        // Without knowledge of the deletion the challenge comes of another place's old copy.
        if !knows {
            harness.challenge_for("ada", "revoked");
        }
        delete(&harness);
        let input = if knows { "token" } else { "revoked" };
        let asked = harness.challenge_for("ada", input);
        harness.wait(wait);
        complete(&harness, &asked, &Browser::default());
        harness.host.store.location.set(3);
        assert_eq!(harness.given_token(), "access-2", "{knows} {wait}: where it was never read");
        harness.host.store.location.set(0);
        harness.wait(STALE_MS);
        assert_eq!(harness.status(&asked), "completed", "{knows} {wait}");
        assert_eq!(harness.given_token(), "access-2", "{knows} {wait}");
        harness.wait(HOUR);
        assert_eq!(harness.given_token(), "access-3", "a refresh keeps the time of the consent");
    }
}

#[test]
fn clocks_that_differ() {
    // The grant seems to be younger than its deletion, which has not seen it.
    let harness = start();
    let asked = harness.challenge();
    complete(&harness, &asked, &Browser::default());
    harness.host.now_ms.set(harness.host.now_ms.get() - 1_500);
    assert_eq!(harness.ask(("DELETE", PATH), &[], "").status, 204);
    let kept = harness.host.store.values();
    assert!(kept.keys().any(|key| key.starts_with("grant:")), "it was written a moment ago");
    harness.wait(1_500 + STALE_MS);
    is_gone(&harness);
    // The same where it has seen it, by however much the clocks differ.
    let harness = granted_for_an_hour(&[]);
    let back = |ms| harness.host.now_ms.set(harness.host.now_ms.get() - ms);
    let old = harness.host.store.values();
    back(10 * 60_000);
    delete(&harness);
    let (key, sealed) = old.iter().find(|(key, _)| key.starts_with("grant:")).unwrap();
    harness.wait(10 * 60_000);
    ready(harness.host.put(key, sealed, Some(std::time::Duration::from_secs(60)))).unwrap();
    is_gone(&harness);
    // A consent seems to be older than the deletion that it follows: the clock there is ahead.
    let harness = granted_for_an_hour(&[]);
    let stored = harness.host.store.values();
    let (key, _) = stored.iter().find(|(key, _)| key.starts_with("grant:")).unwrap();
    let ahead = (harness.host.now_ms.get() + 30_000).to_string();
    let deleted = key.replace("grant:", "deleted:");
    ready(harness.host.put(&deleted, &ahead, Some(std::time::Duration::from_secs(86_400))))
        .unwrap();
    let asked = harness.challenge();
    complete(&harness, &asked, &Browser::default());
    harness.wait(STALE_MS);
    assert_eq!(harness.status(&asked), "completed");
    assert_eq!(harness.given_token(), "access-2");
}

#[test]
fn a_grant_of_the_version_before_counts_until_it_is_deleted() {
    let harness = granted_for_an_hour(&[]);
    let keys = grant_keys();
    let stored = harness.host.store.values();
    let (key, sealed) = stored.iter().find(|(key, _)| key.starts_with("grant:")).unwrap();
    let mut old: serde_json::Value =
        serde_json::from_slice(&keys.open(key, sealed).unwrap()).unwrap();
    assert!(old.as_object_mut().unwrap().remove("granted_ms").is_some());
    let old = keys.seal(key, old.to_string().as_bytes(), &harness.host).unwrap();
    let put_back = || {
        harness.wait(2_000);
        ready(harness.host.put(key, &old, Some(std::time::Duration::from_secs(180 * 86_400))))
            .unwrap();
    };
    put_back();
    assert_eq!(harness.given_token(), "access-1");
    harness.wait(2_000);
    // The deletion does not see the grant, so that nothing but the default decides.
    ready(harness.host.delete(key)).unwrap();
    harness.wait(2_000);
    delete(&harness);
    put_back();
    harness.wait(STALE_MS);
    is_gone(&harness);
}

/// Stores a grant of ada's at `provider`, and deletes it as she would. Gives what came to be revoked.
fn deleted_at(
    harness: &Harness,
    provider: &str,
    refresh: Option<&str>,
) -> Vec<(String, String, String, String)> {
    let tokens = TokenResponse {
        access: Secret::new("access-1".to_owned()),
        refresh: refresh.map(|it| Secret::new(it.to_owned())),
        expires_in_ms: None,
        scopes: None,
        id_token: None,
    };
    let scopes = toolbooth::principal::Scopes::NONE.clone();
    let owner = Owner::of(&Principal::key("Calendar", scopes), Some("ada"));
    let grant = Grant::new(tokens, &[], None, harness.host.now_ms.get());
    let challenges = {
        let settings = toolbooth::testing::settings(crate::tests::CAPABILITIES, &harness.host);
        Challenges::new(
            settings.extensions.get().unwrap(),
            crate::challenge::verification::Verifiers::default(),
            toolbooth::log::EventLog::new(&settings, &harness.host),
        )
    };
    let owner = owner.unwrap();
    let stored = challenges.grant(&owner, provider, &harness.host);
    ready(stored.save(&grant)).unwrap();
    harness.wait(1_000);
    let path = format!("/auth/grants/{provider}?user_id=ada");
    assert_eq!(harness.ask(("DELETE", &path), &[], "").status, 204);
    assert!(ready(stored.load()).unwrap().is_none());
    upstream(|server| server.revoked.clone())
}

#[test]
fn the_provider_revokes_what_is_deleted() {
    const GITHUB: &[(&str, &str)] = &[
        ("OAUTH_PROVIDERS", "github"),
        ("OAUTH_GITHUB_CLIENT_ID", "booth"),
        ("OAUTH_GITHUB_CLIENT_SECRET", "s&cret"),
        ("OAUTH_GITHUB_REVOKE_URL", "https://mail.example/revoke/{client_id}/grant"),
    ];
    const DISCOVERED: &[(&str, &str)] = &[("OAUTH_MAIL_ISSUER", "https://mail.example")];
    const OWN: &str = "https://mail.example/revoke";
    const BASIC: &str = "Basic Ym9vdGg6cyUyNmNyZXQ=";
    let refresh = Some("refresh-1");
    for (what, variables, endpoint, refresh, expected) in [
        (
            "a variable",
            &[REVOKE][..],
            None,
            refresh,
            Some((
                "POST",
                OWN,
                "",
                "token=refresh-1&token_type_hint=refresh_token\
                 &client_id=booth&client_secret=s%26cret",
            )),
        ),
        (
            "no refresh token",
            &[REVOKE],
            None,
            None,
            Some((
                "POST",
                OWN,
                "",
                "token=access-1&token_type_hint=access_token\
                 &client_id=booth&client_secret=s%26cret",
            )),
        ),
        ("no address", &[], None, refresh, None),
        (
            "discovery",
            DISCOVERED,
            Some(OWN),
            refresh,
            Some(("POST", OWN, BASIC, "token=refresh-1&token_type_hint=refresh_token")),
        ),
        ("discovery without", DISCOVERED, None, refresh, None),
        ("discovery leads astray", DISCOVERED, Some("http://127.0.0.1/revoke"), refresh, None),
        (
            "GitHub",
            GITHUB,
            None,
            refresh,
            Some((
                "DELETE",
                "https://mail.example/revoke/booth/grant",
                "Basic Ym9vdGg6cyZjcmV0",
                r#"{"access_token":"access-1"}"#,
            )),
        ),
    ] {
        let harness = start_with(variables);
        upstream(|server| {
            (server.issuer, server.revocation_endpoint) = ("https://mail.example", endpoint);
        });
        let provider = if what == "GitHub" { "github" } else { "mail" };
        let revoked = deleted_at(&harness, provider, refresh);
        let revoked: Vec<_> = revoked.iter().map(|it| (&*it.0, &*it.1, &*it.2, &*it.3)).collect();
        assert_eq!(revoked, expected.into_iter().collect::<Vec<_>>(), "{what}");
        // A test with GitHub alone has no provider for the tool.
        let log = harness.host.log.borrow();
        assert!(log.iter().all(|line| line.starts_with("Warn configuration")), "{what}: {log:?}");
    }
}

#[test]
fn a_provider_that_does_not_revoke_is_logged_and_the_grant_is_deleted() {
    for (status, down, fault) in [
        (Some(503), false, "it did not revoke a grant"),
        (Some(400), false, "it did not revoke a grant"),
        (None, true, "no response in time"),
    ] {
        let harness = start_with(&[REVOKE]);
        upstream(|server| (server.revocation_status, server.down) = (status, down));
        deleted_at(&harness, "mail", Some("refresh-1"));
        let log = harness.log();
        assert!(log.contains(fault), "{log}");
        assert!(!log.contains("refresh-1") && !log.contains("access-1"), "{log}");
    }
}

#[test]
fn nothing_is_revoked_unless_the_deletion_is_written() {
    let harness = granted_for_an_hour(&[REVOKE]);
    harness.host.store.fails_writes.set(true);
    assert_eq!(harness.ask(("DELETE", PATH), &[], "").status, 400);
    assert!(upstream(|server| server.revoked.is_empty()), "the grant still counts");
    assert_eq!(harness.given_token(), "access-1");
}
