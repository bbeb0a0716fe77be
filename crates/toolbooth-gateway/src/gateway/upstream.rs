//! Requests to providers: attempts, fallback to other models, and the first event of a stream.

use std::borrow::Cow;
use std::time::Duration;

use super::output::Output;
use super::report::Attempt;
use super::{Chat, ErrorKind, GatewayError, Hold, IdSource, Result, Target, TranslateOptions};
use toolbooth::budget::Unit;
use toolbooth::host::HttpRequest;
use toolbooth::secret::Secret;

/// The largest answer that is not a stream, in bytes.
const MAX_ANSWER: usize = 8 << 20;
/// The longest `Retry-After` that the gateway waits for itself.
const LONGEST_WAIT_MS: u64 = 5_000;
/// The first wait between two attempts without `Retry-After`. Each further one is twice as long.
const FIRST_WAIT_MS: u64 = 200;

/// An attempt to get an answer.
pub(super) struct Exchange<'e, 'c> {
    pub(super) chat: &'e Chat<'c>,
    pub(super) target: &'e Target<'c>,
    pub(super) request: HttpRequest<'static>,
    /// For calls to which the provider gives no id.
    pub(super) ids: IdSource,
}

pub(super) fn is_success(status: u16) -> bool {
    (200..300).contains(&status)
}

impl Chat<'_> {
    /// Asks the models of the plan, one after the other, until one answers. The next round begins with that one. The
    /// error is that of the last attempt; or the request cannot be translated for any of them.
    pub(super) async fn ask<O: Output>(&mut self) -> Result<O::Reply> {
        let mut last = None;
        for (position, target) in self.plan.targets.clone().into_iter().enumerate() {
            self.report.asks(&target);
            let body = match self.translate(&target, O::STREAM) {
                Ok(body) => body,
                Err(error) => {
                    last.get_or_insert(error);
                    continue;
                }
            };
            for attempt in 0..self.plan.attempts {
                if attempt > 0 && !self.wait(attempt, last.as_ref()).await? {
                    break;
                }
                self.spend(1)?;
                let started = self.sender.host.now_ms();
                let request = self.request_to(&target, O::STREAM, body.clone())?;
                let ids = self.ids()?;
                let hold = self.reserve(&target, &body).await?;
                if let Err(error) = self.count_request().await {
                    Hold::settle(hold, &self.sender.context().purse(), Some(0)).await;
                    return Err(error);
                }
                let result =
                    O::attempt(Exchange { chat: self, target: &target, request, ids }).await;
                let ms = self.sender.host.now_ms().saturating_sub(started);
                let status = match &result {
                    Ok(_) => Some(200),
                    Err(error) => error.provider_status,
                };
                let provider = target.provider.id.clone();
                self.report.attempts.push(Attempt { provider, status, ms });
                match result {
                    Ok(answer) => {
                        self.hold = hold;
                        self.report.rounds += 1;
                        self.plan.prefer(position);
                        self.answered = Some(target);
                        return Ok(answer);
                    }
                    Err(error) => {
                        let purse = self.sender.context().purse();
                        Hold::settle_failed(hold, &purse, &error).await;
                        let error = error.without(target.key.as_ref());
                        if !self.plan.retries(&error) {
                            return Err(error);
                        }
                        last = Some(error);
                    }
                }
            }
        }
        let none = || GatewayError::new(ErrorKind::Internal, "The request has no target");
        Err(last.unwrap_or_else(none))
    }

    pub(super) fn translate(&self, target: &Target<'_>, stream: bool) -> Result<Vec<u8>> {
        let notes = &self.report.notes;
        let context = self.sender.context();
        let server_tools = self.tools.definitions(target.format, &context, notes)?;
        let limits = [self.limits.max_output_tokens, target.max_output_tokens];
        let limit = limits.into_iter().flatten().min();
        let options = TranslateOptions {
            model: &target.model,
            target: &target.name(),
            stream,
            server_tools: &server_tools,
            may_force: self.report.rounds == 0,
            max_output_tokens: limit,
            model_output_tokens: target.max_output_tokens,
            needs_limit: self.sender.context().purse().limits(Unit::Usd),
        };
        target.format.translate(&self.request, &options, notes)
    }

    pub(super) fn request_to(
        &self,
        target: &Target<'_>,
        stream: bool,
        body: Vec<u8>,
    ) -> Result<HttpRequest<'static>> {
        let path = target.format.path(&target.model, stream);
        let mut headers: Vec<(&'static str, Cow<'static, str>)> =
            vec![("content-type", "application/json".into())];
        let own = target.format.headers(target.key.as_ref().map(Secret::expose));
        headers.extend(own.into_iter().map(|(name, value)| (name, value.into())));
        if let Some(native) = self.request.native_for(target.format) {
            headers.retain(|(name, _)| native.headers.iter().all(|(known, _)| known != name));
            headers
                .extend(native.headers.iter().map(|(name, value)| (*name, value.clone().into())));
        }
        Ok(HttpRequest {
            method: "POST",
            url: format!("{}{path}", target.provider.base_url).into(),
            binding: target.provider.binding,
            headers,
            body: Some(body),
            timeout: self.plan.timeout.min(self.time_left()?),
            max_bytes: MAX_ANSWER,
            cut: false,
        })
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
