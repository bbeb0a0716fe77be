//! JSON-RPC messages, and the era of the protocol that each belongs to.

use std::borrow::Cow;

use super::headers;
use super::reply::{Code, Error};
use crate::http::Headers;
use crate::json::{Object, Value};
use crate::protocol::discriminator;

/// The modern revision.
pub(super) const MODERN: &str = "2026-07-28";
/// The revisions before it, the newest first. Of 2024-11-05 there is no more than the name: its
/// transport was another, but clients that ask for it over this one are served.
pub(super) const LEGACY: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// The name of a member of `_meta` that belongs to the protocol.
macro_rules! meta {
    ($name:literal) => {
        concat!("io.modelcontextprotocol/", $name)
    };
}
pub(super) use meta;

/// How a request is understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Era {
    /// As of 2026-07-28: each request says all that must be known of the client.
    Modern,
    /// As of the revisions before: `initialize` comes first.
    Legacy,
}

/// A request.
#[derive(Debug)]
pub(super) struct McpRequest<'t> {
    /// What the answer repeats: a text or an integer.
    pub(super) id: serde_json::Value,
    /// The method.
    pub(super) method: Cow<'t, str>,
    /// Its parameters, without `_meta`.
    pub(super) params: Object<'t>,
    /// `params._meta`.
    pub(super) meta: Meta<'t>,
    /// What a modern request's header says its version is; nothing for a legacy request.
    pub(super) modern: Option<Option<String>>,
    /// The version that a legacy request's header names.
    pub(super) legacy: Option<String>,
}

/// What `params._meta` says here. Its members are told apart once: their long names begin alike.
#[derive(Debug, Default)]
pub(super) struct Meta<'t> {
    /// The revision of a modern request.
    pub(super) protocol_version: Option<Value<'t>>,
    /// What a modern client can be asked.
    pub(super) client_capabilities: Option<Value<'t>>,
    /// The least log messages that a modern client wants.
    pub(super) log_level: Option<Value<'t>>,
    /// What stands for the request in what is told of its progress.
    pub(super) progress_token: Option<Value<'t>>,
    /// The version of the tool that is meant.
    pub(super) tool_version: Option<Value<'t>>,
    /// What the tool may require: OXP's `context`.
    pub(super) context: Option<Value<'t>>,
}

/// The member of `_meta` that says which version of a tool is meant.
pub(super) const TOOL_VERSION: &str = "toolbooth/version";
/// The member of `_meta` with what a tool may require.
const CONTEXT: &str = "toolbooth/context";

impl<'t> From<Object<'t>> for Meta<'t> {
    fn from(members: Object<'t>) -> Self {
        let mut meta = Self::default();
        for (name, value) in members {
            let member = match &*name {
                meta!("protocolVersion") => &mut meta.protocol_version,
                meta!("clientCapabilities") => &mut meta.client_capabilities,
                meta!("logLevel") => &mut meta.log_level,
                "progressToken" => &mut meta.progress_token,
                TOOL_VERSION => &mut meta.tool_version,
                CONTEXT => &mut meta.context,
                _ => continue,
            };
            *member = Some(value);
        }
        meta
    }
}

impl<'t> McpRequest<'t> {
    /// The era that it belongs to.
    pub(super) fn era(&self) -> Era {
        if self.modern.is_some() { Era::Modern } else { Era::Legacy }
    }

    /// A parameter that must be a text.
    ///
    /// # Errors
    /// It is not.
    pub(super) fn text(&self, name: &str) -> Result<&str, Error> {
        self.params.get(name).and_then(Value::as_str).ok_or_else(|| no_text(name))
    }

    /// Takes a parameter that must be a text.
    ///
    /// # Errors
    /// It is not.
    pub(super) fn take_text(&mut self, name: &str) -> Result<Cow<'t, str>, Error> {
        match self.params.take(name) {
            Some(Value::String(text)) => Ok(text),
            _ => Err(no_text(name)),
        }
    }

    /// Reads one message; nothing where it is a notification, or an answer to a question that this
    /// server never asked. A batch is refused: only 2025-03-26 had them.
    ///
    /// # Errors
    /// It is none (-32600); with the id, if it has one.
    pub(super) fn read(
        body: Value<'t>,
        headers: &dyn Headers,
    ) -> Result<Option<Self>, (Option<serde_json::Value>, Error)> {
        let fault = |what: &'static str| Error::new(Code::InvalidRequest, what);
        let mut body = match body {
            Value::Object(body) => body,
            Value::Array(_) => {
                return Err((None, fault("Batches are not supported; post one message")));
            }
            _ => return Err((None, fault("The message must be an object"))),
        };
        let id = match body.take("id") {
            None => None,
            Some(Value::String(id)) => Some(id.into_owned().into()),
            Some(Value::Number(id)) if !id.is_f64() => Some(serde_json::Value::Number(id)),
            Some(_) => return Err((None, fault("id must be a string or an integer"))),
        };
        let invalid = |what| Err((id.clone(), fault(what)));
        if body.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            return invalid("jsonrpc must be \"2.0\"");
        }
        if let Err(reason) = discriminator::check("jsonrpc", &body) {
            return Err((id, Error::new(Code::InvalidRequest, reason)));
        }
        let method = match body.take("method") {
            Some(Value::String(method)) => method,
            None if body.contains("result") || body.contains("error") => {
                return Ok(None);
            }
            _ => return invalid("method must be a string"),
        };
        let mut params = match body.take("params") {
            None | Some(Value::Null) => Object::default(),
            Some(Value::Object(params)) => params,
            Some(_) => return invalid("params must be an object"),
        };
        let Some(id) = id else { return Ok(None) };
        let meta = match params.take("_meta") {
            Some(Value::Object(meta)) => meta.into(),
            _ => Meta::default(),
        };
        let version = headers.get(headers::VERSION).map(|version| version.trim().to_owned());
        // The rule by which both eras live at one address: see docs/PROTOCOLS.md, "Two eras".
        let is_legacy = |version: &String| LEGACY.contains(&version.as_str());
        let modern = meta.protocol_version.is_some()
            || version.as_ref().is_some_and(|version| !is_legacy(version))
            || version.is_none()
                && method != "initialize"
                && headers.get(headers::METHOD).is_some();
        let (modern, legacy) = if modern { (Some(version), None) } else { (None, version) };
        Ok(Some(Self { id, method, params, meta, modern, legacy }))
    }
}

fn no_text(name: &str) -> Error {
    Error::new(Code::InvalidParams, format!("{name} must be a string"))
}
