//! Messages of MCP clients, for tests of the protocol and of the capabilities that it asks.
#![allow(missing_docs, clippy::expect_used, clippy::indexing_slicing, reason = "only tests use it")]

use serde_json::{Value, json};

use super::{FakeHost, Pairs, ready};
use crate::Server;
use crate::capability::Capability;
use crate::catalog::Catalog;
use crate::http::{Body, Method, Request, Response};

const META: &str = "io.modelcontextprotocol";

/// The response to a message without headers of MCP.
pub fn post_text(served: Served, host: &FakeHost, body: &str) -> Response {
    send(served, host, ("/mcp", &[]), body)
}

/// The response to a message.
pub fn post(served: Served, host: &FakeHost, to: (&str, Headers<'_>), body: &Value) -> Response {
    send(served, host, to, &body.to_string())
}

/// A catalogue and the capabilities that serve it.
type Served = (&'static Catalog, &'static [&'static Capability]);
type Headers<'a> = &'a [(&'a str, &'a str)];

fn send(
    (catalog, capabilities): Served,
    host: &FakeHost,
    (path, headers): (&str, Headers<'_>),
    body: &str,
) -> Response {
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let headers: Vec<_> =
        [("content-type", "application/json")].iter().chain(headers).copied().collect();
    let request = Request {
        own_origin: None,
        method: Method::Post,
        path,
        query,
        headers: &Pairs(&headers),
        body: Body::from(body),
    };
    ready(Server::new(catalog, capabilities, host).answer(request, host)).head
}

/// The status and the body of a response.
pub fn read(Response { status, body, .. }: Response) -> (u16, Value) {
    let no_body = body.is_empty().then_some(Value::Null);
    (status, no_body.unwrap_or_else(|| serde_json::from_slice(&body).expect("JSON")))
}

/// A legacy request.
pub fn legacy(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params})
}

/// A modern request with what its `_meta` must have.
pub fn modern(method: &str, mut params: Value) -> Value {
    params["_meta"][format!("{META}/protocolVersion")] = json!("2026-07-28");
    let capabilities = &mut params["_meta"][format!("{META}/clientCapabilities")];
    if capabilities.is_null() {
        *capabilities = json!({});
    }
    legacy(method, params)
}

/// The headers that repeat a modern request.
pub fn headers(body: &Value) -> Vec<(&'static str, &str)> {
    let params = &body["params"];
    let name = ["name", "uri", "taskId"].into_iter().find_map(|member| params[member].as_str());
    let method = body["method"].as_str().unwrap_or_default();
    let headers = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", method)];
    headers.into_iter().chain(name.map(|name| ("mcp-name", name))).collect()
}

/// The code of an error, with its status.
pub fn code((status, body): &(u16, Value)) -> (u16, i64) {
    (*status, body["error"]["code"].as_i64().unwrap_or_default())
}
