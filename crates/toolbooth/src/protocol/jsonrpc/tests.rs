//! Requests, batches and notifications at `/jsonrpc`, and every error.

use serde_json::json;

use super::*;
use crate::call::misconfigured;
use crate::call::{
    InvalidInput, MissingRequirements, ParameterError, Pipeline, Rejection, RejectionKind,
};
use crate::http::{Body, Method, Request};
use crate::server::Server;
use crate::testing::echo::{CATALOG, asks, every_rejection};
use crate::testing::{FakeHost, ready};
use crate::testing::{Pairs, rejection_header as header, wire};
use crate::tool::ToolError;

/// The response of a server to a posted body.
pub(in crate::protocol) fn posted(host: &FakeHost, path: &str, body: &str) -> Response {
    let request = Request {
        own_origin: None,
        method: Method::Post,
        path,
        query: "",
        headers: &Pairs(&[("content-type", "application/json")]),
        body: Body::from(body),
    };
    ready(Server::new(CATALOG, crate::testing::CAPABILITIES, host).answer(request, host)).head
}

/// A JSON response on the wire.
pub(in crate::protocol) fn json_response(status: u16, body: &str) -> String {
    format!("{status}\ncontent-type: application/json\ncache-control: no-store\n{body}")
}

/// An error response to `id`.
fn error(id: &str, code: i32, message: &str) -> String {
    let error = format!(r#"{{"code":{code},"message":{message:?}}}"#);
    format!(r#"{{"jsonrpc":"2.0","error":{error},"id":{id}}}"#)
}

const BATCH: &str = r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"a batch must have at least one request"},"id":null}"#;
const METHOD: &str = "method must be a string";
const VERSION_MISSING: &str = "jsonrpc must be \"2.0\"";
const BY_NAME: &str = r#""error":{"code":-32602,"message":"params must be an object: tools take their parameters by name","data":{"parameter_errors":{"input":"Must be an object"}}}"#;

/// The error about a tool that does not exist.
pub(in crate::protocol) fn unknown(name: &str) -> String {
    let rejection =
        Rejection::UnknownTool { id: name.to_owned(), name: name.to_owned(), meant: None };
    format!(r#""error":{{"code":-32601,"message":"{}"}}"#, rejection.describe())
}

#[test]
fn single_requests() {
    let unknown_version = Rejection::UnknownVersion {
        id: "Echo.Say".to_owned(),
        name: "Echo_Say",
        version: "7.0.0".to_owned(),
    };
    let unknown_version = unknown_version.describe().to_string();
    let say = |id: &str| {
        format!(r#"{{"jsonrpc":"2.0","method":"Echo_Say","params":{{"text":"hi"}},"id":{id}}}"#)
    };
    let hi = |id: &str| format!(r#"{{"jsonrpc":"2.0","result":"hi","id":{id}}}"#);
    let object = "a request must be an object";
    let id = "id must be a string, a number or null";
    let params = "params must be an object";
    for (what, body, expected) in [
        ("a string id", say("\"a\""), hi("\"a\"")),
        ("an empty id", say("\"\""), hi("\"\"")),
        ("OT21 a number", say("1"), hi("1")),
        ("OT21 zero", say("0"), hi("0")),
        ("OT21 a negative number", say("-7"), hi("-7")),
        ("OT21 a large number", say("18446744073709551615"), hi("18446744073709551615")),
        ("OT21 a fraction", say("1.5"), hi("1.5")),
        ("null", say("null"), hi("null")),
        (
            "further members",
            r#"{"id":1,"x":{},"result":1,"method":"Echo_Say","params":{"text":"hi"},"jsonrpc":"2.0"}"#.to_owned(),
            hi("1"),
        ),
        (
            "a versioned name",
            r#"{"jsonrpc":"2.0","method":"Echo_Say__1_0_0","params":{"text":"hi"},"id":1}"#.to_owned(),
            hi("1"),
        ),
        (
            "an id of a tool",
            r#"{"jsonrpc":"2.0","method":"Echo.Say@1.10.0","params":{"text":"hi"},"id":1}"#.to_owned(),
            hi("1"),
        ),
        (
            "unknown method",
            r#"{"jsonrpc":"2.0","method":"Nope","id":"a"}"#.to_owned(),
            format!(r#"{{"jsonrpc":"2.0",{},"id":"a"}}"#, unknown("Nope")),
        ),
        (
            "a reserved method",
            r#"{"jsonrpc":"2.0","method":"rpc.discovery","id":1}"#.to_owned(),
            format!(r#"{{"jsonrpc":"2.0",{},"id":1}}"#, unknown("rpc.discovery")),
        ),
        (
            "OT20 an unknown method with params by position",
            r#"{"jsonrpc":"2.0","method":"Nope","params":[],"id":1}"#.to_owned(),
            format!(r#"{{"jsonrpc":"2.0",{},"id":1}}"#, unknown("Nope")),
        ),
        (
            "an unknown version",
            r#"{"jsonrpc":"2.0","method":"Echo.Say@7","id":1}"#.to_owned(),
            error("1", -32601, &unknown_version),
        ),
        (
            "OT20 params by position",
            r#"{"jsonrpc":"2.0","method":"Echo_Say","params":["hi"],"id":1}"#.to_owned(),
            format!(r#"{{"jsonrpc":"2.0",{BY_NAME},"id":1}}"#),
        ),
        (
            "OT20 an empty array of params",
            r#"{"jsonrpc":"2.0","method":"Echo_Say","params":[],"id":1}"#.to_owned(),
            format!(r#"{{"jsonrpc":"2.0",{BY_NAME},"id":1}}"#),
        ),
        (
            "OT13 invalid params",
            r#"{"jsonrpc":"2.0","method":"Echo_Say","params":{"text":1,"mood":"odd"},"id":1}"#.to_owned(),
            r#"{"jsonrpc":"2.0","error":{"code":-32602,"message":"Some parameters are invalid. mood: Must be one of: \"glad\", \"sad\"; text: Must be a string","data":{"parameter_errors":{"mood":"Must be one of: \"glad\", \"sad\"","text":"Must be a string"}}},"id":1}"#.to_owned(),
        ),
        (
            "OT7 absent params are {}",
            r#"{"jsonrpc":"2.0","method":"Echo_Say","id":1}"#.to_owned(),
            r#"{"jsonrpc":"2.0","error":{"code":-32602,"message":"Some parameters are invalid. text: Is required","data":{"parameter_errors":{"text":"Is required"}}},"id":1}"#.to_owned(),
        ),
        (
            "OT7 null params are {}",
            r#"{"jsonrpc":"2.0","method":"Echo_Say","params":null,"id":1}"#.to_owned(),
            r#"{"jsonrpc":"2.0","error":{"code":-32602,"message":"Some parameters are invalid. text: Is required","data":{"parameter_errors":{"text":"Is required"}}},"id":1}"#.to_owned(),
        ),
        (
            "a tool that fails",
            r#"{"jsonrpc":"2.0","method":"Echo_Say","params":{"text":"fail"},"id":1}"#.to_owned(),
            r#"{"jsonrpc":"2.0","error":{"code":500,"message":"It failed. try x. Try again after 5 ms.","data":{"developer_message":"why","can_retry":true,"additional_prompt_content":"try x","retry_after_ms":5}},"id":1}"#.to_owned(),
        ),
        ("a string", r#""Echo_Say""#.to_owned(), error("null", -32600, object)),
        ("a number", "1".to_owned(), error("null", -32600, object)),
        ("a null body", "null".to_owned(), error("null", -32600, object)),
        ("an empty object", "{}".to_owned(), error("null", -32600, VERSION_MISSING)),
        (
            "OT19 no version",
            r#"{"method":"Echo_Say","id":"a"}"#.to_owned(),
            error("\"a\"", -32600, VERSION_MISSING),
        ),
        (
            "OT19 another version",
            r#"{"jsonrpc":"1.0","method":"Echo_Say","id":1}"#.to_owned(),
            error("1", -32600, VERSION_MISSING),
        ),
        (
            "OT19 OpenTool's version",
            r#"{"jsonrpc":"2.0.0","method":"Echo_Say","id":1}"#.to_owned(),
            error("1", -32600, VERSION_MISSING),
        ),
        (
            "OT19 a version that is a number",
            r#"{"jsonrpc":2.0,"method":"Echo_Say"}"#.to_owned(),
            error("null", -32600, VERSION_MISSING),
        ),
        ("no method", r#"{"jsonrpc":"2.0","id":1}"#.to_owned(), error("1", -32600, METHOD)),
        (
            "no method and no id: not a notification",
            r#"{"jsonrpc":"2.0"}"#.to_owned(),
            error("null", -32600, METHOD),
        ),
        (
            "a method that is not a string",
            r#"{"jsonrpc":"2.0","method":1,"params":"bar"}"#.to_owned(),
            error("null", -32600, METHOD),
        ),
        ("an id that is an object", say("{}"), error("null", -32600, id)),
        ("an id that is a list", say("[1]"), error("null", -32600, id)),
        ("an id that is true", say("true"), error("null", -32600, id)),
        (
            "params that are a string",
            r#"{"jsonrpc":"2.0","method":"Echo_Say","params":"hi","id":1}"#.to_owned(),
            error("1", -32600, params),
        ),
        (
            "params that are a number",
            r#"{"jsonrpc":"2.0","method":"Echo_Say","params":0}"#.to_owned(),
            error("null", -32600, params),
        ),
    ] {
        let got = wire(&posted(&FakeHost::default(), "/jsonrpc", &body));
        assert_eq!(got, json_response(200, &expected), "{what}: {body}");
    }
}

#[test]
fn batches_and_notifications() {
    let host = FakeHost::with(&[("MAX_TOOL_CALLS", "3")]);
    let say = r#"{"jsonrpc":"2.0","method":"Echo_Say","params":{"text":"hi"},"id":"a"}"#;
    let hi = r#"{"jsonrpc":"2.0","result":"hi","id":"a"}"#;
    let note = r#"{"jsonrpc":"2.0","method":"Echo_Say","params":{"text":"hi"}}"#;
    let lost = r#"{"jsonrpc":"2.0","method":"Nope","params":[]}"#;
    let nope = r#"{"jsonrpc":"2.0","method":"Nope","id":7}"#;
    let object = &error("null", -32600, "a request must be an object");
    let not_found = &format!(r#"{{"jsonrpc":"2.0",{},"id":7}}"#, unknown("Nope"));
    let many = &error("null", -32600, "a batch may have at most 3 requests");
    let no_method = &error("null", -32600, METHOD);
    let nothing = "204\n".to_owned();
    for (what, body, expected) in [
        ("OT16 a notification", note.to_owned(), nothing.clone()),
        ("OT16 a notification that fails", lost.to_owned(), nothing.clone()),
        ("OT17 an empty batch", "[]".to_owned(), json_response(200, BATCH)),
        (
            "OT17 a batch of one malformed request",
            "[1]".to_owned(),
            json_response(200, &format!("[{object}]")),
        ),
        ("OT17 a batch of one", format!("[{say}]"), json_response(200, &format!("[{hi}]"))),
        (
            "OT17 a batch keeps its order",
            format!("[{say},[],{nope}]"),
            json_response(200, &format!("[{hi},{object},{not_found}]")),
        ),
        (
            "OT17 notifications are left out",
            format!("[{note},{say},{lost}]"),
            json_response(200, &format!("[{hi}]")),
        ),
        (
            "OT17 a malformed member without id is not a notification",
            format!(r#"[{{"jsonrpc":"2.0"}},{note}]"#),
            json_response(200, &format!("[{no_method}]")),
        ),
        ("OT17 only notifications", format!("[{note},{lost}]"), nothing.clone()),
        (
            "OT17 one id twice",
            format!("[{say},{say}]"),
            json_response(200, &format!("[{hi},{hi}]")),
        ),
        (
            "as many members as allowed",
            format!("[{say},1,{note}]"),
            json_response(200, &format!("[{hi},{object}]")),
        ),
        ("one member too many", format!("[{say},1,{note},{note}]"), json_response(200, many)),
        ("many malformed members", format!("[{}1]", "1,".repeat(999)), json_response(200, many)),
    ] {
        for path in ["/jsonrpc", "/opentool/call"] {
            // OpenTool's result is an object; batches are otherwise the same.
            let objects = expected.replace(r#""result":"hi""#, r#""result":{"result":"hi"}"#);
            let expected = if path == "/jsonrpc" { &expected } else { &objects };
            assert_eq!(wire(&posted(&host, path, &body)), *expected, "{what}: {path} {body}");
        }
    }
}

#[test]
fn rpc_discover_returns_the_document() {
    let document = r#"{"openrpc":"1.3.2","info":{"title":"T","version":"1.0.0"},"methods":[]}"#;
    let result = |id: &str| format!(r#"{{"jsonrpc":"2.0","result":{document},"id":{id}}}"#);
    let say = r#"{"jsonrpc":"2.0","method":"Echo_Say","params":{"text":"hi"},"id":"a"}"#;
    let hi = r#"{"jsonrpc":"2.0","result":"hi","id":"a"}"#;
    let discover = |more: &str| format!(r#"{{"jsonrpc":"2.0","method":"rpc.discover"{more}}}"#);
    let twice = |id: &str| {
        let error = r#"{"code":-32600,"message":"a batch may have rpc.discover only once"}"#;
        format!(r#"{{"jsonrpc":"2.0","error":{error},"id":{id}}}"#)
    };
    for (body, expected) in [
        (discover(r#","id":1"#), json_response(200, &result("1"))),
        (discover(r#","id":"a","params":{}"#), json_response(200, &result("\"a\""))),
        (discover(r#","id":1,"params":[]"#), json_response(200, &result("1"))),
        (discover(""), "204\n".to_owned()),
        (
            format!(
                "[{},{},{say},{}]",
                discover(""),
                discover(r#","id":1"#),
                discover(r#","id":2"#)
            ),
            json_response(200, &format!("[{},{hi},{}]", result("1"), twice("2"))),
        ),
        (format!("[{},{say}]", discover("")), json_response(200, &format!("[{hi}]"))),
    ] {
        let got = wire(&posted(&FakeHost::default(), "/jsonrpc", &body));
        assert_eq!(got, expected, "{body}");
    }
    for path in ["/opentool/call", "/call"] {
        let got = wire(&posted(&FakeHost::default(), path, &discover(r#","id":1"#)));
        assert!(got.contains(&unknown("rpc.discover")), "its result would not fit there: {got}");
    }
}

#[test]
fn a_notification_runs() {
    // The output is invalid, which is logged only if the tool runs.
    for body in [
        r#"{"jsonrpc":"2.0","method":"Echo_Say","params":{"text":"long"}}"#,
        r#"[{"jsonrpc":"2.0","method":"Echo_Say","params":{"text":"long"}}]"#,
    ] {
        let host = FakeHost::default();
        assert_eq!(wire(&posted(&host, "/jsonrpc", body)), "204\n", "OT16 {body}");
        let log = host.log.borrow();
        assert_eq!(log.iter().filter(|line| line.contains("faulty_tool")).count(), 1, "{log:?}");
    }
}

/// The error object of an outcome.
fn of(outcome: Outcome) -> Value {
    serde_json::to_value(JsonRpcError::value_of(outcome).unwrap_err()).unwrap()
}

#[test]
fn every_rejection_has_a_code_a_message_and_a_status() {
    let pipeline = Pipeline::new(CATALOG, &FakeHost::default());
    for rejection in every_rejection() {
        let description = rejection.describe();
        let kind = description.kind;
        let code = match kind {
            RejectionKind::InvalidJson => -32700,
            RejectionKind::NotFound
            | RejectionKind::NotServed
            | RejectionKind::MethodNotAllowed
            | RejectionKind::ForbiddenOrigin
            | RejectionKind::PayloadTooLarge
            | RejectionKind::UnsupportedMediaType
            | RejectionKind::Malformed
            | RejectionKind::UnsupportedVersion => -32600,
            RejectionKind::InvalidToolId
            | RejectionKind::UnknownTool
            | RejectionKind::UnknownVersion
            | RejectionKind::ToolNotAllowed
            | RejectionKind::MissingScope => -32601,
            RejectionKind::MissingRequirements => -32001,
            RejectionKind::Unauthenticated => -32002,
            RejectionKind::TooManyRequests
            | RejectionKind::BudgetExceeded
            | RejectionKind::TooManyTasks => -32003,
            RejectionKind::CannotAsk | RejectionKind::NeedsTask => -32004,
            RejectionKind::Unavailable | RejectionKind::Internal => -32603,
        };
        let status = match kind {
            // OT24
            RejectionKind::UnsupportedMediaType => 400,
            RejectionKind::Internal => 503,
            kind => kind.status(),
        };
        let message = match kind {
            RejectionKind::MissingRequirements => {
                "The tool needs the token \"mail\", the secret \"KEY\", a user id, which this \
                 protocol cannot send; POST /oxp/tools/call can; the user can grant it at \
                 https://tools.example/auth/start?c=a.b"
                    .to_owned()
            }
            _ => description.to_string(),
        };
        let error = of(Outcome::Rejected(rejection.clone()));
        assert_eq!((&error["code"], &error["message"]), (&json!(code), &json!(message)));
        let response = encode_rejection(&rejection, &pipeline);
        assert_eq!(response.status, status, "{message}");
        let body: Value = serde_json::from_slice(&response.body).unwrap();
        assert_eq!(body, json!({"jsonrpc": "2.0", "error": error, "id": null}), "{message}");
        assert_eq!(header(&response), rejection.header(), "{message}");
    }
    let (asks, rejected) = asks();
    assert_eq!(of(asks), of(Outcome::Rejected(rejected)));
}

#[test]
fn the_data_of_errors() {
    let failed =
        |error| Outcome::Failed { call_id: None, duration_ms: 0, error, notifications: Vec::new() };
    let invalid = |rows: &[(&str, &str)]| {
        let error = |(parameter, message): &(&str, &str)| ParameterError {
            parameter: (*parameter).to_owned(),
            message: (*message).to_owned(),
        };
        Outcome::InvalidInput(InvalidInput { errors: rows.iter().map(error).collect() })
    };
    let missing = |missing| Outcome::Rejected(Rejection::MissingRequirements(missing));
    for (outcome, expected) in [
        (
            failed(ToolError::new("No")),
            json!({"code": 500, "message": "No", "data": {"can_retry": false}}),
        ),
        (
            failed(ToolError::new("No").developer_message("d").prompt("p").retry_after_ms(5)),
            json!({"code": 500, "message": "No. p. Try again after 5 ms.", "data": {
                "can_retry": true, "developer_message": "d", "additional_prompt_content": "p",
                "retry_after_ms": 5
            }}),
        ),
        (
            invalid(&[("a", "Is required"), ("b.c", "Must be \"x\"")]),
            json!({
                "code": -32602,
                "message": "Some parameters are invalid. a: Is required; b.c: Must be \"x\"",
                "data": {"parameter_errors": {"a": "Is required", "b.c": "Must be \"x\""}}
            }),
        ),
        (
            missing(MissingRequirements {
                secrets: vec!["KEY", "PIN"],
                ..MissingRequirements::default()
            }),
            json!({
                "code": -32001,
                "message": "The tool needs the secret \"KEY\" and the secret \"PIN\", which this \
                            protocol cannot send; POST /oxp/tools/call can",
                "data": {"missing_requirements":
                    {"authorization": [], "secrets": ["KEY", "PIN"], "user_id": false}}
            }),
        ),
    ] {
        assert_eq!(of(outcome), expected);
    }
}

#[test]
fn invalid_json() {
    let rejection = |column: i32| {
        Rejection::InvalidJson(format!("EOF while parsing a value at line 1 column {column}"))
    };
    for path in ["/jsonrpc", "/opentool/call", "/opentool/streamCall"] {
        let host = FakeHost::default();
        for (body, column) in [("", 0), ("[", 1), ("{\"jsonrpc\":", 11)] {
            let got = wire(&posted(&host, path, body)).replace("a list", "a value");
            let expected = json_response(
                400,
                &error("null", -32700, &rejection(column).describe().to_string()),
            );
            assert_eq!(got, expected, "OT18 {path} {body}");
        }
    }
}

#[test]
fn an_invalid_configuration_is_an_error_for_each_id() {
    let host = FakeHost::with(&[("MAX_BODY_BYTES", "0")]);
    let body = r#"[{"jsonrpc":"2.0","method":"Echo_Say","id":1},{"jsonrpc":"2.0","method":"x"}]"#;
    let message = misconfigured().describe().to_string();
    let expected = json_response(200, &format!("[{}]", error("1", -32603, &message)));
    assert_eq!(wire(&posted(&host, "/jsonrpc", body)), expected);
}
