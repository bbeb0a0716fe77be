//! The events that sign-in logs.

use serde_json::{Value, json};

use super::harness::{Browser, Harness, KEY, changed, request, start};
use toolbooth::host::Level;

/// The lines since the last call, with their levels.
fn events(harness: &Harness) -> Vec<(Level, Value)> {
    let lines = harness.host.lines.take();
    let read = |(level, line): (Level, String)| {
        let mut line: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(line.as_object_mut().unwrap().remove("audit"), Some(json!(1)), "{line}");
        (level, line)
    };
    lines.into_iter().map(read).collect()
}

#[test]
fn the_life_of_a_client_is_logged() {
    let harness = start();
    let client = harness.client();
    let (status, tokens) = harness.exchange(&client, &super::code(&harness, &client));
    assert_eq!(status, 200);
    let text = |tokens: &Value, name: &str| tokens[name].as_str().unwrap().to_owned();
    assert_eq!(harness.call(&text(&tokens, "access_token")), 200);
    let lines = events(&harness);
    let caller = lines.iter().find_map(|(_, line)| line.get("protocol").map(|_| &line["caller"]));
    let caller = caller.unwrap().clone();
    assert!(caller.as_str().unwrap().starts_with("user:"), "{caller}");
    // It has registered itself, so the log has a hash of its id, which is the same in all lines.
    let name = &lines[0].1["client"];
    assert!(name.as_str().unwrap().starts_with("client:"), "{name}");
    assert!(lines.iter().all(|(_, line)| line["client"] == *name), "{lines:?}");
    let registered = json!({"event": "client_registered", "outcome": "done", "auth_method": "none", "client": name});
    let signed_in = json!({"event": "signed_in", "outcome": "done", "method": "api-key", "purpose": "client", "caller": caller, "client": name});
    let issued = |grant: &str| json!({"event": "tokens_issued", "outcome": "done", "grant_type": grant, "caller": caller, "client": name, "scope": "echo:a"});
    let expected = [registered, signed_in, issued("authorization_code")];
    assert_eq!(lines[..3], expected.map(|line| (Level::Info, line)));

    harness.wait(1_500);
    let first = text(&tokens, "refresh_token");
    let (_, tokens) = harness.refresh(&client, &first);
    harness.wait(1_500);
    let (_, newest) = harness.refresh(&client, &text(&tokens, "refresh_token"));
    assert_eq!(events(&harness), [(); 2].map(|()| (Level::Info, issued("refresh_token"))));
    harness.wait(1_500);
    assert_eq!(harness.refresh(&client, &first).0, 400);
    let revoked = |reason: &str| json!({"event": "client_revoked", "outcome": "done", "reason": reason, "caller": caller, "client": name});
    let rejected = |grant: &str, reason: &str| json!({"event": "tokens_rejected", "outcome": "rejected", "grant_type": grant, "client": name, "error": "invalid_grant", "reason": reason});
    assert_eq!(
        events(&harness),
        [
            revoked("refresh_token_reused"),
            rejected("refresh_token", "the refresh token was replaced")
        ]
        .map(|line| (Level::Warn, line))
    );
    let token = text(&newest, "access_token");
    let fields = [("token", token.as_str()), ("client_id", &*client.id)];
    harness.wait(1_500);
    assert_eq!(harness.form("/oauth/revoke", &[], &fields).0, 200);
    assert_eq!(events(&harness), [(Level::Info, revoked("requested"))]);

    let code = super::code(&harness, &client);
    harness.exchange(&client, &code);
    events(&harness);
    harness.wait(1_500);
    assert_eq!(harness.exchange(&client, &code).0, 400);
    assert_eq!(
        events(&harness),
        [revoked("code_reused"), rejected("authorization_code", "the code was used before")]
            .map(|line| (Level::Warn, line))
    );
}

#[test]
fn problems_of_people_are_logged() {
    let harness = start();
    let client = harness.client();
    let browser = Browser::default();
    let page = browser.open(&harness, &request(&client.id));
    let other_browser = Browser::default();
    events(&harness);
    browser.answer(&harness, &page, &[("with", "key"), ("api_key", "wrong-key")]);
    other_browser.answer(&harness, &page, &[("with", "key"), ("api_key", KEY)]);
    let elsewhere = [("redirect_uri", "https://other.example/cb")];
    browser.open(&harness, &changed(request(&client.id), &elsewhere));
    browser.open(&harness, &request("unknown-client"));
    let line = |reason: &str| {
        (Level::Warn, json!({"event": "sign_in_rejected", "outcome": "rejected", "reason": reason}))
    };
    let expected = ["wrong_key", "other_browser", "invalid_redirect_uri", "unknown_client"];
    assert_eq!(events(&harness), expected.map(line));
}
