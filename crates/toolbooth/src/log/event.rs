//! The events and their attributes.
//!
//! Attributes have the names of OpenTelemetry's semantic conventions (GenAI, MCP, HTTP) where those define one.

use serde::{Serialize, Serializer};

use super::recorder::{CallRecord, McpOperation};
use crate::host::{DataPoint, Host, Level};
use crate::trace::Span;

/// An event of the log: an object with the member `event`, its name. A capability has its own.
pub trait LogEvent: Serialize {
    /// How important it is.
    fn level(&self) -> Level;

    /// `done` or `rejected`; `None` if the event itself has the member `outcome`.
    fn outcome(&self) -> Option<&'static str>;
}

/// An event of every server that is not a [`CallEvent`].
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(crate) enum Event<'a> {
    /// A request without credentials was rejected.
    CredentialsMissing { protocol: &'a str },
    /// The credentials of a request were rejected.
    CredentialsRejected { protocol: &'a str, reason: &'static str },
    /// A request that is neither a call nor a chat was rejected: by a limit, or because its sender may not send it.
    RequestRejected {
        protocol: &'a str,
        caller: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        actor: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        client: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        team: Option<&'a str>,
        #[serde(rename = "error.type")]
        error: &'static str,
        #[serde(rename = "http.response.status_code")]
        status: u16,
    },
}

impl LogEvent for Event<'_> {
    fn level(&self) -> Level {
        match self {
            Self::CredentialsRejected { .. } | Self::RequestRejected { .. } => Level::Warn,
            Self::CredentialsMissing { .. } => Level::Info,
        }
    }

    fn outcome(&self) -> Option<&'static str> {
        Some("rejected")
    }
}

/// A call that was served, or a request whose calls were rejected.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename = "call")]
pub(crate) struct CallEvent<'a> {
    #[serde(skip)]
    pub(crate) level: Level,
    #[serde(rename = "gen_ai.operation.name")]
    operation: &'static str,
    #[serde(rename = "gen_ai.tool.name", skip_serializing_if = "Option::is_none")]
    tool: Option<&'static str>,
    #[serde(rename = "tool.version", skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    protocol: &'a str,
    #[serde(rename = "mcp.method.name", skip_serializing_if = "Option::is_none")]
    mcp_method: Option<&'static str>,
    #[serde(rename = "mcp.protocol.version", skip_serializing_if = "Option::is_none")]
    mcp_version: Option<&'static str>,
    caller: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    actor: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    client: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    team: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "words")]
    scope: Option<&'static [&'static str]>,
    outcome: &'static str,
    #[serde(rename = "error.type", skip_serializing_if = "Option::is_none")]
    error: Option<&'static str>,
    duration_ms: u64,
    #[serde(rename = "http.request.body.size")]
    request_size: usize,
    #[serde(rename = "http.response.body.size")]
    response_size: usize,
    #[serde(rename = "http.response.status_code")]
    status: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    span_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_span_id: Option<&'a str>,
}

/// Writes the scopes that a tool requires as OAuth does: separated by spaces.
fn words<S: Serializer>(
    scopes: &Option<&'static [&'static str]>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&scopes.unwrap_or_default().join(" "))
}

/// What the calls of a request have in common.
#[derive(Debug, Clone, Copy)]
pub struct CallRequest<'a> {
    /// The name of the protocol.
    pub protocol: &'a str,
    /// The name of the caller: see [`EventLog::caller`](super::EventLog::caller).
    pub caller: &'a str,
    /// The name of the API key that acts for the caller: see [`EventLog::actor`](super::EventLog::actor).
    pub actor: Option<&'a str>,
    /// The client that acts for the caller, if this server knows it: see [`Principal::client_ref`](crate::principal::Principal::client_ref).
    pub client: Option<&'a str>,
    /// The name of the caller's team.
    pub team: Option<&'a str>,
    /// The operation, if the protocol is MCP.
    pub mcp: Option<McpOperation>,
    /// The size of the request's body, in bytes.
    pub request_size: usize,
    /// The size of the response's body, in bytes.
    pub response_size: usize,
    /// The status of the response.
    pub status: u16,
}

impl LogEvent for CallEvent<'_> {
    fn level(&self) -> Level {
        self.level
    }

    fn outcome(&self) -> Option<&'static str> {
        None
    }
}

impl<'a> CallEvent<'a> {
    pub(crate) fn new(record: &'a CallRecord, request: CallRequest<'a>) -> Self {
        let CallRecord { tool, outcome, error, duration_ms, span, user } = record;
        let span = span.as_ref();
        Self {
            level: if error.is_some() { Level::Warn } else { Level::Info },
            operation: "execute_tool",
            tool: tool.map(|tool| tool.name),
            version: tool.map(|tool| tool.version.to_string()),
            protocol: request.protocol,
            mcp_method: request.mcp.map(|(method, _)| method),
            mcp_version: request.mcp.and_then(|(_, version)| version),
            caller: request.caller,
            actor: request.actor,
            client: request.client,
            team: request.team,
            user: user.as_deref(),
            scope: tool.map(|tool| tool.scopes).filter(|scopes| !scopes.is_empty()),
            outcome,
            error: *error,
            duration_ms: *duration_ms,
            request_size: request.request_size,
            response_size: request.response_size,
            status: request.status,
            trace_id: span.map(Span::trace_id),
            span_id: span.map(Span::id),
            parent_span_id: span.map(Span::parent_id),
        }
    }

    /// Passes the same facts on as a data point. The positions are part of the interface: queries use them.
    pub(crate) fn measure(&self, host: &dyn Host) {
        let version = self.version.as_deref().unwrap_or_default();
        let tool = self.tool.unwrap_or_default();
        // Sizes and durations are far below 2^53.
        #[allow(clippy::cast_precision_loss)]
        let number = |number: u64| number as f64;
        host.measure(&DataPoint {
            index: tool,
            blobs: &[
                tool,
                version,
                self.protocol,
                self.caller,
                self.outcome,
                self.error.unwrap_or_default(),
            ],
            doubles: &[
                number(self.duration_ms),
                number(self.request_size as u64),
                number(self.response_size as u64),
            ],
        });
    }
}
