//! The health check, and problems of the configuration.

use super::*;
use toolbooth::host::SIGN_IN_LIMITER;
use toolbooth::tool::Variable;

#[test]
fn health() {
    let answer = |status: u16, body: &str| {
        format!(
            "{status}\ncontent-type: application/json\ncache-control: no-store\noxp-version: 1.0\n{body}"
        )
    };
    let failing = || FakeHost { store_works: false, ..FakeHost::default() };
    let wrong = || FakeHost::with(&[("MAX_BODY_BYTES", "0"), ("ALLOWED_ORIGINS", "a.example")]);
    let unavailable = r#"{"status":"unavailable"}"#;
    for (what, host, method, headers, expected) in [
        ("ready", FakeHost::default(), "GET", &[][..], answer(200, r#"{"status":"OK"}"#)),
        ("HEAD", FakeHost::default(), "HEAD", &[], answer(200, "")),
        (
            "any credentials",
            FakeHost::default(),
            "GET",
            &[("authorization", "Bearer x")],
            answer(200, r#"{"status":"OK"}"#),
        ),
        (
            "another version",
            FakeHost::default(),
            "GET",
            &[("oxp-version", "9")],
            error(
                400,
                "This protocol version is not supported",
                "OXP-Version must be 1.0 or absent",
            ),
        ),
        ("store", failing(), "GET", &[], answer(503, unavailable)),
        ("store, without body", failing(), "HEAD", &[], answer(503, "")),
        ("configuration", wrong(), "GET", &[], answer(503, unavailable)),
        ("both", FakeHost { store_works: false, ..wrong() }, "GET", &[], answer(503, unavailable)),
    ] {
        for path in ["/health", "/oxp/health"] {
            assert_eq!(send(&host, (method, path, headers), ""), expected, "{what}");
        }
    }
}

#[test]
fn tools_whose_provider_is_not_configured_are_reported() {
    const WARNING: &str = "OAUTH_PROVIDERS does not include \"mail\", which Echo_Private requires: users cannot \
                           grant access, so clients must send tokens";
    let logged = format!("Warn configuration [(\"warning\", {WARNING:?})]");
    let key = [("authorization", "Bearer secret")];
    let hash = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b";
    let keys = format!(r#"[{{"name":"ops","scopes":["*"],"hash":"{hash}"}}]"#);
    let keys = [("AUTH", "api-key"), ("API_KEYS", &keys)];
    let without = [keys[0], keys[1], ("TOOL_ALLOWLIST", "Echo.Say")];
    let for_sign_in = [
        ("AUTH", "sign-in, api-key"),
        keys[1],
        ("PUBLIC_URL", "https://tools.example"),
        ("STATE_KEY", "0123456789abcdef0123456789abcdef"),
        ("OAUTH_PROVIDERS", "mail"),
        ("OAUTH_MAIL_CLIENT_ID", "c1"),
        ("OAUTH_MAIL_ISSUER", "https://mail.example"),
    ];
    let no_keys = WARNING.replace(
        "OAUTH_PROVIDERS does not include",
        "GRANT_KEYS is not set, so people can only sign in at",
    );
    for (variables, headers, expected) in [
        (&keys[..], &key[..], Some(WARNING)),
        (&keys, &[], None),
        (&without, &key, None),
        (&for_sign_in, &key, Some(&no_keys)),
    ] {
        let host = FakeHost::with(variables);
        let got = answer(CATALOG, &host, ("GET", "/health", headers), Body::from(""));
        let body: serde_json::Value = serde_json::from_slice(&got.body).unwrap();
        assert_eq!((got.status, &body["status"]), (200, &"OK".into()), "{variables:?}");
        assert_eq!(body["warnings"][0].as_str(), expected, "{variables:?} {headers:?}");
        let log = host.log.borrow();
        assert_eq!(log.contains(&logged), variables.len() == 2, "{log:?}");
    }
}

#[test]
fn a_limit_of_calls_alone_is_reported_where_people_sign_in() {
    const WARNING: &str = "RATE_LIMIT is bound and SIGN_IN_LIMITER is not: requests to sign-in and authorization are not limited";
    let sign_in = [
        ("AUTH", "sign-in"),
        ("PUBLIC_URL", "http://localhost:8787"),
        ("STATE_KEY", "0123456789abcdef0123456789abcdef"),
        ("DEVELOPMENT", "true"),
    ];
    for (variables, calls, visits, expected) in [
        (&sign_in[..], true, false, true),
        (&sign_in, true, true, false),
        (&sign_in, false, false, false),
        (&[("AUTH", "none")], true, false, false),
    ] {
        let mut host = FakeHost::with(variables);
        host.limit = calls.then_some(Ok(9));
        host.limits.extend(visits.then_some((SIGN_IN_LIMITER, Ok(9))));
        let server = Server::new(CATALOG, CAPABILITIES, &host);
        let warnings = server.state().warnings(&host);
        let warned = warnings.iter().any(|warning| warning == WARNING);
        assert_eq!(warned, expected, "{variables:?} {calls} {visits}: {warnings:?}");
    }
}

#[test]
fn server_problems_are_logged() {
    let host = FakeHost { store_works: false, ..FakeHost::with(&[("MAX_BODY_BYTES", "0")]) };
    let server = Server::new(CATALOG, CAPABILITIES, &host);
    let configuration = "Error configuration [(\"problem\", \"MAX_BODY_BYTES must be a whole number of bytes from 1 to 8388608\"), (\"affects\", \"calls\")]";
    assert_eq!(*host.log.borrow(), [configuration], "once, when the server is created");
    for path in ["/health", "/tools", "/health"] {
        let body = Body::from("");
        ready(server.answer(
            Request {
                own_origin: None,
                method: Method::Get,
                path,
                query: "",
                headers: &Pairs(&[]),
                body,
            },
            &host,
        ));
    }
    let store = "Error store [(\"problem\", \"down\")]";
    assert_eq!(
        *host.log.borrow(),
        [configuration, store, store],
        "and the store at each health check"
    );
}

#[test]
fn a_missing_secret_disables_only_the_tools_that_read_it() {
    const VARIABLES: &[Variable] = &[Variable::secret("MAIL_KEY")];
    let say = |tool: &Tool| Tool { version: tool.version.clone(), ..*tool };
    let mut tools: Vec<_> = CATALOG.tools.iter().map(say).collect();
    for tool in tools.iter_mut().filter(|tool| tool.tool == "Say" && tool.version.major == 1) {
        tool.variables = &["MAIL_KEY"];
    }
    let catalog: &'static Catalog =
        Box::leak(Box::new(Catalog { tools: tools.leak(), variables: VARIABLES, ..*CATALOG }));
    for (variables, status) in [(&[][..], 400), (&[("MAIL_KEY", "k")], 200)] {
        let host = FakeHost::with(variables);
        let server = Server::new(catalog, CAPABILITIES, &host);
        let problem =
            "MAIL_KEY is a secret that is not set; it disables Echo.Say@1.0.0, Echo.Say@1.10.0";
        let expected =
            format!("Error configuration [(\"problem\", \"{problem}\"), (\"affects\", \"tools\")]");
        let expected = if status == 400 { vec![expected] } else { vec![] };
        let mut log = host.log.take();
        log.retain(|line| line.starts_with("Error"));
        assert_eq!(log, expected);
        let send = |method, path, body: &str| {
            let headers = &Pairs(&[JSON]);
            let body = Body::from(body);
            let request = Request { own_origin: None, method, path, query: "", headers, body };
            ready(server.answer(request, &host))
        };
        let call = |id: &str| {
            let body = format!("{{\"tool_id\":\"{id}\",\"input\":{{\"text\":\"hi\"}}}}");
            send(Method::Post, "/call", &body)
        };
        let disabled = call("Echo.Say@1.0.0");
        let text = String::from_utf8_lossy(&disabled.head.body).into_owned();
        assert_eq!(disabled.head.status, status, "{text}");
        assert_eq!(text.contains("Tool 'Echo_Say' is not configured"), status == 400, "{text}");
        assert_eq!(call("Echo.Say@2.0.0").head.status, 200);
        assert_eq!(send(Method::Get, "/health", "").head.status, 200, "other tools are served");
    }
}

#[test]
fn an_invalid_configuration_rejects_calls_but_not_lists() {
    let host =
        FakeHost::with(&[("MAX_BODY_BYTES", "lots"), ("ALLOWED_ORIGINS", "https://a.example")]);
    let unavailable = error(
        400,
        "The tool server is temporarily unavailable",
        "its configuration is invalid; its log has the details",
    );
    for body in [CALL, r#"{"tool_id":"Echo.Private"}"#, r#"{"tool_id":"?"}"#] {
        let got = send(&host, ("POST", "/call", &[JSON]), body);
        assert_eq!(got.replace("vary: Origin\n", ""), unavailable, "{body}");
    }
    let list = send(&host, ("GET", "/tools", &[ORIGIN]), "");
    assert!(list.starts_with("200\n") && list.ends_with("{\"items\":[]}"), "{list}");
    assert!(list.contains("access-control-allow-origin: https://a.example\n"), "{list}");
    assert!(send(&host, ("GET", "/tools", &[("if-none-match", "*")]), "").starts_with("304\n"));
    assert!(send(&host, ("GET", "/health", &[]), "").starts_with("503\n"));
}
