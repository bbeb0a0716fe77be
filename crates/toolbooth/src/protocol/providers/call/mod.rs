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

pub(super) use anthropic::ANTHROPIC;
pub(super) use gemini::GEMINI;
pub(super) use openai::OPENAI;
pub(super) use responses::OPENAI_RESPONSES;

use super::{error, reject};
use crate::call::{Nulls, Outcome, Rejection, ToolRequest, ToolSelector, admit, find};
use crate::catalog::{Catalog, Tool};
use crate::http::Response;
use crate::json::{self, Writer};
use crate::protocol::{Exchange, PostRequest};
use crate::text::excerpt;
use crate::tool::{Credentials, Dialogue};
use options::Options;
use turn::{ToolCall, Turn};

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
/// A call that cannot be read or run has a result that says so, beside the results of the others.
/// A tool that crashes takes all of them with it, for the whole instance is gone.
fn exchange<'t>(posted: PostRequest<'t>, format: &'static Format) -> Exchange<'t> {
    plan(posted, format).unwrap_or_else(Exchange::answered)
}

/// # Errors
/// The answer to a request of which no call runs.
fn plan<'t>(posted: PostRequest<'t>, format: &'static Format) -> Result<Exchange<'t>, Response> {
    let malformed = |message| reject(Rejection::Malformed(message));
    let options = Options::read(posted.query).map_err(malformed)?;
    let mut turn = (format.read)(posted.body).map_err(malformed)?;
    turn.stop_cut_call();
    let (count, most) = (turn.calls.len() + turn.others.len(), posted.settings.max_tool_calls);
    if count > most {
        let message = format!("There are {count} tool calls; one request may have at most {most}");
        return Err(error(400, "too_many_tool_calls", "invalid_request_error", message));
    }
    let no_calls = turn.calls.is_empty();
    if options.leave_unknown {
        turn.leave(|name| {
            let found = find(posted.catalog, &ToolSelector::Name(name.into()));
            !name.is_empty() && matches!(found, Err(Rejection::UnknownTool { .. }))
        });
    }
    let mut warnings = turn.warnings(no_calls);
    let handles = ids::assign(&mut turn.calls, posted.host.now_ms());
    warnings.extend(ids::warnings(&handles, format.pairs_by_id));
    // However many texts of JSON there are, they share one limit.
    let mut left = json::MAX_VALUES;
    let decode = |(call, handle): (ToolCall<'t>, &Handle<'_>)| {
        decode(call, &handle.id, posted.settings.max_argument_bytes, &mut left)
    };
    let mut calls: Vec<_> = turn.calls.into_iter().zip(&handles).map(decode).collect();
    if options.validate {
        let allowed = |tool: &Tool| posted.settings.allows(posted.principal, tool);
        validate(&mut calls, &handles, posted.catalog, allowed)?;
    }
    let reply = Box::new(move |outcomes| answer(handles, outcomes, warnings, format));
    Ok(Exchange { calls, reply })
}

/// Reads the arguments of a call: at most `limit` bytes, and `left` values.
///
/// # Errors
/// [`Rejection::Malformed`], in words for the model.
fn decode<'t>(
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

/// Checks the arguments of all calls before any runs (2api.ai, 7.3).
///
/// # Errors
/// The answer that names the calls and what is wrong with each.
fn validate(
    calls: &mut [Result<ToolRequest<'_>, Rejection>],
    handles: &[Handle<'_>],
    catalog: &Catalog,
    allowed: impl Fn(&Tool) -> bool,
) -> Result<(), Response> {
    let wrong = |call: &mut Result<ToolRequest<'_>, Rejection>| match call {
        Err(Rejection::Malformed(detail)) => Some(detail.clone()),
        Err(_) => None,
        Ok(call) => {
            let tool = find(catalog, &call.tool).ok()?;
            let checked = admit(tool.input, &mut call.input, call.nulls);
            checked.err().filter(|_| allowed(tool)).map(|input| input.to_string())
        }
    };
    let told: Vec<_> = calls
        .iter_mut()
        .zip(handles)
        .filter_map(|(call, Handle { id, name, .. })| {
            Some(format!("{} ({}): {}", excerpt(id), excerpt(name), wrong(call)?))
        })
        .collect();
    if told.is_empty() {
        return Ok(());
    }
    let message = format!("No call ran, for arguments are invalid. {}", told.join(" | "));
    Err(error(400, "invalid_tool_arguments", "invalid_request_error", result::cut(message)))
}

/// Writes the results, and beside them what the client should know.
fn answer(
    handles: Vec<Handle<'_>>,
    outcomes: Vec<Outcome>,
    warnings: Vec<String>,
    format: &Format,
) -> Response {
    // The server is at fault and nothing ran: that is for the client, and no result for the model.
    let unavailable = outcomes.iter().find_map(|outcome| match outcome {
        Outcome::Refused(rejection @ Rejection::Unavailable(_)) => Some(rejection),
        _ => None,
    });
    if let Some(rejection) = unavailable
        && outcomes.iter().all(|outcome| matches!(outcome, Outcome::Refused(_)))
    {
        return reject(rejection.clone());
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
    Response::written(200, writer)
}

#[cfg(test)]
mod tests;
