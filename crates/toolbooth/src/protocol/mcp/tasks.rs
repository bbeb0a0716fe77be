//! Tasks (the extension `io.modelcontextprotocol/tasks`): calls that continue without their client, which asks for their state.
//! There is no stream of notifications, because nothing here keeps a connection to a client.

use serde::Serialize;

use super::client_request::{ClientRequest, RequiredCapabilities, as_map, input_response};
use super::elicitation::Elicitation;
use super::error::{ErrorCode, ErrorData, McpError};
use super::message::McpRequest;
use super::outcome::{self, CallTarget, ResultContext};
use super::response::{EmptyObject, ResultOptions, ResultType};
use crate::call::{RequestContext, TaskAction, TaskView};
use crate::host::TaskStatus;
use crate::http::Response;
use crate::json::{self, Object, Value};
use crate::time;
use crate::tool::{InputRequest, Named};

/// The name of the extension.
pub(super) const EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// Whether a client declares the extension in its capabilities.
pub(super) fn declares(capabilities: Option<&Value<'_>>) -> bool {
    let extensions = capabilities.and_then(|it| it.get("extensions"));
    extensions.is_some_and(|it| matches!(it.get(EXTENSION), Some(Value::Object(_))))
}

/// Whether calls can run as tasks here. A server that keeps only responses in the background has no tasks over MCP.
pub(super) fn are_served(context: &RequestContext<'_>) -> bool {
    context.pipeline.catalog.has_tasks() && context.keeps_tasks()
}

/// What the client wants to do.
pub(super) struct TaskRequest {
    id: String,
    action: TaskAction,
}

/// Reads a request for a task; `None` for every other method.
#[inline(never)]
pub(super) fn read(
    request: &mut McpRequest<'_>,
    context: &RequestContext<'_>,
) -> Option<Result<TaskRequest, McpError>> {
    if !matches!(&*request.method, "tasks/get" | "tasks/update" | "tasks/cancel")
        || !are_served(context)
    {
        return None;
    }
    Some(read_task(request))
}

fn read_task(request: &mut McpRequest<'_>) -> Result<TaskRequest, McpError> {
    if !declares(request.meta.client_capabilities.as_ref()) {
        return Err(undeclared("Tasks need a client that declares the extension".to_owned()));
    }
    let id = request.take_string("taskId")?.into_owned();
    let action = match &*request.method {
        "tasks/get" => TaskAction::Get,
        "tasks/cancel" => TaskAction::Cancel,
        _ => {
            let Some(Value::Object(responses)) = request.params.get("inputResponses") else {
                return Err(McpError::invalid_params("inputResponses must be an object"));
            };
            // What is no response is not taken: the question stays open.
            let answer = |(key, value): &(_, Value<'_>)| {
                Some((
                    String::from(key as &str),
                    input_response(value).filter(|_| value.as_object().is_some())?,
                ))
            };
            TaskAction::Answer(Object::iter(responses).filter_map(answer).collect())
        }
    };
    Ok(TaskRequest { id, action })
}

/// The error of a client that does not declare the extension.
pub(super) fn undeclared(message: String) -> McpError {
    let required_capabilities = RequiredCapabilities::tasks();
    McpError::new(ErrorCode::MISSING_CAPABILITY, message)
        .data(ErrorData::MissingCapabilities { required_capabilities })
}

/// Does what the client wants.
pub(super) async fn respond(
    task: TaskRequest,
    request: McpRequest<'_>,
    context: &RequestContext<'_>,
) -> Result<Response, McpError> {
    context.count(1).await?;
    let is_read = matches!(task.action, TaskAction::Get);
    let found = context.task(&task.id, task.action).await?;
    let Some(task) = found else {
        return Err(McpError::invalid_params(
            "taskId is not a task of this caller, or it has expired",
        ));
    };
    Ok(if is_read { detailed(task, request, context) } else { request.result(&EmptyObject {}) })
}

/// A task, with what its status has.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TaskResult<'a> {
    task_id: &'a str,
    status: TaskStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    status_message: Option<&'a str>,
    created_at: String,
    last_updated_at: String,
    ttl_ms: u64,
    poll_interval_ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a serde_json::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a serde_json::Value>,
    #[serde(skip_serializing_if = "<[_]>::is_empty", serialize_with = "as_map")]
    input_requests: &'a [(String, ClientRequest)],
}

impl<'a> TaskResult<'a> {
    fn new(task: &'a TaskView) -> Self {
        Self {
            task_id: &task.id,
            status: task.status,
            status_message: task.message.as_deref(),
            created_at: time::utc(task.created_ms),
            last_updated_at: time::utc(task.updated_ms),
            ttl_ms: task.life_ms,
            poll_interval_ms: task.poll_ms,
            result: None,
            error: None,
            input_requests: &[],
        }
    }
}

/// The response to a call that continues as a task.
pub(super) fn created(task: &TaskView, request: &McpRequest<'_>) -> Response {
    let options = ResultOptions { result_type: ResultType::Task, ..Default::default() };
    request.result_with(&TaskResult::new(task), options)
}

/// `tasks/get`: the result of the call is that which the call itself would have had.
fn detailed(mut task: TaskView, request: McpRequest<'_>, context: &RequestContext<'_>) -> Response {
    let questions = std::mem::take(&mut task.questions);
    let requests: Vec<_> =
        Named::<InputRequest>::into_iter(questions).map(|(key, one)| (key, one.into())).collect();
    let Some((tool, outcome)) = task.outcome.take() else {
        let result = TaskResult { input_requests: &requests, ..TaskResult::new(&task) };
        return request.result(&result);
    };
    let call = ResultContext {
        request,
        elicitation: Elicitation::default(),
        tool,
        target: CallTarget::Tool,
    };
    let mut message = message(&outcome::encode(outcome, &call, context));
    let mut member = |name: &str| message.get_mut(name).map(serde_json::Value::take);
    let (result, error) = (member("result"), member("error"));
    let (result, error) = (result.as_ref(), error.as_ref());
    call.request.result(&TaskResult { result, error, ..TaskResult::new(&task) })
}

/// The message of a response.
fn message(response: &Response) -> serde_json::Value {
    json::parse_bytes(&response.body).map(|message| (&message).into()).unwrap_or_default()
}
