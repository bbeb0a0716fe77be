//! `POST /streamCall`: one call, with its result as server-sent events.
//!
//! The format is narrower than that of the standard, because the known client parses it with a regular
//! expression: `event:` and `data:` without a space, one line of data, LF, nothing in between.

use std::fmt::Write as _;

use super::PROFILE;
use crate::call::ToolSelector;
use crate::catalog::Catalog;
use crate::http::Response;
use crate::json::{self, Value};
use crate::protocol::context::malformed;
use crate::protocol::event_stream;
use crate::protocol::jsonrpc::{self, JsonRpcRequest, JsonRpcResponse, RequestKind};
use crate::route::{CallResponse, PostRequest};
use crate::text::excerpt;

/// Decodes one request. Its id must be a string, because the client cannot parse events with another id. A
/// malformed request gets 400 in the format of `/call`: no stream has begun.
pub(super) fn call(request: PostRequest<'_>) -> CallResponse<'_> {
    let PostRequest { body, context } = request;
    Box::pin(async move {
        let (id, call) = match JsonRpcRequest::decode(body, PROFILE.versions) {
            JsonRpcRequest { id: Some(id @ Value::String(_)), call: Ok(call) } => (id, call),
            JsonRpcRequest { call: Err(rejection), .. } => return Err(rejection),
            JsonRpcRequest { .. } => return Err(malformed("id must be a string")),
        };
        let method = method(&call.tool, context.pipeline.catalog);
        let kind = RequestKind::of(&call, &PROFILE);
        let result = jsonrpc::result(context.call(Ok(call)).await?, kind, &PROFILE);
        Ok(encode(&method, &JsonRpcResponse::new(result, id, &PROFILE, false)))
    })
}

/// The method as the events repeat it: an unknown one is shortened.
fn method(selector: &ToolSelector<'_>, catalog: &Catalog) -> String {
    match selector {
        ToolSelector::Resolved(tool) => tool.name.to_owned(),
        ToolSelector::Id(method) | ToolSelector::Name(method) => {
            let known = catalog.named(method).is_some();
            if known { method.clone().into_owned() } else { excerpt(method) }
        }
    }
}

/// `start`, then `data` and `done`, or `error` (OT38, OT39). A tool returns one value, so there is one
/// `data` event. All events are sent at once: the client does not join an event that arrives in pieces.
fn encode(method: &str, response: &JsonRpcResponse<'_>) -> Response {
    let mut text = String::new();
    let named = |name| json::to_string(&json::object([(name, method.into())]));
    let result = json::to_string(response);
    event(&mut text, "start", &named("start"));
    if response.is_error() {
        event(&mut text, "error", &result);
    } else {
        event(&mut text, "data", &result);
        event(&mut text, "done", &named("done"));
    }
    event_stream(text)
}

/// Adds an event (OT37). JSON escapes CR and LF; two more characters end a line for the client's pattern.
fn event(text: &mut String, name: &str, data: &str) {
    let data = data.replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029");
    // Writing to a String does not fail.
    let _ = write!(text, "event:{name}\ndata:{data}\n\n");
}
