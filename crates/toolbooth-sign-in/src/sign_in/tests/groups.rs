//! People of companies who sign in with a browser: their groups, and the teams that these belong to.

mod addresses;

use std::cell::RefCell;

use base64ct::{Base64UrlUnpadded, Encoding};
use serde_json::{Value, json};

use super::harness::{Browser, Harness, Registered, location, query, request, start_with, text};
use toolbooth::host::{HttpError, HttpRequest, HttpResponse, LEDGER, SignatureAlgorithm};
use toolbooth::http::Response;
use toolbooth::testing::{STALE_MS, fake_signature};

const ISSUER: &str = "https://corp.example";
const DAY_MS: u64 = 86_400_000;

thread_local! {
    /// What the ID token says beside the usual claims; null if there is none.
    static CLAIMS: RefCell<Value> = RefCell::default();
    /// What the provider's description says beside `sub`.
    static DESCRIPTION: RefCell<Value> = RefCell::default();
    /// Where people are sent, and the time.
    static NOW: RefCell<u64> = RefCell::default();
    /// The modulus of the key with which the description is signed, if it is.
    static SIGNED: RefCell<Option<String>> = RefCell::default();
}

fn merged(mut base: Value, more: &Value) -> Value {
    base.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
    base
}

/// The issuer `https://corp.example`.
fn upstream(request: &HttpRequest<'_>) -> Result<HttpResponse, HttpError> {
    let body = match &*request.url {
        "https://corp.example/.well-known/openid-configuration" => json!({
            "issuer": ISSUER, "authorization_endpoint": "https://corp.example/authorize",
            "token_endpoint": "https://corp.example/token", "userinfo_endpoint": "https://corp.example/me",
            "jwks_uri": "https://corp.example/keys",
        }),
        "https://corp.example/keys" => {
            json!({"keys": [{"kty": "RSA", "n": "m".repeat(342), "e": "AQAB", "kid": "1"}]})
        }
        "https://corp.example/token" => {
            let mut tokens = json!({"access_token": "at", "refresh_token": "rt"});
            let claims = CLAIMS.with_borrow(Clone::clone);
            if !claims.is_null() {
                let now = NOW.with_borrow(|now| now / 1000);
                let usual =
                    json!({"iss": ISSUER, "aud": "c1", "sub": "ada", "iat": now, "exp": now + 300});
                let part =
                    |value: &Value| Base64UrlUnpadded::encode_string(value.to_string().as_bytes());
                let header = part(&json!({"alg": "RS256", "kid": "1"}));
                tokens["id_token"] =
                    json!(format!("{header}.{}.c2ln", part(&merged(usual, &claims))));
            }
            tokens
        }
        "https://corp.example/me" => {
            let description = DESCRIPTION.with_borrow(Clone::clone);
            let description = merged(json!({"sub": "ada"}), &description);
            if let Some(modulus) = SIGNED.with_borrow(Clone::clone) {
                return Ok(HttpResponse::new(200, signed(&description, &modulus)));
            }
            description
        }
        other => panic!("{other}"),
    };
    Ok(HttpResponse::new(200, body.to_string()))
}

/// Claims, signed with a key that has this modulus.
fn signed(claims: &Value, modulus: &str) -> String {
    let part = |value: &Value| Base64UrlUnpadded::encode_string(value.to_string().as_bytes());
    let message = format!("{}.{}", part(&json!({"alg": "RS256", "kid": "1"})), part(claims));
    let jwk = json!({"e": "AQAB", "kty": "RSA", "n": modulus}).to_string();
    let signature = fake_signature(SignatureAlgorithm::Rs256, &jwk, message.as_bytes());
    format!("{message}.{}", Base64UrlUnpadded::encode_string(&signature))
}

/// Serves the company's people with this entry of `ENTERPRISE_ISSUERS`.
fn start(entry: &Value, more: &[(&str, &str)]) -> Harness {
    let issuers = issuers(entry);
    let variables = [
        ("OAUTH_PROVIDERS", "corp"),
        ("OAUTH_CORP_CLIENT_ID", "c1"),
        ("OAUTH_CORP_ISSUER", ISSUER),
        ("OAUTH_CORP_SCOPES", "offline_access groups api"),
        ("ENTERPRISE_ISSUERS", &issuers),
    ];
    start_with(&[&variables, more].concat(), upstream)
}

fn issuers(entry: &Value) -> String {
    json!([merged(json!({"issuer": ISSUER, "sign_in": true}), entry)]).to_string()
}

/// The response to the callback of a person who signs in.
fn come_back(harness: &Harness, client: &Registered) -> Response {
    come_back_in(harness, client, &Browser::default())
}

/// The same, in this browser.
fn come_back_in(harness: &Harness, client: &Registered, browser: &Browser) -> Response {
    NOW.set(harness.host.now_ms.get());
    let scope = [("scope", "echo:a echo:b".to_owned())];
    let page = browser.open(harness, &[&request(&client.id)[..], &scope].concat());
    let leave = browser.answer(harness, &page, &[("with", "provider"), ("provider", "corp")]);
    let url = location(&leave);
    assert_eq!(query(url, "scope").unwrap(), "openid email offline_access groups");
    let get = |name: &str| query(url, name).unwrap_or_default();
    let back = format!("{}?code=c&state={}", get("redirect_uri"), get("state"));
    browser.send(harness, ("GET", &back), &[], "")
}

/// The tokens of a person who signs in.
fn tokens(harness: &Harness, client: &Registered) -> Value {
    let back = come_back(harness, client);
    assert_eq!(back.status, 303, "{}", text(&back));
    let (status, tokens) = harness.exchange(client, &query(location(&back), "code").unwrap());
    assert_eq!(status, 200, "{tokens}");
    tokens
}

fn access(tokens: &Value) -> &str {
    tokens["access_token"].as_str().unwrap()
}

#[test]
fn groups_give_scopes() {
    let by_group = json!({"rules": {"eng": {"scopes": ["echo:a"]}, "ops": {"scopes": ["echo:b"]}}});
    let nested = merged(by_group.clone(), &json!({"claim": "realm_access.roles"}));
    let domain = merged(by_group.clone(), &json!({"allowed": ["@acme.example"]}));
    let address = |email: &str, verified: bool| json!({"email": email, "email_verified": verified});
    for (entry, claims, description, expected) in [
        (&by_group, json!({"groups": ["eng", "others"]}), json!({}), Some("echo:a")),
        (&by_group, json!({"groups": ["eng", "ops"]}), json!({}), Some("echo:a echo:b")),
        // What the ID token says comes first.
        (&by_group, json!({"groups": ["eng"]}), json!({"groups": ["ops"]}), Some("echo:a")),
        (&by_group, json!({}), json!({"groups": "ops"}), Some("echo:b")),
        (&by_group, json!({"groups": ["others"]}), json!({}), None),
        (&by_group, json!({"groups": []}), json!({"groups": ["eng"]}), None),
        (&by_group, json!({}), json!({}), None),
        (&nested, json!({"realm_access": {"roles": ["eng"]}}), json!({}), Some("echo:a")),
        (&nested, json!({"groups": ["eng"]}), json!({}), None),
        (&domain, json!({"groups": ["eng"]}), address("ada@acme.example", true), Some("echo:a")),
        (&domain, json!({"groups": ["eng"]}), address("ada@acme.example", false), None),
        (&domain, json!({"groups": ["eng"]}), address("ada@other.example", true), None),
        (&domain, json!({"groups": ["eng"]}), json!({}), None),
        // Everyone of the company, whether there are groups or not.
        (&json!({"scopes": ["echo:*"]}), json!(null), json!({}), Some("echo:a echo:b")),
        (&json!({}), json!(null), json!({}), Some("")),
    ] {
        let harness = start(entry, &[]);
        let client = harness.client();
        CLAIMS.set(claims.clone());
        DESCRIPTION.set(description.clone());
        match expected {
            Some(scopes) => {
                let tokens = tokens(&harness, &client);
                assert_eq!(tokens["scope"], scopes, "{entry} {claims} {description}");
                assert_eq!(harness.call(access(&tokens)), 200);
            }
            None => {
                let back = come_back(&harness, &client);
                assert_eq!(back.status, 403, "{entry} {claims} {description}");
            }
        }
    }
}

#[test]
fn id_tokens_that_prove_nothing() {
    let entry = json!({"rules": {"eng": {"scopes": ["echo:a"]}}});
    for (claims, status) in [
        (json!({"groups": ["eng"]}), 303),
        (json!({"groups": ["eng"], "aud": ["other", "c1"], "azp": "c1"}), 303),
        (json!({"groups": ["eng"], "iss": "https://other.example"}), 502),
        (json!({"groups": ["eng"], "aud": "other"}), 502),
        (json!({"groups": ["eng"], "aud": ["other", "c1"], "azp": "other"}), 502),
        (json!({"groups": ["eng"], "sub": "bob"}), 502),
        (json!({"groups": ["eng"], "sub": null}), 502),
        (json!({"groups": ["eng"], "exp": 1}), 502),
        (json!({"groups": ["eng"], "exp": null}), 502),
    ] {
        let harness = start(&entry, &[]);
        CLAIMS.set(claims.clone());
        DESCRIPTION.set(json!({}));
        let back = come_back(&harness, &harness.client());
        assert_eq!(back.status, status, "{claims}");
        if status == 502 {
            assert!(harness.log().contains("its ID token cannot be used"), "{}", harness.log());
        }
    }
}

#[test]
fn groups_that_are_left_out_are_no_groups_and_the_person_is_told() {
    let entry = json!({"rules": {"eng": {"scopes": ["echo:a"]}}});
    // A rule that admits everyone would hide it.
    let harness = start(&entry, &[("SIGN_IN_ALLOWED", "corp:*")]);
    CLAIMS.set(json!({"_claim_names": {"groups": "src1"}, "_claim_sources": {"src1": {}}}));
    DESCRIPTION.set(json!({}));
    let back = come_back(&harness, &harness.client());
    assert_eq!(back.status, 403);
    assert!(text(&back).contains("so many groups"), "{}", text(&back));
    let printed = harness.host.printed();
    assert!(printed.contains("too_many_groups"), "{printed}");
}

#[test]
fn groups_that_do_not_fit_into_a_session_are_too_many() {
    let names: Vec<_> = (0..100).map(|at| format!("{at:08}-0000-4000-8000-000000000000")).collect();
    let by_group = |name: &String| (name.clone(), json!({"scopes": ["echo:a"]}));
    let rules: serde_json::Map<_, _> = names.iter().map(by_group).collect();
    for (count, status) in [(1, 303), (40, 303), (100, 403)] {
        let harness = start(&json!({"rules": rules}), &[]);
        CLAIMS.set(json!({"groups": names[..count]}));
        DESCRIPTION.set(json!({}));
        let (client, browser) = (harness.client(), Browser::default());
        let back = come_back_in(&harness, &client, &browser);
        assert_eq!(back.status, status, "{count} {}", text(&back));
        let printed = harness.host.printed();
        assert_eq!(printed.contains("too_many_groups"), status == 403, "{count} {printed}");
        let account = browser.send(&harness, ("GET", "/account"), &[], "");
        assert_eq!(account.status == 200, status == 303, "{count} has a session");
    }
}

#[test]
fn no_one_leaves_a_team_by_hiding_a_claim() {
    let teams =
        |rule: &str| json!([{"name": "a", "rules": [rule], "scopes": ["echo:a"]}]).to_string();
    let [group, domain, person] =
        ["corp:group/eng", "corp:@acme.example", "corp:id/bob"].map(teams);
    let all = json!({"scopes": ["echo:*"]});
    let of_domain = json!({"scopes": ["echo:*"], "allowed": ["@acme.example"]});
    let others = json!({"email": "ada@other.example", "email_verified": true});
    let (none, no_groups) = (json!({}), json!({"groups": []}));
    let everyone = r#"[{"who": "corp:*", "scopes": ["echo:*"]}]"#;
    for (entry, teams, denied, claims, description, may) in [
        (&all, &*group, "", &none, &none, false),
        (&all, &group, "", &no_groups, &none, true),
        (&all, &group, "", &none, &no_groups, true),
        (&all, &person, "", &none, &none, true),
        // Without an address, the group would not count.
        (&of_domain, &group, "", &no_groups, &none, false),
        (&of_domain, &group, "", &no_groups, &others, true),
        (&all, &domain, "", &none, &none, false),
        (&all, &domain, "", &none, &others, true),
        (&all, "[]", "corp:ada@acme.example", &none, &none, false),
        (&all, "[]", "corp:@acme.example", &none, &none, false),
        (&all, "[]", "corp:@acme.example", &none, &others, true),
        (&all, "[]", "corp:id/bob", &none, &none, true),
    ] {
        let variables =
            [("TEAMS", teams), ("SIGN_IN_DENIED", denied), ("SIGN_IN_ALLOWED", everyone)];
        let harness = start(entry, &variables);
        CLAIMS.set(claims.clone());
        DESCRIPTION.set(description.clone());
        let what = format!("{entry} {teams} {denied} {claims} {description}");
        if may {
            assert_eq!(tokens(&harness, &harness.client())["scope"], "echo:a echo:b", "{what}");
            continue;
        }
        assert_eq!(come_back(&harness, &harness.client()).status, 403, "{what}");
        let printed = harness.host.printed();
        assert!(printed.contains("claim_missing"), "{what} {printed}");
    }
}

#[test]
fn no_one_escapes_limits_by_hiding_a_claim() {
    let eng = |more: Value| json!({"scopes": ["echo:*"], "rules": {"eng": merged(json!({"scopes": []}), &more)}});
    let everyone = |more: Value| merged(json!({"who": "corp:*", "scopes": ["echo:*"]}), &more);
    let of_domain = |more: Value| merged(everyone(more), &json!({"who": "corp:@acme.example"}));
    let limits = json!({"gateway": {"models": ["fast"]}});
    let budgets = json!({"budgets": [{"window": "1d", "tool_calls": 5}]});
    let (none, no_groups) = (json!({}), json!({"groups": []}));
    let others = json!({"email": "ada@other.example", "email_verified": true});
    for (entry, allowed, description, may) in [
        (eng(limits.clone()), None, &none, false),
        (eng(limits.clone()), None, &no_groups, true),
        (eng(budgets.clone()), None, &none, false),
        (eng(budgets.clone()), None, &no_groups, true),
        // A rule that only gives takes nothing away from those who hide.
        (eng(none.clone()), None, &none, true),
        (json!({}), Some(of_domain(limits.clone())), &none, false),
        (json!({}), Some(of_domain(budgets.clone())), &none, false),
        (json!({}), Some(of_domain(budgets.clone())), &others, true),
        (json!({}), Some(of_domain(none.clone())), &none, true),
    ] {
        let rules: Vec<_> = [everyone(json!({}))].into_iter().chain(allowed).collect();
        let rules = json!(rules).to_string();
        let harness = start(&entry, &[("SIGN_IN_ALLOWED", &*rules)]);
        CLAIMS.set(json!({}));
        DESCRIPTION.set(description.clone());
        let status = come_back(&harness, &harness.client()).status;
        assert_eq!(status, if may { 303 } else { 403 }, "{entry} {rules} {description}");
    }
}

#[test]
fn who_joins_a_group_that_restricts_is_noticed_after_a_day() {
    let teams = json!([{"name": "a", "rules": ["corp:group/eng"], "scopes": ["echo:a"]}]);
    for (claims, expected) in [
        (json!({"groups": []}), Some("echo:a echo:b")),
        (json!({"groups": ["eng"]}), Some("echo:a")),
        (json!({}), None),
    ] {
        let teams = teams.to_string();
        let harness = start(&json!({"scopes": ["echo:*"]}), &[("TEAMS", &teams)]);
        let client = harness.client();
        CLAIMS.set(json!({"groups": []}));
        DESCRIPTION.set(json!({}));
        let tokens = tokens(&harness, &client);
        assert_eq!(tokens["scope"], "echo:a echo:b");
        harness.wait(DAY_MS + STALE_MS);
        NOW.set(harness.host.now_ms.get());
        CLAIMS.set(claims.clone());
        let (_, body) = harness.refresh(&client, tokens["refresh_token"].as_str().unwrap());
        assert_eq!(body["scope"].as_str(), expected, "{claims} {body}");
    }
}

#[test]
fn a_rule_that_is_gone_ends_tokens() {
    let entry = json!({"rules": {"eng": {"scopes": ["echo:a"]}, "ops": {"scopes": []}}});
    for (after, status) in [
        (entry.clone(), 200),
        (json!({"rules": {"ops": {"scopes": []}}}), 401),
        (json!({"sign_in": false, "clients": ["x"], "rules": entry["rules"]}), 401),
        (merged(entry.clone(), &json!({"allowed": ["@acme.example"]})), 401),
    ] {
        let mut harness = start(&entry, &[]);
        let client = harness.client();
        CLAIMS.set(json!({"groups": ["eng"]}));
        DESCRIPTION.set(json!({}));
        let tokens = tokens(&harness, &client);
        let issuers = issuers(&after);
        harness.restart(&[("ENTERPRISE_ISSUERS", &issuers)]);
        assert_eq!(harness.call(access(&tokens)), status, "{after}");
        let (refreshed, body) = harness.refresh(&client, tokens["refresh_token"].as_str().unwrap());
        assert_eq!(refreshed, if status == 200 { 200 } else { 400 }, "{after} {body}");
    }
}

#[test]
fn who_has_left_a_group_gets_no_new_tokens_after_a_day() {
    let entry = json!({"rules": {"eng": {"scopes": ["echo:a"]}}});
    for (claims, description, expected) in [
        (json!({"groups": ["eng"]}), json!({}), ""),
        (json!(null), json!({"groups": ["eng"]}), ""),
        (json!({"groups": ["others"]}), json!({}), "invalid_grant"),
        (json!(null), json!({"groups": []}), "invalid_grant"),
        // Only a new ID token would say it.
        (json!(null), json!({}), "invalid_grant"),
        (json!({"hasgroups": true}), json!({}), "invalid_grant"),
    ] {
        let harness = start(&entry, &[]);
        let client = harness.client();
        CLAIMS.set(json!({"groups": ["eng"]}));
        DESCRIPTION.set(json!({}));
        let tokens = tokens(&harness, &client);
        harness.wait(DAY_MS + STALE_MS);
        NOW.set(harness.host.now_ms.get());
        CLAIMS.set(claims.clone());
        DESCRIPTION.set(description.clone());
        let (_, body) = harness.refresh(&client, tokens["refresh_token"].as_str().unwrap());
        let error = body["error"].as_str().unwrap_or_default();
        assert_eq!(error, expected, "{claims} {description}");
    }
}

#[test]
fn people_belong_to_the_first_team_that_names_them() {
    let entry = json!({"rules": {"eng": {"scopes": ["echo:b"]}}});
    let team = |name: &str, rules: Value, more: Value| {
        merged(json!({"name": name, "rules": rules}), &more)
    };
    let budget = json!({"budgets": [{"window": "1d", "tool_calls": 2}]});
    for (teams, expected) in [
        // The team gives its scopes, and others do not add to them.
        (vec![team("a", json!(["corp:group/eng"]), json!({"scopes": ["echo:a"]}))], "echo:a"),
        (
            vec![team("a", json!(["https://corp.example:group/eng"]), json!({"scopes": ["*"]}))],
            "echo:a echo:b",
        ),
        (vec![team("a", json!(["corp:group/eng"]), json!({}))], "echo:b"),
        (vec![team("a", json!(["corp:id/ada"]), json!({"scopes": ["echo:a"]}))], "echo:a"),
        (vec![team("a", json!(["corp:group/ops"]), json!({"scopes": ["echo:a"]}))], "echo:b"),
        (
            vec![
                team("a", json!(["corp:group/eng"]), json!({"scopes": []})),
                team("b", json!(["corp:id/ada"]), json!({"scopes": ["echo:a"]})),
            ],
            "",
        ),
    ] {
        let harness = start(&entry, &[("TEAMS", &*json!(teams).to_string())]);
        CLAIMS.set(json!({"groups": ["eng"]}));
        DESCRIPTION.set(json!({}));
        assert_eq!(tokens(&harness, &harness.client())["scope"], expected, "{teams:?}");
    }

    // Its budget is that of all members, also of an API key.
    let rules = json!(["corp:group/eng", "key:Calendar"]);
    let teams = json!([team("a", rules, budget)]).to_string();
    let mut harness = start(&entry, &[("TEAMS", &*teams)]);
    harness.host.bindings.insert(LEDGER);
    harness.restart(&[]);
    let one = tokens(&harness, &harness.client());
    CLAIMS.set(json!({"groups": ["eng"], "sub": "bob"}));
    DESCRIPTION.set(json!({"sub": "bob"}));
    let other = tokens(&harness, &harness.client());
    let keyed = |harness: &Harness| {
        let headers = [("content-type", "application/json"), ("x-api-key", super::harness::KEY)];
        let body = r#"{"tool_id":"Echo.Say","input":{"text":"hi"}}"#;
        harness.send(("POST", "/tools/call"), &headers, body).status
    };
    assert_eq!([harness.call(access(&one)), harness.call(access(&other))], [200, 200]);
    assert_eq!([harness.call(access(&one)), keyed(&harness)], [429, 429]);
}

#[test]
fn each_wrong_rule_of_a_team_is_named() {
    let good = json!({"rules": {"eng": {"scopes": []}}});
    let (of_corp, entry_claim) = (
        "TEAMS[0].rules[1] names a group of corp: ENTERPRISE_ISSUERS must",
        "ENTERPRISE_ISSUERS[0].claim must",
    );
    let (wrong, of_clients) = (json!({"claim": 1}), json!({"sign_in": false, "clients": ["a"]}));
    for (entry, rule, problem, rejected) in [
        (
            &good,
            "corp:org/acme",
            "TEAMS[0].rules[1] may name logins and organizations of GitHub only",
            "",
        ),
        (&good, "corp:", "TEAMS[0].rules[1] must be a rule such as", ""),
        (&good, "other:*", "", "TEAMS[0].rules[1] names other: OAUTH_PROVIDERS must include it"),
        (
            &good,
            "other:group/eng",
            "",
            "TEAMS[0].rules[1] names a group of other: ENTERPRISE_ISSUERS must",
        ),
        (&good, "corp:group/any", "", ""),
        // Other rules may admit these people, without the team.
        (&good, "corp:group/", of_corp, ""),
        (&of_clients, "corp:group/eng", of_corp, ""),
        (&wrong, "corp:group/eng", of_corp, entry_claim),
        (
            &wrong,
            "https://corp.example:group/eng",
            "TEAMS[0].rules[1] names a group of https://corp.example: ENTERPRISE_ISSUERS must",
            entry_claim,
        ),
    ] {
        let teams = json!([{"name": "a", "rules": ["corp:id/1", rule]}]).to_string();
        let issuers = issuers(entry);
        let variables = [
            ("AUTH", "sign-in"),
            ("PUBLIC_URL", "https://tools.example"),
            ("STATE_KEY", "0123456789abcdef0123456789abcdef"),
            ("OAUTH_PROVIDERS", "corp"),
            ("OAUTH_CORP_CLIENT_ID", "c1"),
            ("OAUTH_CORP_ISSUER", ISSUER),
            ("ENTERPRISE_ISSUERS", &*issuers),
            ("TEAMS", &*teams),
        ];
        let host = toolbooth::testing::FakeHost::with(&variables);
        let settings = toolbooth::testing::settings(crate::tests::CAPABILITIES, &host);
        for (found, expected) in [(&settings.problems, problem), (&settings.rejected, rejected)] {
            assert_eq!(found.len(), usize::from(!expected.is_empty()), "{rule} {found:?}");
            assert!(found.iter().all(|it| it.starts_with(expected)), "{rule} {found:?}");
        }
    }
}
