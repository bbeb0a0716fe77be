//! Tests of CORS: preflights, and the headers that let a page read a response.

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
        // A preflight has both headers.
        for headers in [&[][..], &[PREFLIGHT]] {
            let expected = format!("204\nallow: {allow}\noxp-version: 1.0\n");
            assert_eq!(send(&host, ("OPTIONS", path, headers), ""), expected, "{path} {headers:?}");
        }
    }
}

#[test]
fn preflights_are_handled_first() {
    let rejected = error(
        403,
        "Pages of this origin may not call the server",
        "ALLOWED_ORIGINS does not include the request's Origin",
    );
    let varying = rejected.replace("oxp-version: 1.0\n", "oxp-version: 1.0\nvary: Origin\n");
    let allowed = |origin: &str| {
        format!(
            "204\naccess-control-allow-methods: GET, HEAD, POST, DELETE, OPTIONS\n\
             access-control-allow-headers: accept, authorization, baggage, content-type, dpop, if-none-match, \
             last-event-id, mcp-method, mcp-name, mcp-protocol-version, mcp-session-id, otc-api-key, \
             oxp-api-key, oxp-version, prefer, traceparent, tracestate, x-api-key, x-auth-token, x-provider-key\naccess-control-max-age: 86400\noxp-version: 1.0\n\
             access-control-expose-headers: dpop-nonce, etag, location, oxp-version, preference-applied, \
             retry-after, retry-after-ms, toolbooth-warning, www-authenticate, x-2api-attempts, \
             x-2api-model, x-2api-provider, x-2api-warnings, x-should-retry\n\
             access-control-allow-origin: {origin}\nvary: Origin\n"
        )
    };
    for (origins, expected) in [
        ("", rejected),
        ("https://b.example", varying),
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
                    let got = send(&host, ("OPTIONS", path, &headers), "not even a body");
                    assert_eq!(got, expected, "{origins} {path} {broken:?}");
                }
            }
        }
    }
}

#[test]
fn only_allowed_pages_can_read_responses() {
    let host = FakeHost::with(&[("ALLOWED_ORIGINS", "https://a.example")]);
    let readable = "access-control-expose-headers: dpop-nonce, etag, location, oxp-version, preference-applied, \
                    retry-after, retry-after-ms, toolbooth-warning, www-authenticate, x-2api-attempts, \
                    x-2api-model, x-2api-provider, x-2api-warnings, x-should-retry\n\
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
        let from_page = send(&host, (method, path, &[JSON, ORIGIN]), body);
        assert!(from_page.starts_with(&status.to_string()), "{from_page}");
        assert!(from_page.contains(&format!("oxp-version: 1.0\n{readable}")), "{from_page}");
        let program = send(&host, (method, path, &[JSON]), body);
        assert!(program.starts_with(&status.to_string()), "{program}");
        let other_page =
            send(&host, (method, path, &[JSON, ("origin", "https://evil.example")]), body);
        assert!(other_page.starts_with("403\n"), "{other_page}");
        for got in [program, other_page] {
            assert!(got.contains("oxp-version: 1.0\nvary: Origin\n"), "{got}");
            assert!(!got.contains("access-control"), "{got}");
        }
    }
}

/// After DNS rebinding, a page calls this server under the page's own host name. `Host` and `Origin` then match,
/// so only the configured origins are compared.
#[test]
fn forbidden_origins_are_rejected_in_the_format_of_each_protocol() {
    const PUBLIC: (&str, &str) = ("PUBLIC_URL", "https://tools.example");
    const LISTED: (&str, &str) = ("ALLOWED_ORIGINS", "https://a.example");
    const ANY: (&str, &str) = ("ALLOWED_ORIGINS", "*");
    let endpoints = protocols::endpoints();
    let nowhere = ["/nowhere", "/oxp/nowhere", "/mcp/nowhere", "/providers/openai/nowhere"];
    let nowhere = nowhere.map(|path| ("GET".to_owned(), path.to_owned()));
    let metadata = ("GET".to_owned(), "/.well-known/oauth-protected-resource".to_owned());
    for (method, path) in endpoints.into_iter().chain(nowhere).chain([metadata]) {
        let clients = path.starts_with("/mcp") || path.starts_with("/.well-known");
        for (variables, origin, allowed) in [
            (&[][..], None, true),
            (&[], Some("https://evil.example"), false),
            (&[], Some("null"), false),
            (&[], Some(""), false),
            (&[], Some("http://localhost:3000"), clients),
            (&[], Some("https://claude.ai"), clients),
            (&[PUBLIC], Some("https://tools.example"), true),
            (&[PUBLIC], Some("https://tools.example.evil.example"), false),
            (&[PUBLIC], Some("http://tools.example"), false),
            (&[LISTED], Some("https://a.example"), true),
            (&[LISTED], Some("https://evil.example"), false),
            (&[ANY], Some("https://evil.example"), true),
        ] {
            let mut headers = vec![JSON, ("host", "evil.example")];
            headers.extend(origin.map(|origin| ("origin", origin)));
            // Without this scope, the chat gateway rejects every caller with 403.
            let scopes = [("ANONYMOUS_SCOPES", "gateway")];
            let host = FakeHost::with(&[variables, &scopes].concat());
            // `answer` checks the format.
            let rejected = answer(CATALOG, &host, (&method, &path, &headers), Body::from("{}"));
            assert_eq!(rejected.status != 403, allowed, "{method} {path} {variables:?} {origin:?}");
            if allowed {
                continue;
            }
            let text = wire(&rejected);
            assert!(text.contains("\ncache-control: no-store\n"), "{path}: {text}");
            assert!(!text.contains("access-control"), "{path}: {text}");
            let headers: Vec<_> = headers.iter().chain(&[PREFLIGHT]).copied().collect();
            let preflight = answer(CATALOG, &host, ("OPTIONS", &path, &headers), Body::from(""));
            assert_eq!(preflight, rejected, "{path}: the preflight gets the same response");
        }
    }
}

/// TLS proves the server's name, so a page of the same origin is one of its own.
#[test]
fn pages_of_the_servers_own_origin_may_call() {
    let host = FakeHost::with(&[]);
    let server = Server::new(CATALOG, CAPABILITIES, &host);
    for (own_origin, origin, allowed) in [
        (Some("https://tools.example"), "https://tools.example", true),
        (Some("https://tools.example"), "https://tools.example.evil.example", false),
        (Some("https://tools.example"), "http://tools.example", false),
        (Some("https://tools.example"), "", false),
        (None, "https://tools.example", false),
    ] {
        let headers = [JSON, ("origin", origin)];
        let request = Request {
            method: Method::Post,
            path: "/tools/call",
            query: "",
            own_origin,
            headers: &Pairs(&headers),
            body: Body::from("{}"),
        };
        let response = ready(server.answer(request, &host)).head;
        assert_eq!(response.status != 403, allowed, "{own_origin:?} {origin}");
        assert!(!wire(&response).contains("access-control"), "{own_origin:?} {origin}");
    }
}

#[test]
fn the_origin_is_checked_before_the_credentials() {
    let host = FakeHost::with(&[("AUTH", "api-key"), ("API_KEYS", "[]")]);
    let headers = [JSON, ORIGIN, ("authorization", "Bearer x")];
    let long = Sent::of(vec![b' '; 9000]);
    // MCP reads an id from the body.
    for (path, body) in [("/call", UNREAD), ("/mcp", long.body(true)), ("/jsonrpc", UNREAD)] {
        let got = answer(CATALOG, &host, ("POST", path, &headers), body);
        assert_eq!(got.status, 403, "{path}");
    }
}
