//! What a model is told of a call.

use serde_json::Value;

use crate::call::{Outcome, Rejection, asks_back};

use crate::tool::ToolError;

use crate::json;
use crate::text::excerpt;

/// The largest result in bytes (2api.ai, 8.3).
const LARGEST: usize = 64 * 1024;
/// How much of a larger one is kept.
const KEPT: usize = 60_000;
const CUT: &str = "\n\n[Truncated: Result exceeded 64KB limit]";
/// What a tool without a word to say leads to (2api.ai, 8.1).
const EMPTY: &str = "Tool executed, no output";

/// The value of a call of `name`, or a text that begins with `Error:` (2api.ai, 8.2).
pub(super) fn tell(outcome: Outcome, name: &str) -> Result<Value, String> {
    let error = match outcome {
        Outcome::Done { value, .. } => return Ok(bounded(value)),
        Outcome::Failed { error, .. } => failed(&error),
        Outcome::Invalid(input) => {
            format!("Invalid arguments for tool '{}'. {input}. Please retry.", excerpt(name))
        }
        Outcome::Asks { asked, .. } => rejected(asked.into(), name),
        Outcome::Refused(rejection) => rejected(rejection, name),
    };
    Err(cut(format!("Error: {error}")))
}

/// The value itself where it says something and is not too large, else a text in its place.
fn bounded(value: Value) -> Value {
    match value {
        Value::Null => Value::from(EMPTY),
        Value::String(text) if text.is_empty() => Value::from(EMPTY),
        Value::String(text) => Value::String(cut(text)),
        Value::Bool(_) | Value::Number(_) => value,
        value => {
            let text = json::text(&value);
            if text.len() > LARGEST { Value::String(cut(text)) } else { value }
        }
    }
}

/// Keeps the beginning of a text that is too large, up to a whole character, and says so.
pub(super) fn cut(mut text: String) -> String {
    if text.len() > LARGEST {
        text.truncate(text.floor_char_boundary(KEPT));
        text.push_str(CUT);
    }
    text
}

/// A tool's own words, with what helps the model and whether it may try again.
fn failed(error: &ToolError) -> String {
    let retry = match (error.can_retry, error.retry_after_ms) {
        (true, Some(ms)) => Some(format!("Please retry after {ms} ms.")),
        (true, None) => Some("Please retry.".to_owned()),
        (false, _) => None,
    };
    let lines = [Some(error.message.clone()), error.additional_prompt_content.clone(), retry];
    lines.into_iter().flatten().collect::<Vec<_>>().join("\n")
}

fn rejected(rejection: Rejection, name: &str) -> String {
    let not_available = |why: &str| format!("Tool '{}' is not available. {why}", excerpt(name));
    match rejection {
        Rejection::Malformed(detail) => detail,
        Rejection::UnknownTool { .. } | Rejection::InvalidToolId => {
            not_available("There is no such tool.")
        }
        Rejection::NoSuchVersion { .. } => not_available("It has no such version."),
        Rejection::Forbidden { .. } => not_available("Permission denied."),
        Rejection::MissingScope { .. } => {
            not_available("The caller's credentials lack a scope that it requires.")
        }
        Rejection::MissingRequirements(missing) => {
            not_available(&format!("The call lacks {}{}.", missing.things(), missing.granting()))
        }
        Rejection::Unanswerable { lacking, .. } => not_available(&format!(
            "It needs an answer that this protocol cannot bring. {}.",
            asks_back(&lacking)
        )),
        Rejection::Unavailable(detail) => {
            format!("The tool server is temporarily unavailable: {detail}.")
        }
        // None of these is said of a call, only of requests.
        Rejection::NotFound
        | Rejection::MethodNotAllowed { .. }
        | Rejection::ForbiddenOrigin
        | Rejection::TooLarge { .. }
        | Rejection::NotJson
        | Rejection::InvalidJson(_)
        | Rejection::UnsupportedVersion { .. }
        | Rejection::Unauthenticated { .. }
        | Rejection::TooManyRequests { .. }
        | Rejection::Failed => "The call was not run.".to_owned(),
    }
}
