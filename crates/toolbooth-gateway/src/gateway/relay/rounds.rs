//! The loop: ask the model, decide what follows from its answer, run the calls of compiled-in tools, ask again.

use crate::gateway::answer::completion::{AssistantMessage, Completion};
use crate::gateway::conversation::{HistoryItem, ToolResult};
use crate::gateway::error::{ErrorKind, GatewayError, Result};
use crate::gateway::relay::chat::{Chat, Sender};
use crate::gateway::relay::continuation;
use crate::gateway::relay::output::{BodyOutput, OpenStream, Output, StreamOutput};
use crate::wire::{FinishReason, ToolCall};
use toolbooth::call::RequestContext;
use toolbooth::http::{Answer, BodyWriter, Response};
use toolbooth::log::CallRequest;

/// What follows from an answer.
enum Round {
    /// Its calls have run: ask the model again.
    Next(AssistantMessage),
    /// It is the last one: the answer for the client, without the calls that the gateway ran.
    Last(Box<Completion>),
}

pub(in crate::gateway) async fn answer(mut chat: Chat<'_>) -> Answer<'_> {
    if !chat.request.stream {
        return match whole(&mut chat).await {
            Ok(response) => response.into(),
            Err(error) => rejection(&chat, &error).into(),
        };
    }
    let first = match chat.run_approved().await {
        Ok(()) => chat.ask::<StreamOutput>().await,
        Err(error) => Err(error),
    };
    match first {
        // The head has waited for the first event, so that an error before it still has a status.
        Ok(first) => streamed(chat, first),
        Err(error) => failed(&chat, &error).into(),
    }
}

/// The answer as one body. It is in the log, or why there is none.
pub(in crate::gateway) async fn whole(chat: &mut Chat<'_>) -> Result<Response> {
    let result = loop_of(chat).await;
    let (status, error) = match &result {
        Ok(response) => (response.status, None),
        Err(error) => (chat.sender.front.status(error), Some(error.kind.code())),
    };
    chat.report.log(&chat.sender, status, error);
    result
}

async fn loop_of(chat: &mut Chat<'_>) -> Result<Response> {
    chat.run_approved().await?;
    let mut output = BodyOutput::default();
    let first = output.ask(chat).await?;
    run(chat, &mut output, first).await
}

pub(in crate::gateway) fn failed(chat: &Chat<'_>, error: &GatewayError) -> Response {
    let response = rejection(chat, error);
    chat.report.log(&chat.sender, response.status, Some(error.kind.code()));
    response
}

/// An error as a response. SDKs repeat a request that has failed, unless it says that they should not: tools that have run would run
/// again.
fn rejection(chat: &Chat<'_>, error: &GatewayError) -> Response {
    let response = error.response(chat.sender.front);
    match chat.report.ran.is_empty() {
        true => response,
        false => response.with("x-should-retry", "false"),
    }
}

fn streamed(mut chat: Chat<'_>, first: OpenStream) -> Answer<'_> {
    let head = Response::empty(200)
        .with("content-type", "text/event-stream")
        .with("cache-control", "no-store");
    let head = chat.report.headers(head);
    let rest: BodyWriter<'_> = Box::new(move |sink| {
        Box::pin(async move {
            let mut output = StreamOutput::new(sink, &chat, &first);
            let (status, error) = match run(&mut chat, &mut output, first).await {
                Ok(()) => (200, None),
                Err(error) => {
                    if error.kind != ErrorKind::ClientGone {
                        // workerd ends a broken stream like a complete one, so the error must be an event.
                        let _ = output.fail(&error).await;
                    }
                    (chat.sender.front.status(&error), Some(error.kind.code()))
                }
            };
            chat.report.log(&chat.sender, status, error);
        })
    });
    Answer { head, rest: Some(rest) }
}

async fn run<O: Output>(
    chat: &mut Chat<'_>,
    output: &mut O,
    mut reply: O::Reply,
) -> Result<O::Done> {
    loop {
        let completion = output.receive(chat, reply).await?;
        match chat.decide(completion).await? {
            Round::Next(message) => output.next_round(chat, message).await?,
            Round::Last(completion) => return output.finish(chat, *completion).await,
        }
        reply = output.ask(chat).await?;
    }
}

impl Chat<'_> {
    /// Checks an answer, runs the calls of compiled-in tools, and decides what follows. The error: the answer exceeds a
    /// limit, or lacks a call.
    async fn decide(&mut self, mut completion: Completion) -> Result<Round> {
        self.settle(completion.usage.as_ref()).await;
        if let Some(usage) = completion.usage.take() {
            self.report.add_usage(usage);
        }
        completion.warnings.drain(..).for_each(|warning| self.report.notes.warn(warning));
        let answered = self.answered.as_ref();
        if !answered.is_some_and(|target| self.sender.front.reads(target.format)) {
            completion.untranslated.drain(..).for_each(|it| self.report.notes.warn(it));
        }
        let calls = &completion.message.tool_calls;
        self.limits.check_calls(calls)?;
        let forced = self.request.tool_choice.as_ref().is_some_and(|it| it.forces_call());
        if calls.is_empty() && forced && self.report.rounds == 1 {
            self.lacks_call(completion.has_text)?;
        }
        let (own, clients): (Vec<_>, Vec<_>) =
            calls.iter().cloned().partition(|call| self.tools.runs(call));
        if let Some(schemas) = &self.schemas {
            schemas.check(clients.iter())?;
        }
        let all = calls.len();
        self.count_calls(all, own.len()).await?;
        self.units.next_answer();
        if own.is_empty() {
            return Ok(self.last(completion));
        }
        if completion.finish_reason == FinishReason::Length {
            self.report.notes.warn("The model reached its limit of tokens: no call ran");
            completion.message.tool_calls = clients;
            return Ok(self.last(completion));
        }
        // With calls of its own, the client decides whether there is another round.
        if clients.is_empty()
            && let Some((reason, warning)) = self.ends_before(&own)
        {
            self.report.notes.warn(warning);
            completion.finish_reason = reason;
            completion.message.tool_calls.clear();
            return Ok(self.last(completion));
        }
        self.spend(own.len()).await?;
        let results = self.run_calls(&own).await?;
        if self.report.challenge.is_some() {
            completion.finish_reason = FinishReason::Stop;
            completion.message.tool_calls.clear();
            return Ok(self.last(completion));
        }
        let Some(target) = &self.answered else { return Ok(self.last(completion)) };
        let results = continuation::in_order(&completion.message.tool_calls, results);
        let turn = HistoryItem::Turn(completion.to_turn(target.format, results));
        self.request.history.push(turn);
        if clients.is_empty() {
            return Ok(Round::Next(completion.message));
        }
        completion.message.tool_calls = clients;
        completion.finish_reason = FinishReason::ToolCalls;
        Ok(self.last(completion))
    }

    /// An answer has no call, although `tool_choice` requires one. That is an error, but not for a model that cannot be forced, if it
    /// has answered with text: the caller has paid for it.
    fn lacks_call(&self, has_text: bool) -> Result<()> {
        let message = "The model called no tool, although tool_choice requires a call";
        let target = self.answered.as_ref().filter(|it| it.cannot_be_forced(&self.request));
        let Some(target) = target else {
            return Err(GatewayError::new(ErrorKind::CallRequired, message));
        };
        let message = format!(
            "{message}: {} cannot be forced to call a tool, so it was asked with auto",
            target.name()
        );
        if !has_text {
            return Err(GatewayError::new(ErrorKind::CallRequired, message));
        }
        self.report.notes.warn(message);
        Ok(())
    }

    /// Runs the calls that the user has approved. The model gets their results. What can be known to fail fails before they run: the
    /// client's next attempt would run them again.
    async fn run_approved(&mut self) -> Result<()> {
        let Some(context) = &self.request.responses else { return Ok(()) };
        let calls: Vec<_> = context.approved.iter().map(|approved| approved.call.clone()).collect();
        if calls.is_empty() {
            return Ok(());
        }
        calls.iter().try_for_each(|call| self.tools.check_approved(call))?;
        self.limits.check_calls(&calls)?;
        self.check_attempt().await?;
        self.count_calls(calls.len(), calls.len()).await?;
        self.units.next_answer();
        self.spend(calls.len()).await?;
        self.count_request().await?;
        for result in self.run_calls(&calls).await? {
            let ToolResult { call_id, content, is_error, .. } = &result;
            continuation::fill(&mut self.request.history, call_id, &content.text(), *is_error);
        }
        Ok(())
    }

    /// Runs calls of compiled-in tools, and writes them to the log.
    async fn run_calls(&mut self, calls: &[ToolCall<'static>]) -> Result<Vec<ToolResult>> {
        let Sender { headers, principal, pipeline, host, .. } = &self.sender;
        let events = &pipeline.events;
        let recorder = events.recorder(*headers, *host);
        let context = RequestContext { calls: &recorder, ..self.sender.context() };
        let user = self.user.as_deref();
        let results = self.tools.run(calls, user, &context, &mut self.report).await?;
        let actor = events.actor(principal);
        let request = CallRequest {
            protocol: "gateway",
            caller: &events.caller(principal),
            actor: actor.as_deref(),
            client: principal.client_ref(),
            team: pipeline.settings.team_of(principal).map(|team| &*team.name),
            mcp: None,
            request_size: calls.iter().map(|call| call.arguments.text().len()).sum(),
            response_size: results.iter().map(|result| result.content.text().len()).sum(),
            status: 200,
        };
        events.write_calls(&recorder, request, *host);
        Ok(results)
    }

    /// Why the loop ends before these calls run, if it does.
    fn ends_before(&mut self, calls: &[ToolCall<'_>]) -> Option<(FinishReason, &'static str)> {
        let call =
            |call: &ToolCall<'_>| (call.name.to_string(), call.arguments.text().into_owned());
        let calls: Vec<_> = calls.iter().map(call).collect();
        let repeats = calls.len() == self.repeated.len()
            && calls.iter().all(|call| self.repeated.contains(call));
        self.repeated = calls;
        if repeats {
            return Some((
                FinishReason::Stop,
                "The loop ended because the model repeated the same calls",
            ));
        }
        (self.report.rounds >= self.max_rounds)
            .then_some((FinishReason::Length, "The loop ended because max_rounds was reached"))
    }

    /// An answer with calls ends with `tool_calls`: notes that it is incomplete.
    fn note_reason(&mut self, reason: FinishReason) {
        let warning = match reason {
            FinishReason::Length => {
                "The model reached its limit of tokens: the last call may be incomplete"
            }
            FinishReason::ContentFilter => {
                "The provider withheld a part of the answer: calls may be missing"
            }
            _ => return,
        };
        self.report.notes.warn(warning);
        self.report.finish_reason = Some(reason.as_str());
    }

    /// The answer for the client. If it has calls, the rounds before it are sealed into it.
    fn last(&mut self, mut completion: Completion) -> Round {
        self.report.client_calls = completion.message.tool_calls.len();
        if self.report.client_calls > 0 {
            self.note_reason(completion.finish_reason);
            let added = self.request.history.get(self.sent_messages..).unwrap_or_default();
            match continuation::seal(added, &completion.message.tool_calls, &self.sender) {
                None => {}
                Some(Ok(state)) => {
                    if let Some(call) = completion.message.tool_calls.first_mut() {
                        continuation::attach(call, &state);
                    }
                    // An item of Responses has it.
                    self.report.state = Some(state).filter(|_| self.request.responses.is_none());
                }
                // So the items of Responses have the results.
                Some(Err(_)) if self.request.responses.is_some() => {}
                Some(Err(warning)) => self.report.notes.warn(warning),
            }
        }
        Round::Last(Box::new(completion))
    }
}
