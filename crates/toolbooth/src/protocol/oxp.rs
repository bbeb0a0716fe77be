//! OXP 1.0 with flat bodies: `GET /health`, `GET /tools`, `POST /tools/call` and its alias `/call`.
//!
//! Version marker: the `OXP-Version` header, both ways. Clause numbers X1 to X34 are explained in
//! docs/PROTOCOLS.md, with the tests that hold them.

mod response;

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Map;

use super::context::{credentials, malformed, text};
use super::{Exchange, Handler, ListRequest, Page, PostRequest, Protocol, Route};
use crate::call::{Nulls, Rejection, ToolRequest, ToolSelector};
use crate::catalog::{Definition, ListForm, Listed, Rendering, Requirements};
use crate::http::{Headers, Response};
use crate::json::{Object, Value};
use crate::text::excerpt;
use crate::tool::Dialogue;

pub use response::{Form, encode, reject};

/// The version that is served.
const VERSION: &str = "1.0";

/// The protocol.
pub static FLAT: Protocol = Protocol {
    name: "oxp",
    title: "Open eXecution Protocol 1.0, flat bodies",
    endpoints: &[
        Route { path: "/health", action: Handler::Health },
        Route { path: "/tools", action: Handler::Read(list) },
        Route { path: "/tools/call", action: Handler::Call(call) },
        Route { path: "/call", action: Handler::Call(call) },
    ],
    check: check_version,
    reject: |rejection| reject(Form::Flat, rejection),
    decorate,
    web_clients: false,
};

pub(super) const LIST: ListForm =
    ListForm { name: "oxp", head: r#"{"items":["#, tail: "]}", entry: render };

/// Every response names the version (X8).
pub fn decorate(response: Response) -> Response {
    response.with("oxp-version", VERSION)
}

/// Accepts an absent or empty `OXP-Version` (X6) and any spelling of 1.0 (X7).
///
/// # Errors
/// [`Rejection::UnsupportedVersion`] for every other version (X16).
pub fn check_version(headers: &dyn Headers) -> Result<(), Rejection> {
    match headers.get("oxp-version").as_deref().map(str::trim) {
        None | Some("" | "1" | "1.0" | "1.0.0") => Ok(()),
        Some(_) => Err(Rejection::UnsupportedVersion { supported: VERSION }),
    }
}

/// `GET /tools` (X9).
pub fn list(reading: &ListRequest<'_>) -> Result<Page, Response> {
    reading.page(LIST.name).map_err(|rejection| reject(Form::Flat, rejection))
}

/// `POST /tools/call` with a flat body. An envelope is refused here with the address that takes it.
pub fn call(posted: PostRequest<'_>) -> Exchange<'_> {
    let call = if posted.body.get("request").is_some() {
        Err(malformed(
            "request is an envelope, which /otc and /oxp/1.0 take; here its fields are the body's own",
        ))
    } else {
        decode(posted.body)
    };
    Exchange::single(call, |outcome| encode(Form::Flat, outcome))
}

/// Reads a `CallToolRequest`, which is closed: a field that it does not have is refused.
///
/// # Errors
/// [`Rejection::Malformed`].
pub fn decode(body: Value<'_>) -> Result<ToolRequest<'_>, Rejection> {
    let Value::Object(mut body) = body else {
        return Err(malformed("the body must be an object with tool_id and input"));
    };
    let call = ToolRequest {
        tool: text(&mut body, "tool_id", "")?
            .map(ToolSelector::Id)
            .ok_or_else(|| malformed("tool_id is missing; it must be a string"))?,
        call_id: text(&mut body, "call_id", "")?.map(Cow::into_owned),
        input: body.take("input").unwrap_or_else(|| Value::Object(Object::default())),
        nulls: Nulls::Exact,
        credentials: credentials(body.take("context"))?,
        dialogue: Dialogue::default(),
    };
    text(&mut body, "trace_id", "")?;
    if body.contains("inputs") {
        return Err(malformed("inputs is not a field; use input"));
    }
    match body.iter().next() {
        None => Ok(call),
        Some((field, _)) => Err(malformed(format!(
            "\"{}\" is not a field of a call; the fields are tool_id, call_id, trace_id, input and context",
            excerpt(field)
        ))),
    }
}

/// Renders a tool of `GET /tools` (X9).
pub fn render(listed: &Listed<'_>) -> Rendering {
    tool_definition(listed.definition, &listed.definition.input_schema)
}

/// Renders a definition with the fields of `ToolDefinition` and no others, for it is closed.
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
