//! Encodes error objects: a code for programs, a message for people and models, and data for programs.
//! OpenTool's clients show only the message, so it is complete without the data.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Map, Value};

use super::{JsonRpcResponse, VERSION};
use crate::call::{InvalidInput, Outcome, Pipeline, Rejection, RejectionKind};
use crate::http::Response;
use crate::json;
use crate::protocol::oxp::AuthorizationChallenge;
use crate::protocol::rejection_response;
use crate::tool::ToolError;

#[derive(Debug, Serialize)]
pub(in crate::protocol) struct JsonRpcError {
    code: i16,
    message: Cow<'static, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<ErrorData>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum ErrorData {
    ToolFailed {
        #[serde(skip_serializing_if = "Option::is_none")]
        developer_message: Option<String>,
        can_retry: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        additional_prompt_content: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        retry_after_ms: Option<u64>,
    },
    /// The parameters are invalid: the error of each.
    InvalidParams {
        parameter_errors: Map<String, Value>,
    },
    MissingRequirements {
        missing_requirements: LackingObject,
    },
}

/// What a call lacks, and where the user can grant it.
#[derive(Debug, Serialize)]
struct LackingObject {
    authorization: Vec<&'static str>,
    secrets: Vec<&'static str>,
    user_id: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    challenges: Vec<AuthorizationChallenge>,
}

impl JsonRpcError {
    /// The value of a call that succeeded, or the error of one that did not.
    pub(super) fn value_of(outcome: Outcome) -> Result<Value, Self> {
        match outcome {
            Outcome::Done { value, .. } => Ok(value),
            Outcome::Failed { error, .. } => Err(Self::failed(error)),
            Outcome::InvalidInput(input) => Err(Self::invalid(&input)),
            Outcome::InputRequired { required, .. } => Err((&Rejection::from(required)).into()),
            Outcome::Rejected(rejection) => Err((&rejection).into()),
        }
    }

    /// The params of a call are an array, which the tool's schema rejects.
    pub(super) fn positional(input: &InvalidInput) -> Self {
        let message = "params must be an object: tools take their parameters by name";
        Self { message: message.into(), ..Self::invalid(input) }
    }

    /// The tool ran and failed: OpenTool's code for that.
    fn failed(error: ToolError) -> Self {
        let message = error.describe().into();
        let data = ErrorData::ToolFailed {
            developer_message: error.developer_message,
            can_retry: error.can_retry,
            additional_prompt_content: error.additional_prompt_content,
            retry_after_ms: error.retry_after_ms,
        };
        Self { code: 500, message, data: Some(data) }
    }

    /// The parameters are invalid against the tool's schema: JSON-RPC's code for that.
    fn invalid(input: &InvalidInput) -> Self {
        let message = format!("Some parameters are invalid. {input}").into();
        let data = ErrorData::InvalidParams { parameter_errors: input.by_parameter() };
        Self { code: -32602, message, data: Some(data) }
    }
}

impl From<&Rejection> for JsonRpcError {
    fn from(rejection: &Rejection) -> Self {
        let description = rejection.describe();
        let code = code(description.kind);
        let Rejection::MissingRequirements(missing) = rejection else {
            return Self { code, message: description.to_string().into(), data: None };
        };
        // A request cannot carry tokens, secrets and users. The message says where they can be sent.
        let message = format!(
            "The tool needs {}, which this protocol cannot send; POST /oxp/tools/call can{}",
            missing.things(),
            missing.granting()
        );
        let missing_requirements = LackingObject {
            authorization: missing.authorization.clone(),
            secrets: missing.secrets.clone(),
            user_id: missing.user_id,
            challenges: missing.challenges.iter().map(AuthorizationChallenge::new).collect(),
        };
        let data = Some(ErrorData::MissingRequirements { missing_requirements });
        Self { code, message: message.into(), data }
    }
}

/// The codes of JSON-RPC, and those from -32001 on that it leaves to servers.
fn code(kind: RejectionKind) -> i16 {
    match kind {
        // The body is not JSON.
        RejectionKind::InvalidJson => -32700,
        // The method does not exist or may not be called.
        RejectionKind::InvalidToolId
        | RejectionKind::UnknownTool
        | RejectionKind::UnknownVersion
        | RejectionKind::ToolNotAllowed
        | RejectionKind::MissingScope => -32601,
        // The server failed.
        RejectionKind::Unavailable | RejectionKind::Internal => -32603,
        RejectionKind::MissingRequirements => -32001,
        RejectionKind::Unauthenticated => -32002,
        RejectionKind::TooManyRequests
        | RejectionKind::BudgetExceeded
        | RejectionKind::TooManyTasks => -32003,
        RejectionKind::CannotAsk | RejectionKind::NeedsTask => -32004,
        // The request is not valid.
        _ => -32600,
    }
}

/// Encodes the rejection of a whole request: an error with the id null.
pub(in crate::protocol) fn encode_rejection(rejection: &Rejection, _: &Pipeline) -> Response {
    // OpenTool's clients and servers do not have 415 and 500 (OT24).
    let status = match rejection.describe().kind {
        RejectionKind::UnsupportedMediaType => 400,
        RejectionKind::Internal => 503,
        kind => kind.status(),
    };
    let error = Some(Some(rejection.into()));
    let body = JsonRpcResponse { jsonrpc: VERSION, result: None, error, id: json::Value::Null };
    rejection_response(status, rejection, &body)
}
