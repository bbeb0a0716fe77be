//! Access by web pages: preflights, and the headers that let a page read an answer.

use super::*;

const PREFLIGHT: (&str, &str) = ("access-control-request-method", "POST");

#[test]
fn options() {
    let host = FakeHost::default();
    for (path, allow) in [
        ("/tools", "GET, HEAD, OPTIONS"),
        ("/oxp/health", "GET, HEAD, OPTIONS"),
        ("/call", "POST, OPTIONS"),
    ] {
        // Without both headers it is no preflight.
        for headers in [&[][..], &[ORIGIN], &[PREFLIGHT]] {
            let expected = format!("204\nallow: {allow}\noxp-version: 1.0\n");
            assert_eq!(
                asked(&host, ("OPTIONS", path, headers), ""),
                expected,
                "{path} {headers:?}"
            );
        }
    }
}

#[test]
fn a_preflight_comes_before_everything_else() {
    let refused = "403\ncontent-type: application/json\nvary: Origin\noxp-version: 1.0\n\
                   {\"message\":\"This origin may not call the server\",\
                   \"developer_message\":\"ALLOWED_ORIGINS does not name the request's Origin\"}";
    let allowed = |origin: &str| {
        format!(
            "204\naccess-control-allow-methods: GET, HEAD, POST, OPTIONS\n\
             access-control-allow-headers: accept, authorization, content-type, if-none-match, \
             last-event-id, mcp-method, mcp-name, mcp-protocol-version, mcp-session-id, otc-api-key, \
             oxp-api-key, oxp-version\naccess-control-max-age: 86400\n\
             access-control-allow-origin: {origin}\nvary: Origin\noxp-version: 1.0\n"
        )
    };
    for (origins, expected) in [
        ("", refused.to_owned()),
        ("https://b.example", refused.to_owned()),
        ("https://b.example,https://a.example", allowed("https://a.example")),
        ("*", allowed("*")),
    ] {
        for broken in [None, Some(("MAX_BODY_BYTES", "0"))] {
            let variables: Vec<_> =
                [("ALLOWED_ORIGINS", origins)].into_iter().chain(broken).collect();
            let host = FakeHost { store_works: false, ..FakeHost::with(&variables) };
            for path in ["/tools/call", "/health", "/nowhere", ""] {
                for version in ["1.0", "2.0"] {
                    let headers = [ORIGIN, PREFLIGHT, ("oxp-version", version)];
                    let got = asked(&host, ("OPTIONS", path, &headers), "not even a body");
                    assert_eq!(got, expected, "{origins} {path} {broken:?}");
                }
            }
        }
    }
}

#[test]
fn every_answer_can_be_read_by_an_allowed_page_alone() {
    let host = FakeHost::with(&[("ALLOWED_ORIGINS", "https://a.example")]);
    let readable = "access-control-expose-headers: etag, oxp-version, retry-after, retry-after-ms, \
                    toolbooth-warning, www-authenticate, x-should-retry\n\
                    access-control-allow-origin: https://a.example\nvary: Origin\n";
    for (method, path, body, status) in [
        ("GET", "/tools", "", 200),
        ("HEAD", "/tools", "", 200),
        ("GET", "/health", "", 200),
        ("POST", "/call", CALL, 200),
        ("POST", "/call", "{", 400),
        ("POST", "/call", r#"{"tool_id":"Echo.Say"}"#, 422),
        ("GET", "/nowhere", "", 404),
        ("GET", "/call", "", 405),
        ("OPTIONS", "/call", "", 204),
    ] {
        let from_page = asked(&host, (method, path, &[JSON, ORIGIN]), body);
        assert!(from_page.starts_with(&status.to_string()), "{from_page}");
        assert!(from_page.contains(&format!("oxp-version: 1.0\n{readable}")), "{from_page}");
        for stranger in [&[JSON, ("origin", "https://evil.example")][..], &[JSON]] {
            let got = asked(&host, (method, path, stranger), body);
            assert!(got.contains("oxp-version: 1.0\nvary: Origin\n"), "{got}");
            assert!(!got.contains("access-control"), "{got}");
        }
    }
}
