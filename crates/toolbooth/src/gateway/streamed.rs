//! Answers that are streamed as Server-Sent Events.

use std::future::poll_fn;
use std::mem;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use super::chat::{Chat, Round};
use super::completion::{Completion, FinishReason};
use super::error::GatewayError;
use super::stream::{ChunkEncoder, Delta, StreamEvent, with_two_api};
use super::unary;
use super::upstream::{Decoded, OpenStream, Streamed};
use crate::host::HttpError;
use crate::http::{Answer, BodySink, BodyWriter, ClientGone, KeepAlive, PipeError, Response};
use crate::json::Value;

/// The status and the error in the log if the client has gone.
const CLIENT_CLOSED_REQUEST: (u16, &str) = (499, "client_closed_request");

/// The most bytes that are held back until the end of a stream.
const MAX_HELD: usize = 16 << 20;

/// Sent to the client while the provider is silent: a comment, which clients ignore.
const KEEP_ALIVE: &[u8] = b": keep-alive\n\n";
/// The longest silence towards the client.
const LONGEST_SILENCE: Duration = Duration::from_secs(10);

/// Serves a request whose answer is a stream. Its head waits for the first event of the provider, so that an error
/// before it still has a status.
pub(super) async fn answer(mut chat: Chat<'_>) -> Answer<'_> {
    let collect = !chat.tools.is_empty() || chat.schemas.is_some();
    let kind = Streamed { collect };
    let first = match chat.ask(&kind).await {
        Ok(first) => first,
        Err(error) => {
            let response = error.response();
            chat.log(response.status, Some(error.kind.code()));
            return response.into();
        }
    };
    let head = Response::empty(200)
        .with("content-type", "text/event-stream")
        .with("cache-control", "no-store");
    let head = chat.report.headers(head);
    let info = unary::info(first.decoder.completion(), &chat);
    let encoder = ChunkEncoder::new(info, chat.request.include_usage);
    let rest: BodyWriter<'_> = Box::new(move |sink| {
        let output = Output { encoder, wrote_text: false };
        Box::pin(Writer { chat, kind, output, sink }.write(first))
    });
    Answer { head, rest: Some(rest) }
}

/// Writes the stream.
struct Writer<'a> {
    chat: Chat<'a>,
    kind: Streamed,
    output: Output,
    sink: Box<dyn BodySink>,
}

/// What the client has got so far.
struct Output {
    encoder: ChunkEncoder,
    /// Whether an earlier round had text.
    wrote_text: bool,
}

/// Why a stream ends early.
enum Stop {
    Failed(GatewayError),
    ClientGone,
}

impl From<GatewayError> for Stop {
    fn from(error: GatewayError) -> Self {
        Self::Failed(error)
    }
}

impl From<ClientGone> for Stop {
    fn from(_: ClientGone) -> Self {
        Self::ClientGone
    }
}

impl Writer<'_> {
    async fn write(mut self, first: OpenStream) {
        let result = match self.chat.tools.is_empty() {
            true => self.forward(first).await,
            false => self.rounds(first).await,
        };
        let (status, error) = match result {
            Ok(()) => (200, None),
            Err(Stop::ClientGone) => {
                let (status, error) = CLIENT_CLOSED_REQUEST;
                (status, Some(error))
            }
            Err(Stop::Failed(error)) => {
                // workerd ends a broken stream like a complete one, so the error must be an event.
                let _ = self.sink.write(&error.event()).await;
                (error.kind.status(), Some(error.kind.code()))
            }
        };
        self.chat.log(status, error);
    }

    /// Forwards one stream. Calls are held back until the end if their arguments must be valid, and so is the event
    /// with the finish reason, which gets `_2api`.
    async fn forward(&mut self, stream: OpenStream) -> Result<(), Stop> {
        let mut held = Held { calls: self.chat.schemas.is_some(), ..Held::default() };
        let relayed = self.relay(stream, |output, event, out| {
            output.hold(event, &mut held, out);
            held.size() <= MAX_HELD
        });
        let (completion, mut out) = relayed.await?;
        self.chat.conclude(completion).await?;
        out.extend(held.bytes);
        let two_api = self.chat.report.two_api();
        for event in held.tail {
            self.output.finish(&event, &two_api, &mut out);
        }
        self.send(&out).await
    }

    /// Streams the text of each round, and the calls of the last one that are for the client.
    async fn rounds(&mut self, mut stream: OpenStream) -> Result<(), Stop> {
        loop {
            let relayed = self.relay(stream, |output, event, out| {
                output.text(&event.deltas, out);
                true
            });
            let (completion, out) = relayed.await?;
            self.send(&out).await?;
            match self.chat.conclude(completion).await? {
                Round::Next { text } => {
                    self.output.wrote_text |= text.is_some_and(|it| !it.is_empty());
                }
                Round::Last { completion, notice } => return self.last(&completion, notice).await,
            }
            stream = self.ask().await?;
        }
    }

    /// Asks the model again. Meanwhile, the client gets comments.
    async fn ask(&mut self) -> Result<OpenStream, Stop> {
        let Self { chat, kind, sink, .. } = self;
        let host = chat.sender.host;
        let after = longest_silence(chat);
        let mut answer = pin!(chat.ask(&*kind));
        loop {
            let mut silence = host.sleep(after);
            let first = poll_fn(|context| match answer.as_mut().poll(context) {
                Poll::Ready(stream) => Poll::Ready(Some(stream)),
                Poll::Pending => silence.as_mut().poll(context).map(|()| None),
            });
            match first.await {
                Some(stream) => return Ok(stream?),
                None => sink.write(KEEP_ALIVE).await?,
            }
        }
    }

    /// Sends what `write` adds for each event, until the stream ends, or until `write` returns false because it holds
    /// too much back. Returns what the stream said, and the last bytes, which have not been sent.
    async fn relay(
        &mut self,
        stream: OpenStream,
        mut write: impl FnMut(&mut Output, StreamEvent, &mut Vec<u8>) -> bool,
    ) -> Result<(Completion, Vec<u8>), Stop> {
        let Self { chat, output, sink, .. } = self;
        let OpenStream { name, mut decoder, mut body, decoded } = stream;
        let mut counted = CallSizes::default();
        let mut accept = |decoded: Decoded, out: &mut Vec<u8>| -> Result<bool, GatewayError> {
            let mut is_done = false;
            for event in decoded.events {
                is_done |= event.deltas.contains(&Delta::Done);
                counted.add(&event.deltas, chat)?;
                if !write(output, event, out) {
                    return Err(GatewayError::transport(&HttpError::TooLarge, &name));
                }
            }
            decoded.failure.map_or(Ok(is_done), |failure| Err(failure.into_error()))
        };
        let mut out = Vec::new();
        let mut result = accept(decoded, &mut out);
        let mut has_client = true;
        if let Ok(false) = result {
            has_client = send(&**sink, &mem::take(&mut out)).await.is_ok();
        }
        if has_client && let Ok(false) = result {
            let mut transform = |bytes: Vec<u8>| {
                let mut ready = Vec::new();
                result = accept(Decoded::chunk(&mut decoder, &bytes, &name), &mut ready);
                if let Ok(false) = result {
                    result = chat.time_left().map(|_| false);
                }
                if let Ok(false) = result {
                    return Some(ready);
                }
                out = ready;
                None
            };
            let keep_alive = KeepAlive { after: longest_silence(chat), bytes: KEEP_ALIVE };
            match sink.pipe(&mut *body, &mut transform, keep_alive).await {
                Ok(()) => {}
                Err(PipeError::ClientGone) => has_client = false,
                Err(PipeError::Source(error)) => {
                    result = Err(GatewayError::transport(&error, &name));
                }
            }
        }
        if has_client && let Ok(false) = result {
            result = accept(Decoded::end(&mut decoder, &name), &mut out);
        }
        if !has_client || result.is_err() {
            // The tokens have been used, whether or not anybody gets the rest of the answer.
            decoder.usage().into_iter().for_each(|usage| chat.report.add_usage(usage));
        }
        if !has_client {
            return Err(Stop::ClientGone);
        }
        if let Err(error) = result {
            send(&**sink, &out).await?;
            let key = chat.plan.targets.first().and_then(|target| target.key.as_ref());
            return Err(error.without(key).into());
        }
        Ok((decoder.into_completion(), out))
    }

    /// Writes what follows the text of the last round.
    async fn last(&mut self, completion: &Completion, notice: Option<String>) -> Result<(), Stop> {
        let mut deltas = Vec::new();
        let message = &completion.message;
        let output = &mut self.output;
        if let Some(notice) = notice {
            let has_text = message.content.as_ref().is_some_and(|text| !text.is_empty());
            output.wrote_text |= has_text;
            output.text(&[Delta::Text(notice)], &mut deltas);
        }
        let mut add = |delta: &Delta| deltas.extend(output.encoder.delta(delta));
        for (index, call) in message.tool_calls.iter().enumerate() {
            let (id, name, custom) = (call.id.clone(), call.name.clone(), call.custom);
            let extra_content = call.extra.get("extra_content").cloned();
            add(&Delta::Call { index, id, name, custom, extra_content });
            add(&Delta::Arguments { index, fragment: call.arguments.clone() });
        }
        if let Some(content) = message.extra.get("extra_content") {
            add(&Delta::ExtraContent(content.clone()));
        }
        let finish_reason = match (message.tool_calls.is_empty(), completion.finish_reason) {
            (true, FinishReason::ToolCalls) => FinishReason::Stop,
            (_, reason) => reason,
        };
        let two_api = self.chat.report.two_api();
        deltas.extend(output.encoder.finish(finish_reason, Some(&two_api)));
        if let Some(usage) = self.chat.report.usage.clone() {
            deltas.extend(output.encoder.delta(&Delta::Usage(usage)));
        }
        deltas.extend(output.encoder.delta(&Delta::Done));
        self.send(&deltas).await
    }

    async fn send(&self, bytes: &[u8]) -> Result<(), Stop> {
        send(&*self.sink, bytes).await
    }
}

/// After which time the client gets a comment.
fn longest_silence(chat: &Chat<'_>) -> Duration {
    LONGEST_SILENCE.min(chat.plan.timeout / 10)
}

async fn send(sink: &dyn BodySink, bytes: &[u8]) -> Result<(), Stop> {
    if !bytes.is_empty() {
        sink.write(bytes).await?;
    }
    Ok(())
}

impl Output {
    /// Writes an event, or holds it back.
    fn hold(&mut self, event: StreamEvent, held: &mut Held, out: &mut Vec<u8>) {
        let is_finish = |delta: &Delta| matches!(delta, Delta::Finish(_));
        if !held.tail.is_empty() {
            held.hold(event);
            return;
        }
        held.began |= event.deltas.iter().any(|delta| matches!(delta, Delta::Call { .. }));
        let into = if held.calls && held.began { &mut held.bytes } else { out };
        match event.deltas.iter().position(is_finish) {
            None => into.extend(self.encoder.event(&event)),
            Some(_) if event.raw.is_some() => held.hold(event),
            Some(position) => {
                let (before, after) = event.deltas.split_at(position);
                for delta in before {
                    into.extend(self.encoder.delta(delta));
                }
                held.hold(StreamEvent { raw: None, deltas: after.to_vec() });
            }
        }
    }

    /// Writes an event of the end of a stream. The finish reason gets `_2api`.
    fn finish(&mut self, event: &StreamEvent, two_api: &Value<'_>, out: &mut Vec<u8>) {
        match &event.raw {
            Some(raw) if event.deltas.iter().any(|it| matches!(it, Delta::Finish(_))) => {
                let raw = Some(with_two_api(raw, two_api));
                out.extend(self.encoder.event(&StreamEvent { raw, deltas: event.deltas.clone() }));
            }
            Some(_) => out.extend(self.encoder.event(event)),
            None => {
                for delta in &event.deltas {
                    out.extend(match delta {
                        Delta::Finish(reason) => self.encoder.finish(*reason, Some(two_api)),
                        other => self.encoder.delta(other),
                    });
                }
            }
        }
    }

    /// Writes the deltas that are text. Rounds are separated by an empty line.
    fn text(&mut self, deltas: &[Delta], out: &mut Vec<u8>) {
        for delta in deltas {
            if let Delta::Text(_) | Delta::Refusal(_) | Delta::Reasoning(_) = delta {
                if matches!(delta, Delta::Text(_)) && mem::take(&mut self.wrote_text) {
                    out.extend(self.encoder.delta(&Delta::Text("\n\n".to_owned())));
                }
                out.extend(self.encoder.delta(delta));
            }
        }
    }
}

/// The events that are held back until the end.
#[derive(Default)]
struct Held {
    /// Whether calls are held back.
    calls: bool,
    /// Whether the first call has begun.
    began: bool,
    /// The events from the first call on.
    bytes: Vec<u8>,
    /// The events from the finish reason on.
    tail: Vec<StreamEvent>,
    /// The bytes of these.
    tail_size: usize,
}

impl Held {
    fn size(&self) -> usize {
        self.bytes.len() + self.tail_size
    }

    fn hold(&mut self, event: StreamEvent) {
        // An event takes memory even if it has no bytes.
        self.tail_size += 64 + event.raw.as_ref().map_or(0, |raw| raw.bytes.len());
        self.tail.push(event);
    }
}

/// The calls of a stream so far.
#[derive(Default)]
struct CallSizes(Vec<usize>);

impl CallSizes {
    /// Counts calls and the bytes of their arguments.
    ///
    /// # Errors
    /// They exceed a limit.
    fn add(&mut self, deltas: &[Delta], chat: &Chat<'_>) -> Result<(), GatewayError> {
        for delta in deltas {
            match delta {
                Delta::Call { .. } => {
                    self.0.push(0);
                    chat.limits.check_count(self.0.len())?;
                }
                Delta::Arguments { index, fragment } => {
                    if let Some(size) = self.0.get_mut(*index) {
                        *size += fragment.len();
                        chat.limits.check_arguments(*size)?;
                    }
                }
                Delta::Text(_)
                | Delta::Refusal(_)
                | Delta::Reasoning(_)
                | Delta::ExtraContent(_)
                | Delta::Finish(_)
                | Delta::Usage(_)
                | Delta::Done => {}
            }
        }
        Ok(())
    }
}
