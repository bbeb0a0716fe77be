//! Requests of MCP clients and their responses, with the small catalogue of `testing::echo`.

mod asks;
mod calls;
mod eras;
mod headers;
mod lists;
mod nulls;
mod per_tool;
mod skills;
mod streams;
mod tasks;
mod views;

use serde_json::{Value, json};

use super::*;
use crate::catalog::Catalog;
use crate::http::Response;
use crate::principal::Principal;
use crate::testing::echo::{CATALOG, every_rejection};
use crate::testing::mcp::{self, code, headers, legacy, modern};
use crate::testing::{CAPABILITIES, FakeHost, Pairs, wire, with_context};

/// A rejection as a server without configuration encodes it.
fn rejected(rejection: &Rejection, id: Option<&Value>) -> Response {
    with_context(CATALOG, &Principal::ANONYMOUS, "", &FakeHost::default(), |context| {
        error::encode_rejection(rejection, id, context.pipeline)
    })
}

// Headers of requests.
const LEGACY: (&str, &str) = ("mcp-protocol-version", "2025-11-25");
const VERSION: (&str, &str) = ("mcp-protocol-version", "2026-07-28");
const UNKNOWN: (&str, &str) = ("mcp-protocol-version", "2099-01-01");
const LIST: (&str, &str) = ("mcp-method", "tools/list");
const INITIALIZE: (&str, &str) = ("mcp-method", "initialize");

type Sent<'a> = &'a [(&'a str, &'a str)];

/// The status and the body of the response to a message.
fn send(
    catalog: &'static Catalog,
    host: &FakeHost,
    to: (&str, Sent<'_>),
    body: &Value,
) -> (u16, Value) {
    mcp::read(mcp::post((catalog, CAPABILITIES), host, to, body))
}

/// The response to a modern request with its headers.
fn send_modern(catalog: &'static Catalog, host: &FakeHost, body: &Value) -> (u16, Value) {
    send(catalog, host, ("/mcp", &headers(body)), body)
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
            | Rejection::ToolNotInTeam { .. }
            | Rejection::MissingRequirements(_)
            | Rejection::CannotAsk { .. }
            | Rejection::NeedsTask { .. } => (200, -32602),
            Rejection::Unauthenticated { .. } => (401, -32600),
            Rejection::MissingScope { .. } => (403, -32600),
            Rejection::TooManyRequests { .. }
            | Rejection::BudgetExceeded(_)
            | Rejection::TooManyTasks { .. } => (429, -32600),
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
