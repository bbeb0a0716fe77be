//! Runs a tool for `tools/call`, for a prompt or for a resource.

use std::borrow::Cow;

use super::elicitation::Elicitation;
use super::error::{ErrorCode, McpError};
use super::headers;
use super::message::{McpRequest, TOOL_VERSION};
use super::notifications::NotificationPreferences;
use super::outcome::{CallTarget, ResultContext};
use super::response::ResultOptions;
use crate::call::{NullHandling, Rejection, RequestContext, ToolRequest, ToolSelector};
use crate::http::Response;
use crate::json::{Object, Value};
use crate::protocol::context;

/// What to do for a request.
pub(super) enum Action<'t> {
    /// Respond without running a tool.
    Respond(Response),
    /// Call a tool and encode the outcome.
    Call(Result<ToolRequest<'t>, Rejection>, Box<ResultContext>),
}

/// `tools/call`.
pub(super) fn call<'t>(
    mut request: McpRequest<'t>,
    context: &RequestContext<'_>,
) -> Result<Action<'t>, McpError> {
    let name = request.take_string("name")?;
    let selector = selector(name, request.meta.tool_version.as_ref(), context)?;
    let input = Value::Object(arguments(&mut request)?);
    run(request, context, selector, input, CallTarget::Tool)
}

/// The tool that the client means: the latest version of the name, or the version in the name or in
/// `_meta`.
fn selector<'t>(
    name: Cow<'t, str>,
    version: Option<&Value<'_>>,
    context: &RequestContext<'_>,
) -> Result<ToolSelector<'t>, McpError> {
    let version = match version {
        None => return Ok(ToolSelector::Name(name)),
        Some(Value::String(version)) => version,
        Some(_) => {
            let message = format!("_meta.{TOOL_VERSION} must be a string");
            return Err(McpError::new(ErrorCode::InvalidParams, message));
        }
    };
    let name = ToolSelector::Name(name);
    Ok(match context.resolve(&name) {
        Ok(tool) => ToolSelector::Id(format!("{}.{}@{version}", tool.toolkit, tool.tool).into()),
        // Calling it is then rejected for its name.
        Err(_) => name,
    })
}

/// Takes `arguments` out of the request. They may be absent or null.
///
/// # Errors
/// They are not an object.
pub(super) fn arguments<'t>(request: &mut McpRequest<'t>) -> Result<Object<'t>, McpError> {
    match request.params.take("arguments") {
        None | Some(Value::Null) => Ok(Object::default()),
        Some(Value::Object(arguments)) => Ok(arguments),
        Some(_) => Err(McpError::new(ErrorCode::InvalidParams, "arguments must be an object")),
    }
}

/// The call of a tool, unless the user declined what it needs.
pub(super) fn run<'t>(
    mut request: McpRequest<'t>,
    context: &RequestContext<'_>,
    selector: ToolSelector<'t>,
    input: Value<'t>,
    target: CallTarget,
) -> Result<Action<'t>, McpError> {
    let tool = context.resolve(&selector);
    let credentials = context::credentials(request.meta.context.take())?;
    if let (CallTarget::Tool, Ok(tool)) = (&target, &tool) {
        headers::check_parameters(tool, &input, context.headers, request.era())?;
    }
    let elicitation = Elicitation::read(&request, &selector, &input, &credentials, context)?;
    let dialogue = elicitation.dialogue(&request.params);
    let declined = elicitation.declined(&request.params);
    let result = ResultContext {
        era: request.era(),
        server: request.server,
        elicitation,
        notifications: NotificationPreferences::read(&request, context.headers),
        returns_content: tool.as_ref().is_ok_and(|tool| tool.content),
        target,
        id: request.id,
    };
    if let Some(declined) = declined {
        let found = tool.as_ref().ok().copied();
        context.calls.record(found, ("rejected", Some("declined")), None, context.host);
        return Ok(Action::Respond(result.error(declined, ResultOptions::default())));
    }
    let call = tool.map(|tool| ToolRequest {
        tool: ToolSelector::Resolved(tool),
        call_id: None,
        input,
        nulls: NullHandling::AsAbsent,
        credentials,
        dialogue,
    });
    Ok(Action::Call(call, Box::new(result)))
}
