//! What a model is told of a call.

use serde_json::Value;

use crate::call::{Outcome, Rejection, needs_client};
use crate::json;
use crate::text::excerpt;
use crate::tool::ToolError;

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
        Outcome::InvalidInput(input) => {
            format!("Invalid arguments for tool '{}'. {input}. Please retry.", excerpt(name))
        }
        Outcome::InputRequired { required, .. } => rejected(&required.into(), name),
        Outcome::Rejected(rejection) => rejected(&rejection, name),
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

/// What the model reads of a call that did not run.
fn rejected(rejection: &Rejection, name: &str) -> String {
    let why = match rejection {
        Rejection::Malformed(detail) => return detail.clone(),
        Rejection::UnknownTool { .. } | Rejection::InvalidToolId => {
            "There is no such tool.".to_owned()
        }
        Rejection::UnknownVersion { .. } => "It has no such version.".to_owned(),
        Rejection::ToolNotAllowed { .. } => "Permission denied.".to_owned(),
        Rejection::MissingScope { .. } => {
            "The caller's credentials lack a scope that it requires.".to_owned()
        }
        Rejection::MissingRequirements(missing) => {
            format!("The call lacks {}{}.", missing.things(), missing.granting())
        }
        Rejection::CannotAsk { lacking, .. } => {
            format!(
                "It needs an answer that this protocol cannot deliver: {}.",
                needs_client(lacking)
            )
        }
        Rejection::Unavailable(_)
        | Rejection::NotFound
        | Rejection::NotServed(_)
        | Rejection::MethodNotAllowed { .. }
        | Rejection::ForbiddenOrigin
        | Rejection::PayloadTooLarge { .. }
        | Rejection::UnsupportedMediaType
        | Rejection::InvalidJson(_)
        | Rejection::UnsupportedVersion { .. }
        | Rejection::Unauthenticated { .. }
        | Rejection::TooManyRequests { .. }
        | Rejection::Internal => return format!("{}.", rejection.describe()),
    };
    format!("Tool '{}' is not available. {why}", excerpt(name))
}
