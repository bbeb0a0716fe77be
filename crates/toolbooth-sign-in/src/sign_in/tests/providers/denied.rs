//! Who is denied at a provider, or may not sign in any more.

use super::*;

#[test]
fn who_is_denied_at_a_provider() {
    let corp = |email: &str, verified: bool| json!({"sub": "s1", "email": email, "email_verified": verified});
    let github = json!({"id": 583231, "login": "Octocat"});
    for (provider, denied, account, may) in [
        ("github", "github:octocat", github.clone(), false),
        ("github", "github:id/583231", github.clone(), false),
        ("github", "github:hubot", github.clone(), true),
        ("corp", "corp:ada@a.example", corp("Ada@a.example", true), false),
        // It only matters that it may be theirs.
        ("corp", "corp:ada@a.example", corp("ada@a.example", false), false),
        ("corp", "corp:@a.example", corp("ada@a.example", false), false),
        ("corp", "corp:@b.example", corp("ada@a.example", true), true),
        ("google", "google:ada@old.example", corp("ada@old.example", true), false),
        ("google", "corp:ada@old.example", corp("ada@old.example", true), true),
    ] {
        let mut harness = harness_for("github:octocat, corp:*, corp:@a.example, google:*");
        harness.restart(&[("SIGN_IN_DENIED", denied)]);
        ACCOUNT.set(account.clone());
        let response = sign_in(&harness, &Browser::default(), provider);
        assert_eq!(response.status, if may { 303 } else { 403 }, "{denied} {account}");
        // Nothing of a person who may not sign in is kept.
        let written = harness.host.store.operations.borrow().join(", ");
        assert_eq!(
            written.contains("put sign-in"),
            may && provider != "google",
            "{denied} {written}"
        );
    }
}

#[test]
fn who_is_denied_by_address_after_the_sign_in() {
    const DAY_MS: u64 = 24 * 3_600_000;
    let of = |address: &str| json!({"sub": "s1", "email": address, "email_verified": true});
    let hidden = json!({"sub": "s1"});
    // Denied before or after the sign-in; the account then and a day later; whether a call and the refresh then work.
    for (early, late, account, after, calls, refreshes) in [
        ("", "corp:@b.example", of("ada@a.example"), None, 200, None),
        ("", "corp:@a.example", of("ada@a.example"), None, 401, Some("invalid_grant")),
        // A sign-in that has hidden the address is worth nothing now.
        ("", "corp:@a.example", hidden.clone(), None, 401, Some("invalid_grant")),
        ("", "corp:ada@a.example", hidden.clone(), None, 401, Some("invalid_grant")),
        ("", "corp:id/s2", hidden.clone(), None, 200, None),
        ("", "google:@a.example", hidden.clone(), None, 200, None),
        // A new address counts after a day.
        ("corp:@b.example", "corp:@b.example", of("ada@a.example"), None, 200, None),
        (
            "corp:@b.example",
            "corp:@b.example",
            of("ada@a.example"),
            Some(of("ada@b.example")),
            200,
            Some("invalid_grant"),
        ),
        (
            "corp:@b.example",
            "corp:@b.example",
            of("ada@a.example"),
            Some(hidden.clone()),
            200,
            Some("invalid_grant"),
        ),
    ] {
        let mut harness = harness_for("corp:*");
        harness.restart(&[("SIGN_IN_DENIED", early)]);
        ACCOUNT.set(account.clone());
        let (browser, client) = (Browser::default(), harness.client());
        let page = browser.open(&harness, &request(&client.id));
        let leave = browser.answer(&harness, &page, &[("with", "provider"), ("provider", "corp")]);
        let back = browser.send(&harness, ("GET", &callback_of(&leave)), &[], "");
        let (_, tokens) = harness.exchange(&client, &query(location(&back), "code").unwrap());
        harness.restart(&[("SIGN_IN_DENIED", late)]);
        let what = format!("{early} {late} {account} {after:?}");
        assert_eq!(harness.call(tokens["access_token"].as_str().unwrap()), calls, "{what}");
        if let Some(after) = after {
            ACCOUNT.set(after);
            harness.wait(DAY_MS + STALE_MS);
        }
        let (_, body) = harness.refresh(&client, tokens["refresh_token"].as_str().unwrap());
        assert_eq!(body["error"].as_str(), refreshes, "{what} {body}");
    }
}

#[test]
fn no_one_leaves_a_team_at_github_by_hiding_the_address() {
    let emails = |email: &str, verified: bool| json!([{"email": email, "primary": true, "verified": verified}]);
    let entry = |more: Value| {
        let mut rule = json!({"who": "github:@acme.example", "scopes": ["echo:a"]});
        rule.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!(["github:*", rule]).to_string()
    };
    let budgets = json!({"budgets": [{"window": "1d", "tool_calls": 5}]});
    let team = |rule: &str| json!([{"name": "a", "rules": [rule], "scopes": []}]).to_string();
    let (of_domain, of_person) = (team("github:@acme.example"), team("github:id/1"));
    for (allowed, teams, emails, expected) in [
        // GitHub says 404 if the token has not the scope.
        ("github:*", &*of_domain, json!(404), 403),
        ("github:*", &of_domain, json!([]), 403),
        ("github:*", &of_domain, emails("ada@other.example", false), 403),
        ("github:*", &of_domain, emails("ada@other.example", true), 303),
        ("github:*", &of_domain, emails("ada@acme.example", true), 303),
        // Nothing is known, because the token must not read it; or after too many requests.
        ("github:*", &of_domain, json!(403), 403),
        ("github:*", &of_domain, json!(429), 502),
        ("github:*", &of_person, json!(404), 303),
        (&entry(budgets), "[]", json!(404), 403),
        (&entry(json!({"gateway": {"models": ["fast"]}})), "[]", json!(404), 403),
        // A rule that only gives takes nothing away from those who hide.
        (&entry(json!({})), "[]", json!(404), 303),
    ] {
        let mut harness = harness_for(allowed);
        harness.restart(&[("TEAMS", teams)]);
        ACCOUNT.set(json!({"id": 583231, "login": "octocat", "emails": emails}));
        let response = sign_in(&harness, &Browser::default(), "github");
        let printed = harness.host.printed();
        assert_eq!(response.status, expected, "{allowed} {teams} {emails} {printed}");
        assert_eq!(printed.contains("claim_missing"), expected == 403, "{emails} {printed}");
    }
}

#[test]
fn the_provider_is_asked_once_a_day_whether_a_person_still_may() {
    const HOUR_MS: u64 = 3_600_000;
    const NEVER: &str = "never asked";
    let member = json!({"id": 1, "login": "octocat", "acme": "active"});
    let address = |email: &str| json!({"sub": "s1", "email": email, "email_verified": true});
    let with = |account: &Value, name: &str, value: Value| {
        let mut account = account.clone();
        account[name] = value;
        account
    };
    let refreshable = with(
        &address("ada@a.example"),
        "tokens",
        json!({"access_token": "upstream-token", "refresh_token": "r1"}),
    );
    let refreshed = json!({"access_token": "refreshed-token", "refresh_token": "r2"});
    for (provider, allowed, before, after, expected) in [
        ("github", "github:org/acme", member.clone(), member.clone(), ""),
        (
            "github",
            "github:org/acme",
            member.clone(),
            with(&member, "acme", json!(null)),
            "invalid_grant",
        ),
        (
            "github",
            "github:octocat",
            member.clone(),
            with(&member, "login", json!("renamed")),
            "invalid_grant",
        ),
        (
            "corp",
            "corp:@a.example",
            address("ada@a.example"),
            address("ada@b.example"),
            "invalid_grant",
        ),
        // A different account must not take its place.
        (
            "github",
            "github:org/acme",
            member.clone(),
            with(&member, "id", json!(2)),
            "invalid_grant",
        ),
        // The provider does not respond, or has ended the sign-in.
        (
            "github",
            "github:org/acme",
            member.clone(),
            with(&member, "status", json!(503)),
            "temporarily_unavailable",
        ),
        (
            "github",
            "github:org/acme",
            member.clone(),
            with(&member, "status", json!(401)),
            "invalid_grant",
        ),
        (
            "corp",
            "corp:@a.example",
            refreshable.clone(),
            with(&with(&refreshable, "status", json!(401)), "tokens", refreshed),
            "",
        ),
        (
            "corp",
            "corp:@a.example",
            refreshable.clone(),
            with(
                &with(&refreshable, "status", json!(401)),
                "tokens",
                json!({"error": "invalid_grant"}),
            ),
            "temporarily_unavailable, then invalid_grant",
        ),
        // What the rule names does not change.
        ("github", "github:id/1", member.clone(), with(&member, "acme", json!(null)), NEVER),
        ("corp", "corp:*", address("ada@a.example"), address("ada@b.example"), NEVER),
    ] {
        let harness = harness_for(allowed);
        ACCOUNT.set(before);
        let (browser, client) = (Browser::default(), harness.client());
        let page = browser.open(&harness, &request(&client.id));
        let leave =
            browser.answer(&harness, &page, &[("with", "provider"), ("provider", provider)]);
        let back = browser.send(&harness, ("GET", &callback_of(&leave)), &[], "");
        let (_, tokens) = harness.exchange(&client, &query(location(&back), "code").unwrap());
        let asked = || REQUESTS.with_borrow_mut(|all| !std::mem::take(all).is_empty());
        asked();
        ACCOUNT.set(after);
        harness.wait(11 * HOUR_MS);
        let refresh =
            |tokens: &Value| harness.refresh(&client, tokens["refresh_token"].as_str().unwrap());
        let (status, tokens) = refresh(&tokens);
        assert_eq!((status, asked()), (200, false), "{allowed}: not yet");
        harness.wait(14 * HOUR_MS);
        let (status, body) = refresh(&tokens);
        assert_eq!(asked(), expected != NEVER, "{allowed}");
        if ["", NEVER].contains(&expected) {
            assert_eq!(status, 200, "{allowed} {body}");
            // The store may be a minute behind.
            harness.wait(STALE_MS);
            let (status, _) = refresh(&body);
            assert_eq!((status, asked()), (200, false), "{allowed}: not again");
        } else {
            let (first, then) = expected.split_once(", then ").unwrap_or((expected, expected));
            assert_eq!(body["error"], first, "{allowed}");
            // A different client may have used the refresh token: the store shows it in a minute, and not when
            // `Retry-After` ends.
            harness.wait(5_000);
            assert_eq!(refresh(&tokens).1["error"], first, "{allowed}");
            harness.wait(STALE_MS);
            assert_eq!(refresh(&tokens).1["error"], then, "{allowed}");
        }
        if expected == "temporarily_unavailable" {
            ACCOUNT.set(member.clone());
            assert_eq!(refresh(&tokens).0, 200, "nothing is lost");
        }
        let printed = harness.host.printed();
        assert!(!printed.contains("upstream-token") && !printed.contains("r1"), "{printed}");
        let stored = format!("{:?}", harness.host.store.values());
        assert!(!stored.contains("upstream-token"), "{stored}");
    }
}
