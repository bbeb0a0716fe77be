//! What to do for `tools/call`, and for prompts and resources that a tool makes: the call, or a response without one.

use super::elicitation::Elicitation;
use super::error::McpError;
use super::headers;
use super::message::{Era, McpRequest, TOOL_VERSION};
use super::outcome::{CallTarget, ResultContext};
use super::response::ResultOptions;
use super::tasks::{self, TaskRequest};
use crate::call::{NullHandling, Rejection, RequestContext, TakesTask, ToolRequest, ToolSelector};
use crate::catalog::View;
use crate::http::Response;
use crate::json::{Object, Value};
use crate::protocol::context::credentials;

/// What to do for a request.
pub(super) enum Action<'t> {
    /// Respond without running a tool.
    Respond(Response),
    /// Read a view.
    Read(McpRequest<'t>, &'static View),
    /// Call a tool and encode the outcome.
    Call(Result<ToolRequest<'t>, Rejection>, Box<ResultContext<'t>>),
    /// Do something with a task.
    Task(TaskRequest, Box<McpRequest<'t>>),
}

pub(super) fn tools_call<'t>(
    mut request: McpRequest<'t>,
    context: &RequestContext<'_>,
) -> Result<Action<'t>, McpError> {
    let name = request.take_string("name")?;
    let version = request.meta.tool_version.take();
    let version = version.as_ref().map(|version| {
        let error = || McpError::invalid_params(format!("_meta.{TOOL_VERSION} must be a string"));
        version.as_str().ok_or_else(error)
    });
    let version = version.transpose()?;
    let input = arguments(&mut request)?;
    let selector = context.at_version(ToolSelector::Name(name), version);
    match context.target(selector, Value::Object(input), version) {
        Ok((selector, input)) => of_tool(request, context, selector, input, CallTarget::Tool),
        Err(rejection) => {
            let result = ResultContext {
                request,
                elicitation: Elicitation::default(),
                tool: None,
                target: CallTarget::Tool,
            };
            Ok(Action::Call(Err(rejection), Box::new(result)))
        }
    }
}

/// Takes `arguments` out of the request: an object, or nothing.
pub(super) fn arguments<'t>(request: &mut McpRequest<'t>) -> Result<Object<'t>, McpError> {
    match request.params.take("arguments") {
        None => Ok(Object::default()),
        Some(Value::Object(arguments)) => Ok(arguments),
        Some(_) => Err(McpError::invalid_params("arguments must be an object")),
    }
}

/// The call of a tool, unless the user declined what it needs.
pub(super) fn of_tool<'t>(
    mut request: McpRequest<'t>,
    context: &RequestContext<'_>,
    selector: ToolSelector<'t>,
    input: Value<'t>,
    target: CallTarget,
) -> Result<Action<'t>, McpError> {
    let tool = context.resolve(&selector);
    let credentials = credentials(request.meta.context.take())?;
    // Clients know the headers of the tool that they name, not those of the one that `call_tool` is to call.
    let is_named = !matches!(selector, ToolSelector::Resolved(_));
    if let (CallTarget::Tool, Ok(tool), true) = (&target, &tool, is_named) {
        headers::check_parameters(tool, &input, context.headers, request.era)?;
    }
    let elicitation = Elicitation::read(&request, &selector, &input, &credentials, context)?;
    let knows_tasks = request.era == Era::Modern
        && matches!(target, CallTarget::Tool)
        && tasks::declares(request.meta.client_capabilities.as_ref());
    let takes_task = if knows_tasks { TakesTask::Always } else { TakesTask::Never };
    let dialogue = elicitation.dialogue(&request.params);
    let declined = elicitation.declined(&request.params);
    let result = ResultContext { request, elicitation, tool: tool.as_ref().ok().copied(), target };
    if let Some(declined) = declined {
        context.calls.record(tool.ok(), ("rejected", Some("declined")), (None, None), context.host);
        return Ok(Action::Respond(result.error(declined, ResultOptions::default())));
    }
    let call = tool.map(|tool| ToolRequest {
        nulls: NullHandling::AS_ABSENT,
        credentials,
        takes_task,
        dialogue,
        ..ToolRequest::new(ToolSelector::Resolved(tool), input)
    });
    Ok(Action::Call(call, Box::new(result)))
}
