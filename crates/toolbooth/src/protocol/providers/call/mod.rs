//! Calls as a model writes them, run, and their results as its provider wants them back.
//!
//! Each provider's file reads its own forms into a [`Turn`] and writes [`Answered`] calls. What
//! lies between is the same for all: how many calls there may be, which of them are left to the
//! client, under which ids they come back, what their arguments are, and what the model is told.

mod anthropic;
mod gemini;
mod ids;
mod openai;
mod options;
mod responses;
mod result;
mod turn;

use std::borrow::Cow;

use serde_json::Value;

use super::error;
use crate::call::{Nulls, Outcome, Prepared, Rejection, RequestContext, ToolRequest, ToolSelector};
use crate::http::Response;
use crate::json::{self, Writer};
use crate::protocol::{CallResponse, PostRequest};
use crate::text::excerpt;
use crate::tool::{Credentials, Dialogue};
use options::Options;
use turn::{ToolCall, Turn};

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

/// A provider's form of calls and of results.
struct Format {
    /// Reads what a model answered. The error says where it is wrong and what was expected.
    read: for<'t> fn(json::Value<'t>) -> Result<Turn<'t>, String>,
    /// The member that the client appends to its conversation.
    member: &'static str,
    /// Writes the value of that member.
    write: fn(&mut Writer, &[Answered<'_>]),
    /// Whether the provider pairs results with calls by an id that both must have.
    pairs_by_id: bool,
}

/// A call with what came of it.
struct Answered<'t> {
    handle: Handle<'t>,
    /// The value, or words that tell the model what went wrong. Neither is large or empty.
    result: Result<Value, String>,
}

impl Answered<'_> {
    /// The result as the text that most formats want.
    fn text(&self) -> Cow<'_, str> {
        match &self.result {
            Ok(Value::String(text)) | Err(text) => text.into(),
            Ok(value) => json::text(value).into(),
        }
    }
}

/// How a call is told apart from the others.
struct Handle<'t> {
    id: Cow<'t, str>,
    /// Whether the model sent the id; else it was made here.
    id_sent: bool,
    /// The function, as the model named it.
    name: Cow<'t, str>,
}

/// `POST …/call`: runs the calls in one answer of a model (2api.ai, 4.2, steps 3 and 4).
///
/// A call that cannot be read or run has a result that says so, next to the results of the others.
/// A tool that crashes takes all of them with it, because the whole instance is gone.
fn call<'a>(request: PostRequest<'a>, format: &'static Format) -> CallResponse<'a> {
    Box::pin(async move {
        let PostRequest { body, context } = request;
        let options = Options::read(context.query).map_err(Rejection::Malformed)?;
        let mut turn = (format.read)(body).map_err(Rejection::Malformed)?;
        turn.stop_cut_call();
        let (count, most) =
            (turn.calls.len() + turn.others.len(), context.pipeline.settings.limits.max_tool_calls);
        if count > most {
            let message =
                format!("There are {count} tool calls; one request may have at most {most}");
            return Ok(error(400, "too_many_tool_calls", "invalid_request_error", &message));
        }
        let Decoded { calls, handles, warnings } = decode(turn, &options, &context, format);
        let prepared = context.prepare(calls).await?;
        if options.validate
            && let Some(response) = invalid(&prepared, &handles)
        {
            return Ok(response);
        }
        encode(handles, context.run(prepared).await, warnings, format)
    })
}

/// The calls of a turn, and what the response says about each.
struct Decoded<'t> {
    calls: Vec<Result<ToolRequest<'t>, Rejection>>,
    handles: Vec<Handle<'t>>,
    warnings: Vec<String>,
}

fn decode<'t>(
    mut turn: Turn<'t>,
    options: &Options,
    context: &RequestContext<'_>,
    format: &Format,
) -> Decoded<'t> {
    let no_calls = turn.calls.is_empty();
    if options.leave_unknown {
        turn.leave(|name| {
            let found = context.resolve(&ToolSelector::Name(name.into()));
            !name.is_empty() && matches!(found, Err(Rejection::UnknownTool { .. }))
        });
    }
    let mut warnings = turn.warnings(no_calls);
    let handles = ids::assign(&mut turn.calls, context.host.now_ms());
    warnings.extend(ids::warnings(&handles, format.pairs_by_id));
    // However many texts of JSON there are, they share one limit.
    let mut left = json::MAX_VALUES;
    let limit = context.pipeline.settings.limits.max_argument_bytes;
    let decode = |(call, handle): (ToolCall<'t>, &Handle<'_>)| {
        decode_call(call, &handle.id, limit, &mut left)
    };
    let calls = turn.calls.into_iter().zip(&handles).map(decode).collect();
    Decoded { calls, handles, warnings }
}

/// Reads the arguments of a call: at most `limit` bytes, and `left` values.
///
/// # Errors
/// [`Rejection::Malformed`], in words for the model.
fn decode_call<'t>(
    call: ToolCall<'t>,
    id: &str,
    limit: usize,
    left: &mut usize,
) -> Result<ToolRequest<'t>, Rejection> {
    let input = call.arguments.read(limit, left).map_err(Rejection::Malformed)?;
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

/// The response to a request of which no call runs because some have invalid arguments (2api.ai, 7.3).
/// It names those calls and what is wrong with each.
fn invalid(prepared: &[Result<Prepared<'_>, Outcome>], handles: &[Handle<'_>]) -> Option<Response> {
    let wrong = |prepared: &Result<Prepared<'_>, Outcome>| match prepared {
        Err(Outcome::InvalidInput(input)) => Some(input.to_string()),
        Err(Outcome::Rejected(Rejection::Malformed(detail))) => Some(detail.clone()),
        Ok(_) | Err(_) => None,
    };
    let calls: Vec<_> = prepared
        .iter()
        .zip(handles)
        .filter_map(|(prepared, Handle { id, name, .. })| {
            Some(format!("{} ({}): {}", excerpt(id), excerpt(name), wrong(prepared)?))
        })
        .collect();
    if calls.is_empty() {
        return None;
    }
    let message = result::cut(format!("No call ran: arguments are invalid. {}", calls.join(" | ")));
    Some(error(400, "invalid_tool_arguments", "invalid_request_error", &message))
}

/// Writes the results, with what the client should know next to them.
///
/// # Errors
/// The server is at fault and nothing ran: that is for the client, and not a result for the model.
fn encode(
    handles: Vec<Handle<'_>>,
    outcomes: Vec<Outcome>,
    warnings: Vec<String>,
    format: &Format,
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
    let answered: Vec<_> = handles
        .into_iter()
        .zip(outcomes)
        .map(|(handle, outcome)| Answered { result: result::tell(outcome, &handle.name), handle })
        .collect();
    let mut writer = Writer::new();
    writer.json(r#"{"_toolbooth":{"calls":"#);
    writer.array(&answered, |writer, Answered { handle: Handle { id, name, .. }, result }| {
        writer.json(r#"{"id":"#).string(id).json(r#","name":"#).string(&excerpt(name));
        writer.json(r#","success":"#).json(if result.is_ok() { "true}" } else { "false}" });
    });
    writer.json(r#","warnings":"#).array(&warnings, |writer, warning| {
        writer.string(warning);
    });
    writer.json("},").string(format.member).json(":");
    (format.write)(&mut writer, &answered);
    writer.json("}");
    Ok(Response::written(200, writer))
}

#[cfg(test)]
mod tests;
