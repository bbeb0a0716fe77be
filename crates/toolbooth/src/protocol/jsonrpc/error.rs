//! Error objects: a code for programs, a message for people and models, and data for whoever reads
//! it. OpenTool's clients show the message alone, so it says all that is needed to do better.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::Reply;
use crate::call::{InvalidInput, MissingRequirements, Outcome, Rejection, asks_back};
use crate::challenge::Challenge;
use crate::http::Response;
use crate::json::{self, Writer};
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
            Outcome::Invalid(input) => Err(invalid(&input)),
            Outcome::Asks { asked, .. } => Err(rejected(asked.into())),
            Outcome::Refused(rejection) => Err(rejected(rejection)),
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

    fn detail(code: i16, message: impl Into<Cow<'static, str>>, detail: String) -> Self {
        let data = json::object([("developer_message", detail.into())]);
        Self { data: Some(data), ..Self::new(code, message) }
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

fn rejected(rejection: Rejection) -> Error {
    let request = |message: String| Error::new(INVALID_REQUEST, message);
    match rejection {
        Rejection::NotFound => request("There is nothing at this address".to_owned()),
        Rejection::MethodNotAllowed { allow } => request(format!("This address takes {allow}")),
        Rejection::ForbiddenOrigin => {
            request("Pages of the request's Origin may not call; see ALLOWED_ORIGINS".to_owned())
        }
        Rejection::TooLarge { limit } => {
            request(format!("The body may have at most {limit} bytes"))
        }
        Rejection::NotJson => request("Send the header Content-Type: application/json".to_owned()),
        Rejection::InvalidJson(detail) => {
            Error::new(PARSE_ERROR, format!("The body is not valid JSON: {detail}"))
        }
        Rejection::Malformed(detail) => request(format!("Invalid request: {detail}")),
        Rejection::UnsupportedVersion { supported } => {
            request(format!("The version must be {supported}"))
        }
        Rejection::InvalidToolId => {
            Error::new(METHOD_NOT_FOUND, crate::catalog::InvalidToolId.to_string())
        }
        Rejection::UnknownTool { id, name } => Error::detail(
            METHOD_NOT_FOUND,
            format!("Tool '{name}' was not found"),
            format!("{id} is not a tool of this server"),
        ),
        Rejection::NoSuchVersion { id, name, version } => Error::detail(
            METHOD_NOT_FOUND,
            format!("Tool '{name}' has no version {version}"),
            format!("{id} version {version} is not available"),
        ),
        Rejection::Forbidden { name } => Error::detail(
            METHOD_NOT_FOUND,
            format!("Tool '{name}' may not be called"),
            "TOOL_ALLOWLIST does not have it".to_owned(),
        ),
        Rejection::Unauthenticated { reason, .. } => {
            Error::new(UNAUTHENTICATED, format!("The request needs valid credentials: {reason}"))
        }
        Rejection::MissingScope { name, scopes } => Error::detail(
            METHOD_NOT_FOUND,
            format!("Tool '{name}' may not be called with these credentials"),
            format!("it requires the scopes: {}", scopes.join(" ")),
        ),
        Rejection::TooManyRequests { retry_after } => Error::new(
            TOO_MANY_REQUESTS,
            format!("Too many calls; try again after {retry_after} seconds"),
        ),
        Rejection::MissingRequirements(missing) => lacking(missing),
        Rejection::Unanswerable { name, lacking } => Error::detail(
            UNANSWERABLE,
            format!("Tool '{name}' needs an answer that this protocol cannot bring"),
            asks_back(&lacking),
        ),
        Rejection::Unavailable(detail) => {
            let message = format!("The tool server is temporarily unavailable: {detail}");
            Error::new(INTERNAL_ERROR, message)
        }
        Rejection::Failed => Error::new(INTERNAL_ERROR, "The tool server failed"),
    }
}

/// A request has no place for tokens, secrets and users. The error says which are lacking and
/// where they can be sent.
fn lacking(missing: MissingRequirements) -> Error {
    let message = format!(
        "The tool needs {}, which this protocol cannot send; POST /oxp/tools/call can{}",
        missing.things(),
        missing.granting()
    );
    let MissingRequirements { authorization, secrets, user_id, challenges } = missing;
    let mut lacking = Map::new();
    lacking.insert("authorization".to_owned(), authorization.into());
    lacking.insert("secrets".to_owned(), secrets.into());
    lacking.insert("user_id".to_owned(), user_id.into());
    if !challenges.is_empty() {
        let challenge =
            |one: &Challenge| json::object(one.members().map(|(name, text)| (name, text.into())));
        lacking.insert("challenges".to_owned(), challenges.iter().map(challenge).collect());
    }
    let data = json::object([("missing_requirements", lacking.into())]);
    Error { data: Some(data), ..Error::new(MISSING_REQUIREMENTS, message) }
}

/// Tells why a request was turned away before any request object was read: an error to the id null.
///
/// A body of another type is 400 and not 415, and a crash 503 and not 500: OpenTool's clients and
/// servers know no others (OT24).
pub(in crate::protocol) fn reject(rejection: Rejection) -> Response {
    let (status, allow) = match rejection {
        Rejection::NotFound => (404, None),
        Rejection::MethodNotAllowed { allow } => (405, Some(allow)),
        Rejection::Unauthenticated { .. } => (401, None),
        Rejection::MissingScope { .. } | Rejection::ForbiddenOrigin => (403, None),
        Rejection::TooManyRequests { .. } => (429, None),
        Rejection::TooLarge { .. } => (413, None),
        Rejection::Unavailable(_) | Rejection::Failed => (503, None),
        _ => (400, None),
    };
    let answer = turned_away(status, rejected(rejection));
    match allow {
        Some(allow) => answer.with("allow", allow),
        None => answer,
    }
}

/// Tells what an address that serves no request has to say of itself: 404, with `message`.
pub(in crate::protocol) fn not_served(message: &'static str) -> Response {
    turned_away(404, Error::new(INVALID_REQUEST, message))
}

/// An error to the id null.
fn turned_away(status: u16, error: Error) -> Response {
    let mut body = Writer::new();
    Reply { result: None, error: Some(error), id: Value::Null }.write(&mut body);
    Response::written(status, body)
}
