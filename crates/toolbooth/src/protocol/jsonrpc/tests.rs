//! Requests and answers of the strict door, and every error.

use serde_json::json;

use super::*;
use crate::call::tests::{CATALOG, asks, every_rejection};
use crate::call::{InvalidInput, MissingRequirements, ParameterError, Rejection, RejectionKind};
use crate::http::tests::{Pairs, rejection_header as header, wire};
use crate::http::{Body, Method, Request};
use crate::server::Server;
use crate::testing::{FakeHost, ready};
use crate::tool::ToolError;

/// What a server answers to a posted body.
pub(in crate::protocol) fn posted(host: &FakeHost, path: &str, body: &str) -> Response {
    let request = Request {
        method: Method::Post,
        path,
        query: "",
        headers: &Pairs(&[("content-type", "application/json")]),
        body: Body::from(body),
    };
    ready(Server::new(CATALOG, host).answer(request, host))
}

/// A JSON answer as it goes over the wire.
pub(in crate::protocol) fn told(status: u16, body: &str) -> String {
    format!("{status}\ncontent-type: application/json\ncache-control: no-store\n{body}")
}

/// An error to `id`.
fn error(id: &str, code: i32, message: &str) -> String {
    let error = format!(r#"{{"code":{code},"message":{message:?}}}"#);
    format!(r#"{{"jsonrpc":"2.0","error":{error},"id":{id}}}"#)
}

const BATCH: &str = r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid request: a batch must have at least one request"},"id":null}"#;
const METHOD: &str = "Invalid request: method must be a string";
const VERSION_MISSING: &str = "Invalid request: jsonrpc must be \"2.0\"";
const UNKNOWN: &str = r#""error":{"code":-32601,"message":"Tool 'Nope' was not found","data":{"developer_message":"Nope is not a tool of this server"}}"#;
const NO_OBJECT: &str = r#""error":{"code":-32602,"message":"Some parameters are invalid. input: Must be an object","data":{"parameter_errors":{"input":"Must be an object"}}}"#;

#[test]
fn single_requests() {
    let say = |id: &str| {
        format!(r#"{{"jsonrpc":"2.0","method":"Echo_Say","params":{{"text":"hi"}},"id":{id}}}"#)
    };
    let hi = |id: &str| format!(r#"{{"jsonrpc":"2.0","result":"hi","id":{id}}}"#);
    let object = "Invalid request: a request must be an object";
    let id = "Invalid request: id must be a string, a number or null";
    let params = "Invalid request: params must be an object";
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
            format!(r#"{{"jsonrpc":"2.0",{UNKNOWN},"id":"a"}}"#),
        ),
        (
            "a reserved method",
            r#"{"jsonrpc":"2.0","method":"rpc.discover","id":1}"#.to_owned(),
            r#"{"jsonrpc":"2.0","error":{"code":-32601,"message":"Tool 'rpc.discover' was not found","data":{"developer_message":"rpc.discover is not a tool of this server"}},"id":1}"#.to_owned(),
        ),
        (
            "a version that is not there",
            r#"{"jsonrpc":"2.0","method":"Echo.Say@7","id":1}"#.to_owned(),
            r#"{"jsonrpc":"2.0","error":{"code":-32601,"message":"Tool 'Echo_Say' has no version 7.0.0","data":{"developer_message":"Echo.Say version 7.0.0 is not available"}},"id":1}"#.to_owned(),
        ),
        (
            "OT20 params by position",
            r#"{"jsonrpc":"2.0","method":"Echo_Say","params":["hi"],"id":1}"#.to_owned(),
            format!(r#"{{"jsonrpc":"2.0",{NO_OBJECT},"id":1}}"#),
        ),
        (
            "OT20 no params by position",
            r#"{"jsonrpc":"2.0","method":"Echo_Say","params":[],"id":1}"#.to_owned(),
            format!(r#"{{"jsonrpc":"2.0",{NO_OBJECT},"id":1}}"#),
        ),
        (
            "OT13 params that the schema refuses",
            r#"{"jsonrpc":"2.0","method":"Echo_Say","params":{"text":1,"mood":"odd"},"id":1}"#.to_owned(),
            r#"{"jsonrpc":"2.0","error":{"code":-32602,"message":"Some parameters are invalid. mood: Must be one of: \"glad\", \"sad\"; text: Must be a string","data":{"parameter_errors":{"mood":"Must be one of: \"glad\", \"sad\"","text":"Must be a string"}}},"id":1}"#.to_owned(),
        ),
        (
            "OT7 no params are none",
            r#"{"jsonrpc":"2.0","method":"Echo_Say","id":1}"#.to_owned(),
            r#"{"jsonrpc":"2.0","error":{"code":-32602,"message":"Some parameters are invalid. text: Is required","data":{"parameter_errors":{"text":"Is required"}}},"id":1}"#.to_owned(),
        ),
        (
            "OT7 null params are none",
            r#"{"jsonrpc":"2.0","method":"Echo_Say","params":null,"id":1}"#.to_owned(),
            r#"{"jsonrpc":"2.0","error":{"code":-32602,"message":"Some parameters are invalid. text: Is required","data":{"parameter_errors":{"text":"Is required"}}},"id":1}"#.to_owned(),
        ),
        (
            "a tool that fails",
            r#"{"jsonrpc":"2.0","method":"Echo_Say","params":{"text":"fail"},"id":1}"#.to_owned(),
            r#"{"jsonrpc":"2.0","error":{"code":500,"message":"It failed","data":{"additional_prompt_content":"try x","can_retry":true,"developer_message":"why","retry_after_ms":5}},"id":1}"#.to_owned(),
        ),
        ("a text", r#""Echo_Say""#.to_owned(), error("null", -32600, object)),
        ("a number", "1".to_owned(), error("null", -32600, object)),
        ("null as a whole", "null".to_owned(), error("null", -32600, object)),
        ("nothing in it", "{}".to_owned(), error("null", -32600, VERSION_MISSING)),
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
            "no method and no id: no notification either",
            r#"{"jsonrpc":"2.0"}"#.to_owned(),
            error("null", -32600, METHOD),
        ),
        (
            "a method that is no text",
            r#"{"jsonrpc":"2.0","method":1,"params":"bar"}"#.to_owned(),
            error("null", -32600, METHOD),
        ),
        ("an id that is an object", say("{}"), error("null", -32600, id)),
        ("an id that is a list", say("[1]"), error("null", -32600, id)),
        ("an id that is true", say("true"), error("null", -32600, id)),
        (
            "params that are a text",
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
        assert_eq!(got, told(200, &expected), "{what}: {body}");
    }
}

#[test]
fn batches_and_notifications() {
    let host = FakeHost::with(&[("MAX_TOOL_CALLS", "3")]);
    let say = r#"{"jsonrpc":"2.0","method":"Echo_Say","params":{"text":"hi"},"id":"a"}"#;
    let hi = r#"{"jsonrpc":"2.0","result":"hi","id":"a"}"#;
    let note = r#"{"jsonrpc":"2.0","method":"Echo_Say","params":{"text":"hi"}}"#;
    let lost = r#"{"jsonrpc":"2.0","method":"Nope","params":[]}"#;
    let unknown = r#"{"jsonrpc":"2.0","method":"Nope","id":7}"#;
    let object = &error("null", -32600, "Invalid request: a request must be an object");
    let not_found = &format!(r#"{{"jsonrpc":"2.0",{UNKNOWN},"id":7}}"#);
    let many = &error("null", -32600, "Invalid request: a batch may have at most 3 requests");
    let no_method = &error("null", -32600, METHOD);
    let nothing = "204\n".to_owned();
    for (what, body, expected) in [
        ("OT16 a notification", note.to_owned(), nothing.clone()),
        ("OT16 a notification that fails", lost.to_owned(), nothing.clone()),
        ("OT17 an empty batch", "[]".to_owned(), told(200, BATCH)),
        ("OT17 a batch of one fault", "[1]".to_owned(), told(200, &format!("[{object}]"))),
        ("OT17 a batch of one", format!("[{say}]"), told(200, &format!("[{hi}]"))),
        (
            "OT17 a batch in order, faults and all",
            format!("[{say},[],{unknown}]"),
            told(200, &format!("[{hi},{object},{not_found}]")),
        ),
        (
            "OT17 notifications are left out",
            format!("[{note},{say},{lost}]"),
            told(200, &format!("[{hi}]")),
        ),
        (
            "OT17 a faulty member without id is no notification",
            format!(r#"[{{"jsonrpc":"2.0"}},{note}]"#),
            told(200, &format!("[{no_method}]")),
        ),
        ("OT17 only notifications", format!("[{note},{lost}]"), nothing.clone()),
        ("OT17 one id twice", format!("[{say},{say}]"), told(200, &format!("[{hi},{hi}]"))),
        ("as many as may be", format!("[{say},1,{note}]"), told(200, &format!("[{hi},{object}]"))),
        ("one too many", format!("[{say},1,{note},{note}]"), told(200, many)),
        ("many faults", format!("[{}1]", "1,".repeat(999)), told(200, many)),
    ] {
        for path in ["/jsonrpc", "/opentool/call"] {
            // OpenTool's result is an object, and nothing else of a batch is different there.
            let objects = expected.replace(r#""result":"hi""#, r#""result":{"result":"hi"}"#);
            let expected = if path == "/jsonrpc" { &expected } else { &objects };
            assert_eq!(wire(&posted(&host, path, &body)), *expected, "{what}: {path} {body}");
        }
    }
}

#[test]
fn a_notification_runs() {
    // The tool breaks its own promise, which only its run can bring to light.
    for body in [
        r#"{"jsonrpc":"2.0","method":"Echo_Say","params":{"text":"long"}}"#,
        r#"[{"jsonrpc":"2.0","method":"Echo_Say","params":{"text":"long"}}]"#,
    ] {
        let host = FakeHost::default();
        assert_eq!(wire(&posted(&host, "/jsonrpc", body)), "204\n", "OT16 {body}");
        let log = host.log.borrow();
        assert!(log.len() == 1 && log[0].contains("faulty_tool"), "{log:?}");
    }
}

fn of(outcome: Outcome) -> Value {
    let mut json = Writer::new();
    Error::of(outcome).unwrap_err().write(&mut json);
    serde_json::from_str(&json.end()).unwrap()
}

#[test]
fn every_rejection_has_a_code_a_message_and_a_status() {
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
            RejectionKind::TooManyRequests => -32003,
            RejectionKind::CannotAsk => -32004,
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
                 https://booth.example/auth/start?c=a.b"
                    .to_owned()
            }
            _ => description.to_string(),
        };
        let error = of(Outcome::Rejected(rejection.clone()));
        assert_eq!((&error["code"], &error["message"]), (&json!(code), &json!(message)));
        let response = error::reject(&rejection);
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
    let failed = |error| Outcome::Failed {
        call_id: String::new(),
        duration_ms: 0,
        error,
        notes: Vec::new(),
    };
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
            json!({"code": 500, "message": "No", "data": {
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
                "message": "The tool needs the secret \"KEY\", the secret \"PIN\", which this \
                            protocol cannot send; POST /oxp/tools/call can",
                "data": {"missing_requirements":
                    {"authorization": [], "secrets": ["KEY", "PIN"], "user_id": false}}
            }),
        ),
        (
            Outcome::Rejected(Rejection::ToolNotAllowed { name: "A_B" }),
            json!({
                "code": -32601, "message": "Tool 'A_B' may not be called",
                "data": {"developer_message": "TOOL_ALLOWLIST does not have it"}
            }),
        ),
        (
            Outcome::Rejected(Rejection::Unavailable("x")),
            json!({"code": -32603, "message": "The tool server is temporarily unavailable: x"}),
        ),
    ] {
        assert_eq!(of(outcome), expected);
    }
}

#[test]
fn what_goes_wrong_before_a_request_is_read() {
    let parse = "The body is not valid JSON: EOF while parsing a value at line 1 column ";
    for path in ["/jsonrpc", "/opentool/call", "/opentool/streamCall"] {
        let host = FakeHost::default();
        for (body, column) in [("", 0), ("[", 1), ("{\"jsonrpc\":", 11)] {
            let got = wire(&posted(&host, path, body)).replace("a list", "a value");
            let expected = told(400, &error("null", -32700, &format!("{parse}{column}")));
            assert_eq!(got, expected, "OT18 {path} {body}");
        }
    }
}

#[test]
fn a_server_that_cannot_serve_says_so_to_each_id() {
    let host = FakeHost::with(&[("MAX_BODY_BYTES", "0")]);
    let body = r#"[{"jsonrpc":"2.0","method":"Echo_Say","id":1},{"jsonrpc":"2.0","method":"x"}]"#;
    let message =
        "The tool server is temporarily unavailable: its configuration is wrong; its log says what";
    let expected = told(200, &format!("[{}]", error("1", -32603, message)));
    assert_eq!(wire(&posted(&host, "/jsonrpc", body)), expected);
}
