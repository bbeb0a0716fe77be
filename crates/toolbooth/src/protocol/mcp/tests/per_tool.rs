//! One address with tools for everyone and tools that need a sign-in: `MCP_PER_TOOL_AUTHORIZATION`.

use base64ct::{Base64UrlUnpadded, Encoding};
use jwt_compact::alg::{Hs256, Hs256Key};
use jwt_compact::{Algorithm, AlgorithmSignature};

use super::lists::{catalogue, entry};
use super::*;
use crate::catalog::Entry;

const SECRET: &str = "a secret of thirty-two bytes or m";
const ON: (&str, &str) = ("MCP_PER_TOOL_AUTHORIZATION", "true");
const METADATA: &str =
    r#"resource_metadata="https://tools.example/.well-known/oauth-protected-resource/mcp""#;
const KEY: (&str, &str) = ("x-api-key", "calendar-key");

/// A server to which people sign in elsewhere, with these variables too.
fn host(more: &[(&'static str, &'static str)]) -> FakeHost {
    let variables = [
        ("AUTH", "none, jwt, api-key"),
        ("JWT_SECRET", SECRET),
        ("JWT_ISSUER", "https://login.example"),
        ("PUBLIC_URL", "https://tools.example"),
        (
            "API_KEYS",
            r#"[{"name":"Calendar","scopes":[],"hash":"e8b18fbe02fad6aa9ce82b235322e7c10196478f011f9f8617b1b75d6db57961"}]"#,
        ),
    ];
    FakeHost::with(&[&variables, more].concat())
}

/// The header of alice, who has signed in, with these scopes.
fn signed_in(scope: &str) -> String {
    let claims = json!({
        "iss": "https://login.example", "sub": "alice", "scope": scope, "exp": 1_741_724_060,
        "aud": "https://tools.example/mcp"
    });
    let parts = [json!({"alg": "HS256", "typ": "JWT"}), claims];
    let message =
        parts.map(|part| Base64UrlUnpadded::encode_string(part.to_string().as_bytes())).join(".");
    let signature = Hs256.sign(&Hs256Key::new(SECRET), message.as_bytes());
    format!("Bearer {message}.{}", Base64UrlUnpadded::encode_string(&signature.as_bytes()))
}

const PRIVATE: &str =
    r#"{"name":"Echo_Private","_meta":{"toolbooth/id":"Echo.Private@1.0.0","ui":{"a":{}}}}"#;
const SAY: &str = r#"{"name":"Echo_Say","_meta":{"toolbooth/id":"Echo.Say@2.0.0"}}"#;
const SCOPED: &str = r#"{"name":"Echo_Scoped","_meta":{"toolbooth/id":"Echo.Scoped@1.0.0"}}"#;

fn tools() -> &'static Catalog {
    let body = format!("[{PRIVATE},{SAY},{SCOPED}]").leak();
    let (private, say) = (1 + PRIVATE.len(), PRIVATE.len() + SAY.len() + 2);
    let entries: Vec<Entry> = vec![
        entry(2, 1, private),
        entry(5, private + 1, say),
        entry(6, say + 1, say + 1 + SCOPED.len()),
    ];
    catalogue("mcp-tools", body, entries.leak())
}

/// The tools of a list with their schemes, if they have some.
fn schemes(answer: &Value) -> Vec<(String, Value)> {
    let tools = answer["result"]["tools"].as_array().cloned().unwrap_or_default();
    tools
        .iter()
        .map(|tool| {
            let [own, copy] = [&tool["securitySchemes"], &tool["_meta"]["securitySchemes"]];
            assert_eq!(own, copy, "{tool}");
            (tool["name"].as_str().unwrap().to_owned(), own.clone())
        })
        .collect()
}

#[test]
fn mc70_lists_say_what_each_tool_needs() {
    let named = |tools: &[(&str, &Value)]| -> Vec<(String, Value)> {
        tools.iter().map(|(name, value)| ((*name).to_owned(), (*value).clone())).collect()
    };
    let none = Value::Null;
    let open = json!([{"type": "noauth"}]);
    let user = json!([{"type": "oauth2"}]);
    let scoped = json!([{"type": "oauth2", "scopes": ["echo:a", "echo:b"]}]);
    let closed = named(&[("Echo_Private", &none), ("Echo_Say", &none)]);
    let all = named(&[("Echo_Private", &user), ("Echo_Say", &open), ("Echo_Scoped", &scoped)]);
    let allowed = named(&[("Echo_Private", &user), ("Echo_Say", &open)]);
    let token = signed_in("");
    let alice = [("authorization", &*token)];
    for (variables, path, sender, expected) in [
        (&[][..], "/mcp", &[][..], closed.clone()),
        (&[("MCP_PER_TOOL_AUTHORIZATION", "false")], "/mcp", &[], closed.clone()),
        (&[], "/mcp", &alice, closed.clone()),
        (&[ON], "/mcp", &[], all.clone()),
        (&[ON], "/mcp?tools=all", &[], all.clone()),
        // Another sign-in gives further scopes, and nothing gives them to an API key.
        (&[ON], "/mcp", &alice, all.clone()),
        (&[ON], "/mcp", &[KEY], allowed.clone()),
        (&[ON, ("TOOL_ALLOWLIST", "Echo.Private,Echo.Say")], "/mcp", &[], allowed.clone()),
        (&[ON, ("ANONYMOUS_SCOPES", "echo:a")], "/mcp", &[], all.clone()),
        (
            &[ON, ("ANONYMOUS_SCOPES", "echo:a,echo:b")],
            "/mcp",
            &[],
            named(&[("Echo_Private", &user), ("Echo_Say", &open), ("Echo_Scoped", &open)]),
        ),
        // Without a place to sign in, it has no effect.
        (&[ON, ("AUTH", "none")], "/mcp", &[], closed.clone()),
        (&[ON, ("PUBLIC_URL", "")], "/mcp", &[], closed.clone()),
        (&[ON], "/mcp?page_size=9", &[], all.clone()),
    ] {
        let host = host(variables);
        let what = format!("{variables:?} {path} {sender:?}");
        let params = || json!({});
        for version in ["2025-11-25", "2025-06-18", "2025-03-26"] {
            let sent: Vec<_> =
                [("mcp-protocol-version", version)].iter().chain(sender).copied().collect();
            let (_, answer) = send(tools(), &host, (path, &sent), &legacy("tools/list", params()));
            assert_eq!(schemes(&answer), expected, "{what} {version}");
        }
        let body = modern("tools/list", params());
        let sent: Vec<_> = headers(&body).into_iter().chain(sender.iter().copied()).collect();
        let (_, answer) = send(tools(), &host, (path, &sent), &body);
        assert_eq!(schemes(&answer), expected, "{what}");
        let is_private = answer["result"]["cacheScope"] == "private";
        assert!(is_private || variables.contains(&("AUTH", "none")), "{what}");
    }
    let (host, mut cursor, mut pages) = (host(&[ON]), json!(null), Vec::new());
    loop {
        let list = legacy("tools/list", json!({"cursor": cursor}));
        let (_, answer) = send(tools(), &host, ("/mcp?page_size=1", &[]), &list);
        pages.extend(schemes(&answer));
        cursor = answer["result"]["nextCursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!(pages, all, "page by page");
    let cursors = [json!("3"), json!("x"), json!(1)];
    for (path, cursor) in cursors.iter().flat_map(|it| [("/mcp?page_size=1", it), ("/mcp", it)]) {
        let list = legacy("tools/list", json!({"cursor": cursor}));
        let (_, answer) = send(tools(), &host, (path, &[]), &list);
        assert_eq!(answer["error"]["code"], -32602, "{path} {cursor}");
    }
}

/// What came of a call: the status, the challenge in the header, and that in the result.
fn called(host: &FakeHost, to: (&str, Sent<'_>), body: &Value) -> (u16, String, String, Value) {
    let response = mcp::post((tools(), CAPABILITIES), host, to, body);
    let mut headers = response.headers.iter();
    let header = headers.find(|(name, _)| *name == "www-authenticate");
    let header = header.map(|(_, value)| value.to_string()).unwrap_or_default();
    let (status, answer) = mcp::read(response);
    let challenges = &answer["result"]["_meta"]["mcp/www_authenticate"];
    if !challenges.is_null() {
        assert_eq!(challenges.as_array().map(Vec::len), Some(1), "{answer}");
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        assert!(answer["result"]["content"][0]["text"].is_string(), "{answer}");
    }
    (status, header, challenges[0].as_str().unwrap_or_default().to_owned(), answer)
}

fn call(name: &str) -> Value {
    json!({"name": name, "arguments": {"text": "hi"}})
}

#[test]
fn mc71_a_protected_call_asks_for_a_sign_in() {
    let scope = r#"scope="echo:a echo:b""#;
    let sign_in = format!(r#"Bearer realm="toolbooth", {scope}, {METADATA}"#);
    let nobody = format!(r#"Bearer realm="toolbooth", {METADATA}"#);
    let insufficient = format!(r#"Bearer realm="toolbooth", error="insufficient_scope", {scope}"#);
    let step_up = format!("{insufficient}, {METADATA}");
    let [full, half, wrong] =
        [signed_in("echo:a echo:b"), signed_in("echo:a"), "Bearer e30.e30.AAAA".to_owned()];
    let token = |text| ("authorization", text);
    let search = json!({"name": "call_tool", "arguments": call("Echo_Scoped")});
    let scoped = call("Echo_Scoped");
    for (variables, params, sender, expected) in [
        (&[][..], &scoped, None, (403, step_up.clone())),
        (&[ON], &scoped, None, (401, sign_in.clone())),
        (&[ON], &scoped, Some(token(&*full)), (200, String::new())),
        (&[ON], &scoped, Some(token(&*half)), (403, step_up.clone())),
        (&[ON], &scoped, Some(KEY), (403, step_up.clone())),
        (&[ON], &call("Echo_Say"), None, (200, String::new())),
        // A tool that needs a user, who can name nobody without a sign-in.
        (&[ON], &call("Echo_Private"), None, (401, nobody.clone())),
        (&[ON, ("ANONYMOUS_SCOPES", "echo:a,echo:b")], &scoped, None, (200, String::new())),
        (&[ON, ("TOOL_ALLOWLIST", "Echo.Say")], &scoped, None, (200, String::new())),
    ] {
        let what = format!("{variables:?} {params} {sender:?}");
        let sender: Vec<_> = sender.into_iter().collect();
        let got =
            called(&host(variables), ("/mcp", &sender), &legacy("tools/call", params.clone()));
        assert_eq!((got.0, got.1), expected, "{what} {}", got.3);
        let body = modern("tools/call", params.clone());
        let sent: Vec<_> = headers(&body).into_iter().chain(sender).collect();
        let got = called(&host(variables), ("/mcp", &sent), &body);
        assert_eq!((got.0, got.1), expected, "modern {what} {}", got.3);
    }
    // Credentials that are not valid never count as none.
    for params in [call("Echo_Say"), scoped] {
        let body = legacy("tools/call", params);
        let got = called(&host(&[ON]), ("/mcp", &[token(&*wrong)]), &body);
        assert_eq!(got.0, 401);
        assert!(got.1.contains("error=\"invalid_token\"") && got.1.contains(METADATA), "{}", got.1);
    }
    // The echo catalogue has no search: `call_tool` is an unknown tool there, and stays one.
    let got = called(&host(&[ON]), ("/mcp", &[]), &legacy("tools/call", search));
    assert_eq!((got.0, &got.3["error"]["code"]), (200, &json!(-32602)));
}

#[test]
fn mc71_nothing_of_a_protected_tool_is_reached_without_a_sign_in() {
    let context = json!({"toolbooth/context": {
        "user_id": "ada", "secrets": [{"id": "KEY", "value": "k"}]
    }});
    for (method, params, expected) in [
        ("tools/call", json!({"name": "Echo_Scoped", "arguments": {"text": 1}}), (401, -32600)),
        ("tools/call", json!({"name": "Echo_Scoped__1_0_0", "arguments": {}}), (401, -32600)),
        (
            "tools/call",
            json!({"name": "call_tool", "arguments": {"name": "Echo_Scoped"}}),
            (200, -32602),
        ),
        (
            "tools/call",
            json!({"name": "Echo_Scoped", "_meta": {"toolbooth/version": "1.0.0"}}),
            (401, -32600),
        ),
        (
            "tools/call",
            json!({"name": "Echo_Private", "arguments": {"text": "user"}, "_meta": context}),
            (401, -32600),
        ),
        ("resources/read", json!({"uri": "toolbooth://tools/Echo.Scoped"}), (200, -32002)),
        ("prompts/get", json!({"name": "Echo_Scoped"}), (200, -32602)),
        ("tasks/get", json!({"taskId": "Echo_Scoped"}), (200, -32601)),
    ] {
        let body = legacy(method, params);
        let got = called(&host(&[ON]), ("/mcp", &[]), &body);
        let code = got.3["error"]["code"].as_i64().unwrap_or_default();
        assert_eq!((got.0, code), expected, "{body} {}", got.3);
    }
    let batch = json!([legacy("tools/call", call("Echo_Scoped"))]);
    assert_eq!(called(&host(&[ON]), ("/mcp", &[]), &batch).0, 400);
    let notification =
        json!({"jsonrpc": "2.0", "method": "tools/call", "params": call("Echo_Scoped")});
    assert_eq!(called(&host(&[ON]), ("/mcp", &[]), &notification).0, 202);
    // The header may name another tool than the body: the body counts.
    let body = legacy("tools/call", call("Echo_Scoped"));
    let got = called(&host(&[ON]), ("/mcp", &[("mcp-name", "Echo_Say")]), &body);
    assert_eq!((got.0, &got.3["error"]["code"]), (400, &json!(-32020)));
}

#[test]
fn mc72_each_client_gets_the_form_that_it_understands() {
    let scope = r#"scope="echo:a echo:b""#;
    let begin = r#"Bearer realm="toolbooth", error="insufficient_scope", "#;
    let sign_in =
        format!(r#"{begin}{scope}, {METADATA}, error_description="Sign in to use this tool""#);
    let step_up = format!(
        r#"{begin}{scope}, {METADATA}, error_description="Agree to the further scopes that this tool needs""#
    );
    let half = signed_in("echo:a");
    const OWN: (&str, &str) =
        ("MCP_AUTH_CHALLENGE", r#"{"acme-agent":"result","openai-mcp":"http"}"#);
    for (chosen, agent, info, is_result) in [
        (None, "", "", false),
        (None, "node", "claude-code", false),
        (None, "Claude-User", "", false),
        (None, "openai-mcp/1.0.0", "", true),
        (None, "openai-mcp/1.0.0 (Responses API)", "", true),
        (None, "OpenAI-MCP", "", true),
        (None, "openai-mcp-other/1", "", false),
        (None, "not openai-mcp/1.0.0", "", false),
        (None, "é", "", false),
        (None, "codex-mcp-client/0.169.0", "", true),
        (None, "", "openai-mcp", true),
        (None, "", "openai-mcp/1.0.0", true),
        (None, "node", "codex-mcp-client", true),
        (Some(("MCP_AUTH_CHALLENGE", "http")), "openai-mcp/1.0.0", "openai-mcp", false),
        (Some(("MCP_AUTH_CHALLENGE", "result")), "node", "", true),
        (Some(("MCP_AUTH_CHALLENGE", "auto")), "openai-mcp/1.0.0", "", true),
        (Some(("MCP_AUTH_CHALLENGE", "wrong")), "openai-mcp/1.0.0", "", true),
        (Some(OWN), "openai-mcp/1.0.0", "", false),
        (Some(OWN), "codex-mcp-client/1", "", true),
        (Some(OWN), "acme-agent", "", true),
        // What the client says of itself precedes its library.
        (Some(OWN), "codex-mcp-client/1", "openai-mcp", false),
    ] {
        let host = host(&[&[ON][..], chosen.as_slice()].concat());
        let mut params = call("Echo_Scoped");
        params["_meta"]["io.modelcontextprotocol/clientInfo"] = json!({"name": info});
        let body = modern("tools/call", params);
        let sent: Vec<_> = headers(&body).into_iter().chain([("user-agent", agent)]).collect();
        let what = format!("{chosen:?} {agent} {info}");
        let (status, header, result, answer) = called(&host, ("/mcp", &sent), &body);
        let expected = if is_result { (200, true, &*sign_in) } else { (401, false, "") };
        assert_eq!((status, header.is_empty(), &*result), expected, "{what} {answer}");
        let is_complete = answer["result"]["resultType"] == "complete";
        assert_eq!(is_complete, is_result, "{what} {answer}");
        // A caller who has signed in, and lacks a scope.
        let sent: Vec<_> = sent.into_iter().chain([("authorization", &*half)]).collect();
        let (status, header, result, _) = called(&host, ("/mcp", &sent), &body);
        let expected = if is_result { (200, true, &*step_up) } else { (403, false, "") };
        assert_eq!((status, header.is_empty(), &*result), expected, "{what}");
    }
}

#[test]
fn mc73_an_address_that_asks_everyone_to_sign_in() {
    let token = signed_in("");
    let signed_in = [("authorization", &*token)];
    for (variables, path, sender, expected) in [
        (&[ON][..], "/mcp", &[][..], 200),
        (&[ON], "/mcp?auth=required", &[], 401),
        (&[ON], "/mcp?tools=all&auth=required", &[], 401),
        (&[ON], "/mcp?auth=optional", &[], 200),
        (&[ON], "/mcp?auth=required", &signed_in, 200),
        (&[], "/mcp?auth=required", &[], 200),
    ] {
        let host = host(variables);
        let what = format!("{variables:?} {path} {sender:?}");
        let (status, header, _, answer) =
            called(&host, (path, sender), &legacy("initialize", json!({})));
        assert_eq!((status, header.contains(METADATA)), (expected, expected == 401), "{what}");
        assert_eq!(answer["id"], 7, "{what}");
    }
}

#[test]
fn the_table_of_clients_has_sources_and_no_name_twice() {
    let table: Value = serde_json::from_str(include_str!("../clients.json")).unwrap();
    let rows = table["clients"].as_array().unwrap();
    let mut names: Vec<_> = rows.iter().map(|row| row["name"].as_str().unwrap()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), rows.len());
    for row in rows.iter().chain([&table["default"]]) {
        assert!(["http", "result"].contains(&row["challenge"].as_str().unwrap()), "{row}");
        assert!(row["source"].as_str().unwrap().len() > 20, "{row}");
        let date = row["date"].as_str().unwrap();
        assert!(date.len() == 7 && date.starts_with("202"), "{row}");
    }
    assert_eq!(table["default"]["challenge"], "http", "what the code does with other clients");
}
