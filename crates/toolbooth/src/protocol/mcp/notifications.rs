//! Progress and log notifications of a call, and the event stream in which a client gets them while the tool runs.
//!
//! A response becomes a stream when there is something to send before it: a notification that the client wants, or, for a client
//! that has asked for them, a comment after a silence. A call that ends before that has a response in one piece.

use std::cell::{Cell, OnceCell, RefCell};
use std::fmt::Write as _;
use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use serde::Serialize;

use super::message::{Era, McpRequest};
use crate::call::Rejection;
use crate::host::{BoxFuture, Host};
use crate::http::{Answer, BodyWriter, ClientGone, Headers, Response};
use crate::json::{self, Rendered, Value};
use crate::protocol::event_stream;
use crate::route::CallResponse;
use crate::tool::{LoggingLevel, Notification, Notifications};

/// The levels of log messages, lowest first.
const LEVELS: [&str; 8] =
    ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/// For how long a client that has asked for notifications gets nothing.
const SILENCE: Duration = Duration::from_secs(15);

/// What it gets then: proxies and clients see that the connection is alive.
const COMMENT: &str = ": the tool is running\n\n";

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
        progress_token: Rendered<'a>,
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

/// What the client of a call wants to get before the response.
struct Wanted {
    /// The token that progress repeats, as JSON; `None` if it wants no progress.
    progress_token: Option<String>,
    /// The lowest level of log messages; `None` if it wants none.
    lowest: Option<&'static str>,
    /// Whether it has asked: clients of before 2026-07-28 get log messages anyway.
    has_asked: bool,
}

impl Wanted {
    /// A modern client names the lowest level of log messages that it wants; a legacy client gets `info` and above.
    fn by(request: &McpRequest<'_>) -> Option<Self> {
        let meta = &request.meta;
        let is_token = |it: &&Value<'_>| matches!(it, Value::String(_) | Value::Number(_));
        let progress_token = meta.progress_token.as_ref().filter(is_token).map(json::to_string);
        let lowest = match request.era {
            Era::Legacy => Some("info"),
            Era::Modern => {
                let level = meta.log_level.as_ref().and_then(Value::as_str);
                LEVELS.into_iter().find(|known| level == Some(known))
            }
        };
        let has_asked = progress_token.is_some() || request.era == Era::Modern;
        (progress_token.is_some() || lowest.is_some()).then_some(Self {
            progress_token,
            lowest,
            has_asked,
        })
    }

    /// A notification as JSON, if the client wants it.
    fn encode(&self, notification: &Notification) -> Option<String> {
        let (method, params) = match *notification {
            Notification::Progress { done: progress, total, ref message } => {
                let progress_token = Rendered(self.progress_token.as_deref()?);
                let params =
                    NotificationParams::Progress { progress_token, progress, total, message };
                ("notifications/progress", params)
            }
            Notification::Event { level, ref text } => {
                let level = match level {
                    LoggingLevel::Debug => "debug",
                    LoggingLevel::Info => "info",
                    LoggingLevel::Warning => "warning",
                    LoggingLevel::Error => "error",
                };
                let lowest = self.lowest?;
                if !LEVELS.iter().skip_while(|it| **it != lowest).any(|it| *it == level) {
                    return None;
                }
                ("notifications/message", NotificationParams::Message { level, data: text })
            }
        };
        Some(json::to_string(&NotificationMessage { jsonrpc: "2.0", method, params }))
    }
}

/// Hears what the tool of a request reports, and has what was not sent yet.
#[derive(Default)]
pub(super) struct Listener {
    /// `None` until the request is read, or if its client wants nothing.
    wanted: OnceCell<Wanted>,
    /// Whether the client accepts an event stream, once that has mattered.
    accepts_stream: OnceCell<bool>,
    reported: Notifications,
    /// Events that the client does not have.
    events: RefCell<String>,
    /// Whether the response is among the events.
    has_ended: Cell<bool>,
}

impl Listener {
    /// Where the tool of a request reports, if the client wants to know.
    pub(super) fn listen(&self, request: &McpRequest<'_>) -> Option<&Notifications> {
        // Other methods report nothing: while a user types, completions have no progress.
        request.operation()?;
        let wanted = Wanted::by(request)?;
        self.wanted.set(wanted).ok().map(|()| &self.reported)
    }

    /// Makes events of what was reported since the last time. Returns whether there are any.
    fn collect(&self, headers: &dyn Headers) -> bool {
        let reported = self.reported.take();
        if let Some(wanted) = self.wanted.get() {
            let messages = reported.iter().filter_map(|one| wanted.encode(one));
            for message in messages {
                if self.may_stream(headers) {
                    self.push(&message);
                }
            }
        }
        !self.events.borrow().is_empty()
    }

    /// Adds the event of a message.
    fn push(&self, message: &str) {
        // Writing to a String cannot fail, and compact JSON has no line breaks.
        let _ = write!(self.events.borrow_mut(), "event: message\ndata: {message}\n\n");
    }

    fn may_stream(&self, headers: &dyn Headers) -> bool {
        *self.accepts_stream.get_or_init(|| accepts_stream(headers))
    }

    /// Whether the client gets a comment if nothing else comes.
    fn waits(&self, headers: &dyn Headers) -> bool {
        self.wanted.get().is_some_and(|wanted| wanted.has_asked) && self.may_stream(headers)
    }

    /// Adds the response, which is the last event.
    fn end(&self, response: &Response, headers: &dyn Headers) {
        self.collect(headers);
        self.push(&String::from_utf8_lossy(&response.body));
        self.has_ended.set(true);
    }

    /// What the client gets next: as soon as there is something, and otherwise after a silence; `None` at the end.
    async fn next(&self, headers: &dyn Headers, host: &dyn Host) -> Option<String> {
        let mut silence = None;
        poll_fn(|context| {
            if self.collect(headers) {
                return Poll::Ready(Some(self.events.take()));
            }
            if self.has_ended.get() {
                return Poll::Ready(None);
            }
            pass_silence(&mut silence, host, context).map(|()| Some(COMMENT.to_owned()))
        })
        .await
    }
}

/// Ready after a silence, which begins with the first poll.
fn pass_silence<'h>(
    silence: &mut Option<BoxFuture<'h, ()>>,
    host: &'h dyn Host,
    context: &mut Context<'_>,
) -> Poll<()> {
    silence.get_or_insert_with(|| host.sleep(SILENCE)).as_mut().poll(context)
}

/// Answers with what `response` is going to be: in one piece, or in a stream with what `listener` hears before.
pub(super) async fn answer<'a>(
    mut response: CallResponse<'a>,
    listener: Rc<Listener>,
    headers: &'a dyn Headers,
    host: &'a dyn Host,
) -> Result<Answer<'a>, Rejection> {
    let mut silence = None;
    let ended = poll_fn(|context| {
        if let Poll::Ready(response) = response.as_mut().poll(context) {
            return Poll::Ready(Some(response));
        }
        if listener.collect(headers) {
            return Poll::Ready(None);
        }
        if !listener.waits(headers) {
            return Poll::Pending;
        }
        pass_silence(&mut silence, host, context).map(|()| {
            listener.events.borrow_mut().push_str(COMMENT);
            None
        })
    })
    .await;
    match ended {
        Some(response) => Ok(whole(response?, &listener, headers).into()),
        None => Ok(Answer { head: head(), rest: Some(rest(response, listener, headers, host)) }),
    }
}

/// A response in one piece. What was reported stands before it in an event stream.
fn whole(response: Response, listener: &Listener, headers: &dyn Headers) -> Response {
    if !listener.collect(headers) || response.status != 200 {
        return response;
    }
    listener.end(&response, headers);
    Response { body: listener.events.take().into_bytes().into(), ..head() }
}

fn head() -> Response {
    event_stream(String::new()).with("x-accel-buffering", "no")
}

/// Sends what the tool reports as soon as it does so, and then the response. If the client goes, so does the call.
fn rest<'a>(
    mut response: CallResponse<'a>,
    listener: Rc<Listener>,
    headers: &'a dyn Headers,
    host: &'a dyn Host,
) -> BodyWriter<'a> {
    Box::new(move |sink| {
        Box::pin(async move {
            let mut sending = pin!(async {
                while let Some(events) = listener.next(headers, host).await {
                    sink.write(events.as_bytes()).await?;
                }
                Ok::<(), ClientGone>(())
            });
            // The tool does not wait for a slow client.
            let sent = poll_fn(|context| {
                // What the client can get before the tool goes on.
                if let Poll::Ready(sent) = sending.as_mut().poll(context) {
                    return Poll::Ready(sent);
                }
                if !listener.has_ended.get()
                    && let Poll::Ready(response) = response.as_mut().poll(context)
                {
                    match response {
                        Ok(response) => listener.end(&response, headers),
                        Err(_) => listener.has_ended.set(true),
                    }
                }
                sending.as_mut().poll(context)
            });
            let _ = sent.await;
        })
    })
}

fn accepts_stream(headers: &dyn Headers) -> bool {
    const STREAM: &[u8] = b"text/event-stream";
    let accept = headers.get("accept").unwrap_or_default();
    accept.as_bytes().windows(STREAM.len()).any(|part| part.eq_ignore_ascii_case(STREAM))
}
