//! Xaibo's tool provider over HTTP: `GET /tools` is `list_tools`, `POST /execute` is `execute_tool`.
//!
//! Xaibo defines the two methods and their models, but no HTTP API. This one sends the models as JSON, so that a
//! provider of a few lines (`clients/python`) can pass them on unchanged. Every error is a `ToolResult` too, even if
//! HTTP has a status for it.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value};

use super::context::{check_empty, credentials, malformed, optional, tool_text};
use super::definition::{array, latest};
use super::keywords::{list, properties};
use super::simple_schema::{describe_parts, reduce};
use super::truncation::{truncate, truncate_value};
use super::{rejection_response, sample};
use crate::call::{
    Outcome, Rejection, RequestContext, ToolRequest, ToolSelector, did_you_mean, needs_client,
};
use crate::capability::Capability;
use crate::catalog::{ListForm, Listed, Rendering};
use crate::http::Response;
use crate::json::{self, Object};
use crate::route::{
    CallResponse, Calls, Document, EncodeRejection, Page, Policy, PostRequest, Protocol, Route,
    for_tests,
};
use crate::tool::ToolError;

/// The capability.
pub static CAPABILITY: Capability = Capability {
    protocols: &[("/xaibo", &XAIBO)],
    call_forms: &[r#"{"tool_name":"Toolkit_Tool","parameters":{}} at /xaibo/execute"#],
    ..Capability::new("xaibo")
};

pub(crate) static XAIBO: Protocol = Protocol {
    routes: &[
        Route::get("/tools", Policy::CALLER, &Document(|it| Ok(Page::of_list(LIST.name, it)?))),
        Route::post("/execute", Policy::CALLS, &Calls(execute)),
    ],
    samples: for_tests(&[(&["/execute"], &sample::XAIBO)]),
    ..Protocol::new(
        "xaibo",
        "Xaibo tool provider",
        EncodeRejection::Plain(|rejection, _| {
            let description = rejection.describe();
            let error = description.to_string();
            rejection_response(description.kind.status(), rejection, &ToolResult::new(Err(&error)))
        }),
    )
};

/// `list_tools`: an array of `Tool`, the latest version of each tool under its plain name.
pub(crate) const LIST: ListForm = array("xaibo", |it| latest(it, render));

fn execute(request: PostRequest<'_>) -> CallResponse<'_> {
    let PostRequest { body, context } = request;
    Box::pin(async move {
        let outcome = context.call(Ok(decode(body)?)).await?;
        encode(outcome, || available(&context))
    })
}

/// The maximum number of available tools in an error: a response must not grow with the catalogue.
const MAX_NAMED: usize = 50;

/// The names of the tools that the caller may run, up to one more than an error lists.
fn available(context: &RequestContext<'_>) -> Vec<&'static str> {
    let catalog = context.pipeline.catalog;
    let unversioned = |(name, at): &(&'static str, usize)| {
        let tool = catalog.tools.get(*at)?;
        (*name == tool.name && context.allows(tool)).then_some(*name)
    };
    catalog.names.iter().filter_map(unversioned).take(MAX_NAMED + 1).collect()
}

/// The message of `ToolNotFoundError`, with the tools that the caller may run.
fn not_found(what: &str, available: &[&str]) -> String {
    let mut names: Vec<String> =
        available.iter().take(MAX_NAMED).map(|name| format!("'{name}'")).collect();
    if available.len() > MAX_NAMED {
        names.push("…".to_owned());
    }
    format!("{what}. Available tools: [{}]", names.join(", "))
}

/// Decodes the arguments of `execute_tool`, and OXP's `context`: Xaibo has no other way to send what a tool requires.
fn decode(body: json::Value<'_>) -> Result<ToolRequest<'_>, Rejection> {
    use json::Value;
    let Value::Object(mut body) = body else {
        return Err(malformed("the body must be an object with tool_name and parameters"));
    };
    let parameters = optional(&mut body, "parameters");
    let tool = ToolSelector::Name(tool_text(&mut body, "tool_name")?);
    let input = match parameters {
        None => Value::Object(Object::default()),
        Some(Value::Object(parameters)) => Value::Object(parameters),
        Some(_) => return Err(malformed("parameters must be an object")),
    };
    let credentials = credentials(body.take("context"))?;
    check_empty(&body, "; the fields are tool_name, parameters and context")?;
    Ok(ToolRequest { credentials, ..ToolRequest::new(tool, input) })
}

/// Writes the outcome of a call, with status 200 for everything that `execute_tool` itself may report.
fn encode(
    outcome: Outcome,
    available: impl Fn() -> Vec<&'static str>,
) -> Result<Response, Rejection> {
    let result = match outcome {
        Outcome::Done { value, .. } => Ok(truncate_value(value)),
        Outcome::Failed { error, .. } => Err(truncate(execution_error(error))),
        Outcome::InvalidInput(input) => Err(format!("Invalid tool parameters: {input}")),
        Outcome::InputRequired { required, .. } => Err(not_run(required.into(), available)?),
        Outcome::Rejected(rejection) => Err(not_run(rejection, available)?),
    };
    Ok(Response::json_of(200, &ToolResult::new(result.as_ref().map_err(String::as_str))))
}

/// Xaibo's `ToolResult`, always with its three fields.
#[derive(Serialize)]
struct ToolResult<'a> {
    success: bool,
    result: Option<&'a Value>,
    error: Option<&'a str>,
}

impl<'a> ToolResult<'a> {
    fn new(result: Result<&'a Value, &'a str>) -> Self {
        Self { success: result.is_ok(), result: result.ok(), error: result.err() }
    }
}

/// The message of `ToolExecutionError`. The model sees nothing else, so it has the tool's hints, but nothing for a log.
fn execution_error(error: ToolError) -> String {
    let retry = match (error.can_retry, error.retry_after_ms) {
        (_, Some(ms)) => format!("Try again after {ms} ms"),
        (true, None) => "The call may be tried again".to_owned(),
        (false, None) => String::new(),
    };
    let prompt = error.additional_prompt_content.unwrap_or_default();
    sentences(["Tool execution failed:", &error.message, &prompt, &retry])
}

/// The message for a call that did not run: that of `ToolNotFoundError` or `ToolExecutionError`. A rejection that is
/// not about the tool is one of the whole request.
fn not_run(
    rejection: Rejection,
    available: impl Fn() -> Vec<&'static str>,
) -> Result<String, Rejection> {
    let failed = |why: &str| Ok(format!("Tool execution failed: {why}"));
    let (what, meant) = match &rejection {
        Rejection::InvalidToolId { meant } => ("Tool not found".to_owned(), meant.as_deref()),
        Rejection::UnknownTool { id, meant, .. } => {
            (format!("Tool '{id}' not found"), meant.as_deref())
        }
        Rejection::UnknownVersion { id, version, .. } => {
            (format!("Tool '{id}@{version}' not found"), None)
        }
        Rejection::ToolNotAllowed { .. }
        | Rejection::ToolNotInKey { .. }
        | Rejection::ToolNotInTeam { .. }
        | Rejection::MissingScope { .. } => (rejection.describe().message.into_owned(), None),
        Rejection::MissingRequirements(missing) => {
            return failed(&format!("the call lacks {}{}", missing.places(), missing.granting()));
        }
        Rejection::CannotAsk { lacking, .. } => return failed(&needs_client(lacking)),
        Rejection::ToolNotConfigured { .. } | Rejection::NeedsTask { .. } => {
            return failed(&rejection.describe().to_string());
        }
        _ => return Err(rejection),
    };
    Ok(not_found(&what, &available()) + &did_you_mean(meant, ". D"))
}

#[derive(Serialize)]
struct XaiboTool<'a> {
    name: &'a str,
    description: String,
    parameters: BTreeMap<&'a str, ToolParameter<'a>>,
}

/// Xaibo's `ToolParameter`. Its model has one type and an enum of strings, and some of Xaibo's adapters fail if the
/// description is absent.
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

/// Renders a tool. Descriptions contain the rules that a `ToolParameter` cannot express.
fn render(listed: &Listed<'_>) -> Rendering {
    let mut schema = listed.definition.input_schema.clone();
    if schema.get("additionalProperties") == Some(&Value::Bool(false)) {
        // Implied in Xaibo.
        schema.remove("additionalProperties");
    }
    let defaults = take_defaults(&mut schema);
    let input = reduce(&schema.into());
    Rendering::of(&XaiboTool {
        name: listed.name,
        description: with_rules(&listed.definition.description, &[text(&input, "description")]),
        parameters: parameters(&input, &defaults),
    })
}

/// Takes the defaults out of the properties: they have a member, and Xaibo describes them to models itself.
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
    let parameters = properties(input).filter_map(|(name, reduced, required)| {
        let reduced = reduced.as_object()?;
        let options = reduced.get("enum").and_then(Value::as_array);
        let texts: Option<Vec<_>> = options.and_then(|all| all.iter().map(Value::as_str).collect());
        let other_values = match (options, &texts) {
            (Some(options), None) => format!("Must be one of: {}.", list(options)),
            _ => String::new(),
        };
        let rules = [&*describe_parts(reduced), &other_values];
        let parameter = ToolParameter {
            r#type: text(reduced, "type"),
            description: with_rules(text(reduced, "description"), &rules),
            required,
            default: defaults.get(name),
            r#enum: texts,
        };
        Some((name, parameter))
    });
    parameters.collect()
}

fn text<'a>(object: &'a Map<String, Value>, key: &str) -> &'a str {
    object.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// A description followed by rules. Without rules it stays as written.
fn with_rules(description: &str, rules: &[&str]) -> String {
    if rules.iter().all(|rule| rule.is_empty()) {
        return description.to_owned();
    }
    sentences([description].into_iter().chain(rules.iter().copied()))
}

/// Joins the texts that are not empty, each with a full stop.
fn sentences<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    let texts = texts.into_iter().map(str::trim).filter(|text| !text.is_empty());
    let sentences = texts.map(|text| {
        let stop = if text.ends_with(['.', '!', '?', ':']) { "" } else { "." };
        format!("{text}{stop}")
    });
    sentences.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
