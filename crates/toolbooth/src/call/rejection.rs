//! Why a request was rejected before any tool ran. All messages and status codes are defined here; protocols
//! only encode them in their own format.

use std::borrow::Cow;
use std::fmt;

use super::missing::MissingRequirements;
use crate::auth::AuthError;
use crate::catalog::InvalidToolId;
use crate::tool::{Capability, InputRequired};

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident => $status:literal, $code:literal;)+) => {
        /// The kinds of rejection, each with its HTTP status and a code for programs.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum RejectionKind {
            $($(#[$doc])* $kind,)+
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
    /// No endpoint has this path.
    NotFound => 404, "not_found";
    /// The protocol defines this endpoint, but a hosted server cannot serve it.
    NotServed => 404, "not_found";
    /// The endpoint does not accept this method.
    MethodNotAllowed => 405, "method_not_allowed";
    /// A web page of another origin sent the request.
    ForbiddenOrigin => 403, "origin_not_allowed";
    /// The body is too large.
    PayloadTooLarge => 413, "request_too_large";
    /// The body is not declared to be JSON.
    UnsupportedMediaType => 415, "unsupported_media_type";
    /// The body is not valid JSON.
    InvalidJson => 400, "invalid_json";
    /// The body is not a request of the protocol.
    Malformed => 400, "invalid_request";
    /// The client asked for a protocol version that is not served.
    UnsupportedVersion => 400, "unsupported_version";
    /// The tool id is not well-formed.
    InvalidToolId => 400, "tool_not_found";
    /// There is no such tool.
    UnknownTool => 400, "tool_not_found";
    /// The tool has no such version.
    UnknownVersion => 400, "tool_not_found";
    /// The operator's allowlist, or that of the caller's API key, does not include the tool.
    ToolNotAllowed => 403, "tool_not_allowed";
    /// The request has no valid credentials.
    Unauthenticated => 401, "unauthenticated";
    /// The credentials lack a scope that the tool requires.
    MissingScope => 403, "missing_scope";
    /// The caller has reached its rate limit.
    TooManyRequests => 429, "too_many_requests";
    /// The call lacks a token, a secret or a user id that the tool requires.
    MissingRequirements => 400, "missing_requirements";
    /// The tool needs input that the client, or its protocol, cannot provide.
    CannotAsk => 400, "unanswerable";
    /// The server cannot serve calls.
    Unavailable => 503, "unavailable";
    /// The server failed.
    Internal => 500, "server_error";
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
    /// The request has no valid credentials.
    Unauthenticated {
        /// The reason, without details that help to guess credentials.
        reason: &'static str,
        /// Whether the request had credentials.
        sent: bool,
    },
    /// The caller's credentials lack a scope that the tool requires.
    MissingScope {
        /// The tool's name.
        name: &'static str,
        /// The scopes it requires.
        scopes: &'static [&'static str],
    },
    /// The caller has reached its rate limit.
    TooManyRequests {
        /// Seconds after which the limit has been reset.
        retry_after: u32,
    },
    /// The call lacks what the definition requires.
    MissingRequirements(MissingRequirements),
    /// The tool needs input that the client, or its protocol, cannot provide.
    CannotAsk {
        /// The tool's name.
        name: &'static str,
        /// The capabilities that the client lacks.
        lacking: Vec<Capability>,
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

/// The beginning of a `WWW-Authenticate` header (RFC 6750, 3).
pub const CHALLENGE: &str = "Bearer realm=\"toolbooth\"";

impl Rejection {
    /// No endpoint has this path, and nothing similar exists.
    pub const NOT_FOUND: Self = Self::NotFound { hint: Cow::Borrowed("GET / lists the endpoints") };

    /// The parts of the error response.
    pub fn describe(&self) -> Description {
        use RejectionKind as Kind;
        type Text = Cow<'static, str>;
        let (kind, message, detail): (Kind, Text, Text) = match self {
            Self::NotFound { hint } => {
                (Kind::NotFound, "There is nothing at this address".into(), hint.clone())
            }
            Self::NotServed(reason) => (
                Kind::NotServed,
                "This server does not serve this endpoint".into(),
                (*reason).into(),
            ),
            Self::MethodNotAllowed { allow } => (
                Kind::MethodNotAllowed,
                "This address does not accept this method".into(),
                format!("it accepts {allow}").into(),
            ),
            Self::ForbiddenOrigin => (
                Kind::ForbiddenOrigin,
                "Pages of this origin may not call the server".into(),
                "ALLOWED_ORIGINS does not include the request's Origin".into(),
            ),
            Self::PayloadTooLarge { limit } => (
                Kind::PayloadTooLarge,
                "The request body is too large".into(),
                format!("it may have at most {limit} bytes").into(),
            ),
            Self::UnsupportedMediaType => (
                Kind::UnsupportedMediaType,
                "The request body must be JSON".into(),
                "send the header Content-Type: application/json".into(),
            ),
            Self::InvalidJson(detail) => (
                Kind::InvalidJson,
                "The request body is not valid JSON".into(),
                detail.clone().into(),
            ),
            Self::Malformed(detail) | Self::OtherProtocol(detail) => {
                (Kind::Malformed, "The request is malformed".into(), detail.clone().into())
            }
            Self::UnsupportedVersion { field, supported } => (
                Kind::UnsupportedVersion,
                "This protocol version is not supported".into(),
                format!("{field} must be {supported} or absent").into(),
            ),
            Self::InvalidToolId { meant } => (
                Kind::InvalidToolId,
                "The tool id is invalid".into(),
                format!("{InvalidToolId}{}", did_you_mean(meant.as_deref(), "; d")).into(),
            ),
            Self::UnknownTool { id, name, meant } => (
                Kind::UnknownTool,
                format!("Tool '{name}' was not found").into(),
                format!(
                    "{id} is not a tool of this server{}",
                    did_you_mean(meant.as_deref(), "; d")
                )
                .into(),
            ),
            Self::UnknownVersion { id, name, version } => (
                Kind::UnknownVersion,
                format!("Tool '{name}' was not found").into(),
                format!("{id} version {version} is not available").into(),
            ),
            Self::ToolNotAllowed { name } => (
                Kind::ToolNotAllowed,
                format!("Tool '{name}' may not be called").into(),
                "TOOL_ALLOWLIST does not include it".into(),
            ),
            Self::ToolNotInKey { name } => (
                Kind::ToolNotAllowed,
                format!("Tool '{name}' may not be called with these credentials").into(),
                "the tools of the API key do not include it".into(),
            ),
            Self::Unauthenticated { reason, .. } => (
                Kind::Unauthenticated,
                "The request needs valid credentials".into(),
                (*reason).into(),
            ),
            Self::MissingScope { name, scopes } => (
                Kind::MissingScope,
                format!("Tool '{name}' may not be called with these credentials").into(),
                format!("it requires the scopes: {}", scopes.join(" ")).into(),
            ),
            Self::TooManyRequests { retry_after } => (
                Kind::TooManyRequests,
                "Too many requests".into(),
                format!("try again after {retry_after} seconds").into(),
            ),
            Self::MissingRequirements(missing) => (
                Kind::MissingRequirements,
                missing.message().into(),
                format!("the call lacks {}", missing.places()).into(),
            ),
            Self::CannotAsk { name, lacking } => (
                Kind::CannotAsk,
                format!("Tool '{name}' needs input that cannot be requested in this call").into(),
                needs_client(lacking).into(),
            ),
            Self::Unavailable(detail) => (
                Kind::Unavailable,
                "The tool server is temporarily unavailable".into(),
                (*detail).into(),
            ),
            Self::ToolNotConfigured { name } => (
                Kind::Unavailable,
                format!("Tool '{name}' is not configured").into(),
                "a variable, secret or binding that it needs is missing or invalid; the server's log has the details"
                    .into(),
            ),
            Self::Internal => {
                (Kind::Internal, "The tool server failed".into(), "its log has the details".into())
            }
        };
        Description { kind, message, detail }
    }

    /// The header that HTTP requires: `Allow` (RFC 9110, 15.5.6), the challenge of RFC 6750, 3, or
    /// `Retry-After`. Only for a rejection that is the whole response.
    pub fn header(&self) -> Option<(&'static str, String)> {
        match self {
            Self::MethodNotAllowed { allow } => Some(("allow", allow.clone())),
            Self::Unauthenticated { sent: false, .. } => {
                Some(("www-authenticate", CHALLENGE.to_owned()))
            }
            Self::Unauthenticated { reason, sent: true } => Some((
                "www-authenticate",
                format!("{CHALLENGE}, error=\"invalid_token\", error_description=\"{reason}\""),
            )),
            Self::MissingScope { scopes, .. } => Some((
                "www-authenticate",
                format!(
                    "{CHALLENGE}, error=\"insufficient_scope\", scope=\"{}\"",
                    scopes.join(" ")
                ),
            )),
            Self::TooManyRequests { retry_after } => Some(("retry-after", retry_after.to_string())),
            _ => None,
        }
    }
}

impl From<AuthError> for Rejection {
    fn from(error: AuthError) -> Self {
        match error {
            AuthError::Missing { expected } => {
                Self::Unauthenticated { reason: expected, sent: false }
            }
            AuthError::Invalid { reason } => Self::Unauthenticated { reason, sent: true },
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
pub fn needs_client(lacking: &[Capability]) -> String {
    let lacking: Vec<_> = lacking.iter().map(|capability| capability.description()).collect();
    format!("the tool requests input, which needs a client that {}", lacking.join(" and "))
}
