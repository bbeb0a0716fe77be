//! Calls and streams of OpenTool; the document is in `document`.

mod document;

use super::super::jsonrpc::tests::{json_response, posted, unknown};
use serde_json::json;

use super::*;
use crate::call::Rejection;
use crate::catalog::{Catalog, ServerInfo};
use crate::http::{Body, Method, Request};
use crate::server::Server;
use crate::testing::echo::CATALOG;
use crate::testing::{FakeHost, ready};
use crate::testing::{Pairs, wire};

fn get(catalog: &'static Catalog, path: &str) -> String {
    let host = FakeHost::default();
    let headers = &Pairs(&[]);
    let body = Body::from("");
    let request = Request { own_origin: None, method: Method::Get, path, query: "", headers, body };
    wire(
        &ready(Server::new(catalog, crate::testing::CAPABILITIES, &host).answer(request, &host))
            .head,
    )
}

const REQUIRED: &str = r#""error":{"code":-32602,"message":"Some parameters are invalid. text: Is required","data":{"parameter_errors":{"text":"Is required"}}}"#;
const FAILED: &str = r#""error":{"code":500,"message":"It failed. try x. Try again after 5 ms.","data":{"developer_message":"why","can_retry":true,"additional_prompt_content":"try x","retry_after_ms":5}}"#;
const VAGUE: &str = r#""error":{"code":500,"message":"The tool failed","data":{"developer_message":"Echo.Broken@1.0.0: its types do not match its schemas","can_retry":false}}"#;
const PRIVATE: &str = r#""error":{"code":-32001,"message":"The tool needs the token \"mail\", the secret \"KEY\", a user id, which this protocol cannot send; POST /oxp/tools/call can","data":{"missing_requirements":{"authorization":["mail"],"secrets":["KEY"],"user_id":true}}}"#;
const VERSION: &str = r#""error":{"code":-32600,"message":"jsonrpc must be \"2.0\""}"#;
const METHOD: &str = r#""error":{"code":-32600,"message":"method must be a string"}"#;

#[test]
fn calls() {
    let unknown = unknown("Nope");
    for (what, request, error) in [
        ("OT10 a text is wrapped", r#""method":"Echo_Say","params":{"text":"hi"}"#, None),
        ("OT7 params are absent", r#""method":"Echo_Say""#, Some(REQUIRED)),
        ("OT12 unknown function", r#""method":"Nope","params":{}"#, Some(&unknown)),
        ("OT12 OT13 bad arguments", r#""method":"Echo_Say","params":{}"#, Some(REQUIRED)),
        ("OT12 failing tool", r#""method":"Echo_Say","params":{"text":"fail"}"#, Some(FAILED)),
        (
            "OT14 no detail in the message",
            r#""method":"Echo_Broken","params":{"text":"x"}"#,
            Some(VAGUE),
        ),
        ("missing requirements", r#""method":"Echo_Private""#, Some(PRIVATE)),
        ("method is missing", r#""params":{}"#, Some(METHOD)),
        ("OT36 a versioned name", r#""method":"Echo_Say__1_0_0","params":{"text":"hi"}"#, None),
        ("OT36 an id", r#""method":"Echo.Say@2","params":{"text":"hi"}"#, None),
    ] {
        for version in ["2.0", "2.0.0"] {
            for (id, lenient) in
                [(r#""call_7""#, true), (r#""""#, true), ("7", false), ("null", false)]
            {
                let body = format!(r#"{{"jsonrpc":"{version}",{request},"id":{id}}}"#);
                let expected = match error {
                    None if lenient => r#""result":{"result":"hi"},"error":null"#.to_owned(),
                    None => r#""result":{"result":"hi"}"#.to_owned(),
                    Some(error) if lenient => format!(r#""result":{{}},{error}"#),
                    Some(error) => error.to_owned(),
                };
                let expected =
                    json_response(200, &format!(r#"{{"jsonrpc":"2.0",{expected},"id":{id}}}"#));
                let got = wire(&posted(&FakeHost::default(), "/opentool/call", &body));
                assert_eq!(got, expected, "OT6 OT8 OT9 OT11 OT15 {what}: {body}");
            }
        }
    }
}

#[test]
fn malformed_requests() {
    let object = r#""error":{"code":-32600,"message":"a request must be an object"}"#;
    let id = r#""error":{"code":-32600,"message":"id must be a string, a number or null"}"#;
    for (what, body, expected) in [
        (
            "OT19 no version, a string id",
            r#"{"method":"Echo_Say","id":"a"}"#,
            format!(r#"{{"jsonrpc":"2.0","result":{{}},{VERSION},"id":"a"}}"#),
        ),
        (
            "OT19 another version, a number",
            r#"{"jsonrpc":"2.1","method":"Echo_Say","id":3}"#,
            format!(r#"{{"jsonrpc":"2.0",{VERSION},"id":3}}"#),
        ),
        ("no id", "{}", format!(r#"{{"jsonrpc":"2.0",{VERSION},"id":null}}"#)),
        ("a string", r#""x""#, format!(r#"{{"jsonrpc":"2.0",{object},"id":null}}"#)),
        (
            "an invalid id",
            r#"{"jsonrpc":"2.0","method":"Echo_Say","id":{}}"#,
            format!(r#"{{"jsonrpc":"2.0",{id},"id":null}}"#),
        ),
        (
            "OT17 a member of a batch, strictly",
            r#"[{"jsonrpc":"2.0","method":"Nope","id":"a"}]"#,
            format!(r#"[{{"jsonrpc":"2.0",{},"id":"a"}}]"#, unknown("Nope")),
        ),
    ] {
        let got = wire(&posted(&FakeHost::default(), "/opentool/call", body));
        assert_eq!(got, json_response(200, &expected), "{what}: {body}");
    }
    let note = r#"{"jsonrpc":"2.0","method":"Echo_Say","params":{"text":"hi"}}"#;
    assert_eq!(wire(&posted(&FakeHost::default(), "/opentool/call", note)), "204\n", "OT16");
}

#[test]
fn results_are_objects() {
    for (value, expected) in [
        (json!({"a": 1}), json!({"a": 1})),
        (json!({}), json!({})),
        (json!(null), json!({})),
        (json!("x"), json!({"result": "x"})),
        (json!(0), json!({"result": 0})),
        (json!(false), json!({"result": false})),
        (json!([]), json!({"result": []})),
        (json!([{"a": 1}]), json!({"result": [{"a": 1}]})),
    ] {
        assert_eq!(object(value.clone()), expected, "OT10 {value}");
    }
}

#[test]
fn streams() {
    let start = |method: &str| format!("event:start\ndata:{{\"start\":\"{method}\"}}\n\n");
    let done = "event:done\ndata:{\"done\":\"Echo_Say\"}\n\n";
    let data = |id: &str, value: &str| {
        format!(
            "event:data\ndata:{{\"jsonrpc\":\"2.0\",\"result\":{{\"result\":\"{value}\"}},\"error\":null,\"id\":\"{id}\"}}\n\n"
        )
    };
    let error = |error: &str| {
        format!(
            "event:error\ndata:{{\"jsonrpc\":\"2.0\",\"result\":{{}},{error},\"id\":\"a\"}}\n\n"
        )
    };
    let say = |id: &str, text: &str| {
        format!(
            r#"{{"jsonrpc":"2.0.0","method":"Echo_Say","params":{{"text":"{text}"}},"id":"{id}"}}"#
        )
    };
    let long = format!("{}…", "N".repeat(64));
    for (what, body, expected) in [
        ("OT38 a value", say("a", "hi"), start("Echo_Say") + &data("a", "hi") + done),
        ("OT38 a failure", say("a", "fail"), start("Echo_Say") + &error(FAILED)),
        (
            "OT37 lines end with LF alone",
            say("\\r\\n", "a\\n\\rb"),
            start("Echo_Say") + &data("\\r\\n", "a\\n\\rb") + done,
        ),
        (
            "OT37 no other line end",
            say("\u{2028}", "\u{2029}x"),
            start("Echo_Say") + &data("\\u2028", "\\u2029x") + done,
        ),
        (
            "OT39 bad arguments",
            r#"{"jsonrpc":"2.0","method":"Echo_Say","id":"a"}"#.to_owned(),
            start("Echo_Say") + &error(REQUIRED),
        ),
        (
            "OT39 unknown function",
            r#"{"jsonrpc":"2.0","method":"Nope","id":"a"}"#.to_owned(),
            start("Nope") + &error(&unknown("Nope")),
        ),
        (
            "OT39 a long name of a function",
            format!(r#"{{"jsonrpc":"2.0","method":"{}","id":"a"}}"#, "N".repeat(5000)),
            start(&long) + &error(&unknown(&long)),
        ),
    ] {
        let got = wire(&posted(&FakeHost::default(), "/opentool/streamCall", &body));
        let head = "200\ncontent-type: text/event-stream\ncache-control: no-store\n";
        assert_eq!(got, format!("{head}{expected}"), "{what}: {body}");
    }
    let id = "id must be a string";
    for (what, body, reason) in [
        ("no id", r#"{"jsonrpc":"2.0","method":"Echo_Say"}"#, id),
        ("a number", r#"{"jsonrpc":"2.0","method":"Echo_Say","id":1}"#, id),
        ("null", r#"{"jsonrpc":"2.0","method":"Echo_Say","id":null}"#, id),
        ("no method", r#"{"jsonrpc":"2.0","id":"a"}"#, "method must be a string"),
        ("no version", r#"{"method":"Echo_Say","id":"a"}"#, r#"jsonrpc must be \"2.0\""#),
        ("a batch", "[]", "a request must be an object"),
        ("a string", "\"x\"", "a request must be an object"),
    ] {
        let error = format!(r#"{{"code":-32600,"message":"{reason}"}}"#);
        let expected =
            json_response(400, &format!(r#"{{"jsonrpc":"2.0","error":{error},"id":null}}"#));
        let got = wire(&posted(&FakeHost::default(), "/opentool/streamCall", body));
        assert_eq!(got, expected, "no stream begins with {what}: {body}");
    }
}

#[test]
fn stop_is_not_served() {
    let rejection = Rejection::NotServed("it is hosted, so there is nothing to stop").describe();
    let error = format!(r#"{{"code":-32600,"message":"{rejection}"}}"#);
    let expected = json_response(404, &format!(r#"{{"jsonrpc":"2.0","error":{error},"id":null}}"#));
    for body in ["", "{}", "not JSON"] {
        let got = wire(&posted(&FakeHost::default(), "/opentool/stop", body));
        assert_eq!(got, expected, "OT41 {body}");
    }
    assert_eq!(get(CATALOG, "/opentool/stop"), expected, "OT41 GET");
    assert!(!get(CATALOG, "/").contains("stop"), "OT41 the index does not name it");
}

#[test]
fn the_version_and_the_document_are_at_two_addresses() {
    for (mount, decorate) in [("/opentool", ""), ("", "oxp-version: 1.0\n")] {
        let version = get(CATALOG, &format!("{mount}/version"));
        let expected = format!("{decorate}{{\"version\":\"1.2.3\"}}");
        assert!(version.starts_with("200\ncontent-type: application/json\n"), "OT1 {version}");
        assert!(version.ends_with(&expected), "OT1 {version}");
        let document = get(CATALOG, &format!("{mount}/load"));
        let list = CATALOG.list("opentool").unwrap().body.text();
        assert!(document.starts_with("200\ncontent-type: application/json\n"), "OT2 {document}");
        assert!(document.ends_with(&format!("{decorate}{list}")), "OT2 {document}");
    }
}

#[test]
fn a_version_has_three_numbers() {
    static BETA: Catalog =
        Catalog { server: ServerInfo { version: "1.2.3-beta.1+5", ..CATALOG.server }, ..*CATALOG };
    let version = get(&BETA, "/opentool/version");
    assert!(version.ends_with("\n{\"version\":\"1.2.3\"}"), "OT1 {version}");
}

#[test]
fn without_a_document_there_is_an_empty_object() {
    static NONE: Catalog = Catalog { tools: &[], names: &[], lists: &[], ..*CATALOG };
    let document = get(&NONE, "/opentool/load");
    assert!(document.starts_with("200\n") && document.ends_with("\n{}"), "OT25 {document}");
}

#[test]
fn at_the_root_a_call_with_jsonrpc_is_a_call_of_opentool() {
    let say = r#"{"jsonrpc":"2.0","method":"Echo_Say","params":{"text":"hi"},"id":"a"}"#;
    let hi = r#"{"jsonrpc":"2.0","result":{"result":"hi"},"error":null,"id":"a"}"#;
    let in_batch = r#"[{"jsonrpc":"2.0","result":{"result":"hi"},"id":"a"}]"#;
    for (body, expected) in [
        (say.to_owned(), Some(hi.to_owned())),
        (format!("[{say}]"), Some(in_batch.to_owned())),
        (
            r#"{"jsonrpc":null,"id":"a"}"#.to_owned(),
            Some(format!(r#"{{"jsonrpc":"2.0","result":{{}},{VERSION},"id":"a"}}"#)),
        ),
        (r#"{"method":"Echo_Say","id":"a"}"#.to_owned(), None),
        ("[]".to_owned(), None),
        ("[1]".to_owned(), None),
        ("1".to_owned(), None),
    ] {
        let value = json::parse(&body).unwrap();
        assert_eq!(is_request(&value), expected.is_some(), "{body}");
        let Some(expected) = expected else { continue };
        let got = wire(&posted(&FakeHost::default(), "/call", &body));
        assert!(got.starts_with("200\n") && got.ends_with(&format!("\n{expected}")), "{got}");
    }
}
