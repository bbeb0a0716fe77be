//! Why a request was rejected before any tool ran. All messages and status codes are defined here; protocols
//! only encode them in their own format.

use std::borrow::Cow;
use std::fmt;

use super::budget::BudgetExceeded;
use super::missing::MissingRequirements;
use crate::auth::{AuthError, PROOF_ALGORITHMS};
use crate::catalog::InvalidToolId;
use crate::principal::Principal;
use crate::tool::{ClientCapability, InputRequired};

macro_rules! kinds {
    ($($kind:ident => $status:literal, $code:literal;)+) => {
        /// The kinds of rejection, each with its HTTP status and a code for programs.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum RejectionKind {
            $(#[doc = concat!("[`Rejection::", stringify!($kind), "`]")] $kind,)+
        }

        impl RejectionKind {
            /// Every kind.
            pub const ALL: &'static [Self] = &[$(Self::$kind,)+];

            /// The HTTP status, unless the protocol requires another.
            pub fn status(self) -> u16 {
                match self { $(Self::$kind => $status,)+ }
            }

            /// A stable code for programs.
            pub fn code(self) -> &'static str {
                match self { $(Self::$kind => $code,)+ }
            }
        }
    };
}

kinds! {
    NotFound => 404, "not_found";
    NotServed => 404, "not_found";
    MethodNotAllowed => 405, "method_not_allowed";
    ForbiddenOrigin => 403, "origin_not_allowed";
    PayloadTooLarge => 413, "request_too_large";
    UnsupportedMediaType => 415, "unsupported_media_type";
    InvalidJson => 400, "invalid_json";
    Malformed => 400, "invalid_request";
    UnsupportedVersion => 400, "unsupported_version";
    InvalidToolId => 400, "tool_not_found";
    UnknownTool => 400, "tool_not_found";
    UnknownVersion => 400, "tool_not_found";
    ToolNotAllowed => 403, "tool_not_allowed";
    Unauthenticated => 401, "unauthenticated";
    MissingScope => 403, "missing_scope";
    TooManyRequests => 429, "too_many_requests";
    BudgetExceeded => 429, "budget_exceeded";
    TooManyTasks => 429, "too_many_tasks";
    MissingRequirements => 400, "missing_requirements";
    CannotAsk => 400, "unanswerable";
    NeedsTask => 400, "needs_task";
    Unavailable => 503, "unavailable";
    Internal => 500, "server_error";
}

/// The credentials of a request that is rejected because of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sent {
    /// None.
    Nothing,
    /// A key or a token.
    Bearer,
    /// A token with a proof of possession (RFC 9449, 7.1).
    Proof {
        /// The code of the challenge.
        error: &'static str,
    },
}

/// Why a request was rejected.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rejection {
    /// No endpoint has this path.
    NotFound {
        /// What exists instead.
        hint: Cow<'static, str>,
    },
    /// The protocol defines this endpoint, but a hosted server cannot serve it, for this reason.
    NotServed(&'static str),
    /// The endpoint does not accept this method.
    MethodNotAllowed {
        /// The methods it accepts, as in an `Allow` header.
        allow: String,
    },
    /// A web page sent the request, and pages of its origin are not allowed.
    ForbiddenOrigin,
    /// The body is larger than `limit` bytes.
    PayloadTooLarge {
        /// The limit in bytes.
        limit: usize,
    },
    /// The body is not declared to be JSON.
    UnsupportedMediaType,
    /// The body is not valid JSON: the problem, with line and column.
    InvalidJson(String),
    /// The body is not a request of the protocol: the problem, and what was expected.
    Malformed(String),
    /// The body has not what the protocol expects, and looks like a call of a different protocol. Holds what is missing.
    OtherProtocol(String),
    /// The client asked for a protocol version that is not served.
    UnsupportedVersion {
        /// The header or member that names the version.
        field: &'static str,
        /// The versions that are served.
        supported: &'static str,
    },
    /// The tool id is not well-formed.
    InvalidToolId {
        /// The tool that was probably meant, if the caller may run it.
        meant: Option<String>,
    },
    /// There is no such tool.
    UnknownTool {
        /// The requested id, without version.
        id: String,
        /// The name that a tool with this id would have.
        name: String,
        /// The tool that was probably meant, if the caller may run it.
        meant: Option<String>,
    },
    /// The tool has no such version.
    UnknownVersion {
        /// The id, without version.
        id: String,
        /// The tool's name.
        name: &'static str,
        /// The requested version.
        version: String,
    },
    /// The operator's allowlist does not include the tool.
    ToolNotAllowed {
        /// The tool's name.
        name: &'static str,
    },
    /// The `tools` of the caller's API key do not include the tool.
    ToolNotInKey {
        /// The tool's name.
        name: &'static str,
    },
    /// The `tools` of the caller's team do not include the tool.
    ToolNotInTeam {
        /// The tool's name.
        name: &'static str,
    },
    /// The request has no valid credentials.
    Unauthenticated {
        /// The reason, without details that help to guess credentials.
        reason: &'static str,
        /// Which credentials the request had.
        sent: Sent,
    },
    /// The caller's credentials lack a scope that the tool requires.
    MissingScope {
        /// The tool's name.
        name: &'static str,
        /// The scopes it requires.
        scopes: &'static [&'static str],
        /// The other scopes that the caller has: see [`Principal::scopes_beside`].
        held: Vec<String>,
    },
    /// The caller has reached its rate limit.
    TooManyRequests {
        /// Seconds after which the limit has been reset.
        retry_after: u32,
    },
    /// So many tasks of the caller are running that no other can begin.
    TooManyTasks {
        /// How many may run.
        most: usize,
    },
    /// A budget of the caller does not cover the request.
    BudgetExceeded(BudgetExceeded),
    /// The call lacks what the definition requires.
    MissingRequirements(MissingRequirements),
    /// The tool needs input that the client, or its protocol, cannot provide.
    CannotAsk {
        /// The tool's name.
        name: &'static str,
        /// The capabilities that the client lacks.
        lacking: Vec<ClientCapability>,
    },
    /// The tool runs as a task, and the client, or its protocol, takes none.
    NeedsTask {
        /// The tool's name.
        name: &'static str,
    },
    /// The server cannot serve calls, for this reason.
    Unavailable(&'static str),
    /// A variable or secret of the operator that the tool reads is missing or invalid.
    ToolNotConfigured {
        /// The tool's name.
        name: &'static str,
    },
    /// The server itself failed, for example because a tool crashed.
    Internal,
}

/// The parts of an error response, which protocols encode. `Display` joins them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Description {
    /// Its kind.
    pub kind: RejectionKind,
    /// What went wrong, for users and models.
    pub message: Cow<'static, str>,
    /// The details and what was expected, for developers. A phrase that can follow a colon.
    pub detail: Cow<'static, str>,
}

impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The detail alone is clear, and shorter.
        match self.kind {
            RejectionKind::Malformed => f.write_str(&self.detail),
            _ => write!(f, "{}: {}", self.message, self.detail),
        }
    }
}

/// One of many tasks may have ended after this many seconds.
const RETRY_TASKS: u32 = 10;

/// The beginning of a `WWW-Authenticate` header (RFC 6750, 3).
pub const CHALLENGE: &str = "Bearer realm=\"toolbooth\"";

impl Rejection {
    /// No endpoint has this path, and nothing similar exists.
    pub const NOT_FOUND: Self = Self::NotFound { hint: Cow::Borrowed("GET / lists the endpoints") };

    /// The parts of the error response.
    pub fn describe(&self) -> Description {
        use RejectionKind as Kind;
        let (kind, detail): (Kind, Cow<'static, str>) = match self {
            Self::NotFound { hint } => (Kind::NotFound, hint.clone()),
            Self::NotServed(reason) => (Kind::NotServed, (*reason).into()),
            Self::MethodNotAllowed { allow } => {
                (Kind::MethodNotAllowed, format!("it accepts {allow}").into())
            }
            Self::ForbiddenOrigin => {
                let detail = "ALLOWED_ORIGINS does not include the request's Origin";
                (Kind::ForbiddenOrigin, detail.into())
            }
            Self::PayloadTooLarge { limit } => {
                (Kind::PayloadTooLarge, format!("it may have at most {limit} bytes").into())
            }
            Self::UnsupportedMediaType => {
                let detail = "send the header Content-Type: application/json";
                (Kind::UnsupportedMediaType, detail.into())
            }
            Self::InvalidJson(detail) => (Kind::InvalidJson, detail.clone().into()),
            Self::Malformed(detail) | Self::OtherProtocol(detail) => {
                (Kind::Malformed, detail.clone().into())
            }
            Self::UnsupportedVersion { field, supported } => {
                let detail = format!("{field} must be {supported} or absent");
                (Kind::UnsupportedVersion, detail.into())
            }
            Self::InvalidToolId { meant } => {
                let hint = did_you_mean(meant.as_deref(), "; d");
                (Kind::InvalidToolId, format!("{InvalidToolId}{hint}").into())
            }
            Self::UnknownTool { id, meant, .. } => {
                let hint = did_you_mean(meant.as_deref(), "; d");
                (Kind::UnknownTool, format!("{id} is not a tool of this server{hint}").into())
            }
            Self::UnknownVersion { id, version, .. } => {
                (Kind::UnknownVersion, format!("{id} version {version} is not available").into())
            }
            Self::ToolNotAllowed { .. } => {
                (Kind::ToolNotAllowed, "TOOL_ALLOWLIST does not include it".into())
            }
            Self::ToolNotInKey { .. } => {
                (Kind::ToolNotAllowed, "the tools of the API key do not include it".into())
            }
            Self::ToolNotInTeam { .. } => {
                (Kind::ToolNotAllowed, "the tools of the caller's team do not include it".into())
            }
            Self::Unauthenticated { reason, .. } => (Kind::Unauthenticated, (*reason).into()),
            Self::MissingScope { scopes, .. } => {
                let detail = format!("it requires the scopes: {}", scopes.join(" "));
                (Kind::MissingScope, detail.into())
            }
            Self::TooManyRequests { retry_after } => {
                (Kind::TooManyRequests, format!("try again after {retry_after} seconds").into())
            }
            Self::TooManyTasks { most } => {
                let detail =
                    format!("at most {most} may run at the same time; wait for one, or cancel one");
                (Kind::TooManyTasks, detail.into())
            }
            Self::BudgetExceeded(exceeded) => (Kind::BudgetExceeded, exceeded.detail().into()),
            Self::MissingRequirements(missing) => {
                (Kind::MissingRequirements, format!("the call lacks {}", missing.places()).into())
            }
            Self::CannotAsk { lacking, .. } => (Kind::CannotAsk, needs_client(lacking).into()),
            Self::NeedsTask { .. } => {
                let detail = "it takes longer than a call: use a client of MCP with the extension \
                              io.modelcontextprotocol/tasks, or POST /rest/{name}, which answers 202";
                (Kind::NeedsTask, detail.into())
            }
            Self::Unavailable(detail) => (Kind::Unavailable, (*detail).into()),
            Self::ToolNotConfigured { .. } => {
                let detail = "a variable, secret or binding that it needs is missing or invalid; the \
                              server's log has the details";
                (Kind::Unavailable, detail.into())
            }
            Self::Internal => (Kind::Internal, "its log has the details".into()),
        };
        Description { kind, message: self.message(), detail }
    }

    /// The rejection of a call of this caller.
    pub fn of_caller(mut self, principal: &Principal) -> Self {
        if let Self::MissingScope { scopes, held, .. } = &mut self {
            *held = principal.scopes_beside(scopes);
        }
        self
    }

    fn message(&self) -> Cow<'static, str> {
        let of_tool = |name: &str, what: &str| format!("Tool '{name}' {what}").into();
        match self {
            Self::NotFound { .. } => "There is nothing at this address".into(),
            Self::NotServed(_) => "This server does not serve this endpoint".into(),
            Self::MethodNotAllowed { .. } => "This address does not accept this method".into(),
            Self::ForbiddenOrigin => "Pages of this origin may not call the server".into(),
            Self::PayloadTooLarge { .. } => "The request body is too large".into(),
            Self::UnsupportedMediaType => "The request body must be JSON".into(),
            Self::InvalidJson(_) => "The request body is not valid JSON".into(),
            Self::Malformed(_) | Self::OtherProtocol(_) => "The request is malformed".into(),
            Self::UnsupportedVersion { .. } => "This protocol version is not supported".into(),
            Self::InvalidToolId { .. } => "The tool id is invalid".into(),
            Self::UnknownTool { name, .. } => of_tool(name, "was not found"),
            Self::UnknownVersion { name, .. } => of_tool(name, "was not found"),
            Self::ToolNotAllowed { name } => of_tool(name, "may not be called"),
            Self::ToolNotInKey { name }
            | Self::ToolNotInTeam { name }
            | Self::MissingScope { name, .. } => {
                of_tool(name, "may not be called with these credentials")
            }
            Self::Unauthenticated { .. } => "The request needs valid credentials".into(),
            Self::TooManyRequests { .. } => "Too many requests".into(),
            Self::TooManyTasks { .. } => "Too many tasks are running".into(),
            Self::BudgetExceeded(exceeded) => exceeded.message().into(),
            Self::MissingRequirements(missing) => missing.message().into(),
            Self::CannotAsk { name, .. } => {
                of_tool(name, "needs input that cannot be requested in this call")
            }
            Self::NeedsTask { name } => of_tool(name, "runs as a task only"),
            Self::Unavailable(_) => "The tool server is temporarily unavailable".into(),
            Self::ToolNotConfigured { name } => of_tool(name, "is not configured"),
            Self::Internal => "The tool server failed".into(),
        }
    }

    /// The seconds after which the caller may try again, if a limit is reached.
    pub fn retry_after(&self) -> Option<u32> {
        match self {
            Self::TooManyRequests { retry_after } => Some(*retry_after),
            Self::BudgetExceeded(exceeded) => Some(exceeded.retry_after),
            Self::TooManyTasks { .. } => Some(RETRY_TASKS),
            _ => None,
        }
    }

    /// The header that HTTP requires: `Allow` (RFC 9110, 15.5.6), the challenge of RFC 6750, 3, or
    /// `Retry-After`. Only for a rejection that is the whole response.
    pub fn header(&self) -> Option<(&'static str, String)> {
        let challenge = match self {
            Self::MethodNotAllowed { allow } => return Some(("allow", allow.clone())),
            Self::TooManyRequests { .. } | Self::BudgetExceeded(_) | Self::TooManyTasks { .. } => {
                return Some(("retry-after", self.retry_after()?.to_string()));
            }
            Self::Unauthenticated { sent: Sent::Nothing, .. } => String::new(),
            Self::Unauthenticated { reason, sent: Sent::Bearer } => {
                format!(", error=\"invalid_token\", error_description=\"{reason}\"")
            }
            Self::Unauthenticated { reason, sent: Sent::Proof { error } } => {
                let algorithms = PROOF_ALGORITHMS.join(" ");
                let error = format!("error=\"{error}\", error_description=\"{reason}\"");
                let challenge = format!("DPoP realm=\"toolbooth\", {error}, algs=\"{algorithms}\"");
                return Some(("www-authenticate", challenge));
            }
            Self::MissingScope { scopes, held, .. } => {
                let held = held.iter().map(String::as_str);
                let scopes: Vec<&str> = held.chain(scopes.iter().copied()).collect();
                format!(", error=\"insufficient_scope\", scope=\"{}\"", scopes.join(" "))
            }
            _ => return None,
        };
        Some(("www-authenticate", format!("{CHALLENGE}{challenge}")))
    }
}

impl From<AuthError> for Rejection {
    fn from(error: AuthError) -> Self {
        match error {
            AuthError::Missing { expected } => {
                Self::Unauthenticated { reason: expected, sent: Sent::Nothing }
            }
            AuthError::Invalid { reason } => Self::Unauthenticated { reason, sent: Sent::Bearer },
            AuthError::Proof { error, reason } => {
                Self::Unauthenticated { reason, sent: Sent::Proof { error } }
            }
            AuthError::LedgerUnavailable => {
                Self::Unavailable("whether the proof was used before cannot be found out")
            }
            AuthError::KeysUnavailable => {
                Self::Unavailable("the keys that verify tokens cannot be fetched")
            }
        }
    }
}

impl From<InputRequired> for Rejection {
    /// For protocols that cannot request input.
    fn from(required: InputRequired) -> Self {
        Self::CannotAsk { name: required.tool, lacking: required.capabilities() }
    }
}

/// The question after an error about an unknown name; empty if no name is similar. `start` replaces its first letter.
pub fn did_you_mean(meant: Option<&str>, start: &str) -> String {
    meant.map(|meant| format!("{start}id you mean {meant}?")).unwrap_or_default()
}

/// Names the missing capabilities, as a sentence.
pub fn needs_client(lacking: &[ClientCapability]) -> String {
    let lacking: Vec<_> = lacking.iter().map(|capability| capability.description()).collect();
    format!("the tool requests input, which needs a client that {}", lacking.join(" and "))
}
