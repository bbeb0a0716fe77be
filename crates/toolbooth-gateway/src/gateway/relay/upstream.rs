//! Requests to providers: attempts, fallback to other models, and the first event of a stream.

use std::time::Duration;

use crate::gateway::error::{ErrorKind, GatewayError, Result};
use crate::gateway::format::adapter::TranslateOptions;
use crate::gateway::format::adapter::errors::decode_error;
use crate::gateway::ids::IdSource;
use crate::gateway::limits::cost::Hold;
use crate::gateway::notes::Notes;
use crate::gateway::relay::chat::Chat;
use crate::gateway::relay::optional_members::{Outgoing, RejectedMembers};
use crate::gateway::relay::output::Output;
use crate::gateway::relay::plan::Target;
use crate::gateway::relay::report::Attempt;
use toolbooth::budget::Unit;
use toolbooth::host::{Host, HttpRequest, HttpResponse};
use toolbooth::secret::Secret;

/// The largest answer that is not a stream, in bytes.
const MAX_ANSWER: usize = 8 << 20;
/// The longest `Retry-After` that the gateway waits for itself.
const LONGEST_WAIT_MS: u64 = 5_000;
/// The first wait between two attempts without `Retry-After`. Each further one is twice as long.
const FIRST_WAIT_MS: u64 = 200;

/// An attempt to get an answer.
pub(in crate::gateway) struct Exchange<'e, 'c> {
    pub(in crate::gateway) chat: &'e Chat<'c>,
    pub(in crate::gateway) target: &'e Target<'c>,
    pub(in crate::gateway) request: HttpRequest<'static>,
    /// For calls to which the provider gives no id.
    pub(in crate::gateway) ids: IdSource,
}

pub(in crate::gateway) fn is_success(status: u16) -> bool {
    (200..300).contains(&status)
}

impl Target<'_> {
    /// A request with a body in JSON.
    pub(in crate::gateway) fn post(
        &self,
        path: &str,
        body: Vec<u8>,
        timeout: Duration,
    ) -> HttpRequest<'static> {
        let mut headers = vec![("content-type", "application/json".into())];
        headers.extend(self.format.headers(self.key.as_ref().map(Secret::expose)));
        HttpRequest {
            method: "POST",
            binding: self.provider.binding,
            headers,
            body: Some(body),
            timeout,
            max_bytes: MAX_ANSWER,
            ..HttpRequest::get(format!("{}{path}", self.provider.base_url))
        }
    }

    /// Sends a request. The error: the provider did not answer, or answered with an error.
    pub(in crate::gateway) async fn send(
        &self,
        host: &dyn Host,
        request: HttpRequest<'_>,
    ) -> Result<HttpResponse> {
        let (sent, name) = (host.send(request).await, self.name());
        let response = sent.map_err(|error| GatewayError::transport(&error, &name))?;
        if is_success(response.status) {
            return Ok(response);
        }
        let error = decode_error(response.status, &response.body);
        Err(GatewayError::upstream(&error, response.retry_after_ms, &name))
    }
}

impl Chat<'_> {
    /// Asks the models of the plan, one after the other, until one answers. The next round begins with that one. The
    /// error is that of the last attempt; or the request cannot be translated for any of them.
    pub(in crate::gateway) async fn ask<O: Output>(&mut self) -> Result<O::Reply> {
        let mut last = None;
        for (position, target) in self.plan.targets.clone().into_iter().enumerate() {
            self.report.asks(&target);
            // What the request loses counts only if this model answers.
            let notes = Notes::default();
            let mut outgoing = match self.translate(&target, O::STREAM, &notes) {
                Ok(body) => self.outgoing(&target, body),
                Err(error) => {
                    last.get_or_insert(error);
                    continue;
                }
            };
            for attempt in 0..self.plan.attempts {
                if attempt > 0 && !self.wait(attempt, last.as_ref()).await? {
                    break;
                }
                match self.attempt::<O>(&target, &mut outgoing).await? {
                    Ok(answer) => {
                        self.answers_without(&target, &outgoing, &notes);
                        self.report.notes.add(&notes, &[]);
                        self.report.rounds += 1;
                        self.plan.prefer(position);
                        self.answered = Some(target);
                        return Ok(answer);
                    }
                    Err(error) => last = Some(error),
                }
            }
        }
        let none = || GatewayError::new(ErrorKind::Internal, "The request has no target");
        Err(last.unwrap_or_else(none))
    }

    /// Makes an attempt, and repeats it without the members that the model rejects and can answer without. The inner error leaves
    /// another attempt to make sense.
    async fn attempt<O: Output>(
        &mut self,
        target: &Target<'_>,
        outgoing: &mut Outgoing,
    ) -> Result<Result<O::Reply>> {
        loop {
            let started_ms = self.sender.host.now_ms();
            let (request, ids, hold) = self.prepare(target, O::STREAM, outgoing).await?;
            let exchange = Exchange { chat: self, target, request, ids };
            let error = match O::attempt(exchange).await {
                Ok(answer) => {
                    self.note_attempt(target, started_ms, Some(200));
                    self.hold = hold;
                    return Ok(Ok(answer));
                }
                Err(error) => error,
            };
            self.note_attempt(target, started_ms, error.provider_status);
            Hold::settle_failed(hold, &self.sender.context().purse(), &error).await;
            if let Some(usage) = &error.usage {
                self.report.add_usage(usage.clone());
            }
            if outgoing.leave_out(&error) {
                continue;
            }
            let error = error.without(target.key.as_ref());
            return if self.plan.retries(&error) { Ok(Err(error)) } else { Err(error) };
        }
    }

    /// The body of a request to a model, without what the model is known to reject.
    pub(in crate::gateway) fn outgoing(&self, target: &Target<'_>, body: Vec<u8>) -> Outgoing {
        let native = self.request.native_for(target.format);
        let outgoing = Outgoing::whole(body, native.map_or(&[], |native| &native.headers));
        if self.is_strict {
            return outgoing;
        }
        let memory = self.sender.pipeline.settings.extensions.get::<RejectedMembers>();
        let known = memory.map(|memory| memory.of(target, self.sender.host.now_ms()));
        let mut known = known.unwrap_or_default();
        let earlier = self.rejected.iter().filter(|(model, _)| *model == target.name());
        known.extend(earlier.map(|(_, rejected)| rejected.clone()));
        outgoing.without(&known)
    }

    /// A model has answered without what it rejects: that is remembered, and noted.
    pub(in crate::gateway) fn answers_without(
        &mut self,
        target: &Target<'_>,
        outgoing: &Outgoing,
        notes: &Notes,
    ) {
        if outgoing.is_whole() {
            return;
        }
        let name = target.name();
        outgoing.note(&self.request, &name, notes);
        if let Some(memory) = self.sender.pipeline.settings.extensions.get::<RejectedMembers>() {
            memory.remember(target, outgoing, self.sender.host.now_ms());
        }
        self.rejected.extend(outgoing.rejected().map(|rejected| (name.clone(), rejected)));
    }

    /// Checks that a model of the plan can get the request, and that the caller's budget in dollars covers the first attempt, without
    /// taking it.
    pub(in crate::gateway) async fn check_attempt(&self) -> Result<()> {
        let purse = self.sender.context().purse();
        let mut first = None;
        for target in &self.plan.targets {
            match self.translate(target, false, &Notes::default()) {
                Ok(body) => {
                    let hold = self.reserve(target, &body).await?;
                    Hold::settle(hold, &purse, Some(0)).await;
                    return Ok(());
                }
                Err(error) => first = first.or(Some(error)),
            }
        }
        first.map_or(Ok(()), Err)
    }

    /// The request of an attempt, which takes it from the budgets.
    async fn prepare(
        &mut self,
        target: &Target<'_>,
        stream: bool,
        outgoing: &Outgoing,
    ) -> Result<(HttpRequest<'static>, IdSource, Option<Hold>)> {
        self.spend(1).await?;
        let request = self.request_to(target, stream, outgoing.body.clone(), &outgoing.headers)?;
        let ids = self.ids()?;
        let hold = self.reserve(target, &outgoing.body).await?;
        match self.count_request().await {
            Ok(()) => Ok((request, ids, hold)),
            Err(error) => {
                Hold::settle(hold, &self.sender.context().purse(), Some(0)).await;
                Err(error)
            }
        }
    }

    fn note_attempt(&mut self, target: &Target<'_>, started_ms: u64, status: Option<u16>) {
        let ms = self.sender.host.now_ms().saturating_sub(started_ms);
        let provider = target.provider.id.clone();
        self.report.attempts.push(Attempt { provider, status, ms });
    }

    /// The body for a model. The notes get what the request loses.
    pub(in crate::gateway) fn translate(
        &self,
        target: &Target<'_>,
        stream: bool,
        notes: &Notes,
    ) -> Result<Vec<u8>> {
        let context = self.sender.context();
        let server_tools = self.tools.definitions(target.format, &context, notes)?;
        let limits = [self.limits.max_output_tokens, target.max_output_tokens];
        let limit = limits.into_iter().flatten().min();
        let options = TranslateOptions {
            provider: &target.provider.id,
            model: &target.model,
            target: &target.name(),
            dialect: target.provider.dialect,
            stream,
            server_tools: &server_tools,
            may_force: self.report.rounds == 0,
            max_output_tokens: limit,
            facts: &target.facts,
            model_output_tokens: target.max_output_tokens,
            needs_limit: self.sender.context().purse().limits(Unit::Usd),
            strict_schemas: self.strict_schemas,
        };
        target.format.translate(&self.request, &options, notes)
    }

    pub(in crate::gateway) fn request_to(
        &self,
        target: &Target<'_>,
        stream: bool,
        body: Vec<u8>,
        own: &[(&'static str, String)],
    ) -> Result<HttpRequest<'static>> {
        let path = target.format.path(&target.model, stream);
        let timeout = self.plan.timeout.min(self.time_left()?);
        let mut request = target.post(&path, body, timeout);
        request.headers.retain(|(name, _)| own.iter().all(|(known, _)| known != name));
        request.headers.extend(own.iter().map(|(name, value)| (*name, value.clone().into())));
        Ok(request)
    }

    /// Waits before another attempt; false if it would take too long.
    async fn wait(&self, attempt: usize, last: Option<&GatewayError>) -> Result<bool> {
        let doublings = u32::try_from(attempt.saturating_sub(1)).unwrap_or(u32::MAX);
        let usual = FIRST_WAIT_MS.saturating_mul(2_u64.saturating_pow(doublings));
        let ms = last.and_then(|error| error.retry_after_ms).unwrap_or(usual);
        let wait = Duration::from_millis(ms);
        if ms > LONGEST_WAIT_MS || wait >= self.time_left()? {
            return Ok(false);
        }
        self.sender.host.sleep(wait).await;
        Ok(true)
    }
}
