//! People of companies whose identity providers assert who they are: rules, keys and reuse, over time. What is wrong with a
//! single assertion is in tests/enterprise.test.mjs, with real signatures.

use std::cell::RefCell;

use base64ct::{Base64UrlUnpadded, Encoding};
use serde_json::{Value, json};

use super::at_instances;
use super::harness::{Browser, Harness, ORIGIN, RESOURCE, encode, start_with};
use super::visitors::{MAIL, call, challenge, get, grant};
use toolbooth::host::{HttpError, HttpRequest, HttpResponse, LEDGER, SignatureAlgorithm};
use toolbooth::testing::{STALE_MS, fake_signature};

const ISSUER: &str = "https://acme.example";
const DISCOVERY: &str = "https://acme.example/.well-known/openid-configuration";
const KEYS: &str = "https://keys.acme.example/jwks?v=1";
const SECRET: &str = "calendar-key";
const CLIENTS: &str = r#"[{"id":"agent","name":"Agent","redirect_uris":["https://agent.example/cb"],
    "secret_hash":"e8b18fbe02fad6aa9ce82b235322e7c10196478f011f9f8617b1b75d6db57961"}]"#;

thread_local! {
    /// What other servers answer, by URL, and the requests for it.
    static ANSWERS: RefCell<Vec<(String, u16, Value)>> = RefCell::default();
    static REQUESTS: RefCell<Vec<String>> = RefCell::default();
}

fn upstream(request: &HttpRequest<'_>) -> Result<HttpResponse, HttpError> {
    REQUESTS.with_borrow_mut(|all| all.push(request.url.to_string()));
    ANSWERS.with_borrow(|all| {
        let found = all.iter().find(|(url, ..)| *url == *request.url);
        let (_, status, body) = found.ok_or(HttpError::Timeout)?;
        Ok(HttpResponse::new(*status, body.to_string()))
    })
}

fn serve(url: &str, status: u16, body: Value) {
    ANSWERS.with_borrow_mut(|all| {
        all.retain(|(known, ..)| known != url);
        all.push((url.to_owned(), status, body));
    });
}

/// How many requests were sent since this was last asked.
fn requests() -> usize {
    REQUESTS.with_borrow_mut(std::mem::take).len()
}

fn key(id: &str) -> Value {
    json!({"kty": "EC", "crv": "P-256", "x": "x", "y": "y", "kid": id})
}

fn publish(keys: &[&str]) {
    serve(DISCOVERY, 200, json!({"issuer": ISSUER, "jwks_uri": KEYS}));
    serve(KEYS, 200, json!({"keys": keys.iter().map(|id| key(id)).collect::<Vec<_>>()}));
}

fn start(issuers: &Value, more: &[(&str, &str)]) -> Harness {
    publish(&["1"]);
    let issuers = issuers.to_string();
    let variables = [("ENTERPRISE_ISSUERS", &*issuers), ("SIGN_IN_CLIENTS", CLIENTS)];
    start_with(&[&variables, more].concat(), upstream)
}

/// An entry of `ENTERPRISE_ISSUERS` with further members.
fn issuers(more: Value) -> Value {
    let mut entry = json!({"issuer": ISSUER, "clients": ["agent"]});
    entry.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!([entry])
}

/// An assertion of the company about Ada, with further claims, signed with the key `id`.
fn assertion(harness: &Harness, id: &str, more: &Value) -> String {
    thread_local!(static COUNT: RefCell<u32> = const { RefCell::new(0) });
    let count = COUNT.with_borrow_mut(|count| {
        *count += 1;
        *count
    });
    let now = harness.host.now_ms.get() / 1000;
    let mut claims = json!({
        "iss": ISSUER, "sub": "ada", "aud": ORIGIN, "resource": RESOURCE, "client_id": "agent",
        "jti": format!("j{count}"), "iat": now, "exp": now + 300,
    });
    claims.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let encode = |value: &Value| Base64UrlUnpadded::encode_string(value.to_string().as_bytes());
    let header = json!({"alg": "ES256", "kid": id, "typ": "oauth-id-jag+jwt"});
    let message = format!("{}.{}", encode(&header), encode(&claims));
    let jwk = json!({"kty": "EC", "crv": "P-256", "x": "x", "y": "y"}).to_string();
    let signature = fake_signature(SignatureAlgorithm::Es256, &jwk, message.as_bytes());
    format!("{message}.{}", Base64UrlUnpadded::encode_string(&signature))
}

fn fields<'a>(assertion: &'a str, scope: &'a str) -> Vec<(&'static str, &'a str)> {
    let fields = [
        ("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"),
        ("client_id", "agent"),
        ("client_secret", SECRET),
        ("assertion", assertion),
        ("scope", scope),
    ];
    fields.into_iter().filter(|(_, value)| !value.is_empty()).collect()
}

impl Harness {
    fn assert_with(&self, id: &str, claims: &Value, scope: &str) -> (u16, Value) {
        self.token(&fields(&assertion(self, id, claims), scope))
    }

    /// The access token of Ada, with these claims.
    fn of_ada(&self, claims: &Value) -> String {
        let (status, body) = self.assert_with("1", claims, "");
        assert_eq!(status, 200, "{body}");
        assert!(body.get("refresh_token").is_none(), "{body}");
        body["access_token"].as_str().unwrap().to_owned()
    }
}

/// The error of a response, or the scopes.
fn result((status, body): &(u16, Value)) -> String {
    match body["error"].as_str() {
        Some(error) => format!("{error} {status}"),
        None => body["scope"].as_str().unwrap().to_owned(),
    }
}

#[test]
fn what_rules_give() {
    let rule = json!({"eng": {"scopes": ["echo:a"]}, "ops": {"scopes": ["echo:*"]}});
    let groups = |groups: Value| json!({ "groups": groups });
    let (none, eng) = (json!({}), groups(json!(["eng"])));
    const DENIED: &str = "invalid_grant 400";
    const NOTHING: &str = "invalid_scope 400";
    for (entry, claims, scope, expected) in [
        // Without rules, the company alone decides who may call.
        (json!({}), &none, "", ""),
        (json!({"scopes": ["echo:a"]}), &none, "", "echo:a"),
        (json!({"scopes": ["*"]}), &none, "", "echo:a echo:b"),
        (json!({"scopes": ["*"]}), &none, "echo:b unknown", "echo:b"),
        (json!({"scopes": ["*"]}), &json!({"scope": "echo:b"}), "", "echo:b"),
        (json!({"scopes": ["*"]}), &json!({"scope": "echo:b other"}), "echo:a echo:b", "echo:b"),
        (json!({"scopes": ["*"]}), &json!({"scope": "echo:b"}), "echo:a", NOTHING),
        (json!({"scopes": ["*"]}), &json!({"scope": ""}), "", NOTHING),
        (json!({"scopes": ["*"]}), &json!({"scope": ["echo:a"]}), "", DENIED),
        (json!({"scopes": ["echo:a"]}), &none, "echo:b", NOTHING),
        // With rules, only people of a rule.
        (json!({"rules": rule}), &none, "", DENIED),
        (json!({"rules": rule}), &groups(json!(["sales"])), "", DENIED),
        (json!({"rules": rule}), &groups(json!("ENG")), "", DENIED),
        (json!({"rules": rule}), &groups(json!({"eng": true})), "", DENIED),
        (json!({"rules": rule}), &eng, "", "echo:a"),
        (json!({"rules": rule}), &groups(json!("eng")), "", "echo:a"),
        (json!({"rules": rule}), &groups(json!(["eng", 1, "ops"])), "", "echo:a echo:b"),
        (json!({"rules": rule, "claim": "roles"}), &eng, "", DENIED),
        (json!({"rules": rule, "claim": "roles"}), &json!({"roles": ["ops"]}), "", "echo:a echo:b"),
        (json!({"rules": rule, "scopes": ["echo:b"]}), &eng, "", "echo:a echo:b"),
        (json!({"rules": rule, "scopes": ["echo:b"]}), &none, "", "echo:b"),
        (json!({"rules": {}}), &none, "", DENIED),
        (json!({"scopes": {"eng": ["echo:b"]}}), &eng, "", "echo:b"),
        (json!({"scopes": {"eng": ["echo:b"]}}), &none, "", DENIED),
        // The address.
        (json!({"allowed": ["@acme.example"]}), &json!({"email": "Ada@Acme.example"}), "", ""),
        (json!({"allowed": ["@acme.example"]}), &none, "", DENIED),
        (
            json!({"allowed": ["@acme.example"]}),
            &json!({"email": "ada@sub.acme.example"}),
            "",
            DENIED,
        ),
        (
            json!({"allowed": ["@acme.example"]}),
            &json!({"email": "ada@acme.example.evil"}),
            "",
            DENIED,
        ),
        (
            json!({"allowed": ["@acme.example"]}),
            &json!({"email": "a@acme.example@b.example"}),
            "",
            DENIED,
        ),
        (
            json!({"allowed": ["@acme.example"]}),
            &json!({"email": "ada@acme.example", "email_verified": true}),
            "",
            "",
        ),
        (
            json!({"allowed": ["@acme.example"]}),
            &json!({"email": "ada@acme.example", "email_verified": false}),
            "",
            DENIED,
        ),
        (json!({}), &json!({"sub": "s".repeat(1000)}), "", ""),
    ] {
        let harness = start(&issuers(entry.clone()), &[]);
        let response = harness.assert_with("1", claims, scope);
        assert_eq!(result(&response), expected, "{entry} {claims} {scope}: {}", response.1);
        if response.0 == 200 {
            assert_eq!(harness.call(response.1["access_token"].as_str().unwrap()), 200);
        }
    }
}

#[test]
fn tokens_that_no_call_could_send_are_not_issued() {
    let names: Vec<_> = (0..130).map(|at| format!("{at:08}-0000-4000-8000-000000000000")).collect();
    let by_group = |name: &String| (name.clone(), json!({"scopes": ["echo:a"]}));
    let rules: serde_json::Map<_, _> = names.iter().map(by_group).collect();
    for (count, expected) in [(1, "echo:a"), (90, "echo:a"), (130, "invalid_grant 400")] {
        let harness = start(&issuers(json!({"rules": rules})), &[]);
        let response = harness.assert_with("1", &json!({"groups": names[..count]}), "");
        assert_eq!(result(&response), expected, "{count}: {}", response.1);
        match response.1["access_token"].as_str() {
            Some(token) => assert_eq!(harness.call(token), 200, "{count}"),
            None => assert!(response.1.to_string().contains("would be too long"), "{}", response.1),
        }
    }
}

#[test]
fn an_assertion_without_groups_escapes_no_limits() {
    let budgets = json!([{"window": "1d", "tool_calls": 5}]);
    let entry = |budgets: &Value| {
        let mut rule = json!({"scopes": []});
        if !budgets.is_null() {
            rule["budgets"] = budgets.clone();
        }
        issuers(json!({"scopes": ["echo:a"], "rules": {"eng": rule}}))
    };
    for (budgets, claims, expected) in [
        (&budgets, json!({}), "invalid_grant 400"),
        (&budgets, json!({"groups": []}), "echo:a"),
        (&Value::Null, json!({}), "echo:a"),
    ] {
        let harness = start(&entry(budgets), &[]);
        let response = harness.assert_with("1", &claims, "");
        assert_eq!(result(&response), expected, "{budgets} {claims}: {}", response.1);
    }
}

#[test]
fn rules_of_teams_about_people_hold_for_assertions() {
    let email = |email: &str, verified: bool| json!({"email": email, "email_verified": verified});
    let none = json!({});
    for (issuer, rule, claims, expected) in [
        (ISSUER, "corp:id/ada", &none, "echo:a"),
        (ISSUER, "corp:id/bob", &none, "echo:a echo:b"),
        (ISSUER, "corp:*", &none, "echo:a"),
        // A different provider of the same issuer, and a slash at the end of one of the two.
        (ISSUER, "again:id/ada", &none, "echo:a"),
        ("https://acme.example/", "corp:id/ada", &none, "echo:a"),
        // The same id elsewhere is a different person.
        (ISSUER, "google:id/ada", &none, "echo:a echo:b"),
        (ISSUER, "corp:ada@acme.example", &email("Ada@acme.example", true), "echo:a"),
        (ISSUER, "corp:@acme.example", &email("ada@acme.example", true), "echo:a"),
        (ISSUER, "corp:@acme.example", &email("ada@other.example", true), "echo:a echo:b"),
        // No client leaves the team by an assertion without the address.
        (ISSUER, "corp:@acme.example", &none, "invalid_grant 400"),
        (ISSUER, "corp:ada@acme.example", &json!({"email": "ada"}), "invalid_grant 400"),
        (ISSUER, "google:@acme.example", &none, "echo:a echo:b"),
    ] {
        let teams = json!([{"name": "a", "rules": [rule], "scopes": ["echo:a"]}]).to_string();
        let entry = json!({"issuer": issuer, "jwks_uri": OWN_KEYS, "scopes": ["*"]});
        let harness = start(&issuers(entry), &[PROVIDERS, &[("TEAMS", &*teams)]].concat());
        serve(OWN_KEYS, 200, json!({"keys": [key("1")]}));
        let mut claims = claims.clone();
        claims["iss"] = json!(issuer);
        let response = harness.assert_with("1", &claims, "");
        assert_eq!(result(&response), expected, "{issuer} {rule} {claims}: {}", response.1);
    }
}

#[test]
fn rules_decide_at_every_call() {
    let eng = json!({"rules": {"eng": {"scopes": ["echo:a"]}, "ops": {"scopes": []}}});
    let ops = json!({"rules": {"ops": {"scopes": []}}});
    let of_eng = json!({"groups": ["eng"], "email": "ada@acme.example"});
    for (now, works) in [
        (issuers(eng.clone()), true),
        (issuers(ops), false),
        (issuers(json!({"scopes": ["echo:a"]})), true),
        (issuers(json!({"rules": eng["rules"], "allowed": ["@acme.example"]})), true),
        (issuers(json!({"rules": eng["rules"], "allowed": ["@other.example"]})), false),
        (json!([{"issuer": "https://other.example", "clients": ["agent"]}]), false),
        (issuers(json!({"rules": eng["rules"], "clients": ["other", "agent"]})), true),
        (issuers(json!({"rules": eng["rules"], "clients": ["other"]})), false),
        (json!([]), false),
    ] {
        let mut harness = start(&issuers(eng.clone()), &[]);
        let token = harness.of_ada(&of_eng);
        harness.restart(&[("ENTERPRISE_ISSUERS", &now.to_string())]);
        assert_eq!(harness.call(&token), if works { 200 } else { 401 }, "{now}");
    }
}

/// The `sub` of an access token.
fn subject(token: &str) -> String {
    let claims = Base64UrlUnpadded::decode_vec(token.split('.').nth(1).unwrap()).unwrap();
    let claims: Value = serde_json::from_slice(&claims).unwrap();
    assert_eq!((&claims["aud"], &claims["client_id"]), (&json!(RESOURCE), &json!("agent")));
    claims["sub"].as_str().unwrap().to_owned()
}

#[test]
fn a_person_is_the_same_in_a_browser_and_can_be_denied() {
    let corp: &[(&str, &str)] = &[
        ("OAUTH_PROVIDERS", "corp"),
        ("OAUTH_CORP_CLIENT_ID", "c1"),
        ("OAUTH_CORP_ISSUER", ISSUER),
        ("SIGN_IN_ALLOWED", r#"[{"who": "corp:*", "scopes": ["*"]}]"#),
    ];
    let entry = issuers(json!({"scopes": ["echo:a"]}));
    let alone = start(&entry, &[]);
    let ada = subject(&alone.of_ada(&json!({})));
    assert!(ada.starts_with("enterprise.") && !ada.contains("ada"), "{ada}");
    assert_eq!(ada, subject(&alone.of_ada(&json!({"email": "ada@acme.example"}))));
    assert_ne!(ada, subject(&alone.of_ada(&json!({"sub": "bob"}))));
    let mut both = start(&entry, corp);
    let (status, body) = both.assert_with("1", &json!({}), "");
    assert_eq!(
        (status, &body["scope"]),
        (200, &json!("echo:a")),
        "not the scopes of SIGN_IN_ALLOWED"
    );
    let token = body["access_token"].as_str().unwrap();
    assert_eq!((subject(token).as_str(), both.call(token)), ("corp:ada", 200));
    both.restart(&[("SIGN_IN_DENIED", "corp:id/ada")]);
    assert_eq!(both.call(token), 401);
    assert_eq!(result(&both.assert_with("1", &json!({}), "")), "invalid_grant 400");
}

/// The issuer has these keys, whatever its address.
const OWN_KEYS: &str = "https://keys.example/own";

/// With an issuer of this name.
fn start_as(issuer: &str, more: &[(&str, &str)]) -> Harness {
    let entry = json!({"issuer": issuer, "jwks_uri": OWN_KEYS, "scopes": ["echo:a"]});
    let harness = start(&issuers(entry), more);
    serve(OWN_KEYS, 200, json!({"keys": [key("1")]}));
    harness
}

const GOOGLE: &str = "https://accounts.google.com";
/// Providers of the same issuers where people may not sign in with a browser.
const PROVIDERS: &[(&str, &str)] = &[
    ("OAUTH_PROVIDERS", "corp, again, google, other-google, plain"),
    ("OAUTH_CORP_CLIENT_ID", "c1"),
    ("OAUTH_CORP_ISSUER", ISSUER),
    ("OAUTH_AGAIN_CLIENT_ID", "c2"),
    ("OAUTH_AGAIN_ISSUER", "https://acme.example/"),
    ("OAUTH_GOOGLE_CLIENT_ID", "c3"),
    ("OAUTH_OTHER_GOOGLE_CLIENT_ID", "c4"),
    ("OAUTH_OTHER_GOOGLE_AUTHORIZE_URL", "https://accounts.google.com/o/oauth2/auth"),
    ("OAUTH_OTHER_GOOGLE_TOKEN_URL", "https://oauth2.googleapis.com/token"),
    ("OAUTH_OTHER_GOOGLE_USERINFO_URL", "https://openidconnect.googleapis.com/v1/userinfo"),
    ("OAUTH_PLAIN_CLIENT_ID", "c5"),
    ("OAUTH_PLAIN_AUTHORIZE_URL", "https://acme.example/authorize"),
    ("OAUTH_PLAIN_TOKEN_URL", "https://acme.example/token"),
    ("OAUTH_PLAIN_USERINFO_URL", "https://acme.example/userinfo"),
];

#[test]
fn who_is_denied_where_nobody_signs_in() {
    const SLASH: &str = "https://acme.example/";
    let (none, ada) = (json!({}), json!({"email": "Ada@Acme.example"}));
    let unverified = json!({"email": "ada@acme.example", "email_verified": false});
    let no_address = json!({"email": "ada"});
    let bob = json!({"sub": "bob", "email": "bob@other.example"});
    for (issuer, denied, claims, works) in [
        (ISSUER, "corp:id/ada", &none, false),
        (ISSUER, "corp:id/ada", &bob, true),
        (ISSUER, "corp:*", &bob, false),
        (ISSUER, "corp:ada@acme.example", &ada, false),
        (ISSUER, "corp:ada@acme.example", &unverified, false),
        (ISSUER, "corp:ada@acme.example", &bob, true),
        (ISSUER, "corp:@acme.example", &ada, false),
        (ISSUER, "corp:@acme.example", &unverified, false),
        (ISSUER, "corp:@acme.example", &bob, true),
        // It is not known whether the rule is about this person.
        (ISSUER, "corp:ada@acme.example", &none, false),
        (ISSUER, "corp:@acme.example", &none, false),
        (ISSUER, "corp:@acme.example", &no_address, false),
        (ISSUER, "corp:ada@acme.example", &json!({"email": 1}), false),
        (ISSUER, "corp:@acme.example", &json!({"email": "ada@"}), false),
        // A second provider of the same issuer, and a slash at the end of one of the two.
        (ISSUER, "again:id/ada", &none, false),
        (SLASH, "corp:id/ada", &none, false),
        (SLASH, "corp:@acme.example", &ada, false),
        (SLASH, "again:@acme.example", &none, false),
        ("https://acme.example//", "corp:id/ada", &none, true),
        ("https://acme.example/a", "corp:id/ada", &none, true),
        (GOOGLE, "google:ada@acme.example", &ada, false),
        (GOOGLE, "google:ada@acme.example", &none, false),
        (GOOGLE, "google:id/ada", &none, false),
        (GOOGLE, "other-google:@acme.example", &ada, false),
        // Rules about people of other issuers.
        (GOOGLE, "corp:id/ada, corp:ada@acme.example", &ada, true),
        (GOOGLE, "corp:@acme.example", &none, true),
        (ISSUER, "google:id/ada, google:@acme.example", &none, true),
        (ISSUER, "plain:id/ada, plain:@acme.example", &none, true),
    ] {
        let mut harness = start_as(issuer, PROVIDERS);
        let mut claims = claims.clone();
        claims["iss"] = json!(issuer);
        let token = harness.of_ada(&claims);
        assert_eq!(harness.call(&token), 200);
        harness.restart(&[("SIGN_IN_DENIED", denied)]);
        let expected = if works { 200 } else { 401 };
        assert_eq!(harness.call(&token), expected, "{issuer} {denied} {claims}");
        let expected = if works { "echo:a" } else { "invalid_grant 400" };
        let response = harness.assert_with("1", &claims, "");
        assert_eq!(result(&response), expected, "{issuer} {denied} {claims}");
    }
    // The provider is configured after the token was issued.
    let mut harness = start_as(ISSUER, &[]);
    let token = harness.of_ada(&none);
    harness.restart(&[PROVIDERS, &[("SIGN_IN_DENIED", "corp:id/ada")]].concat());
    assert_eq!(harness.call(&token), 401);
}

#[test]
fn the_subject_does_not_depend_on_who_may_sign_in_with_a_browser() {
    for (issuer, expected) in [
        (ISSUER, "corp:ada"),
        ("https://acme.example/", "corp:ada"),
        (GOOGLE, "google:ada"),
        ("https://other.example", "enterprise."),
    ] {
        for allowed in ["", "corp:*", "again:*", "google:*, again:id/bob", "plain:*"] {
            let harness = start_as(issuer, &[PROVIDERS, &[("SIGN_IN_ALLOWED", allowed)]].concat());
            let subject = subject(&harness.of_ada(&json!({"iss": issuer})));
            assert!(subject.starts_with(expected), "{issuer} {allowed}: {subject}");
        }
    }
}

#[test]
fn budgets_and_limits_of_a_rule() {
    let rule = json!({"scopes": [], "budgets": [{"window": "1d", "tool_calls": 2}]});
    let harness = start(&issuers(json!({"rules": {"eng": rule}})), &[]);
    let settings = &harness.server.state().pipeline.settings;
    assert_eq!(settings.budgeted, ["ENTERPRISE_ISSUERS"]);
    let mut harness = harness;
    harness.host.bindings.insert(LEDGER);
    harness.restart(&[]);
    let [one, other] = [0, 1].map(|_| harness.of_ada(&json!({"groups": "eng"})));
    let statuses = [&one, &other, &one].map(|token| harness.call(token));
    assert_eq!(statuses, [200, 200, 429], "her tokens share the budget");
}

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

/// Signs Ada in at her company with a browser, and returns the page of her account.
fn account(harness: &Harness, browser: &Browser) -> String {
    let page = browser.send(harness, ("GET", "/oauth/authorize/sign-in"), &[], "");
    let leave = browser.answer(harness, &page, &[("with", "provider"), ("provider", "corp")]);
    let state = super::harness::query(super::harness::location(&leave), "state").unwrap();
    let back =
        format!("/auth/callback/corp?code=c&state={state}&iss={}", "https%3A%2F%2Facme.example");
    let back = browser.send(harness, ("GET", &back), &[], "");
    assert_eq!(super::harness::location(&back), "/account");
    let page = browser.send(harness, ("GET", "/account"), &[], "");
    super::harness::text(&page).to_owned()
}

#[test]
fn a_person_sees_and_ends_what_the_company_has_asserted() {
    let entry = issuers(json!({"rules": {"eng": {"scopes": ["echo:a"]}}}));
    let corp = [
        ("OAUTH_PROVIDERS", "corp, mail"),
        ("OAUTH_CORP_CLIENT_ID", "c1"),
        ("OAUTH_CORP_ISSUER", ISSUER),
        ("SIGN_IN_ALLOWED", "corp:*"),
    ];
    let mut harness = start(&entry, &[MAIL, &corp].concat());
    let at = |path: &str| format!("{ISSUER}{path}");
    let document = json!({
        "issuer": ISSUER, "jwks_uri": KEYS, "authorization_endpoint": at("/authorize"),
        "token_endpoint": at("/token"), "userinfo_endpoint": at("/userinfo"),
    });
    serve(DISCOVERY, 200, document.clone());
    serve(&at("/.well-known/oauth-authorization-server"), 200, document);
    serve(&at("/token"), 200, json!({"access_token": "t", "token_type": "Bearer"}));
    serve(&at("/userinfo"), 200, json!({"sub": "ada"}));
    let mail = json!({"access_token": "a", "token_type": "bearer", "refresh_token": "r"});
    serve("https://mail.example/token", 200, mail);
    let eng = json!({"groups": ["eng"]});
    let first = harness.of_ada(&eng);
    harness.wait(2_000);
    let second = harness.of_ada(&eng);
    let browser = Browser::default();
    let page = account(&harness, &browser);
    assert_eq!(page.matches("Disconnect <bdi>Agent</bdi>").count(), 1, "one client: {page}");
    assert!(page.contains("acme.example"), "{page}");
    let value = |name: &str| {
        let start = format!("name=\"{name}\" value=\"");
        page.split(&start).nth(1).unwrap().split('"').next().unwrap().to_owned()
    };
    let fields =
        [("form", value("form")), ("do", "disconnect".to_owned()), ("client", value("client"))];
    let headers =
        [("content-type", "application/x-www-form-urlencoded"), ("sec-fetch-site", "same-origin")];
    assert_eq!([&first, &second].map(|token| harness.call(token)), [200, 200]);
    harness.wait(2_000);
    let ended = browser.send(&harness, ("POST", "/account"), &headers, &encode(&fields));
    assert_eq!(ended.status, 303, "{}", super::harness::text(&ended));
    harness.wait(61_000);
    assert_eq!([&first, &second].map(|token| harness.call(token)), [401, 401]);
    let page = browser.send(&harness, ("GET", "/account"), &[], "");
    assert!(!super::harness::text(&page).contains("Agent"));
    // The company may authorize the client again, as long as a rule admits the person.
    let third = harness.of_ada(&eng);
    assert_eq!(harness.call(&third), 200);
    // What she authorizes in the browser is there for the client, whose next token has it too.
    let url = challenge(&harness, &third);
    get(&harness, &browser, &url);
    grant(&harness, &browser, &url);
    harness.wait(STALE_MS);
    let fourth = harness.of_ada(&eng);
    assert_eq!([&third, &fourth].map(|token| call(&harness, token).0), [200, 200]);
    let page = browser.send(&harness, ("GET", "/account"), &[], "");
    assert!(super::harness::text(&page).contains("Your account at"), "{page:?}");
    // Without a rule she loses all of it.
    harness.restart(&[("ENTERPRISE_ISSUERS", &issuers(json!({"rules": {}})).to_string())]);
    assert_eq!([&third, &fourth].map(|token| call(&harness, token).0), [401, 401]);
    assert_eq!(result(&harness.assert_with("1", &eng, "")), "invalid_grant 400");
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

#[test]
fn the_extensions_of_mcp_are_declared_if_they_are_configured() {
    const COMPANY: &str = "io.modelcontextprotocol/enterprise-managed-authorization";
    const MACHINES: &str = "io.modelcontextprotocol/oauth-client-credentials";
    for (entry, keys, expected) in [
        (issuers(json!({})), None, json!({COMPANY: {}, MACHINES: {}})),
        (json!([]), None, json!({MACHINES: {}})),
        (issuers(json!({})), Some(("AUTH", "sign-in")), json!({COMPANY: {}})),
    ] {
        let harness = start(&entry, keys.as_slice());
        let token = match keys {
            None => super::harness::KEY.to_owned(),
            Some(_) => harness.of_ada(&json!({})),
        };
        let authorization = format!("Bearer {token}");
        let headers = [
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
            ("authorization", &*authorization),
        ];
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"},
        }});
        let reply = harness.send(("POST", "/mcp"), &headers, &body.to_string());
        let answer = super::harness::json(&reply);
        assert_eq!(answer["result"]["capabilities"]["extensions"], expected, "{answer}");
    }
}

#[test]
fn grants_of_others_are_as_before() {
    let harness = super::harness::start();
    let (status, body) = harness.token(&fields("x", ""));
    assert_eq!(result(&(status, body)), "unsupported_grant_type 400");
    let metadata = |harness: &Harness| {
        let path = "/.well-known/oauth-authorization-server";
        super::harness::json(&Browser::default().send(harness, ("GET", path), &[], ""))
    };
    let without = metadata(&harness);
    assert_eq!(
        without["grant_types_supported"],
        json!(["authorization_code", "refresh_token", "client_credentials"])
    );
    assert!(without.get("authorization_grant_profiles_supported").is_none());
    let with = metadata(&start(&issuers(json!({})), &[]));
    let profiles = json!(["urn:ietf:params:oauth:grant-profile:id-jag"]);
    assert_eq!(with["authorization_grant_profiles_supported"], profiles);
    assert_eq!(with["grant_types_supported"][2], "urn:ietf:params:oauth:grant-type:jwt-bearer");
}
