//! Progress and log notifications of a call, sent before its response in an event stream. The tool has
//! finished by then, so the stream ends at once.

use std::fmt::Write as _;

use serde::Serialize;

use super::message::{Era, McpRequest};
use crate::http::{Headers, Response};
use crate::json::{self, Value};
use crate::protocol::event_stream;
use crate::tool::{LoggingLevel, Notification};

/// The levels of log messages, lowest first.
const LEVELS: [&str; 8] =
    ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

#[derive(Serialize)]
struct NotificationMessage<'a> {
    jsonrpc: &'static str,
    method: &'static str,
    params: NotificationParams<'a>,
}

#[derive(Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
enum NotificationParams<'a> {
    Progress {
        progress_token: &'a Value<'a>,
        progress: f64,
        #[serde(skip_serializing_if = "Option::is_none")]
        total: Option<f64>,
        #[serde(skip_serializing_if = "str::is_empty")]
        message: &'a str,
    },
    Message {
        level: &'static str,
        data: &'a str,
    },
}

/// Puts the notifications that the client wants before the response. A client that does not accept an event stream
/// gets none.
#[inline(never)]
pub(super) fn prepend(
    notifications: &[Notification],
    response: Response,
    request: &McpRequest<'_>,
    headers: &dyn Headers,
) -> Response {
    let mut messages = notifications.iter().filter_map(|one| encode(one, request)).peekable();
    if messages.peek().is_none() || response.status != 200 || !accepts_stream(headers) {
        return response;
    }
    let Ok(body) = str::from_utf8(&response.body) else { return response };
    let mut events = String::new();
    for data in messages.chain([body.to_owned()]) {
        // Writing to a String cannot fail, and compact JSON has no line breaks.
        let _ = write!(events, "event: message\ndata: {data}\n\n");
    }
    event_stream(events).with("x-accel-buffering", "no")
}

/// A notification as JSON, if the client wants it. A modern client names the lowest level of log messages that it wants;
/// a legacy client gets `info` and above.
fn encode(notification: &Notification, request: &McpRequest<'_>) -> Option<String> {
    let meta = &request.meta;
    let (method, params) = match *notification {
        Notification::Progress { done: progress, total, ref message } => {
            let is_token = |it: &&Value<'_>| matches!(it, Value::String(_) | Value::Number(_));
            let progress_token = meta.progress_token.as_ref().filter(is_token)?;
            let params = NotificationParams::Progress { progress_token, progress, total, message };
            ("notifications/progress", params)
        }
        Notification::Event { level, ref text } => {
            let lowest = match request.era {
                Era::Legacy => "info",
                Era::Modern => meta.log_level.as_ref().and_then(Value::as_str)?,
            };
            let level = match level {
                LoggingLevel::Debug => "debug",
                LoggingLevel::Info => "info",
                LoggingLevel::Warning => "warning",
                LoggingLevel::Error => "error",
            };
            if !LEVELS.iter().skip_while(|it| **it != lowest).any(|it| *it == level) {
                return None;
            }
            ("notifications/message", NotificationParams::Message { level, data: text })
        }
    };
    Some(json::to_string(&NotificationMessage { jsonrpc: "2.0", method, params }))
}

fn accepts_stream(headers: &dyn Headers) -> bool {
    const STREAM: &[u8] = b"text/event-stream";
    let accept = headers.get("accept").unwrap_or_default();
    accept.as_bytes().windows(STREAM.len()).any(|part| part.eq_ignore_ascii_case(STREAM))
}
