//! Encodes the responses of OXP and OTC, which differ only in how they name their version.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::call::{
    AuthorizationHelp, Challenge, Description, MissingRequirements, Outcome, Rejection,
    RejectionKind,
};
use crate::http::Response;
use crate::protocol::rejection_response;
use crate::tool::ToolError;

/// The format of a response. The text is the `$schema` that its body names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// OXP with flat bodies; a header names the version.
    Flat,
    /// OXP as published: the result of a call is in an envelope, errors are not.
    Oxp(&'static str),
    /// OTC: the same, but without `missing_requirements` (T43).
    Otc(&'static str),
}

impl Format {
    /// The `$schema` that its bodies name.
    pub fn schema(self) -> Option<&'static str> {
        match self {
            Self::Flat => None,
            Self::Oxp(schema) | Self::Otc(schema) => Some(schema),
        }
    }
}

/// A call that ran (X25, X26): it has either `value` or `error`.
#[derive(Serialize)]
struct CallToolResponse<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    call_id: Option<&'a str>,
    /// Milliseconds.
    duration: u64,
    success: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a ToolError>,
}

#[derive(Serialize)]
struct Envelope<'a> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    result: CallToolResponse<'a>,
}

/// A request that was rejected (X17 to X19), or a call whose input is invalid (X23, X24).
#[derive(Default, Serialize)]
struct ErrorResponse<'a> {
    #[serde(rename = "$schema", skip_serializing_if = "Option::is_none")]
    schema: Option<&'static str>,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    developer_message: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parameter_errors: Option<Map<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    missing_requirements: Option<MissingRequirementsObject<'a>>,
}

/// What the call lacks (X20), for programs. `secrets` is an addition that the open object allows.
#[derive(Default, PartialEq, Eq, Serialize)]
struct MissingRequirementsObject<'a> {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    authorization: Vec<AuthorizationChallenge>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    user_id: bool,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    secrets: &'a [&'static str],
}

/// Where the user can grant an authorization, and where the client can ask whether it is granted. Without the latter:
/// where to read what the client must send.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(in crate::protocol) struct AuthorizationChallenge {
    id: String,
    url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    check_url: Option<String>,
}

impl AuthorizationChallenge {
    pub(in crate::protocol) fn new(challenge: &Challenge) -> Self {
        let Challenge { id, url, check_url, .. } = challenge;
        Self { id: id.clone(), url: url.clone(), check_url: Some(check_url.clone()) }
    }

    /// Where the user can grant each token that a call lacks, or where to read what to send instead.
    pub(in crate::protocol) fn of(missing: &MissingRequirements) -> Vec<Self> {
        let challenges = missing.challenges.iter().map(Self::new);
        let help = missing.help.iter().map(|AuthorizationHelp { provider, url }| {
            let (id, url) = ((*provider).to_owned(), url.clone());
            Self { id, url, check_url: None }
        });
        challenges.chain(help).collect()
    }
}

/// Encodes the outcome of a call: 200 for every call that ran (X10), 422 for invalid input (X23), and the
/// status of the rejection for a call that did not run (X16).
pub fn encode(format: Format, outcome: Outcome) -> Response {
    let ran = |result: CallToolResponse<'_>| match format.schema() {
        None => Response::json_of(200, &result),
        Some(schema) => Response::json_of(200, &Envelope { schema, result }),
    };
    match outcome {
        Outcome::Done { call_id, duration_ms: duration, value, .. } => {
            let (call_id, value) = (call_id.as_deref(), Some(&value));
            ran(CallToolResponse { call_id, duration, success: true, value, error: None })
        }
        Outcome::Failed { call_id, duration_ms: duration, error, .. } => {
            let (call_id, error) = (call_id.as_deref(), Some(&error));
            ran(CallToolResponse { call_id, duration, success: false, value: None, error })
        }
        Outcome::InvalidInput(input) => {
            let body = ErrorResponse {
                schema: format.schema(),
                message: "Some input parameters are invalid",
                parameter_errors: Some(input.by_parameter()),
                ..ErrorResponse::default()
            };
            Response::json_of(422, &body)
        }
        Outcome::InputRequired { required, .. } => reject(format, &required.into()),
        Outcome::Rejected(rejection) => reject(format, &rejection),
    }
}

/// Encodes a rejection.
pub fn reject(format: Format, rejection: &Rejection) -> Response {
    let Description { kind, mut message, detail } = rejection.describe();
    // OXP demands 400 although HTTP has more exact statuses (X16).
    let status = match kind {
        RejectionKind::ToolNotAllowed | RejectionKind::Unavailable => 400,
        kind => kind.status(),
    };
    let mut missing_requirements = None;
    if let Rejection::MissingRequirements(missing) = rejection {
        match format {
            // OTC has no member for the address, and users see only the message.
            Format::Otc(_) => message = format!("{message}{}", missing.granting()).into(),
            Format::Flat | Format::Oxp(_) => {
                let object = MissingRequirementsObject {
                    authorization: AuthorizationChallenge::of(missing),
                    user_id: missing.user_id,
                    secrets: &missing.secrets,
                };
                // A token without a URL is only described in words.
                missing_requirements = (object != Default::default()).then_some(object);
            }
        }
    }
    let body = ErrorResponse {
        schema: format.schema(),
        message: &message,
        developer_message: Some(&detail),
        missing_requirements,
        ..ErrorResponse::default()
    };
    rejection_response(status, rejection, &body)
}

#[cfg(test)]
mod tests;
