//! Runs the tool calls of a model's response and returns the results in the provider's format.
//!
//! Each provider's module reads its format into a [`ModelResponse`] and writes the [`CallResult`]s. The rest is
//! the same for all: the limits, the ids, the calls that are left to the client, and the error messages.

mod anthropic;
mod fields;
mod gemini;
mod ids;
mod model_response;
mod openai;
mod responses;
mod result;

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;

use super::error::invalid_request;
use super::parameters;
use crate::call::{
    CheckOrder, Nulls, Outcome, Prepared, Rejection, RequestContext, ToolRequest, ToolSelector,
};
use crate::http::Response;
use crate::json;
use crate::protocol::bounded::truncate;
use crate::route::{CallResponse, PostRequest};
use crate::text::excerpt;
use crate::tool::{Credentials, Dialogue};
use fields::without_nulls;
use model_response::{ModelResponse, ToolCall};
pub(crate) use result::for_model;

/// `POST /providers/openai/call`.
pub(super) fn openai(request: PostRequest<'_>) -> CallResponse<'_> {
    call(request, &openai::FORMAT)
}

/// `POST /providers/openai-responses/call`.
pub(super) fn openai_responses(request: PostRequest<'_>) -> CallResponse<'_> {
    call(request, &responses::FORMAT)
}

/// `POST /providers/anthropic/call`.
pub(super) fn anthropic(request: PostRequest<'_>) -> CallResponse<'_> {
    call(request, &anthropic::FORMAT)
}

/// `POST /providers/gemini/call`.
pub(super) fn gemini(request: PostRequest<'_>) -> CallResponse<'_> {
    call(request, &gemini::FORMAT)
}

/// How a provider formats calls and results.
struct CallFormat {
    /// Reads a model's response. The error names the position and what was expected.
    decode: for<'t> fn(json::Value<'t>) -> Result<ModelResponse<'t>, String>,
    /// Writes what the client appends to its conversation, next to the report.
    encode: fn(CallReport<'_>, &[CallResult<'_>]) -> Response,
    /// Whether the provider pairs calls and results by an id that both must have.
    pairs_by_id: bool,
}

/// The identity of a call.
struct CallHandle<'t> {
    id: Cow<'t, str>,
    /// Whether the model sent the id; otherwise it was generated.
    id_sent: bool,
    /// The function, as the model named it.
    name: Cow<'t, str>,
}

/// A call with its result.
struct CallResult<'t> {
    handle: CallHandle<'t>,
    /// The value, or an error message for the model. Neither is empty or too large.
    result: Result<Value, String>,
}

impl CallResult<'_> {
    /// The result as text, which most formats require.
    fn text(&self) -> Cow<'_, str> {
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

/// Whether a call succeeded.
#[derive(Serialize)]
struct CallStatus<'r> {
    id: &'r str,
    name: String,
    success: bool,
}

/// The option for the validation of arguments.
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
    /// # Errors
    /// An unknown or repeated parameter, or an invalid value.
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
    ///
    /// # Errors
    /// An unknown member, an invalid value, or an option that the query has too.
    fn take_from(&mut self, body: &mut json::Value<'_>) -> Result<(), String> {
        let json::Value::Object(body) = body else { return Ok(()) };
        let options = match body.take("request_options") {
            None | Some(json::Value::Null) => return Ok(()),
            Some(json::Value::Object(options)) => without_nulls(options),
            Some(_) => return Err(format!("request_options must be an object with {VALIDATE}")),
        };
        for (name, value) in options.iter() {
            match (&**name, value) {
                (VALIDATE, json::Value::Bool(_)) if self.validate.is_some() => {
                    return Err(format!("{VALIDATE} is in the query and in request_options"));
                }
                (VALIDATE, json::Value::Bool(value)) => self.validate = Some(*value),
                (VALIDATE, _) => {
                    return Err(format!("request_options.{VALIDATE} must be true or false"));
                }
                (other, _) => {
                    return Err(format!(
                        "\"{}\" is not a member of request_options, which has only {VALIDATE}",
                        excerpt(other)
                    ));
                }
            }
        }
        Ok(())
    }
}

/// Runs the calls in a model's response (2api.ai, 4.2, steps 3 and 4).
///
/// A call that is malformed or fails has an error as its result, next to the results of the others. A tool that
/// crashes fails the whole request, because the instance is gone.
fn call<'a>(request: PostRequest<'a>, format: &'static CallFormat) -> CallResponse<'a> {
    Box::pin(async move {
        let PostRequest { mut body, context } = request;
        let mut options = CallOptions::parse(context.query).map_err(Rejection::Malformed)?;
        options.take_from(&mut body).map_err(Rejection::Malformed)?;
        let validates = options.validate == Some(true);
        let mut response = (format.decode)(body).map_err(Rejection::Malformed)?;
        response.block_truncated_call();
        let count = response.calls.len() + response.client_calls.len();
        let limit = context.pipeline.settings.limits.max_tool_calls;
        if count > limit {
            let message =
                format!("There are {count} tool calls; a request may have at most {limit}");
            return Ok(invalid_request("too_many_tool_calls", &message));
        }
        let Decoded { calls, handles, warnings } = decode(response, &options, &context, format);
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

/// The calls of a model's response, each with its handle.
struct Decoded<'t> {
    calls: Vec<Result<ToolRequest<'t>, Rejection>>,
    handles: Vec<CallHandle<'t>>,
    warnings: Vec<String>,
}

fn decode<'t>(
    mut response: ModelResponse<'t>,
    options: &CallOptions,
    context: &RequestContext<'_>,
    format: &CallFormat,
) -> Decoded<'t> {
    let had_calls = !response.calls.is_empty();
    if options.leave_unknown {
        response.leave_to_client(|name| {
            let found = ToolSelector::Name(name.into()).resolve(context.pipeline.catalog);
            !name.is_empty() && matches!(found, Err(Rejection::UnknownTool { .. }))
        });
    }
    let mut warnings = response.warnings(had_calls);
    let handles = ids::assign(&mut response.calls, context.host.now_ms());
    warnings.extend(ids::warnings(&handles, format.pairs_by_id));
    // All argument strings of a request share one limit.
    let mut values_left = json::MAX_VALUES;
    let limit = context.pipeline.settings.limits.max_argument_bytes;
    let decode = |(call, handle): (ToolCall<'t>, &CallHandle<'_>)| {
        decode_call(call, &handle.id, limit, &mut values_left)
    };
    let calls = response.calls.into_iter().zip(&handles).map(decode).collect();
    Decoded { calls, handles, warnings }
}

/// Decodes a call: at most `limit` bytes and `values_left` values of arguments.
///
/// # Errors
/// [`Rejection::Malformed`], with a message for the model.
fn decode_call<'t>(
    call: ToolCall<'t>,
    id: &str,
    limit: usize,
    values_left: &mut usize,
) -> Result<ToolRequest<'t>, Rejection> {
    let input = call.arguments.parse(limit, values_left).map_err(Rejection::Malformed)?;
    if call.name.is_empty() {
        return Err(Rejection::Malformed("The call names no function.".to_owned()));
    }
    Ok(ToolRequest {
        tool: ToolSelector::Name(call.name),
        call_id: Some(id.to_owned()),
        input,
        nulls: Nulls::Absent,
        credentials: Credentials::default(),
        dialogue: Dialogue::default(),
    })
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

/// Writes the results.
///
/// # Errors
/// The server is unavailable and nothing ran. That concerns the client, so it is not a result for the model.
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
    Ok((format.encode)(report, &results))
}

#[cfg(test)]
mod tests;
