//! Members that are null. Some serializers write every member that a request may have.

use super::*;

/// What `null` at `path` gives, and what the request without that member gives.
fn compare(method: &str, params: &Value, path: &str) -> [(u16, Value); 2] {
    let (parent, member) = path.rsplit_once('/').unwrap_or(("", path));
    let without = modern(method, params.clone());
    let mut with = without.clone();
    let parent = format!("/params{}{parent}", if parent.is_empty() { "" } else { "/" });
    let object = with.pointer_mut(&parent).unwrap().as_object_mut().unwrap();
    assert!(object.insert(member.replace("~1", "/"), Value::Null).is_none(), "{path}");
    [&with, &without].map(|body| send_modern(CATALOG, &FakeHost::default(), body))
}

#[test]
fn null_is_absent_for_every_optional_member() {
    let say = json!({"name": "Echo_Say", "arguments": {"text": "hi"}});
    let asks = json!({"name": "Echo_Say", "arguments": {"text": "ask"}, "inputResponses": {},
        "_meta": {"io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}}});
    let accepts = json!({"name": "Echo_Say", "arguments": {"text": "ask"},
        "inputResponses": {"name": {"action": "accept"}},
        "_meta": {"io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}}});
    let with_context = json!({"name": "Echo_Say", "arguments": {"text": "hi"},
        "_meta": {"toolbooth/context": {"authorization": [], "secrets": []}}});
    let bare_context = json!({"name": "Echo_Say", "arguments": {"text": "hi"},
        "_meta": {"toolbooth/context": {}}});
    let completes = json!({"ref": {"type": "ref/resource", "uri": "toolbooth://tools/{id}"},
        "argument": {"name": "id", "value": "E"}});
    let none = json!({});
    let no_arguments = json!({"name": "Echo_Say"});
    let elicits = "_meta/io.modelcontextprotocol~1clientCapabilities/elicitation";
    let capabilities = "_meta/io.modelcontextprotocol~1clientCapabilities";
    for (method, params, path) in [
        ("tools/list", &none, "cursor".to_owned()),
        ("resources/list", &none, "cursor".to_owned()),
        ("resources/templates/list", &none, "cursor".to_owned()),
        ("prompts/list", &none, "cursor".to_owned()),
        ("tools/list", &none, "_meta/progressToken".to_owned()),
        ("server/discover", &none, "unknown".to_owned()),
        ("tools/call", &no_arguments, "arguments".to_owned()),
        ("tools/call", &say, "requestState".to_owned()),
        ("tools/call", &say, "inputResponses".to_owned()),
        ("tools/call", &say, "task".to_owned()),
        ("tools/call", &say, "_meta/progressToken".to_owned()),
        ("tools/call", &say, "_meta/toolbooth~1version".to_owned()),
        ("tools/call", &say, "_meta/toolbooth~1context".to_owned()),
        ("tools/call", &say, "_meta/traceparent".to_owned()),
        ("tools/call", &say, "_meta/io.modelcontextprotocol~1logLevel".to_owned()),
        ("tools/call", &say, "_meta/io.modelcontextprotocol~1clientInfo".to_owned()),
        ("tools/call", &with_context, "_meta/toolbooth~1context/user_id".to_owned()),
        ("tools/call", &bare_context, "_meta/toolbooth~1context/authorization".to_owned()),
        ("tools/call", &bare_context, "_meta/toolbooth~1context/secrets".to_owned()),
        ("tools/call", &say, format!("{capabilities}/elicitation")),
        ("tools/call", &say, format!("{capabilities}/sampling")),
        ("tools/call", &say, format!("{capabilities}/extensions")),
        ("tools/call", &asks, format!("{elicits}/form")),
        ("tools/call", &asks, format!("{elicits}/url")),
        ("tools/call", &asks, "inputResponses/name".to_owned()),
        ("tools/call", &accepts, "inputResponses/name/content".to_owned()),
        ("completion/complete", &completes, "context".to_owned()),
    ] {
        let [with, without] = compare(method, params, &path);
        assert_eq!(with, without, "{method} {path}");
        assert_eq!(code(&without), (200, 0), "{method} {path}: {without:?}");
    }
}

#[test]
fn null_is_absent_in_a_message() {
    let host = FakeHost::default();
    let post = |body: Value| send(CATALOG, &host, ("/mcp", &[]), &body);
    let ping = json!({"jsonrpc": "2.0", "id": 7, "method": "ping", "params": null});
    assert_eq!(post(ping), (200, json!({"jsonrpc": "2.0", "id": 7, "result": {}})));
    let meta = json!({"jsonrpc": "2.0", "id": 7, "method": "ping", "params": {"_meta": null}});
    assert_eq!(post(meta), (200, json!({"jsonrpc": "2.0", "id": 7, "result": {}})));
    let response = json!({"jsonrpc": "2.0", "id": 7, "method": null, "result": {}, "error": null});
    assert_eq!(post(response), (202, Value::Null));
    // Required members stay required, and an id is never null.
    for (body, expected) in [
        (json!({"jsonrpc": "2.0", "id": null, "method": "ping"}), (400, -32600)),
        (json!({"jsonrpc": "2.0", "id": 7, "method": null}), (400, -32600)),
        (json!({"jsonrpc": null, "id": 7, "method": "ping"}), (400, -32600)),
        (legacy("tools/call", json!({"name": null})), (200, -32602)),
        (legacy("resources/read", json!({"uri": null})), (200, -32602)),
        (legacy("prompts/get", json!({"name": null})), (200, -32602)),
        (legacy("tools/list", json!({"cursor": "x"})), (200, -32602)),
    ] {
        assert_eq!(code(&post(body.clone())), expected, "{body}");
    }
}
