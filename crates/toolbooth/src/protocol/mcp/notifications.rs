//! Progress and log notifications of a call, sent before its response in an event stream. The tool has
//! finished by then, so the stream ends at once.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::Value;

use super::message::{Era, McpRequest};
use crate::http::{Headers, Response};
use crate::json;
use crate::protocol::event_stream;
use crate::tool::{LoggingLevel, Notification};

/// The levels of log messages, lowest first.
const LEVELS: [&str; 8] =
    ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/// The notifications that a client wants while a tool runs.
#[derive(Debug)]
pub(super) struct NotificationPreferences {
    /// The token for progress, if the client wants progress.
    progress: Option<Value>,
    /// The lowest level of log messages that the client wants, as an index of [`LEVELS`].
    level: Option<usize>,
}

#[derive(Serialize)]
struct NotificationMessage<'a> {
    jsonrpc: &'static str,
    #[serde(flatten)]
    notification: ServerNotification<'a>,
}

#[derive(Serialize)]
#[serde(tag = "method", content = "params", rename_all_fields = "camelCase")]
enum ServerNotification<'a> {
    #[serde(rename = "notifications/progress")]
    Progress {
        progress_token: &'a Value,
        progress: f64,
        #[serde(skip_serializing_if = "Option::is_none")]
        total: Option<f64>,
        #[serde(skip_serializing_if = "str::is_empty")]
        message: &'a str,
    },
    #[serde(rename = "notifications/message")]
    Message { level: &'static str, data: &'a str },
}

impl NotificationPreferences {
    /// Reads what the request asks for. A client that does not accept an event stream gets nothing. A
    /// modern client names the log level that it wants; a legacy client gets `info` and above.
    pub(super) fn read(request: &McpRequest<'_>, headers: &dyn Headers) -> Self {
        let token = request.meta.progress_token.as_ref();
        let progress =
            token.filter(|token| matches!(token, json::Value::String(_) | json::Value::Number(_)));
        let level = match request.era {
            Era::Legacy => Some("info"),
            Era::Modern => request.meta.log_level.as_ref().and_then(json::Value::as_str),
        };
        let level = level.and_then(|level| LEVELS.iter().position(|known| *known == level));
        // Most clients accept a stream but want no notifications: then the header need not be read.
        if progress.is_none() && level.is_none() || !accepts_stream(headers) {
            return Self { progress: None, level: None };
        }
        Self { progress: progress.map(Value::from), level }
    }

    /// Puts the notifications that the client wants before the response.
    pub(super) fn prepend(&self, notifications: &[Notification], response: Response) -> Response {
        let mut messages = notifications.iter().filter_map(|one| self.encode(one)).peekable();
        if messages.peek().is_none() || response.status != 200 {
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

    /// A notification as JSON, if the client wants it.
    fn encode(&self, notification: &Notification) -> Option<String> {
        let notification = match *notification {
            Notification::Progress { done: progress, total, ref message } => {
                let progress_token = self.progress.as_ref()?;
                ServerNotification::Progress { progress_token, progress, total, message }
            }
            Notification::Event { level, ref text } => {
                let level = match level {
                    LoggingLevel::Debug => "debug",
                    LoggingLevel::Info => "info",
                    LoggingLevel::Warning => "warning",
                    LoggingLevel::Error => "error",
                };
                if !LEVELS.get(self.level?..)?.contains(&level) {
                    return None;
                }
                ServerNotification::Message { level, data: text }
            }
        };
        Some(json::to_string(&NotificationMessage { jsonrpc: "2.0", notification }))
    }
}

fn accepts_stream(headers: &dyn Headers) -> bool {
    const STREAM: &[u8] = b"text/event-stream";
    let accept = headers.get("accept").unwrap_or_default();
    accept.as_bytes().windows(STREAM.len()).any(|part| part.eq_ignore_ascii_case(STREAM))
}
