//! Results and errors as they go over the wire.

use std::borrow::Cow;

use serde_json::Value;

use super::message::{Era, McpRequest};
use crate::call::{Rejection, asks_back};
use crate::http::Response;
use crate::json::{self, Writer};
use crate::text::excerpt;

/// Who answers, as every modern result says.
pub(super) const SERVER_INFO: &str = concat!(
    r#"{"name":"toolbooth","title":"Toolbooth","version":""#,
    env!("CARGO_PKG_VERSION"),
    r#""}"#
);

/// How long a client may keep what is compiled in.
const TTL_MS: u32 = 60 * 60 * 1000;

/// For whom a client, or a cache between, may keep a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    /// Everybody.
    Public,
    /// Those with the same credentials.
    Private,
}

impl Scope {
    /// The scope of what depends on the caller wherever one is asked for.
    pub(super) fn of(same_for_all: bool) -> Self {
        if same_for_all { Self::Public } else { Self::Private }
    }
}

/// The members of an object, without its braces.
pub(super) fn members(object: &Value) -> String {
    let text = json::text(object);
    let inner = text.strip_prefix('{').and_then(|text| text.strip_suffix('}'));
    inner.unwrap_or_default().to_owned()
}

impl McpRequest<'_> {
    /// A result of these members, which is all there is to say.
    pub(super) fn complete(&self, members: &str) -> Response {
        result(&self.id, self.era(), members, Kind::Complete)
    }

    /// A result that may be kept.
    pub(super) fn kept(&self, members: &str, scope: Scope) -> Response {
        let scope = match scope {
            Scope::Public => "public",
            Scope::Private => "private",
        };
        let caching = match self.era() {
            Era::Legacy => String::new(),
            Era::Modern => format!(r#","ttlMs":{TTL_MS},"cacheScope":"{scope}""#),
        };
        result(&self.id, self.era(), &format!("{members}{caching}"), Kind::Complete)
    }
}

/// What is expected after a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind<'a> {
    /// Nothing.
    Complete,
    /// Nothing; it failed, and this JSON says how.
    Failed(&'a str),
    /// That the client asks its user and makes the request again.
    InputRequired,
    /// Nothing; it is what a tool gave just now, and good for this once.
    Once,
}

/// The member of `_meta` that says how a tool failed.
const FAILURE: &str = r#""toolbooth/error":"#;

/// A result. What only modern results have, the envelope of a legacy one leaves out.
pub(super) fn result(id: &Value, era: Era, members: &str, kind: Kind<'_>) -> Response {
    let comma = if members.is_empty() { "" } else { "," };
    let word = if kind == Kind::InputRequired { "input_required" } else { "complete" };
    let mut body = Writer::new();
    body.json(r#"{"jsonrpc":"2.0","id":"#).value(id).json(r#","result":{"#).json(members);
    match (era, kind) {
        (Era::Legacy, Kind::Failed(how)) => {
            body.json(comma).json(r#""_meta":{"#).json(FAILURE).json(how).json("}");
        }
        (Era::Legacy, _) => {}
        (Era::Modern, kind) => {
            body.json(comma).json(r#""resultType":"#).string(word);
            if kind == Kind::Once {
                body.json(r#","ttlMs":0,"cacheScope":"private""#);
            }
            body.json(r#","_meta":{"io.modelcontextprotocol/serverInfo":"#).json(SERVER_INFO);
            if let Kind::Failed(how) = kind {
                body.json(",").json(FAILURE).json(how);
            }
            body.json("}");
        }
    }
    body.json("}}");
    Response::written(200, body)
}

/// What went wrong, for programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Code {
    /// The body is not JSON.
    Parse,
    /// It is not a message, or not one that is let in.
    InvalidRequest,
    /// There is no such method.
    UnknownMethod,
    /// The method does not take these parameters.
    InvalidParams,
    /// The server is at fault.
    Internal,
    /// A header and the body disagree.
    HeaderMismatch,
    /// The revision is not served.
    UnsupportedVersion,
    /// The client lacks an capability that the tool needs.
    MissingCapability,
    /// The user must be asked (2025-11-25).
    Elicitation,
    /// There is no such resource (before 2026-07-28).
    NoResource,
}

impl Code {
    fn number(self) -> i64 {
        match self {
            Self::Parse => -32700,
            Self::InvalidRequest => -32600,
            Self::UnknownMethod => -32601,
            Self::InvalidParams => -32602,
            Self::Internal => -32603,
            Self::HeaderMismatch => -32020,
            Self::MissingCapability => -32021,
            Self::UnsupportedVersion => -32022,
            Self::Elicitation => -32042,
            Self::NoResource => -32002,
        }
    }

    /// The status that goes with it where nothing else decides.
    fn status(self) -> u16 {
        match self {
            Self::Parse
            | Self::InvalidRequest
            | Self::HeaderMismatch
            | Self::MissingCapability
            | Self::UnsupportedVersion => 400,
            Self::UnknownMethod | Self::InvalidParams | Self::Elicitation | Self::NoResource => 200,
            Self::Internal => 500,
        }
    }
}

/// An error.
#[derive(Debug)]
pub(super) struct Error {
    status: u16,
    code: Code,
    message: Cow<'static, str>,
    data: Option<Value>,
}

impl Error {
    /// An error with the status of its code.
    pub(super) fn new(code: Code, message: impl Into<Cow<'static, str>>) -> Self {
        Self { status: code.status(), code, message: message.into(), data: None }
    }

    /// With another status.
    pub(super) fn status(self, status: u16) -> Self {
        Self { status, ..self }
    }

    /// With data.
    pub(super) fn data(self, data: Value) -> Self {
        Self { data: Some(data), ..self }
    }

    /// The method is not there: a modern server has no page at this address, so to speak.
    pub(super) fn unknown_method(method: &str, era: Era) -> Self {
        let message = format!("There is no method \"{}\"", excerpt(method));
        let error = Self::new(Code::UnknownMethod, message);
        if era == Era::Modern { error.status(404) } else { error }
    }

    /// There is no resource of this address.
    pub(super) fn no_resource(uri: &str, era: Era) -> Self {
        let code = match era {
            Era::Modern => Code::InvalidParams,
            Era::Legacy => Code::NoResource,
        };
        let error = Self::new(code, "There is no such resource; resources/list has all");
        error.data(json::object([("uri", excerpt(uri).into())]))
    }

    /// Why a call was turned away before any tool ran.
    pub(super) fn rejected(rejection: Rejection) -> Self {
        let request =
            |status, message: String| Self::new(Code::InvalidRequest, message).status(status);
        match rejection {
            Rejection::NotFound => {
                request(404, "There is nothing at this address; MCP is at POST /mcp".to_owned())
            }
            Rejection::MethodNotAllowed { allow } => request(
                405,
                format!("This address takes {allow}: there are no sessions and no other streams"),
            ),
            Rejection::ForbiddenOrigin => request(
                403,
                "Pages of the request's Origin may not call; see ALLOWED_ORIGINS".to_owned(),
            ),
            Rejection::TooLarge { limit } => {
                request(413, format!("The body may have at most {limit} bytes"))
            }
            Rejection::NotJson => {
                request(415, "Send the header Content-Type: application/json".to_owned())
            }
            Rejection::InvalidJson(detail) => {
                Self::new(Code::Parse, format!("The body is not valid JSON: {detail}"))
            }
            Rejection::Malformed(detail) => Self::new(Code::InvalidParams, detail),
            Rejection::UnsupportedVersion { supported } => {
                Self::new(Code::UnsupportedVersion, format!("The version must be {supported}"))
            }
            Rejection::InvalidToolId => {
                Self::new(Code::InvalidParams, crate::catalog::InvalidToolId.to_string())
            }
            Rejection::UnknownTool { name, .. } => Self::new(
                Code::InvalidParams,
                format!("Unknown tool: {name}. tools/list says which tools there are"),
            ),
            Rejection::NoSuchVersion { name, version, .. } => {
                Self::new(Code::InvalidParams, format!("Tool {name} has no version {version}"))
            }
            Rejection::Forbidden { name } => {
                Self::new(Code::InvalidParams, format!("Tool {name} may not be called here"))
            }
            Rejection::Unauthenticated { reason, .. } => {
                request(401, format!("The request needs valid credentials: {reason}"))
            }
            Rejection::MissingScope { name, scopes } => {
                let scopes = scopes.join(" ");
                request(403, format!("Tool {name} needs credentials with the scopes {scopes}"))
            }
            Rejection::TooManyRequests { retry_after } => {
                request(429, format!("Too many calls; try again after {retry_after} seconds"))
            }
            // A call is answered with more: see `result`.
            Rejection::MissingRequirements(_) => {
                Self::new(Code::InvalidParams, "The call lacks what the tool requires")
            }
            Rejection::Unanswerable { lacking, .. } => {
                Self::new(Code::InvalidParams, asks_back(&lacking))
            }
            Rejection::Unavailable(detail) => {
                let message = format!("The tool server is temporarily unavailable: {detail}");
                Self::new(Code::Internal, message).status(503)
            }
            Rejection::Failed => Self::new(Code::Internal, "The tool server failed"),
        }
    }

    /// The answer; without an id when none could be read.
    pub(super) fn told(self, id: Option<&Value>) -> Response {
        let mut body = Writer::new();
        body.json(r#"{"jsonrpc":"2.0""#);
        if let Some(id) = id {
            body.json(r#","id":"#).value(id);
        }
        body.json(r#","error":{"code":"#).integer(self.code.number());
        if let Some(data) = &self.data {
            body.json(r#","data":"#).value(data);
        }
        body.json(r#","message":"#).string(&self.message).json("}}");
        Response::written(self.status, body)
    }
}

/// Tells why a request was turned away before its message was read.
pub(super) fn reject(rejection: Rejection) -> Response {
    let allow = match &rejection {
        Rejection::MethodNotAllowed { allow } => Some(*allow),
        _ => None,
    };
    let answer = Error::rejected(rejection).told(None);
    match allow {
        Some(allow) => answer.with("allow", allow),
        None => answer,
    }
}
