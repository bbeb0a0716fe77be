//! JSON-RPC 2.0 by its own rules, mounted at `/jsonrpc`, and what every protocol that is built on
//! it shares: requests, batches, notifications, errors.
//!
//! A tool is a method: its name, its versioned name or its id. `params` is the tool's input.

mod error;
mod request;

use error::Error;
pub(super) use error::encode_rejection;
pub(super) use request::Request;

use serde_json::Value;

use super::{CallResponse, Cors, Handler, PostRequest, Protocol, Route, post, version_free};
use crate::call::Outcome;
use crate::http::Response;
use crate::json::{self, Writer};

/// The version that answers name.
pub(super) const VERSION: &str = "2.0";

/// The protocol.
pub(super) static JSONRPC: Protocol = Protocol {
    name: "jsonrpc",
    title: "JSON-RPC 2.0",
    listed: true,
    routes: &[Route { path: "", methods: &[post(Handler::Call(|request| call(request, &RULES)))] }],
    check_version: version_free,
    encode_rejection,
    response_headers: &[],
    cors: Cors::Configured,
};

/// What a protocol that is built on JSON-RPC makes of it.
#[derive(Debug)]
pub(super) struct Rules {
    /// What `jsonrpc` may say in a request.
    pub(super) versions: &'static [&'static str],
    /// Makes of a tool's value the `result`.
    pub(super) result: fn(Value) -> Value,
    /// What stands as `result` beside the error of a single request whose id is a string.
    pub(super) failed: Option<fn() -> Value>,
}

const RULES: Rules = Rules { versions: &[VERSION], result: |value| value, failed: None };

/// Reads a request or a batch of them, and answers with 200 whatever comes of it; with 204 if the
/// client waits for no answer.
///
/// Of a batch with more members than `MAX_TOOL_CALLS` none is run.
pub(super) fn call<'a>(request: PostRequest<'a>, rules: &'static Rules) -> CallResponse<'a> {
    let PostRequest { body, context } = request;
    let most = context.pipeline.settings.limits.max_tool_calls;
    let read = |body| Request::read(body, rules.versions);
    let (batch, requests) = match body {
        json::Value::Array(members) if members.is_empty() => {
            (false, vec![Request::malformed("a batch must have at least one request".to_owned())])
        }
        json::Value::Array(members) if members.len() > most => {
            let reason = format!("a batch may have at most {most} requests");
            (false, vec![Request::malformed(reason)])
        }
        json::Value::Array(members) => (true, members.into_iter().map(read).collect()),
        body => (false, vec![read(body)]),
    };
    let (ids, calls): (Vec<_>, Vec<_>) =
        requests.into_iter().map(|request| (request.id, request.call)).unzip();
    Box::pin(async move {
        let outcomes = context.call_all(calls).await?;
        Ok(encode(ids, outcomes, batch, rules))
    })
}

/// Writes the responses to the requests that have an id.
fn encode(
    ids: Vec<Option<Value>>,
    outcomes: Vec<Outcome>,
    batch: bool,
    rules: &'static Rules,
) -> Response {
    let waiting = ids.into_iter().zip(outcomes).filter_map(|(id, outcome)| Some((id?, outcome)));
    let replies: Vec<_> = waiting
        .map(|(id, outcome)| {
            let failed = rules.failed.filter(|_| !batch && id.is_string());
            Reply::new(outcome, id, rules.result, failed)
        })
        .collect();
    let mut body = Writer::new();
    match (batch, replies.first()) {
        (_, None) => return Response::empty(204),
        (true, _) => {
            body.array(&replies, |body, reply| reply.write(body));
        }
        (false, Some(reply)) => reply.write(&mut body),
    }
    Response::written(200, body)
}

/// A response object.
#[derive(Debug)]
pub(super) struct Reply {
    result: Option<Value>,
    error: Option<Error>,
    id: Value,
}

impl Reply {
    /// Tells what came of the request `id`; `failed` makes the `result` that stands beside an error.
    pub(super) fn new(
        outcome: Outcome,
        id: Value,
        result: fn(Value) -> Value,
        failed: Option<fn() -> Value>,
    ) -> Self {
        let (result, error) = match Error::of(outcome) {
            Ok(value) => (Some(result(value)), None),
            Err(error) => (failed.map(|failed| failed()), Some(error)),
        };
        Self { result, error, id }
    }

    /// Adds it to a text.
    pub(super) fn write(&self, body: &mut Writer) {
        body.json(r#"{"jsonrpc":"#).string(VERSION);
        if let Some(result) = &self.result {
            body.json(r#","result":"#).value(result);
        }
        if let Some(error) = &self.error {
            error.write(body.json(r#","error":"#));
        }
        body.json(r#","id":"#).value(&self.id).json("}");
    }

    /// Whether it tells an error.
    pub(super) fn is_error(&self) -> bool {
        self.error.is_some()
    }
}

#[cfg(test)]
pub(super) mod tests;
