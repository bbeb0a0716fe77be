//! `completion/complete`: the values that an argument can have and that begin as the user has begun.

use super::message::McpRequest;
use super::prompts;
use super::reply::{Code, Error, members};
use super::resources;
use crate::call::RequestContext;
use crate::http::Response;
use crate::json::{self, Value};

/// The most values that the protocol lets an answer have.
const MOST: usize = 100;

/// The values of a prompt's argument, where its definition lists them, or of a tool's id in the
/// address of a resource.
pub(super) fn complete(
    request: &McpRequest<'_>,
    context: &RequestContext<'_>,
) -> Result<Response, Error> {
    let text = |pointer: &'static str| {
        let (first, rest) = pointer.split_once('/').unwrap_or((pointer, ""));
        let value = request.params.get(first).and_then(|value| value.get(rest));
        value.and_then(Value::as_str).ok_or_else(|| {
            Error::new(
                Code::InvalidParams,
                format!("{} must be a string", pointer.replace('/', ".")),
            )
        })
    };
    let (argument, begun) = (text("argument/name")?, text("argument/value")?);
    let values: Vec<String> = match text("ref/type")? {
        "ref/prompt" => {
            let (_, prompt) = prompts::find(text("ref/name")?, context)?;
            let argument = prompt.arguments.into_iter().find(|one| one.name == argument);
            argument.map(|argument| argument.values).unwrap_or_default()
        }
        "ref/resource" if text("ref/uri")? == resources::TEMPLATE && argument == "id" => {
            let allowed = context.pipeline.catalog.tools.iter();
            let allowed = allowed.filter(|tool| context.allows(tool));
            allowed.map(|tool| tool.id()).collect()
        }
        "ref/resource" => Vec::new(),
        _ => {
            let message = "ref.type must be ref/prompt or ref/resource";
            return Err(Error::new(Code::InvalidParams, message));
        }
    };
    // Ids and names have no letters but those of ASCII.
    let fits = |value: &String| {
        value.get(..begun.len()).is_some_and(|start| start.eq_ignore_ascii_case(begun))
    };
    let fitting: Vec<_> = values.into_iter().filter(fits).collect();
    let told = fitting.get(..MOST).unwrap_or(&fitting);
    let has_more = told.len() < fitting.len();
    let completion = json::object([
        ("values", told.into()),
        ("total", fitting.len().into()),
        ("hasMore", has_more.into()),
    ]);
    Ok(request.complete(&members(&json::object([("completion", completion)]))))
}
