//! Runs the tools of calls that passed every check, and validates their output.

use std::future::{Future, poll_fn};
use std::mem;
use std::task::Poll;

use futures_util::future::maybe_done;

use super::outcome::Outcome;
use super::pipeline::{Prepared, RequestContext};
use super::rejection::Rejection;
use super::requirements::ResolvedRequirements;
use crate::catalog::{Run, RunError, Tool};
use crate::host::{BoxFuture, Host, Level, boxed};
use crate::schema;
use crate::tool::{
    ClientCapabilities, Context, InputRequired, Notification, Stage, Step, Suspension, ToolError,
};
use crate::trace::Span;

/// What callers learn of a bug of a tool.
const TOOL_FAILED: &str = "The tool failed";

/// How a run of a tool ended.
pub(super) enum RunEnd {
    /// With the outcome of the call.
    Outcome(Outcome),
    /// With something to continue. The tool may have reported progress.
    Suspended(Suspension, Vec<Notification>),
}

impl<'a> RequestContext<'a> {
    /// Runs calls concurrently.
    pub fn run(&self, prepared: Vec<Result<Prepared<'a>, Outcome>>) -> BoxFuture<'a, Vec<Outcome>> {
        let context = *self;
        boxed(join_all(
            prepared.into_iter().map(move |call| async move { context.run_one(call).await }),
        ))
    }

    /// Runs a call that passed the checks, and records it.
    pub(super) async fn run_one(self, prepared: Result<Prepared<'a>, Outcome>) -> Outcome {
        let Self { host, calls, .. } = self;
        match prepared {
            Ok(mut prepared) => {
                let (tool, span) = (prepared.tool, calls.span(host));
                let user = prepared.user.take();
                let first = Stage::default();
                let outcome = match self.run_tool(&mut prepared, first, span.as_ref()).await {
                    RunEnd::Outcome(outcome) => outcome,
                    RunEnd::Suspended(end, _) => {
                        boxed(self.run_rest(&mut prepared, end, span.as_ref())).await
                    }
                };
                calls.record(Some(tool), outcome.summary(), (span, user), host);
                outcome
            }
            Err(outcome) => outcome,
        }
    }

    /// Runs the steps after the first one, in the same request.
    async fn run_rest(
        self,
        prepared: &mut Prepared<'a>,
        mut end: Suspension,
        span: Option<&Span>,
    ) -> Outcome {
        let tool = prepared.tool;
        while tool.task.is_some()
            && let Suspension::Checkpoint { value, after } = end
        {
            if !after.is_zero() {
                self.host.sleep(after).await;
            }
            let stage = Stage::Step(Step { checkpoint: Some(value), ..Step::default() });
            end = match self.run_tool(prepared, stage, span).await {
                RunEnd::Outcome(outcome) => return outcome,
                RunEnd::Suspended(end, _) => end,
            };
        }
        let what = "it runs in steps, but its definition has no task";
        Outcome::Failed {
            call_id: mem::take(&mut prepared.call_id),
            duration_ms: 0,
            error: faulty_tool(tool, self.host, what, ""),
            notifications: Vec::new(),
        }
    }

    /// Runs a tool once.
    pub(super) async fn run_tool(
        self,
        prepared: &mut Prepared<'a>,
        stage: Stage,
        span: Option<&Span>,
    ) -> RunEnd {
        let Self { principal, pipeline, host, .. } = self;
        let Prepared { tool, call_id, input, dialogue, resolved, .. } = prepared;
        let (tool, input) = (*tool, &mut *input);
        let variables = &pipeline.settings.tools;
        tool.defaults.fill(input);
        let started = host.now_ms();
        let context =
            Context::new(tool, principal, &resolved.credentials, dialogue, variables, host)
                .at(stage)
                .within(span)
                .heard_by(self.listener)
                .of_server(self.server_view());
        let result = match tool.run {
            Run::Function(run) => run(input, &context).await,
            Run::Http(call, run) => run(call, input, &context).await,
            Run::External(name) => match pipeline.catalog.external {
                Some(call) => call(name, input, &context).await,
                None => Err(RunError::Crashed),
            },
        };
        let duration_ms = host.now_ms().saturating_sub(started);
        let mut notifications = context.notifications.take();
        match result {
            Ok(value) if tool.output.is_valid(&(&value).into()) => {
                let call_id = mem::take(call_id);
                RunEnd::Outcome(Outcome::Done { call_id, duration_ms, value, notifications })
            }
            result => match end_without_value(tool, result, &context, resolved, &mut notifications)
            {
                Ok(end) => end,
                Err(error) => {
                    let call_id = mem::take(call_id);
                    RunEnd::Outcome(Outcome::Failed { call_id, duration_ms, error, notifications })
                }
            },
        }
    }
}

/// How a run ended that did not return a valid value. The error is that of the tool.
// Few runs do: the others need not wait until it is compiled.
#[inline(never)]
fn end_without_value(
    tool: &'static Tool,
    result: Result<serde_json::Value, RunError>,
    context: &Context<'_>,
    resolved: &ResolvedRequirements<'_>,
    notifications: &mut Vec<Notification>,
) -> Result<RunEnd, ToolError> {
    let host = context.host;
    let error = match result {
        Ok(value) => {
            let errors = schema::describe_as("value", tool.output, &(&value).into());
            let errors = errors.to_string();
            return Err(faulty_tool(
                tool,
                host,
                "its output does not match output_schema",
                &errors,
            ));
        }
        Err(RunError::Crashed) => {
            // An error during execution, whatever the function threw (OXP call-tool, "Tool Execution Errors").
            let detail = format!("{}: it crashed; the server's log has the details", tool.id());
            return Err(ToolError::new(TOOL_FAILED).developer_message(detail));
        }
        Err(RunError::Mismatch(reason)) => {
            return Err(faulty_tool(tool, host, "its types do not match its schemas", reason));
        }
        Err(RunError::TooLarge(limit)) => {
            return Err(faulty_tool(tool, host, limit.exceeded(), ""));
        }
        Err(RunError::Tool(error)) => error,
    };
    if let Some(end) = context.suspended.take() {
        return Ok(RunEnd::Suspended(end, mem::take(notifications)));
    }
    let rejected = context.rejected_token.take();
    if let Some(rejection) = rejected.and_then(|provider| resolved.token_rejected(tool, &provider))
    {
        return Ok(RunEnd::Outcome(Outcome::Rejected(rejection)));
    }
    let Some((questions, state)) = context.requested.take() else { return Err(error) };
    let required = InputRequired { tool: tool.name, questions, state };
    match required.problem() {
        Some(problem) => Err(faulty_tool(tool, host, problem, "")),
        None => {
            let capabilities = context.dialogue.capabilities;
            Ok(RunEnd::Outcome(request_input(required, capabilities, mem::take(notifications))))
        }
    }
}

/// Passes a tool's requests for input on, if the client supports all of them.
fn request_input(
    required: InputRequired,
    capabilities: ClientCapabilities,
    notifications: Vec<Notification>,
) -> Outcome {
    let lacking = required.lacking(capabilities);
    if lacking.is_empty() {
        Outcome::InputRequired { required, notifications }
    } else {
        Outcome::Rejected(Rejection::CannotAsk { name: required.tool, lacking })
    }
}

/// The error for a bug of the tool: the log has all details, the client gets only the kind of bug.
fn faulty_tool(tool: &Tool, host: &dyn Host, what: &'static str, detail: &str) -> ToolError {
    let id = tool.id();
    host.log(Level::Error, "faulty_tool", &[("tool", &id), ("what", what), ("detail", detail)]);
    ToolError::new(TOOL_FAILED).developer_message(format!("{id}: {what}"))
}

/// Waits for futures at once and returns their outputs in order. Each time that one of them wakes, it polls all: give it some
/// dozens at most. `join_all` of `futures-util` would add 2.6 KB to the Worker for its queue of many futures.
pub async fn join_all<F: Future>(futures: impl Iterator<Item = F>) -> Vec<F::Output> {
    let mut all: Vec<_> = futures.map(|future| Box::pin(maybe_done(future))).collect();
    poll_fn(|context| {
        let mut waiting = false;
        for future in &mut all {
            waiting |= future.as_mut().poll(context).is_pending();
        }
        if waiting { Poll::Pending } else { Poll::Ready(()) }
    })
    .await;
    all.iter_mut().filter_map(|future| future.as_mut().take_output()).collect()
}
