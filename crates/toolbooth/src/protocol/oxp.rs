//! OXP 1.0 with flat bodies: `GET /health`, `GET /tools`, `POST /tools/call` and its alias `/call`.
//!
//! Requests and responses name the version in the header `OXP-Version`. docs/PROTOCOLS.md explains the
//! clause numbers X1 to X50 and names their tests.

mod response;

use serde::Serialize;
use serde_json::Map;

use super::context::{check_empty, credentials, malformed, text, tool_text};
use super::health::HEALTH;
use super::sample::{CALLS, FLAT};
use crate::call::{CallId, Pipeline, Rejection, ToolRequest, ToolSelector};
use crate::catalog::{Definition, ListForm, Listed, Rendering, Requirements};
use crate::http::{Headers, Response};
use crate::json::{Object, Value};
use crate::route::{
    CallResponse, Calls, Document, EncodeRejection, Page, Policy, PostRequest, Protocol, Route,
    for_tests,
};

pub(super) use response::AuthorizationChallenge;
pub use response::{Format, encode, reject};

const VERSION: &str = "1.0";

/// The protocol.
pub static OXP: Protocol = Protocol {
    routes: &[
        HEALTH,
        LIST_TOOLS,
        Route::post("/tools/call", Policy::CALLS, &Calls(call)),
        Route::post("/call", Policy::CALLS, &Calls(call)),
    ],
    check_version,
    response_headers: VERSION_HEADER,
    samples: for_tests(&[(CALLS, &FLAT)]),
    ..Protocol::new("oxp", "Open eXecution Protocol 1.0, flat bodies", FLAT_ERRORS)
};

/// `GET /tools` (X9).
pub(super) const LIST_TOOLS: Route =
    Route::get("/tools", Policy::CALLER, &Document(|it| Ok(Page::of_list(LIST.name, it)?)));

/// The header of every response (X8).
pub(super) const VERSION_HEADER: &[(&str, &str)] = &[("oxp-version", VERSION)];

/// The list of every Worker. The build compresses the others with its text as their dictionary.
pub const LIST: ListForm =
    ListForm { name: "oxp", head: r#"{"items":["#, tail: "]}", entry: render };

/// Accepts an absent or empty `OXP-Version` (X6) and any spelling of 1.0 (X7).
///
/// # Errors
/// [`Rejection::UnsupportedVersion`] for every other version (X16).
pub fn check_version(headers: &dyn Headers) -> Result<(), Rejection> {
    match headers.get("oxp-version").as_deref().map(str::trim) {
        None | Some("" | "1" | "1.0" | "1.0.0") => Ok(()),
        Some(_) => Err(Rejection::UnsupportedVersion { field: "OXP-Version", supported: VERSION }),
    }
}

/// `POST /tools/call` with a flat body. An envelope is rejected with the address that accepts it.
pub fn call(request: PostRequest<'_>) -> CallResponse<'_> {
    let PostRequest { body, context } = request;
    let call = if body.get("request").is_some() {
        Err(malformed(
            "request is an envelope, which /otc and /oxp/1.0 accept; here its fields belong in the body itself",
        ))
    } else {
        decode(body)
    };
    Box::pin(async move { Ok(encode(Format::Flat, context.call(call).await?)) })
}

/// Errors in the flat format.
pub const FLAT_ERRORS: EncodeRejection = EncodeRejection::Plain(encode_rejection);

/// Encodes a rejection in the flat format.
pub fn encode_rejection(rejection: &Rejection, _: &Pipeline) -> Response {
    reject(Format::Flat, rejection)
}

/// Decodes a `CallToolRequest`. The object is closed: an unknown field is an error.
///
/// # Errors
/// [`Rejection::Malformed`].
pub fn decode(body: Value<'_>) -> Result<ToolRequest<'_>, Rejection> {
    let Value::Object(mut body) = body else {
        return Err(malformed("the body must be an object with tool_id and input"));
    };
    let tool = ToolSelector::Id(tool_text(&mut body, "tool_id")?);
    let call_id = text(&mut body, "call_id", "")?;
    let call_id = call_id.map_or(CallId::Generated, |id| CallId::Sent(id.into_owned()));
    // Its schema says what null means.
    let input = body.take("input").unwrap_or_else(|| Value::Object(Object::default()));
    let credentials = credentials(body.take("context"))?;
    text(&mut body, "trace_id", "")?;
    if body.contains("inputs") {
        return Err(malformed("inputs is not a field; use input"));
    }
    let fields = " of a call; the fields are tool_id, call_id, trace_id, input and context";
    check_empty(&body, fields)?;
    Ok(ToolRequest { call_id, credentials, ..ToolRequest::new(tool, input) })
}

/// Renders a tool of `GET /tools` (X9).
pub fn render(listed: &Listed<'_>) -> Rendering {
    tool_definition(listed.definition, &listed.definition.input_schema)
}

/// Renders a definition with exactly the fields of `ToolDefinition`, which is a closed object.
pub fn tool_definition(definition: &Definition, input_schema: &impl Serialize) -> Rendering {
    #[derive(Serialize)]
    struct ToolDefinition<'a, S> {
        id: &'a str,
        name: &'a str,
        description: &'a str,
        version: String,
        input_schema: &'a S,
        output_schema: &'a Option<Map<String, serde_json::Value>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        requirements: Option<&'a Requirements>,
    }
    Rendering::of(&ToolDefinition {
        id: &definition.id,
        name: &definition.name,
        description: &definition.description,
        version: definition.version.to_string(),
        input_schema,
        output_schema: &definition.output_schema,
        requirements: definition.requirements.as_ref(),
    })
}

#[cfg(test)]
mod tests;
