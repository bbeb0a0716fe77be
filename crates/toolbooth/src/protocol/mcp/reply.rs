//! Results and errors as they go over the wire.

use std::borrow::Cow;

use serde_json::Value;

use super::message::{Era, McpRequest};
use super::resource_metadata;
use crate::call::{Pipeline, Rejection, RejectionKind};
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

/// The code of a rejection.
fn code(kind: RejectionKind) -> Code {
    match kind {
        RejectionKind::InvalidJson => Code::Parse,
        RejectionKind::NotFound
        | RejectionKind::NotServed
        | RejectionKind::MethodNotAllowed
        | RejectionKind::ForbiddenOrigin
        | RejectionKind::PayloadTooLarge
        | RejectionKind::UnsupportedMediaType
        | RejectionKind::Unauthenticated
        | RejectionKind::MissingScope
        | RejectionKind::TooManyRequests => Code::InvalidRequest,
        RejectionKind::UnsupportedVersion => Code::UnsupportedVersion,
        RejectionKind::Malformed
        | RejectionKind::InvalidToolId
        | RejectionKind::UnknownTool
        | RejectionKind::UnknownVersion
        | RejectionKind::ToolNotAllowed
        | RejectionKind::MissingRequirements
        | RejectionKind::CannotAsk => Code::InvalidParams,
        RejectionKind::Unavailable | RejectionKind::Internal => Code::Internal,
    }
}

impl From<Rejection> for Error {
    fn from(rejection: Rejection) -> Self {
        Self::from(&rejection)
    }
}

impl From<&Rejection> for Error {
    /// A fault of the parameters is the result of a request that HTTP carried well; any other has its
    /// own status.
    fn from(rejection: &Rejection) -> Self {
        let description = rejection.describe();
        let code = code(description.kind);
        let error = Self::new(code, description.to_string());
        match code {
            Code::InvalidParams => error,
            _ => error.status(description.kind.status()),
        }
    }
}

/// Writes a rejection, with the header that HTTP requires. It tells clients where to find the metadata
/// of the OAuth resource, and which scopes to ask for (RFC 9728, 5.1).
pub(super) fn reject(rejection: &Rejection, id: Option<&Value>, pipeline: &Pipeline) -> Response {
    let mut response = Error::from(rejection).told(id);
    if let Some((name, mut value)) = rejection.header() {
        if let (Some(resource), "www-authenticate") = (&pipeline.settings.mcp_resource, name) {
            let scopes = match rejection {
                Rejection::Unauthenticated { .. } => resource_metadata::scopes(pipeline.catalog),
                _ => Vec::new(),
            };
            value.push_str(&resource_metadata::challenge_parameters(resource, &scopes));
        }
        response.headers.push((name, value.into()));
    }
    response
}

/// Writes why a request was rejected before its message was read.
pub(super) fn encode_rejection(rejection: &Rejection, pipeline: &Pipeline) -> Response {
    reject(rejection, None, pipeline)
}
