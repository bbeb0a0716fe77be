//! Runs the tool calls of a model's answer and returns the results in the provider's format.
//!
//! [`wire`](crate::wire) reads each provider's answers, and has the types of its results. The rest is the same for all:
//! the limits, the ids, the calls that are left to the client, and the error messages.

mod calls;
mod ids;
mod result;

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;

use super::error::invalid_request;
use super::parameters;
use crate::wire::{ModelAnswer, Read, ToolCall};
use calls::Calls;
pub(crate) use result::for_model;
use toolbooth::call::{
    CheckOrder, NullHandling, Outcome, Prepared, Rejection, ToolRequest, ToolSelector,
};
use toolbooth::http::Response;
use toolbooth::json;
use toolbooth::protocol::truncation::truncate;
use toolbooth::route::{CallResponse, PostRequest};
use toolbooth::schema::text::excerpt;

/// How a provider formats calls and results.
pub(super) struct CallFormat {
    /// Reads a model's answer. The error names the position and what was expected.
    pub(super) read: for<'t> fn(json::Value<'t>) -> Read<ModelAnswer<'t>>,
    /// The member of the client's next request to which it appends the results.
    pub(super) member: &'static str,
    /// The JSON of what it appends.
    pub(super) results: fn(&[CallResult<'_>]) -> String,
    /// Whether the provider pairs calls and results by an id that both must have.
    pub(super) pairs_by_id: bool,
}

pub(super) struct CallHandle<'t> {
    pub(super) id: Cow<'t, str>,
    /// Whether the model sent the id; otherwise it was generated.
    pub(super) id_sent: bool,
    /// The function, as the model named it.
    pub(super) name: Cow<'t, str>,
}

pub(super) struct CallResult<'t> {
    pub(super) handle: CallHandle<'t>,
    /// The value, or an error message for the model. Neither is empty or too large.
    pub(super) result: Result<Value, String>,
}

impl CallResult<'_> {
    /// The result as text, which most formats require.
    pub(super) fn text(&self) -> Cow<'_, str> {
        match &self.result {
            Ok(Value::String(text)) | Err(text) => text.into(),
            Ok(value) => json::to_string(value).into(),
        }
    }
}

/// The member `_toolbooth` of a response: information for the client, not for the model.
#[derive(Serialize)]
struct CallReport<'r> {
    calls: Vec<CallStatus<'r>>,
    warnings: &'r [String],
}

#[derive(Serialize)]
struct CallStatus<'r> {
    id: &'r str,
    name: String,
    success: bool,
}

const VALIDATE: &str = "validate_tool_arguments";

/// Options in the query, and in the member `request_options` of the body.
#[derive(Default)]
struct CallOptions {
    /// `validate_tool_arguments=true`: reject the request if the arguments of any call are invalid
    /// (2api.ai, 7.3).
    validate: Option<bool>,
    /// `unknown=leave`: leave calls of unknown tools to the client, instead of returning an error for each.
    leave_unknown: bool,
}

impl CallOptions {
    fn parse(query: &str) -> Result<Self, String> {
        let mut options = Self::default();
        parameters::for_each(query, &[VALIDATE, "unknown"], |name, value| {
            if name == "unknown" {
                options.leave_unknown = parameters::choice(name, value, ["leave", "answer"])?;
            } else {
                options.validate = Some(parameters::choice(name, value, ["true", "false"])?);
            }
            Ok(())
        })?;
        Ok(options)
    }

    /// Takes `request_options` out of the body. Members that are `null` count as absent.
    fn take_from(&mut self, body: &mut json::Value<'_>) -> Result<(), String> {
        let json::Value::Object(body) = body else { return Ok(()) };
        let options = match body.take("request_options") {
            None | Some(json::Value::Null) => return Ok(()),
            Some(json::Value::Object(options)) => options,
            Some(_) => return Err(format!("request_options must be an object with {VALIDATE}")),
        };
        for (name, value) in options.iter().filter(|(_, value)| !value.is_null()) {
            if name != VALIDATE {
                return Err(format!(
                    "\"{}\" is not a member of request_options, which has only {VALIDATE}",
                    excerpt(name)
                ));
            }
            let json::Value::Bool(value) = value else {
                return Err(format!("request_options.{VALIDATE} must be true or false"));
            };
            if self.validate.replace(*value).is_some() {
                return Err(format!("{VALIDATE} is in the query and in request_options"));
            }
        }
        Ok(())
    }
}

/// Runs the calls in a model's answer (2api.ai, 4.2, steps 3 and 4).
///
/// A call that is malformed or fails has an error as its result, next to the results of the others. A tool that
/// crashes fails the whole request, because the instance is gone.
pub(super) fn run<'a>(request: PostRequest<'a>, format: &'static CallFormat) -> CallResponse<'a> {
    Box::pin(async move {
        let PostRequest { mut body, context } = request;
        let mut options = CallOptions::parse(context.query).map_err(Rejection::Malformed)?;
        options.take_from(&mut body).map_err(Rejection::Malformed)?;
        let validates = options.validate == Some(true);
        let mut calls = Calls::of((format.read)(body).map_err(Rejection::Malformed)?);
        let count = calls.count();
        let limits = &context.pipeline.settings.limits;
        let limit = limits.max_tool_calls;
        if count > limit {
            let message =
                format!("There are {count} tool calls; a request may have at most {limit}");
            return Ok(invalid_request("too_many_tool_calls", &message));
        }
        let had_calls = !calls.functions.is_empty();
        if options.leave_unknown {
            calls.leave_to_client(|name| {
                let found = ToolSelector::Name(name.into()).resolve(context.pipeline.catalog);
                !name.is_empty() && matches!(found, Err(Rejection::UnknownTool { .. }))
            });
        }
        let mut warnings = calls.warnings(had_calls);
        let handles = ids::assign(&mut calls.functions, context.host.now_ms());
        warnings.extend(ids::warnings(&handles, format.pairs_by_id));
        // All argument strings of a request share one limit.
        let mut values_left = json::MAX_VALUES;
        let decode = |call| decode_call(call, limits.max_argument_bytes, &mut values_left);
        let calls = calls.functions.into_iter().map(decode).collect();
        let order = match validates {
            true => CheckOrder::InputFirst,
            false => CheckOrder::RequirementsFirst,
        };
        let prepared = context.prepare(calls, order).await?;
        if validates && let Some(response) = invalid_arguments(&prepared, &handles) {
            return Ok(response);
        }
        encode(handles, context.run(prepared).await, &warnings, format)
    })
}

/// Decodes a call: at most `limit` bytes and `values_left` values of arguments. The error has a message for the model.
fn decode_call<'t>(
    call: ToolCall<'t>,
    limit: usize,
    values_left: &mut usize,
) -> Result<ToolRequest<'t>, Rejection> {
    let input = call.arguments.parse(limit, values_left).map_err(Rejection::Malformed)?;
    if call.name.is_empty() {
        return Err(Rejection::Malformed("The call names no function.".to_owned()));
    }
    Ok(tool_request(ToolSelector::Name(call.name), input))
}

/// The request of a call that a model made.
pub(crate) fn tool_request<'t>(tool: ToolSelector<'t>, input: json::Value<'t>) -> ToolRequest<'t> {
    ToolRequest { nulls: NullHandling::AS_ABSENT, ..ToolRequest::new(tool, input) }
}

/// The response if the arguments of any call are invalid (2api.ai, 7.3). It lists these calls with their errors.
fn invalid_arguments(
    prepared: &[Result<Prepared<'_>, Outcome>],
    handles: &[CallHandle<'_>],
) -> Option<Response> {
    let detail = |prepared: &Result<Prepared<'_>, Outcome>| match prepared {
        Err(Outcome::InvalidInput(input)) => Some(input.to_string()),
        Err(Outcome::Rejected(Rejection::Malformed(detail))) => Some(detail.clone()),
        Ok(_) | Err(_) => None,
    };
    let calls: Vec<_> = prepared
        .iter()
        .zip(handles)
        .filter_map(|(prepared, CallHandle { id, name, .. })| {
            Some(format!("{} ({}): {}", excerpt(id), excerpt(name), detail(prepared)?))
        })
        .collect();
    if calls.is_empty() {
        return None;
    }
    let message = format!("No call ran because arguments are invalid. {}", calls.join(" | "));
    Some(invalid_request("invalid_tool_arguments", &truncate(message)))
}

/// Writes the results. That the server is unavailable and nothing ran concerns the client, so it is an error.
fn encode(
    handles: Vec<CallHandle<'_>>,
    outcomes: Vec<Outcome>,
    warnings: &[String],
    format: &CallFormat,
) -> Result<Response, Rejection> {
    let unavailable = outcomes.iter().find_map(|outcome| match outcome {
        Outcome::Rejected(rejection @ Rejection::Unavailable(_)) => Some(rejection),
        _ => None,
    });
    if let Some(rejection) = unavailable
        && outcomes.iter().all(|outcome| matches!(outcome, Outcome::Rejected(_)))
    {
        return Err(rejection.clone());
    }
    let results: Vec<_> = handles
        .into_iter()
        .zip(outcomes)
        .map(|(handle, outcome)| CallResult {
            result: result::for_model(outcome, &handle.name),
            handle,
        })
        .collect();
    let report = CallReport {
        calls: results
            .iter()
            .map(|CallResult { handle, result }| CallStatus {
                id: &handle.id,
                name: excerpt(&handle.name),
                success: result.is_ok(),
            })
            .collect(),
        warnings,
    };
    let (report, member) = (json::to_string(&report), format.member);
    let body = format!(r#"{{"_toolbooth":{report},"{member}":{}}}"#, (format.results)(&results));
    Ok(Response::json(200, body.into_bytes()).with("cache-control", "no-store"))
}

#[cfg(test)]
mod tests;
