//! JSON-RPC 2.0 at `/jsonrpc`, and what the protocols built on it share: requests, batches, notifications
//! and errors.
//!
//! A method is a tool: its name, its versioned name or its id. `params` is the tool's input.

mod error;
mod request;

use serde::Serialize;
use serde_json::Value;

use super::{CallResponse, Cors, Handler, PostRequest, Protocol, Route, post, version_free};
use crate::call::Outcome;
use crate::http::Response;
use crate::json;
use error::JsonRpcError;
pub(super) use error::encode_rejection;
pub(super) use request::JsonRpcRequest;

/// The version that responses name.
pub(super) const VERSION: &str = "2.0";

/// The protocol.
pub(super) static JSONRPC: Protocol = Protocol {
    name: "jsonrpc",
    title: "JSON-RPC 2.0",
    listed: true,
    routes: &[Route {
        path: "",
        methods: &[post(Handler::Call(|request| call(request, &PROFILE)))],
    }],
    check_version: version_free,
    encode_rejection,
    response_headers: &[],
    cors: Cors::Configured,
};

/// How a protocol that is built on JSON-RPC differs from it.
#[derive(Debug)]
pub(super) struct JsonRpcProfile {
    /// The accepted values of `jsonrpc` in a request.
    pub(super) versions: &'static [&'static str],
    /// Turns a tool's value into the `result`.
    pub(super) result: fn(Value) -> Value,
    /// The `result` next to the error of a single request whose id is a string, if there is one.
    pub(super) error_result: Option<fn() -> Value>,
}

const PROFILE: JsonRpcProfile =
    JsonRpcProfile { versions: &[VERSION], result: |value| value, error_result: None };

/// Decodes a request or a batch and runs its calls. The status is 200 whatever the outcome, or 204 if the
/// client expects no response.
///
/// A batch with more members than `MAX_TOOL_CALLS` is rejected as a whole.
pub(super) fn call<'a>(
    request: PostRequest<'a>,
    profile: &'static JsonRpcProfile,
) -> CallResponse<'a> {
    let PostRequest { body, context } = request;
    let most = context.pipeline.settings.limits.max_tool_calls;
    let decode = |body| JsonRpcRequest::decode(body, profile.versions);
    let (batch, requests) = match body {
        json::Value::Array(members) if members.is_empty() => {
            let reason = "a batch must have at least one request".to_owned();
            (false, vec![JsonRpcRequest::malformed(reason)])
        }
        json::Value::Array(members) if members.len() > most => {
            let reason = format!("a batch may have at most {most} requests");
            (false, vec![JsonRpcRequest::malformed(reason)])
        }
        json::Value::Array(members) => (true, members.into_iter().map(decode).collect()),
        body => (false, vec![decode(body)]),
    };
    let (ids, calls): (Vec<_>, Vec<_>) =
        requests.into_iter().map(|request| (request.id, request.call)).unzip();
    Box::pin(async move {
        let outcomes = context.call_all(calls).await?;
        Ok(encode(ids, outcomes, batch, profile))
    })
}

/// Encodes the outcomes of the requests that have an id.
fn encode(
    ids: Vec<Option<Value>>,
    outcomes: Vec<Outcome>,
    batch: bool,
    profile: &JsonRpcProfile,
) -> Response {
    let responses: Vec<_> = ids
        .into_iter()
        .zip(outcomes)
        .filter_map(|(id, outcome)| Some(JsonRpcResponse::new(outcome, id?, profile, batch)))
        .collect();
    match responses.as_slice() {
        [] => Response::empty(204),
        [response] if !batch => Response::json_of(200, response),
        responses => Response::json_of(200, responses),
    }
}

/// A response object.
#[derive(Debug, Serialize)]
pub(super) struct JsonRpcResponse {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<JsonRpcError>,
    id: Value,
}

impl JsonRpcResponse {
    /// The response to the request `id`, which is a member of a batch or not.
    pub(super) fn new(outcome: Outcome, id: Value, profile: &JsonRpcProfile, batch: bool) -> Self {
        let (result, error) = match JsonRpcError::value_of(outcome) {
            Ok(value) => (Some((profile.result)(value)), None),
            Err(error) => {
                let result = profile.error_result.filter(|_| !batch && id.is_string());
                (result.map(|result| result()), Some(error))
            }
        };
        Self { jsonrpc: VERSION, result, error, id }
    }

    /// Whether it is an error.
    pub(super) fn is_error(&self) -> bool {
        self.error.is_some()
    }
}

#[cfg(test)]
pub(super) mod tests;
