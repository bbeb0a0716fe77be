//! Entries of variables that are lists: an invalid one is rejected alone.

use super::*;

/// The SHA-256 of "key-one".
const ONE: &str = "9b346041bc9a49574eb2665b2ad2a0a3f9f9cce4e42f5d1f26deb8a256b5966a";
/// The SHA-256 of "key-two".
const TWO: &str = "c8df51469c308a59bfbd48a3e0bdd228ca922d6032035f5ef6e4ad45f473a9f3";
const KEY: (&str, &str) = ("oxp-api-key", "key-one");

/// A host with the key of "one", and this second entry.
fn host(second: &str, more: Headers<'_>) -> FakeHost {
    let second = second.replace("ONE", ONE).replace("TWO", TWO);
    let keys = format!(r#"[{{"name":"one","scopes":["echo:a"],"hash":"{ONE}"}}{second}]"#);
    let variables = [
        ("AUTH", "api-key, sign-in"),
        ("API_KEYS", &keys),
        ("PUBLIC_URL", "https://booth.example"),
        ("STATE_KEY", "0123456789abcdef0123456789abcdef"),
        ("OPENAI_API_KEY", "k"),
        ("TOOL_ALLOWLIST", "Echo.Say"),
    ];
    FakeHost::with(&[&variables, more].concat())
}

#[test]
fn calls_are_served_and_the_operator_sees_the_problem() {
    let second = r#",{"name":"two","scopes":[],"hash":"TWO","tool":"x"}"#;
    for (entry, variable, problem) in [
        (second, ("LOG", "off"), "API_KEYS[1] of \"two\" must be an object with"),
        ("", ("PROVIDERS", "Groq"), "PROVIDERS[0] must be"),
        ("", ("MODELS", r#"{"fast":{}}"#), "MODELS.fast.targets must be"),
        ("", ("SIGN_IN_CLIENTS", r#"[{"id":"a"}]"#), "SIGN_IN_CLIENTS[0] must have"),
        ("", ("SIGN_IN_ALLOWED", "octocat"), "SIGN_IN_ALLOWED[0] must be a rule"),
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
        let logged = format!("Error configuration [(\"problem\", {warning:?})]");
        assert!(host.log.borrow().contains(&logged), "{:?}", host.log);
        assert!(!host.printed().contains(TWO), "no hash is logged");
        let call = |key| send(&host, ("POST", "/call", &[JSON, ("oxp-api-key", key)]), CALL);
        assert!(call("key-one").starts_with("200\n"), "{problem}: {}", call("key-one"));
        assert!(call("key-two").starts_with("401\n"), "{problem}");
    }
}
