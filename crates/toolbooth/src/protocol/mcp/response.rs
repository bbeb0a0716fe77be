//! Results as they go over the wire: what every result has in common, and the shapes of the large ones.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;

use super::message::{Era, McpRequest};

use crate::catalog::ServerInfo;
use crate::http::Response;
use crate::json::{self, Rendered};
use crate::protocol::oxp::AuthorizationChallenge;
use crate::tool::ToolError;

/// How long clients may cache what is compiled in, in milliseconds.
const TTL_MS: u32 = 60 * 60 * 1000;

/// A JSON-RPC response with a result.
#[derive(Serialize)]
struct ResultMessage<'a, T> {
    jsonrpc: &'static str,
    id: &'a Value,
    result: ResultBody<'a, T>,
}

/// A result: the members of its method, and those that every method has.
// Flattening costs nothing here: serde only buffers what it deserializes.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResultBody<'a, T> {
    #[serde(flatten)]
    members: &'a T,
    #[serde(skip_serializing_if = "Option::is_none")]
    result_type: Option<ResultType>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ttl_ms: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_scope: Option<CacheScope>,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<ResultMeta<'a>>,
}

/// `_meta` of a result.
#[derive(Serialize)]
struct ResultMeta<'a> {
    #[serde(
        rename = "io.modelcontextprotocol/serverInfo",
        skip_serializing_if = "Option::is_none"
    )]
    server_info: Option<&'a ServerInfo>,
    #[serde(rename = "toolbooth/error", skip_serializing_if = "Option::is_none")]
    error: Option<&'a ToolError>,
    #[serde(rename = "toolbooth/authorization", skip_serializing_if = "<[_]>::is_empty")]
    authorization: &'a [AuthorizationChallenge],
}

/// Whether a result is final.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ResultType {
    /// It is.
    #[default]
    Complete,
    /// The client must provide input and repeat the request.
    InputRequired,
}

/// Who may share a cached result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum CacheScope {
    /// Everybody.
    Public,
    /// Requests with the same credentials.
    Private,
}

impl CacheScope {
    /// The scope of results that depend on the caller, if callers see different lists.
    pub(super) fn of(same_for_all: bool) -> Self {
        if same_for_all { Self::Public } else { Self::Private }
    }
}

/// How long a result may be cached, and who may share it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Caching {
    ttl_ms: u32,
    scope: CacheScope,
}

impl Caching {
    /// For the value of a tool that ran for this request.
    pub(super) const NEVER: Self = Self { ttl_ms: 0, scope: CacheScope::Private };

    /// For what is compiled in.
    pub(super) fn compiled_in(scope: CacheScope) -> Self {
        Self { ttl_ms: TTL_MS, scope }
    }
}

/// The members of a result that do not depend on its method.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ResultOptions<'a> {
    /// Whether the result is final.
    pub(super) result_type: ResultType,
    /// For the methods whose results can be cached.
    pub(super) caching: Option<Caching>,
    /// The error of a tool that failed.
    pub(super) error: Option<&'a ToolError>,
    /// Where the user can grant what the call lacks.
    pub(super) authorization: &'a [AuthorizationChallenge],
}

/// Writes a result. `resultType`, caching and server info are new in 2026-07-28: older clients do not
/// get them.
pub(super) fn encode(
    id: &Value,
    era: Era,
    server: &ServerInfo,
    members: &impl Serialize,
    options: ResultOptions<'_>,
) -> Response {
    let ResultOptions { result_type, caching, error, authorization } = options;
    let result = match era {
        Era::Modern => ResultBody {
            members,
            result_type: Some(result_type),
            ttl_ms: caching.map(|caching| caching.ttl_ms),
            cache_scope: caching.map(|caching| caching.scope),
            meta: Some(ResultMeta { server_info: Some(server), error, authorization }),
        },
        Era::Legacy => ResultBody {
            members,
            result_type: None,
            ttl_ms: None,
            cache_scope: None,
            meta: (error.is_some() || !authorization.is_empty()).then_some(ResultMeta {
                server_info: None,
                error,
                authorization,
            }),
        },
    };
    write(200, &ResultMessage { jsonrpc: "2.0", id, result })
}

/// A response with this message. It belongs to one request, so HTTP caches must not store it.
pub(super) fn write(status: u16, message: &impl Serialize) -> Response {
    Response::json(status, json::to_vec(message)).with("cache-control", "no-store")
}

impl McpRequest<'_> {
    /// A result that must not be cached.
    pub(super) fn result(&self, members: &impl Serialize) -> Response {
        encode(&self.id, self.era(), self.server, members, ResultOptions::default())
    }

    /// A result that depends on nothing but what is compiled in, and on the caller if `scope` is private.
    pub(super) fn cacheable_result(&self, members: &impl Serialize, scope: CacheScope) -> Response {
        let caching = Some(Caching::compiled_in(scope));
        let options = ResultOptions { caching, ..Default::default() };
        encode(&self.id, self.era(), self.server, members, options)
    }
}

/// An object without members.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(super) struct EmptyObject {}

/// A block of content.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Content<'a> {
    /// Text.
    Text(TextContent<'a>),
    /// A block that a tool returned.
    Block(Value),
}

/// A block of text.
#[derive(Debug, Serialize)]
pub(super) struct TextContent<'a> {
    r#type: &'static str,
    text: Cow<'a, str>,
}

impl<'a> Content<'a> {
    /// A block of text.
    pub(super) fn text(text: impl Into<Cow<'a, str>>) -> Self {
        Self::Text(TextContent { r#type: "text", text: text.into() })
    }
}

/// The result of `tools/call`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CallToolResult<'a> {
    pub(super) content: Vec<Content<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) structured_content: Option<Rendered<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) is_error: Option<bool>,
}

/// The result of `prompts/get`.
#[derive(Serialize)]
pub(super) struct GetPromptResult<'a> {
    pub(super) description: &'a str,
    pub(super) messages: Vec<PromptMessage<'a>>,
}

/// A message of a prompt.
#[derive(Serialize)]
pub(super) struct PromptMessage<'a> {
    role: &'static str,
    content: Content<'a>,
}

impl<'a> PromptMessage<'a> {
    /// A message of the user.
    pub(super) fn user(content: Content<'a>) -> Self {
        Self { role: "user", content }
    }
}

/// The result of `resources/read`.
#[derive(Serialize)]
pub(super) struct ReadResourceResult<'a> {
    pub(super) contents: Vec<ResourceContents<'a>>,
}

/// The contents of a resource.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum ResourceContents<'a> {
    /// Text.
    #[serde(rename_all = "camelCase")]
    Text { uri: &'a str, mime_type: &'a str, text: &'a str },
    /// Bytes in base64.
    #[serde(rename_all = "camelCase")]
    Blob { uri: &'a str, mime_type: &'a str, blob: &'a str },
    /// Contents that a tool returned, with their own address.
    Returned(&'a Value),
}
