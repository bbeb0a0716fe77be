//! The keys of a company, how they are found, and that an assertion is accepted once.

use super::*;

#[test]
fn an_assertion_is_accepted_once() {
    for is_bound in [false, true] {
        let mut harness = start(&issuers(json!({})), &[]);
        harness.host.bindings.extend(is_bound.then_some(LEDGER));
        let used = assertion(&harness, "1", &json!({}));
        let spent = harness.token(&[fields(&used, ""), vec![("client_secret", "x")]].concat());
        assert_eq!(result(&spent), "invalid_request 400", "a mistake does not use it");
        assert_eq!(harness.token(&fields(&used, "")).0, 200);
        assert_eq!(result(&harness.token(&fields(&used, ""))), "invalid_grant 400");
        // The longest that it may be valid.
        harness.wait(329_000);
        harness.restart(&[]);
        assert_eq!(result(&harness.token(&fields(&used, ""))), "invalid_grant 400");
        let of_other = json!({"jti": "j", "sub": "bob"});
        assert_eq!(harness.assert_with("1", &of_other, "").0, 200);
        assert_eq!(
            result(&harness.assert_with("1", &json!({"jti": "j"}), "")),
            "invalid_grant 400"
        );
    }
    let mut harness = start(&issuers(json!({})), &[]);
    harness.host.bindings.insert(LEDGER);
    let body = assertion(&harness, "1", &json!({}));
    let body = encode(&fields(&body, ""));
    let servers = [harness.instance(), harness.instance()];
    assert_eq!(at_instances(&harness, &servers, [&body, &body]), [200, 400]);
    harness.host.ledger.fails.set(true);
    assert_eq!(harness.assert_with("1", &json!({}), "").1["error"], "temporarily_unavailable");
}

#[test]
fn keys_are_found_again_and_failures_heal() {
    const UNAVAILABLE: &str = "temporarily_unavailable 503";
    let harness = start(&issuers(json!({})), &[]);
    let with = |id: &str| result(&harness.assert_with(id, &json!({}), ""));
    serve(KEYS, 500, json!({}));
    requests();
    assert_eq!((with("1"), with("1"), requests()), (UNAVAILABLE.into(), UNAVAILABLE.into(), 2));
    publish(&["1"]);
    harness.wait(15_000);
    assert_eq!((with("1"), with("1"), requests()), (String::new(), String::new(), 2));
    // Made-up ids cost two requests a minute.
    for _ in 0..30 {
        harness.wait(2_000);
        assert_eq!(with("made-up"), "invalid_grant 400");
    }
    assert_eq!(requests(), 2);
    // The issuer rotates its keys, and fails at first.
    publish(&["2"]);
    assert_eq!(with("2"), "invalid_grant 400");
    serve(KEYS, 500, json!({}));
    harness.wait(60_000);
    assert_eq!((with("2"), requests()), ("invalid_grant 400".into(), 2));
    publish(&["2"]);
    harness.wait(15_000);
    assert_eq!((with("2"), with("1"), requests()), (String::new(), "invalid_grant 400".into(), 2));
    assert!(
        harness.log().contains("the key set of https://acme.example responded with status 500")
    );
}

#[test]
fn discovery_leads_to_no_other_place() {
    let of = |jwks_uri: &str| json!({"issuer": ISSUER, "jwks_uri": jwks_uri});
    let keys = json!({"keys": [key("1")]});
    for (status, document, works) in [
        (200, of(KEYS), true),
        (200, of("https://acme.example/keys/"), true),
        (200, of("https://acme.example:8443/keys"), true),
        (302, of(KEYS), false),
        (404, of(KEYS), false),
        (200, json!([]), false),
        (200, json!({"issuer": ISSUER}), false),
        (200, json!({"jwks_uri": KEYS}), false),
        (200, json!({"issuer": "https://other.example", "jwks_uri": KEYS}), false),
        (200, json!({"issuer": "https://acme.example/", "jwks_uri": KEYS}), false),
        (200, of("http://acme.example/keys"), false),
        (200, of("http://localhost/keys"), false),
        (200, of("https://localhost/keys"), false),
        (200, of("https://10.0.0.1/keys"), false),
        (200, of("https://[::1]/keys"), false),
        (200, of("https://169.254.169.254/latest"), false),
        (200, of("https://metadata.google.internal/keys"), false),
        (200, of("https://u@keys.acme.example/keys"), false),
        (200, of("file:///etc/passwd"), false),
        (200, of(""), false),
    ] {
        let harness = start(&issuers(json!({})), &[]);
        serve(DISCOVERY, status, document.clone());
        if let Some(url) = document["jwks_uri"].as_str() {
            serve(url, 200, keys.clone());
        }
        requests();
        let (got, body) = harness.assert_with("1", &json!({}), "");
        assert_eq!(got, if works { 200 } else { 503 }, "{document}: {body}");
        assert_eq!(requests(), if works { 2 } else { 1 }, "{document}");
        if !works {
            assert!(harness.log().contains("the discovery document of https://acme.example "));
        }
    }
    // The operator may name any place.
    const OWN: &str = "https://10.0.0.1/keys";
    let harness = start(&issuers(json!({"jwks_uri": OWN})), &[]);
    serve(OWN, 200, keys);
    requests();
    assert_eq!((harness.assert_with("1", &json!({}), "").0, requests()), (200, 1));
}

#[test]
fn nothing_of_an_assertion_is_logged() {
    let harness = start(&issuers(json!({})), &[]);
    let claims = json!({"sub": "subject-of-ada", "email": "ada@acme.example", "groups": "secret"});
    let good = assertion(&harness, "1", &claims);
    assert_eq!(harness.token(&fields(&good, "")).0, 200);
    assert_eq!(harness.token(&fields(&good, "")).0, 400);
    assert_eq!(harness.token(&fields(&format!("{good}A"), "")).0, 400);
    let log = harness.host.printed();
    assert!(log.contains("grant_type") && log.contains("it was used before"), "{log}");
    for part in good.split('.').chain(["subject-of-ada", "ada@acme", "secret", SECRET]) {
        assert!(!log.contains(part), "{part}: {log}");
    }
}

/// The longest that each request may take, in milliseconds.
fn timeouts(request: &HttpRequest<'_>) -> Result<HttpResponse, HttpError> {
    TIMEOUTS.with_borrow_mut(|all| all.push(request.timeout.as_millis()));
    upstream(request)
}

thread_local!(static TIMEOUTS: RefCell<Vec<u128>> = RefCell::default());

#[test]
fn discovery_and_keys_have_one_deadline() {
    publish(&["1"]);
    let entry = issuers(json!({})).to_string();
    let variables = [("ENTERPRISE_ISSUERS", &*entry), ("SIGN_IN_CLIENTS", CLIENTS)];
    for (tick_ms, expected, status) in
        [(1, &[4999, 4998][..], 200), (2_000, &[3000, 1000], 200), (3_000, &[2000], 503)]
    {
        let mut harness = start_with(&variables, timeouts);
        let sent = assertion(&harness, "1", &json!({"iat": harness.host.now_ms.get() / 1000}));
        harness.host.tick_ms = tick_ms;
        assert_eq!(harness.token(&fields(&sent, "")).0, status, "{tick_ms}");
        assert_eq!(TIMEOUTS.take(), expected, "{tick_ms}");
    }
}
