//! OpenTool 1.0: `GET /version`, `GET /load`, `POST /call`, and two endpoints that only its SDKs have:
//! `POST /streamCall`, and `POST /stop`, which is not served.
//!
//! Calls are JSON-RPC with three differences that OpenTool's clients need: `jsonrpc` may be "2.0.0",
//! `result` is always an object, and the response to a request with a string id has `result` and `error`, one of
//! them empty. docs/PROTOCOLS.md explains the clause numbers OT1 to OT41.

mod load;
mod stream;

use serde_json::Value;

pub(crate) use load::LIST;

use super::jsonrpc::{self, JsonRpcProfile};
use super::sample;
use crate::call::RequestContext;
use crate::json;
use crate::route::{
    CallResponse, Calls, Document, EncodeRejection, Page, PageError, Policy, PostRequest, Protocol,
    Route, for_tests,
};

pub(crate) static OPENTOOL: Protocol = Protocol {
    routes: &[
        Route::get("/version", Policy::CALLER, &Document(version)),
        Route::get("/load", Policy::CALLER, &Document(load)),
        Route::post("/call", Policy::CALLS, &Calls(call)),
        Route::post("/streamCall", Policy::CALLS, &Calls(stream::call)),
    ],
    // It stops a tool that runs on the user's machine (OT41).
    not_served: &[("/stop", "it is hosted, so there is nothing to stop")],
    samples: for_tests(&[
        (&["/call"], &sample::OPENTOOL),
        (&["/streamCall"], &sample::OPENTOOL_STREAM),
    ]),
    ..Protocol::new("opentool", "OpenTool 1.0", EncodeRejection::Plain(jsonrpc::encode_rejection))
};

/// How OpenTool differs from JSON-RPC (OT6, OT10, OT11).
const PROFILE: JsonRpcProfile = JsonRpcProfile {
    versions: &[jsonrpc::VERSION, "2.0.0"],
    result: object,
    has_both_members: true,
    // `GET /load` returns OpenTool's own document.
    discovers: false,
};

pub(super) fn call(request: PostRequest<'_>) -> CallResponse<'_> {
    jsonrpc::call(request, &PROFILE)
}

/// Whether a body is JSON-RPC: a request, or a batch that begins with one.
pub(super) fn is_request(body: &json::Value<'_>) -> bool {
    let body = body.as_array().and_then(|members| members.first()).unwrap_or(body);
    body.get("jsonrpc").is_some()
}

/// `GET /version` (OT1): the version of the server, of which OpenTool has the three numbers only.
pub(super) fn version(context: &RequestContext<'_>) -> Result<Page, PageError> {
    let version = context.pipeline.catalog.server.version;
    let version = version.split(['-', '+']).next().unwrap_or(version);
    Ok(Page::new(json::to_string(&json::object([("version", version.into())]))))
}

/// `GET /load`: the document, or `{}` if the catalogue has none (OT25).
pub(super) fn load(context: &RequestContext<'_>) -> Result<Page, PageError> {
    Ok(Page::of_list(load::LIST.name, context).unwrap_or_else(|_| Page::new("{}")))
}

/// The `result` for a value (OT10).
fn object(value: Value) -> Value {
    match value {
        Value::Object(_) => value,
        Value::Null => json::object([]),
        value => json::object([("result", value)]),
    }
}

#[cfg(test)]
mod tests;
