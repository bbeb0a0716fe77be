//! `POST /streamCall`: one call told as server-sent events.
//!
//! The form is narrower than that of the events standard, because the client that is known reads it
//! with a pattern: `event:` and `data:` without a space, one line of data, LF, nothing between.

use std::fmt::Write as _;

use serde_json::Value;

use super::super::jsonrpc::{Reply, Request};
use super::super::{CallResponse, PostRequest};
use super::{RULES, nothing, object};
use crate::call::{Outcome, Rejection, ToolSelector};
use crate::catalog::Catalog;
use crate::http::Response;
use crate::json::{self, Writer};
use crate::text::excerpt;

/// Reads one request, whose id must be a string: its events could not be read otherwise. What
/// cannot be read is answered 400 in the form of `/call`, for no stream has begun.
pub(super) fn call(request: PostRequest<'_>) -> CallResponse<'_> {
    let PostRequest { body, context } = request;
    let rejection = match Request::read(body, RULES.versions) {
        Request { id: Some(Value::String(id)), call: Ok(call) } => {
            return Box::pin(async move {
                let method = method(&call.tool, context.pipeline.catalog);
                Ok(events(method, id, context.call(Ok(call)).await?))
            });
        }
        Request { call: Err(rejection), .. } => rejection,
        Request { .. } => Rejection::Malformed("id must be a string".to_owned()),
    };
    Box::pin(async move { Err(rejection) })
}

/// The method as the events repeat it.
fn method(selector: &ToolSelector<'_>, catalog: &Catalog) -> String {
    match selector {
        ToolSelector::Resolved(tool) => tool.name.to_owned(),
        ToolSelector::Id(method) | ToolSelector::Name(method) => {
            let known = catalog.named(method).is_some();
            if known { method.clone().into_owned() } else { excerpt(method) }
        }
    }
}

/// `start`, then `data` and `done`, or `error` (OT38, OT39); `method` is told in the first and the
/// last. A tool gives one value, so there is one `data`, and all events leave together: the client
/// does not put together one that is split.
fn events(method: String, id: String, outcome: Outcome) -> Response {
    let reply = Reply::new(outcome, id.into(), object, Some(nothing));
    let mut json = Writer::new();
    reply.write(&mut json);
    let json = json.end();
    let mut text = String::new();
    event(&mut text, "start", &json::text(&json::object([("start", method.as_str().into())])));
    if reply.is_error() {
        event(&mut text, "error", &json);
    } else {
        event(&mut text, "data", &json);
        event(&mut text, "done", &json::text(&json::object([("done", method.into())])));
    }
    Response {
        status: 200,
        headers: vec![
            ("content-type", "text/event-stream".into()),
            ("cache-control", "no-store".into()),
        ],
        body: text.into_bytes().into(),
    }
}

/// Writes an event (OT37). JSON escapes CR and LF; the pattern's dot stops at two more line ends.
fn event(text: &mut String, name: &str, data: &str) {
    let data = data.replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029");
    // Writing to a String does not fail.
    let _ = write!(text, "event:{name}\ndata:{data}\n\n");
}
