//! What the rules of a company give.

use super::*;

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
        (
            json!({"allowed": ["@acme.example"]}),
            &json!({"email": "ada@acme.example", "email_verified": "true"}),
            "",
            "",
        ),
    ] {
        let harness = start(&issuers(entry.clone()), &[]);
        let response = harness.assert_with("1", claims, scope);
        assert_eq!(result(&response), expected, "{entry} {claims} {scope}: {}", response.1);
        if response.0 == 200 {
            assert_eq!(harness.call(response.1["access_token"].as_str().unwrap()), 200);
        }
    }
}

/// Who can write an address of their own at an issuer must not get what is given to the people of its domain.
#[test]
fn what_is_not_true_is_not_verified() {
    for value in [
        json!(false),
        json!("false"),
        json!("False"),
        json!("FALSE"),
        json!("no"),
        json!("0"),
        json!(""),
        json!("True"),
        json!("TRUE"),
        json!(" true"),
        json!("yes"),
        json!("1"),
        json!(0),
        json!(1),
        json!(null),
        json!([]),
        json!([true]),
        json!(["true"]),
        json!({}),
    ] {
        let harness = start(&issuers(json!({"allowed": ["@acme.example"]})), &[]);
        let claims = json!({"email": "mallory@acme.example", "email_verified": value});
        let response = harness.assert_with("1", &claims, "");
        assert_eq!(result(&response), "invalid_grant 400", "{value}: {}", response.1);
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
