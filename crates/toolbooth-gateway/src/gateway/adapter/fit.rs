//! What a provider lacks of a request that was written in a different format.

use super::{Format, GatewayError, Notes, Result, custom};
use crate::gateway::raw_json::{parse, take_extra, to_raw};
use crate::gateway::{ChatRequest, HistoryItem, Role, Tool, ToolChoice};
use toolbooth::json::Value;
use toolbooth::schema::text::excerpt;

/// What the JSON of a message has if there are reasoning items of OpenAI in it.
const OPENAI_REASONING: &str = "\"openai\"";

/// The request without what a provider with this format cannot get, and with functions in place of custom tools; `None` if
/// nothing changes. The error: the model must call a tool that is left out.
pub(super) fn fit(
    request: &ChatRequest,
    format: Format,
    notes: &Notes,
) -> Result<Option<ChatRequest>> {
    let has_custom = !custom::wrapped(request, format).is_empty();
    let is_foreign = is_foreign(request, format);
    if !has_custom && !is_foreign {
        return Ok(None);
    }
    let mut fitted = if has_custom { custom::as_functions(request)? } else { request.clone() };
    if is_foreign {
        leave_out(&mut fitted, notes)?;
    }
    Ok(Some(fitted))
}

/// Whether a request was written in a different format, and has what only a provider with that format understands.
fn is_foreign(request: &ChatRequest, format: Format) -> bool {
    let is_other = request.native.as_ref().is_some_and(|native| native.format != format);
    let is_hosted = |tool: &Tool| matches!(tool, Tool::Hosted { .. });
    let has_reasoning = |item: &HistoryItem| match item {
        HistoryItem::Message { role: Role::Assistant, json } => {
            json.get().contains(OPENAI_REASONING)
        }
        HistoryItem::Message { .. } | HistoryItem::Turn(_) => false,
    };
    let has_other_choice = matches!(request.tool_choice, Some(ToolChoice::Other(_)));
    is_other
        && (has_other_choice
            || request.tools.iter().any(is_hosted)
            || request.history.iter().any(has_reasoning))
}

/// Leaves out the tools that only a provider with the client's format runs, and the reasoning that only OpenAI can read.
fn leave_out(request: &mut ChatRequest, notes: &Notes) -> Result<()> {
    let before = request.tools.len();
    request.tools.retain(|tool| match tool {
        Tool::Hosted { kind, .. } => {
            notes.drop_member(&format!("tools[] ({})", excerpt(kind)));
            false
        }
        Tool::Function(_) | Tool::Custom { .. } => true,
    });
    let none_is_left = before > 0 && request.tools.is_empty() && request.selections.is_empty();
    let is_impossible = match &request.tool_choice {
        Some(ToolChoice::Other(json)) => !json.contains("\"custom\""),
        Some(choice) => none_is_left && choice.forces_call(),
        None => false,
    };
    if is_impossible {
        let expected = "a tool that the provider of this model can call";
        return Err(GatewayError::expected("tool_choice", expected));
    }
    for item in &mut request.history {
        let HistoryItem::Message { role: Role::Assistant, json } = item else { continue };
        if !json.get().contains(OPENAI_REASONING) {
            continue;
        }
        let Value::Object(mut message) = parse(json.get(), "input")? else { continue };
        if take_extra(&mut message, "openai").is_some() {
            notes.drop_member("input[].encrypted_content");
        }
        *json = to_raw(&Value::Object(message))?;
    }
    Ok(())
}
