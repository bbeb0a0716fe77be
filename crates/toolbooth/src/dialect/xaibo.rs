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
use super::{Action, Dialect, Endpoint, Exchange, Page, Posted, Reading, no_version, unsigned};
use crate::call::{
    Call, Caller, Dialogue, InvalidInput, Missing, Nulls, Outcome, Refusal, ToolError, Wanted,
    asks_back, excerpt, find,
};
use crate::catalog::{Catalog, ListForm, Listed, Rendering};
use crate::config::Config;
use crate::http::Outbound;
use crate::json::{self, Object, Writer};

/// The dialect.
pub(super) static XAIBO: Dialect = Dialect {
    name: "xaibo",
    title: "Xaibo tool provider",
    endpoints: &[
        Endpoint { path: "/tools", action: Action::Read(list) },
        Endpoint { path: "/execute", action: Action::Call(execute) },
    ],
    check: no_version,
    refuse: |refusal| encode(Outcome::Refused(refusal), &[]),
    sign: unsigned,
    web_clients: false,
};

pub(super) const LIST: ListForm = ListForm { name: "xaibo", head: "[", tail: "]", entry: render };

/// `list_tools`: an array of `Tool`, the latest version of each tool under its plain name.
fn list(reading: &Reading<'_>) -> Result<Page, Outbound> {
    reading.page(LIST.name).map_err(XAIBO.refuse)
}

/// `execute_tool`.
fn execute(posted: Posted<'_>) -> Exchange<'_> {
    let Posted { body, caller, catalog, config, .. } = posted;
    let call = decode(body);
    // The answer is written where the configuration is not at hand; most calls need no names.
    let others = match &call {
        Ok(call) if !callable(&call.tool, caller, catalog, config) => {
            available(caller, catalog, config)
        }
        _ => Vec::new(),
    };
    Exchange::single(call, move |outcome| encode(outcome, &others))
}

fn callable(
    wanted: &Wanted<'_>,
    caller: &Caller,
    catalog: &'static Catalog,
    config: &Config,
) -> bool {
    find(catalog, wanted).is_ok_and(|tool| config.allows(caller, tool))
}

/// So many tools are named to a client that asked for another: an answer must not grow with the
/// catalogue.
const MOST_NAMED: usize = 50;

/// The names in the list, up to one more than are told.
fn available(caller: &Caller, catalog: &'static Catalog, config: &Config) -> Vec<&'static str> {
    let plain = |(name, at): &(&'static str, usize)| {
        let tool = catalog.tools.get(*at)?;
        (*name == tool.name && config.allows(caller, tool)).then_some(*name)
    };
    catalog.names.iter().filter_map(plain).take(MOST_NAMED + 1).collect()
}

/// Reads the arguments of `execute_tool`, and `context` as OXP has it: Xaibo has no place for what
/// a tool may require.
///
/// # Errors
/// [`Refusal::Malformed`].
fn decode(body: json::Value<'_>) -> Result<Call<'_>, Refusal> {
    use json::Value;
    let Value::Object(mut body) = body else {
        return Err(malformed("the body must be an object with tool_name and parameters"));
    };
    let tool = match body.take("tool_name") {
        Some(Value::String(name)) => Wanted::Name(name),
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
            Ok(Call { tool, call_id: None, input, nulls, credentials, dialogue })
        }
        Some((field, _)) => Err(malformed(format!(
            "\"{}\" is not a field; the fields are tool_name, parameters and context",
            excerpt(field)
        ))),
    }
}

/// Writes what came of a call: 200 for all that `execute_tool` itself may say, the statuses of HTTP
/// for a request that is no call of it. `available` is told when there is no such tool.
fn encode(outcome: Outcome, available: &[&str]) -> Outbound {
    match outcome {
        Outcome::Done { value, .. } => tool_result(200, Some(&value), None),
        Outcome::Failed { error, .. } => failure(200, &failed(error)),
        Outcome::Invalid(input) => failure(200, &invalid(&input)),
        Outcome::Asks { asked, .. } => refuse(asked.into(), available),
        Outcome::Refused(refusal) => refuse(refusal, available),
    }
}

fn failure(status: u16, error: &str) -> Outbound {
    tool_result(status, None, Some(error))
}

/// Xaibo's `ToolResult`, always with its three fields.
fn tool_result(status: u16, result: Option<&Value>, error: Option<&str>) -> Outbound {
    let mut body = Writer::new();
    body.json(r#"{"success":"#).json(if error.is_none() { "true" } else { "false" });
    body.json(r#","result":"#).value(result.unwrap_or(&Value::Null)).json(r#","error":"#);
    match error {
        Some(error) => body.string(error),
        None => body.json("null"),
    };
    body.json("}");
    Outbound::written(status, body)
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

fn refuse(refusal: Refusal, available: &[&str]) -> Outbound {
    let (status, error): (u16, Cow<'static, str>) = match refusal {
        Refusal::NotFound => (
            404,
            "There is nothing at this address; Xaibo's are GET /tools and POST /execute".into(),
        ),
        Refusal::MethodNotAllowed { allow } => {
            let error = format!("This address does not take this method; it takes {allow}");
            return failure(405, &error).with("allow", allow);
        }
        Refusal::ForbiddenOrigin => {
            (403, "Pages of the request's Origin may not call; see ALLOWED_ORIGINS".into())
        }
        Refusal::TooLarge { limit } => {
            (413, format!("The request is too large; it may have at most {limit} bytes").into())
        }
        Refusal::NotJson => {
            (415, "The request is not JSON; send the header Content-Type: application/json".into())
        }
        Refusal::InvalidJson(detail) => {
            (400, format!("The request is malformed: it is not valid JSON: {detail}").into())
        }
        Refusal::Malformed(detail) => (400, format!("The request is malformed: {detail}").into()),
        Refusal::UnsupportedVersion { supported } => {
            (400, format!("This version is not supported; {supported} is").into())
        }
        Refusal::InvalidToolId => (200, not_found("Tool not found", available).into()),
        Refusal::UnknownTool { id, .. } => {
            (200, not_found(&format!("Tool '{id}' not found"), available).into())
        }
        Refusal::NoSuchVersion { id, version, .. } => {
            let what = format!("Tool '{id}@{version}' not found");
            (200, not_found(&what, available).into())
        }
        Refusal::Forbidden { name } => {
            let what = format!("Tool '{name}' may not be called");
            (200, not_found(&what, available).into())
        }
        Refusal::Unauthenticated { reason, .. } => {
            (401, format!("The request needs valid credentials: {reason}").into())
        }
        Refusal::MissingScope { name, .. } => {
            let what = format!("Tool '{name}' may not be called with these credentials");
            (200, not_found(&what, available).into())
        }
        Refusal::TooManyRequests { retry_after } => {
            (429, format!("Too many calls; try again after {retry_after} seconds").into())
        }
        Refusal::MissingRequirements(missing) => (200, requires(&missing).into()),
        Refusal::Unanswerable { lacking, .. } => (
            200,
            format!(
                "Tool execution failed: the call needs an answer that this protocol cannot bring. {}",
                asks_back(&lacking)
            )
            .into(),
        ),
        Refusal::Unavailable(detail) => {
            (503, format!("The tool server is temporarily unavailable: {detail}").into())
        }
        Refusal::Failed => (500, "Tool execution failed: the tool server failed".into()),
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

fn requires(missing: &Missing) -> String {
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
