//! What comes of a call. Every protocol maps these exhaustively, so that none can forget a case.

use serde_json::Value;

use super::input::InvalidInput;
use crate::challenge::Challenge;
use crate::tool::{Capability, InputRequired, Notification, ToolError};

/// What came of a call.
#[derive(Debug)]
pub enum Outcome {
    /// The tool ran and gave a value.
    Done {
        /// The client's id of the call, or the one that was made.
        call_id: String,
        /// Milliseconds that the tool took. On Workers the clock moves only with I/O.
        duration_ms: u64,
        /// The value; it is as `output_schema` says.
        value: Value,
        /// What the tool said on the way.
        notes: Vec<Notification>,
    },
    /// The tool ran and failed (OXP "Tool Execution Errors").
    Failed {
        /// The client's id of the call, or the one that was made.
        call_id: String,
        /// Milliseconds that the tool took.
        duration_ms: u64,
        /// What the tool says of it.
        error: ToolError,
        /// What it said on the way.
        notes: Vec<Notification>,
    },
    /// The tool ran and cannot go on before it has answers, which the client can bring. Protocols
    /// that have no way to bring one make of it a [`Rejection`].
    Asks {
        /// The questions.
        asked: InputRequired,
        /// What the tool said on the way.
        notes: Vec<Notification>,
    },
    /// The tool did not run: its input schema refuses the input (OXP "Input Validation Errors").
    Invalid(InvalidInput),
    /// The tool did not run for another reason (OXP "Server Errors").
    Refused(Rejection),
}

/// Why a request was turned away before any tool ran, or came to nothing by what it lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rejection {
    /// No endpoint has this path.
    NotFound,
    /// The endpoint does not take this method.
    MethodNotAllowed {
        /// The methods it takes, as in an `Allow` header.
        allow: &'static str,
    },
    /// A web page sent the request, and pages of its origin may not call.
    ForbiddenOrigin,
    /// The body is larger than `limit` bytes.
    TooLarge {
        /// The limit.
        limit: usize,
    },
    /// The body is not declared to be JSON.
    NotJson,
    /// The body is not JSON that can be served. Holds what is wrong, with line and column.
    InvalidJson(String),
    /// The body is not a request of the protocol. Holds what is wrong and what was expected.
    Malformed(String),
    /// The client asked for a protocol version that is not served.
    UnsupportedVersion {
        /// The versions that are served.
        supported: &'static str,
    },
    /// The tool id has not the form of one.
    InvalidToolId,
    /// There is no such tool.
    UnknownTool {
        /// What was asked for, without version.
        id: String,
        /// The name it would have.
        name: String,
    },
    /// The tool has no such version.
    NoSuchVersion {
        /// The id, without version.
        id: String,
        /// The tool's name.
        name: &'static str,
        /// The version as asked for.
        version: String,
    },
    /// The operator's allowlist does not have the tool.
    Forbidden {
        /// The tool's name.
        name: &'static str,
    },
    /// The request brings no credentials, or none that are good.
    Unauthenticated {
        /// Why, in words that give nothing away.
        reason: &'static str,
        /// Whether credentials were sent.
        sent: bool,
    },
    /// The caller's credentials have not the scopes that the tool requires.
    MissingScope {
        /// The tool's name.
        name: &'static str,
        /// The scopes it requires.
        scopes: &'static [&'static str],
    },
    /// The caller has used up what it may call for now.
    TooManyRequests {
        /// Seconds after which there is certainly room again.
        retry_after: u32,
    },
    /// The call lacks what the definition requires.
    MissingRequirements(MissingRequirements),
    /// The tool asks back, and the client, or its protocol, cannot bring the answers.
    Unanswerable {
        /// The tool's name.
        name: &'static str,
        /// What the client would have to be able to do.
        lacking: Vec<Capability>,
    },
    /// The server cannot serve. Holds what is at fault.
    Unavailable(&'static str),
    /// The server itself failed, for one because a tool crashed.
    Failed,
}

impl Rejection {
    /// The header that HTTP demands with a rejection, whatever protocol tells it: the challenge of
    /// RFC 6750, 3, and `Retry-After`.
    pub fn header(&self) -> Option<(&'static str, String)> {
        const CHALLENGE: &str = "Bearer realm=\"toolbooth\"";
        match self {
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

/// What a call lacks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MissingRequirements {
    /// Providers whose token is absent.
    pub authorization: Vec<&'static str>,
    /// Secrets that are absent.
    pub secrets: Vec<&'static str>,
    /// Whether the user id is absent.
    pub user_id: bool,
    /// Where the user can be asked for authorizations: for each of `authorization` or for fewer.
    pub challenges: Vec<Challenge>,
}

impl MissingRequirements {
    /// The places in `context` that the call left empty, for protocols that have it.
    pub fn places(&self) -> String {
        self.told(["context.authorization with id", "context.secrets with id", "context.user_id"])
    }

    /// What is absent, for protocols that have no place for it.
    pub fn things(&self) -> String {
        self.told(["the token", "the secret", "a user id"])
    }

    fn told(&self, [token, secret, user_id]: [&str; 3]) -> String {
        let tokens = self.authorization.iter().map(|id| format!("{token} \"{id}\""));
        let secrets = self.secrets.iter().map(|id| format!("{secret} \"{id}\""));
        let user_id = self.user_id.then(|| user_id.to_owned());
        tokens.chain(secrets).chain(user_id).collect::<Vec<_>>().join(", ")
    }

    /// Where the user can grant what is absent, as the end of a sentence; empty when nowhere. For
    /// protocols that have only words for it.
    pub fn granting(&self) -> String {
        let link = |challenge: &Challenge| format!("; the user can grant it at {}", challenge.url);
        self.challenges.iter().map(link).collect()
    }
}

impl From<InputRequired> for Rejection {
    /// For protocols that have no way to bring an answer.
    fn from(asked: InputRequired) -> Self {
        Self::Unanswerable { name: asked.tool, lacking: asked.capabilities() }
    }
}

/// What a client cannot do, in a sentence for whoever reads of [`Rejection::Unanswerable`].
pub(crate) fn asks_back(capabilities: &[Capability]) -> String {
    let words: Vec<_> = capabilities.iter().map(|capability| capability.words()).collect();
    format!("The tool asks back, which needs a client that {}", words.join(" and "))
}
