//! A fake of the Durable Object that keeps tasks. Tests run the steps: [`FakeTasks::run`].

#![allow(clippy::expect_used, reason = "only tests use it")]

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use super::FakeHost;
use crate::Server;
use crate::host::{NewTask, StepReport, TaskOperation, TaskRecord, TaskStatus, TaskStep};
use crate::json;

/// The tasks by their names.
#[derive(Default)]
pub struct FakeTasks {
    /// Whether operations fail.
    pub fails: Cell<bool>,
    tasks: RefCell<BTreeMap<String, Kept>>,
}

struct Kept {
    owner: String,
    record: TaskRecord,
    step: TaskStep,
    /// When the next step is due.
    due_ms: u64,
}

impl FakeTasks {
    pub(super) fn operate(
        &self,
        name: &str,
        operation: &TaskOperation,
        now_ms: u64,
    ) -> Result<Option<TaskRecord>, String> {
        if self.fails.get() {
            return Err("down".to_owned());
        }
        let mut tasks = self.tasks.borrow_mut();
        tasks.retain(|_, it| it.record.expires_ms > now_ms);
        if let TaskOperation::Create(NewTask { owner, most, job, draft, life_ms }) = operation {
            let running = |it: &&Kept| it.owner == *owner && !it.record.status.is_final();
            if tasks.values().filter(running).count() >= *most {
                return Ok(None);
            }
            let record = TaskRecord {
                status: TaskStatus::Working,
                message: None,
                created_ms: now_ms,
                updated_ms: now_ms,
                expires_ms: now_ms + life_ms,
                questions: Vec::new(),
                outcome: draft.clone(),
            };
            let step = TaskStep {
                job: job.clone(),
                memory: None,
                answers: Vec::new(),
                round: 0,
                attempt: 0,
            };
            let kept = Kept { owner: owner.clone(), record, step, due_ms: now_ms };
            tasks.insert(name.to_owned(), kept);
        }
        if *operation == TaskOperation::Remove {
            return Ok(tasks.remove(name).map(|it| it.record));
        }
        let Some(Kept { record, step, .. }) = tasks.get_mut(name) else { return Ok(None) };
        match operation {
            TaskOperation::Create(_) | TaskOperation::Get | TaskOperation::Remove => {}
            TaskOperation::Cancel if record.status.is_final() => {}
            TaskOperation::Cancel => record.status = TaskStatus::Cancelled,
            TaskOperation::Answer { answers } => {
                for (key, answer) in answers {
                    let asked = record.questions.iter().position(|(asked, _)| asked == key);
                    if let Some(at) = asked {
                        record.questions.remove(at);
                        step.answers.push((key.clone(), answer.clone()));
                    }
                }
                let is_waiting = record.status == TaskStatus::InputRequired;
                if is_waiting && record.questions.is_empty() {
                    record.status = TaskStatus::Working;
                }
            }
        }
        Ok(Some(record.clone()))
    }

    /// Everything that is kept of all tasks, as text.
    pub fn kept(&self) -> String {
        let tasks = self.tasks.borrow();
        tasks.iter().map(|(name, it)| format!("{name} {:?} {:?}\n", it.record, it.step)).collect()
    }

    /// Runs one step of each task that is working and due. If `dies`, the runtime ends with the steps: nothing of them is kept.
    /// Returns how many it has run.
    pub async fn run(&self, server: &Server, host: &FakeHost, dies: bool) -> usize {
        let now_ms = host.now_ms.get();
        let is_due = |it: &Kept| it.record.status == TaskStatus::Working && it.due_ms <= now_ms;
        let due: Vec<_> = {
            let mut tasks = self.tasks.borrow_mut();
            let due = tasks.iter_mut().filter(|(_, it)| is_due(it));
            due.map(|(name, it)| {
                it.step.attempt += 1;
                (name.clone(), it.step.clone())
            })
            .collect()
        };
        for (name, step) in &due {
            let report = server.run_step(&json::to_string(step), host).await;
            if !dies {
                self.apply(name, json::read(report.as_bytes()).expect("a report"), now_ms);
            }
        }
        due.len()
    }

    /// Ends each task that is working, as one whose steps crash the instance.
    pub fn crash(&self) {
        let names: Vec<_> = self.tasks.borrow().keys().cloned().collect();
        for name in names {
            self.apply(&name, StepReport::End { outcome: None, failed: true, message: None }, 0);
        }
    }

    fn apply(&self, name: &str, report: StepReport, now_ms: u64) {
        let mut tasks = self.tasks.borrow_mut();
        let Some(Kept { record, step, due_ms, .. }) = tasks.get_mut(name) else { return };
        if record.status != TaskStatus::Working {
            return;
        }
        step.attempt = 0;
        match report {
            StepReport::Continue { memory, after_ms, message } => {
                (step.memory, record.message) = (Some(memory), message);
                *due_ms = now_ms + after_ms;
            }
            StepReport::Ask { questions, memory, message } => {
                (step.memory, record.message) = (Some(memory), message);
                step.answers.clear();
                step.round += 1;
                record.questions = questions;
                record.status = TaskStatus::InputRequired;
            }
            StepReport::End { outcome, failed, message } => {
                record.outcome = outcome.or(record.outcome.take());
                record.message = message;
                record.status = if failed { TaskStatus::Failed } else { TaskStatus::Completed };
            }
        }
    }
}
