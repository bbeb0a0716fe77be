//! Headers that repeat parts of a message.

use super::*;

#[test]
fn mc7_headers_are_checked_in_order() {
    let call = modern("tools/call", json!({"name": "Echo_Say", "arguments": {"text": "hi"}}));
    let other = |pointer: &str, value: Value| {
        let mut body = call.clone();
        *body.pointer_mut(pointer).unwrap() = value;
        body
    };
    let version = "/params/_meta/io.modelcontextprotocol~1protocolVersion";
    let capabilities = "/params/_meta/io.modelcontextprotocol~1clientCapabilities";
    const METHOD: (&str, &str) = ("mcp-method", "tools/call");
    const NAME: (&str, &str) = ("mcp-name", "Echo_Say");
    let unknown = |call: &Value| {
        let mut body = call.clone();
        body["params"]["_meta"] = json!({"io.modelcontextprotocol/protocolVersion": "2099-01-01"});
        body
    };
    for (what, headers, body, expected) in [
        ("good", &[VERSION, METHOD, NAME][..], call.clone(), (200, 0)),
        ("no version", &[METHOD, NAME], call.clone(), (400, -32020)),
        ("another version", &[UNKNOWN, METHOD, NAME], call.clone(), (400, -32020)),
        ("another in _meta", &[VERSION], other(version, json!("2099-01-01")), (400, -32020)),
        ("not a string in _meta", &[VERSION], other(version, json!(1)), (400, -32602)),
        ("no capabilities", &[VERSION], other(capabilities, json!([])), (400, -32602)),
        ("unknown in both", &[UNKNOWN], other(version, json!("2099-01-01")), (400, -32022)),
        ("no method", &[VERSION, NAME], call.clone(), (400, -32020)),
        ("another method", &[VERSION, LIST, NAME], call.clone(), (400, -32020)),
        (
            "a method in other case",
            &[VERSION, ("mcp-method", "Tools/call"), NAME],
            call.clone(),
            (400, -32020),
        ),
        ("blanks", &[VERSION, ("mcp-method", " tools/call "), NAME], call.clone(), (200, 0)),
        ("no name", &[VERSION, METHOD], call.clone(), (400, -32020)),
        ("another name", &[VERSION, METHOD, ("mcp-name", "Echo_say")], call.clone(), (400, -32020)),
        (
            "base64",
            &[VERSION, METHOD, ("mcp-name", "=?base64?RWNob19TYXk=?=")],
            call.clone(),
            (200, 0),
        ),
        (
            "base64 of another",
            &[VERSION, METHOD, ("mcp-name", "=?base64?RWNobw==?=")],
            call.clone(),
            (400, -32020),
        ),
        (
            "bad padding",
            &[VERSION, METHOD, ("mcp-name", "=?base64?RWNob19TYXk?=")],
            call.clone(),
            (400, -32020),
        ),
        (
            "bad characters",
            &[VERSION, METHOD, ("mcp-name", "=?base64?RWNob19T!Xk=?=")],
            call.clone(),
            (400, -32020),
        ),
        (
            "half a wrapper",
            &[VERSION, METHOD, ("mcp-name", "=?base64?RWNob19TYXk=")],
            call.clone(),
            (400, -32020),
        ),
        ("no name in the body", &[VERSION, METHOD], other("/params/name", json!(1)), (200, -32602)),
        (
            "each twice",
            &[
                ("mcp-protocol-version", "2026-07-28, 2026-07-28"),
                ("mcp-method", "tools/call,tools/call"),
                ("mcp-name", "Echo_Say , Echo_Say"),
            ],
            call.clone(),
            (200, 0),
        ),
        (
            "once as it is, once in base64",
            &[VERSION, METHOD, ("mcp-name", "Echo_Say, =?base64?RWNob19TYXk=?=")],
            call.clone(),
            (200, 0),
        ),
        (
            "two methods",
            &[VERSION, ("mcp-method", "tools/call, tools/list"), NAME],
            call.clone(),
            (400, -32020),
        ),
        (
            "two names",
            &[VERSION, METHOD, ("mcp-name", "Echo_Other, Echo_Say")],
            call.clone(),
            (400, -32020),
        ),
        // Only names and parameters may be encoded.
        (
            "a method in base64",
            &[VERSION, ("mcp-method", "=?base64?dG9vbHMvY2FsbA==?="), NAME],
            call.clone(),
            (400, -32020),
        ),
        (
            "a version in base64",
            &[("mcp-protocol-version", "=?base64?MjAyNi0wNy0yOA==?="), METHOD, NAME],
            call.clone(),
            (400, -32020),
        ),
        (
            "a method with a character outside of ASCII",
            &[VERSION, ("mcp-method", "tools/call\u{a0}"), NAME],
            call.clone(),
            (400, -32020),
        ),
        (
            "a name with a character outside of ASCII",
            &[VERSION, METHOD, ("mcp-name", "Écho")],
            other("/params/name", json!("Écho")),
            (400, -32020),
        ),
        (
            "the same in base64",
            &[VERSION, METHOD, ("mcp-name", "=?base64?w4ljaG8=?=")],
            other("/params/name", json!("Écho")),
            (200, -32602),
        ),
        (
            "a control character",
            &[VERSION, METHOD, ("mcp-name", "a\u{1}b")],
            other("/params/name", json!("a\u{1}b")),
            (400, -32020),
        ),
        ("unknown, and no capabilities", &[UNKNOWN], unknown(&call), (400, -32022)),
    ] {
        let answer = send(CATALOG, &FakeHost::default(), ("/mcp", headers), &body);
        assert_eq!(code(&answer), expected, "{what}: {answer:?}");
        assert_eq!(answer.1["id"], 7, "{what}");
    }
    // A client chooses from those that are supported, also one that knows nothing of `_meta`.
    for body in [other(version, json!("2099-01-01")), legacy("tools/list", json!({}))] {
        let (_, answer) = send(CATALOG, &FakeHost::default(), ("/mcp", &[UNKNOWN]), &body);
        let expected = json!({"supported": ["2026-07-28"], "requested": "2099-01-01"});
        assert_eq!(answer["error"]["data"], expected);
    }
}

#[test]
fn mc7_a_value_may_have_commas() {
    let uri = "test://a, b";
    let body = modern("resources/read", json!({"uri": uri}));
    for (sent, good) in [
        (uri, true),
        ("test://a, b, test://a, b", true),
        ("test://a, b,test://a, b,", true),
        ("=?base64?dGVzdDovL2EsIGI=?=, test://a, b", true),
        ("test://a", false),
        ("b, test://a", false),
        ("test://a, b, test://a", false),
        ("test://a, b test://a, b", false),
        ("=?base64?dGVzdDovL2EsIGI=?=?=, test://a, b", false),
        (",,,,", false),
    ] {
        let headers = [VERSION, ("mcp-method", "resources/read"), ("mcp-name", sent)];
        let answer = send(CATALOG, &FakeHost::default(), ("/mcp", &headers), &body);
        // There is no such resource.
        let expected = if good { (200, -32602) } else { (400, -32020) };
        assert_eq!(code(&answer), expected, "{sent}: {answer:?}");
    }
}

#[test]
fn mc7_headers_of_legacy_requests_must_agree_too() {
    const METHOD: (&str, &str) = ("mcp-method", "tools/call");
    let call = legacy("tools/call", json!({"name": "Echo_Say", "arguments": {"text": "hi"}}));
    let prompt = legacy("prompts/get", json!({"name": "Echo_Say"}));
    let resource = legacy("resources/read", json!({"uri": "toolbooth://tools/Echo.Say"}));
    let list = legacy("tools/list", json!({}));
    // The client negotiated one version before, and now asks for a newer one.
    let initialize = legacy("initialize", json!({"protocolVersion": "2025-11-25"}));
    let old = ("mcp-protocol-version", "2025-06-18");
    for (what, headers, body, good) in [
        ("none of them", &[LEGACY][..], &call, true),
        ("none at all", &[], &call, true),
        ("all of them", &[LEGACY, METHOD, ("mcp-name", "Echo_Say")], &call, true),
        ("base64", &[LEGACY, ("mcp-name", "=?base64?RWNob19TYXk=?=")], &call, true),
        ("another method", &[LEGACY, LIST], &call, false),
        ("another name", &[LEGACY, ("mcp-name", "Echo_Other")], &call, false),
        ("another name, no version", &[("mcp-name", "Echo_Other")], &call, false),
        ("two names", &[LEGACY, ("mcp-name", "Echo_Say, Echo_Other")], &call, false),
        ("another prompt", &[LEGACY, ("mcp-name", "Echo_Other")], &prompt, false),
        ("another resource", &[LEGACY, ("mcp-name", "toolbooth://tools")], &resource, false),
        ("a list with the method of a call", &[LEGACY, METHOD], &list, false),
        ("initialize", &[("mcp-method", "initialize")], &initialize, true),
        ("initialize with the method of a list", &[LIST], &initialize, false),
        ("initialize with an older version", &[old], &initialize, true),
    ] {
        let answer = send(CATALOG, &FakeHost::default(), ("/mcp", headers), body);
        assert_eq!(code(&answer) != (400, -32020), good, "{what}: {answer:?}");
        assert_eq!(answer.1["id"], 7, "{what}");
    }
}

#[test]
fn mc8_headers_of_parameters() {
    let tool = crate::catalog::Tool {
        version: crate::catalog::Version::new(1, 0, 0),
        headers: &[
            crate::catalog::HeaderParameter { header: "mcp-param-region", path: &["region"] },
            crate::catalog::HeaderParameter { header: "mcp-param-size", path: &["box", "size"] },
        ],
        ..CATALOG.tools[0]
    };
    let region = |value: Value| json!({"region": value});
    let size = |value: Value| json!({"box": {"size": value}});
    for (what, input, sent, good) in [
        ("nothing at all", json!({}), &[][..], true),
        ("null", region(json!(null)), &[], true),
        ("null with a header", region(json!(null)), &[("mcp-param-region", "null")], false),
        ("a header alone", json!({}), &[("mcp-param-region", "eu")], false),
        ("a string", region(json!("eu")), &[("mcp-param-region", "eu")], true),
        ("a string without header", region(json!("eu")), &[], false),
        ("another string", region(json!("eu")), &[("mcp-param-region", "EU")], false),
        ("base64", region(json!("é")), &[("mcp-param-region", "=?base64?w6k=?=")], true),
        ("the character itself", region(json!("é")), &[("mcp-param-region", "é")], false),
        ("a string twice", region(json!("eu")), &[("mcp-param-region", "eu, eu")], true),
        ("two strings", region(json!("eu")), &[("mcp-param-region", "eu, us")], false),
        ("an empty string", region(json!("")), &[("mcp-param-region", "")], true),
        ("a tab", region(json!("a\tb")), &[("mcp-param-region", "a\tb")], true),
        ("an integer twice", size(json!(42)), &[("mcp-param-size", "42,42.0")], true),
        ("two integers", size(json!(42)), &[("mcp-param-size", "42, 43")], false),
        ("a boolean twice", region(json!(true)), &[("mcp-param-region", "true, true")], true),
        (
            "base64 of invalid UTF-8",
            region(json!("é")),
            &[("mcp-param-region", "=?base64?/w==?=")],
            false,
        ),
        ("an integer", size(json!(42)), &[("mcp-param-size", "42")], true),
        ("as a number", size(json!(42)), &[("mcp-param-size", "42.0")], true),
        ("another integer", size(json!(42)), &[("mcp-param-size", "43")], false),
        (
            "a neighbour that is equal as a double",
            size(json!(9_007_199_254_740_993_u64)),
            &[("mcp-param-size", "9007199254740992")],
            false,
        ),
        (
            "a large integer",
            size(json!(9_007_199_254_740_993_u64)),
            &[("mcp-param-size", "9007199254740993")],
            true,
        ),
        ("not a number", size(json!(42)), &[("mcp-param-size", "x")], false),
        ("an integer without header", size(json!(42)), &[], false),
        ("a boolean", region(json!(true)), &[("mcp-param-region", "true")], true),
        ("another boolean", region(json!(false)), &[("mcp-param-region", "true")], false),
        ("an array", region(json!([1])), &[], true),
        ("another header", json!({}), &[("mcp-param-other", "x")], true),
    ] {
        let got = |era| {
            crate::protocol::mcp::headers::check_parameters(
                &tool,
                &(&input).into(),
                &Pairs(sent),
                era,
            )
        };
        // A legacy request may leave them out.
        let older = got(message::Era::Legacy);
        assert_eq!(older.is_ok(), good || sent.is_empty(), "{what}, before 2026-07-28");
        let modern = got(message::Era::Modern);
        assert_eq!(modern.is_ok(), good, "{what}");
        if let Err(error) = modern {
            let response = wire(&error.encode(None));
            let expected = response.starts_with("400\n") && response.contains("-32020");
            assert!(expected, "{what}: {response}");
        }
    }
}
