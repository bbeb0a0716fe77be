//! OpenTool 1.0: `GET /version`, `GET /load`, `POST /call`, and of what its SDKs have beyond the
//! specification `POST /streamCall` and, refused, `POST /stop`.
//!
//! Calls are JSON-RPC with three deviations, all for the sake of its clients: `jsonrpc` may be
//! "2.0.0", `result` is always an object, and beside the error of a request with a string id there
//! is an empty `result`. Clause numbers OT1 to OT41 are explained in docs/PROTOCOLS.md.

mod load;
mod stream;

use std::sync::LazyLock;

use serde_json::{Map, Value};

pub(super) use load::LIST;

use super::jsonrpc::{self, Rules};
use super::{
    CallResponse, Cors, Handler, Page, PageError, PostRequest, Protocol, Route, get, post,
    version_free,
};
use crate::call::RequestContext;
use crate::json;

/// The protocol.
pub(super) static OPENTOOL: Protocol = Protocol {
    name: "opentool",
    title: "OpenTool 1.0",
    listed: true,
    routes: &[
        Route { path: "/version", methods: &[get(Handler::List(version))] },
        Route { path: "/load", methods: &[get(Handler::List(load))] },
        Route { path: "/call", methods: &[post(Handler::Call(call))] },
        Route { path: "/streamCall", methods: &[post(Handler::Call(stream::call))] },
        // It ends a tool that runs on its user's machine (OT41).
        Route {
            path: "/stop",
            methods: &[post(Handler::NotServed("it is hosted, so there is nothing to stop"))],
        },
    ],
    check_version: version_free,
    encode_rejection: jsonrpc::encode_rejection,
    response_headers: &[],
    cors: Cors::Configured,
};

/// What OpenTool makes of JSON-RPC (OT6, OT10, OT11).
const RULES: Rules =
    Rules { versions: &[jsonrpc::VERSION, "2.0.0"], result: object, failed: Some(nothing) };

/// `POST /call`.
pub(super) fn call(request: PostRequest<'_>) -> CallResponse<'_> {
    jsonrpc::call(request, &RULES)
}

/// Whether a body means JSON-RPC: it is a request, or a batch that begins with one.
pub(super) fn is_request(body: &json::Value<'_>) -> bool {
    let body = body.as_array().and_then(|members| members.first()).unwrap_or(body);
    body.get("jsonrpc").is_some()
}

/// `GET /version` (OT1): the server's.
pub(super) fn version(_: &RequestContext<'_>) -> Result<Page, PageError> {
    static PAGE: LazyLock<Page> =
        LazyLock::new(|| Page::new(concat!(r#"{"version":""#, env!("CARGO_PKG_VERSION"), r#""}"#)));
    Ok(PAGE.borrowed())
}

/// `GET /load`: the document, or `{}` when there is none (OT25).
pub(super) fn load(context: &RequestContext<'_>) -> Result<Page, PageError> {
    Ok(Page::of_list(load::LIST.name, context).unwrap_or_else(|_| Page::new("{}")))
}

/// The `result` of a value (OT10).
fn object(value: Value) -> Value {
    match value {
        Value::Object(_) => value,
        Value::Null => nothing(),
        value => json::object([("result", value)]),
    }
}

/// An empty `result`.
fn nothing() -> Value {
    Value::Object(Map::new())
}

#[cfg(test)]
mod tests;
