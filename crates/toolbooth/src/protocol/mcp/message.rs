//! Reads JSON-RPC messages, and tells the two eras of the protocol apart.

use std::borrow::Cow;

use super::error::{ErrorCode, McpError};
use super::headers::{self, HeaderProblem};
use super::request_id::is_integer;
use crate::catalog::ServerInfo;
use crate::http::{Headers, Response};
use crate::json::{Object, Value};
use crate::log::McpOperation;
use crate::protocol::context::optional;
use crate::protocol::other_protocol::check_discriminators;
use crate::trace::TRACEPARENT;

/// The modern version.
pub(super) const MODERN: &str = "2026-07-28";
/// The legacy versions, newest first. 2024-11-05 had another transport, but some clients name it over this one.
pub(super) const LEGACY: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// The name of a member of `_meta` that the protocol defines.
macro_rules! meta {
    ($name:literal) => {
        concat!("io.modelcontextprotocol/", $name)
    };
}
pub(super) use meta;

/// How to read a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Era {
    /// 2026-07-28: each request is self-contained.
    Modern,
    /// The versions before: the client sends `initialize` first.
    Legacy,
}

#[derive(Debug)]
pub(super) struct McpRequest<'t> {
    /// The id, which the response repeats: a string or an integer.
    pub(super) id: serde_json::Value,
    pub(super) era: Era,
    /// The version header, or what is wrong with it.
    pub(super) version: Result<Option<String>, HeaderProblem>,
    pub(super) method: Cow<'t, str>,
    /// Its parameters, without `_meta` and without those that are null: they count as absent.
    pub(super) params: Object<'t>,
    pub(super) meta: RequestMeta<'t>,
    pub(super) server: &'static ServerInfo,
}

/// The members of `params._meta` that matter here. They are sorted out in one pass, because comparing
/// their long names takes time: all begin alike.
#[derive(Debug, Default)]
pub(super) struct RequestMeta<'t> {
    /// The version of a modern request.
    pub(super) protocol_version: Option<Value<'t>>,
    /// What a modern client can be asked for.
    pub(super) client_capabilities: Option<Value<'t>>,
    /// The client, as it names itself.
    pub(super) client_info: Option<Value<'t>>,
    /// The lowest level of log messages that a modern client wants.
    pub(super) log_level: Option<Value<'t>>,
    /// The token that progress notifications repeat, if the client wants any.
    pub(super) progress_token: Option<Value<'t>>,
    pub(super) tool_version: Option<Value<'t>>,
    /// OXP's `context`: the user, tokens and secrets that a tool may require.
    pub(super) context: Option<Value<'t>>,
    /// The trace that the request belongs to (SEP-414).
    pub(super) traceparent: Option<Value<'t>>,
}

/// The member of `_meta` with the version of a tool.
pub(super) const TOOL_VERSION: &str = "toolbooth/version";

impl<'t> From<Object<'t>> for RequestMeta<'t> {
    fn from(members: Object<'t>) -> Self {
        let mut meta = Self::default();
        for (name, value) in members {
            if value.is_null() {
                continue;
            }
            let member = match &*name {
                meta!("protocolVersion") => &mut meta.protocol_version,
                meta!("clientCapabilities") => &mut meta.client_capabilities,
                meta!("clientInfo") => &mut meta.client_info,
                meta!("logLevel") => &mut meta.log_level,
                "progressToken" => &mut meta.progress_token,
                TOOL_VERSION => &mut meta.tool_version,
                "toolbooth/context" => &mut meta.context,
                TRACEPARENT => &mut meta.traceparent,
                _ => continue,
            };
            *member = Some(value);
        }
        meta
    }
}

impl<'t> McpRequest<'t> {
    /// Its method, if that can call a tool, and the version of the protocol.
    pub(super) fn operation(&self) -> Option<McpOperation> {
        const METHODS: [&str; 3] = ["tools/call", "prompts/get", "resources/read"];
        let method = METHODS.into_iter().find(|method| *method == self.method)?;
        let version = match self.era {
            Era::Modern => Some(MODERN),
            Era::Legacy => LEGACY.into_iter().find(|known| self.names_version(known)),
        };
        Some((method, version))
    }

    /// Whether the version header names this version.
    pub(super) fn names_version(&self, version: &str) -> bool {
        matches!(&self.version, Ok(Some(named)) if named == version)
    }

    /// Takes a parameter that must be a string.
    pub(super) fn take_string(&mut self, name: &str) -> Result<Cow<'t, str>, McpError> {
        match self.params.take(name) {
            Some(Value::String(text)) => Ok(text),
            _ => Err(McpError::invalid_params(format!("{name} must be a string"))),
        }
    }

    /// Reads a request. Only 2025-03-26 had batches, so they are rejected.
    ///
    /// # Errors
    /// What to respond to any other message. Notifications, and responses to requests that this server never sent, get
    /// no body: none of them changes anything here.
    pub(super) fn read(
        body: Value<'t>,
        headers: &dyn Headers,
        server: &'static ServerInfo,
    ) -> Result<Self, Response> {
        let invalid = |id: Option<serde_json::Value>, reason: &str| {
            let error = McpError::new(ErrorCode::INVALID_REQUEST, reason.to_owned());
            Err(error.encode(id.as_ref()))
        };
        let accepted = Response::empty(202);
        let mut body = match body {
            Value::Object(body) => body,
            Value::Array(_) => {
                return invalid(None, "Batches are not supported; send one message per request");
            }
            _ => return invalid(None, "The message must be an object"),
        };
        let id = match body.take("id") {
            None => None,
            Some(Value::String(id)) => Some(id.into_owned().into()),
            Some(Value::Number(id)) if is_integer(&id) => Some(serde_json::Value::Number(id)),
            Some(_) => return invalid(None, "id must be a string or an integer"),
        };
        if body.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            return invalid(id, "jsonrpc must be \"2.0\"");
        }
        if let Err(reason) = check_discriminators("jsonrpc", &body) {
            return invalid(id, &reason);
        }
        let method = match optional(&mut body, "method") {
            Some(Value::String(method)) => method,
            None if body.contains("result") || body.contains("error") => return Err(accepted),
            _ => return invalid(id, "method must be a string"),
        };
        let mut params = match optional(&mut body, "params") {
            None => Object::default(),
            Some(Value::Object(params)) => params,
            Some(_) => return invalid(id, "params must be an object"),
        };
        let Some(id) = id else { return Err(accepted) };
        params.retain(|_, value| !value.is_null());
        let meta = match params.take("_meta") {
            Some(Value::Object(meta)) => meta.into(),
            _ => RequestMeta::default(),
        };
        // Its body negotiates the version. The header may be that of another connection, or of a newer client.
        let negotiates = method == "initialize" && meta.protocol_version.is_none();
        let version = if negotiates { Ok(None) } else { headers::version(headers) };
        // Why this tells the eras apart: docs/PROTOCOLS.md, "Two eras".
        let is_modern = meta.protocol_version.is_some()
            || match &version {
                Ok(Some(version)) => !LEGACY.contains(&version.as_str()),
                Ok(None) => !negotiates && headers.get(headers::METHOD).is_some(),
                // It is rejected in both.
                Err(_) => false,
            };
        let era = if is_modern { Era::Modern } else { Era::Legacy };
        Ok(Self { id, era, version, method, params, meta, server })
    }
}
