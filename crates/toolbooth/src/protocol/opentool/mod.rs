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
    Exchange, Handler, ListRequest, Page, PostRequest, Protocol, Route, no_version, unsigned,
};
use crate::http::Response;
use crate::json;

/// The protocol.
pub(super) static OPENTOOL: Protocol = Protocol {
    name: "opentool",
    title: "OpenTool 1.0",
    endpoints: &[
        Route { path: "/version", action: Handler::Read(version) },
        Route { path: "/load", action: Handler::Read(load) },
        Route { path: "/call", action: Handler::Call(call) },
        Route { path: "/streamCall", action: Handler::Call(stream::call) },
        Route { path: "/stop", action: Handler::Refuse(stop) },
    ],
    check: no_version,
    reject: jsonrpc::reject,
    decorate: unsigned,
    web_clients: false,
};

/// What OpenTool makes of JSON-RPC (OT6, OT10, OT11).
const RULES: Rules =
    Rules { versions: &[jsonrpc::VERSION, "2.0.0"], result: object, failed: Some(nothing) };

/// `POST /call`.
pub(super) fn call(posted: PostRequest<'_>) -> Exchange<'_> {
    jsonrpc::exchange(posted, &RULES)
}

/// Whether a body means JSON-RPC: it is a request, or a batch that begins with one.
pub(super) fn is_request(body: &json::Value<'_>) -> bool {
    let body = body.as_array().and_then(|members| members.first()).unwrap_or(body);
    body.get("jsonrpc").is_some()
}

/// `GET /version` (OT1): the server's.
pub(super) fn version(_: &ListRequest<'_>) -> Result<Page, Response> {
    static PAGE: LazyLock<Page> =
        LazyLock::new(|| Page::of(concat!(r#"{"version":""#, env!("CARGO_PKG_VERSION"), r#""}"#)));
    Ok(PAGE.lend())
}

/// `GET /load`: the document, or `{}` when there is none (OT25).
pub(super) fn load(reading: &ListRequest<'_>) -> Result<Page, Response> {
    Ok(reading.page(load::LIST.name).unwrap_or_else(|_| Page::of("{}")))
}

/// `POST /stop` (OT41): ends a tool that runs on its user's machine. This one does not.
fn stop() -> Response {
    jsonrpc::not_served("This server is hosted; nothing is stopped here")
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
