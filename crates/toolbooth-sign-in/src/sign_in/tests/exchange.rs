//! Machines that act for a person whose token they have (RFC 8693): who may, what their tokens may do, and when they end.

use base64ct::{Base64UrlUnpadded, Encoding};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::harness::{
    Browser, Harness, KEY, RESOURCE, changed, code_fields, request, start, start_with,
};

const GRANT: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
const TYPE: &str = "urn:ietf:params:oauth:token-type:access_token";

fn entry(name: &str, key: &str, more: Value) -> Value {
    let hash: String = Sha256::digest(key).iter().map(|byte| format!("{byte:02x}")).collect();
    let mut entry = json!({"name": name, "scopes": [], "hash": hash});
    entry.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    entry
}

/// The entries: the key that the person types, a machine that may act, and one that may not.
fn entries(person: Value, robot: Value) -> String {
    json!([
        entry("Calendar", KEY, person),
        entry("Robot", "robot-key", robot),
        entry("Plain", "plain-key", json!({}))
    ])
    .to_string()
}

fn usual() -> String {
    entries(json!({"scopes": ["*"]}), json!({"may_act": ["echo:a"]}))
}

fn start_as(entries: &str) -> Harness {
    start_with(&[("API_KEYS", entries)], |request| panic!("{}", request.url))
}

/// The token of a client that a person has connected, with the client's id.
fn person(harness: &Harness, scope: &str) -> (String, String) {
    let client = harness.client();
    let asked = changed(request(&client.id), &[("scope", scope)]);
    let code = Browser::default().code(harness, &asked);
    let (status, tokens) = harness.token(&code_fields(&client.id, &code));
    assert_eq!(status, 200, "{tokens}");
    (tokens["access_token"].as_str().unwrap().to_owned(), client.id)
}

/// An exchange by `Robot`, with changes; empty fields are left out.
fn exchange(harness: &Harness, token: &str, changes: &[(&str, &str)]) -> (u16, Value) {
    let usual = [
        ("grant_type", GRANT),
        ("client_id", "Robot"),
        ("client_secret", "robot-key"),
        ("subject_token", token),
        ("subject_token_type", TYPE),
    ];
    let is_usual = |(name, _): &(&str, &str)| changes.iter().all(|(other, _)| other != name);
    let all: Vec<_> = usual.into_iter().filter(is_usual).chain(changes.iter().copied()).collect();
    let all: Vec<_> = all.into_iter().filter(|(_, value)| !value.is_empty()).collect();
    harness.token(&all)
}

fn result((status, body): &(u16, Value)) -> String {
    match body["error"].as_str() {
        Some(error) => format!("{error} {status}"),
        None => body["scope"].as_str().unwrap().to_owned(),
    }
}

fn access(response: &(u16, Value)) -> String {
    assert_eq!(response.0, 200, "{}", response.1);
    response.1["access_token"].as_str().unwrap().to_owned()
}

#[test]
fn which_exchanges_are_rejected() {
    const BAD: &str = "invalid_request 400";
    let harness = start_as(&usual());
    let (token, _) = person(&harness, "echo:a echo:b");
    let delegated = access(&exchange(&harness, &token, &[]));
    let machine = harness.token(&[
        ("grant_type", "client_credentials"),
        ("client_id", "Plain"),
        ("client_secret", "plain-key"),
    ]);
    let machine = access(&machine);
    let forged = format!("{}A", token.rsplit_once('.').unwrap().0);
    for (what, changes, expected) in [
        ("a good one", &[][..], "echo:a"),
        ("with its resource", &[("resource", RESOURCE), ("audience", RESOURCE)], "echo:a"),
        (
            "with two audiences",
            &[("audience", RESOURCE), ("audience", "https://tools.example")],
            "echo:a",
        ),
        ("as it may be written", &[("audience", "HTTPS://TOOLS.example/mcp")], "echo:a"),
        ("with the type of the issued token", &[("requested_token_type", TYPE)], "echo:a"),
        ("a scope that the client may not use", &[("scope", "echo:b")], "invalid_scope 400"),
        ("one that it may and one that it may not", &[("scope", "echo:a echo:b")], "echo:a"),
        (
            "a client without may_act",
            &[("client_id", "Plain"), ("client_secret", "plain-key")],
            "unauthorized_client 400",
        ),
        ("a wrong key", &[("client_secret", "wrong")], "invalid_client 401"),
        ("no key", &[("client_secret", "")], "invalid_client 401"),
        ("no token", &[("subject_token", "")], BAD),
        ("no type", &[("subject_token_type", "")], BAD),
        (
            "a different type",
            &[("subject_token_type", "urn:ietf:params:oauth:token-type:id_token")],
            BAD,
        ),
        (
            "a different type to issue",
            &[("requested_token_type", "urn:ietf:params:oauth:token-type:refresh_token")],
            BAD,
        ),
        ("an actor that is not the client", &[("actor_token", &token)], BAD),
        ("the type of such an actor", &[("actor_token_type", TYPE)], BAD),
        ("a different audience", &[("audience", "https://other.example")], "invalid_target 400"),
        (
            "two audiences, one different",
            &[("audience", RESOURCE), ("audience", "https://other.example")],
            "invalid_target 400",
        ),
        ("a different resource", &[("resource", "https://other.example")], "invalid_target 400"),
        ("a forged token", &[("subject_token", &forged)], BAD),
        ("nonsense", &[("subject_token", "x")], BAD),
        ("an API key", &[("subject_token", KEY)], BAD),
        ("the token of an actor", &[("subject_token", &delegated)], BAD),
        ("the token of a machine", &[("subject_token", &machine)], BAD),
    ] {
        assert_eq!(result(&exchange(&harness, &token, changes)), expected, "{what}");
    }
    harness.wait(3_600_000);
    assert_eq!(result(&exchange(&harness, &token, &[])), BAD, "it has expired");
    // Without configuration it does not exist.
    let harness = start();
    let (token, _) = person(&harness, "");
    assert_eq!(result(&exchange(&harness, &token, &[])), "unsupported_grant_type 400");
}

#[test]
fn the_token_names_both_and_so_does_the_log() {
    let harness = start_as(&usual());
    let (token, _) = person(&harness, "echo:a");
    harness.wait(600_000);
    let sent = exchange(&harness, &token, &[]);
    let (body, exchanged) = (&sent.1, access(&sent));
    assert_eq!((&body["issued_token_type"], &body["token_type"]), (&json!(TYPE), &json!("Bearer")));
    assert!(body.get("refresh_token").is_none());
    assert!(
        body["expires_in"].as_u64().is_some_and(|it| it <= 3000),
        "not longer than the other: {body}"
    );
    let part = Base64UrlUnpadded::decode_vec(exchanged.split('.').nth(1).unwrap()).unwrap();
    let claims: Value = serde_json::from_slice(&part).unwrap();
    assert_eq!(claims["sub"], "api-key:Calendar");
    assert_eq!(
        (&claims["act"], &claims["client_id"]),
        (&json!({"sub": "client.Robot"}), &json!("Robot"))
    );
    assert_eq!(harness.call(&exchanged), 200);
    let lines: Vec<Value> = harness
        .host
        .lines
        .borrow()
        .iter()
        .map(|(_, line)| serde_json::from_str(line).unwrap())
        .collect();
    let caller = lines.iter().find(|it| it["event"] == "signed_in").unwrap()["caller"].clone();
    let of_robot: Vec<_> = lines.iter().filter(|it| it["actor"] == "key:Robot").collect();
    assert_eq!(
        of_robot.iter().map(|it| &it["event"]).collect::<Vec<_>>(),
        ["tokens_issued", "call"]
    );
    assert!(of_robot.iter().all(|it| it["caller"] == caller), "{of_robot:?}");
}

#[test]
fn an_exchanged_token_ends_with_either_of_them() {
    let person_gone =
        entries(json!({"scopes": ["*"], "hash": "0".repeat(64)}), json!({"may_act": ["echo:a"]}));
    for (now, status) in [
        (usual(), 200),
        (entries(json!({"scopes": []}), json!({"may_act": ["echo:a"]})), 200),
        (entries(json!({"scopes": ["*"]}), json!({"may_act": []})), 200),
        (entries(json!({"scopes": ["*"]}), json!({"may_act": ["echo:a"], "tools": []})), 400),
        (entries(json!({"scopes": ["*"]}), json!({})), 401),
        (
            entries(
                json!({"scopes": ["*"]}),
                json!({"may_act": ["echo:a"], "hash": "1".repeat(64)}),
            ),
            401,
        ),
        (person_gone, 401),
    ] {
        let mut harness = start_as(&usual());
        let (token, _) = person(&harness, "echo:a");
        let exchanged = access(&exchange(&harness, &token, &[]));
        harness.restart(&[("API_KEYS", &now)]);
        assert_eq!(harness.call(&exchanged), status, "{now}");
    }
    // When the person's client is disconnected, the token that was exchanged ends too; the actor cannot disconnect the client.
    let harness = start_as(&usual());
    let (token, client) = person(&harness, "echo:a");
    let exchanged = access(&exchange(&harness, &token, &[]));
    let own = [("client_id", "Robot"), ("client_secret", "robot-key"), ("token", &*exchanged)];
    assert_eq!(harness.form("/oauth/revoke", &[], &own).0, 200);
    harness.wait(61_000);
    assert_eq!(harness.call(&token), 200);
    assert_eq!(
        harness.form("/oauth/revoke", &[], &[("client_id", &client), ("token", &token)]).0,
        200
    );
    harness.wait(61_000);
    assert_eq!((harness.call(&token), harness.call(&exchanged)), (401, 401));
    assert_eq!(result(&exchange(&harness, &token, &[])), "invalid_request 400");
}

#[test]
fn the_team_of_an_actor_holds_for_its_calls() {
    let entries = entries(json!({"scopes": ["*"]}), json!({"may_act": ["*"]}));
    for (more, scopes, status) in [
        (json!({}), "echo:a echo:b", 200),
        (json!({"scopes": ["echo:b"]}), "echo:b", 200),
        (json!({"tools": ["Echo.*"]}), "echo:a echo:b", 200),
        (json!({"tools": []}), "echo:a echo:b", 400),
    ] {
        let mut team = json!({"name": "agents", "rules": ["key:Robot"]});
        team.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let teams = json!([team]).to_string();
        let mut harness = start_as(&entries);
        let (token, _) = person(&harness, "echo:a echo:b");
        harness.restart(&[("TEAMS", &teams)]);
        let sent = exchange(&harness, &token, &[]);
        assert_eq!(result(&sent), scopes, "{more}");
        assert_eq!([harness.call(&token), harness.call(&access(&sent))], [200, status], "{more}");
    }
}
