//! What is written: OXP's and OTC's responses, which differ only in how they name their version.

use serde_json::Value;

use super::super::rejected;
use crate::call::{
    Description, InvalidInput, MissingRequirements, Outcome, Rejection, RejectionKind,
};

use crate::http::Response;
use crate::json::Writer;
use crate::tool::ToolError;

/// The form of an exchange. The text is the `$schema` that its bodies name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// OXP with flat bodies; a header names the version.
    Flat,
    /// OXP as published: `result` stands in an envelope, errors stand alone.
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

/// Writes what came of a call: 200 for every call that ran (X10), 422 for its input (X23), 400 for
/// what went wrong before (X16), and the statuses of HTTP itself where HTTP has one.
pub fn encode(format: Format, outcome: Outcome) -> Response {
    match outcome {
        Outcome::Done { call_id, duration_ms, value, .. } => {
            ran(format, &call_id, duration_ms, Ok(&value))
        }
        Outcome::Failed { call_id, duration_ms, error, .. } => {
            ran(format, &call_id, duration_ms, Err(&error))
        }
        Outcome::InvalidInput(input) => invalid(format, &input),
        Outcome::InputRequired { required, .. } => reject(format, &required.into()),
        Outcome::Rejected(rejection) => reject(format, &rejection),
    }
}

/// A body with room for its members.
fn begin(format: Format) -> Writer {
    let mut body = Writer::new();
    body.json("{");
    if let Some(schema) = format.schema() {
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
    format: Format,
    call_id: &str,
    duration_ms: u64,
    result: Result<&Value, &ToolError>,
) -> Response {
    let mut body = begin(format);
    let enveloped = format != Format::Flat;
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
fn invalid(format: Format, input: &InvalidInput) -> Response {
    let mut body = begin(format);
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

/// The statuses that OXP demands where HTTP has another (X16).
const STATUS: &[(RejectionKind, u16)] =
    &[(RejectionKind::ToolNotAllowed, 400), (RejectionKind::Unavailable, 400)];

/// Writes a rejection: `ServerErrorResponse` (X17 to X19).
pub fn reject(format: Format, rejection: &Rejection) -> Response {
    let Description { kind, mut message, detail } = rejection.describe();
    let own = STATUS.iter().find(|(one, _)| *one == kind);
    let status = own.map_or(kind.status(), |(_, status)| *status);
    let mut missing = None;
    if let Rejection::MissingRequirements(one) = rejection {
        match format {
            // OTC has only words, and of those the user sees the message.
            Format::Otc(_) => message = format!("{message}{}", one.granting()).into(),
            Format::Flat | Format::Oxp(_) => {
                let any = one.user_id || !one.secrets.is_empty() || !one.challenges.is_empty();
                missing = any.then_some(one);
            }
        }
    }
    let mut body = begin(format);
    body.member("message").string(&message);
    body.member("developer_message").string(&detail);
    if let Some(missing) = missing {
        requirements(body.member("missing_requirements"), missing);
    }
    body.json("}");
    rejected(status, rejection, body)
}

#[cfg(test)]
mod tests;
