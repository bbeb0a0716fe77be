//! Xaibo's tool provider over HTTP: `GET /tools` is `list_tools`, `POST /execute` is `execute_tool`.
//!
//! Xaibo defines the two methods and their models, and no wire. The wire here is those models as
//! JSON, so that a provider of a few lines (`clients/python`) hands them on as they are. Whatever
//! goes wrong is a `ToolResult` too, also where HTTP has a status of its own for it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value};

use super::context::{credentials, malformed};
use super::portable::{parts_in_words, reduce};
use super::{
    Exchange, Handler, ListRequest, Page, PostRequest, Protocol, Route, no_version, unsigned,
};
use crate::call::{
    InvalidInput, MissingRequirements, Nulls, Outcome, Rejection, ToolRequest, ToolSelector,
    asks_back, find,
};
use crate::catalog::{Catalog, ListForm, Listed, Rendering};
use crate::http::Response;
use crate::json::{self, Object, Writer};
use crate::principal::Principal;
use crate::settings::Settings;
use crate::text::excerpt;
use crate::tool::{Dialogue, ToolError};

/// The protocol.
pub(super) static XAIBO: Protocol = Protocol {
    name: "xaibo",
    title: "Xaibo tool provider",
    endpoints: &[
        Route { path: "/tools", action: Handler::Read(list) },
        Route { path: "/execute", action: Handler::Call(execute) },
    ],
    check: no_version,
    reject: |rejection| encode(Outcome::Refused(rejection), &[]),
    decorate: unsigned,
    web_clients: false,
};

pub(super) const LIST: ListForm = ListForm { name: "xaibo", head: "[", tail: "]", entry: render };

/// `list_tools`: an array of `Tool`, the latest version of each tool under its plain name.
fn list(reading: &ListRequest<'_>) -> Result<Page, Response> {
    reading.page(LIST.name).map_err(XAIBO.reject)
}

/// `execute_tool`.
fn execute(posted: PostRequest<'_>) -> Exchange<'_> {
    let PostRequest { body, principal, catalog, settings, .. } = posted;
    let call = decode(body);
    // The answer is written where the configuration is not at hand; most calls need no names.
    let others = match &call {
        Ok(call) if !callable(&call.tool, principal, catalog, settings) => {
            available(principal, catalog, settings)
        }
        _ => Vec::new(),
    };
    Exchange::single(call, move |outcome| encode(outcome, &others))
}

fn callable(
    wanted: &ToolSelector<'_>,
    principal: &Principal,
    catalog: &'static Catalog,
    settings: &Settings,
) -> bool {
    find(catalog, wanted).is_ok_and(|tool| settings.allows(principal, tool))
}

/// So many tools are named to a client that asked for another: an answer must not grow with the
/// catalogue.
const MOST_NAMED: usize = 50;

/// The names in the list, up to one more than are told.
fn available(
    principal: &Principal,
    catalog: &'static Catalog,
    settings: &Settings,
) -> Vec<&'static str> {
    let plain = |(name, at): &(&'static str, usize)| {
        let tool = catalog.tools.get(*at)?;
        (*name == tool.name && settings.allows(principal, tool)).then_some(*name)
    };
    catalog.names.iter().filter_map(plain).take(MOST_NAMED + 1).collect()
}

/// Reads the arguments of `execute_tool`, and `context` as OXP has it: Xaibo has no place for what
/// a tool may require.
///
/// # Errors
/// [`Rejection::Malformed`].
fn decode(body: json::Value<'_>) -> Result<ToolRequest<'_>, Rejection> {
    use json::Value;
    let Value::Object(mut body) = body else {
        return Err(malformed("the body must be an object with tool_name and parameters"));
    };
    let tool = match body.take("tool_name") {
        Some(Value::String(name)) => ToolSelector::Name(name),
        Some(_) => return Err(malformed("tool_name must be a string")),
        None => return Err(malformed("tool_name is missing; it must be a string")),
    };
    let input = match body.take("parameters") {
        None => Value::Object(Object::default()),
        Some(Value::Object(parameters)) => Value::Object(parameters),
        Some(_) => return Err(malformed("parameters must be an object")),
    };
    let credentials = credentials(body.take("context"))?;
    match body.iter().next() {
        None => {
            let (nulls, dialogue) = (Nulls::Exact, Dialogue::default());
            Ok(ToolRequest { tool, call_id: None, input, nulls, credentials, dialogue })
        }
        Some((field, _)) => Err(malformed(format!(
            "\"{}\" is not a field; the fields are tool_name, parameters and context",
            excerpt(field)
        ))),
    }
}

/// Writes what came of a call: 200 for all that `execute_tool` itself may say, the statuses of HTTP
/// for a request that is no call of it. `available` is told when there is no such tool.
fn encode(outcome: Outcome, available: &[&str]) -> Response {
    match outcome {
        Outcome::Done { value, .. } => tool_result(200, Some(&value), None),
        Outcome::Failed { error, .. } => failure(200, &failed(error)),
        Outcome::Invalid(input) => failure(200, &invalid(&input)),
        Outcome::Asks { asked, .. } => reject(asked.into(), available),
        Outcome::Refused(rejection) => reject(rejection, available),
    }
}

fn failure(status: u16, error: &str) -> Response {
    tool_result(status, None, Some(error))
}

/// Xaibo's `ToolResult`, always with its three fields.
fn tool_result(status: u16, result: Option<&Value>, error: Option<&str>) -> Response {
    let mut body = Writer::new();
    body.json(r#"{"success":"#).json(if error.is_none() { "true" } else { "false" });
    body.json(r#","result":"#).value(result.unwrap_or(&Value::Null)).json(r#","error":"#);
    match error {
        Some(error) => body.string(error),
        None => body.json("null"),
    };
    body.json("}");
    Response::written(status, body)
}

/// `ToolExecutionError`. The error's one text is all that a model sees, so what helps it stands
/// there too; what is for a log does not.
fn failed(error: ToolError) -> String {
    let again = match (error.can_retry, error.retry_after_ms) {
        (_, Some(ms)) => format!("Try again after {ms} ms"),
        (true, None) => "The call may be tried again".to_owned(),
        (false, None) => String::new(),
    };
    let prompt = error.additional_prompt_content.unwrap_or_default();
    sentences(["Tool execution failed:", &error.message, &prompt, &again])
}

/// `ToolParameterError`: all that is wrong with the parameters.
fn invalid(input: &InvalidInput) -> String {
    format!("Invalid tool parameters: {input}")
}

fn reject(rejection: Rejection, available: &[&str]) -> Response {
    let (status, error): (u16, Cow<'static, str>) = match rejection {
        Rejection::NotFound => (
            404,
            "There is nothing at this address; Xaibo's are GET /tools and POST /execute".into(),
        ),
        Rejection::MethodNotAllowed { allow } => {
            let error = format!("This address does not take this method; it takes {allow}");
            return failure(405, &error).with("allow", allow);
        }
        Rejection::ForbiddenOrigin => {
            (403, "Pages of the request's Origin may not call; see ALLOWED_ORIGINS".into())
        }
        Rejection::TooLarge { limit } => {
            (413, format!("The request is too large; it may have at most {limit} bytes").into())
        }
        Rejection::NotJson => {
            (415, "The request is not JSON; send the header Content-Type: application/json".into())
        }
        Rejection::InvalidJson(detail) => {
            (400, format!("The request is malformed: it is not valid JSON: {detail}").into())
        }
        Rejection::Malformed(detail) => (400, format!("The request is malformed: {detail}").into()),
        Rejection::UnsupportedVersion { supported } => {
            (400, format!("This version is not supported; {supported} is").into())
        }
        Rejection::InvalidToolId => (200, not_found("Tool not found", available).into()),
        Rejection::UnknownTool { id, .. } => {
            (200, not_found(&format!("Tool '{id}' not found"), available).into())
        }
        Rejection::NoSuchVersion { id, version, .. } => {
            let what = format!("Tool '{id}@{version}' not found");
            (200, not_found(&what, available).into())
        }
        Rejection::Forbidden { name } => {
            let what = format!("Tool '{name}' may not be called");
            (200, not_found(&what, available).into())
        }
        Rejection::Unauthenticated { reason, .. } => {
            (401, format!("The request needs valid credentials: {reason}").into())
        }
        Rejection::MissingScope { name, .. } => {
            let what = format!("Tool '{name}' may not be called with these credentials");
            (200, not_found(&what, available).into())
        }
        Rejection::TooManyRequests { retry_after } => {
            (429, format!("Too many calls; try again after {retry_after} seconds").into())
        }
        Rejection::MissingRequirements(missing) => (200, requires(&missing).into()),
        Rejection::Unanswerable { lacking, .. } => (
            200,
            format!(
                "Tool execution failed: the call needs an answer that this protocol cannot bring. {}",
                asks_back(&lacking)
            )
            .into(),
        ),
        Rejection::Unavailable(detail) => {
            (503, format!("The tool server is temporarily unavailable: {detail}").into())
        }
        Rejection::Failed => (500, "Tool execution failed: the tool server failed".into()),
    };
    failure(status, &error)
}

/// `ToolNotFoundError`, with the tools that there are.
fn not_found(what: &str, available: &[&str]) -> String {
    let mut names: Vec<String> =
        available.iter().take(MOST_NAMED).map(|name| format!("'{name}'")).collect();
    if available.len() > MOST_NAMED {
        names.push("…".to_owned());
    }
    format!("{what}. Available tools: [{}]", names.join(", "))
}

fn requires(missing: &MissingRequirements) -> String {
    format!("Tool execution failed: the call lacks {}{}", missing.places(), missing.granting())
}

/// Xaibo's `Tool`.
#[derive(Serialize)]
struct Tool<'a> {
    name: &'a str,
    description: String,
    parameters: BTreeMap<&'a str, ToolParameter<'a>>,
}

/// Xaibo's `ToolParameter`. Its model takes one type and an enum of texts, and some of Xaibo's
/// adapters fail where the description is absent.
#[derive(Serialize)]
struct ToolParameter<'a> {
    r#type: &'a str,
    description: String,
    required: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    default: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    r#enum: Option<Vec<&'a str>>,
}

/// Renders a tool. What a `ToolParameter` cannot hold is said in words, for a model to read.
fn render(listed: &Listed<'_>) -> Rendering {
    if !listed.latest {
        return Rendering::LeftOut;
    }
    let mut schema = listed.definition.input_schema.clone();
    if schema.get("additionalProperties") == Some(&Value::Bool(false)) {
        // To Xaibo it goes without saying.
        schema.remove("additionalProperties");
    }
    let defaults = take_defaults(&mut schema);
    let input = reduce(&schema.into());
    Rendering::of(&Tool {
        name: listed.name,
        description: sentences([&listed.definition.description, text(&input, "description")]),
        parameters: parameters(&input, &defaults),
    })
}

/// Takes the defaults out of the properties: Xaibo has a place for them, and says them to models in
/// words of its own.
fn take_defaults(schema: &mut Map<String, Value>) -> BTreeMap<String, Value> {
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    let default = |(name, property): (&String, &mut Value)| {
        Some((name.clone(), property.as_object_mut()?.remove("default")?))
    };
    properties.into_iter().flatten().filter_map(default).collect()
}

fn parameters<'a>(
    input: &'a Map<String, Value>,
    defaults: &'a BTreeMap<String, Value>,
) -> BTreeMap<&'a str, ToolParameter<'a>> {
    let required = input.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|all| all.iter().any(|one| one == name));
    let properties = input.get("properties").and_then(Value::as_object);
    properties
        .into_iter()
        .flatten()
        .filter_map(|(name, reduced)| {
            let (required, default) = (is_required(name), defaults.get(name));
            Some((name.as_str(), parameter(reduced.as_object()?, required, default)))
        })
        .collect()
}

fn parameter<'a>(
    reduced: &'a Map<String, Value>,
    required: bool,
    default: Option<&'a Value>,
) -> ToolParameter<'a> {
    let options = reduced.get("enum").and_then(Value::as_array);
    let texts: Option<Vec<&str>> =
        options.and_then(|options| options.iter().map(Value::as_str).collect());
    let others = match (options, &texts) {
        (Some(options), None) => {
            let options: Vec<String> = options.iter().map(Value::to_string).collect();
            format!("Must be one of: {}.", options.join(", "))
        }
        _ => String::new(),
    };
    ToolParameter {
        r#type: text(reduced, "type"),
        description: sentences([text(reduced, "description"), &parts_in_words(reduced), &others]),
        required,
        default,
        r#enum: texts,
    }
}

fn text<'a>(object: &'a Map<String, Value>, key: &str) -> &'a str {
    object.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// The texts that are not empty, each with an end, in a row.
fn sentences<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    let mut row = String::new();
    for text in texts.into_iter().map(str::trim).filter(|text| !text.is_empty()) {
        if !row.is_empty() {
            row.push(' ');
        }
        row.push_str(text);
        if !text.ends_with(['.', '!', '?', ':']) {
            row.push('.');
        }
    }
    row
}

#[cfg(test)]
mod tests;
