//! Calls and the list of LangChain's clients.

use std::sync::LazyLock;

use serde_json::{Value, json};

use super::super::jsonrpc::tests::posted;
use super::*;
use crate::catalog::{Catalog, Entry, List, ListBody, Lists, Needs};
use crate::principal::{Principal, Scopes};
use crate::testing::{FakeHost, with_context};

/// The status and the body of the response to a call.
fn called(request: &Value, schema: &str) -> (u16, Value) {
    let body = json!({"$schema": schema, "request": request});
    let response = posted(&FakeHost::default(), "/langchain/tools/call", &body.to_string());
    (response.status, serde_json::from_slice(&response.body).unwrap())
}

#[test]
fn calls() {
    let ran = |value: Value| {
        (200, json!({"call_id": "7", "duration": 1, "success": true, "value": value}))
    };
    for schema in ["otc://1.0", "urn:oxp:1.0"] {
        for tool_id in ["Echo_Say", "Echo_Say__1_0_0", "Echo.Say", "Echo.Say@1.10.0"] {
            let request = json!({"tool_id": tool_id, "call_id": "7", "input": {"text": "hi"}});
            assert_eq!(called(&request, schema), ran(json!("hi")), "LC2 LC3 {schema} {tool_id}");
        }
    }
    let (status, failed) =
        called(&json!({"tool_id": "Echo_Say", "input": {"text": "fail"}}), "otc://1.0");
    assert_eq!((status, &failed["success"]), (200, &json!(false)), "LC4");
    assert_eq!(failed["error"]["message"], "It failed", "LC4");
    for (request, status, member, text) in [
        (json!({"tool_id": "Echo_Say"}), 422, "message", "Some input parameters are invalid"),
        (json!({"tool_id": 1}), 400, "developer_message", "in request: tool_id must be a string"),
        (
            json!({"tool_id": "a", "user_id": 1}),
            400,
            "developer_message",
            "in request: user_id must be a string",
        ),
        (
            json!({"tool_id": "a", "user_id": "u", "context": {"user_id": "v"}}),
            400,
            "developer_message",
            "in request: user_id and context.user_id must be the same",
        ),
    ] {
        let got = called(&request, "otc://1.0");
        assert_eq!((got.0, &got.1[member]), (status, &json!(text)), "LC5 {request}");
    }
    assert_eq!(called(&json!({"tool_id": "Nope"}), "otc://1.0").0, 400, "LC5");
    assert_eq!(called(&json!({}), "otc://2.0").0, 400, "LC2");
}

#[test]
fn the_user_may_be_next_to_the_tool() {
    let secrets = json!({
        "authorization": [{"id": "mail", "token": "t"}], "secrets": [{"id": "KEY", "value": "k"}]
    });
    let mut with_user = secrets.clone();
    with_user["user_id"] = json!("ada");
    for (path, tool_id, context, accepted) in [
        ("/langchain/tools/call", "Echo_Private", &secrets, true),
        ("/langchain/tools/call", "Echo_Private", &with_user, true),
        ("/otc/tools/call", "Echo.Private", &secrets, true),
        ("/otc/call", "Echo.Private", &with_user, true),
        ("/oxp/1.0/call", "Echo.Private", &secrets, false),
        ("/call", "Echo.Private", &secrets, false),
    ] {
        let request = json!({
            "tool_id": tool_id, "user_id": "ada", "input": {"text": "user"}, "context": context
        });
        let body = json!({"request": request, "$schema": "urn:oxp:1.0"});
        let response = posted(&FakeHost::default(), path, &body.to_string());
        let got: Value = serde_json::from_slice(&response.body).unwrap();
        if accepted {
            let value =
                if path.starts_with("/otc") { &got["result"]["value"] } else { &got["value"] };
            assert_eq!((response.status, value), (200, &json!("ada")), "LC6 {path} {got}");
        } else {
            assert_eq!(response.status, 400, "the specification closes the object: {path}");
        }
    }
}

#[test]
fn the_list_is_an_array_of_the_latest_versions() {
    const fn entry(tool: usize, name: &'static str, at: usize) -> Entry {
        Entry {
            tool,
            needs: Needs::Tool,
            name,
            start: at,
            end: at + 1,
            unsupported: &[],
            warnings: &[],
        }
    }
    const ENTRIES: &[Entry] =
        &[entry(3, "Echo_Say__1_0_0", 10), entry(5, "Echo_Say", 12), entry(6, "Echo_Scoped", 14)];
    const OXP: List = List {
        name: "oxp",
        body: ListBody::Plain("{\"items\":[3,5,6]}"),
        head: 10,
        entries: ENTRIES,
        etag: "",
    };
    const LISTS: &[Lists] = &[Lists::all(&[OXP])];
    static CATALOG: LazyLock<Catalog> =
        LazyLock::new(|| Catalog { lists: LISTS, ..*crate::testing::echo::CATALOG });
    for (scopes, expected) in [(Scopes::NONE, "[5]"), (Scopes::All, "[5,6]")] {
        let principal = Principal::Anonymous { scopes };
        with_context(&CATALOG, &principal, "", &FakeHost::default(), |context| {
            assert_eq!(list(context).unwrap().body, expected, "LC1 {principal:?}");
        });
    }
}
