//! What a tool said while it ran, as notifications before the response in an event stream. It has
//! all been said when the answer leaves, so that the stream ends at once.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::message::{Era, McpRequest};
use crate::http::{Headers, Response};
use crate::json;
use crate::tool::{LoggingLevel, Notification};

/// The levels of log messages, the least first.
const LEVELS: [&str; 8] =
    ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/// What the client wants to hear of while a tool runs.
#[derive(Debug)]
pub(super) struct NotificationPreferences {
    /// The token of progress, where it wants to know of that.
    progress: Option<Value>,
    /// The place in [`LEVELS`] of the least log messages that it wants, if it wants any.
    level: Option<usize>,
}

impl NotificationPreferences {
    /// What the request says of it. A client that takes no event stream hears of nothing. Of log
    /// messages a modern one says whether it wants them; a legacy one gets those that are for it.
    pub(super) fn of(request: &McpRequest<'_>, headers: &dyn Headers) -> Self {
        let token = request.meta.progress_token.as_ref();
        let level = match request.era() {
            Era::Legacy => Some("info"),
            Era::Modern => request.meta.log_level.as_ref().and_then(json::Value::as_str),
        };
        let progress =
            token.filter(|token| matches!(token, json::Value::String(_) | json::Value::Number(_)));
        let level = level.and_then(|level| LEVELS.iter().position(|known| *known == level));
        // Most clients take a stream and wish for nothing: then nobody need look.
        let heard = (progress.is_some() || level.is_some()) && takes_stream(headers);
        Self {
            progress: progress.filter(|_| heard).map(Value::from),
            level: level.filter(|_| heard),
        }
    }

    /// The answer, after the notes that are wanted.
    pub(super) fn tell(&self, notes: &[Notification], answer: Response) -> Response {
        let told: Vec<Value> = notes.iter().filter_map(|note| self.notification(note)).collect();
        if told.is_empty() || answer.status != 200 {
            return answer;
        }
        let Ok(response) = str::from_utf8(&answer.body) else { return answer };
        let mut text = String::new();
        for data in told.iter().map(json::text).chain([response.to_owned()]) {
            // Writing to a String does not fail, and JSON has no line end.
            let _ = write!(text, "event: message\ndata: {data}\n\n");
        }
        Response {
            status: 200,
            headers: vec![
                ("content-type", "text/event-stream".into()),
                ("cache-control", "no-store".into()),
                ("x-accel-buffering", "no".into()),
            ],
            body: text.into_bytes().into(),
        }
    }

    fn notification(&self, note: &Notification) -> Option<Value> {
        let (method, params) = match note {
            Notification::Progress { done, total, message } => {
                let mut params = Map::new();
                params.insert("progressToken".to_owned(), self.progress.clone()?);
                params.insert("progress".to_owned(), (*done).into());
                if let Some(total) = *total {
                    params.insert("total".to_owned(), total.into());
                }
                if !message.is_empty() {
                    params.insert("message".to_owned(), message.as_str().into());
                }
                ("notifications/progress", params.into())
            }
            Notification::Event { level, text } => {
                let level = match level {
                    LoggingLevel::Debug => "debug",
                    LoggingLevel::Info => "info",
                    LoggingLevel::Warning => "warning",
                    LoggingLevel::Error => "error",
                };
                let wanted = LEVELS.get(self.level?..)?;
                if !wanted.contains(&level) {
                    return None;
                }
                let params =
                    json::object([("level", level.into()), ("data", text.as_str().into())]);
                ("notifications/message", params)
            }
        };
        Some(json::object([
            ("jsonrpc", "2.0".into()),
            ("method", method.into()),
            ("params", params),
        ]))
    }
}

/// Whether the client takes an event stream.
fn takes_stream(headers: &dyn Headers) -> bool {
    const STREAM: &[u8] = b"text/event-stream";
    let accept = headers.get("accept").unwrap_or_default();
    accept.as_bytes().windows(STREAM.len()).any(|part| part.eq_ignore_ascii_case(STREAM))
}
