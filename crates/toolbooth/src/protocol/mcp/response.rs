//! Results as they go over the wire: what every result has in common, and the shapes of the large ones.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;

use super::message::{Era, McpRequest};
use crate::call::RequestContext;
use crate::catalog::ServerInfo;
use crate::http::Response;
use crate::json::{self, Rendered};
use crate::protocol::oxp::AuthorizationChallenge;
use crate::tool::ToolError;

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
    #[serde(flatten)]
    caching: Option<Caching>,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<ResultMeta<'a>>,
}

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

/// Who may share a cached result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum CacheScope {
    Public,
    /// Requests with the same credentials.
    Private,
}

impl CacheScope {
    /// The scope of results that depend on the caller, if callers see different lists.
    pub(super) fn of(context: &RequestContext<'_>) -> Self {
        if context.pipeline.same_for_all { Self::Public } else { Self::Private }
    }
}

/// How long a result may be cached, and who may share it.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Caching {
    pub(super) ttl_ms: u32,
    pub(super) cache_scope: CacheScope,
}

/// What the client does next.
#[derive(Debug, Clone, Copy, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ResultType {
    /// Nothing.
    #[default]
    Complete,
    /// It provides input and repeats the request.
    InputRequired,
    /// It asks for the task's state.
    Task,
}

/// The members of a result that do not depend on its method.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ResultOptions<'a> {
    /// What the client does next.
    pub(super) result_type: ResultType,
    /// For the methods whose results can be cached.
    pub(super) caching: Option<Caching>,
    /// The error of a tool that failed.
    pub(super) error: Option<&'a ToolError>,
    /// Where the user can grant what the call lacks.
    pub(super) authorization: &'a [AuthorizationChallenge],
}

/// The most values that MCP allows in a completion.
const MAX_VALUES: usize = 100;

/// The result of `completion/complete`.
#[derive(Debug, Serialize)]
pub(super) struct CompleteResult {
    completion: CompletionValues,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct CompletionValues {
    values: Vec<String>,
    total: usize,
    has_more: bool,
}

impl CompleteResult {
    /// The first of these values, with their number.
    pub(super) fn of(mut values: Vec<String>) -> Self {
        let total = values.len();
        values.truncate(MAX_VALUES);
        Self { completion: CompletionValues { has_more: values.len() < total, values, total } }
    }
}

/// A response with this message. It belongs to one request, so HTTP caches must not store it.
pub(super) fn write(status: u16, message: &impl Serialize) -> Response {
    Response::json(status, json::to_vec(message)).with("cache-control", "no-store")
}

impl McpRequest<'_> {
    /// A result that must not be cached.
    pub(super) fn result(&self, members: &impl Serialize) -> Response {
        self.result_with(members, ResultOptions::default())
    }

    /// A result that depends on nothing but what is compiled in, and on the caller if `scope` is private.
    pub(super) fn cacheable_result(
        &self,
        members: &impl Serialize,
        cache_scope: CacheScope,
    ) -> Response {
        let caching = Some(Caching { ttl_ms: 60 * 60 * 1000, cache_scope });
        self.result_with(members, ResultOptions { caching, ..ResultOptions::default() })
    }

    /// Writes a result. `resultType`, caching and server info are new in 2026-07-28: older clients do not get them.
    pub(super) fn result_with(
        &self,
        members: &impl Serialize,
        options: ResultOptions<'_>,
    ) -> Response {
        let ResultOptions { result_type, caching, error, authorization } = options;
        let is_modern = self.era == Era::Modern;
        let server_info = is_modern.then_some(self.server);
        let has_meta = is_modern || error.is_some() || !authorization.is_empty();
        let result = ResultBody {
            members,
            result_type: is_modern.then_some(result_type),
            caching: caching.filter(|_| is_modern),
            meta: has_meta.then_some(ResultMeta { server_info, error, authorization }),
        };
        write(200, &ResultMessage { jsonrpc: "2.0", id: &self.id, result })
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(super) struct EmptyObject {}

#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Content<'a> {
    Text {
        r#type: &'static str,
        text: Cow<'a, str>,
    },
    /// A block that a tool returned.
    Block(Value),
}

impl<'a> Content<'a> {
    pub(super) fn text(text: impl Into<Cow<'a, str>>) -> Self {
        Self::Text { r#type: "text", text: text.into() }
    }
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CallToolResult<'a> {
    pub(super) content: Vec<Content<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) structured_content: Option<Rendered<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) is_error: Option<bool>,
}

#[derive(Serialize)]
pub(super) struct GetPromptResult<'a> {
    pub(super) description: &'a str,
    pub(super) messages: Vec<PromptMessage<'a>>,
}

#[derive(Serialize)]
#[serde(tag = "role", rename_all = "lowercase")]
pub(super) enum PromptMessage<'a> {
    User { content: Content<'a> },
}

#[derive(Serialize)]
pub(super) struct ReadResourceResult<T> {
    pub(super) contents: T,
}

#[derive(Debug, Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub(super) enum ResourceContents<'a> {
    Text {
        uri: &'a str,
        mime_type: &'a str,
        text: &'a str,
    },
    /// Bytes in base64.
    Blob {
        uri: &'a str,
        mime_type: &'a str,
        blob: &'a str,
    },
    /// A view, with the settings of its resource.
    View {
        uri: &'a str,
        mime_type: &'a str,
        text: &'a str,
        #[serde(rename = "_meta")]
        meta: ViewMeta<'a>,
    },
    /// Contents that a tool returned, with their own address.
    Returned(&'a Value),
}

#[derive(Debug, Serialize)]
pub(super) struct ViewMeta<'a> {
    pub(super) ui: Rendered<'a>,
}
