//! Tests of the id in rejections of MCP requests that were not decoded.

use serde_json::{Value, json};

use super::*;

const PING: &str = r#"{"jsonrpc":"2.0","id":"p7","method":"ping"}"#;
const KEYS: &[(&str, &str)] = &[
    ("AUTH", "api-key"),
    (
        "API_KEYS",
        r#"[{"name":"one","scopes":[],"hash":"9b346041bc9a49574eb2665b2ad2a0a3f9f9cce4e42f5d1f26deb8a256b5966a"}]"#,
    ),
];

/// The status and the id of the response.
fn id(host: &FakeHost, headers: Headers<'_>, body: Body<'_>) -> (u16, Value) {
    let response = answer(CATALOG, host, ("POST", "/mcp", headers), body);
    let body: Value = serde_json::from_slice(&response.body).unwrap();
    assert!(body["error"]["code"].is_i64(), "{body}");
    (response.status, body["id"].clone())
}

#[test]
fn mc12_a_rejection_repeats_the_id() {
    let small = FakeHost::with(&[("MAX_BODY_BYTES", "20")]);
    let guarded = FakeHost::with(KEYS);
    let open = FakeHost::default();
    let broken = r#"{"jsonrpc":"2.0","id":"p7","method":}"#;
    for (what, host, headers, body, status) in [
        ("no credentials", &guarded, &[JSON][..], PING, 401),
        ("wrong credentials", &guarded, &[JSON, ("authorization", "Bearer x")], PING, 401),
        ("too large", &small, &[JSON], PING, 413),
        ("no content type", &open, &[], PING, 415),
        ("a foreign page", &open, &[JSON, ("origin", "https://evil.example")], PING, 403),
        ("not JSON", &open, &[JSON], broken, 400),
    ] {
        let sent = Sent::of(body.into());
        for stream in [false, true] {
            let got = id(host, headers, sent.body(stream));
            assert_eq!(got, (status, json!("p7")), "{what}, as a stream: {stream}");
        }
    }
}

#[test]
fn mc12_the_id_is_null_if_it_cannot_be_read() {
    let guarded = FakeHost::with(KEYS);
    let late = format!(r#"{{"params":"{}","id":"p7"}}"#, "x".repeat(9000));
    for (body, expected) in [
        (late.as_str(), Value::Null),
        ("", Value::Null),
        ("p7", Value::Null),
        (r#"[{"id":"p7"}]"#, Value::Null),
        (r#"{"id":{"a":"p7"}}"#, Value::Null),
        (&late.replacen('{', r#"{"id":7,"#, 1).replace(r#","id":"p7""#, ""), json!(7)),
    ] {
        let sent = Sent::of(body.into());
        for stream in [false, true] {
            let got = id(&guarded, &[JSON], sent.body(stream));
            assert_eq!(got, (401, expected.clone()), "{body:.40}");
        }
    }
}

#[test]
fn mc12_a_call_over_the_rate_limit_keeps_its_id() {
    let host = FakeHost { limit: Some(Ok(0)), ..FakeHost::default() };
    let call = json!({
        "jsonrpc": "2.0", "method": "tools/call",
        "params": {"name": "Echo_Say", "arguments": {"text": "x".repeat(9000)}}, "id": "p7"
    });
    assert_eq!(id(&host, &[JSON], Body::from(call.to_string().as_str())), (429, json!("p7")));
}

#[test]
fn a_crash_keeps_the_id() {
    let server = Server::new(CATALOG, CAPABILITIES, &FakeHost::default());
    for (start, expected) in [(PING, json!("p7")), ("", Value::Null)] {
        let response = server.failed("/mcp", &Pairs(&[]), start.as_bytes());
        let body: Value = serde_json::from_slice(&response.body).unwrap();
        assert_eq!((response.status, &body["id"]), (500, &expected));
    }
}

#[test]
fn mc10_get_without_credentials_is_401() {
    let guarded = FakeHost::with(KEYS);
    let key = ("authorization", "Bearer key-one");
    for method in ["GET", "HEAD"] {
        let response = answer(CATALOG, &guarded, (method, "/mcp", &[]), UNREAD);
        let challenge = response.headers.iter().find(|(name, _)| *name == "www-authenticate");
        assert_eq!((response.status, challenge.is_some()), (401, true), "{method}");
        for (host, headers) in [(&guarded, &[key][..]), (&FakeHost::default(), &[])] {
            let response = answer(CATALOG, host, (method, "/mcp", headers), UNREAD);
            let allow = response.headers.iter().find(|(name, _)| *name == "allow");
            let allow = allow.map(|(_, methods)| &**methods);
            assert_eq!((response.status, allow), (405, Some("POST, OPTIONS")), "{method}");
        }
    }
    let response = answer(CATALOG, &guarded, ("DELETE", "/mcp", &[]), UNREAD);
    assert_eq!(response.status, 405, "clients do not ask with it");
}
