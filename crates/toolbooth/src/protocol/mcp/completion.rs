//! `completion/complete`: the values of an argument that begin with what the user has typed.

use serde::Serialize;

use super::error::McpError;
use super::message::McpRequest;
use super::{documentation, prompts};
use crate::call::RequestContext;
use crate::http::Response;
use crate::json::Value;

/// The most values that MCP allows in a response.
const MAX_VALUES: usize = 100;

#[derive(Serialize)]
struct CompleteResult<'a> {
    completion: Completion<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Completion<'a> {
    values: &'a [String],
    total: usize,
    has_more: bool,
}

/// Completes a prompt's argument, if its definition lists values, or a tool's id in the address of its documentation.
#[inline(never)]
pub(super) fn complete(
    request: &McpRequest<'_>,
    context: &RequestContext<'_>,
) -> Result<Response, McpError> {
    let string = |object: &str, member: &str| {
        let value = request.params.get(object).and_then(|value| value.get(member));
        let value = value.and_then(Value::as_str);
        value.ok_or_else(|| McpError::invalid_params(format!("{object}.{member} must be a string")))
    };
    let (argument, typed) = (string("argument", "name")?, string("argument", "value")?);
    let values: Vec<String> = match string("ref", "type")? {
        "ref/prompt" => {
            let (_, prompt) = prompts::find(string("ref", "name")?, context)?;
            let argument = prompt.arguments.into_iter().find(|one| one.name == argument);
            argument.map(|argument| argument.values).unwrap_or_default()
        }
        "ref/resource" if string("ref", "uri")? == documentation::TEMPLATE && argument == "id" => {
            let allowed = context.pipeline.catalog.tools.iter();
            allowed.filter(|tool| context.allows(tool)).map(|tool| tool.id()).collect()
        }
        "ref/resource" => Vec::new(),
        _ => return Err(McpError::invalid_params("ref.type must be ref/prompt or ref/resource")),
    };
    // Ids and names are ASCII.
    let matches = |value: &String| {
        value.get(..typed.len()).is_some_and(|start| start.eq_ignore_ascii_case(typed))
    };
    let matching: Vec<_> = values.into_iter().filter(matches).collect();
    let values = matching.get(..MAX_VALUES).unwrap_or(&matching);
    let completion =
        Completion { values, total: matching.len(), has_more: values.len() < matching.len() };
    Ok(request.result(&CompleteResult { completion }))
}
