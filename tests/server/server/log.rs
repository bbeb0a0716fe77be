//! Tests of the log of calls, of traces and of measurements, in every protocol.

use std::cell::RefCell;

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use super::properties::modest;
use super::*;
use crate::call_samples;
use toolbooth::host::{HttpError, HttpRequest, HttpResponse};
use toolbooth::route::{Sample, SampleCall};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT: (&str, &str) =
    ("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");

/// Every path that accepts calls, with its protocol and a sample.
fn paths() -> impl Iterator<Item = (&'static str, String, &'static Sample)> {
    call_samples().map(|(protocol, path, sample)| (protocol.name, path, sample))
}

/// The path of a call of this tool.
fn named(path: &str, name: &str) -> String {
    path.replace("{name}", name)
}

fn body(sample: &Sample, name: &str, text: &str, calls: usize) -> String {
    let input = &json!({ "text": text });
    let id = name.replacen('_', ".", 1);
    let call = |at: usize| {
        (sample.call)(&SampleCall { id: &at.to_string(), tool_id: &id, name, input, context: None })
    };
    (sample.body)((1..=calls).map(call).collect()).to_string()
}

/// The lines that a host has logged.
fn lines(host: &FakeHost) -> Vec<(Level, Value)> {
    let lines = host.lines.take();
    lines.into_iter().map(|(level, line)| (level, serde_json::from_str(&line).unwrap())).collect()
}

#[test]
fn every_protocol_logs_one_line_per_call() {
    for (protocol, path, sample) in paths() {
        for calls in [1, 3] {
            if calls > 1 && !sample.batches {
                continue;
            }
            let host = FakeHost::default();
            let (path, sent) = (named(&path, "Echo_Say"), body(sample, "Echo_Say", "hi", calls));
            let answer = answer(CATALOG, &host, ("POST", &path, &[JSON]), Body::from(&*sent));
            let logged = lines(&host);
            assert_eq!(logged.len(), calls, "{path}: {logged:?}");
            for (level, mut line) in logged {
                assert_eq!(level, Level::Info, "{path}: {line}");
                assert!(line["duration_ms"].take().is_u64(), "{path}: {line}");
                let mut expected = json!({
                    "audit": 1,
                    "event": "call",
                    "gen_ai.operation.name": "execute_tool",
                    "gen_ai.tool.name": "Echo_Say",
                    "tool.version": "2.0.0",
                    "protocol": protocol,
                    "caller": "anonymous",
                    "outcome": "done",
                    "duration_ms": null,
                    "http.request.body.size": sent.len(),
                    "http.response.body.size": answer.body.len(),
                    "http.response.status_code": 200,
                });
                if protocol == "mcp" {
                    expected["mcp.method.name"] = "tools/call".into();
                    if let Some(version) = line.get("mcp.protocol.version") {
                        assert_eq!(version, "2026-07-28");
                        expected["mcp.protocol.version"] = version.clone();
                    }
                }
                assert_eq!(line, expected, "{path}");
            }
        }
    }
}

#[test]
fn every_protocol_logs_what_went_wrong() {
    let closed = || FakeHost::with(&[("MAX_BODY_BYTES", "0")]);
    let full = || FakeHost { limit: Some(Ok(0)), ..FakeHost::default() };
    for (protocol, path, sample) in paths() {
        let valid = |name: &str, text: &str| (named(&path, name), body(sample, name, text, 1));
        let (say, call) = valid("Echo_Say", "hi");
        for (what, host, (path, sent), tool, outcome, error) in [
            (
                "it fails",
                FakeHost::default(),
                valid("Echo_Say", "fail"),
                true,
                "failed",
                "tool_error",
            ),
            (
                "a bug",
                FakeHost::default(),
                valid("Echo_Broken", "hi"),
                true,
                "failed",
                "tool_error",
            ),
            (
                "invalid input",
                FakeHost::default(),
                (say.clone(), call.replace("text", "canary")),
                true,
                "invalid_input",
                "invalid_input",
            ),
            (
                "a scope",
                FakeHost::default(),
                valid("Echo_Scoped", "hi"),
                true,
                "rejected",
                "missing_scope",
            ),
            (
                "unknown",
                FakeHost::default(),
                valid("Canary_Say", "hi"),
                false,
                "rejected",
                "tool_not_found",
            ),
            (
                "no JSON",
                FakeHost::default(),
                (say, "{".to_owned()),
                false,
                "rejected",
                "invalid_json",
            ),
            ("the limit", full(), valid("Echo_Say", "hi"), false, "rejected", "too_many_requests"),
            ("configuration", closed(), valid("Echo_Say", "hi"), false, "rejected", "unavailable"),
        ] {
            send(&host, ("POST", &path, &[JSON]), &sent);
            let logged = lines(&host);
            let [(level, line)] = logged.as_slice() else { panic!("{path} {what}: {logged:?}") };
            assert_eq!(*level, Level::Warn, "{path} {what}");
            assert_eq!(line["protocol"], protocol, "{path} {what}");
            assert_eq!(line["gen_ai.tool.name"].is_string(), tool, "{path} {what}: {line}");
            let got = (&line["outcome"], &line["error.type"]);
            assert_eq!(got, (&json!(outcome), &json!(error)), "{path} {what}");
            assert!(!line.to_string().to_lowercase().contains("canary"), "{path} {what}: {line}");
        }
    }
}

#[test]
fn lists_and_other_requests_are_not_calls() {
    let host = FakeHost::default();
    for path in ["/", "/tools", "/health", "/nothing"] {
        send(&host, ("GET", path, &[PARENT]), "");
    }
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    send(&host, ("POST", "/mcp", &[JSON]), list);
    assert_eq!(lines(&host), []);
}

#[test]
fn mcp_requests_that_cannot_be_decoded_are_logged() {
    for (request, error) in [
        (json!({"method": "tools/call", "params": {"name": 1}}), "invalid_params"),
        (json!({"method": "prompts/get", "params": {"name": "canary"}}), "invalid_params"),
    ] {
        let host = FakeHost::default();
        let mut request = request;
        (request["jsonrpc"], request["id"]) = ("2.0".into(), 1.into());
        send(&host, ("POST", "/mcp", &[JSON]), &request.to_string());
        let logged = lines(&host);
        let [(_, line)] = logged.as_slice() else { panic!("{request}: {logged:?}") };
        let got = (&line["mcp.method.name"], &line["error.type"]);
        assert_eq!(got, (&request["method"], &json!(error)), "{line}");
    }
}

#[test]
fn the_operator_chooses_what_is_logged() {
    for (variables, done, failed) in [
        (&[][..], true, true),
        (&[("LOG", "calls")], true, true),
        (&[("LOG", "errors")], false, true),
        (&[("LOG", "off")], false, false),
        (&[("LOG_SAMPLE", "0")], false, true),
        (&[("LOG", "errors"), ("LOG_SAMPLE", "1")], false, true),
    ] {
        for (text, logged) in [("hi", done), ("fail", failed)] {
            let host = FakeHost::with(variables);
            let call = CALL.replace("hi", text);
            assert!(send(&host, ("POST", "/call", &[JSON]), &call).starts_with("200\n"));
            assert_eq!(lines(&host).len(), usize::from(logged), "{variables:?} {text}");
        }
    }
}

#[test]
fn missing_and_rejected_credentials_are_logged() {
    let host = FakeHost::with(&[
        ("AUTH", "jwt"),
        ("JWT_SECRET", "0123456789abcdef0123456789abcdef"),
        ("STATE_KEY", "0123456789abcdef0123456789abcdef"),
    ]);
    let canary = ("authorization", "Bearer canary.canary.canary");
    for (method, path) in [("POST", "/mcp"), ("GET", "/xaibo/tools")] {
        let protocol = path.split('/').nth(1).unwrap();
        send(&host, (method, path, &[JSON]), "{}");
        let missing = json!({"audit": 1, "outcome": "rejected", "event": "credentials_missing", "protocol": protocol});
        assert_eq!(lines(&host), [(Level::Info, missing)], "{path}");
        send(&host, (method, path, &[JSON, canary]), "{}");
        let rejected = json!({
            "audit": 1,
            "outcome": "rejected",
            "event": "credentials_rejected",
            "protocol": protocol,
            "reason": "the credentials are not valid",
        });
        assert_eq!(lines(&host), [(Level::Warn, rejected)], "{path}");
    }
}

thread_local! {
    /// The headers of the last request to a service.
    static SENT: RefCell<Vec<(String, String)>> = RefCell::default();
}

fn service(request: &HttpRequest<'_>) -> Result<HttpResponse, HttpError> {
    let headers = request.headers.iter();
    SENT.set(headers.map(|(name, value)| ((*name).to_owned(), value.to_string())).collect());
    Err(HttpError::Timeout)
}

#[test]
fn a_call_continues_the_trace_of_its_request() {
    let others = [("tracestate", "vendor=canary"), ("baggage", "user=canary")];
    for (_, path, sample) in paths() {
        for (headers, is_traced) in [
            (&[JSON, PARENT, others[0], others[1]][..], true),
            (&[JSON, others[0], others[1]], false),
            (&[JSON, ("traceparent", "canary")], false),
        ] {
            let host = FakeHost { upstream: service, ..FakeHost::default() };
            let (path, sent) = (named(&path, "Echo_Say"), body(sample, "Echo_Say", "send", 1));
            let answer = answer(CATALOG, &host, ("POST", &path, headers), Body::from(&*sent));
            let (_, line) = lines(&host).pop().unwrap();
            let timing = answer.headers.iter().find(|(name, _)| *name == "server-timing");
            let timing = timing.map(|(_, value)| value.split_once('=').unwrap());
            if is_traced {
                assert_eq!(line["trace_id"], TRACE, "{path}: {line}");
                assert_eq!(line["parent_span_id"], "00f067aa0ba902b7", "{path}: {line}");
                let span = line["span_id"].as_str().unwrap();
                let parent = format!("00-{TRACE}-{span}-01");
                assert_eq!(SENT.take(), [("traceparent".to_owned(), parent)], "{path}");
                let (name, duration) = timing.unwrap();
                assert_eq!(name, "total;dur", "{path}");
                assert!(duration.parse::<u64>().is_ok(), "{path}: {duration}");
            } else {
                assert_eq!((SENT.take(), timing), (vec![], None), "{path}");
                let members = ["trace_id", "span_id", "parent_span_id"];
                assert!(members.iter().all(|name| line.get(name).is_none()), "{path}: {line}");
            }
            assert!(!host.printed().contains("canary"), "{path}: {line}");
        }
    }
}

#[test]
fn each_call_of_a_batch_has_its_own_span() {
    let host = FakeHost::default();
    let sample = paths().find(|(_, path, _)| path == "/jsonrpc").unwrap().2;
    send(&host, ("POST", "/jsonrpc", &[JSON, PARENT]), &body(sample, "Echo_Say", "hi", 3));
    let mut spans: Vec<_> =
        lines(&host).into_iter().map(|(_, line)| line["span_id"].to_string()).collect();
    spans.sort();
    spans.dedup();
    assert_eq!(spans.len(), 3);
}

#[test]
fn the_trace_of_an_mcp_request_is_in_its_meta() {
    let other = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";
    for (meta, trace) in [
        (json!({ "traceparent": other }), &other[3..35]),
        (json!({"traceparent": "00-0-0-00"}), TRACE),
        (json!({"traceparent": 1}), TRACE),
        (json!({}), TRACE),
    ] {
        let host = FakeHost::default();
        let params = json!({"name": "Echo_Say", "arguments": {"text": "hi"}, "_meta": meta});
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let answer = send(&host, ("POST", "/mcp", &[JSON, PARENT]), &request.to_string());
        assert!(answer.contains("server-timing: total;dur="), "{answer}");
        assert_eq!(lines(&host).pop().unwrap().1["trace_id"], trace, "{meta}");
    }
}

#[test]
fn calls_are_measured_whatever_is_logged() {
    let host = FakeHost { measures: true, ..FakeHost::with(&[("LOG", "off")]) };
    send(&host, ("POST", "/call", &[JSON]), CALL);
    send(&host, ("POST", "/call", &[JSON]), &CALL.replace("hi", "fail"));
    let point = |outcome: &str, numbers: &str| {
        format!(
            "Echo_Say [\"Echo_Say\", \"2.0.0\", \"root\", \"anonymous\", {outcome}] [{numbers}]"
        )
    };
    let sizes = |point: &String| point.rsplit_once('[').unwrap().1.to_owned();
    let points = host.points.take();
    let numbers: Vec<_> = points.iter().map(sizes).collect();
    let expected = [("\"done\", \"\"", 0), ("\"failed\", \"tool_error\"", 1)]
        .map(|(outcome, at)| point(outcome, numbers[at].trim_end_matches(']')));
    assert_eq!(points, expected);
    let numbers: Vec<f64> = serde_json::from_str(&format!("[{}", numbers[0])).unwrap();
    assert_eq!((numbers.len(), numbers[1]), (3, CALL.len() as f64));
    assert_eq!(lines(&host), []);
}

proptest! {
    #![proptest_config(modest())]

    #[test]
    fn nothing_that_a_caller_sends_is_logged(
        at in any::<prop::sample::Index>(),
        name in select(vec!["Echo_Say", "Echo_Private", "Echo_Broken", "Echo_Narrow", "Canary_Tool"]),
        text in select(vec!["canary", "long", "fail", "ask", "user", "note"]),
        header in select(vec!["authorization", "oxp-api-key", "traceparent", "tracestate", "baggage", "cookie", "mcp-protocol-version", "oxp-version"]),
        auth in select(vec!["none", "none,api-key", "none,jwt"]),
    ) {
        let all: Vec<_> = paths().collect();
        let (_, path, sample) = at.get(&all);
        let id = &name.replacen('_', ".", 1);
        let input = &json!({"text": text, "canary": "canary", "code": "canary"});
        let context = &json!({
            "user_id": "canary",
            "authorization": [{"id": "mail", "token": "canary"}],
            "secrets": [{"id": "KEY", "value": "canary"}],
        });
        let context = sample.carries_context.then_some(context);
        let call = SampleCall { id: "canary", tool_id: id, name, input, context };
        let host = FakeHost {
            measures: true,
            ..FakeHost::with(&[
                ("AUTH", auth),
                ("API_KEYS", r#"[{"name":"a","scopes":[],"hash":"e8b18fbe02fad6aa9ce82b235322e7c10196478f011f9f8617b1b75d6db57961"}]"#),
                ("JWT_SECRET", "0123456789abcdef0123456789abcdef"),
            ])
        };
        let headers = [JSON, (header, "Bearer canary")];
        send(&host, ("POST", path, &headers), &sample.request(&call).to_string());
        let printed = host.printed().to_lowercase();
        prop_assert!(!printed.is_empty());
        prop_assert!(!printed.contains("canary"), "{}", printed);
    }
}
