//! Requests of MCP clients and their responses, with the small catalogue of `testing::echo`.

mod asks;
mod calls;
mod eras;
mod lists;

use serde_json::{Value, json};

use super::*;
use crate::catalog::Catalog;
use crate::http::{Body, Method, Request, Response};
use crate::principal::Principal;
use crate::server::Server;
use crate::testing::echo::{CATALOG, every_rejection};
use crate::testing::{CAPABILITIES, FakeHost, Pairs, ready, wire, with_context};

/// A rejection as a server without configuration encodes it.
fn rejected(rejection: &Rejection, id: Option<&Value>) -> Response {
    with_context(CATALOG, &Principal::ANONYMOUS, "", &FakeHost::default(), |context| {
        error::encode_rejection(rejection, id, context.pipeline)
    })
}

type Sent<'a> = &'a [(&'a str, &'a str)];

const JSON: (&str, &str) = ("content-type", "application/json");

/// The status and the body of the response to a message.
fn send(
    catalog: &'static Catalog,
    host: &FakeHost,
    (path, headers): (&str, Sent<'_>),
    body: &Value,
) -> (u16, Value) {
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let headers: Vec<_> = [JSON].iter().chain(headers).copied().collect();
    let body = Body::from(body.to_string().as_str());
    let request = Request {
        own_origin: None,
        method: Method::Post,
        path,
        query,
        headers: &Pairs(&headers),
        body,
    };
    let answer = ready(Server::new(catalog, CAPABILITIES, host).answer(request, host)).head;
    let no_body = answer.body.is_empty().then_some(Value::Null);
    (answer.status, no_body.unwrap_or_else(|| serde_json::from_slice(&answer.body).unwrap()))
}

/// A legacy request.
fn legacy(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params})
}

/// A modern request with what its `_meta` must have.
fn modern(method: &str, mut params: Value) -> Value {
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
    if params["_meta"].get("io.modelcontextprotocol/clientCapabilities").is_none() {
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
    }
    legacy(method, params)
}

/// The headers that repeat a modern request.
fn headers(body: &Value) -> Vec<(&'static str, String)> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let params = &body["params"];
    let mut headers = vec![
        ("mcp-protocol-version", "2026-07-28".to_owned()),
        ("mcp-method", text(&body["method"]).unwrap()),
    ];
    let name = text(&params["name"]).or_else(|| text(&params["uri"]));
    headers.extend(name.map(|name| ("mcp-name", name)));
    headers
}

/// The response to a modern request with its headers.
fn send_modern(catalog: &'static Catalog, host: &FakeHost, body: &Value) -> (u16, Value) {
    let headers = headers(body);
    let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, &**value)).collect();
    send(catalog, host, ("/mcp", &headers), body)
}

/// The code of an error, with its status.
fn code((status, body): &(u16, Value)) -> (u16, i64) {
    (*status, body["error"]["code"].as_i64().unwrap_or_default())
}

#[test]
fn mc12_every_rejection_is_an_error_with_its_status() {
    for rejection in every_rejection() {
        let (status, code) = match &rejection {
            Rejection::NotFound { .. } | Rejection::NotServed(_) => (404, -32600),
            Rejection::MethodNotAllowed { .. } => (405, -32600),
            Rejection::ForbiddenOrigin => (403, -32600),
            Rejection::PayloadTooLarge { .. } => (413, -32600),
            Rejection::UnsupportedMediaType => (415, -32600),
            Rejection::InvalidJson(_) => (400, -32700),
            Rejection::UnsupportedVersion { .. } => (400, -32022),
            Rejection::Malformed(_)
            | Rejection::OtherProtocol(_)
            | Rejection::InvalidToolId { .. }
            | Rejection::UnknownTool { .. }
            | Rejection::UnknownVersion { .. }
            | Rejection::ToolNotAllowed { .. }
            | Rejection::ToolNotInKey { .. }
            | Rejection::MissingRequirements(_)
            | Rejection::CannotAsk { .. } => (200, -32602),
            Rejection::Unauthenticated { .. } => (401, -32600),
            Rejection::MissingScope { .. } => (403, -32600),
            Rejection::TooManyRequests { .. } => (429, -32600),
            Rejection::Unavailable(_) | Rejection::ToolNotConfigured { .. } => (503, -32603),
            Rejection::Internal => (500, -32603),
        };
        let what = format!("{rejection:?}");
        let response = rejected(&rejection, None);
        let headers = [
            ("content-type", "application/json".to_owned()),
            ("cache-control", "no-store".to_owned()),
        ];
        let headers: Vec<_> = headers.into_iter().chain(rejection.header()).collect();
        let sent = response.headers.iter().map(|(name, value)| (*name, value.to_string()));
        assert_eq!((response.status, sent.collect()), (status, headers), "{what}");
        let message = rejection.describe().to_string();
        let mut expected =
            json!({"jsonrpc": "2.0", "id": null, "error": {"code": code, "message": message}});
        let body: Value = serde_json::from_slice(&response.body).unwrap();
        assert_eq!(body, expected, "{what}: no id was read");
        expected["id"] = json!("a");
        let response = rejected(&rejection, Some(&json!("a")));
        let body: Value = serde_json::from_slice(&response.body).unwrap();
        assert_eq!(body, expected, "{what}");
    }
}
