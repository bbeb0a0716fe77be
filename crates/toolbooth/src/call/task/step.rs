//! Runs one step of a task: the whole pipeline again, without what counts requests. So a grant that was revoked, a scope that
//! the tool now needs and a token that must be refreshed have their effect in the next step.

use super::end::TaskEnd;
use super::job::{Job, Memory, NoCaller, Work};
use super::{BackgroundRequest, KEPT, LONGEST, background};
use crate::call::outcome::Outcome;
use crate::call::pipeline::{CheckOrder, Pipeline, RequestContext};
use crate::call::rejection::Rejection;
use crate::call::run::RunEnd;
use crate::catalog::Tool;
use crate::host::{Host, StepReport, TaskStep};
use crate::json::number_text;
use crate::log::{CallRecorder, CallRequest};
use crate::principal::Principal;
use crate::seal::StateKeys;
use crate::tool::{InputResponse, Named, Notification, Stage, Step, Suspension, ToolError};

/// How often a step is begun.
const MOST_ATTEMPTS: u32 = 5;

/// How long after the server could not serve a step it is begun again, in milliseconds.
const RETRY_MS: u64 = 60_000;

const REMOVED: &str = "Stopped because the caller may no longer call: the client was disconnected, or the person, the \
                       agent or the API key lost access";
const INTERRUPTED: &str = "The server was restarted while this request was running. It is not repeated, because it may \
                           already have had an effect";

/// Runs a step. What it cannot read was sealed by a key that has been removed, or is no task of this server.
pub(super) async fn run(pipeline: &Pipeline, step: TaskStep, host: &dyn Host) -> StepReport {
    let crashed = StepReport::End { outcome: None, failed: true, message: None };
    let Some(keys) = &pipeline.request_state else { return crashed };
    let Ok((job, expires_ms)) = keys.read::<Job>(KEPT, &step.job) else { return crashed };
    let memory = match &step.memory {
        None => Memory::default(),
        Some(memory) => match keys.read(KEPT, memory) {
            Ok((memory, _)) => memory,
            Err(_) => return crashed,
        },
    };
    let beside = step.job.len();
    let running = RunningStep { pipeline, host, keys, expires_ms, beside, round: step.round };
    running.run(job, memory, step).await
}

struct RunningStep<'a> {
    pipeline: &'a Pipeline,
    host: &'a dyn Host,
    keys: &'a StateKeys,
    expires_ms: u64,
    /// The bytes that the row of the memory has already.
    beside: usize,
    round: u32,
}

impl RunningStep<'_> {
    async fn run(&self, job: Job, memory: Memory, step: TaskStep) -> StepReport {
        let Self { pipeline, host, .. } = *self;
        let caller = job.caller(pipeline, host).await;
        let Job { name, headers, work, .. } = job;
        let calls = pipeline.events.recorder(&headers, host);
        let attempt = memory.begun.saturating_add(step.attempt);
        let principal = match caller {
            Ok(principal) => principal,
            Err(NoCaller::NotConfigured) => return self.later(memory, attempt),
            Err(NoCaller::Removed) => return self.removed(calls, work),
        };
        let context = RequestContext {
            query: "",
            parameter: "",
            headers: &headers,
            principal: &principal,
            pipeline,
            host,
            calls: &calls,
            // The endpoint was checked when the task began.
            only: None,
            shows_protected: false,
            listener: None,
        };
        let mut call = match work {
            Work::Call(call) => call,
            Work::Request { handler, body } => {
                let request = BackgroundRequest::new(&name, &body, context);
                let report = match attempt {
                    // It is not known what it has done: to serve it once more could cost or do everything twice.
                    2.. => {
                        calls.record(None, ("failed", Some("interrupted")), (None, None), host);
                        background::failed(INTERRUPTED, self.keys, self.expires_ms)
                    }
                    _ => background::serve(&handler, request, self.keys, self.expires_ms).await,
                };
                self.write(calls, &principal);
                return report;
            }
        };
        let request = call.request(&memory, self.answers(step.answers));
        let prepared = context.prepare_one(request, CheckOrder::RequirementsFirst).await;
        let mut prepared = match prepared {
            Ok(prepared) => prepared,
            // The store does not respond, or a new version is not configured: neither is the fault of the call.
            Err(Outcome::Rejected(
                Rejection::Unavailable(_) | Rejection::ToolNotConfigured { .. },
            )) => return self.later(memory, attempt),
            Err(outcome) => {
                self.write(calls, &principal);
                return self.end("", outcome, None);
            }
        };
        let tool = prepared.tool;
        let id = tool.id();
        if !may_begin(tool, attempt, &memory) {
            let outcome = TaskEnd::failed(
                id.clone(),
                "The server was restarted during the call; it may have had an effect".to_owned(),
            );
            calls.record(Some(tool), ("failed", Some("interrupted")), (None, prepared.user), host);
            self.write(calls, &principal);
            return self.ended(&id, outcome, None);
        }
        let stage = Stage::Step(Step { name, checkpoint: memory.checkpoint.clone() });
        let span = calls.span(host);
        let outcome = match context.run_tool(&mut prepared, stage, span.as_ref()).await {
            RunEnd::Suspended(Suspension::Checkpoint { value, after }, notifications) => {
                let memory = Memory { checkpoint: Some(value), state: memory.state, begun: 0 };
                let after_ms = u64::try_from(after.as_millis()).unwrap_or(u64::MAX);
                let message = self.progress(&notifications);
                match self.remember(&memory) {
                    Some(memory) => return StepReport::Continue { memory, after_ms, message },
                    None => self.too_much_to_remember(),
                }
            }
            // Never: there is a task.
            RunEnd::Suspended(Suspension::Begin, _) => Outcome::Rejected(Rejection::Internal),
            RunEnd::Outcome(Outcome::InputRequired { required, notifications }) => {
                match self.remember(&Memory { state: required.state, begun: 0, ..memory }) {
                    Some(memory) => {
                        let question =
                            |(key, asked)| (format!("{key}.{}", self.round + 1), self.seal(&asked));
                        return StepReport::Ask {
                            questions: required.questions.into_iter().map(question).collect(),
                            memory,
                            message: self.progress(&notifications),
                        };
                    }
                    None => self.too_much_to_remember(),
                }
            }
            RunEnd::Outcome(outcome) => outcome,
        };
        calls.record(Some(tool), outcome.summary(), (span, prepared.user.take()), host);
        self.write(calls, &principal);
        let message = match &outcome {
            Outcome::Done { notifications, .. } | Outcome::Failed { notifications, .. } => {
                self.progress(notifications)
            }
            _ => None,
        };
        self.end(&id, outcome, message)
    }

    /// What the task remembers, sealed. `None` if it does not fit into the row that also has the call.
    fn remember(&self, memory: &Memory) -> Option<String> {
        let sealed = self.seal(memory);
        (sealed.len().saturating_add(self.beside) <= LONGEST).then_some(sealed)
    }

    fn too_much_to_remember(&self) -> Outcome {
        let most = LONGEST.saturating_sub(self.beside) / 4 * 3;
        Outcome::Failed {
            call_id: None,
            duration_ms: 0,
            error: ToolError::new(format!(
                "The task has too much to remember: with this call, it may have {most} bytes"
            )),
            notifications: Vec::new(),
        }
    }

    /// The same step, later. That it was begun now does not count, because nothing of it has run.
    fn later(&self, memory: Memory, attempt: u32) -> StepReport {
        let memory = self.seal(&Memory { begun: attempt.saturating_sub(1), ..memory });
        StepReport::Continue { memory, after_ms: RETRY_MS, message: None }
    }

    /// The end of a task whose caller may no longer call.
    fn removed(&self, calls: CallRecorder, work: Work) -> StepReport {
        calls.record(None, ("rejected", Some("caller_removed")), (None, None), self.host);
        self.write(calls, &Principal::ANONYMOUS);
        match work {
            Work::Call(call) => {
                let end = TaskEnd::failed(call.tool.clone(), REMOVED.to_owned());
                self.ended(&call.tool, end, None)
            }
            Work::Request { .. } => background::failed(REMOVED, self.keys, self.expires_ms),
        }
    }

    /// The answers of the last round, by the keys that the tool knows.
    fn answers(&self, sealed: Vec<(String, String)>) -> Named<InputResponse> {
        let round = format!(".{}", self.round);
        let answer = |(key, text): (String, String)| {
            let key = key.strip_suffix(&*round)?.to_owned();
            Some((key, self.keys.read(KEPT, &text).ok()?.0))
        };
        sealed.into_iter().filter_map(answer).collect()
    }

    fn seal(&self, kept: &impl serde::Serialize) -> String {
        self.keys.seal(KEPT, kept, self.expires_ms)
    }

    /// What the tool said last about its progress, sealed.
    fn progress(&self, notifications: &[Notification]) -> Option<String> {
        progress(notifications).map(|text| self.seal(&text))
    }

    fn end(&self, tool: &str, outcome: Outcome, message: Option<String>) -> StepReport {
        self.ended(tool, TaskEnd::new(tool, outcome), message)
    }

    fn ended(&self, tool: &str, end: TaskEnd, message: Option<String>) -> StepReport {
        let failed = matches!(end, TaskEnd::Crashed);
        let outcome = Some(end.seal(tool, self.keys, self.expires_ms));
        StepReport::End { outcome, failed, message }
    }

    /// Logs what was recorded.
    fn write(&self, calls: CallRecorder, principal: &Principal) {
        let events = &self.pipeline.events;
        let caller = events.caller(principal);
        let actor = events.actor(principal);
        let report = CallRequest {
            protocol: "tasks",
            caller: &caller,
            actor: actor.as_deref(),
            client: principal.client_ref(),
            team: self.pipeline.settings.team_of(principal).map(|team| &*team.name),
            mcp: None,
            request_size: 0,
            response_size: 0,
            status: 200,
        };
        events.write_calls(&calls, report, self.host);
    }
}

/// Whether a step may be begun once more: if repeating it changes nothing more, or its tool has left a checkpoint, which is
/// made for that.
fn may_begin(tool: &Tool, attempt: u32, memory: &Memory) -> bool {
    let is_repeatable = tool.read_only || tool.idempotent || memory.checkpoint.is_some();
    attempt <= 1 || (is_repeatable && attempt <= MOST_ATTEMPTS)
}

/// What the tool said last about its progress.
fn progress(notifications: &[Notification]) -> Option<String> {
    notifications.iter().rev().find_map(|it| match it {
        Notification::Progress { done, total, message } => {
            let done = number_text(*done);
            Some(match (total.map(number_text), &**message) {
                (Some(total), "") => format!("{done} of {total}"),
                (None, "") => done,
                (Some(total), message) => format!("{done} of {total}: {message}"),
                (None, message) => message.to_owned(),
            })
        }
        Notification::Event { .. } => None,
    })
}
