//! Tasks: calls that take longer than a client waits, and run in steps.
//!
//! A step is a run of the tool's function. It ends with a value, an error, questions, or a checkpoint; after a checkpoint the
//! function runs again, with the value that it left there. Nothing else is kept between steps: a step may run in another
//! process, on another machine, and after a restart.

use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{Context, ToolError};
use crate::host::{TaskOperation, TaskStatus};
use crate::json;

/// Where a run stands.
#[derive(Debug, Clone)]
pub(crate) enum Stage {
    /// In a request, from which a task can begin.
    Request,
    /// In a step of a task, or in a request that runs all steps.
    Step(Step),
}

impl Default for Stage {
    fn default() -> Self {
        Self::Step(Step::default())
    }
}

/// A step.
#[derive(Debug, Clone, Default)]
pub(crate) struct Step {
    /// The name of the task, under which the host keeps it; empty if a request runs all steps.
    pub(crate) name: String,
    /// What the last checkpoint left.
    pub(crate) checkpoint: Option<Value>,
}

/// How a run ended that will be continued.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Suspension {
    /// A task is to begin.
    Begin,
    /// Another step is to follow.
    Checkpoint {
        /// What it needs to know.
        value: Value,
        /// How long to wait before.
        after: Duration,
    },
}

/// The longest checkpoint, as JSON in bytes.
const LONGEST_CHECKPOINT: usize = 1 << 20;

/// The task that a call runs as.
#[derive(Clone, Copy)]
pub struct Task<'c> {
    context: &'c Context<'c>,
}

impl Context<'_> {
    /// The task that this call runs as. If it does not run as one yet, and its client takes tasks, this is an error for the tool
    /// to return: the call ends here, the client gets the task, and the tool starts again as a task. What comes before should be
    /// quick, and may run twice. It is also the place for questions that are asked before the client gets a task.
    ///
    /// If there is no task, because the client or the server does not support it, all steps run within the request.
    ///
    /// The definition must have `task`.
    ///
    /// # Errors
    /// The call is to continue as a task.
    ///
    /// ```
    /// # use toolbooth::tool::{Context, ToolError};
    /// # async fn read(page: u32, context: &Context<'_>) -> Result<u64, ToolError> { Ok(1) }
    /// async fn count_words(context: &Context<'_>) -> Result<u64, ToolError> {
    ///     let task = context.task()?;
    ///     let (page, words): (u32, u64) = task.resumed().unwrap_or_default();
    ///     if page == 200 {
    ///         return Ok(words);
    ///     }
    ///     let words = words + read(page, context).await?;
    ///     context.progress(f64::from(page + 1), Some(200.0), "pages are counted");
    ///     Err(task.checkpoint((page + 1, words)))
    /// }
    /// ```
    pub fn task(&self) -> Result<Task<'_>, ToolError> {
        if let Stage::Request = self.stage {
            self.suspended.replace(Some(Suspension::Begin));
            return Err(ToolError::new("The call continues as a task"));
        }
        Ok(Task { context: self })
    }
}

impl Task<'_> {
    /// What the last [`checkpoint`](Self::checkpoint) left; `None` in the first step, or if it is not a `T`.
    pub fn resumed<T: DeserializeOwned>(&self) -> Option<T> {
        match &self.context.stage {
            Stage::Step(Step { checkpoint: Some(value), .. }) => json::read_value(&value.into()),
            _ => None,
        }
    }

    /// Ends this step, and returns the error for the tool to return. The tool then runs again and finds `value` with
    /// [`resumed`](Self::resumed), even if the server restarts in between. What a step has done when the server restarts is
    /// done again. `value` may have 1 MiB, as JSON.
    pub fn checkpoint(&self, value: impl Serialize) -> ToolError {
        self.pause(Duration::ZERO, value)
    }

    /// The same, but the next step begins after a time: to ask a service later whether it has finished.
    pub fn pause(&self, after: Duration, value: impl Serialize) -> ToolError {
        match serde_json::to_value(value) {
            Ok(value) if json::to_string(&value).len() <= LONGEST_CHECKPOINT => {
                self.context.suspended.replace(Some(Suspension::Checkpoint { value, after }));
                ToolError::new("The tool continues with its next step")
            }
            Ok(_) => ToolError::new("The task has too much to remember"),
            Err(_) => ToolError::new("The task cannot remember its state"),
        }
    }

    /// Whether the client has cancelled the task. No further step begins then, and the value of this one is dropped: a long
    /// step can ask, to end early.
    pub async fn is_cancelled(&self) -> bool {
        let Stage::Step(Step { name, .. }) = &self.context.stage else { return false };
        if name.is_empty() {
            return false;
        }
        match self.context.host.task(name, &TaskOperation::Get).await {
            Ok(Some(task)) => task.status == TaskStatus::Cancelled,
            Ok(None) => true,
            // Unknown; the next step will know.
            Err(_) => false,
        }
    }
}
