//! Tasks: calls that take longer than their clients wait. The host keeps them, and runs their steps.

use serde::{Deserialize, Serialize};

use super::{BoxFuture, Host};
use crate::json;

/// The name of the Durable Object binding, which is optional.
pub const TASKS: &str = "TASKS";

/// Keeps tasks, and runs their steps with [`Server::run_step`](crate::Server::run_step) until they have ended, whether or not
/// a client is connected. What it keeps is sealed: it can read neither inputs, nor credentials, nor results.
pub trait Tasks {
    /// Runs an operation ([`TaskOperation`] as JSON) of the task that has this name, and returns the task as it is afterwards
    /// ([`TaskRecord`] as JSON). `null`: there is no such task, or it has expired; for [`TaskOperation::Create`], its owner has too
    /// many. A task that is returned is stored.
    ///
    /// # Errors
    /// The object does not respond: the reason, for the log. The operation may have been carried out.
    fn operate<'a>(
        &'a self,
        name: &'a str,
        operation: &'a str,
    ) -> BoxFuture<'a, Result<String, String>>;
}

/// No methods of the trait: those are linked by every Worker, whether it calls them or not.
impl dyn Host + '_ {
    /// See [`Tasks::operate`].
    ///
    /// # Errors
    /// As of [`Tasks::operate`].
    pub(crate) async fn task(
        &self,
        name: &str,
        operation: &TaskOperation,
    ) -> Result<Option<TaskRecord>, String> {
        let task = self.operate(name, &json::to_string(operation)).await?;
        json::read(task.as_bytes()).ok_or_else(|| "its answer is malformed".to_owned())
    }
}

/// What is done with a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum TaskOperation {
    /// Stores a new task, of which the first step runs at once.
    Create(NewTask),
    /// Reads it.
    Get,
    /// Answers questions. Keys that are not asked for are ignored; when none is left, the next step runs.
    Answer {
        /// Sealed answers by the keys of the questions.
        answers: Vec<(String, String)>,
    },
    /// Ends it. Without effect if it has ended.
    Cancel,
    /// Ends and removes it. The task that is returned is not stored any more.
    Remove,
}

/// A task to store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewTask {
    /// The name of the object that counts the tasks of the owner, or of the network of callers without credentials.
    pub owner: String,
    /// How many tasks of the owner may run at the same time.
    pub most: usize,
    /// The sealed call or request.
    pub job: String,
    /// The sealed outcome that it has until its steps leave another one.
    pub draft: Option<String>,
    /// How long the task is kept, in milliseconds.
    pub life_ms: u64,
}

/// The state of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskStatus {
    /// A step runs, or will.
    Working,
    /// It waits for answers.
    InputRequired,
    /// It has an outcome: a value, or the error of the tool.
    Completed,
    /// The server has failed.
    Failed,
    /// Its owner has ended it.
    Cancelled,
}

impl TaskStatus {
    /// Whether it does not change any more.
    pub fn is_final(self) -> bool {
        !matches!(self, Self::Working | Self::InputRequired)
    }
}

/// A task as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskRecord {
    /// Its state.
    pub status: TaskStatus,
    /// What the tool said last about its progress, sealed.
    #[serde(default)]
    pub message: Option<String>,
    /// When it was created, in milliseconds since the Unix epoch.
    pub created_ms: u64,
    /// When it changed last.
    pub updated_ms: u64,
    /// When it is deleted.
    pub expires_ms: u64,
    /// Its open questions, sealed, by key.
    #[serde(default)]
    pub questions: Vec<(String, String)>,
    /// Its sealed outcome, or the draft of one.
    #[serde(default)]
    pub outcome: Option<String>,
}

/// A step to run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskStep {
    /// The sealed call or request.
    pub job: String,
    /// What the last step has left for this one, sealed.
    #[serde(default)]
    pub memory: Option<String>,
    /// The sealed answers to the questions of the last step, by key.
    #[serde(default)]
    pub answers: Vec<(String, String)>,
    /// How often the task has asked.
    pub round: u32,
    /// How often this step was begun, this time included: more than once if the object or the runtime was restarted.
    pub attempt: u32,
}

/// What follows a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "then", rename_all = "snake_case")]
pub enum StepReport {
    /// Another step.
    Continue {
        /// What it needs to know, sealed.
        memory: String,
        /// How many milliseconds to wait before.
        after_ms: u64,
        /// What the tool said about its progress, sealed.
        message: Option<String>,
    },
    /// Answers, and then another step.
    Ask {
        /// Sealed questions by key. No key repeats within a task.
        questions: Vec<(String, String)>,
        /// What the next step needs to know, sealed.
        memory: String,
        /// What the tool said about its progress, sealed.
        message: Option<String>,
    },
    /// Nothing.
    End {
        /// The sealed outcome. Without one, the draft stays.
        outcome: Option<String>,
        /// Whether the server has failed.
        failed: bool,
        /// What the tool said about its progress, sealed.
        message: Option<String>,
    },
}

impl StepReport {
    /// Ends a task that cannot go on, as JSON: what a Worker without the capability `TASKS` reports.
    pub const FAILED: &str = r#"{"then":"end","outcome":null,"failed":true,"message":null}"#;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_of_a_worker_without_tasks_is_one() {
        let report = StepReport::End { outcome: None, failed: true, message: None };
        assert_eq!(json::to_string(&report), StepReport::FAILED);
    }
}
