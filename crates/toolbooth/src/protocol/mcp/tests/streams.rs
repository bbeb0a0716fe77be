//! Notifications that arrive while the tool runs.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::*;
use crate::Server;
use crate::host::async_trait;
use crate::http::{Body, BodySink, ClientGone, Method, Request};
use crate::testing::{patient, respond};

const STREAM: (&str, &str) = ("accept", "application/json, text/event-stream");
const LEVEL: &str = "io.modelcontextprotocol/logLevel";

thread_local! {
    /// How many requests the service of the tool has answered.
    static SERVED: Cell<usize> = const { Cell::new(0) };
}

/// A host whose services answer later, and whose clock moves fast.
fn host() -> FakeHost {
    SERVED.set(0);
    FakeHost {
        upstream: |_| {
            SERVED.set(SERVED.get() + 1);
            respond(200, "{}")
        },
        upstream_waits: Cell::new(true),
        tick_ms: 1_000,
        ..FakeHost::default()
    }
}

/// A client that reads a stream, and goes when it has read a number of times.
struct Client {
    seen: Rc<RefCell<Vec<Seen>>>,
    left: Cell<usize>,
}

/// What a client reads at once, and how many requests of the tool its service had answered then.
type Seen = (String, usize);

#[async_trait(?Send)]
impl BodySink for Client {
    async fn write(&self, bytes: &[u8]) -> Result<(), ClientGone> {
        self.left.set(self.left.get().checked_sub(1).ok_or(ClientGone)?);
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        self.seen.borrow_mut().push((text, SERVED.get()));
        Ok(())
    }
}

/// The response to a message of a client that reads `most` times: its media type, and what the client reads.
fn read(host: &FakeHost, sent: Sent<'_>, body: &Value, most: usize) -> (String, Vec<Seen>) {
    let sent: Vec<_> = [("content-type", "application/json")].iter().chain(sent).copied().collect();
    let server = Server::new(CATALOG, CAPABILITIES, host);
    let request = Request {
        own_origin: None,
        method: Method::Post,
        path: "/mcp",
        query: "",
        headers: &Pairs(&sent),
        body: Body::from(body.to_string().as_str()),
    };
    let answer = patient(server.answer(request, host));
    let head = answer.head;
    let media =
        head.headers.iter().find(|(name, _)| *name == "content-type").unwrap().1.to_string();
    let seen = Rc::<RefCell<Vec<Seen>>>::default();
    if !head.body.is_empty() {
        let text = String::from_utf8(head.body.to_vec()).unwrap();
        seen.borrow_mut().push((text, SERVED.get()));
    }
    if let Some(write) = answer.rest {
        let client = Client { seen: Rc::clone(&seen), left: Cell::new(most) };
        patient(write(Box::new(client)));
    }
    (media, seen.take())
}

fn say(text: &str, meta: Value) -> Value {
    json!({"name": "Echo_Say", "arguments": {"text": text}, "_meta": meta})
}

/// The messages in what a client reads at once.
fn messages(text: &str) -> Vec<Value> {
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    data.map(|data| serde_json::from_str(data).unwrap()).collect()
}

fn progress(done: f64, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {
        "progressToken": "p", "progress": done, "total": 2.0, "message": message}})
}

#[test]
fn mc50_notifications_arrive_while_the_tool_runs() {
    for method in [modern, legacy] {
        let body = method("tools/call", say("wait", json!({"progressToken": "p"})));
        let sent: Vec<_> = match body["params"]["_meta"].as_object().unwrap().len() {
            1 => vec![STREAM],
            _ => headers(&body).into_iter().chain([STREAM]).collect(),
        };
        let (media, seen) = read(&host(), &sent, &body, usize::MAX);
        assert_eq!(media, "text/event-stream");
        let [(first, 0), (rest, 1)] = seen.as_slice() else { panic!("{seen:?}") };
        let mut begun = messages(first);
        // A legacy client gets log messages too.
        begun.retain(|message| message["method"] == "notifications/progress");
        assert_eq!(begun, [progress(1.0, "begun")]);
        let [second, response] = &messages(rest)[..] else { panic!("{rest}") };
        assert_eq!(second, &progress(2.0, "done"));
        assert_eq!(response["id"], 7);
        assert_eq!(response["result"]["content"][0]["text"], r#"{"result":"waited"}"#);
    }
}

#[test]
fn mc50_what_makes_a_response_a_stream() {
    let token = json!({"progressToken": 7});
    for (what, accept, text, meta, is_stream) in [
        ("progress", STREAM, "wait", token.clone(), true),
        ("other notation", ("accept", "Text/Event-Stream;q=1"), "wait", token.clone(), true),
        ("a log message", STREAM, "wait", json!({LEVEL: "info"}), true),
        // A client that has asked gets a comment after a silence.
        ("silence", STREAM, "sleep", token.clone(), true),
        ("silence, for log messages", STREAM, "sleep", json!({LEVEL: "info"}), true),
        ("reported too late to be sent before", STREAM, "note", token.clone(), true),
        ("nothing wanted", STREAM, "wait", json!({}), false),
        ("nothing wanted in silence", STREAM, "sleep", json!({}), false),
        ("null", STREAM, "wait", json!({"progressToken": null, LEVEL: null}), false),
        ("not a token", STREAM, "wait", json!({"progressToken": {}}), false),
        ("only higher levels", STREAM, "wait", json!({LEVEL: "error"}), false),
        ("no stream accepted", ("accept", "application/json"), "wait", token.clone(), false),
        ("no stream accepted in silence", ("accept", "*/*"), "sleep", token.clone(), false),
        ("nothing reported", STREAM, "send", token.clone(), false),
        ("at once", STREAM, "hi", token, false),
    ] {
        let body = modern("tools/call", say(text, meta));
        let sent: Vec<_> = headers(&body).into_iter().chain([accept]).collect();
        let (media, seen) = read(&host(), &sent, &body, usize::MAX);
        let text: String = seen.into_iter().map(|(text, _)| text).collect();
        if is_stream {
            assert_eq!(media, "text/event-stream", "{what}");
            assert_eq!(messages(&text).last().unwrap()["id"], 7, "{what}: {text}");
        } else {
            assert_eq!(media, "application/json", "{what}: {text}");
            assert_eq!(serde_json::from_str::<Value>(&text).unwrap()["id"], 7, "{what}");
        }
    }
}

#[test]
fn mc50_before_2026_07_28_log_messages_come_unasked_but_comments_do_not() {
    for (text, is_stream) in [("wait", true), ("sleep", false), ("send", false)] {
        let body = legacy("tools/call", say(text, json!({})));
        let (media, seen) = read(&host(), &[STREAM], &body, usize::MAX);
        assert_eq!(media == "text/event-stream", is_stream, "{text}: {seen:?}");
        if let [(first, served), ..] = &*seen
            && is_stream
        {
            assert_eq!(
                (messages(first)[0]["params"]["data"].as_str(), *served),
                (Some("begun"), 0)
            );
        }
    }
}

#[test]
fn mc50_a_comment_every_15_seconds_keeps_the_connection() {
    let body = modern("tools/call", say("sleep", json!({"progressToken": "p"})));
    let sent: Vec<_> = headers(&body).into_iter().chain([STREAM]).collect();
    let (_, seen) = read(&host(), &sent, &body, usize::MAX);
    let (last, comments) = seen.split_last().unwrap();
    assert!(comments.len() >= 2, "{seen:?}");
    for (comment, _) in comments {
        assert_eq!(comment, ": the tool is running\n\n");
    }
    assert_eq!(messages(&last.0)[0]["id"], 7);
}

#[test]
fn mc50_a_call_ends_with_its_client_and_is_in_the_log_once() {
    for (most, expected) in [
        (usize::MAX, (r#""outcome":"done""#, 1)),
        // It goes before it has got anything: the tool still waits for its service.
        (0, (r#""error.type":"client_closed_request""#, 0)),
    ] {
        let host = host();
        let body = modern("tools/call", say("wait", json!({"progressToken": "p"})));
        let sent: Vec<_> = headers(&body).into_iter().chain([STREAM]).collect();
        let (_, seen) = read(&host, &sent, &body, most);
        let lines = host.lines.borrow();
        let calls: Vec<_> = lines.iter().filter(|(_, line)| line.contains(r#""call""#)).collect();
        let [(_, line)] = calls.as_slice() else { panic!("{lines:?}") };
        assert!(line.contains(expected.0), "{line}");
        assert_eq!(SERVED.get(), expected.1, "{line}");
        let size: usize = seen.iter().map(|(text, _)| text.len()).sum();
        let size = format!(r#""http.response.body.size":{size},"#);
        assert!(most == 0 || line.contains(&size), "{size} in {line}");
    }
}

#[test]
fn mc50_what_runs_no_tool_is_no_stream() {
    for (method, params) in [
        ("tools/list", json!({"_meta": {"progressToken": "p"}})),
        ("resources/list", json!({"_meta": {"progressToken": "p"}})),
        ("server/discover", json!({"_meta": {"progressToken": "p"}})),
    ] {
        let body = modern(method, params);
        let sent: Vec<_> = headers(&body).into_iter().chain([STREAM]).collect();
        let (media, _) = read(&host(), &sent, &body, usize::MAX);
        assert_eq!(media, "application/json", "{method}");
    }
}
