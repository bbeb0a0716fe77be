//! Who can let a client use the models of the chat gateway.

use serde_json::{Value, json};

use super::harness::{
    Browser, Harness, Registered, changed, header, json as json_of, location, query, request,
    start_with, text,
};
use toolbooth::host::{HttpError, HttpRequest, HttpResponse, LEDGER};
use toolbooth::http::Response;

/// GitHub, whose user is octocat, and OpenAI.
fn upstream(request: &HttpRequest<'_>) -> Result<HttpResponse, HttpError> {
    let body = match &*request.url {
        "https://github.com/login/oauth/access_token" => {
            json!({"access_token": "upstream-token", "token_type": "bearer"})
        }
        "https://api.github.com/user" => json!({"id": 583231, "login": "octocat"}),
        "https://api.openai.com/v1/chat/completions" => json!({
            "id": "c1", "object": "chat.completion", "created": 1, "model": "m",
            "choices": [{"index": 0, "message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}],
        }),
        other => panic!("{other}"),
    };
    let body = body.to_string().into_bytes();
    Ok(HttpResponse::new(200, body))
}

const OPENAI: (&str, &str) = ("OPENAI_API_KEY", "sk-openai");
const ALL: &str = "echo:a echo:b gateway";

fn harness(allowed: &str, openai: (&str, &str)) -> Harness {
    start_with(
        &[
            ("OAUTH_PROVIDERS", "github"),
            ("OAUTH_GITHUB_CLIENT_ID", "g1"),
            ("SIGN_IN_ALLOWED", allowed),
            openai,
        ],
        upstream,
    )
}

/// Signs in at GitHub for a client that asks for `scope`. Returns the consent page and the tokens.
fn sign_in(harness: &Harness, client: &Registered, scope: &str) -> (Response, Value) {
    let browser = Browser::default();
    let page = browser.open(harness, &changed(request(&client.id), &[("scope", scope)]));
    let leave = browser.answer(harness, &page, &[("with", "provider"), ("provider", "github")]);
    let state = query(location(&leave), "state").unwrap();
    let callback = format!("/auth/callback/github?code=c&state={state}");
    let back = browser.send(harness, ("GET", &callback), &[], "");
    let (status, tokens) = harness.exchange(client, &query(location(&back), "code").unwrap());
    assert_eq!(status, 200, "{tokens}");
    (page, tokens)
}

fn chat(harness: &Harness, tokens: &Value) -> Response {
    chat_with(harness, tokens, &json!({}))
}

/// A chat with further members, or others.
fn chat_with(harness: &Harness, tokens: &Value, members: &Value) -> Response {
    let authorization = format!("Bearer {}", tokens["access_token"].as_str().unwrap());
    let headers = [("content-type", "application/json"), ("authorization", &*authorization)];
    let mut body = json!({"model": "openai/m", "messages": [{"role": "user", "content": "hi"}]});
    for (name, value) in members.as_object().unwrap() {
        body[name] = value.clone();
    }
    harness.send(("POST", "/v1/chat/completions"), &headers, &body.to_string())
}

/// The chats that OpenAI has received.
fn received(harness: &Harness) -> Vec<Value> {
    let requests = harness.host.http.requests.borrow();
    let chats = requests.iter().filter(|it| it.url.starts_with("https://api.openai.com/"));
    chats.map(|request| request.json()).collect()
}

#[test]
fn only_people_of_a_rule_that_names_the_scope_can_let_clients_chat() {
    const WITH: &str = r#"[{"who": "github:octocat", "scopes": ["echo:a", "gateway"]}]"#;
    const ALL_SCOPES: &str = r#"[{"who": "github:octocat", "scopes": ["*"]}]"#;
    const BOTH: &str = r#"[{"who": "github:*", "scopes": ["echo:b"]}, {"who": "github:octocat", "scopes": ["gateway"]}]"#;
    const OTHERS: &str = r#"[{"who": "github:octocat", "scopes": ["echo:*"]}, {"who": "github:hubot", "scopes": ["gateway"]}]"#;
    for (allowed, openai, requested, is_offered, granted) in [
        // The least: tools without scopes.
        ("github:octocat", OPENAI, ALL, false, ""),
        (r#"["github:octocat"]"#, OPENAI, ALL, false, ""),
        (r#"["github:octocat"]"#, OPENAI, "", false, ""),
        (WITH, OPENAI, ALL, true, "echo:a gateway"),
        (ALL_SCOPES, OPENAI, ALL, true, ALL),
        (BOTH, OPENAI, ALL, true, "echo:b gateway"),
        (OTHERS, OPENAI, ALL, true, "echo:a echo:b"),
        // The client must ask for it.
        (BOTH, OPENAI, "echo:b", true, "echo:b"),
        (ALL_SCOPES, OPENAI, "", true, "echo:a echo:b"),
        // There is no model.
        (ALL_SCOPES, ("OPENAI_API_KEY", ""), ALL, false, "echo:a echo:b"),
    ] {
        let harness = harness(allowed, openai);
        let metadata = harness.send(("GET", "/.well-known/oauth-authorization-server"), &[], "");
        let offered = json_of(&metadata)["scopes_supported"].clone();
        let is_listed = offered.as_array().unwrap().contains(&json!("gateway"));
        assert_eq!(is_listed, is_offered, "{allowed} {offered}");
        let resource = harness.send(("GET", "/.well-known/oauth-protected-resource/mcp"), &[], "");
        assert_eq!(json_of(&resource)["scopes_supported"], json!(["echo:a", "echo:b"]));

        let (page, tokens) = sign_in(&harness, &harness.client(), requested);
        let is_shown = text(&page).contains("<code>gateway</code>: language models, which");
        let is_asked = requested.contains("gateway");
        assert_eq!(is_shown, is_offered && is_asked, "{allowed} {requested}: {}", text(&page));
        assert_eq!(tokens["scope"], granted, "{allowed} {requested}");
        let reply = chat(&harness, &tokens);
        if granted.contains("gateway") {
            assert_eq!(reply.status, 200, "{}", text(&reply));
        } else {
            assert_eq!(reply.status, 403, "{}", text(&reply));
            assert_eq!(json_of(&reply)["error"]["code"], "missing_scope");
            let scope = format!("{granted} gateway");
            let challenge = format!(
                r#"Bearer realm="toolbooth", error="insufficient_scope", scope="{}""#,
                scope.trim_start()
            );
            assert_eq!(header(&reply, "www-authenticate"), Some(&*challenge));
        }
        assert_eq!(harness.call(tokens["access_token"].as_str().unwrap()), 200);
    }
}

#[test]
fn the_settings_of_the_moment_decide_what_a_token_may_do() {
    const SCOPED: &str = r#"[{"who": "github:octocat", "scopes": ["echo:*"]}]"#;
    const GATEWAY: &str = r#"[{"who": "github:*", "scopes": ["gateway"]}]"#;
    for (variable, value, call, chats, refreshed) in [
        ("SIGN_IN_ALLOWED", SCOPED, 200, 403, Some("echo:a echo:b")),
        ("SIGN_IN_ALLOWED", GATEWAY, 200, 200, Some("gateway")),
        ("SIGN_IN_ALLOWED", "github:octocat", 200, 403, Some("")),
        ("SIGN_IN_ALLOWED", "github:hubot", 401, 401, None),
        ("SIGN_IN_DENIED", "github:octocat", 401, 401, None),
        ("SIGN_IN_DENIED", r#"["github:hubot", "github:id/583231"]"#, 401, 401, None),
        ("SIGN_IN_DENIED", "github:*", 401, 401, None),
        ("SIGN_IN_DENIED", "github:hubot, github:id/1", 200, 200, Some(ALL)),
    ] {
        let mut harness = harness(r#"[{"who": "github:octocat", "scopes": ["*"]}]"#, OPENAI);
        let client = harness.client();
        let (_, tokens) = sign_in(&harness, &client, ALL);
        assert_eq!(chat(&harness, &tokens).status, 200);
        harness.restart(&[(variable, value)]);
        assert_eq!(harness.call(tokens["access_token"].as_str().unwrap()), call, "{value}");
        assert_eq!(chat(&harness, &tokens).status, chats, "{variable} {value}");
        let (status, again) = harness.refresh(&client, tokens["refresh_token"].as_str().unwrap());
        assert_eq!(status, if refreshed.is_some() { 200 } else { 400 }, "{variable} {value}");
        assert_eq!(again["scope"].as_str(), refreshed, "{variable} {value}");
    }
}

#[test]
fn who_is_denied_cannot_sign_in() {
    let mut harness = harness(r#"[{"who": "github:octocat", "scopes": ["*"]}]"#, OPENAI);
    let client = harness.client();
    harness.restart(&[("SIGN_IN_DENIED", "github:id/583231")]);
    let browser = Browser::default();
    let page = browser.open(&harness, &request(&client.id));
    let leave = browser.answer(&harness, &page, &[("with", "provider"), ("provider", "github")]);
    let state = query(location(&leave), "state").unwrap();
    let callback = format!("/auth/callback/github?code=c&state={state}");
    let back = browser.send(&harness, ("GET", &callback), &[], "");
    assert_eq!(back.status, 403, "{}", text(&back));
    // A rule that denies no one by mistake closes the server.
    for (value, is_problem) in [
        ("octocat", true),
        (r#"[{"who": "github:octocat", "scopes": ["*"]}]"#, true),
        ("[", true),
        // Not known of everyone who signs in.
        ("github:org/acme", true),
        ("github:ada@a.example", true),
        ("github:octocat", false),
        // People do not sign in there.
        ("gitlab:id/x", false),
        ("access:*", false),
    ] {
        harness.restart(&[("SIGN_IN_DENIED", value)]);
        let settings = &harness.server.state().pipeline.settings;
        let starts = |all: &[String]| all.iter().any(|it| it.starts_with("SIGN_IN_DENIED"));
        assert_eq!(starts(&settings.problems), is_problem, "{value} {:?}", settings.problems);
        let is_rejected = !is_problem && value != "github:octocat";
        assert_eq!(starts(&settings.rejected), is_rejected, "{value} {:?}", settings.rejected);
        let (status, body) = harness.register(&json!({"redirect_uris": [super::REDIRECT]}));
        assert_eq!(status, if is_problem { 503 } else { 201 }, "{value} {body}");
    }
}

#[test]
fn the_limits_of_a_rule_hold_for_the_tokens_of_its_people() {
    const LIMITS: &str = r#"{"models": ["openai/m"], "max_output_tokens": 100, "service_tiers": ["flex"], "tool_allowlist": ["a"]}"#;
    let tool = |name: &str| json!({"tools": [{"type": "function", "function": {"name": name, "parameters": {"type": "object"}}}]});
    let limited = format!(
        r#"[{{"who": "github:octocat", "scopes": ["gateway"], "gateway": {LIMITS}}}, {{"who": "github:*", "scopes": [], "gateway": {{}}}}]"#
    );
    // The scopes of all rules add up; of the limits, those of the first rule that has some hold.
    let others = format!(
        r#"[{{"who": "github:hubot", "scopes": [], "gateway": {LIMITS}}}, {{"who": "github:*", "scopes": ["gateway"]}}, {{"who": "github:octocat", "scopes": [], "gateway": {{"models": ["openai/n"]}}}}]"#
    );
    for (allowed, members, code) in [
        (&limited, json!({}), None),
        (&limited, json!({"max_tokens": 100}), None),
        (&limited, json!({"service_tier": "flex"}), None),
        (&limited, tool("a"), None),
        (&limited, json!({"model": "openai/n"}), Some("model_not_allowed")),
        (&limited, json!({"max_tokens": 101}), Some("invalid_request")),
        (&limited, json!({"service_tier": "priority"}), Some("invalid_request")),
        (&limited, tool("b"), Some("tool_not_allowed")),
        (&others, json!({}), Some("model_not_allowed")),
        (&others, json!({"model": "openai/n", "max_tokens": 101}), None),
    ] {
        let harness = harness(allowed, OPENAI);
        let (_, tokens) = sign_in(&harness, &harness.client(), "gateway");
        let reply = chat_with(&harness, &tokens, &members);
        let received = received(&harness);
        match code {
            None => {
                assert_eq!(reply.status, 200, "{allowed} {members}: {}", text(&reply));
                let most = ["max_tokens", "max_completion_tokens"].map(|name| &received[0][name]);
                let expected = if *allowed == limited { json!(100) } else { json!(101) };
                assert!(most.contains(&&expected), "{members}: {received:?}");
                assert_eq!(received[0].get("service_tier"), members.get("service_tier"));
            }
            Some(code) => {
                assert_eq!(json_of(&reply)["error"]["code"], code, "{}", text(&reply));
                assert_eq!(received, [json!(null); 0], "the provider receives nothing");
            }
        }
    }
}

#[test]
fn the_limits_of_the_moment_hold() {
    let rule = |gateway: &str| {
        format!(r#"[{{"who": "github:octocat", "scopes": ["gateway"], "gateway": {gateway}}}]"#)
    };
    let mut harness = harness(&rule("{}"), OPENAI);
    let (_, tokens) = sign_in(&harness, &harness.client(), "gateway");
    let models = |harness: &Harness| {
        let authorization = format!("Bearer {}", tokens["access_token"].as_str().unwrap());
        let list = harness.send(("GET", "/v1/models"), &[("authorization", &authorization)], "");
        let list = json_of(&list);
        let names = list["data"].as_array().unwrap().iter().map(|it| it["id"].clone());
        names.collect::<Vec<_>>()
    };
    assert_eq!(chat(&harness, &tokens).status, 200);
    harness.restart(&[("SIGN_IN_ALLOWED", &rule(r#"{"models": ["openai/n"]}"#))]);
    assert_eq!(json_of(&chat(&harness, &tokens))["error"]["code"], "model_not_allowed");
    assert_eq!(models(&harness), ["openai/n"]);
    let warns = |harness: &Harness| {
        let warnings = harness.server.state().warnings(&harness.host);
        warnings.iter().any(|it| {
            it.starts_with(
                "A rule of SIGN_IN_ALLOWED, ENTERPRISE_ISSUERS or TEAMS limits people to the model",
            )
        })
    };
    assert!(!warns(&harness));
    harness.restart(&[("SIGN_IN_ALLOWED", &rule(r#"{"models": ["slow"]}"#))]);
    assert!(warns(&harness), "it is neither in MODELS nor one of a provider");
    // As for a key: without `models`, the names in MODELS.
    harness.restart(&[
        ("SIGN_IN_ALLOWED", &rule("{}")),
        ("MODELS", r#"{"fast": {"targets": [{"provider": "openai", "model": "n"}]}}"#),
    ]);
    assert_eq!(json_of(&chat(&harness, &tokens))["error"]["code"], "model_not_allowed");
    assert_eq!(models(&harness), ["fast"]);
    assert_eq!(received(&harness).len(), 1);
}

#[test]
fn budgets_count_for_the_person() {
    const BUDGETS: &str = r#"[
        {"who": "github:*", "scopes": [], "budgets": [{"window": "1d", "tool_calls": 1}]},
        {"who": "github:octocat", "scopes": [], "budgets": [{"window": "1d", "tool_calls": 2}]}
    ]"#;
    let mut harness = harness(BUDGETS, OPENAI);
    harness.host.bindings.insert(LEDGER);
    let [first, second] = [0, 1].map(|_| {
        let client = harness.client();
        let (_, tokens) = sign_in(&harness, &client, "");
        tokens["access_token"].as_str().unwrap().to_owned()
    });
    // Of two rules about the person, the larger budget counts, and it counts for both clients.
    for (token, status) in [(&first, 200), (&second, 200), (&first, 429), (&second, 429)] {
        assert_eq!(harness.call(token), status);
    }
    // The settings of the moment decide.
    harness.restart(&[("SIGN_IN_ALLOWED", "github:octocat")]);
    assert_eq!(harness.call(&first), 200);
    harness.host.bindings.clear();
    harness.host.log.take();
    harness.restart(&[("SIGN_IN_ALLOWED", BUDGETS)]);
    // OXP writes 503 as 400.
    assert_eq!(harness.call(&first), 400);
    let log = harness.host.log.take().join("\n");
    assert!(
        log.contains("SIGN_IN_ALLOWED has budgets, which need the Durable Object LEDGER"),
        "{log}"
    );
    for (budgets, expected) in [
        ("[]", "SIGN_IN_ALLOWED[0].budgets must be a non-empty array"),
        (r#"[{"window": "1d", "usd": 0}]"#, "SIGN_IN_ALLOWED[0].budgets must be"),
    ] {
        let rule = format!(
            r#"[{{"who": "github:octocat", "scopes": [], "budgets": {budgets}}}, "github:octocat"]"#
        );
        harness.restart(&[("SIGN_IN_ALLOWED", &rule)]);
        let problems = &harness.server.state().pipeline.settings.problems;
        assert!(problems[0].starts_with(expected), "{problems:?}");
    }
}
