//! The result of a call as the model reads it: a value, or a message that starts with `Error:`.

use serde_json::Value;

use toolbooth::call::{Outcome, Rejection, did_you_mean, needs_client};
use toolbooth::protocol::truncation::{truncate, truncate_value};
use toolbooth::schema::text::excerpt;
use toolbooth::tool::ToolError;

/// The result of a tool that returns nothing (2api.ai, 8.1).
const NO_OUTPUT: &str = "Tool executed, no output";

/// The result of a call of `name`: the value, or an error that starts with `Error:` (2api.ai, 8.2).
pub(crate) fn for_model(outcome: Outcome, name: &str) -> Result<Value, String> {
    let error = match outcome {
        Outcome::Done { value, .. } => return Ok(readable(value)),
        Outcome::Failed { error, .. } => tool_error(&error),
        Outcome::InvalidInput(input) => {
            format!("Invalid arguments for tool '{}'. {input}. Please retry.", excerpt(name))
        }
        Outcome::InputRequired { required, .. } => rejected(&required.into(), name),
        Outcome::Rejected(rejection) => rejected(&rejection, name),
    };
    Err(truncate(format!("Error: {error}")))
}

/// The value as a model reads it: never empty, and not too large.
fn readable(value: Value) -> Value {
    match value {
        Value::Null => Value::from(NO_OUTPUT),
        Value::String(text) if text.is_empty() => Value::from(NO_OUTPUT),
        value => truncate_value(value),
    }
}

/// A tool's own error, with its hint for the model and whether a retry makes sense.
fn tool_error(error: &ToolError) -> String {
    let retry = match (error.can_retry, error.retry_after_ms) {
        (true, Some(ms)) => Some(format!("Please retry after {ms} ms.")),
        (true, None) => Some("Please retry.".to_owned()),
        (false, _) => None,
    };
    let lines = [Some(error.message.clone()), error.additional_prompt_content.clone(), retry];
    lines.into_iter().flatten().collect::<Vec<_>>().join("\n")
}

fn rejected(rejection: &Rejection, name: &str) -> String {
    let reason = match rejection {
        Rejection::Malformed(detail) | Rejection::OtherProtocol(detail) => return detail.clone(),
        Rejection::UnknownTool { meant, .. } | Rejection::InvalidToolId { meant } => {
            format!("There is no such tool.{}", did_you_mean(meant.as_deref(), " D"))
        }
        Rejection::UnknownVersion { .. } => "It has no such version.".to_owned(),
        Rejection::ToolNotAllowed { .. }
        | Rejection::ToolNotInKey { .. }
        | Rejection::ToolNotInTeam { .. } => "Permission denied.".to_owned(),
        Rejection::MissingScope { .. } => {
            "The caller's credentials lack a scope that it requires.".to_owned()
        }
        Rejection::MissingRequirements(missing) => {
            format!("The call lacks {}{}.", missing.things(), missing.granting())
        }
        Rejection::ToolNotConfigured { .. } => {
            "A variable or secret of the server that it reads is missing or invalid.".to_owned()
        }
        Rejection::NeedsTask { .. } => {
            "It takes longer than a call, and runs as a task only.".to_owned()
        }
        Rejection::CannotAsk { lacking, .. } => {
            format!(
                "It needs input that cannot be requested in this call: {}.",
                needs_client(lacking)
            )
        }
        _ => return format!("{}.", rejection.describe()),
    };
    format!("Tool '{}' is not available. {reason}", excerpt(name))
}
