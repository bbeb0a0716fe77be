//! Entries of variables that are lists: an invalid one is rejected alone.

use super::*;

/// The SHA-256 of "key-one".
const ONE: &str = "9b346041bc9a49574eb2665b2ad2a0a3f9f9cce4e42f5d1f26deb8a256b5966a";
/// The SHA-256 of "key-two".
const TWO: &str = "c8df51469c308a59bfbd48a3e0bdd228ca922d6032035f5ef6e4ad45f473a9f3";
/// The SHA-256 of "key-three".
const THREE: &str = "2f06bcf4e8d96d66f0b8d972e1d9351a255f82ff4cf1a12b63c8d3642206547e";
/// The operator's key.
const KEY: (&str, &str) = ("oxp-api-key", "key-one");
/// The key of a caller.
const OTHER_KEY: (&str, &str) = ("oxp-api-key", "key-three");

/// A host with the keys of "one", who has all scopes, and "three", and this further entry.
fn host(second: &str, more: Headers<'_>) -> FakeHost {
    let second = second.replace("ONE", ONE).replace("TWO", TWO);
    let keys = format!(
        r#"[{{"name":"one","scopes":["*"],"hash":"{ONE}"}},
            {{"name":"three","scopes":["echo:a"],"hash":"{THREE}"}}{second}]"#
    );
    let variables = [
        ("AUTH", "api-key, sign-in"),
        ("API_KEYS", &keys),
        ("PUBLIC_URL", "https://tools.example"),
        ("STATE_KEY", "0123456789abcdef0123456789abcdef"),
        ("OPENAI_API_KEY", "k"),
        ("TOOL_ALLOWLIST", "Echo.Say"),
    ];
    FakeHost::with(&[&variables, more].concat())
}

const ALIAS: &str = r#"{"fast":{"targets":[{"provider":"google","model":"m"}]}}"#;

/// A finding, for callers other than the operator.
fn brief(finding: &str) -> String {
    let (name, _) = finding.split_once([' ', '[', '.']).unwrap();
    format!("{name}: details are in the log")
}

#[test]
fn names_of_tools_and_scopes_that_nothing_has_are_reported() {
    const PROVIDER: [(&str, &str); 3] = [
        ("OAUTH_PROVIDERS", "corp"),
        ("OAUTH_CORP_CLIENT_ID", "c1"),
        ("OAUTH_CORP_ISSUER", "https://corp.example"),
    ];
    let entry = |scopes: &str, tools: &str| {
        format!(r#",{{"name":"two","scopes":{scopes},"tools":{tools},"hash":"TWO"}}"#)
    };
    let none = entry("[]", "[]");
    let models =
        r#",{"name":"two","scopes":["gateway"],"hash":"TWO","gateway":{"models":[MODELS]}}"#;
    for (entry, variable, expected) in [
        (
            entry(r#"["echo:b","gateway"]"#, r#"["Echo.*","Echo_Say","Echo.Say@1.0.0"]"#),
            ("LOG", "off"),
            None,
        ),
        (entry(r#"["*"]"#, "[]"), ("LOG", "off"), None),
        (
            entry("[]", r#"["Echo.Say","Eco.Say"]"#),
            ("LOG", "off"),
            Some(r#"API_KEYS limits "two" to "Eco.Say", but there is no such tool"#),
        ),
        (
            entry("[]", r#"["Echo.Say@9.0.0"]"#),
            ("LOG", "off"),
            Some(r#"API_KEYS limits "two" to "Echo.Say@9.0.0", but there is no such tool"#),
        ),
        (
            entry(r#"["echo:a","ehco:b"]"#, "[]"),
            ("LOG", "off"),
            Some(r#"API_KEYS gives "two" the scope "ehco:b", which no tool requires"#),
        ),
        (
            models.replace("MODELS", r#""openai/m","fats""#),
            ("LOG", "off"),
            Some(
                r#"API_KEYS limits "two" to the model "fats", which is neither in MODELS nor one of a provider"#,
            ),
        ),
        (models.replace("MODELS", r#""openai/m""#), ("LOG", "off"), None),
        (
            none.clone(),
            ("ANTHROPIC_BASE_URL", "https://models.example/v1"),
            Some("ANTHROPIC_BASE_URL ends with /v1, which is added to it: leave it out"),
        ),
        (none.clone(), ("ANTHROPIC_BASE_URL", "https://models.example/v1/x"), None),
        (
            none.clone(),
            ("GEMINI_BASE_URL", "https://models.example/v1beta"),
            Some("GEMINI_BASE_URL ends with /v1beta, which is added to it: leave it out"),
        ),
        (none.clone(), ("OPENAI_BASE_URL", "https://models.example/v1"), None),
        (
            none.clone(),
            ("TOOL_ALLOWLIST", "Echo.Say, Eco.*"),
            Some(r#"TOOL_ALLOWLIST includes "Eco.*", but there is no such tool"#),
        ),
        (
            none,
            ("SIGN_IN_ALLOWED", r#"[{"who":"corp:*","scopes":["gateway","echo:c"]}]"#),
            Some(
                r#"SIGN_IN_ALLOWED gives people at corp the scope "echo:c", which no tool requires"#,
            ),
        ),
    ] {
        let host = host(&entry, &[&PROVIDER[..], &[variable]].concat());
        let read = |headers| {
            let got = answer(CATALOG, &host, ("GET", "/health", headers), Body::from(""));
            let body: serde_json::Value = serde_json::from_slice(&got.body).unwrap();
            assert_eq!(got.status, 200, "{body}");
            body["warnings"].clone()
        };
        let list = |text: Option<String>| {
            text.map_or(serde_json::Value::Null, |it| serde_json::json!([it]))
        };
        assert_eq!(read(&[KEY]), list(expected.map(str::to_owned)), "{entry}");
        assert_eq!(read(&[OTHER_KEY]), list(expected.map(brief)), "{entry}");
        assert_eq!(read(&[]), serde_json::Value::Null, "{entry}");
        let logged = format!("{:?}", host.log.borrow());
        assert_eq!(logged.contains("Warn configuration"), expected.is_some(), "{logged}");
    }
}

#[test]
fn a_problem_hides_no_misspelled_name() {
    let host = host("", &[("TOOL_ALLOWLIST", "Eco.*"), ("STATE_KEY", "short")]);
    let logged = |text: &str| format!("{:?}", host.log.borrow()).replace('\\', "").contains(text);
    answer(CATALOG, &host, ("GET", "/health", &[KEY]), Body::from(""));
    assert!(logged("STATE_KEY must have at least 32 bytes"));
    assert!(logged(r#"TOOL_ALLOWLIST includes "Eco.*", but there is no such tool"#));
}

#[test]
fn a_scope_of_the_gateway_needs_a_model() {
    for (variables, expected) in [
        (&[("OPENAI_API_KEY", "")][..], true),
        (&[], false),
        (&[("OPENAI_API_KEY", ""), ("GATEWAY_CALLER_KEYS", "true")], false),
    ] {
        let entry = r#",{"name":"two","scopes":["gateway"],"hash":"TWO"}"#;
        let host = host(entry, variables);
        answer(CATALOG, &host, ("GET", "/health", &[KEY]), Body::from(""));
        let logged = format!("{:?}", host.log.borrow()).replace('\\', "");
        let warning =
            r#"API_KEYS gives "two" the scope "gateway", but no provider of models is configured"#;
        assert_eq!(logged.contains(warning), expected, "{variables:?}: {logged}");
    }
}

#[test]
fn calls_are_served_and_the_operator_sees_the_problem() {
    let second = r#",{"name":"two","scopes":[],"hash":"TWO","tool":"x"}"#;
    for (entry, variable, problem) in [
        (
            "",
            ("SITE", "playgroud"),
            "SITE must be off, landing or playground; until then, /playground is off",
        ),
        (second, ("LOG", "off"), "API_KEYS[2] of \"two\" must be an object with"),
        ("", ("PROVIDERS", "Groq"), "PROVIDERS[0] must be"),
        ("", ("MODELS", r#"{"fast":{}}"#), "MODELS.fast.targets must be"),
        ("", ("SIGN_IN_CLIENTS", r#"[{"id":"a"}]"#), "SIGN_IN_CLIENTS[0] must have"),
        ("", ("SIGN_IN_ALLOWED", "octocat"), "SIGN_IN_ALLOWED[0] must be a rule"),
        ("", ("PROVIDERS", "house"), "HOUSE_BASE_URL is not set: it must be the address"),
        (
            "",
            ("MODELS", ALIAS),
            "MODELS.fast.targets[0].provider is google, which needs the secret GEMINI_API_KEY",
        ),
    ] {
        let host = host(entry, &[variable]);
        let health = |headers| {
            let got = answer(CATALOG, &host, ("GET", "/health", headers), Body::from(""));
            let body: serde_json::Value = serde_json::from_slice(&got.body).unwrap();
            assert_eq!((got.status, &body["status"]), (200, &"OK".into()), "{problem}: {body}");
            body["warnings"].clone()
        };
        assert_eq!(health(&[]), serde_json::Value::Null, "{problem}");
        let warnings = health(&[KEY]);
        let [warning] = warnings.as_array().unwrap().as_slice() else { panic!("{warnings}") };
        let warning = warning.as_str().unwrap();
        assert!(warning.starts_with(problem), "{warning}");
        let names = health(&[OTHER_KEY]);
        assert_eq!(names, serde_json::json!([brief(warning)]), "{problem}");
        let logged =
            format!("Error configuration [(\"problem\", {warning:?}), (\"affects\", \"entry\")]");
        assert!(host.log.borrow().contains(&logged), "{:?}", host.log);
        assert!(!host.printed().contains(TWO), "no hash is logged");
        let call = |key| send(&host, ("POST", "/call", &[JSON, ("oxp-api-key", key)]), CALL);
        assert!(call("key-one").starts_with("200\n"), "{problem}: {}", call("key-one"));
        assert!(call("key-two").starts_with("401\n"), "{problem}");
    }
}
