//! Results as they go over the wire: what every result has in common, and the shapes of the large ones.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;

use super::about::Implementation;
use super::message::{Era, McpRequest};
use crate::call::RequestContext;
use crate::http::Response;
use crate::json::{self, Rendered};
use crate::protocol::oxp::AuthorizationChallenge;
use crate::tool::ToolError;

#[derive(Serialize)]
struct ResultMeta<'a> {
    #[serde(
        rename = "io.modelcontextprotocol/serverInfo",
        skip_serializing_if = "Option::is_none"
    )]
    server_info: Option<Implementation<'a>>,
    #[serde(rename = "toolbooth/error", skip_serializing_if = "Option::is_none")]
    error: Option<&'a ToolError>,
    #[serde(rename = "toolbooth/authorization", skip_serializing_if = "<[_]>::is_empty")]
    authorization: &'a [AuthorizationChallenge],
    /// How to sign in, as in `WWW-Authenticate` (SEP-1489).
    #[serde(rename = "mcp/www_authenticate", skip_serializing_if = "Option::is_none")]
    challenge: Option<[&'a str; 1]>,
}

/// Who may share a cached result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

    fn name(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::Private => "private",
        }
    }
}

/// How long a result may be cached, and who may share it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Caching {
    pub(super) ttl_ms: u32,
    pub(super) cache_scope: CacheScope,
}

impl Caching {
    /// For what depends on nothing but what is compiled in and configured.
    pub(super) fn lasting(cache_scope: CacheScope) -> Self {
        Self { ttl_ms: 60 * 60 * 1000, cache_scope }
    }
}

/// What the client does next.
#[derive(Debug, Clone, Copy, Default)]
pub(super) enum ResultType {
    /// Nothing.
    #[default]
    Complete,
    /// It provides input and repeats the request.
    InputRequired,
    /// It asks for the task's state.
    Task,
}

impl ResultType {
    fn name(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::InputRequired => "input_required",
            Self::Task => "task",
        }
    }
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
    /// Where and for what the caller signs in, as in `WWW-Authenticate`.
    pub(super) challenge: Option<&'a str>,
    /// The server, if the result says more of it than its name.
    pub(super) server_info: Option<Implementation<'a>>,
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
pub(super) fn write(status: u16, message: Vec<u8>) -> Response {
    Response::json(status, message).with("cache-control", "no-store")
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
        let caching = Some(Caching::lasting(cache_scope));
        self.result_with(members, ResultOptions { caching, ..ResultOptions::default() })
    }

    /// Writes a result: the members of its method, which are an object, and those that every method has.
    ///
    /// Only the former are serialized; what is around them is text. So there is not one more copy of the code for each
    /// method, and the result is written once.
    pub(super) fn result_with(
        &self,
        members: &impl Serialize,
        options: ResultOptions<'_>,
    ) -> Response {
        let mut message = self.begin_result();
        let start = message.len();
        json::append(&mut message, members);
        // What is added comes before the brace that ends an object.
        if message.get(start) != Some(&b'{') {
            message.truncate(start);
            add(&mut message, &["{}"]);
        }
        self.end_result(message, options)
    }

    fn begin_result(&self) -> Vec<u8> {
        let mut message = Vec::with_capacity(512);
        add(&mut message, &[r#"{"jsonrpc":"2.0","id":"#]);
        json::append(&mut message, &self.id);
        add(&mut message, &[r#","result":"#]);
        message
    }

    /// Adds the members that do not depend on the method. `resultType`, caching and server info are new in 2026-07-28: older
    /// clients do not get them.
    fn end_result(&self, mut message: Vec<u8>, options: ResultOptions<'_>) -> Response {
        let ResultOptions { result_type, caching, error, authorization, challenge, server_info } =
            options;
        let is_modern = self.era == Era::Modern;
        if is_modern || error.is_some() || !authorization.is_empty() || challenge.is_some() {
            message.pop();
            if !message.ends_with(b"{") {
                add(&mut message, &[","]);
            }
            if is_modern {
                add(&mut message, &[r#""resultType":""#, result_type.name(), r#"","#]);
            }
            if is_modern && let Some(Caching { ttl_ms, cache_scope }) = caching {
                let (ttl_ms, scope) = (ttl_ms.to_string(), cache_scope.name());
                add(&mut message, &[r#""ttlMs":"#, &ttl_ms, r#","cacheScope":""#, scope, r#"","#]);
            }
            let server_info = server_info.unwrap_or_else(|| self.server.into());
            let server_info = is_modern.then_some(server_info);
            add(&mut message, &[r#""_meta":"#]);
            let challenge = challenge.map(|challenge| [challenge]);
            json::append(
                &mut message,
                &ResultMeta { server_info, error, authorization, challenge },
            );
            add(&mut message, &["}"]);
        }
        add(&mut message, &["}"]);
        write(200, message)
    }
}

fn add(message: &mut Vec<u8>, texts: &[&str]) {
    for text in texts {
        message.extend_from_slice(text.as_bytes());
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
