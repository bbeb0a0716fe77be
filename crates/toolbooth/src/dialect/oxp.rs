//! OXP 1.0 with flat bodies: `GET /health`, `GET /tools`, `POST /tools/call` and its alias `/call`.
//!
//! Version marker: the `OXP-Version` header, both ways. Clause numbers X1 to X34 are explained in
//! docs/PROTOCOLS.md, with the tests that hold them.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value};

use super::{Action, Dialect, Endpoint, Exchange, Page, Posted, Reading};
use crate::call::{
    Call, Credentials, InvalidInput, Missing, Outcome, Refusal, Secret, ToolError, Wanted,
};
use crate::catalog::{ListForm, Listed, Rendering, Requirements};
use crate::http::{Headers, Outbound};

/// The version that is served.
const VERSION: &str = "1.0";

/// The dialect.
pub static FLAT: Dialect = Dialect {
    name: "oxp",
    title: "Open eXecution Protocol 1.0, flat bodies",
    endpoints: &[
        Endpoint { path: "/health", action: Action::Health },
        Endpoint { path: "/tools", action: Action::Read(list) },
        Endpoint { path: "/tools/call", action: Action::Call(call) },
        Endpoint { path: "/call", action: Action::Call(call) },
    ],
    lists: &[LIST],
    check: check_version,
    refuse,
    sign,
};

const LIST: ListForm = ListForm { name: "oxp", head: r#"{"items":["#, tail: "]}", entry: render };

/// Every response names the version (X8).
pub fn sign(response: Outbound) -> Outbound {
    response.with("oxp-version", VERSION)
}

/// Accepts an absent or empty `OXP-Version` (X6) and any spelling of 1.0 (X7).
///
/// # Errors
/// [`Refusal::UnsupportedVersion`] for every other version (X16).
pub fn check_version(headers: &dyn Headers) -> Result<(), Refusal> {
    match headers.get("oxp-version").as_deref().map(str::trim) {
        None | Some("" | "1" | "1.0" | "1.0.0") => Ok(()),
        Some(_) => Err(Refusal::UnsupportedVersion { supported: VERSION }),
    }
}

/// `GET /tools` (X9).
pub fn list(reading: &Reading<'_>) -> Result<Page, Outbound> {
    reading.page(LIST.name).map_err(refuse)
}

/// `POST /tools/call`.
pub fn call(posted: Posted<'_>) -> Exchange {
    Exchange::single(decode(posted.body), encode)
}

/// Reads a `CallToolRequest`, which is closed: a field that it does not have is refused.
///
/// # Errors
/// [`Refusal::Malformed`].
pub fn decode(body: Value) -> Result<Call, Refusal> {
    let Value::Object(mut body) = body else {
        return Err(malformed("the body must be an object with tool_id and input"));
    };
    let call = Call {
        tool: text(&mut body, "tool_id", "")?
            .map(Wanted::Id)
            .ok_or_else(|| malformed("tool_id is missing; it must be a string"))?,
        call_id: text(&mut body, "call_id", "")?,
        input: body.remove("input").unwrap_or_else(|| Value::Object(Map::new())),
        credentials: credentials(&mut body)?,
    };
    text(&mut body, "trace_id", "")?;
    if body.contains_key("inputs") {
        return Err(malformed("inputs is not a field; use input"));
    }
    match body.keys().next() {
        None => Ok(call),
        Some(field) => Err(Refusal::Malformed(format!(
            "{field:?} is not a field of a call; the fields are tool_id, call_id, trace_id, input and context"
        ))),
    }
}

fn malformed(message: &str) -> Refusal {
    Refusal::Malformed(message.to_owned())
}

/// Takes an optional string out of an object that stands at `place`.
fn text(
    object: &mut Map<String, Value>,
    key: &str,
    place: &str,
) -> Result<Option<String>, Refusal> {
    match object.remove(key) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(Refusal::Malformed(format!("{place}{key} must be a string"))),
    }
}

/// Takes `context` out of the body. It is open: further fields are ignored.
fn credentials(body: &mut Map<String, Value>) -> Result<Credentials, Refusal> {
    let mut context = match body.remove("context") {
        None => return Ok(Credentials::default()),
        Some(Value::Object(context)) => context,
        Some(_) => return Err(malformed("context must be an object")),
    };
    Ok(Credentials {
        user_id: text(&mut context, "user_id", "context.")?,
        tokens: secrets(&mut context, "authorization", "token")?,
        secrets: secrets(&mut context, "secrets", "value")?,
    })
}

/// Takes a list of `{"id": …, <key>: …}` out of the context. Of two with one id the later counts.
fn secrets(
    context: &mut Map<String, Value>,
    list: &str,
    key: &str,
) -> Result<BTreeMap<String, Secret>, Refusal> {
    let wrong = || {
        Refusal::Malformed(format!(
            "context.{list} must be an array of objects with the strings id and {key}"
        ))
    };
    let items = match context.remove(list) {
        None => return Ok(BTreeMap::new()),
        Some(Value::Array(items)) => items,
        Some(_) => return Err(wrong()),
    };
    let pair = |item| match item {
        Value::Object(mut item) => match (item.remove("id"), item.remove(key)) {
            (Some(Value::String(id)), Some(Value::String(value))) => Ok((id, Secret::new(value))),
            _ => Err(wrong()),
        },
        _ => Err(wrong()),
    };
    items.into_iter().map(pair).collect()
}

/// Writes what came of a call: 200 for every call that ran (X10), 422 for its input (X23), 400 for
/// what went wrong before (X16), and the statuses of HTTP itself where HTTP has one.
pub fn encode(outcome: Outcome) -> Outbound {
    match outcome {
        Outcome::Done { call_id, duration_ms, value } => {
            ran(&CallToolResponse::done(&call_id, duration_ms, &value))
        }
        Outcome::Failed { call_id, duration_ms, error } => {
            ran(&CallToolResponse::failed(&call_id, duration_ms, &error))
        }
        Outcome::Invalid(input) => invalid(&input),
        Outcome::Refused(refusal) => return refuse(refusal),
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

fn ran(response: &CallToolResponse<'_>) -> Outbound {
    Outbound::json(200, write(response))
}

/// `ValidationErrorResponse` (X23, X24).
fn invalid(input: &InvalidInput) -> Outbound {
    #[derive(Serialize)]
    struct ValidationErrorResponse<'a> {
        message: &'static str,
        parameter_errors: BTreeMap<&'a str, &'a str>,
    }
    Outbound::json(
        422,
        write(&ValidationErrorResponse {
            message: "Some input parameters are invalid",
            parameter_errors: input
                .errors
                .iter()
                .map(|error| (error.parameter.as_str(), error.message.as_str()))
                .collect(),
        }),
    )
}

/// `ServerErrorResponse` (X17 to X19).
#[derive(Serialize)]
struct ServerErrorResponse {
    message: Cow<'static, str>,
    developer_message: Cow<'static, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    missing_requirements: Option<MissingRequirements>,
}

/// `missing_requirements`: `user_id` is OXP's, `secrets` an addition that its open object allows.
#[derive(Serialize)]
struct MissingRequirements {
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    user_id: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    secrets: Vec<&'static str>,
}

/// Writes why a request was turned away.
pub fn refuse(refusal: Refusal) -> Outbound {
    refused(refusal).with("cache-control", "no-store")
}

fn refused(refusal: Refusal) -> Outbound {
    let error = |status, message: &'static str, detail: Cow<'static, str>| {
        server_error(status, message.into(), detail, None)
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
        Refusal::UnsupportedVersion { supported } => error(
            400,
            "This version of OXP is not supported",
            format!("OXP-Version must be {supported} or absent").into(),
        ),
        Refusal::InvalidToolId => {
            error(400, "The tool id is invalid", crate::catalog::InvalidToolId.to_string().into())
        }
        Refusal::UnknownTool { id, name } => server_error(
            400,
            format!("Tool '{name}' was not found").into(),
            format!("{id} is not a tool of this server").into(),
            None,
        ),
        Refusal::NoSuchVersion { id, name, version } => server_error(
            400,
            format!("Tool '{name}' was not found").into(),
            format!("{id} version {version} is not available").into(),
            None,
        ),
        Refusal::Forbidden { name } => server_error(
            400,
            format!("Tool '{name}' may not be called").into(),
            "TOOL_ALLOWLIST does not have it".into(),
            None,
        ),
        Refusal::Unauthenticated { reason, .. } => {
            error(401, "The request needs valid credentials", reason.into())
        }
        Refusal::MissingScope { name, scopes } => server_error(
            403,
            format!("Tool '{name}' may not be called with these credentials").into(),
            format!("it requires the scopes: {}", scopes.join(" ")).into(),
            None,
        ),
        Refusal::TooManyRequests { retry_after } => {
            error(429, "Too many calls", format!("try again after {retry_after} seconds").into())
        }
        Refusal::MissingRequirements(missing) => missing_requirements(missing),
        Refusal::Unavailable(detail) => {
            error(400, "The tool server is temporarily unavailable", detail.into())
        }
        Refusal::Failed => error(500, "The tool server failed", "its log says more".into()),
    }
}

fn missing_requirements(missing: Missing) -> Outbound {
    let Missing { authorization, secrets, user_id } = missing;
    let message = match (authorization.is_empty(), user_id) {
        (false, _) => "Authorization required",
        (true, true) => "The call must say for which user it is",
        (true, false) => "The call lacks a secret",
    };
    let mut lacks: Vec<String> = Vec::new();
    lacks.extend(authorization.iter().map(|id| format!("context.authorization with id {id:?}")));
    lacks.extend(secrets.iter().map(|id| format!("context.secrets with id {id:?}")));
    lacks.extend(user_id.then(|| "context.user_id".to_owned()));
    let machine =
        (user_id || !secrets.is_empty()).then_some(MissingRequirements { user_id, secrets });
    server_error(
        400,
        message.into(),
        format!("the call lacks {}", lacks.join(", ")).into(),
        machine,
    )
}

fn server_error(
    status: u16,
    message: Cow<'static, str>,
    developer_message: Cow<'static, str>,
    missing_requirements: Option<MissingRequirements>,
) -> Outbound {
    Outbound::json(
        status,
        write(&ServerErrorResponse { message, developer_message, missing_requirements }),
    )
}

fn write(body: &impl Serialize) -> Vec<u8> {
    // Structs of strings and JSON values always serialize; an empty body is the visible fallback.
    serde_json::to_vec(body).unwrap_or_default()
}

/// Renders a tool of `GET /tools` (X9): OXP's fields of the definition and no others, for its
/// `ToolDefinition` is closed.
fn render(listed: &Listed<'_>) -> Rendering {
    #[derive(Serialize)]
    struct ToolDefinition<'a> {
        id: &'a str,
        name: &'a str,
        description: &'a str,
        version: String,
        input_schema: &'a Map<String, Value>,
        output_schema: &'a Option<Map<String, Value>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        requirements: Option<&'a Requirements>,
    }
    let definition = listed.definition;
    Rendering::of(&ToolDefinition {
        id: &definition.id,
        name: &definition.name,
        description: &definition.description,
        version: definition.version.to_string(),
        input_schema: &definition.input_schema,
        output_schema: &definition.output_schema,
        requirements: definition.requirements.as_ref(),
    })
}

#[cfg(test)]
mod tests;
