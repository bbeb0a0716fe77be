//! What is written: OXP's and OTC's responses, which differ only in how they name their version.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::call::{InvalidInput, Missing, Outcome, Refusal, ToolError, asks_back};
use crate::challenge::Challenge;
use crate::http::Outbound;

/// The form of an exchange. The text is the `$schema` that its bodies name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// OXP with flat bodies; a header names the version.
    Flat,
    /// OXP as published: `result` stands in an envelope, errors stand alone.
    Oxp(&'static str),
    /// OTC: the same, but without `missing_requirements` (T43).
    Otc(&'static str),
}

impl Form {
    /// The `$schema` that its bodies name.
    pub fn schema(self) -> Option<&'static str> {
        match self {
            Self::Flat => None,
            Self::Oxp(schema) | Self::Otc(schema) => Some(schema),
        }
    }
}

/// Writes what came of a call: 200 for every call that ran (X10), 422 for its input (X23), 400 for
/// what went wrong before (X16), and the statuses of HTTP itself where HTTP has one.
pub fn encode(form: Form, outcome: Outcome) -> Outbound {
    match outcome {
        Outcome::Done { call_id, duration_ms, value, .. } => {
            ran(form, CallToolResponse::done(&call_id, duration_ms, &value))
        }
        Outcome::Failed { call_id, duration_ms, error, .. } => {
            ran(form, CallToolResponse::failed(&call_id, duration_ms, &error))
        }
        Outcome::Invalid(input) => invalid(form, &input),
        Outcome::Asks { asked, .. } => return refuse(form, asked.into()),
        Outcome::Refused(refusal) => return refuse(form, refusal),
    }
    .with("cache-control", "no-store")
}

/// `CallToolResponse` (X25, X26).
#[derive(Serialize)]
struct CallToolResponse<'a> {
    call_id: &'a str,
    duration: u64,
    success: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a ToolError>,
}

impl<'a> CallToolResponse<'a> {
    fn done(call_id: &'a str, duration: u64, value: &'a Value) -> Self {
        Self { call_id, duration, success: true, value: Some(value), error: None }
    }

    fn failed(call_id: &'a str, duration: u64, error: &'a ToolError) -> Self {
        Self { call_id, duration, success: false, value: None, error: Some(error) }
    }
}

fn ran(form: Form, result: CallToolResponse<'_>) -> Outbound {
    #[derive(Serialize)]
    struct Envelope<'a> {
        #[serde(rename = "$schema")]
        schema: &'static str,
        result: CallToolResponse<'a>,
    }
    let body = match form.schema() {
        None => write(&result),
        Some(schema) => write(&Envelope { schema, result }),
    };
    Outbound::json(200, body)
}

/// `ValidationErrorResponse` (X23, X24).
fn invalid(form: Form, input: &InvalidInput) -> Outbound {
    #[derive(Serialize)]
    struct ValidationErrorResponse {
        #[serde(rename = "$schema", skip_serializing_if = "Option::is_none")]
        schema: Option<&'static str>,
        message: &'static str,
        parameter_errors: Map<String, Value>,
    }
    Outbound::json(
        422,
        write(&ValidationErrorResponse {
            schema: form.schema(),
            message: "Some input parameters are invalid",
            parameter_errors: input.by_parameter(),
        }),
    )
}

/// `ServerErrorResponse` (X17 to X19).
#[derive(Serialize)]
struct ServerErrorResponse {
    #[serde(rename = "$schema", skip_serializing_if = "Option::is_none")]
    schema: Option<&'static str>,
    message: Cow<'static, str>,
    developer_message: Cow<'static, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    missing_requirements: Option<MissingRequirements>,
}

/// `missing_requirements` (X20): `secrets` is an addition that its open object allows.
#[derive(Serialize)]
struct MissingRequirements {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    authorization: Vec<Challenge>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    user_id: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    secrets: Vec<&'static str>,
}

/// Writes why a request was turned away.
pub fn refuse(form: Form, refusal: Refusal) -> Outbound {
    refused(form, refusal).with("cache-control", "no-store")
}

fn refused(form: Form, refusal: Refusal) -> Outbound {
    let error = |status, message: &'static str, detail: Cow<'static, str>| {
        server_error(form, status, message.into(), detail, None)
    };
    match refusal {
        Refusal::NotFound => error(
            404,
            "There is nothing at this address",
            "the endpoints are GET /health, GET /tools and POST /tools/call".into(),
        ),
        Refusal::MethodNotAllowed { allow } => {
            error(405, "This address does not take this method", format!("it takes {allow}").into())
                .with("allow", allow)
        }
        Refusal::TooLarge { limit } => error(
            413,
            "The request is too large",
            format!("the body may have at most {limit} bytes").into(),
        ),
        Refusal::NotJson => error(
            415,
            "The request is not JSON",
            "send the header Content-Type: application/json".into(),
        ),
        Refusal::InvalidJson(detail) => error(
            400,
            "The request is malformed",
            format!("the body is not valid JSON: {detail}").into(),
        ),
        Refusal::Malformed(detail) => error(400, "The request is malformed", detail.into()),
        Refusal::UnsupportedVersion { supported } => {
            let (message, marker) = match form {
                Form::Flat => ("This version of OXP is not supported", "OXP-Version"),
                _ => ("This version of the protocol is not supported", "$schema"),
            };
            error(400, message, format!("{marker} must be {supported} or absent").into())
        }
        Refusal::InvalidToolId => {
            error(400, "The tool id is invalid", crate::catalog::InvalidToolId.to_string().into())
        }
        Refusal::UnknownTool { id, name } => server_error(
            form,
            400,
            format!("Tool '{name}' was not found").into(),
            format!("{id} is not a tool of this server").into(),
            None,
        ),
        Refusal::NoSuchVersion { id, name, version } => server_error(
            form,
            400,
            format!("Tool '{name}' was not found").into(),
            format!("{id} version {version} is not available").into(),
            None,
        ),
        Refusal::Forbidden { name } => server_error(
            form,
            400,
            format!("Tool '{name}' may not be called").into(),
            "TOOL_ALLOWLIST does not have it".into(),
            None,
        ),
        Refusal::Unauthenticated { reason, .. } => {
            error(401, "The request needs valid credentials", reason.into())
        }
        Refusal::MissingScope { name, scopes } => server_error(
            form,
            403,
            format!("Tool '{name}' may not be called with these credentials").into(),
            format!("it requires the scopes: {}", scopes.join(" ")).into(),
            None,
        ),
        Refusal::TooManyRequests { retry_after } => {
            error(429, "Too many calls", format!("try again after {retry_after} seconds").into())
        }
        Refusal::MissingRequirements(missing) => missing_requirements(form, missing),
        Refusal::Unanswerable { name, lacking } => server_error(
            form,
            400,
            format!("Tool '{name}' needs an answer that this protocol cannot bring").into(),
            asks_back(&lacking).into(),
            None,
        ),
        Refusal::Unavailable(detail) => {
            error(400, "The tool server is temporarily unavailable", detail.into())
        }
        Refusal::Failed => error(500, "The tool server failed", "its log says more".into()),
    }
}

fn missing_requirements(form: Form, missing: Missing) -> Outbound {
    let detail = format!("the call lacks {}", missing.places()).into();
    let granting = missing.granting();
    let Missing { authorization, secrets, user_id, challenges } = missing;
    let message = match (authorization.is_empty(), user_id) {
        (false, _) => "Authorization required",
        (true, true) => "The call must say for which user it is",
        (true, false) => "The call lacks a secret",
    };
    // OTC has only words, and of those the user sees the message.
    if let Form::Otc(_) = form {
        return server_error(form, 400, format!("{message}{granting}").into(), detail, None);
    }
    let anything = user_id || !secrets.is_empty() || !challenges.is_empty();
    let machine = MissingRequirements { authorization: challenges, user_id, secrets };
    server_error(form, 400, message.into(), detail, anything.then_some(machine))
}

fn server_error(
    form: Form,
    status: u16,
    message: Cow<'static, str>,
    developer_message: Cow<'static, str>,
    missing_requirements: Option<MissingRequirements>,
) -> Outbound {
    Outbound::json(
        status,
        write(&ServerErrorResponse {
            schema: form.schema(),
            message,
            developer_message,
            missing_requirements,
        }),
    )
}

fn write(body: &impl Serialize) -> Vec<u8> {
    // Structs of strings and JSON values always serialize; an empty body is the visible fallback.
    serde_json::to_vec(body).unwrap_or_default()
}

#[cfg(test)]
mod tests;
