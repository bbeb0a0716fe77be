//! Rotation of refresh tokens, and revocation.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::code;
use super::harness::{Browser, Harness, Registered, changed, request, start};
use toolbooth::host::LEDGER;
use toolbooth::testing::STALE_MS;

fn granted(harness: &Harness, client: &Registered) -> Value {
    let (status, tokens) = harness.exchange(client, &code(harness, client));
    assert_eq!(status, 200, "{tokens}");
    tokens
}

fn refreshed(harness: &Harness, client: &Registered, tokens: &Value) -> Result<Value, Value> {
    // A key of the store takes one write per second.
    harness.wait(1_500);
    let (status, tokens) = harness.refresh(client, tokens["refresh_token"].as_str().unwrap());
    if status == 200 { Ok(tokens) } else { Err(tokens["error"].clone()) }
}

/// Several processes share a token, or responses are lost: however late one comes, it gets the same successor, until that is used.
#[test]
fn a_token_works_until_its_successor_is_used() {
    const MINUTE: u64 = 60_000;
    for (auth_method, is_bound) in [
        ("none", false),
        ("none", true),
        ("client_secret_post", false),
        ("client_secret_post", true),
    ] {
        let mut harness = start();
        harness.host.bindings.extend(is_bound.then_some(LEDGER));
        let client = harness.client_of(auth_method);
        let mut tokens = granted(&harness, &client);
        // At noon, because a token is valid for whole days.
        let day = 24 * 60 * MINUTE;
        harness.wait(day - harness.host.now_ms.get() % day + day / 2);
        for pauses in [&[0, 0, 0][..], &[6, 60], &[], &[301, 0]] {
            let next = refreshed(&harness, &client, &tokens).unwrap();
            for minutes in pauses {
                harness.wait(minutes * MINUTE);
                harness.restart(&[]);
                let again = refreshed(&harness, &client, &tokens).expect("its successor is unused");
                assert_eq!(
                    again["refresh_token"], next["refresh_token"],
                    "{auth_method} {minutes}"
                );
            }
            let days = 30 * day;
            harness.wait(if pauses.is_empty() { days } else { 0 });
            refreshed(&harness, &client, &tokens).expect("the laptop slept for a month");
            tokens = next;
        }
    }
}

#[test]
fn processes_that_share_tokens() {
    // Who uses the token that they got last, in turn.
    for (turns, ends) in [
        ("ab ab ab ab", None),
        ("ab ba ab ba", None),
        ("aab", Some(2)),
        ("ab aab", Some(4)),
        ("abcdef fedcba", None),
        ("aabb", Some(2)),
        ("ab bb a", Some(4)),
    ] {
        for is_bound in [false, true] {
            let mut harness = start();
            harness.host.bindings.extend(is_bound.then_some(LEDGER));
            let client = harness.client();
            let first = granted(&harness, &client);
            let mut held: BTreeMap<char, Value> = BTreeMap::new();
            for (turn, process) in turns.chars().filter(|it| *it != ' ').enumerate() {
                let token = held.get(&process).unwrap_or(&first);
                let next = refreshed(&harness, &client, token);
                let is_over = ends.is_some_and(|end| end <= turn);
                assert_eq!(next.is_err(), is_over, "{turns} {turn} {is_bound}");
                held.extend(next.ok().map(|next| (process, next)));
            }
        }
    }
}

#[test]
fn a_connection_ends_however_often_it_is_refreshed() {
    const DAY_MS: u64 = 86_400_000;
    for (variables, days) in [(&[][..], 180), (&[("SIGN_IN_CONNECTION_DAYS", "10")], 10)] {
        let mut harness = start();
        harness.restart(variables);
        let client = harness.client();
        let mut tokens = granted(&harness, &client);
        for _ in 0..9 {
            harness.wait(days * DAY_MS / 10);
            tokens = refreshed(&harness, &client, &tokens).unwrap();
        }
        harness.wait(days * DAY_MS / 10);
        assert_eq!(refreshed(&harness, &client, &tokens), Err(json!("invalid_grant")), "{days}");
    }
}

#[test]
fn a_token_that_was_replaced_ends_the_grant() {
    // The client goes on, and then a thief comes with the first token; or the other way round.
    let harness = start();
    let client = harness.client();
    let first = granted(&harness, &client);
    let second = refreshed(&harness, &client, &first).unwrap();
    let third = refreshed(&harness, &client, &second).unwrap();
    assert_eq!(refreshed(&harness, &client, &first), Err(json!("invalid_grant")));
    assert_eq!(refreshed(&harness, &client, &third), Err(json!("invalid_grant")));
}

#[test]
fn a_store_that_is_behind_detects_reuse_later() {
    let mut harness = start();
    let client = harness.client();
    let first = granted(&harness, &client);
    let second = refreshed(&harness, &client, &first).unwrap();
    // A location whose cache has the first mark.
    harness.restart(&[]);
    harness.host.store.location.set(1);
    refreshed(&harness, &client, &first).unwrap();
    harness.host.store.location.set(0);
    harness.restart(&[]);
    let third = refreshed(&harness, &client, &second).unwrap();
    harness.host.store.location.set(1);
    harness.restart(&[]);
    refreshed(&harness, &client, &first).expect("its cache is a minute old");
    harness.wait(STALE_MS);
    harness.restart(&[]);
    assert_eq!(refreshed(&harness, &client, &first), Err(json!("invalid_grant")));
    harness.host.store.location.set(2);
    assert_eq!(refreshed(&harness, &client, &third), Err(json!("invalid_grant")));
}

#[test]
fn consenting_again_ends_no_other_installation() {
    let harness = start();
    let client = harness.client();
    let (one, other) = (granted(&harness, &client), granted(&harness, &client));
    let one = refreshed(&harness, &client, &one).unwrap();
    let other = refreshed(&harness, &client, &other).unwrap();
    let token = one["refresh_token"].as_str().unwrap();
    let fields = [("token", token), ("client_id", &*client.id)];
    assert_eq!(harness.form("/oauth/revoke", &[], &fields).0, 200);
    assert_eq!(refreshed(&harness, &client, &one), Err(json!("invalid_grant")));
    refreshed(&harness, &client, &other).unwrap();
}

#[test]
fn revocation() {
    let harness = start();
    let (client, other_client) = (harness.client(), harness.client());
    let tokens = granted(&harness, &client);
    let revoke = |token: &str, client: &Registered| {
        let fields = [("token", token), ("client_id", &*client.id)];
        harness.form("/oauth/revoke", &[], &fields).0
    };
    let refresh_token = tokens["refresh_token"].as_str().unwrap();
    assert_eq!(revoke("unknown", &client), 200);
    assert_eq!(revoke(refresh_token, &other_client), 200, "it does not learn whose it is");
    let tokens = refreshed(&harness, &client, &tokens).expect("and it revokes nothing");
    let access_token = tokens["access_token"].as_str().unwrap();
    assert_eq!(revoke(access_token, &other_client), 200);
    let tokens = refreshed(&harness, &client, &tokens).unwrap();
    // An hour, and what clocks may differ.
    harness.wait(3_600_000 + 30_000);
    assert_eq!(revoke(access_token, &client), 200, "an expired token is worth nothing");
    let tokens = refreshed(&harness, &client, &tokens).expect("and it revokes nothing");
    let access_token = tokens["access_token"].as_str().unwrap();
    harness.wait(3_600_000);
    assert_eq!(revoke(access_token, &client), 200);
    assert_eq!(refreshed(&harness, &client, &tokens), Err(json!("invalid_grant")));
    assert_eq!(revoke(access_token, &Registered { id: "x".to_owned(), secret: None }), 401);
    harness.host.store.fails_writes.set(true);
    let other = granted_without_store(&harness, &client);
    assert_eq!(revoke(&other, &client), 503);
}

/// An access token that was issued before the store failed.
fn granted_without_store(harness: &Harness, client: &Registered) -> String {
    harness.host.store.fails_writes.set(false);
    let tokens = granted(harness, client);
    harness.host.store.fails_writes.set(true);
    tokens["access_token"].as_str().unwrap().to_owned()
}

#[test]
fn access_tokens_end_with_their_grant() {
    // An instance asks the store once a minute, and the store may be a minute behind.
    for (restarts, minutes) in [(false, 1), (true, 0)] {
        let mut harness = start();
        let client = harness.client();
        let tokens = [(); 2].map(|()| granted(&harness, &client));
        let [access, other] = tokens.each_ref().map(|it| it["access_token"].as_str().unwrap());
        let fields = [("token", access), ("client_id", &*client.id)];
        assert_eq!([harness.call(access), harness.call(other)], [200, 200]);
        if restarts {
            harness.host.store.location.set(1);
            harness.restart(&[]);
        }
        assert_eq!(harness.form("/oauth/revoke", &[], &fields).0, 200);
        harness.wait(minutes * 60_000);
        assert_eq!([harness.call(access), harness.call(other)], [401, 200], "{restarts}");
        harness.host.store.location.set(0);
        harness.restart(&[]);
        harness.wait(STALE_MS);
        assert_eq!([harness.call(access), harness.call(other)], [401, 200], "{restarts}");
        // Calls do not depend on the store.
        harness.host.store.fails_reads_of.set(Some("revoked:"));
        harness.wait(STALE_MS);
        assert_eq!(harness.call(other), 200, "{restarts}");
    }
}

#[test]
fn scopes_of_a_refresh() {
    let harness = start();
    let client = harness.client();
    let tokens = granted(&harness, &client);
    let refresh = |scope: &str| {
        harness.wait(1_500);
        harness.token(&[
            ("grant_type", "refresh_token"),
            ("client_id", &client.id),
            ("refresh_token", tokens["refresh_token"].as_str().unwrap()),
            ("scope", scope),
        ])
    };
    for (scope, expected) in [
        ("echo:a", Ok("echo:a")),
        // It was not requested before.
        ("echo:a offline_access", Ok("echo:a")),
        // What an authorization request leaves out is left out here too.
        ("echo:a echo:b", Ok("echo:a")),
        ("openid profile echo:a offline_access", Ok("echo:a")),
        (" echo:a  unknown", Ok("echo:a")),
        ("echo:b", Err("invalid_scope")),
        ("openid", Err("invalid_scope")),
        ("profile", Err("invalid_scope")),
        ("*", Err("invalid_scope")),
        (" ", Err("invalid_scope")),
    ] {
        let (status, body) = refresh(scope);
        match expected {
            Ok(granted) => assert_eq!((status, &body["scope"]), (200, &json!(granted)), "{scope}"),
            Err(error) => assert_eq!((status, &body["error"]), (400, &json!(error)), "{scope}"),
        }
    }
}

/// Authlib repeats the scopes of the authorization request.
#[test]
fn the_list_of_the_authorization_request_can_be_repeated() {
    let harness = start();
    let client = harness.client();
    for scope in [
        "openid profile echo:a offline_access",
        "openid profile",
        "profile",
        "echo:b",
        "echo:a echo:b unknown",
        "offline_access",
        "gateway echo:a",
    ] {
        let parameters = changed(request(&client.id), &[("scope", scope)]);
        let code = Browser::default().code(&harness, &parameters);
        let (_, tokens) = harness.exchange(&client, &code);
        let fields = [
            ("grant_type", "refresh_token"),
            ("client_id", &*client.id),
            ("refresh_token", tokens["refresh_token"].as_str().unwrap()),
            ("scope", scope),
        ];
        let (status, refreshed) = harness.token(&fields);
        assert_eq!((status, &refreshed["scope"]), (200, &tokens["scope"]), "{scope}");
    }
}

/// RFC 6749, 3.3 and 5.1: `scope` has what was requested and granted.
#[test]
fn the_scope_of_tokens_has_offline_access_if_the_client_has_requested_it() {
    let harness = start();
    let client = harness.client();
    for (requested, granted, narrower, refreshed) in [
        ("", "echo:a", "offline_access", ""),
        ("echo:a", "echo:a", "echo:a offline_access", "echo:a"),
        ("echo:a echo:b", "echo:a", "echo:a", "echo:a"),
        ("echo:a offline_access", "echo:a offline_access", "echo:a", "echo:a"),
        ("echo:a offline_access", "echo:a offline_access", "offline_access", "offline_access"),
        ("offline_access", "offline_access", "offline_access", "offline_access"),
    ] {
        let parameters = changed(request(&client.id), &[("scope", requested)]);
        let code = Browser::default().code(&harness, &parameters);
        let (_, tokens) = harness.exchange(&client, &code);
        assert_eq!(tokens["scope"], granted, "{requested}");
        let token = tokens["refresh_token"].as_str().unwrap();
        assert_eq!(harness.refresh(&client, token).1["scope"], granted, "{requested}");
        harness.wait(1_500);
        let fields = [
            ("grant_type", "refresh_token"),
            ("client_id", &*client.id),
            ("refresh_token", token),
            ("scope", narrower),
        ];
        let (status, tokens) = harness.token(&fields);
        assert_eq!((status, &tokens["scope"]), (200, &json!(refreshed)), "{requested} {narrower}");
    }
}

#[test]
fn who_gets_a_refresh_token() {
    let harness = start();
    for (grants, scope, expected) in [
        (json!(["authorization_code", "refresh_token"]), "echo:a", true),
        (json!(["authorization_code"]), "echo:a", false),
        (json!(["authorization_code"]), "echo:a offline_access", true),
        (json!(["authorization_code"]), "", false),
        (json!(null), "", true),
    ] {
        let (_, body) = harness.register(&json!({"redirect_uris": [super::REDIRECT],
            "token_endpoint_auth_method": "none", "grant_types": grants}));
        let id = body["client_id"].as_str().unwrap().to_owned();
        let client = Registered { id, secret: None };
        let parameters = changed(request(&client.id), &[("scope", scope)]);
        let code = Browser::default().code(&harness, &parameters);
        let (_, tokens) = harness.exchange(&client, &code);
        assert_eq!(tokens.get("refresh_token").is_some(), expected, "{grants} {scope}");
    }
}

#[test]
fn a_new_state_key() {
    const NEW: &str = "fedcba9876543210fedcba9876543210";
    let mut harness = start();
    let client = harness.client_of("client_secret_post");
    let secret = client.secret.clone().unwrap();
    let code = code(&harness, &client);
    let with_secret = |fields: &[(&'static str, &str)]| {
        let secret = [("client_secret", secret.as_str())];
        let all = fields.iter().chain(&secret);
        all.map(|(name, value)| (*name, (*value).to_owned())).collect::<Vec<_>>()
    };
    let send = |harness: &Harness, fields: Vec<(&'static str, String)>| {
        harness.wait(1_500);
        let fields: Vec<_> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
        harness.token(&fields)
    };
    let (status, tokens) = send(&harness, with_secret(&super::code_fields(&client.id, &code)));
    assert_eq!(status, 200, "{tokens}");
    harness
        .restart(&[("STATE_KEY", NEW), ("STATE_KEY_PREVIOUS", "0123456789abcdef0123456789abcdef")]);
    assert_eq!(harness.call(tokens["access_token"].as_str().unwrap()), 200);
    let refresh = |token: &Value| {
        with_secret(&[
            ("grant_type", "refresh_token"),
            ("client_id", &client.id),
            ("refresh_token", token["refresh_token"].as_str().unwrap()),
        ])
    };
    let (status, second) = send(&harness, refresh(&tokens));
    assert_eq!(status, 200, "{second}");
    let (status, third) = send(&harness, refresh(&second));
    assert_eq!(status, 200, "{third}");
    assert_eq!(send(&harness, refresh(&tokens)).0, 400, "it was replaced");
    harness.restart(&[("STATE_KEY_PREVIOUS", "")]);
    let (status, body) = send(&harness, refresh(&third));
    assert_eq!((status, &body["error"]), (401, &json!("invalid_client")), "clients register again");
}
