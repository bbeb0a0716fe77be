//! Error objects: a code for programs, a message for people and models, and data for whoever reads
//! it. OpenTool's clients show the message alone, so it says all that is needed to do better.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::Reply;
use crate::call::{InvalidInput, MissingRequirements, Outcome, Pipeline, Rejection, RejectionKind};
use crate::challenge::Challenge;
use crate::http::Response;
use crate::json::{self, Writer};
use crate::protocol;
use crate::tool::ToolError;

/// JSON-RPC: the body is not JSON.
const PARSE_ERROR: i16 = -32700;
/// JSON-RPC: the JSON is not a request.
const INVALID_REQUEST: i16 = -32600;
/// JSON-RPC: the method does not exist or may not be called.
const METHOD_NOT_FOUND: i16 = -32601;
/// JSON-RPC: the tool's schema refuses the parameters.
const INVALID_PARAMS: i16 = -32602;
/// JSON-RPC: the server is at fault.
const INTERNAL_ERROR: i16 = -32603;
/// Ours, of the codes that JSON-RPC leaves to servers: the call lacks what a request cannot carry.
const MISSING_REQUIREMENTS: i16 = -32001;
/// The request brings no credentials, or none that are good.
const UNAUTHENTICATED: i16 = -32002;
/// The caller has used up what it may call for now.
const TOO_MANY_REQUESTS: i16 = -32003;
/// The tool asks back, and a response has no way to bring the question.
const UNANSWERABLE: i16 = -32004;
/// OpenTool's: the tool ran and failed.
const TOOL_FAILED: i16 = 500;

/// An error object.
#[derive(Debug)]
pub(super) struct Error {
    code: i16,
    message: Cow<'static, str>,
    data: Option<Value>,
}

impl Error {
    /// The value of a call that succeeded.
    ///
    /// # Errors
    /// Why it did not.
    pub(super) fn of(outcome: Outcome) -> Result<Value, Self> {
        match outcome {
            Outcome::Done { value, .. } => Ok(value),
            Outcome::Failed { error, .. } => Err(failed(error)),
            Outcome::InvalidInput(input) => Err(invalid(&input)),
            Outcome::InputRequired { required, .. } => Err(rejected(&required.into())),
            Outcome::Rejected(rejection) => Err(rejected(&rejection)),
        }
    }

    /// Adds it to a text.
    pub(super) fn write(&self, body: &mut Writer) {
        body.json(r#"{"code":"#).integer(self.code.into());
        body.json(r#","message":"#).string(&self.message);
        if let Some(data) = &self.data {
            body.json(r#","data":"#).value(data);
        }
        body.json("}");
    }

    fn new(code: i16, message: impl Into<Cow<'static, str>>) -> Self {
        Self { code, message: message.into(), data: None }
    }
}

/// The tool's own words; what else it says is the data.
fn failed(error: ToolError) -> Error {
    let mut data = Map::new();
    for (name, value) in error.details() {
        data.insert(name.to_owned(), value);
    }
    Error { data: Some(data.into()), ..Error::new(TOOL_FAILED, error.message) }
}

/// The faults stand in the message and, one a parameter, in the data.
fn invalid(input: &InvalidInput) -> Error {
    let message = format!("Some parameters are invalid. {input}");
    let data = json::object([("parameter_errors", input.by_parameter().into())]);
    Error { data: Some(data), ..Error::new(INVALID_PARAMS, message) }
}

/// The error of a rejection. Its message says everything: some clients show nothing else.
fn rejected(rejection: &Rejection) -> Error {
    if let Rejection::MissingRequirements(missing) = rejection {
        return lacking(missing);
    }
    let description = rejection.describe();
    let code = match description.kind {
        RejectionKind::InvalidJson => PARSE_ERROR,
        RejectionKind::NotFound
        | RejectionKind::NotServed
        | RejectionKind::MethodNotAllowed
        | RejectionKind::ForbiddenOrigin
        | RejectionKind::PayloadTooLarge
        | RejectionKind::UnsupportedMediaType
        | RejectionKind::Malformed
        | RejectionKind::UnsupportedVersion => INVALID_REQUEST,
        RejectionKind::InvalidToolId
        | RejectionKind::UnknownTool
        | RejectionKind::UnknownVersion
        | RejectionKind::ToolNotAllowed
        | RejectionKind::MissingScope => METHOD_NOT_FOUND,
        RejectionKind::Unauthenticated => UNAUTHENTICATED,
        RejectionKind::TooManyRequests => TOO_MANY_REQUESTS,
        RejectionKind::MissingRequirements => MISSING_REQUIREMENTS,
        RejectionKind::CannotAsk => UNANSWERABLE,
        RejectionKind::Unavailable | RejectionKind::Internal => INTERNAL_ERROR,
    };
    Error::new(code, description.to_string())
}

/// A request has no place for tokens, secrets and users. The error says which are lacking and
/// where they can be sent.
fn lacking(missing: &MissingRequirements) -> Error {
    let message = format!(
        "The tool needs {}, which this protocol cannot send; POST /oxp/tools/call can{}",
        missing.things(),
        missing.granting()
    );
    let MissingRequirements { authorization, secrets, user_id, challenges } = missing;
    let mut lacking = Map::new();
    lacking.insert("authorization".to_owned(), authorization.as_slice().into());
    lacking.insert("secrets".to_owned(), secrets.as_slice().into());
    lacking.insert("user_id".to_owned(), (*user_id).into());
    if !challenges.is_empty() {
        let challenge =
            |one: &Challenge| json::object(one.members().map(|(name, text)| (name, text.into())));
        lacking.insert("challenges".to_owned(), challenges.iter().map(challenge).collect());
    }
    let data = json::object([("missing_requirements", lacking.into())]);
    Error { data: Some(data), ..Error::new(MISSING_REQUIREMENTS, message) }
}

/// The statuses of OpenTool's clients and servers, which know neither 415 nor 500 (OT24).
const STATUS: &[(RejectionKind, u16)] =
    &[(RejectionKind::UnsupportedMediaType, 400), (RejectionKind::Internal, 503)];

/// Writes why a request was rejected before any request object was read: an error to the id null.
pub(in crate::protocol) fn reject(rejection: &Rejection) -> Response {
    let kind = rejection.describe().kind;
    let own = STATUS.iter().find(|(one, _)| *one == kind);
    let status = own.map_or(kind.status(), |(_, status)| *status);
    let reply = Reply { result: None, error: Some(rejected(rejection)), id: Value::Null };
    let mut body = Writer::new();
    reply.write(&mut body);
    protocol::rejected(status, rejection, body)
}

/// [`reject`], for the route table.
pub(in crate::protocol) fn encode_rejection(rejection: &Rejection, _: &Pipeline) -> Response {
    reject(rejection)
}
