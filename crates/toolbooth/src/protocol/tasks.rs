//! Tasks: the capability of servers that keep calls and requests, and `/tasks/{id}` for clients of REST.

use serde::Serialize;

use super::rest::problem;
use crate::call::{Outcome, Rejection, TaskAction, TaskView, Tasks};
use crate::capability::Capability;
use crate::host::{TASKS, TaskStatus};
use crate::http::{Answer, Response};
use crate::json::{self, Rendered};
use crate::route::{EncodeRejection, Limit, Policy, Protocol, Route, RouteRequest};
use crate::settings::{CapabilitySettings, Row, VariableDoc, count};
use crate::time;

/// The capability. `serve!` adds it if a tool of the catalogue can run as a task. Requests in the background need it too.
pub static CAPABILITY: Capability = Capability {
    protocols: &[(MOUNT, &PROTOCOL)],
    settings: Some(&CapabilitySettings {
        variables: &[DOCS],
        auth_methods: &[],
        read: |settings, reader| {
            let life_ms = reader.get(&TASK_HOURS) as u64 * 60 * 60 * 1000;
            settings.extensions.insert(Tasks::new(life_ms, reader.get(&MAX_TASKS)));
        },
    }),
    start: Some(|startup| {
        startup.tasks = startup.settings.extensions.get::<Tasks>().copied();
    }),
    warnings: Some(|state, host| {
        let warning = match host.is_bound(TASKS) {
            // A request in the background says itself what is missing.
            _ if !state.pipeline.catalog.has_tasks() => return Vec::new(),
            false => {
                "The Durable Object TASKS is not bound: tools whose definition has \"task\": \"optional\" run within the request, those with \"required\" cannot run, and responses in the background are rejected. docs/STORAGE.md#tasks says how to bind it"
            }
            true if state.settings().state_keys.is_none() => {
                "STATE_KEY is not set: nothing can run as a task"
            }
            true => return Vec::new(),
        };
        vec![warning.to_owned()]
    }),
    ..Capability::new("tasks")
};

static DOCS: &[VariableDoc] = &[TASK_HOURS.doc(), MAX_TASKS.doc()];

static TASK_HOURS: Row<usize> = Row::new(
    "TASK_HOURS",
    "how long a [task](TOOLS.md#long-calls) or a response in the background is kept, in hours, 1 to 168 | `24` | the default applies",
    24,
    |text| count(text, 168, " of hours"),
);
static MAX_TASKS: Row<usize> = Row::new(
    "MAX_TASKS",
    "how many tasks of one caller, or of one network of callers without credentials, may run at the same time, 1 to 1000 | `50` | the default applies",
    50,
    |text| count(text, 1000, ""),
);

/// Where the status of tasks is.
pub(super) const MOUNT: &str = "/tasks";

/// A request of the status costs as much as a call, so that it is limited like one.
const POLICY: Policy = Policy { limit: Limit::Caller, ..Policy::CALLER };

static PROTOCOL: Protocol = Protocol {
    routes: &[Route::get("/{id}", POLICY, &status), Route::delete("/{id}", POLICY, &cancel)],
    ..Protocol::new(
        "tasks",
        "Status and results of calls that run as tasks",
        EncodeRejection::Plain(|rejection, _| problem::reject(rejection)),
    )
};

/// A task as clients of REST see it.
#[derive(Serialize)]
struct TaskDocument<'a> {
    id: &'a str,
    status: TaskStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
    created_at: String,
    updated_at: String,
    expires_at: String,
    /// The value that the tool returned.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<&'a serde_json::Value>,
    /// Why there is none: the problem that the call itself would have got.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<Rendered<'a>>,
}

/// Writes a task. A client that is to ask again learns when.
fn write(status: u16, task: &TaskView) -> Response {
    let failed = match task.outcome.as_ref().map(|(_, outcome)| outcome) {
        Some(Outcome::Failed { error, .. }) => Some(problem::failed(error)),
        Some(Outcome::Rejected(rejection)) => Some(problem::reject(rejection)),
        _ => None,
    };
    let failed = failed.as_ref().and_then(|failed| str::from_utf8(&failed.body).ok());
    let document = TaskDocument {
        id: &task.id,
        status: task.status,
        message: task.message.as_deref(),
        created_at: time::utc(task.created_ms),
        updated_at: time::utc(task.updated_ms),
        expires_at: time::utc(task.created_ms.saturating_add(task.life_ms)),
        value: match &task.outcome {
            Some((_, Outcome::Done { value, .. })) => Some(value),
            _ => None,
        },
        problem: failed.map(Rendered),
    };
    let response =
        Response::json(status, json::to_vec(&document)).with("cache-control", "no-store");
    if task.status.is_final() {
        return response;
    }
    response.with("retry-after", task.poll_ms.div_ceil(1000).to_string())
}

/// The response to a call that continues as a task (RFC 9110, 15.3.3; RFC 7240, 4.1).
pub(super) fn accepted(task: &TaskView, is_preferred: bool) -> Response {
    let response = write(202, task).with("location", format!("{MOUNT}/{}", task.id));
    if is_preferred { response.with("preference-applied", "respond-async") } else { response }
}

/// `GET /tasks/{id}`.
async fn status<'a>(request: &RouteRequest<'a>) -> Result<Answer<'a>, Rejection> {
    let task = request.context().task(request.parameter, TaskAction::Get).await?;
    Ok(write(200, &task.ok_or(UNKNOWN)?).into())
}

/// `DELETE /tasks/{id}`: cancels the task.
async fn cancel<'a>(request: &RouteRequest<'a>) -> Result<Answer<'a>, Rejection> {
    let task = request.context().task(request.parameter, TaskAction::Cancel).await?;
    task.ok_or(UNKNOWN).map(|_| Response::empty(204).into())
}

/// A task that has expired, that never was, or of a different caller: all the same.
const UNKNOWN: Rejection = Rejection::NotFound {
    hint: std::borrow::Cow::Borrowed("you have no such task, or it has expired"),
};
