//! What the report contains for different settings.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::CAPABILITIES;
use toolbooth::Server;
use toolbooth::http::{Body, Request};
use toolbooth::testing::Pairs;
use toolbooth::testing::echo::CATALOG;
use toolbooth::testing::{FakeHost, ready};

/// What the variables of these tests contain, and no report may.
const SECRETS: [&str; 9] = [
    "0123456789",
    "Calendar",
    "e8b18f",
    "octocat",
    "hidden-tool",
    "github-client",
    "github-secret",
    "2bb80d",
    "connector.example",
];

fn report(variables: &[(&str, &str)], host_name: &str) -> Value {
    let host = FakeHost::with(variables);
    let server = Server::new(CATALOG, CAPABILITIES, &host);
    let request = Request {
        method: "GET".into(),
        path: "/doctor",
        query: "",
        headers: &Pairs(&[("host", host_name), ("accept", "application/json")]),
        body: Body::from(""),
        own_origin: None,
    };
    let response = ready(server.answer(request, &host)).head;
    assert_eq!(response.status, 200);
    let text = str::from_utf8(&response.body).unwrap();
    for secret in SECRETS {
        assert!(!text.contains(secret), "{secret}: {text}");
    }
    serde_json::from_str(text).unwrap()
}

/// What is missing for each connector.
fn missing(report: &Value) -> BTreeMap<String, Vec<String>> {
    let connectors = report["connectors"].as_array().unwrap().iter();
    connectors
        .map(|connector| {
            let missing: Vec<String> =
                serde_json::from_value(connector["missing"].clone()).unwrap();
            assert_eq!(connector["ok"], missing.is_empty());
            (connector["id"].as_str().unwrap().to_owned(), missing)
        })
        .collect()
}

const KEY: (&str, &str) = ("STATE_KEY", "0123456789abcdef0123456789abcdef");
const KEYS: (&str, &str) = (
    "API_KEYS",
    r#"[{"name":"Calendar","scopes":[],"hash":"e8b18fbe02fad6aa9ce82b235322e7c10196478f011f9f8617b1b75d6db57961"}]"#,
);
const URL: (&str, &str) = ("PUBLIC_URL", "https://tools.example");
const SIGN_IN: (&str, &str) = ("AUTH", "sign-in, api-key");
const ACCESS: [(&str, &str); 2] =
    [("ACCESS_TEAM_DOMAIN", "https://acme.cloudflareaccess.com"), ("ACCESS_AUDIENCE", "tag")];
const CURSOR: (&str, &str) = ("SIGN_IN_REDIRECT_SCHEMES", "cursor");
const JWT: &[(&str, &str)] =
    &[("AUTH", "jwt"), ("JWT_ISSUER", "https://login.example"), ("JWT_SECRET", KEY.1)];

#[test]
fn what_each_connector_needs() {
    let jwt = [JWT, &[URL]].concat();
    for (variables, host, expected) in [
        (&[SIGN_IN, KEYS, KEY, URL, CURSOR][..], "tools.example", &[][..]),
        (&[SIGN_IN, KEYS, KEY, URL], "tools.example", &[]),
        (
            &[SIGN_IN, KEYS, KEY, CURSOR, ("PUBLIC_URL", "http://localhost:8787")],
            "localhost:8787",
            &[("claude", "https"), ("chatgpt", "https")],
        ),
        (
            &[SIGN_IN, KEYS, KEY, URL, CURSOR],
            "tools.workers.dev",
            &[("claude", "address"), ("chatgpt", "address")],
        ),
        (
            &[("AUTH", "sign-in"), ACCESS[0], ACCESS[1], KEY, URL],
            "tools.workers.dev",
            &[
                ("claude", "address"),
                ("chatgpt", "address"),
                ("claude-code", "address"),
                ("vscode", "address"),
                ("cursor", "address"),
                ("inspector", "address"),
            ],
        ),
        (&jwt, "tools.example", &[]),
        (&[("AUTH", "none"), URL], "tools.example", &[]),
        (
            &[("AUTH", "api-key"), KEYS, URL],
            "tools.example",
            &[("claude", "authorization"), ("chatgpt", "authorization")],
        ),
        // As with `make dev`.
        (
            &[("AUTH", "api-key"), KEYS, ("DEVELOPMENT", "true")],
            "localhost:8787",
            &[
                ("claude", "https"),
                ("claude", "authorization"),
                ("chatgpt", "https"),
                ("chatgpt", "authorization"),
            ],
        ),
    ] {
        let report = report(variables, host);
        let missing = missing(&report);
        let missing: Vec<_> = ["claude", "chatgpt", "claude-code", "vscode", "cursor", "inspector"]
            .into_iter()
            .flat_map(|id| missing[id].iter().map(move |check| (id, check.as_str())))
            .collect();
        assert_eq!(missing, expected, "{variables:?}");
    }
}

#[test]
fn a_server_that_is_not_configured() {
    let missing = missing(&report(&[("AUTH", "")], "tools.example"));
    assert_eq!(missing["claude"], ["configuration", "https", "authorization"]);
    assert_eq!(missing["inspector"], ["configuration", "credentials"]);
}

#[test]
fn clients_that_people_cannot_sign_in_with_work_with_a_key() {
    const BY_KEY: &[&str] = &["claude-code", "vscode", "cursor", "inspector"];
    let key = &[("AUTH", "api-key"), KEYS];
    for (variables, host, expected) in [
        (&key[..], "localhost:8787", BY_KEY),
        (&[("AUTH", "none"), KEYS], "localhost:8787", &[]),
        (&[SIGN_IN, KEYS, KEY, URL], "tools.example", &[]),
        (&[SIGN_IN, KEYS, KEY, URL], "tools.workers.dev", BY_KEY),
        (&[JWT, &[URL]].concat(), "tools.example", &[]),
    ] {
        let report = report(variables, host);
        let connectors = report["connectors"].as_array().unwrap().iter();
        let noted: Vec<_> = connectors
            .filter(|connector| connector.get("note").is_some())
            .map(|connector| {
                assert_eq!(connector["note"], "works with an API key");
                assert_eq!(connector["ok"], true, "{connector}");
                connector["id"].as_str().unwrap()
            })
            .collect();
        assert_eq!(noted, expected, "{variables:?} {host}");
    }
}

#[test]
fn a_check_has_failed_only_if_a_client_cannot_work() {
    let state = |variables: &[(&str, &str)], host: &str, id: &str| {
        let report = report(variables, host);
        let mut checks = report["checks"].as_array().unwrap().iter();
        checks.find(|check| check["id"] == id).unwrap()["state"].as_str().unwrap().to_owned()
    };
    let sign_in = &[SIGN_IN, KEYS, KEY, URL];
    assert_eq!(state(sign_in, "tools.example", "redirect-scheme"), "info");
    assert_eq!(
        state(&[&sign_in[..], &[CURSOR]].concat(), "tools.example", "redirect-scheme"),
        "passed"
    );
    assert_eq!(state(sign_in, "tools.workers.dev", "address"), "failed");
    let mixed = |on| {
        const AUTH: (&str, &str) = ("AUTH", "none, sign-in, api-key");
        let variables = [AUTH, KEYS, KEY, URL, ("MCP_PER_TOOL_AUTHORIZATION", on)];
        state(&variables, "tools.example", "per-tool-authorization")
    };
    assert_eq!([mixed("true"), mixed("false")], ["passed", "info"]);
    let company = r#"{"issuer":"https://acme.example","clients":["a"]}"#;
    for (entries, expected) in [
        (format!("[{company}]"), "passed"),
        (format!("[{company}, {{}}]"), "info"),
        ("{}".to_owned(), "info"),
    ] {
        let variables = [&sign_in[..], &[("ENTERPRISE_ISSUERS", &*entries)]].concat();
        assert_eq!(state(&variables, "tools.example", "company"), expected, "{entries}");
    }
}

#[test]
fn a_server_without_an_address() {
    let report = report(&[SIGN_IN, KEYS, KEY], "tools.example");
    let missing = missing(&report);
    assert_eq!(
        missing["claude"],
        ["configuration", "public-url", "https", "authorization", "resource", "challenge-header"]
    );
    assert!(report.get("url").is_none());
}

#[test]
fn no_report_reveals_the_settings() {
    let closed = [
        SIGN_IN,
        KEYS,
        KEY,
        URL,
        ("OAUTH_PROVIDERS", "github"),
        ("OAUTH_GITHUB_CLIENT_ID", "github-client"),
        ("OAUTH_GITHUB_CLIENT_SECRET", "github-secret"),
        ("SIGN_IN_ALLOWED", "github:octocat"),
        (
            "SIGN_IN_CLIENTS",
            r#"[{"id":"connector","name":"Connector","redirect_uris":["https://connector.example/cb"],
                "secret_hash":"2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b"}]"#,
        ),
    ];
    let hidden = ("TOOL_ALLOWLIST", "Echo.hidden-tool");
    for secret in SECRETS {
        let is_set = |(_, value): &(&str, &str)| value.contains(secret);
        assert!(closed.iter().chain(&[hidden]).any(is_set), "no variable has {secret}");
    }
    let mut variables = closed.to_vec();
    let good = missing(&report(&variables, "tools.example"));
    assert_eq!(good["claude"], [""; 0]);
    variables.push(hidden);
    report(&variables, "tools.example");
    // With a problem in each of them.
    for (name, value) in closed {
        let variables: Vec<_> = variables
            .iter()
            .map(|&(other, text)| (other, if other == name { value.split_at(1).1 } else { text }))
            .collect();
        report(&variables, "tools.example");
    }
}

#[test]
fn checks_that_do_not_apply_are_left_out() {
    let ids = |variables: &[(&str, &str)], host: &str| {
        let report = report(variables, host);
        let checks = report["checks"].as_array().unwrap().iter();
        checks.map(|check| check["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let open = ["configuration", "tools", "authorization", "credentials", "allow", "web-page"];
    assert_eq!(ids(&[("AUTH", "none")], "localhost:8787"), open);
    let key = &[("AUTH", "api-key"), KEYS, URL];
    assert_eq!(
        ids(key, "tools.example"),
        [&["configuration", "tools", "https"][..], &open[2..]].concat()
    );
}

#[test]
fn what_depends_on_another_server_is_unknown() {
    let report = report(&[JWT, &[URL]].concat(), "tools.example");
    let checks = report["checks"].as_array().unwrap();
    let unknown = checks.iter().filter(|check| check["state"] == "unknown");
    let unknown: Vec<_> = unknown.map(|check| check["id"].as_str().unwrap()).collect();
    assert_eq!(unknown, ["client-documents", "registration", "refresh", "redirect-scheme"]);
    assert_eq!(report["url"], "https://tools.example/mcp");
    for check in checks {
        assert!(check["meaning"].as_str().unwrap().ends_with(['.', '…']), "{check}");
        assert_eq!(check.get("fix").is_none(), check["state"] == "passed", "{check}");
        assert!(!check["connectors"].as_array().unwrap().is_empty());
    }
}

#[test]
fn each_state_has_a_sentence_of_its_own() {
    let meaning = |variables: &[(&str, &str)], host: &str, id: &str| {
        let report = report(variables, host);
        let mut checks = report["checks"].as_array().unwrap().iter();
        let check = checks.find(|check| check["id"] == id).unwrap();
        format!("{} {}", check["state"].as_str().unwrap(), check["meaning"].as_str().unwrap())
    };
    let key = [("AUTH", "api-key"), KEYS];
    let local = [&key[..], &[("PUBLIC_URL", "http://localhost:8787")]].concat();
    let grants = [
        &key[..],
        &[
            URL,
            KEY,
            ("OAUTH_PROVIDERS", "mail"),
            ("OAUTH_MAIL_CLIENT_ID", "id"),
            ("OAUTH_MAIL_ISSUER", "https://mail.example"),
            ("GRANT_KEYS", "a:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="),
        ],
    ];
    let grants = grants.concat();
    let others = [&key[..], &[("TOOL_ALLOWLIST", "Echo.Say")]].concat();
    for (variables, host, id, expected) in [
        (&key.to_vec(), "tools.example", "tools", "info Some tools lack a variable"),
        (&grants, "tools.example", "tools", "passed No tool lacks a variable"),
        (&others, "tools.example", "tools", "passed No tool lacks a variable"),
        (&[&key[..], &[URL]].concat(), "tools.example", "https", "passed PUBLIC_URL is an https"),
        (&local, "localhost:8787", "https", "failed PUBLIC_URL is not an https"),
        (&key.to_vec(), "tools.example", "authorization", "failed People cannot sign in"),
        (
            &vec![("AUTH", "none")],
            "localhost:8787",
            "authorization",
            "passed These clients can connect",
        ),
        (&vec![("AUTH", "")], "tools.example", "credentials", "failed The server accepts no"),
        (&[JWT, &[URL]].concat(), "tools.example", "registration", "unknown The issuer decides"),
    ] {
        let meaning = meaning(variables, host, id);
        assert!(meaning.starts_with(expected), "{id}: {meaning}");
    }
}
