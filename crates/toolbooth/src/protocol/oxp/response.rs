//! What is written: OXP's and OTC's responses, which differ only in how they name their version.

use std::borrow::Cow;

use serde_json::Value;

use crate::call::{InvalidInput, MissingRequirements, Outcome, Rejection, asks_back};

use crate::http::Response;
use crate::json::Writer;
use crate::tool::ToolError;

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
pub fn encode(form: Form, outcome: Outcome) -> Response {
    match outcome {
        Outcome::Done { call_id, duration_ms, value, .. } => {
            ran(form, &call_id, duration_ms, Ok(&value))
        }
        Outcome::Failed { call_id, duration_ms, error, .. } => {
            ran(form, &call_id, duration_ms, Err(&error))
        }
        Outcome::Invalid(input) => invalid(form, &input),
        Outcome::Asks { asked, .. } => reject(form, asked.into()),
        Outcome::Refused(rejection) => reject(form, rejection),
    }
}

/// A body with room for its members.
fn begin(form: Form) -> Writer {
    let mut body = Writer::new();
    body.json("{");
    if let Some(schema) = form.schema() {
        body.member("$schema").string(schema);
    }
    body
}

fn end(status: u16, mut body: Writer) -> Response {
    body.json("}");
    Response::written(status, body)
}

/// `CallToolResponse` (X25, X26).
fn ran(
    form: Form,
    call_id: &str,
    duration_ms: u64,
    result: Result<&Value, &ToolError>,
) -> Response {
    let mut body = begin(form);
    let enveloped = form != Form::Flat;
    if enveloped {
        body.member("result").json("{");
    }
    body.json(r#""call_id":"#).string(call_id).json(r#","duration":"#).whole(duration_ms);
    match result {
        Ok(value) => {
            body.json(r#","success":true,"value":"#).value(value);
        }
        Err(error) => error.write(body.json(r#","success":false,"error":"#)),
    }
    if enveloped {
        body.json("}");
    }
    end(200, body)
}

/// `ValidationErrorResponse` (X23, X24).
fn invalid(form: Form, input: &InvalidInput) -> Response {
    let mut body = begin(form);
    body.member("message").string("Some input parameters are invalid");
    body.member("parameter_errors").value(&input.by_parameter().into());
    end(422, body)
}

/// `missing_requirements` (X20): `secrets` is an addition that its open object allows.
fn requirements(body: &mut Writer, missing: &MissingRequirements) {
    body.json("{");
    if !missing.challenges.is_empty() {
        body.member("authorization").array(&missing.challenges, |body, one| {
            body.json("{");
            for (name, text) in one.members() {
                body.member(name).string(text);
            }
            body.json("}");
        });
    }
    if missing.user_id {
        body.member("user_id").json("true");
    }
    if !missing.secrets.is_empty() {
        body.member("secrets").strings(&missing.secrets);
    }
    body.json("}");
}

/// Writes why a request was turned away.
pub fn reject(form: Form, rejection: Rejection) -> Response {
    let error = |status, message: &'static str, detail: Cow<'static, str>| {
        server_error(form, status, message.into(), detail, None)
    };
    match rejection {
        Rejection::NotFound => error(
            404,
            "There is nothing at this address",
            "the endpoints are GET /health, GET /tools and POST /tools/call".into(),
        ),
        Rejection::MethodNotAllowed { allow } => {
            error(405, "This address does not take this method", format!("it takes {allow}").into())
                .with("allow", allow)
        }
        Rejection::ForbiddenOrigin => error(
            403,
            "This origin may not call the server",
            "ALLOWED_ORIGINS does not name the request's Origin".into(),
        ),
        Rejection::TooLarge { limit } => error(
            413,
            "The request is too large",
            format!("the body may have at most {limit} bytes").into(),
        ),
        Rejection::NotJson => error(
            415,
            "The request is not JSON",
            "send the header Content-Type: application/json".into(),
        ),
        Rejection::InvalidJson(detail) => error(
            400,
            "The request is malformed",
            format!("the body is not valid JSON: {detail}").into(),
        ),
        Rejection::Malformed(detail) => error(400, "The request is malformed", detail.into()),
        Rejection::UnsupportedVersion { supported } => {
            let (message, marker) = match form {
                Form::Flat => ("This version of OXP is not supported", "OXP-Version"),
                _ => ("This version of the protocol is not supported", "$schema"),
            };
            error(400, message, format!("{marker} must be {supported} or absent").into())
        }
        Rejection::InvalidToolId => {
            error(400, "The tool id is invalid", crate::catalog::InvalidToolId.to_string().into())
        }
        Rejection::UnknownTool { id, name } => server_error(
            form,
            400,
            format!("Tool '{name}' was not found").into(),
            format!("{id} is not a tool of this server").into(),
            None,
        ),
        Rejection::NoSuchVersion { id, name, version } => server_error(
            form,
            400,
            format!("Tool '{name}' was not found").into(),
            format!("{id} version {version} is not available").into(),
            None,
        ),
        Rejection::Forbidden { name } => server_error(
            form,
            400,
            format!("Tool '{name}' may not be called").into(),
            "TOOL_ALLOWLIST does not have it".into(),
            None,
        ),
        Rejection::Unauthenticated { reason, .. } => {
            error(401, "The request needs valid credentials", reason.into())
        }
        Rejection::MissingScope { name, scopes } => server_error(
            form,
            403,
            format!("Tool '{name}' may not be called with these credentials").into(),
            format!("it requires the scopes: {}", scopes.join(" ")).into(),
            None,
        ),
        Rejection::TooManyRequests { retry_after } => {
            error(429, "Too many calls", format!("try again after {retry_after} seconds").into())
        }
        Rejection::MissingRequirements(missing) => missing_requirements(form, &missing),
        Rejection::Unanswerable { name, lacking } => server_error(
            form,
            400,
            format!("Tool '{name}' needs an answer that this protocol cannot bring").into(),
            asks_back(&lacking).into(),
            None,
        ),
        Rejection::Unavailable(detail) => {
            error(400, "The tool server is temporarily unavailable", detail.into())
        }
        Rejection::Failed => error(500, "The tool server failed", "its log says more".into()),
    }
}

fn missing_requirements(form: Form, missing: &MissingRequirements) -> Response {
    let detail = format!("the call lacks {}", missing.places()).into();
    let message = match (missing.authorization.is_empty(), missing.user_id) {
        (false, _) => "Authorization required",
        (true, true) => "The call must say for which user it is",
        (true, false) => "The call lacks a secret",
    };
    // OTC has only words, and of those the user sees the message.
    if let Form::Otc(_) = form {
        let message = format!("{message}{}", missing.granting());
        return server_error(form, 400, message.into(), detail, None);
    }
    let anything = missing.user_id || !missing.secrets.is_empty() || !missing.challenges.is_empty();
    server_error(form, 400, message.into(), detail, anything.then_some(missing))
}

/// `ServerErrorResponse` (X17 to X19).
fn server_error(
    form: Form,
    status: u16,
    message: Cow<'static, str>,
    developer_message: Cow<'static, str>,
    missing: Option<&MissingRequirements>,
) -> Response {
    let mut body = begin(form);
    body.member("message").string(&message);
    body.member("developer_message").string(&developer_message);
    if let Some(missing) = missing {
        requirements(body.member("missing_requirements"), missing);
    }
    end(status, body)
}

#[cfg(test)]
mod tests;
