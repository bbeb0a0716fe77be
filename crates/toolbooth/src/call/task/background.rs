//! Requests that a capability serves in the background: their clients are answered before, and ask for the result later.

use std::fmt;

use super::job::{Job, Work};
use super::{FAILED, KEPT, LONGEST, Tasks, operate, store};
use crate::call::pipeline::RequestContext;
use crate::call::rejection::Rejection;
use crate::host::{BoxFuture, StepReport, TaskOperation, TaskRecord, TaskStatus, async_trait};
use crate::seal::StateKeys;

/// Serves the requests of a capability in the background. The capability names it in
/// [`Capability::background`](crate::Capability::background).
#[async_trait(?Send)]
pub trait BackgroundHandler: Sync {
    /// Its name, by which stored requests find it. Ids of one handler mean nothing to another.
    fn name(&self) -> &'static str;

    /// The headers of a request that it needs.
    fn headers(&self) -> &'static [&'static str];

    /// Serves a request, once: if the server is restarted meanwhile, the task has failed. Returns what the owner gets; `None` if
    /// there is nothing but the draft.
    async fn serve(&self, request: BackgroundRequest<'_>) -> Option<String>;
}

/// Shows nothing. A supertrait would link the code that shows handlers.
impl fmt::Debug for dyn BackgroundHandler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BackgroundHandler(…)")
    }
}

/// A request that is served in the background.
#[derive(Clone, Copy)]
pub struct BackgroundRequest<'a> {
    /// The name of the task.
    name: &'a str,
    /// The body.
    pub body: &'a str,
    /// The rest of it, as far as it is kept. Its caller is known again by the settings of today.
    pub context: RequestContext<'a>,
}

impl<'a> BackgroundRequest<'a> {
    pub(super) fn new(name: &'a str, body: &'a str, context: RequestContext<'a>) -> Self {
        Self { name, body, context }
    }

    /// Whether its owner has cancelled or removed it. An object that does not answer does not say so.
    pub async fn is_cancelled(&self) -> bool {
        match self.context.host.task(self.name, &TaskOperation::Get).await {
            Ok(Some(record)) => record.status.is_final(),
            Ok(None) => true,
            Err(_) => false,
        }
    }
}

/// A request in the background, as its owner sees it.
#[derive(Debug)]
pub struct BackgroundTask {
    /// Its id: 128 random bits in hexadecimal digits.
    pub id: String,
    /// Its state.
    pub state: BackgroundState,
    /// What came of it; the draft until then, and if it was cancelled or has failed.
    pub document: String,
    /// When it was created, in milliseconds since the Unix epoch.
    pub created_ms: u64,
}

/// The state of a request in the background.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BackgroundState {
    /// It is served, or will be.
    Working,
    /// The document is what came of it.
    Completed,
    /// The server has failed, for this reason if it is known.
    Failed(Option<String>),
    /// Its owner has ended it.
    Cancelled,
}

impl BackgroundTask {
    /// `None` if what is kept cannot be opened any more.
    fn new(id: &str, record: TaskRecord, keys: &StateKeys) -> Option<Self> {
        let (document, _) = keys.read(KEPT, &record.outcome?).ok()?;
        let TaskRecord { status, message, created_ms, .. } = record;
        let state = match status {
            TaskStatus::Working | TaskStatus::InputRequired => BackgroundState::Working,
            TaskStatus::Completed => BackgroundState::Completed,
            TaskStatus::Failed => {
                let reason = message.and_then(|text| Some(keys.read(KEPT, &text).ok()?.0));
                BackgroundState::Failed(reason)
            }
            TaskStatus::Cancelled => BackgroundState::Cancelled,
        };
        Some(Self { id: id.to_owned(), state, document, created_ms })
    }
}

/// A request to store.
pub(super) struct NewRequest<'a> {
    handler: &'static dyn BackgroundHandler,
    body: &'a str,
    draft: &'a str,
}

pub(super) type ServeLaterFn = for<'c> fn(
    &'c RequestContext<'_>,
    &'c Tasks,
    NewRequest<'c>,
) -> BoxFuture<'c, Result<BackgroundTask, Rejection>>;
pub(super) type ActFn = for<'c> fn(
    &'c RequestContext<'_>,
    &'static dyn BackgroundHandler,
    &'c str,
    TaskOperation,
) -> BoxFuture<'c, Result<Option<BackgroundTask>, Rejection>>;

impl RequestContext<'_> {
    /// Stores a request that `handler` serves when its client has been answered. Until then its owner sees the draft.
    ///
    /// # Errors
    /// [`Rejection::TooManyTasks`], [`Rejection::PayloadTooLarge`], [`Rejection::Unavailable`].
    pub async fn serve_later(
        &self,
        handler: &'static dyn BackgroundHandler,
        body: &str,
        draft: &str,
    ) -> Result<BackgroundTask, Rejection> {
        match &self.pipeline.tasks {
            Some(tasks) if self.keeps_tasks() => {
                (tasks.serve_later)(self, tasks, NewRequest { handler, body, draft }).await
            }
            _ => Err(Rejection::Unavailable("it keeps no tasks")),
        }
    }

    /// The caller's request with this id. `None`: the caller has no such request of `handler`.
    ///
    /// # Errors
    /// [`Rejection::Unavailable`].
    pub async fn background_task(
        &self,
        handler: &'static dyn BackgroundHandler,
        id: &str,
    ) -> Result<Option<BackgroundTask>, Rejection> {
        self.act_on_request(handler, id, TaskOperation::Get).await
    }

    /// Cancels a request, unless it has ended, and returns it.
    ///
    /// # Errors
    /// [`Rejection::Unavailable`].
    pub async fn cancel_background_task(
        &self,
        handler: &'static dyn BackgroundHandler,
        id: &str,
    ) -> Result<Option<BackgroundTask>, Rejection> {
        self.act_on_request(handler, id, TaskOperation::Cancel).await
    }

    /// Cancels and removes a request. Returns what it was.
    ///
    /// # Errors
    /// [`Rejection::Unavailable`].
    pub async fn remove_background_task(
        &self,
        handler: &'static dyn BackgroundHandler,
        id: &str,
    ) -> Result<Option<BackgroundTask>, Rejection> {
        self.act_on_request(handler, id, TaskOperation::Remove).await
    }

    async fn act_on_request(
        &self,
        handler: &'static dyn BackgroundHandler,
        id: &str,
        operation: TaskOperation,
    ) -> Result<Option<BackgroundTask>, Rejection> {
        match &self.pipeline.tasks {
            Some(tasks) => (tasks.act_on_request)(self, handler, id, operation).await,
            None => Ok(None),
        }
    }
}

pub(super) async fn serve_later(
    context: &RequestContext<'_>,
    tasks: &Tasks,
    request: NewRequest<'_>,
) -> Result<BackgroundTask, Rejection> {
    let NewRequest { handler, body, draft } = request;
    let keys = context.pipeline.request_state.as_ref().ok_or(FAILED)?;
    let seal = |name: &str, keys: &StateKeys, expires_ms| {
        let work = Work::Request { handler: handler.name().to_owned(), body: body.to_owned() };
        let draft = keys.seal(KEPT, &draft, expires_ms);
        let job = Job::new(name, context, handler.headers(), work);
        Ok((job.seal(keys, expires_ms, draft.len())?, Some(draft)))
    };
    let (id, record) = store(context, tasks, &[handler.name()], seal).await?;
    BackgroundTask::new(&id, record, keys).ok_or(FAILED)
}

pub(super) async fn act(
    context: &RequestContext<'_>,
    handler: &'static dyn BackgroundHandler,
    id: &str,
    operation: TaskOperation,
) -> Result<Option<BackgroundTask>, Rejection> {
    let found = operate(context, id, &[handler.name()], |_| operation).await?;
    let found = found.zip(context.pipeline.request_state.as_ref());
    Ok(found.and_then(|(record, keys)| BackgroundTask::new(id, record, keys)))
}

/// Serves a request, and seals what comes of it.
pub(super) async fn serve(
    handler: &str,
    request: BackgroundRequest<'_>,
    keys: &StateKeys,
    expires_ms: u64,
) -> StepReport {
    let handlers = &request.context.pipeline.background;
    let Some(handler) = handlers.iter().find(|it| it.name() == handler) else {
        return failed("The server does not serve such requests any more", keys, expires_ms);
    };
    let Some(document) = handler.serve(request).await else {
        return StepReport::End { outcome: None, failed: true, message: None };
    };
    let sealed = keys.seal(KEPT, &document, expires_ms);
    if sealed.len() > LONGEST {
        let most = LONGEST / 4 * 3;
        let message = format!("The result is too large to be kept: it may have {most} bytes");
        return failed(&message, keys, expires_ms);
    }
    StepReport::End { outcome: Some(sealed), failed: false, message: None }
}

/// The end of a request of which only the draft is left.
pub(super) fn failed(message: &str, keys: &StateKeys, expires_ms: u64) -> StepReport {
    let message = Some(keys.seal(KEPT, &message, expires_ms));
    StepReport::End { outcome: None, failed: true, message }
}
