//! Clients that act for themselves: the entries of `API_KEYS`, with their key as the secret or with public keys. Real signatures are
//! in tests/machines.test.mjs.

use std::cell::Cell;

use base64ct::{Base64, Base64UrlUnpadded, Encoding};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::harness::{Harness, KEY, ORIGIN, RESOURCE, json as json_of, start, start_with};
use toolbooth::host::{HttpResponse, SignatureAlgorithm};
use toolbooth::testing::fake_signature;

const ROBOT_KEY: &str = "robot-key";

/// An entry of `API_KEYS` with this key and further members.
fn entry(name: &str, key: &str, more: Value) -> Value {
    let hash: String = Sha256::digest(key).iter().map(|byte| format!("{byte:02x}")).collect();
    let mut entry = json!({"name": name, "scopes": ["echo:a"], "hash": hash});
    entry.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    entry
}

fn jwk(id: &str) -> Value {
    json!({"kty": "EC", "crv": "P-256", "x": id, "y": "y", "kid": id})
}

/// An entry without a key of its own, whose public key has this id.
fn keyed(name: &str, id: &str) -> Value {
    json!({"name": name, "scopes": ["*"], "jwks": {"keys": [jwk(id)]}})
}

fn start_as(entries: &[Value]) -> Harness {
    let keys = json!(entries).to_string();
    start_with(&[("API_KEYS", &keys)], |request| panic!("{}", request.url))
}

const GRANT: (&str, &str) = ("grant_type", "client_credentials");

/// The answer to a request by the entry `Robot` with its key and further fields, of which empty ones are left out.
fn ask(harness: &Harness, more: &[(&str, &str)]) -> (u16, Value) {
    let usual = [GRANT, ("client_id", "Robot"), ("client_secret", ROBOT_KEY)];
    let is_usual = |(name, _): &(&str, &str)| more.iter().all(|(other, _)| other != name);
    let fields: Vec<_> = usual.into_iter().filter(is_usual).chain(more.iter().copied()).collect();
    let fields: Vec<_> = fields.into_iter().filter(|(_, value)| !value.is_empty()).collect();
    harness.token(&fields)
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

fn claims(token: &str) -> Value {
    let claims = Base64UrlUnpadded::decode_vec(token.split('.').nth(1).unwrap()).unwrap();
    serde_json::from_slice(&claims).unwrap()
}

#[test]
fn a_machine_gets_the_scopes_of_its_entry() {
    const NONE: &str = "invalid_scope 400";
    for (scopes, requested, expected) in [
        (json!(["echo:a"]), "", "echo:a"),
        (json!(["echo:a"]), "echo:a echo:b", "echo:a"),
        (json!(["echo:a"]), "echo:b", ""),
        (json!(["echo:a"]), "offline_access", ""),
        (json!(["echo:a"]), "unknown", NONE),
        (json!(["*"]), "", "echo:a echo:b"),
        (json!(["*"]), "echo:b", "echo:b"),
        (json!(["*"]), "*", NONE),
        (json!([]), "", ""),
        (json!([]), "echo:a", ""),
    ] {
        let harness = start_as(&[entry("Robot", ROBOT_KEY, json!({"scopes": scopes}))]);
        let response = ask(&harness, &[("scope", requested)]);
        assert_eq!(result(&response), expected, "{scopes} {requested}");
        if response.0 == 200 {
            let token = access(&response);
            let body = &response.1;
            assert_eq!(
                (&body["token_type"], &body["expires_in"]),
                (&json!("Bearer"), &json!(3600))
            );
            assert!(body.get("refresh_token").is_none(), "{body}");
            let claims = claims(&token);
            assert_eq!((&claims["aud"], &claims["iss"]), (&json!(RESOURCE), &json!(ORIGIN)));
            assert_eq!(claims["client_id"], "Robot");
            assert_eq!(claims["sub"], "client.Robot", "no person can have it");
            assert_eq!(harness.call(&token), 200);
            harness.wait(3_700_000);
            assert_eq!(harness.call(&token), 401);
        }
    }
}

#[test]
fn what_the_entry_says_holds_for_its_tokens() {
    for (more, status) in [
        (json!({}), 200),
        (json!({"tools": ["Echo.*"]}), 200),
        (json!({"tools": ["Other.*"]}), 400),
    ] {
        let harness = start_as(&[entry("Robot", ROBOT_KEY, more.clone())]);
        assert_eq!(harness.call(&access(&ask(&harness, &[]))), status, "{more}");
        let lines = format!("{:?}", harness.host.lines.borrow());
        assert_eq!(lines.matches("key:Robot").count(), 2, "the token and the call: {lines}");
        assert_eq!(harness.call(ROBOT_KEY), status, "as with the key itself: {more}");
        for secret in [ROBOT_KEY, "user:"] {
            assert!(!lines.contains(secret), "{lines}");
        }
    }
    let budgets = json!({"budgets": [{"window": "1d", "tool_calls": 1}]});
    let mut harness = start_as(&[entry("Robot", ROBOT_KEY, budgets)]);
    harness.host.bindings.insert(toolbooth::host::LEDGER);
    harness.restart(&[]);
    let tokens = [access(&ask(&harness, &[])), access(&ask(&harness, &[]))];
    assert_eq!(tokens.map(|token| harness.call(&token)), [200, 429], "one budget for all tokens");
}

#[test]
fn which_requests_are_rejected() {
    const CLIENT: &str = "invalid_client 401";
    let mut other = entry("Robot 2", "other-key", json!({}));
    other["previous_hash"] = entry("", "old-key", json!({}))["hash"].clone();
    let clients = r#"[{"id":"agent","name":"Agent","redirect_uris":["https://a.example/cb"],
        "secret_hash":"e8b18fbe02fad6aa9ce82b235322e7c10196478f011f9f8617b1b75d6db57961"},
        {"id":"public","name":"Public","redirect_uris":["https://a.example/cb"]}]"#;
    let keys = json!([entry("Robot", ROBOT_KEY, json!({})), other, keyed("Keyed", "1")]);
    let harness =
        start_with(&[("API_KEYS", &keys.to_string()), ("SIGN_IN_CLIENTS", clients)], |request| {
            panic!("{}", request.url)
        });
    let registered = harness.client_of("client_secret_post");
    let secret = registered.secret.clone().unwrap();
    for (what, fields, expected) in [
        ("the key", &[][..], "echo:a"),
        ("a wrong key", &[("client_secret", "wrong")], CLIENT),
        ("no key", &[("client_secret", "")], CLIENT),
        ("the key of another entry", &[("client_secret", "other-key")], CLIENT),
        ("another entry with the key", &[("client_id", "Robot 2")], CLIENT),
        ("another entry", &[("client_id", "Robot 2"), ("client_secret", "other-key")], "echo:a"),
        ("its previous key", &[("client_id", "Robot 2"), ("client_secret", "old-key")], "echo:a"),
        ("another name", &[("client_id", "robot")], CLIENT),
        ("no name", &[("client_id", "")], CLIENT),
        ("a hash", &[("client_secret", keys[0]["hash"].as_str().unwrap())], CLIENT),
        ("an entry without a key", &[("client_id", "Keyed")], CLIENT),
        (
            "a client with a secret",
            &[("client_id", "agent"), ("client_secret", KEY)],
            "unauthorized_client 400",
        ),
        ("the same with a wrong secret", &[("client_id", "agent")], CLIENT),
        (
            "a public client",
            &[("client_id", "public"), ("client_secret", "")],
            "unauthorized_client 400",
        ),
        (
            "one that has registered itself",
            &[("client_id", &registered.id), ("client_secret", &secret)],
            "unauthorized_client 400",
        ),
        (
            "a different resource",
            &[("resource", "https://other.example/mcp")],
            "invalid_target 400",
        ),
        ("this resource", &[("resource", RESOURCE)], "echo:a"),
        (
            "the key as a code",
            &[("grant_type", "authorization_code"), ("code", "x")],
            "invalid_grant 400",
        ),
    ] {
        assert_eq!(result(&ask(&harness, fields)), expected, "{what}");
    }
    let basic = |id: &str, key: &str| {
        let pair = Base64::encode_string(format!("{id}:{key}").as_bytes());
        harness.form("/oauth/token", &[("authorization", &format!("Basic {pair}"))], &[GRANT])
    };
    assert_eq!(result(&basic("Robot", ROBOT_KEY)), "echo:a");
    assert_eq!(result(&basic("Robot%202", "other-key")), "echo:a", "encoded as in a form");
    assert_eq!(result(&basic("Robot", "wrong")), CLIENT);
}

#[test]
fn a_token_ends_with_the_key_that_it_was_issued_for() {
    let now = |name: &str, key: &str, previous: &str| {
        let mut now = entry(name, key, json!({}));
        if !previous.is_empty() {
            now["previous_hash"] = entry("", previous, json!({}))["hash"].clone();
        }
        json!([now])
    };
    let mut narrow = now("Robot", ROBOT_KEY, "");
    narrow[0]["scopes"] = json!([]);
    let mut harness = start_as(&[entry("Robot", ROBOT_KEY, json!({}))]);
    let token = access(&ask(&harness, &[]));
    for (entries, status) in [
        (now("Robot", ROBOT_KEY, ""), 200),
        (narrow, 200),
        (now("Robot", "new-key", ROBOT_KEY), 200),
        (now("Robot", "new-key", ""), 401),
        (now("Other", ROBOT_KEY, ""), 401),
    ] {
        harness.restart(&[("API_KEYS", &entries.to_string())]);
        assert_eq!(harness.call(&token), status, "{entries}");
    }
    let mut harness = start_as(&[keyed("Robot", "1")]);
    let assertion = assertion(&harness, "1", &json!({}));
    let token = access(&with_assertion(&harness, &assertion));
    let uri = json!([{"name": "Robot", "scopes": ["*"], "jwks_uri": "https://robot.example/keys"}]);
    for (entries, status) in [
        (json!([keyed("Robot", "1")]), 200),
        (json!([keyed("Robot", "2")]), 401),
        (json!([keyed("Other", "1")]), 401),
        (uri, 401),
        (now("Robot", ROBOT_KEY, ""), 401),
    ] {
        harness.restart(&[("API_KEYS", &entries.to_string())]);
        assert_eq!(harness.call(&token), status, "{entries}");
    }
}

#[test]
fn a_machine_can_revoke_its_token() {
    let harness =
        start_as(&[entry("Robot", ROBOT_KEY, json!({})), entry("Other", "other-key", json!({}))]);
    let token = access(&ask(&harness, &[]));
    let revoke = |id: &str, key: &str| {
        let fields = [("client_id", id), ("client_secret", key), ("token", &*token)];
        harness.form("/oauth/revoke", &[], &fields).0
    };
    assert_eq!((revoke("Robot", "wrong"), harness.call(&token)), (401, 200));
    assert_eq!((revoke("Other", "other-key"), harness.call(&token)), (200, 200));
    assert_eq!(revoke("Robot", ROBOT_KEY), 200);
    harness.wait(61_000);
    assert_eq!(harness.call(&token), 401);
}

/// A `private_key_jwt` of the entry `Robot`, signed with the key of this id, with further claims; null takes one away.
fn assertion(harness: &Harness, id: &str, more: &Value) -> String {
    let now = harness.host.now_ms.get() / 1000;
    let mut claims = json!({
        "iss": "Robot", "sub": "Robot", "aud": ORIGIN, "iat": now, "exp": now + 300, "jti": format!("j{now}"),
    });
    let members = claims.as_object_mut().unwrap();
    members.extend(more.as_object().unwrap().clone());
    members.retain(|_, value| !value.is_null());
    let encode = |value: &Value| Base64UrlUnpadded::encode_string(value.to_string().as_bytes());
    let header = json!({"alg": "ES256", "typ": "JWT"});
    let message = format!("{}.{}", encode(&header), encode(&claims));
    let mut public = jwk(id);
    public.as_object_mut().unwrap().remove("kid");
    let signature =
        fake_signature(SignatureAlgorithm::Es256, &public.to_string(), message.as_bytes());
    format!("{message}.{}", Base64UrlUnpadded::encode_string(&signature))
}

fn with_assertion(harness: &Harness, assertion: &str) -> (u16, Value) {
    const TYPE: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
    harness.token(&[GRANT, ("client_assertion", assertion), ("client_assertion_type", TYPE)])
}

#[test]
fn how_an_entry_authenticates_with_its_public_keys() {
    const CLIENT: &str = "invalid_client 401";
    const ALL: &str = "echo:a echo:b";
    let harness = start_as(&[keyed("Robot", "1"), keyed("Other", "2")]);
    let token_endpoint = format!("{ORIGIN}/oauth/token");
    for (key, more, expected) in [
        ("1", json!({}), ALL),
        ("1", json!({"aud": token_endpoint}), ALL),
        ("1", json!({"jti": null}), CLIENT),
        ("1", json!({"jti": 1}), CLIENT),
        ("2", json!({}), CLIENT),
        ("1", json!({"sub": "Other"}), CLIENT),
        ("2", json!({"sub": "Other"}), CLIENT),
        ("1", json!({"iss": "Other"}), CLIENT),
        ("1", json!({"aud": RESOURCE}), CLIENT),
        ("1", json!({"aud": null}), CLIENT),
        ("1", json!({"exp": null}), CLIENT),
        ("1", json!({"exp": 1}), CLIENT),
        ("1", json!({"exp": 9_999_999_999_u64}), CLIENT),
    ] {
        harness.wait(1000);
        let sent = with_assertion(&harness, &assertion(&harness, key, &more));
        assert_eq!(result(&sent), expected, "{key} {more}");
    }
    harness.wait(1000);
    let again = assertion(&harness, "1", &json!({}));
    assert_eq!(result(&with_assertion(&harness, &again)), ALL);
    assert_eq!(result(&with_assertion(&harness, &again)), CLIENT, "it was used before");
}

thread_local! {
    /// How often keys were fetched.
    static FETCHES: Cell<usize> = const { Cell::new(0) };
}

#[test]
fn made_up_assertions_cost_no_requests() {
    let entry = json!({"name": "Robot", "scopes": [], "jwks_uri": "https://robot.example/keys"});
    let harness = start_with(&[("API_KEYS", &json!([entry]).to_string())], |_| {
        FETCHES.set(FETCHES.get() + 1);
        Ok(HttpResponse::new(200, json!({"keys": [jwk("1")]}).to_string()))
    });
    let status = |id| {
        harness.wait(1000);
        with_assertion(&harness, &assertion(&harness, id, &json!({}))).0
    };
    for _ in 0..30 {
        assert_eq!((status("2"), status("1")), (401, 200));
    }
    assert_eq!(FETCHES.get(), 1);
}

#[test]
fn only_servers_with_keys_offer_it() {
    let grants = |harness: &Harness| {
        let response = harness.send(("GET", "/.well-known/oauth-authorization-server"), &[], "");
        json_of(&response)["grant_types_supported"].clone()
    };
    let usual = ["authorization_code", "refresh_token"];
    assert_eq!(grants(&start()), json!([usual[0], usual[1], "client_credentials"]));
    let without = start_with(
        &[("AUTH", "sign-in"), ("DEVELOPMENT", "true"), ("PUBLIC_URL", "http://localhost:8787")],
        |request| panic!("{}", request.url),
    );
    assert_eq!(grants(&without), json!(usual));
    assert_eq!(result(&ask(&without, &[])), "unsupported_grant_type 400");
}

#[test]
fn an_id_means_one_client() {
    let clients = r#"[{"id":"Robot","name":"R","redirect_uris":["https://a.example/cb"]}]"#;
    let keys = json!([entry("Robot", ROBOT_KEY, json!({}))]).to_string();
    let mut harness = start();
    harness.restart(&[("API_KEYS", &keys), ("SIGN_IN_CLIENTS", clients)]);
    let settings = harness.server.state().settings();
    let expected =
        "SIGN_IN_CLIENTS[0].id must not be the name of an entry of API_KEYS, which is a client too";
    assert_eq!(
        (&settings.problems[..], &settings.rejected[..]),
        (&[][..], &[expected.to_owned()][..])
    );
    assert_eq!(result(&ask(&harness, &[])), "invalid_client 401", "neither of them");
    assert_eq!(harness.call(ROBOT_KEY), 200, "the key as such works");
}
