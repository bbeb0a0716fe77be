//! Messages, and the two eras.

use super::*;

#[test]
fn mc1_the_era_of_a_request() {
    let plain = legacy("tools/list", json!({}));
    let with_meta = modern("tools/list", json!({}));
    let initialize = legacy("initialize", json!({"protocolVersion": "2025-06-18"}));
    let modern_initialize = modern("initialize", json!({}));
    let meta = json!({"_meta": {"io.modelcontextprotocol/protocolVersion": null}});
    let null_version = legacy("tools/list", meta);
    fn twice(value: &str) -> (&str, &str) {
        ("mcp-protocol-version", value)
    }
    for (what, headers, body, expected) in [
        ("no version at all", &[][..], &plain, Ok("legacy")),
        ("a legacy version in the header", &[LEGACY], &plain, Ok("legacy")),
        ("an old name", &[("mcp-protocol-version", "2024-11-05")], &plain, Ok("legacy")),
        ("blanks around it", &[("mcp-protocol-version", " 2025-06-18 ")], &plain, Ok("legacy")),
        ("initialize with Mcp-Method", &[("mcp-method", "initialize")], &initialize, Ok("legacy")),
        ("header and _meta", &[VERSION, LIST], &with_meta, Ok("modern")),
        ("_meta alone", &[], &with_meta, Err((400, -32020))),
        ("_meta and a legacy header", &[LEGACY, LIST], &with_meta, Err((400, -32020))),
        ("Mcp-Method alone", &[LIST], &plain, Err((400, -32020))),
        ("the header alone", &[VERSION, LIST], &plain, Err((400, -32602))),
        ("an unknown header", &[UNKNOWN], &plain, Err((400, -32022))),
        ("a draft", &[("mcp-protocol-version", "DRAFT-2026-v1")], &plain, Err((400, -32022))),
        ("an empty header", &[("mcp-protocol-version", "")], &plain, Ok("legacy")),
        ("nothing but commas", &[("mcp-protocol-version", " , ,")], &plain, Ok("legacy")),
        ("a null version in _meta", &[LEGACY], &null_version, Ok("legacy")),
        // Fetch and proxies join headers with the same name.
        ("twice", &[twice("2025-11-25, 2025-11-25")], &plain, Ok("legacy")),
        ("without a blank", &[twice("2025-11-25,2025-11-25")], &plain, Ok("legacy")),
        ("three times", &[twice("2025-06-18 ,2025-06-18,,2025-06-18")], &plain, Ok("legacy")),
        ("modern twice", &[twice("2026-07-28, 2026-07-28"), LIST], &with_meta, Ok("modern")),
        ("two versions", &[twice("2025-11-25, 2025-06-18")], &plain, Err((400, -32020))),
        ("of two eras", &[twice("2026-07-28, 2025-11-25"), LIST], &with_meta, Err((400, -32020))),
        ("unknown twice", &[twice("2099-01-01, 2099-01-01")], &plain, Err((400, -32022))),
        ("no ASCII", &[twice("2025-11-25\u{e9}")], &plain, Err((400, -32020))),
        // The body of initialize negotiates, whatever the header says.
        ("initialize, modern header", &[VERSION], &initialize, Ok("legacy")),
        ("initialize, unknown header", &[UNKNOWN], &initialize, Ok("legacy")),
        ("initialize, two", &[twice("2025-11-25, 2026-07-28")], &initialize, Ok("legacy")),
        ("initialize, no ASCII", &[twice("\u{e9}")], &initialize, Ok("legacy")),
        ("initialize with _meta", &[VERSION, INITIALIZE], &modern_initialize, Err((404, -32601))),
    ] {
        let answer = send(CATALOG, &FakeHost::default(), ("/mcp", headers), body);
        let got = match answer.1["result"].as_object() {
            Some(result) if result.contains_key("resultType") => Ok("modern"),
            Some(_) => Ok("legacy"),
            None => Err(code(&answer)),
        };
        assert_eq!(got, expected, "{what}: {answer:?}");
        assert_eq!(answer.1["id"], 7, "{what}: the id is known");
    }
}

#[test]
fn mc2_invalid_messages() {
    for (body, expected) in [
        (
            json!([legacy("ping", json!({}))]),
            "Batches are not supported; send one message per request",
        ),
        (json!([]), "Batches are not supported; send one message per request"),
        (json!("ping"), "The message must be an object"),
        (json!({}), "jsonrpc must be \"2.0\""),
        (json!({"jsonrpc": "1.0", "id": 1, "method": "ping"}), "jsonrpc must be \"2.0\""),
        (json!({"jsonrpc": "2.0", "id": 1}), "method must be a string"),
        (json!({"jsonrpc": "2.0", "id": 1, "method": 2}), "method must be a string"),
        (
            json!({"jsonrpc": "2.0", "id": null, "method": "ping"}),
            "id must be a string or an integer",
        ),
        (
            json!({"jsonrpc": "2.0", "id": 1.5, "method": "ping"}),
            "id must be a string or an integer",
        ),
        (
            json!({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []}),
            "params must be an object",
        ),
    ] {
        let answer = send(CATALOG, &FakeHost::default(), ("/mcp", &[]), &body);
        assert_eq!(code(&answer), (400, -32600), "{body}");
        assert_eq!(answer.1["error"]["message"], expected, "{body}");
        // The response has the id if it could be read.
        let id = body.get("id").filter(|id| id.is_i64()).unwrap_or(&Value::Null);
        assert_eq!(&answer.1["id"], id, "{body}");
    }
}

#[test]
fn mc2_ids_are_strings_or_integers() {
    for (id, expected) in [
        ("7", Some("7")),
        ("-7", Some("-7")),
        ("0", Some("0")),
        ("18446744073709551615", Some("18446744073709551615")),
        ("9007199254740993", Some("9007199254740993")),
        // Some serializers write all numbers like this.
        ("7.0", Some("7.0")),
        ("1e2", Some("100.0")),
        (r#""""#, Some(r#""""#)),
        (r#""7""#, Some(r#""7""#)),
        ("7.5", None),
        // It could not be repeated exactly.
        ("18446744073709551616", None),
        ("null", None),
        ("true", None),
        ("[7]", None),
        ("{}", None),
    ] {
        let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
        let response = wire(&mcp::post_text((CATALOG, CAPABILITIES), &FakeHost::default(), &body));
        match expected {
            Some(id) => assert!(response.contains(&format!(r#""id":{id},"result""#)), "{response}"),
            None => assert!(response.starts_with("400\n"), "{id}: {response}"),
        }
    }
}

#[test]
fn mc3_notifications_are_accepted_without_a_body() {
    for body in [
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}),
        json!({"jsonrpc": "2.0", "id": 1, "result": {}}),
        json!({"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "m"}}),
    ] {
        let answer = send(CATALOG, &FakeHost::default(), ("/mcp", &[LEGACY]), &body);
        assert_eq!(answer, (202, Value::Null), "{body}");
    }
}

#[test]
fn mc4_methods_of_each_era() {
    for (method, in_modern, in_legacy) in [
        ("server/discover", true, false),
        ("initialize", false, true),
        ("ping", false, true),
        ("logging/setLevel", false, true),
        ("resources/subscribe", false, true),
        ("resources/unsubscribe", false, true),
        ("tools/list", true, true),
        ("resources/list", true, true),
        ("resources/templates/list", true, true),
        ("prompts/list", true, true),
        ("subscriptions/listen", false, false),
        ("tools/lists", false, false),
    ] {
        let answer = send_modern(CATALOG, &FakeHost::default(), &modern(method, json!({})));
        let expected = if in_modern { (200, 0) } else { (404, -32601) };
        assert_eq!(code(&answer), expected, "modern {method}");
        let answer = send(CATALOG, &FakeHost::default(), ("/mcp", &[]), &legacy(method, json!({})));
        let expected = if in_legacy { (200, 0) } else { (200, -32601) };
        assert_eq!(code(&answer), expected, "legacy {method}");
    }
}

#[test]
fn mc5_initialize_negotiates_a_version() {
    let server = json!({"name": "echo-tools", "title": "Echo tools", "version": "1.2.3"});
    for (asked, expected) in [
        (json!("2025-11-25"), "2025-11-25"),
        (json!("2025-06-18"), "2025-06-18"),
        (json!("2025-03-26"), "2025-03-26"),
        (json!("2024-11-05"), "2024-11-05"),
        (json!("2026-07-28"), "2025-11-25"),
        (json!("1"), "2025-11-25"),
        (json!(null), "2025-11-25"),
    ] {
        let body = legacy("initialize", json!({"protocolVersion": asked}));
        let (status, answer) = send(CATALOG, &FakeHost::default(), ("/mcp", &[]), &body);
        assert_eq!((status, &answer["result"]["protocolVersion"]), (200, &json!(expected)));
        assert_eq!(answer["result"]["serverInfo"], server);
        // Some clients send their newest version in the header.
        for header in [VERSION, UNKNOWN] {
            let again = send(CATALOG, &FakeHost::default(), ("/mcp", &[header]), &body);
            assert_eq!(again, (status, answer.clone()), "{header:?}");
        }
    }
}

#[test]
fn mc6_discovery() {
    let (_, answer) =
        send_modern(CATALOG, &FakeHost::default(), &modern("server/discover", json!({})));
    let result = &answer["result"];
    assert_eq!(result["supportedVersions"], json!(["2026-07-28"]));
    assert_eq!(result["cacheScope"], "public");
    assert!(result["ttlMs"].is_u64());
    let server = json!({"name": "echo-tools", "title": "Echo tools", "version": "1.2.3"});
    assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"], server);
}

#[test]
fn mc6_what_the_operator_says_about_the_server() {
    const ICONS: &str = r#"[{"src": "https://a.example/i.png", "sizes": ["48x48"]}]"#;
    let icons = json!([{"src": "https://a.example/i.png", "sizes": ["48x48"]}]);
    let server = json!({"name": "echo-tools", "title": "Echo tools", "version": "1.2.3"});
    let with = |name: &str, value: Value| {
        let mut server = server.clone();
        server[name] = value;
        server
    };
    let initialize = legacy("initialize", json!({"protocolVersion": "2025-11-25"}));
    let discover = modern("server/discover", json!({}));
    for (variables, instructions, info) in [
        (&[][..], None, server.clone()),
        (&[("MCP_INSTRUCTIONS", " ")], None, server.clone()),
        (&[("MCP_INSTRUCTIONS", "Say \"hi\"\nfirst.")], Some("Say \"hi\"\nfirst."), server.clone()),
        (
            &[("MCP_WEBSITE_URL", "https://a.example/about")],
            None,
            with("websiteUrl", json!("https://a.example/about")),
        ),
        (&[("MCP_ICONS", ICONS)], None, with("icons", icons.clone())),
        // What is invalid is not sent.
        (&[("MCP_ICONS", "icon.png")], None, server.clone()),
        (&[("MCP_WEBSITE_URL", "a.example")], None, server.clone()),
    ] {
        let host = FakeHost::with(variables);
        let (status, answer) = send(CATALOG, &host, ("/mcp", &[]), &initialize);
        let result = &answer["result"];
        let said = instructions.map(Value::from);
        assert_eq!((status, result.get("instructions")), (200, said.as_ref()), "{variables:?}");
        assert_eq!(result["serverInfo"], info, "{variables:?}");
        let (status, answer) = send_modern(CATALOG, &host, &discover);
        let result = &answer["result"];
        assert_eq!((status, result.get("instructions")), (200, said.as_ref()), "{variables:?}");
        let meta = |result: &Value| result["_meta"]["io.modelcontextprotocol/serverInfo"].clone();
        assert_eq!(meta(result), info, "{variables:?}");
        // The other results have the name alone.
        let say = modern("tools/call", json!({"name": "Echo_Say", "arguments": {"text": "hi"}}));
        let (status, answer) = send_modern(CATALOG, &host, &say);
        assert_eq!((status, meta(&answer["result"])), (200, server.clone()), "{variables:?}");
    }
}
