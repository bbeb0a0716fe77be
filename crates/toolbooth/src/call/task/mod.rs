//! Calls that run as tasks: they continue without a client, which asks for their state until they have ended.
//!
//! - `job`: the call or the request as it is kept, sealed;
//! - `step`: runs one step of it;
//! - `end`: its outcome as it is kept, sealed;
//! - `background`: requests that a capability serves as tasks, without calls of their own;
//! - here: how a call becomes a task, and what its owner can do with it.
//!
//! The name under which the host keeps a task is a hash of its id, its owner and, for a request, its handler. So the same id leads
//! another caller to a name under which there is nothing.

mod background;
mod end;
mod job;
mod step;

use super::outcome::Outcome;
use super::pipeline::{Pipeline, Prepared, RequestContext};
use super::rejection::Rejection;
use super::run::RunEnd;
use super::{CheckOrder, ToolRequest};
use crate::catalog::Tool;
use crate::host::{
    BoxFuture, Host, Level, NewTask, StepReport, TASKS, TaskOperation, TaskRecord, TaskStatus,
    TaskStep, boxed,
};
use crate::json;
use crate::principal::Principal;
use crate::seal::{StateKeys, TokenPurpose};
use crate::tool::{InputRequest, InputResponse, Named, Stage};

pub use background::{BackgroundHandler, BackgroundRequest, BackgroundState, BackgroundTask};
use end::TaskEnd;

/// The longest sealed text, in bytes: a row of a Durable Object may have 2 MB.
const LONGEST: usize = 1_900_000;
/// Names of tasks, and of the objects that count them.
const NAME: TokenPurpose = TokenPurpose::new("task-name");
/// What a task keeps.
const KEPT: TokenPurpose = TokenPurpose::stored("task", LONGEST);

/// How long clients should wait before they ask for the state of a task again, in milliseconds.
const POLL_MS: u64 = 1_000;

/// What keeps and runs tasks. The functions are pointers, so that their code is linked only with the capability `TASKS`.
#[derive(Debug, Clone, Copy)]
pub struct Tasks {
    /// How long a task is kept, in milliseconds.
    pub(crate) life_ms: u64,
    /// How many tasks of one caller may run at the same time.
    pub(crate) most: usize,
    begin: BeginFn,
    act: ActFn,
    serve_later: background::ServeLaterFn,
    act_on_request: background::ActFn,
    pub(crate) run_step: RunStepFn,
}

type BeginFn = for<'a, 'c> fn(
    RequestContext<'a>,
    &'c Tasks,
    &'c Prepared<'a>,
) -> BoxFuture<'c, Result<TaskView, Rejection>>;
type ActFn = for<'c> fn(
    &'c RequestContext<'_>,
    &'c str,
    TaskAction,
) -> BoxFuture<'c, Result<Option<TaskView>, Rejection>>;
type RunStepFn = for<'c> fn(&'c Pipeline, TaskStep, &'c dyn Host) -> BoxFuture<'c, StepReport>;

impl Tasks {
    /// Tasks that are kept for `life_ms` milliseconds, at most so many of one caller at the same time.
    pub(crate) fn new(life_ms: u64, most: usize) -> Self {
        Self {
            life_ms,
            most,
            begin: |context, tasks, prepared| Box::pin(begin(context, tasks, prepared)),
            act: |context, id, action| Box::pin(act(context, id, action)),
            serve_later: |context, tasks, request| {
                Box::pin(background::serve_later(context, tasks, request))
            },
            act_on_request: |context, handler, id, operation| {
                Box::pin(background::act(context, handler, id, operation))
            },
            run_step: |pipeline, step, host| Box::pin(step::run(pipeline, step, host)),
        }
    }
}

/// What a call gave a client that takes tasks.
pub(crate) enum Answered {
    /// The outcome.
    Outcome(Outcome),
    /// A task, which is stored.
    Task(TaskView),
}

/// What the owner of a task does with it.
pub(crate) enum TaskAction {
    Get,
    Answer(Named<InputResponse>),
    Cancel,
}

/// A task as its owner sees it.
#[derive(Debug)]
pub(crate) struct TaskView {
    pub(crate) id: String,
    pub(crate) status: TaskStatus,
    pub(crate) message: Option<String>,
    pub(crate) created_ms: u64,
    pub(crate) updated_ms: u64,
    /// How long it is kept since it was created.
    pub(crate) life_ms: u64,
    /// How long to wait before the next look at it.
    pub(crate) poll_ms: u64,
    pub(crate) questions: Named<InputRequest>,
    /// What came of it, with the tool, if it has ended with an outcome.
    pub(crate) outcome: Option<(Option<&'static Tool>, Outcome)>,
}

impl TaskView {
    fn new(id: String, record: TaskRecord, pipeline: &Pipeline, keys: &StateKeys) -> Self {
        let TaskRecord { status, message, created_ms, updated_ms, expires_ms, .. } = record;
        let open = |text: &str| keys.read(KEPT, text).ok();
        let question = |(key, text): (String, String)| Some((key, open(&text)?.0));
        let message = message.and_then(|text| Some(keys.read(KEPT, &text).ok()?.0));
        let outcome = match (&record.outcome, status) {
            (Some(text), _) => keys.read::<TaskEnd>(KEPT, text).ok().map(|(end, _)| end),
            (None, TaskStatus::Failed) => Some(TaskEnd::Crashed),
            (None, _) => None,
        };
        Self {
            id,
            status,
            message,
            created_ms,
            updated_ms,
            life_ms: expires_ms.saturating_sub(created_ms),
            poll_ms: POLL_MS,
            questions: record.questions.into_iter().filter_map(question).collect(),
            outcome: outcome.map(|end| end.into_outcome(pipeline.catalog)),
        }
    }
}

impl<'a> RequestContext<'a> {
    /// Whether the server can keep tasks.
    pub fn keeps_tasks(&self) -> bool {
        let Pipeline { tasks, request_state, .. } = self.pipeline;
        tasks.is_some() && request_state.is_some() && self.host.is_bound(TASKS)
    }

    /// Serves one call, like [`call`](Self::call): if its client takes tasks and the tool can run as one, perhaps with a task.
    ///
    /// # Errors
    /// As of [`call`](Self::call); also [`Rejection::Unavailable`] if the task cannot be stored, and
    /// [`Rejection::TooManyTasks`].
    pub(crate) fn call_or_begin(
        &self,
        call: Result<ToolRequest<'a>, Rejection>,
    ) -> BoxFuture<'a, Result<Answered, Rejection>> {
        let context = *self;
        Box::pin(async move {
            context.count_calls(1).await?;
            let prepared = context.prepare_one(call, CheckOrder::RequirementsFirst).await;
            match (prepared, &context.pipeline.tasks) {
                (Ok(prepared), Some(tasks))
                    if prepared.takes_task && prepared.tool.task.is_some() =>
                {
                    boxed(context.begin(prepared, tasks)).await
                }
                (prepared, _) => Ok(Answered::Outcome(context.run_one(prepared).await)),
            }
        })
    }

    /// Runs a function until it wants a task; a tool without a function here is a task from the beginning.
    async fn begin(
        self,
        mut prepared: Prepared<'a>,
        tasks: &'a Tasks,
    ) -> Result<Answered, Rejection> {
        let Self { host, calls, .. } = self;
        if !self.keeps_tasks() {
            if prepared.tool.bindings.contains(&TASKS) {
                return Err(Rejection::Unavailable("STATE_KEY is not set, and this tool needs it"));
            }
            return Ok(Answered::Outcome(self.run_one(Ok(prepared)).await));
        }
        let (tool, span) = (prepared.tool, calls.span(host));
        if tool.run.begins_task()
            && let RunEnd::Outcome(outcome) =
                self.run_tool(&mut prepared, Stage::Request, span.as_ref()).await
        {
            calls.record(Some(tool), outcome.summary(), (span, prepared.user), host);
            return Ok(Answered::Outcome(outcome));
        }
        let begun = (tasks.begin)(self, tasks, &prepared).await;
        let result = match &begun {
            Ok(_) => ("task", None),
            Err(rejection) => ("rejected", Some(rejection.describe().kind.code())),
        };
        calls.record(Some(tool), result, (span, prepared.user.take()), host);
        begun.map(Answered::Task)
    }

    /// Does something with a task of the caller. `None`: the caller has no such task.
    ///
    /// # Errors
    /// [`Rejection::Unavailable`].
    pub(crate) async fn task(
        &self,
        id: &str,
        action: TaskAction,
    ) -> Result<Option<TaskView>, Rejection> {
        match &self.pipeline.tasks {
            Some(tasks) => (tasks.act)(self, id, action).await,
            None => Ok(None),
        }
    }
}

const FAILED: Rejection = Rejection::Unavailable("the object that keeps tasks does not respond");

fn failed(problem: &str, host: &dyn Host) -> Rejection {
    host.log(Level::Error, "tasks", &[("problem", problem)]);
    FAILED
}

/// The part of a task's name that is its owner's.
fn owner(principal: &Principal) -> String {
    json::to_string(&principal.identity())
}

/// Stores a task under the hash of its id, its owner and, for a request, what serves it. `seal` makes the sealed job, and
/// perhaps a draft of the outcome, of that name and the time when the task expires. Returns the id too.
async fn store(
    context: &RequestContext<'_>,
    tasks: &Tasks,
    kind: &[&str],
    seal: impl FnOnce(&str, &StateKeys, u64) -> Result<(String, Option<String>), Rejection>,
) -> Result<(String, TaskRecord), Rejection> {
    let RequestContext { pipeline, host, principal, .. } = *context;
    let keys = pipeline.request_state.as_ref().ok_or(FAILED)?;
    let random = host.random_16().map_err(|_| Rejection::Unavailable("it has no random bytes"))?;
    let id = format!("{:032x}", u128::from_be_bytes(random));
    let owner = owner(principal);
    let name = keys.hash(NAME, &[&[owner.as_str(), id.as_str()], kind].concat());
    let Tasks { life_ms, most, .. } = *tasks;
    let (job, draft) = seal(&name, keys, host.now_ms().saturating_add(life_ms))?;
    // As the rate limit counts: callers without credentials are counted by network.
    let owner = keys.hash(NAME, &[&context.limiter_key()]);
    let new = TaskOperation::Create(NewTask { owner, most, job, draft, life_ms });
    let stored = host.task(&name, &new).await.map_err(|problem| failed(&problem, host))?;
    stored.map(|record| (id, record)).ok_or(Rejection::TooManyTasks { most })
}

/// Runs an operation of a task of the caller, if there is one.
async fn operate(
    context: &RequestContext<'_>,
    id: &str,
    kind: &[&str],
    operation: impl FnOnce(&StateKeys) -> TaskOperation,
) -> Result<Option<TaskRecord>, Rejection> {
    let RequestContext { pipeline, host, principal, .. } = *context;
    let Some(keys) = pipeline.request_state.as_ref().filter(|_| context.keeps_tasks()) else {
        return Ok(None);
    };
    if id.is_empty() || id.len() > LONGEST_ID {
        return Ok(None);
    }
    let (owner, operation) = (owner(principal), operation(keys));
    // A task that the previous key has named is found under that name.
    for name in keys.hashes(NAME, &[&[owner.as_str(), id], kind].concat()).iter() {
        let found = host.task(name, &operation).await.map_err(|problem| failed(&problem, host))?;
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

/// Stores a call.
async fn begin(
    context: RequestContext<'_>,
    tasks: &Tasks,
    prepared: &Prepared<'_>,
) -> Result<TaskView, Rejection> {
    let pipeline = context.pipeline;
    let keys = pipeline.request_state.as_ref().ok_or(FAILED)?;
    let seal = |name: &str, keys: &StateKeys, expires_ms| {
        let job = job::of_call(name, prepared, &context);
        Ok((job.seal(keys, expires_ms, 0)?, None))
    };
    let (id, record) = store(&context, tasks, &[], seal).await?;
    Ok(TaskView::new(id, record, pipeline, keys))
}

/// The longest id that is looked up.
const LONGEST_ID: usize = 64;

async fn act(
    context: &RequestContext<'_>,
    id: &str,
    action: TaskAction,
) -> Result<Option<TaskView>, Rejection> {
    let pipeline = context.pipeline;
    let operation = |keys: &StateKeys| match action {
        TaskAction::Get => TaskOperation::Get,
        TaskAction::Cancel => TaskOperation::Cancel,
        TaskAction::Answer(answers) => {
            let seal = |(key, answer)| (key, keys.seal(KEPT, &answer, u64::MAX));
            TaskOperation::Answer { answers: answers.into_iter().map(seal).collect() }
        }
    };
    let found = operate(context, id, &[], operation).await?;
    let view = |(record, keys)| TaskView::new(id.to_owned(), record, pipeline, keys);
    Ok(found.zip(pipeline.request_state.as_ref()).map(view))
}
