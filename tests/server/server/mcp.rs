//! Property tests of MCP: any message with any headers gets a valid response.

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use super::properties::{any_json, modest};
use super::*;

const METHODS: [&str; 14] = [
    "server/discover",
    "initialize",
    "ping",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "prompts/list",
    "prompts/get",
    "completion/complete",
    "logging/setLevel",
    "notifications/cancelled",
    "",
];

const PLACES: [&str; 11] = [
    "/id",
    "/method",
    "/params",
    "/params/name",
    "/params/arguments",
    "/params/cursor",
    "/params/requestState",
    "/params/inputResponses",
    "/params/_meta",
    "/params/_meta/io.modelcontextprotocol~1clientCapabilities",
    "/params/_meta/toolbooth~1context",
];

fn header() -> impl Strategy<Value = (&'static str, String)> {
    let names = select(vec![
        "mcp-protocol-version",
        "mcp-method",
        "mcp-name",
        "mcp-session-id",
        "origin",
        "accept",
    ]);
    let values = select(vec![
        "2026-07-28",
        "2025-11-25",
        "application/json, text/event-stream",
        "tools/call",
        "Echo_Say",
        "=?base64?RWNob19TYXk=?=",
        "=?base64?",
        "https://claude.ai",
    ]);
    (names, prop_oneof![4 => values.prop_map(str::to_owned), 1 => any::<String>()])
}

proptest! {
    #![proptest_config(modest())]

    #[test]
    fn any_message_gets_a_valid_response(
        method in select(METHODS.to_vec()),
        modern in any::<bool>(),
        place in select(PLACES.to_vec()),
        value in any_json(),
        headers in prop::collection::vec(header(), 0..3),
        query in select(vec!["", "?elicitation=url", "?page_size=1", "?page_size=é&elicitation"]),
        challenges in any::<bool>(),
        name in select(vec!["Echo_Private", "Echo_Say"]),
        text in select(vec!["hi", "ask", "ask none", "ask much", "note", "fail", "long", "revoked"]),
    ) {
        let mut body = json!({
            "jsonrpc": "2.0", "id": 7, "method": method,
            "params": {
                "name": name, "uri": "toolbooth://tools/Echo.Say", "arguments": {"text": text},
                "cursor": "0", "requestState": "a.b", "inputResponses": {},
                "_meta": {
                    "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"url": {}}},
                    "toolbooth/context": {"user_id": "u"}
                }
            }
        });
        let mut sent = vec![JSON];
        if modern {
            body["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
            sent.extend([("mcp-protocol-version", "2026-07-28"), ("mcp-method", method), ("mcp-name", name)]);
        }
        *body.pointer_mut(place).unwrap() = value;
        // Of two headers with the same name, the first counts; later ones simulate unexpected headers.
        sent.extend(headers.iter().map(|(name, value)| (*name, value.as_str())));
        let variables: &[_] =
            if challenges { crate::mcp_challenges::VARIABLES } else { &[] };
        let host = FakeHost::with(variables);
        if challenges {
            sent.push(crate::mcp_challenges::KEY);
        }
        send(&host, ("POST", &format!("/mcp{query}"), &sent), &body.to_string());
    }
}

/// Clients that find no metadata register here, and show people the error.
#[test]
fn clients_learn_that_they_need_not_register() {
    const ISSUER: &[(&str, &str)] = &[
        ("AUTH", "jwt"),
        ("PUBLIC_URL", "https://tools.example"),
        ("JWT_ISSUER", "https://login.example"),
    ];
    for (variables, expected) in [
        (&[][..], "Authorization: Bearer <key>"),
        (ISSUER, "/.well-known/oauth-protected-resource/mcp"),
    ] {
        let host = FakeHost::with(variables);
        let request = ("POST", "/register", &[JSON][..]);
        let answer = answer(CATALOG, &host, request, Body::from(r#"{"redirect_uris":[]}"#));
        let body: Value = serde_json::from_slice(&answer.body).unwrap();
        assert_eq!((answer.status, &body["error"]), (400, &json!("access_denied")));
        assert!(body["error_description"].as_str().unwrap().contains(expected), "{body}");
    }
}

/// A value in another form, such as a private key, is never served.
#[test]
fn the_registry_reads_the_key_of_the_domain() {
    let line = format!("v=MCPv1; k=ed25519; p={}=", "A".repeat(43));
    for (value, expected, warned) in [
        (Some(line.as_str()), Some(&*line), false),
        (None, None, false),
        (Some(""), None, false),
        (Some("-----BEGIN PRIVATE KEY-----"), None, true),
    ] {
        let variables: Vec<_> =
            value.map(|value| ("MCP_REGISTRY_AUTH", value)).into_iter().collect();
        let host = FakeHost::with(&variables);
        let request = ("GET", "/.well-known/mcp-registry-auth", &[][..]);
        let got = answer(CATALOG, &host, request, Body::from(""));
        assert_eq!(got.status, if expected.is_some() { 200 } else { 404 }, "{value:?}");
        if let Some(expected) = expected {
            assert_eq!(got.body, expected.as_bytes());
            assert!(got.headers.contains(&("content-type", "text/plain; charset=utf-8".into())));
        }
        let log = host.log.borrow();
        assert_eq!(
            log.iter().any(|line| line.contains("MCP_REGISTRY_AUTH must be")),
            warned,
            "{log:?}"
        );
        assert!(!log.iter().any(|line| line.contains("PRIVATE")), "{log:?}");
    }
}

#[test]
fn the_server_card_says_where_the_server_is() {
    const KEYS: (&str, &str) = (
        "API_KEYS",
        r#"[{"name":"Calendar","scopes":[],"hash":"e8b18fbe02fad6aa9ce82b235322e7c10196478f011f9f8617b1b75d6db57961"}]"#,
    );
    const URL: (&str, &str) = ("PUBLIC_URL", "https://tools.example");
    const NAME: (&str, &str) = ("MCP_SERVER_NAME", "com.example/tools");
    const TEXT: (&str, &str) = ("MCP_DESCRIPTION", " Echoes. ");
    let at = Some("tools.local");
    for (variables, sent, expected) in [
        (
            &[("AUTH", "none"), URL][..],
            at,
            Some(("example.tools/mcp", "Echo tools", "https://tools.example/mcp", Value::Null)),
        ),
        (
            &[("AUTH", "api-key"), KEYS, URL, NAME, TEXT],
            at,
            Some(("com.example/tools", "Echoes.", "https://tools.example/mcp", json!(true))),
        ),
        (
            &[("AUTH", "api-key, none"), KEYS, NAME],
            at,
            Some(("com.example/tools", "Echo tools", "https://tools.local/mcp", json!(false))),
        ),
        (
            &[
                ("AUTH", "sign-in, api-key"),
                KEYS,
                URL,
                ("STATE_KEY", "0123456789abcdef0123456789abcdef"),
            ],
            at,
            Some(("example.tools/mcp", "Echo tools", "https://tools.example/mcp", json!(false))),
        ),
        // Invalid values have no effect.
        (
            &[("AUTH", "none"), URL, ("MCP_SERVER_NAME", "tools"), ("MCP_DESCRIPTION", "")],
            at,
            Some(("example.tools/mcp", "Echo tools", "https://tools.example/mcp", Value::Null)),
        ),
        // Also while nobody may call.
        (
            &[("AUTH", ""), URL],
            at,
            Some(("example.tools/mcp", "Echo tools", "https://tools.example/mcp", Value::Null)),
        ),
        (&[("AUTH", "none")], None, None),
    ] {
        let host = FakeHost::with(variables);
        let headers: Vec<_> = sent.map(|host| ("host", host)).into_iter().collect();
        for path in [
            "/mcp/server-card",
            "/.well-known/mcp/server-card.json",
            "/.well-known/mcp/server-card",
        ] {
            let response = answer(CATALOG, &host, ("GET", path, &headers[..]), Body::from(""));
            let what = format!("{variables:?} {path}");
            let Some((name, description, url, required)) = &expected else {
                assert_eq!(response.status, 404, "{what}");
                continue;
            };
            let card: Value = serde_json::from_slice(&response.body).unwrap();
            assert_eq!(response.status, 200, "{what} {card}");
            assert_eq!([&card["name"], &card["description"]], [name, description], "{what}");
            assert_eq!(card["remotes"][0]["url"], *url, "{what}");
            assert_eq!(card["remotes"][0]["headers"][0]["isRequired"], *required, "{what}");
            let versions = &card["remotes"][0]["supportedProtocolVersions"];
            assert_eq!(versions[0], "2026-07-28");
            assert_eq!(versions.as_array().unwrap().len(), 4);
        }
    }
}
