//! The events and their attributes.
//!
//! Attributes have the names of OpenTelemetry's semantic conventions (GenAI, MCP, HTTP) where those define one.

use serde::Serialize;

use super::recorder::{CallRecord, McpOperation};
use crate::host::{DataPoint, Level};
use crate::trace::Span;

/// An event.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(crate) enum Event<'a> {
    /// A call was served.
    Call(CallEvent<'a>),
    /// A chat request was served or rejected.
    Chat(ChatEvent<'a>),
    /// A request without credentials was rejected.
    CredentialsMissing { protocol: &'a str },
    /// The credentials of a request were rejected.
    CredentialsRejected { protocol: &'a str, reason: &'static str },
    /// A user was asked for authorization.
    ChallengeIssued { tool: &'a str, provider: &'a str, caller: String },
    /// A user authorized the server at a provider.
    GrantCreated(GrantEvent<'a>),
    /// The tokens of a grant were refreshed.
    GrantRefreshed(GrantEvent<'a>),
    /// A user's grant was deleted.
    GrantDeleted(GrantEvent<'a>),
    /// The provider revoked the tokens of a deleted grant.
    GrantRevoked(GrantEvent<'a>),
    /// What happened at the authorization server.
    #[serde(untagged)]
    SignIn(SignInEvent<'a>),
}

/// What happened to a grant.
#[derive(Debug, Serialize)]
pub(crate) struct GrantEvent<'a> {
    pub(crate) provider: &'a str,
    pub(crate) caller: String,
}

impl Event<'_> {
    pub(super) fn level(&self) -> Level {
        match self {
            Self::Call(call) => call.level,
            Self::Chat(chat) => chat.level(),
            Self::CredentialsRejected { .. } => Level::Warn,
            Self::SignIn(event) => event.level(),
            Self::CredentialsMissing { .. }
            | Self::ChallengeIssued { .. }
            | Self::GrantCreated(_)
            | Self::GrantRefreshed(_)
            | Self::GrantDeleted(_)
            | Self::GrantRevoked(_) => Level::Info,
        }
    }
}

/// What happened at the authorization server.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(crate) enum SignInEvent<'a> {
    /// A client registered itself.
    ClientRegistered { auth_method: &'static str },
    /// A person signed in: for a client, whose request they agreed to, for their account or for a challenge. `method` is the id of a provider, or a constant.
    SignedIn { method: &'a str, caller: String },
    /// A person who wanted to sign in saw a page with a problem.
    SignInRejected {
        reason: &'static str,
        /// The account that no rule allows, as a rule: the operator needs its id.
        #[serde(skip_serializing_if = "Option::is_none")]
        account: Option<&'a str>,
    },
    /// A client got tokens.
    TokensIssued { grant_type: &'static str, caller: String },
    /// A client got an error instead of tokens.
    TokensRejected { error: &'static str, reason: &'a str },
    /// A client's grant was revoked.
    ClientRevoked { reason: RevocationReason, caller: String },
}

/// Why a client's grant was revoked.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RevocationReason {
    /// The client asked for it.
    Requested,
    /// The person disconnected it on the page of their account.
    Disconnected,
    /// An authorization code was used twice.
    CodeReused,
    /// A refresh token was used after its successor.
    RefreshTokenReused,
}

impl SignInEvent<'_> {
    fn level(&self) -> Level {
        match self {
            Self::SignInRejected { .. } | Self::TokensRejected { .. } => Level::Warn,
            Self::ClientRegistered { .. } | Self::SignedIn { .. } | Self::TokensIssued { .. } => {
                Level::Info
            }
            Self::ClientRevoked { reason, .. } => match reason {
                RevocationReason::Requested | RevocationReason::Disconnected => Level::Info,
                RevocationReason::CodeReused | RevocationReason::RefreshTokenReused => Level::Warn,
            },
        }
    }
}

/// A chat request: who used which model, and how much.
#[derive(Debug, Serialize)]
pub(crate) struct ChatEvent<'a> {
    #[serde(rename = "gen_ai.operation.name")]
    pub(crate) operation: &'static str,
    #[serde(rename = "gen_ai.provider.name", skip_serializing_if = "Option::is_none")]
    pub(crate) provider: Option<&'a str>,
    #[serde(rename = "gen_ai.request.model", skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<&'a str>,
    pub(crate) caller: String,
    #[serde(rename = "error.type", skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<&'static str>,
    #[serde(rename = "http.response.status_code")]
    pub(crate) status: u16,
    pub(crate) duration_ms: u64,
    #[serde(rename = "gen_ai.usage.input_tokens")]
    pub(crate) input_tokens: u64,
    #[serde(rename = "gen_ai.usage.output_tokens")]
    pub(crate) output_tokens: u64,
    #[serde(rename = "gen_ai.usage.cache_read.input_tokens")]
    pub(crate) cached_tokens: u64,
    pub(crate) tool_calls: usize,
    pub(crate) rounds: usize,
    pub(crate) attempts: usize,
}

impl ChatEvent<'_> {
    fn level(&self) -> Level {
        if self.status < 400 { Level::Info } else { Level::Warn }
    }
}

/// A call that was served, or a request whose calls were rejected.
#[derive(Debug, Serialize)]
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

/// What the calls of a request have in common.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CallRequest<'a> {
    pub(crate) protocol: &'a str,
    pub(crate) caller: &'a str,
    pub(crate) mcp: Option<McpOperation>,
    /// The sizes of the bodies, in bytes.
    pub(crate) request_size: usize,
    pub(crate) response_size: usize,
    pub(crate) status: u16,
}

impl<'a> CallEvent<'a> {
    pub(crate) fn new(record: &'a CallRecord, request: CallRequest<'a>) -> Self {
        let CallRecord { tool, outcome, error, duration_ms, span } = record;
        let span = span.as_ref();
        Self {
            level: record.level(),
            operation: "execute_tool",
            tool: tool.map(|tool| tool.name),
            version: tool.map(|tool| tool.version.to_string()),
            protocol: request.protocol,
            mcp_method: request.mcp.map(|(method, _)| method),
            mcp_version: request.mcp.and_then(|(_, version)| version),
            caller: request.caller,
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
    pub(crate) fn measure(&self, store: impl FnOnce(&DataPoint<'_>)) {
        let version = self.version.as_deref().unwrap_or_default();
        let tool = self.tool.unwrap_or_default();
        // Sizes and durations are far below 2^53.
        #[allow(clippy::cast_precision_loss)]
        let number = |number: u64| number as f64;
        store(&DataPoint {
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
