//! What a provider does not say, or says in a way that is of no use.

use super::*;

const DAY_MS: u64 = 24 * 3_600_000;

/// All that was logged.
fn printed(harness: &Harness) -> String {
    let lines = harness.host.lines.borrow();
    lines.iter().map(|(_, line)| line.clone()).chain([harness.log()]).collect::<Vec<_>>().join("\n")
}

fn octocat(more: &Value) -> Value {
    let mut account = json!({"id": 583231, "login": "octocat"});
    account.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    account
}

/// An organization that answers 403, such as because of SAML, gives nothing and takes nothing.
#[test]
fn an_organization_that_does_not_say() {
    const BOTH: &str = "github:org/acme, github:org/partner";
    let limits = json!(["github:*", {"who": "github:org/partner", "scopes": [], "budgets": [{"window": "1d", "tool_calls": 5}]}]);
    let limits = limits.to_string();
    for (allowed, account, status, named) in [
        (BOTH, json!({"acme": "active", "partner": 403}), 303, Some("partner (status 403)")),
        (BOTH, json!({"acme": 403, "partner": "active"}), 303, Some("acme (status 403)")),
        (BOTH, json!({"acme": 403}), 403, Some("acme (status 403)")),
        (BOTH, json!({"acme": 403, "partner": 403}), 403, Some("partner (status 403)")),
        (BOTH, json!({"acme": 451, "partner": "active"}), 303, Some("acme (status 451)")),
        (BOTH, json!({"acme": 302, "partner": "active"}), 303, Some("acme (status 302)")),
        (BOTH, json!({"acme": "active"}), 303, None),
        ("github:org/acme, github:id/583231", json!({"acme": 403}), 303, Some("acme (status 403)")),
        ("github:org/acme, github:octocat", json!({"acme": 403}), 303, Some("acme (status 403)")),
        ("github:org/acme, github:id/1", json!({"acme": 403}), 403, Some("acme (status 403)")),
        // Its members have limits, which no one must escape.
        (&limits, json!({"partner": 403}), 403, Some("partner (status 403)")),
        (&limits, json!({"partner": "active"}), 303, None),
        (&limits, json!({}), 303, None),
        // Waiting helps.
        (BOTH, json!({"acme": "active", "partner": 503}), 502, Some("partner: status 503")),
        (BOTH, json!({"acme": "active", "partner": 429}), 502, Some("partner: status 429")),
        (
            BOTH,
            json!({"acme": 403, "message": "API rate limit exceeded for 192.0.2.1."}),
            502,
            Some("acme: status 403"),
        ),
        // The address is as well.
        ("github:@a.example, github:id/583231", json!({"emails": 403}), 303, Some("(status 403)")),
        ("github:@a.example", json!({"emails": 403}), 403, Some("(status 403)")),
    ] {
        let harness = harness_for(allowed);
        ACCOUNT.set(octocat(&account));
        let response = sign_in(&harness, &Browser::default(), "github");
        let (page, printed) = (text(&response), printed(&harness));
        assert_eq!(response.status, status, "{allowed} {account} {page}");
        let named = named.unwrap_or("does not say");
        let is_said = |text: &str| text.contains(named);
        assert_eq!(is_said(&printed), named != "does not say", "{allowed} {account} {printed}");
        if status != 303 {
            assert!(is_said(page) && page.contains("<bdi>GitHub</bdi>"), "{account} {page}");
            assert!(printed.contains(r#""provider":"github""#), "{printed}");
            let waits = page.to_lowercase().contains("wait a moment");
            assert_eq!(waits, status == 502, "{page}");
        }
    }
}

#[test]
fn an_organization_that_no_longer_says_ends_no_connection_that_another_rule_carries() {
    const BOTH: &str = "github:org/acme, github:org/partner";
    for (allowed, before, after, expected) in [
        (
            BOTH,
            json!({"acme": "active", "partner": "active"}),
            json!({"acme": "active", "partner": 403}),
            None,
        ),
        (BOTH, json!({"acme": "active"}), json!({"acme": "active", "partner": 403}), None),
        (
            "github:org/acme, github:id/583231",
            json!({"acme": "active"}),
            json!({"acme": 403}),
            None,
        ),
        (BOTH, json!({"acme": "active"}), json!({"acme": 403}), Some("invalid_grant")),
        (BOTH, json!({"acme": "active"}), json!({"acme": 503}), Some("temporarily_unavailable")),
        // The account itself is not described.
        (
            BOTH,
            json!({"acme": "active"}),
            json!({"acme": "active", "status": 403}),
            Some("server_error"),
        ),
    ] {
        let harness = harness_for(allowed);
        ACCOUNT.set(octocat(&before));
        let (browser, client) = (Browser::default(), harness.client());
        let page = browser.open(&harness, &request(&client.id));
        let leave =
            browser.answer(&harness, &page, &[("with", "provider"), ("provider", "github")]);
        let back = browser.send(&harness, ("GET", &callback_of(&leave)), &[], "");
        let (_, tokens) = harness.exchange(&client, &query(location(&back), "code").unwrap());
        ACCOUNT.set(octocat(&after));
        harness.wait(DAY_MS + STALE_MS);
        let (_, body) = harness.refresh(&client, tokens["refresh_token"].as_str().unwrap());
        assert_eq!(body["error"].as_str(), expected, "{allowed} {after} {body}");
        assert_eq!(
            body.to_string().contains("try again"),
            expected == Some("temporarily_unavailable"),
            "{body}"
        );
    }
}

/// The provider has answered, and the answer is of no use: that is never "does not respond".
#[test]
fn answers_that_are_of_no_use() {
    let tokens = |tokens: Value| json!({"sub": "s1", "tokens": tokens});
    for (account, problem) in [
        (
            tokens(json!({"access_token": "a", "token_type": "bot"})),
            "the type of its tokens is not supported",
        ),
        (tokens(json!({"access_token": "a b"})), "its tokens cannot be sent or stored"),
        (tokens(json!({"token_type": "bearer"})), "its response contains no tokens"),
        (json!({"sub": "s1", "status": 400}), "has the status 400"),
        (json!({"sub": "s1", "status": 401}), "status 401"),
        (json!({"sub": "s1", "status": 403}), "has the status 403"),
        (json!({"sub": "s1", "status": 404}), "has the status 404"),
        (json!({"sub": "s1", "status": 302}), "has the status 302"),
        (json!({"sub": ""}), "has no `sub`"),
        (json!({"email": "ada@a.example"}), "has no `sub`"),
    ] {
        let harness = harness_for("corp:*");
        ACCOUNT.set(account.clone());
        let response = sign_in(&harness, &Browser::default(), "corp");
        let (page, printed) = (text(&response), printed(&harness));
        assert_eq!(response.status, 502, "{account} {page}");
        for expected in ["The answer of the service cannot be used", "<bdi>corp</bdi>", problem] {
            assert!(page.contains(expected), "{account} {page}");
        }
        for unexpected in ["try again", "Wait a moment", "does not respond"] {
            assert!(!page.contains(unexpected), "{account} {page}");
        }
        for expected in ["provider_unusable", r#""provider":"corp""#, problem] {
            assert!(printed.contains(expected), "{account} {printed}");
        }
    }
    // Waiting helps.
    for status in [500, 503, 429] {
        let harness = harness_for("corp:*");
        ACCOUNT.set(json!({"sub": "s1", "status": status}));
        let response = sign_in(&harness, &Browser::default(), "corp");
        assert_eq!(response.status, 502);
        for expected in ["does not respond", "Wait a moment", &format!("status {status}")] {
            assert!(text(&response).contains(expected), "{}", text(&response));
        }
    }
}
