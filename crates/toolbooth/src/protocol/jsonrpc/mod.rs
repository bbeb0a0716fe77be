//! JSON-RPC 2.0 at `/jsonrpc`, and what the protocols built on it share: requests, batches, notifications
//! and errors.
//!
//! A method is a tool: its name, its versioned name or its id. `params` is the tool's input. `rpc.discover` returns
//! an OpenRPC document of the tools.

mod discover;
mod error;
mod request;

use std::borrow::Cow;
use std::mem;

use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::call::{Outcome, Rejection, RequestContext, ToolRequest, ToolSelector};
use crate::http::Response;
use crate::json::{self, Rendered};
use crate::protocol::sample;
use crate::route::{
    CallResponse, Calls, EncodeRejection, Page, Policy, PostRequest, Protocol, Route, for_tests,
};
pub(crate) use discover::LIST;
use error::JsonRpcError;
pub(super) use error::encode_rejection;
pub(super) use request::JsonRpcRequest;

/// The version that responses name.
pub(super) const VERSION: &str = "2.0";

pub(crate) static JSONRPC: Protocol = Protocol {
    routes: &[Route::post("", Policy::CALLS, &Calls(|request| call(request, &PROFILE)))],
    samples: for_tests(&[(&[""], &sample::JSONRPC)]),
    ..Protocol::new("jsonrpc", "JSON-RPC 2.0", EncodeRejection::Plain(encode_rejection))
};

/// How a protocol that is built on JSON-RPC differs from it.
#[derive(Debug)]
pub(super) struct JsonRpcProfile {
    /// The accepted values of `jsonrpc` in a request.
    pub(super) versions: &'static [&'static str],
    /// Turns a tool's value into the `result`.
    pub(super) result: fn(Value) -> Value,
    /// Whether the response to a single request whose id is a string always has both members: an empty `result` next
    /// to an error, and a null `error` next to a result.
    pub(super) has_both_members: bool,
    /// Whether `rpc.discover` is served. The document describes the results of [`PROFILE`].
    pub(super) discovers: bool,
}

const PROFILE: JsonRpcProfile = JsonRpcProfile {
    versions: &[VERSION],
    result: |value| value,
    has_both_members: false,
    discovers: true,
};

/// What the response to a request depends on, besides the outcome of its call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RequestKind {
    /// A call with params by name.
    Call,
    /// A call with params by position, which no tool accepts.
    PositionalCall,
    Discover,
}

impl RequestKind {
    pub(super) fn of(call: &ToolRequest<'_>, profile: &JsonRpcProfile) -> Self {
        match (&call.tool, &call.input) {
            (ToolSelector::Name(name), _) if profile.discovers && name == discover::METHOD => {
                Self::Discover
            }
            (_, json::Value::Array(_)) => Self::PositionalCall,
            _ => Self::Call,
        }
    }
}

/// Decodes a request or a batch and runs its calls. The status is 200 whatever the outcome, or 204 if the
/// client expects no response. A batch with more members than `MAX_TOOL_CALLS` is rejected as a whole.
pub(super) fn call<'a>(
    request: PostRequest<'a>,
    profile: &'static JsonRpcProfile,
) -> CallResponse<'a> {
    let PostRequest { body, context } = request;
    let most = context.pipeline.settings.limits.max_tool_calls;
    let decode = |body| JsonRpcRequest::decode(body, profile.versions);
    let (batch, requests) = match body {
        json::Value::Array(members) if members.is_empty() => {
            (false, vec![JsonRpcRequest::malformed("a batch must have at least one request")])
        }
        json::Value::Array(members) if members.len() > most => {
            let reason = format!("a batch may have at most {most} requests");
            (false, vec![JsonRpcRequest::malformed(reason)])
        }
        json::Value::Array(members) => (true, members.into_iter().map(decode).collect()),
        body => (false, vec![decode(body)]),
    };
    let mut pending = Vec::with_capacity(requests.len());
    let mut calls = Vec::with_capacity(requests.len());
    let mut has_document = false;
    for JsonRpcRequest { id, mut call } in requests {
        let mut kind =
            call.as_ref().map_or(RequestKind::Call, |call| RequestKind::of(call, profile));
        // The document is large, and each member of a batch would write it again.
        if kind == RequestKind::Discover && id.is_some() && mem::replace(&mut has_document, true) {
            let reason = format!("a batch may have {} only once", discover::METHOD);
            (kind, call) = (RequestKind::Call, Err(Rejection::Malformed(reason)));
        }
        pending.push((id, kind));
        if kind != RequestKind::Discover {
            calls.push(call);
        }
    }
    Box::pin(async move {
        let mut outcomes = context.call_all(calls).await?.into_iter();
        let responses = pending.into_iter().filter_map(|(id, kind)| {
            // Notifications have outcomes too.
            let result = match kind {
                RequestKind::Discover => document(&context),
                kind => result(outcomes.next()?, kind, profile),
            };
            Some(JsonRpcResponse::new(result, id?, profile, batch))
        });
        Ok(match responses.collect::<Vec<_>>().as_slice() {
            [] => Response::empty(204),
            [response] if !batch => Response::json_of(200, response),
            responses => Response::json_of(200, responses),
        })
    })
}

/// The document that `rpc.discover` returns, with the tools that the caller may run.
fn document(context: &RequestContext<'_>) -> Result<JsonRpcResult, JsonRpcError> {
    let page = Page::of_list(LIST.name, context).map_err(|rejection| (&rejection).into());
    page.map(|page| JsonRpcResult::Document(page.body))
}

/// The result of a call, or the error if it has no value.
pub(super) fn result(
    outcome: Outcome,
    kind: RequestKind,
    profile: &JsonRpcProfile,
) -> Result<JsonRpcResult, JsonRpcError> {
    let value = match (outcome, kind) {
        (Outcome::InvalidInput(input), RequestKind::PositionalCall) => {
            Err(JsonRpcError::positional(&input))
        }
        (outcome, _) => JsonRpcError::value_of(outcome),
    };
    value.map(|value| JsonRpcResult::Value((profile.result)(value)))
}

#[derive(Debug, Serialize)]
pub(super) struct JsonRpcResponse<'t> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<JsonRpcResult>,
    /// `Some(None)` is null.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Option<JsonRpcError>>,
    id: json::Value<'t>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum JsonRpcResult {
    Value(Value),
    /// A document, as JSON.
    Document(#[serde(serialize_with = "rendered")] Cow<'static, str>),
}

fn rendered<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    Rendered(text).serialize(serializer)
}

impl<'t> JsonRpcResponse<'t> {
    /// The response to the request `id`, which is a member of a batch or not.
    pub(super) fn new(
        result: Result<JsonRpcResult, JsonRpcError>,
        id: json::Value<'t>,
        profile: &JsonRpcProfile,
        batch: bool,
    ) -> Self {
        let has_both = profile.has_both_members && !batch && id.as_str().is_some();
        let (result, error) = match result {
            Ok(result) => (Some(result), has_both.then_some(None)),
            Err(error) => {
                (has_both.then(|| JsonRpcResult::Value(json::object([]))), Some(Some(error)))
            }
        };
        Self { jsonrpc: VERSION, result, error, id }
    }

    pub(super) fn is_error(&self) -> bool {
        matches!(self.error, Some(Some(_)))
    }
}

#[cfg(test)]
pub(super) mod tests;
