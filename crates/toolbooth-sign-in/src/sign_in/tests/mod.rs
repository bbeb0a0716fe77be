//! Whole flows of clients and people, over a store that is a minute behind.

mod access;
mod account;
mod clients;
mod documents;
mod dpop;
mod enterprise;
mod events;
mod exchange;
mod groups;
mod harness;
mod machines;
mod models;
mod people;
mod providers;
mod refresh;
mod visible;
mod visitors;

use pollster::block_on;
use serde_json::json;

use harness::{
    Browser, Harness, KEY, ORIGIN, REDIRECT, RESOURCE, VERIFIER, changed, code_fields, encode,
    header, json, location, query, request, start, text,
};
use toolbooth::Server;
use toolbooth::call::join_all;
use toolbooth::host::LEDGER;
use toolbooth::testing::STALE_MS;

/// A code of a person who has typed the API key.
fn code(harness: &Harness, client: &harness::Registered) -> String {
    Browser::default().code(harness, &request(&client.id))
}

#[test]
fn the_metadata_have_what_clients_ask_for() {
    let harness = start();
    let response = harness.send(("GET", "/.well-known/oauth-authorization-server"), &[], "");
    let at = |path: &str| format!("{ORIGIN}{path}");
    assert_eq!(
        json(&response),
        json!({
            "issuer": ORIGIN,
            "authorization_endpoint": at("/oauth/authorize"),
            "token_endpoint": at("/oauth/token"),
            "registration_endpoint": at("/oauth/register"),
            "revocation_endpoint": at("/oauth/revoke"),
            "response_types_supported": ["code"],
            "response_modes_supported": ["query"],
            "grant_types_supported": ["authorization_code", "refresh_token", "client_credentials"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported":
                ["none", "client_secret_basic", "client_secret_post", "private_key_jwt"],
            "token_endpoint_auth_signing_alg_values_supported": ["RS256", "ES256", "EdDSA", "Ed25519"],
            "revocation_endpoint_auth_methods_supported":
                ["none", "client_secret_basic", "client_secret_post", "private_key_jwt"],
            "dpop_signing_alg_values_supported": ["RS256", "ES256", "EdDSA", "Ed25519"],
            "scopes_supported": ["echo:a", "echo:b", "offline_access"],
            "client_id_metadata_document_supported": true,
            "authorization_response_iss_parameter_supported": true,
            "protected_resources": [RESOURCE],
        })
    );
    let response = harness.send(("GET", "/.well-known/oauth-protected-resource/mcp"), &[], "");
    let resource = json(&response);
    assert_eq!(resource["resource"], RESOURCE);
    assert_eq!(resource["authorization_servers"], json!([ORIGIN]));
    assert_eq!(resource["dpop_signing_alg_values_supported"][1], "ES256");
    assert_eq!(resource["scopes_supported"], json!(["echo:a", "echo:b"]), "no offline_access");
    let response = harness.send(("POST", "/mcp"), &[], "");
    assert_eq!(response.status, 401);
    assert_eq!(
        header(&response, "www-authenticate"),
        Some(
            r#"Bearer realm="toolbooth", scope="echo:a echo:b", resource_metadata="https://tools.example/.well-known/oauth-protected-resource/mcp""#
        )
    );
}

#[test]
fn without_sign_in_there_are_no_endpoints() {
    let mut harness = start();
    harness.restart(&[("AUTH", "api-key")]);
    for (method, path) in [
        ("GET", "/.well-known/oauth-authorization-server"),
        ("GET", "/oauth/authorize"),
        ("POST", "/oauth/authorize"),
        ("POST", "/oauth/token"),
        ("POST", "/oauth/register"),
        ("POST", "/oauth/revoke"),
    ] {
        assert_eq!(harness.send((method, path), &[], "").status, 404, "{path}");
    }
}

#[test]
fn from_registration_to_a_call() {
    let harness = start();
    let client = harness.client();
    let browser = Browser::default();
    let page = browser.open(&harness, &request(&client.id));
    assert_eq!(page.status, 200, "{}", text(&page));
    let response = browser.answer(&harness, &page, &[("with", "key"), ("api_key", KEY)]);
    let url = location(&response);
    assert!(url.starts_with(&format!("{REDIRECT}?")), "{url}");
    assert_eq!(query(url, "state").as_deref(), Some("s t&ate"));
    assert_eq!(query(url, "iss").as_deref(), Some(ORIGIN));
    let (status, tokens) = harness.exchange(&client, &query(url, "code").unwrap());
    assert_eq!(status, 200, "{tokens}");
    assert_eq!(tokens["token_type"], "Bearer");
    assert_eq!(tokens["expires_in"], 3600);
    assert_eq!(tokens["scope"], "echo:a", "the key has no other scope");
    let access = tokens["access_token"].as_str().unwrap();
    assert_eq!(harness.call(access), 200);
    let operations = || harness.host.store.operations.borrow().join(", ");
    let issued = "get revoked: missed, get code: missed, put code, put connection";
    assert_eq!(operations(), format!("{issued}, get revoked: missed"));
    harness.wait(58_000);
    assert_eq!(harness.call(access), 200);
    assert_eq!(operations(), format!("{issued}, get revoked: missed"), "one read a minute");
    harness.wait(3_600_000 - 27_000);
    assert_eq!(harness.call(access), 401);
    let (status, tokens) = harness.refresh(&client, tokens["refresh_token"].as_str().unwrap());
    assert_eq!(status, 200, "{tokens}");
    assert_eq!(harness.call(tokens["access_token"].as_str().unwrap()), 200);
    let values = format!("{:?}", harness.host.store.values());
    for secret in ["Calendar", "client", KEY] {
        assert!(!values.contains(secret), "{values}");
    }
}

#[test]
fn a_token_in_a_url_is_not_read() {
    let harness = start();
    let client = harness.client();
    let (_, tokens) = harness.exchange(&client, &code(&harness, &client));
    let token = tokens["access_token"].as_str().unwrap();
    let path = format!("/mcp?access_token={token}");
    assert_eq!(harness.send(("POST", &path), &[], "").status, 401);
}

#[test]
fn everything_but_marks_works_at_another_location() {
    let mut harness = start();
    let client = harness.client();
    let code = code(&harness, &client);
    harness.restart(&[]);
    harness.host.store.location.set(1);
    let (status, tokens) = harness.exchange(&client, &code);
    assert_eq!(status, 200);
    harness.restart(&[]);
    harness.host.store.location.set(2);
    let (status, _) = harness.refresh(&client, tokens["refresh_token"].as_str().unwrap());
    assert_eq!(status, 200);
}

#[test]
fn authorization_requests_that_are_rejected() {
    let harness = start();
    let client = harness.client();
    let plain = VERIFIER;
    for (changes, expected) in [
        (&[("response_type", "token")][..], "unsupported_response_type"),
        (&[("response_type", "")], "invalid_request"),
        (&[("response_mode", "fragment")], "invalid_request"),
        (&[("code_challenge", "")], "invalid_request"),
        (&[("code_challenge_method", "plain"), ("code_challenge", plain)], "invalid_request"),
        (&[("code_challenge_method", "")], "invalid_request"),
        (&[("code_challenge", "short")], "invalid_request"),
        (&[("resource", "https://other.example/mcp")], "invalid_target"),
        (&[("resource", "https://tools.example/other")], "invalid_target"),
        (&[("resource", "https://tools.example/MCP")], "invalid_target"),
        (&[("resource", "https://tools.example:8443/mcp")], "invalid_target"),
        (&[("resource", "https://TOOLS.example.evil/mcp")], "invalid_target"),
        (&[("state", &"s".repeat(1_025))], "invalid_request"),
        (&[("scope", "openid email")], "invalid_scope"),
        (&[("scope", "echo:*")], "invalid_scope"),
        (&[("scope", " ")], "invalid_scope"),
        (&[("dpop_jkt", "x")], "invalid_request"),
    ] {
        // A program on this machine gets the error; for others, a page has it in a link.
        let local = [("redirect_uri", "http://localhost:3000/cb")];
        let parameters = changed(changed(request(&client.id), changes), &local);
        let response = Browser::default().open(&harness, &parameters);
        assert_eq!(response.status, 303, "{changes:?}");
        assert_eq!(query(location(&response), "error").as_deref(), Some(expected), "{changes:?}");
        assert_eq!(query(location(&response), "iss").as_deref(), Some(ORIGIN), "{changes:?}");
        let response = Browser::default().open(&harness, &changed(request(&client.id), changes));
        assert_eq!((response.status, header(&response, "location")), (400, None), "{changes:?}");
        let link = format!("href=\"{REDIRECT}?error={expected}");
        assert!(text(&response).contains(&link), "{changes:?} {}", text(&response));
        assert!(!text(&response).contains('`'), "names are code: {}", text(&response));
    }
    for (changes, title) in [
        (&[("client_id", "unknown")][..], "This server does not know the application"),
        (&[("client_id", "")], "This address is not valid"),
        (&[("redirect_uri", "https://other.example/cb")], "This return address is not registered"),
        (
            &[("redirect_uri", "https://client.example:8443/cb")],
            "This return address is not registered",
        ),
        (&[("redirect_uri", "http://127.0.0.1/cb")], "This return address is not registered"),
        (&[("redirect_uri", "")], "This return address is not registered"),
    ] {
        let response = Browser::default().open(&harness, &changed(request(&client.id), changes));
        assert_eq!((response.status, header(&response, "location")), (400, None), "{changes:?}");
        assert!(text(&response).contains(title), "{changes:?} {}", text(&response));
    }
    let twice = format!("{}&state=2", encode(&request(&client.id)));
    let response = harness.send(("GET", &format!("/oauth/authorize?{twice}")), &[], "");
    assert_eq!(response.status, 400, "a repeated parameter");
    for scope in ["profile", "offline_access", "openid echo:a"] {
        let parameters = changed(request(&client.id), &[("scope", scope)]);
        assert_eq!(Browser::default().open(&harness, &parameters).status, 200, "{scope}");
    }
    for resource in [
        RESOURCE,
        "https://tools.example/mcp/",
        ORIGIN,
        "https://tools.example/",
        "HTTPS://Tools.Example/mcp",
        "https://TOOLS.EXAMPLE",
        "",
    ] {
        let parameters = changed(request(&client.id), &[("resource", resource)]);
        assert_eq!(Browser::default().open(&harness, &parameters).status, 200, "{resource}");
    }
}

#[test]
fn codes_that_are_not_exchanged() {
    let harness = start();
    let (client, other) = (harness.client(), harness.client());
    let code = code(&harness, &client);
    let good = code_fields(&client.id, &code);
    for (name, value, expected) in [
        ("code_verifier", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM", "invalid_grant"),
        ("code_verifier", "", "invalid_request"),
        ("code_verifier", &VERIFIER[1..], "invalid_request"),
        ("code_verifier", &"v".repeat(129), "invalid_request"),
        ("code_verifier", &VERIFIER.replace('-', "+"), "invalid_request"),
        ("code_verifier", &"v".repeat(128), "invalid_grant"),
        ("redirect_uri", "http://localhost/cb", "invalid_grant"),
        ("client_id", &other.id, "invalid_grant"),
        ("client_id", "unknown", "invalid_client"),
        ("client_id", "", "invalid_client"),
        ("code", "forged", "invalid_grant"),
        ("code", "", "invalid_request"),
        ("grant_type", "password", "unsupported_grant_type"),
        ("grant_type", "", "invalid_request"),
        ("resource", "https://other.example/mcp", "invalid_target"),
        ("client_assertion", "x.y.z", "invalid_client"),
    ] {
        let mut fields: Vec<_> = good.iter().filter(|(known, _)| *known != name).copied().collect();
        fields.push((name, value));
        let (status, body) = harness.token(&fields);
        assert_eq!(body["error"], expected, "{name}={value}: {body}");
        assert_eq!(status, if expected == "invalid_client" { 401 } else { 400 }, "{name}");
    }
    let without_uri: Vec<_> =
        good.iter().filter(|(name, _)| *name != "redirect_uri").copied().collect();
    let (status, _) = harness.token(&without_uri);
    assert_eq!(status, 200, "no attempt has spent the code, and OAuth 2.1 needs no `redirect_uri`");
    harness.wait(3_000);
    let code = self::code(&harness, &client);
    harness.wait(121_000);
    assert_eq!(harness.exchange(&client, &code).1["error"], "invalid_grant", "it has expired");
}

#[test]
fn a_code_that_is_used_twice_revokes_its_grant() {
    for restarts in [false, true] {
        let mut harness = start();
        let client = harness.client();
        let code = code(&harness, &client);
        let (_, tokens) = harness.exchange(&client, &code);
        let refresh_token = tokens["refresh_token"].as_str().unwrap().to_owned();
        if restarts {
            // Another instance at another location, once the store has caught up there.
            harness.restart(&[]);
            harness.host.store.location.set(1);
            harness.wait(STALE_MS);
        } else {
            harness.wait(1_500);
        }
        let (status, body) = harness.exchange(&client, &code);
        assert_eq!((status, &body["error"]), (400, &json!("invalid_grant")), "{restarts}");
        let (status, body) = harness.refresh(&client, &refresh_token);
        assert_eq!((status, &body["error"]), (400, &json!("invalid_grant")), "{restarts}");
    }
}

#[test]
fn of_requests_at_the_same_time_only_one_gets_tokens() {
    let harness = start();
    let client = harness.client();
    let code = code(&harness, &client);
    harness.host.store_waits.set(true);
    let form = [("content-type", "application/x-www-form-urlencoded")];
    let fields = code_fields(&client.id, &code);
    let body = encode(&fields);
    let ask = || harness.answer(("POST", "/oauth/token"), &form, &body);
    let responses = block_on(join_all([ask(), ask(), ask()].into_iter()));
    let mut statuses: Vec<u16> = responses.iter().map(|response| response.status).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 400, 400]);
}

/// The statuses of the same requests for tokens at two instances at the same time, neither of which sees the other's marks.
fn at_two_instances(harness: &Harness, bodies: [&str; 2]) -> [u16; 2] {
    at_instances(harness, &[harness.instance(), harness.instance()], bodies)
}

fn at_instances(harness: &Harness, servers: &[Server; 2], bodies: [&str; 2]) -> [u16; 2] {
    let form = [("content-type", "application/x-www-form-urlencoded")];
    harness.host.store_waits.set(true);
    harness.host.ledger.waits.set(true);
    let ask = |at: usize| harness.ask_at(&servers[at], ("POST", "/oauth/token"), &form, bodies[at]);
    let responses = block_on(join_all([ask(0), ask(1)].into_iter()));
    harness.host.store_waits.set(false);
    harness.host.ledger.waits.set(false);
    let mut statuses = [responses[0].status, responses[1].status];
    statuses.sort_unstable();
    statuses
}

#[test]
fn with_a_ledger_only_one_of_two_instances_uses_a_code() {
    // Without a ledger, only the store stops the second one here: it accepts one write per second under a key.
    for (is_bound, of_codes) in [(false, [200, 503]), (true, [200, 400])] {
        let mut harness = start();
        harness.host.bindings.extend(is_bound.then_some(LEDGER));
        let client = harness.client();
        let used = code(&harness, &client);
        let body = encode(&code_fields(&client.id, &used));
        assert_eq!(at_two_instances(&harness, [&body, &body]), of_codes, "{is_bound}");
    }
}

#[test]
fn with_a_ledger_a_replaced_refresh_token_is_noticed_everywhere_at_once() {
    // Without a ledger, the store may be a minute behind, and accepts one write per second under a key.
    for (is_bound, at_once, stale) in [(false, [200, 503], 200), (true, [200, 200], 400)] {
        let mut harness = start();
        harness.host.bindings.extend(is_bound.then_some(LEDGER));
        let client = harness.client();
        let (_, tokens) = harness.exchange(&client, &code(&harness, &client));
        let first = tokens["refresh_token"].as_str().unwrap();
        let fields = |token| {
            [("grant_type", "refresh_token"), ("client_id", &*client.id), ("refresh_token", token)]
        };
        let body = encode(&fields(first));
        assert_eq!(at_two_instances(&harness, [&body, &body]), at_once, "{is_bound}");
        let refresh_at = |harness: &mut Harness, location: u8, token: &str| {
            harness.wait(1_000);
            harness.host.store.location.set(location);
            harness.restart(&[]);
            let (status, tokens) = harness.refresh(&client, token);
            (status, tokens["refresh_token"].as_str().unwrap_or_default().to_owned())
        };
        let (_, one) = refresh_at(&mut harness, 0, first);
        let (_, same) = refresh_at(&mut harness, 1, first);
        assert_eq!(one, same, "{is_bound}");
        assert_eq!(refresh_at(&mut harness, 0, &one).0, 200, "{is_bound}");
        let (status, _) = refresh_at(&mut harness, 1, first);
        assert_eq!(status, stale, "{is_bound}: its mark is a minute old");
        harness.wait(STALE_MS);
        let (status, _) = refresh_at(&mut harness, 0, &one);
        assert_eq!(status == 400, is_bound, "the grant has ended");
    }
}

#[test]
fn with_a_ledger_instances_with_different_keys_notice_a_replaced_refresh_token() {
    const OLD: [(&str, &str); 2] =
        [("STATE_KEY", "0123456789abcdef0123456789abcdef"), ("STATE_KEY_PREVIOUS", "")];
    const NEW: [(&str, &str); 2] =
        [("STATE_KEY", "fedcba9876543210fedcba9876543210"), ("STATE_KEY_PREVIOUS", OLD[0].1)];
    // The secrets of clients are of the key that registered them.
    let mut harness = start();
    harness.host.bindings.insert(LEDGER);
    let client = harness.client();
    let (_, tokens) = harness.exchange(&client, &code(&harness, &client));
    let first = tokens["refresh_token"].as_str().unwrap();
    harness.restart(&NEW);
    harness.host.store.location.set(1);
    let (_, second) = harness.refresh(&client, first);
    harness.wait(1_000);
    assert_eq!(harness.refresh(&client, second["refresh_token"].as_str().unwrap()).0, 200);
    harness.restart(&OLD);
    harness.host.store.location.set(2);
    harness.wait(1_000);
    assert_eq!(harness.refresh(&client, first).0, 400, "the instance has the old key");
}

#[test]
fn with_a_ledger_instances_with_different_keys_use_a_code_once() {
    const OLD: [(&str, &str); 2] =
        [("STATE_KEY", "0123456789abcdef0123456789abcdef"), ("STATE_KEY_PREVIOUS", "")];
    const NEW: [(&str, &str); 2] =
        [("STATE_KEY", "fedcba9876543210fedcba9876543210"), ("STATE_KEY_PREVIOUS", OLD[0].1)];
    // The operator has gone back.
    const BACK: [(&str, &str); 2] = [OLD[0], ("STATE_KEY_PREVIOUS", NEW[0].1)];
    for keys in [[OLD, OLD], [OLD, NEW], [NEW, OLD], [NEW, NEW], [NEW, BACK], [BACK, NEW]] {
        let mut harness = start();
        harness.host.bindings.insert(LEDGER);
        let client = harness.client();
        let fields = code(&harness, &client);
        let fields = code_fields(&client.id, &fields);
        let body = encode(&fields);
        let servers = keys.map(|variables| {
            harness.restart(&variables);
            harness.instance()
        });
        assert_eq!(at_instances(&harness, &servers, [&body, &body]), [200, 400], "{keys:?}");
    }
}

#[test]
fn a_ledger_that_fails_issues_nothing_and_loses_nothing() {
    let mut harness = start();
    harness.host.bindings.insert(LEDGER);
    let client = harness.client();
    let used = code(&harness, &client);
    harness.host.ledger.fails.set(true);
    let (status, body) = harness.exchange(&client, &used);
    assert_eq!((status, &body["error"]), (503, &json!("temporarily_unavailable")));
    harness.host.ledger.fails.set(false);
    let (status, tokens) = harness.exchange(&client, &used);
    assert_eq!(status, 200, "{tokens}");
    let token = tokens["refresh_token"].as_str().unwrap();
    harness.host.ledger.fails.set(true);
    assert_eq!(harness.refresh(&client, token).0, 503);
    harness.host.ledger.fails.set(false);
    // The mark of the use could not be written: the client repeats the request.
    harness.host.store.fails_writes.set(true);
    assert_eq!(harness.refresh(&client, token).0, 503);
    harness.host.store.fails_writes.set(false);
    harness.wait(1_500);
    assert_eq!(harness.refresh(&client, token).0, 200);
}

#[test]
fn a_store_that_fails_issues_nothing_and_loses_nothing() {
    let harness = start();
    let client = harness.client();
    let code = code(&harness, &client);
    harness.host.store.fails_writes.set(true);
    let (status, body) = harness.exchange(&client, &code);
    assert_eq!((status, &body["error"]), (503, &json!("temporarily_unavailable")));
    harness.host.store.fails_writes.set(false);
    harness.wait(1_500);
    let (status, tokens) = harness.exchange(&client, &code);
    assert_eq!(status, 200, "{tokens}");
    let refresh_token = tokens["refresh_token"].as_str().unwrap();
    harness.host.store.fails_reads_of.set(Some("revoked:"));
    assert_eq!(harness.refresh(&client, refresh_token).0, 503);
    harness.host.store.fails_reads_of.set(None);
    assert_eq!(harness.refresh(&client, refresh_token).0, 200);
}
