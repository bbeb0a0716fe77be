//! Requests to providers: attempts, fallback to other models, and the first event of a stream.

use std::borrow::Cow;
use std::time::Duration;

use super::chat::Chat;
use super::completion::{Completion, UpstreamError};
use super::error::{ErrorKind, GatewayError};
use super::plan::Target;
use super::report::Attempt;
use super::stream::{Decoder, StreamEvent};
use super::{IdSource, Provider, TranslateOptions};
use toolbooth::host::{ByteStream, Host, HttpError, HttpRequest};
use toolbooth::secret::Secret;

/// The largest answer that is not a stream, in bytes.
const MAX_ANSWER: usize = 8 << 20;
/// The largest error that is read from a stream, in bytes.
const MAX_ERROR: usize = 64 << 10;
/// The longest `Retry-After` that the gateway waits for itself.
const LONGEST_WAIT_MS: u64 = 5_000;
/// The first wait between two attempts without `Retry-After`. Each further one is twice as long.
const FIRST_WAIT_MS: u64 = 200;
/// `max_tokens` for providers that require it, if the request has none.
const DEFAULT_MAX_TOKENS: u64 = 4096;

/// How an answer is received.
pub(super) trait Receive {
    /// The answer, or its beginning.
    type Answer;
    /// Whether the provider streams it.
    const STREAM: bool;

    /// Sends the request and receives the answer.
    async fn receive(exchange: Exchange<'_>) -> Result<Self::Answer, Failure>;
}

/// A request to a provider.
pub(super) struct Exchange<'e> {
    request: HttpRequest<'static>,
    format: Provider,
    /// What the provider is called in errors.
    name: String,
    /// For calls to which the provider gives no id.
    ids: IdSource,
    host: &'e dyn Host,
    deadline_ms: u64,
    /// Whether the whole message is needed at the end of a stream.
    collect: bool,
}

/// A failed attempt.
#[derive(Debug)]
pub(super) struct Failure {
    /// The status of the response, or that of the error in it.
    status: Option<u16>,
    error: GatewayError,
}

/// Receives a whole answer.
pub(super) struct Unary;

impl Receive for Unary {
    type Answer = Completion;
    const STREAM: bool = false;

    // The timeout of the request ends the answer too.
    async fn receive(exchange: Exchange<'_>) -> Result<Completion, Failure> {
        let Exchange { request, format, name, ids, host, .. } = exchange;
        let sent = host.send(request).await;
        let response = sent.map_err(|error| Failure::transport(&error, &name))?;
        let failed = |error| Failure::upstream(&error, response.retry_after_ms, &name);
        if !(200..300).contains(&response.status) {
            return Err(failed(format.decode_error(response.status, &response.body)));
        }
        format.decode(&response.body, ids).map_err(failed)
    }
}

/// Receives the beginning of a stream: all up to its first event.
pub(super) struct Streaming;

/// A stream whose first event has arrived.
pub(super) struct OpenStream {
    /// What the provider is called in errors.
    pub(super) name: String,
    pub(super) decoder: Decoder,
    pub(super) body: Box<dyn ByteStream>,
    /// What has arrived.
    pub(super) decoded: Decoded,
}

/// A part of a stream.
#[derive(Default)]
pub(super) struct Decoded {
    pub(super) events: Vec<StreamEvent>,
    /// Why nothing follows these events.
    pub(super) failure: Option<Failure>,
}

impl Decoded {
    /// Decodes a chunk.
    pub(super) fn chunk(decoder: &mut Decoder, bytes: &[u8], name: &str) -> Self {
        let mut events = Vec::new();
        let result = decoder.feed(bytes, &mut events);
        Self { events, failure: result.err().map(|error| Failure::upstream(&error, None, name)) }
    }

    /// The end of the stream.
    pub(super) fn end(decoder: &mut Decoder, name: &str) -> Self {
        let mut events = Vec::new();
        let result = decoder.finish(&mut events);
        Self { events, failure: result.err().map(|error| Failure::upstream(&error, None, name)) }
    }
}

impl Receive for Streaming {
    type Answer = OpenStream;
    const STREAM: bool = true;

    async fn receive(exchange: Exchange<'_>) -> Result<OpenStream, Failure> {
        let Exchange { request, format, name, ids, host, deadline_ms, collect } = exchange;
        let opened = host.open(request).await;
        let mut response = opened.map_err(|error| Failure::transport(&error, &name))?;
        if !(200..300).contains(&response.status) {
            let mut body = Vec::new();
            while body.len() < MAX_ERROR
                && host.now_ms() < deadline_ms
                && let Ok(Some(chunk)) = response.body.next().await
            {
                body.extend(chunk);
            }
            let error = format.decode_error(response.status, &body);
            return Err(Failure::upstream(&error, response.retry_after_ms, &name));
        }
        let mut decoder = Decoder::new(format, ids, collect);
        let mut decoded = Decoded::default();
        // A failure before the first event can still be answered by another model.
        while decoded.failure.is_none() && !decoded.events.iter().any(is_first) {
            // A provider that sends nothing but comments is not silent.
            if host.now_ms() >= deadline_ms {
                return Err(Failure { status: None, error: GatewayError::deadline() });
            }
            // So far these are comments: do not keep any number of them.
            decoded.events.clear();
            let next = match response.body.next().await {
                Ok(Some(bytes)) => Decoded::chunk(&mut decoder, &bytes, &name),
                Ok(None) => {
                    let end = Decoded::end(&mut decoder, &name);
                    decoded.events.extend(end.events);
                    decoded.failure = end.failure;
                    break;
                }
                Err(error) => {
                    Decoded { events: Vec::new(), failure: Some(Failure::transport(&error, &name)) }
                }
            };
            decoded.events.extend(next.events);
            decoded.failure = next.failure;
        }
        match decoded.failure {
            Some(failure) if !decoded.events.iter().any(is_first) => Err(failure),
            failure => {
                let decoded = Decoded { events: decoded.events, failure };
                Ok(OpenStream { name, decoder, body: response.body, decoded })
            }
        }
    }
}

/// Whether an event is more than a comment or a ping.
fn is_first(event: &StreamEvent) -> bool {
    let has_data = event.raw.as_ref().is_some_and(|raw| {
        raw.bytes.split(|byte| *byte == b'\n').any(|line| line.starts_with(b"data"))
    });
    has_data || !event.deltas.is_empty()
}

impl Failure {
    /// The provider `name` could not be reached, or the connection broke off.
    pub(super) fn transport(error: &HttpError, name: &str) -> Self {
        Self { status: None, error: GatewayError::transport(error, name) }
    }

    fn upstream(error: &UpstreamError, retry_after_ms: Option<u64>, name: &str) -> Self {
        let status = match error {
            UpstreamError::Reported { status, .. } => Some(*status),
            UpstreamError::BrokenOff | UpstreamError::Malformed(_) => None,
        };
        Self { status, error: GatewayError::upstream(error, retry_after_ms, name) }
    }

    pub(super) fn into_error(self) -> GatewayError {
        self.error
    }
}

impl Chat<'_> {
    /// Asks the models of the plan, one after the other, until one answers. The next round begins with
    /// that one.
    ///
    /// # Errors
    /// That of the last attempt; or the request cannot be translated for any of them.
    pub(super) async fn ask<R: Receive>(&mut self) -> Result<R::Answer, GatewayError> {
        let mut last = None;
        for (position, target) in self.plan.in_order() {
            self.report.asks(&target);
            let body = match self.translate(&target, R::STREAM) {
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
                let exchange = Exchange {
                    request: self.request_to(&target, R::STREAM, body.clone())?,
                    format: target.format,
                    name: target.name(),
                    ids: self.ids()?,
                    host: self.sender.host,
                    deadline_ms: self.deadline_ms,
                    collect: !self.tools.is_empty() || self.schemas.is_some(),
                };
                let result = R::receive(exchange).await;
                let ms = self.sender.host.now_ms().saturating_sub(started);
                let status = match &result {
                    Ok(_) => Some(200),
                    Err(failure) => failure.status,
                };
                let provider = target.provider.id.clone();
                self.report.attempts.push(Attempt { provider, status, ms });
                match result {
                    Ok(answer) => {
                        self.report.rounds += 1;
                        self.plan.prefer(position);
                        self.answered = Some(target);
                        return Ok(answer);
                    }
                    Err(Failure { error, status }) => {
                        let error = error.without(target.key.as_ref());
                        if !self.plan.retries(&error, status) {
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

    /// The body for a target.
    fn translate(&mut self, target: &Target<'_>, stream: bool) -> Result<Vec<u8>, GatewayError> {
        let (server_tools, warnings) =
            self.tools.definitions(target.format, &self.sender.context())?;
        let options = TranslateOptions {
            model: &target.model,
            target: &target.name(),
            stream,
            server_tools: &server_tools,
            may_force: self.report.rounds == 0,
            default_max_tokens: DEFAULT_MAX_TOKENS,
        };
        let translation = target.format.translate(&self.request, &options)?;
        self.report.add_notes(translation.dropped, translation.warnings);
        self.report.add_notes(Vec::new(), warnings);
        Ok(translation.body)
    }

    fn request_to(
        &self,
        target: &Target<'_>,
        stream: bool,
        body: Vec<u8>,
    ) -> Result<HttpRequest<'static>, GatewayError> {
        let path = target.format.path(&target.model, stream);
        let mut headers: Vec<(&'static str, Cow<'static, str>)> =
            vec![("content-type", "application/json".into())];
        let own = target.format.headers(target.key.as_ref().map(Secret::expose));
        headers.extend(own.into_iter().map(|(name, value)| (name, value.into())));
        Ok(HttpRequest {
            method: "POST",
            url: format!("{}{path}", target.provider.base_url).into(),
            headers,
            body: Some(body),
            timeout: self.plan.timeout.min(self.time_left()?),
            max_bytes: MAX_ANSWER,
        })
    }

    /// Waits before another attempt; false if it would take too long.
    async fn wait(
        &self,
        attempt: usize,
        last: Option<&GatewayError>,
    ) -> Result<bool, GatewayError> {
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
