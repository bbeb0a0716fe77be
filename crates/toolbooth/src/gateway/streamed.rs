//! Answers that are streamed as Server-Sent Events.

use std::mem;

use super::chat::{Chat, Round};
use super::completion::{Completion, FinishReason};
use super::error::GatewayError;
use super::plan::Target;
use super::stream::{ChunkEncoder, Delta, StreamEvent, with_two_api};
use super::unary;
use super::upstream::{OpenStream, Streamed};
use crate::http::{Answer, BodySink, BodyWriter, ClientGone, Response};
use crate::json::Value;

/// The status in the log if the client has gone.
const CLIENT_CLOSED_REQUEST: u16 = 499;

/// Serves a request whose answer is a stream. Its head waits for the first event of the provider, so that an error
/// before it still has a status.
pub(super) async fn answer(mut chat: Chat<'_>) -> Answer<'_> {
    let collect = !chat.tools.is_empty() || chat.schemas.is_some();
    let kind = Streamed { collect };
    let first = match chat.ask(&kind).await {
        Ok(first) => first,
        Err(error) => {
            let response = error.response();
            chat.log(response.status);
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
        let writer = Writer { chat, kind, encoder, sink, wrote_text: false };
        Box::pin(writer.write(first))
    });
    Answer { head, rest: Some(rest) }
}

/// Writes the stream.
struct Writer<'a> {
    chat: Chat<'a>,
    kind: Streamed,
    encoder: ChunkEncoder,
    sink: Box<dyn BodySink>,
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

impl<'a> Writer<'a> {
    async fn write(mut self, first: OpenStream) {
        let result = match self.chat.tools.is_empty() {
            true => self.forward(first).await,
            false => self.rounds(first).await,
        };
        let status = match result {
            Ok(()) => 200,
            Err(Stop::ClientGone) => CLIENT_CLOSED_REQUEST,
            Err(Stop::Failed(error)) => {
                // workerd ends a broken stream like a complete one, so the error must be an event.
                let _ = self.sink.write(&error.event()).await;
                error.kind.status()
            }
        };
        self.chat.log(status);
    }

    /// Forwards one stream. Calls are held back until the end if their arguments must be valid, and so is the event
    /// with the finish reason, which gets `_2api`.
    async fn forward(&mut self, mut stream: OpenStream) -> Result<(), Stop> {
        let target = self.target()?;
        let mut held = Held { calls: self.chat.schemas.is_some(), ..Held::default() };
        let mut counted = CallSizes::default();
        loop {
            let events = mem::take(&mut stream.events);
            let mut out = Vec::new();
            let mut is_done = false;
            for event in events {
                is_done |= event.deltas.contains(&Delta::Done);
                if let Err(error) = counted.add(&event.deltas, &self.chat) {
                    self.send(&out).await?;
                    return Err(error.into());
                }
                self.hold(event, &mut held, &mut out);
            }
            self.send(&out).await?;
            if let Some(error) = stream.broken.take() {
                return Err(error.into());
            }
            if is_done || !self.read(&mut stream, &target).await? {
                break;
            }
        }
        // The events that `finish` added.
        let mut out = Vec::new();
        for event in mem::take(&mut stream.events) {
            self.hold(event, &mut held, &mut out);
        }
        let Held { bytes, tail, .. } = held;
        // Nothing of this request is read any more.
        drop(stream.body);
        self.chat.conclude(stream.decoder.into_completion()).await?;
        out.extend(bytes);
        let two_api = self.chat.report.two_api();
        for event in tail {
            self.finish(&event, &two_api, &mut out);
        }
        self.send(&out).await
    }

    /// Writes an event, or holds it back.
    fn hold(&mut self, event: StreamEvent, held: &mut Held, out: &mut Vec<u8>) {
        let is_finish = |delta: &Delta| matches!(delta, Delta::Finish(_));
        if !held.tail.is_empty() {
            held.tail.push(event);
            return;
        }
        held.began |= event.deltas.iter().any(|delta| matches!(delta, Delta::Call { .. }));
        let into = if held.calls && held.began { &mut held.bytes } else { out };
        match event.deltas.iter().position(is_finish) {
            None => into.extend(self.encoder.event(&event)),
            Some(_) if event.raw.is_some() => held.tail.push(event),
            Some(position) => {
                let (before, after) = event.deltas.split_at(position);
                for delta in before {
                    into.extend(self.encoder.delta(delta));
                }
                held.tail.push(StreamEvent { raw: None, deltas: after.to_vec() });
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

    /// Streams the text of each round, and the calls of the last one that are for the client.
    async fn rounds(&mut self, mut stream: OpenStream) -> Result<(), Stop> {
        loop {
            let completion = self.round(stream).await?;
            match self.chat.conclude(completion).await? {
                Round::Next { text } => self.wrote_text |= text.is_some_and(|it| !it.is_empty()),
                Round::Last { completion, notice } => return self.last(&completion, notice).await,
            }
            stream = self.chat.ask(&self.kind).await?;
        }
    }

    /// Streams the text of a round.
    async fn round(&mut self, mut stream: OpenStream) -> Result<Completion, Stop> {
        let target = self.target()?;
        let mut counted = CallSizes::default();
        loop {
            let mut out = Vec::new();
            let mut is_done = false;
            for event in mem::take(&mut stream.events) {
                is_done |= event.deltas.contains(&Delta::Done);
                counted.add(&event.deltas, &self.chat)?;
                self.text(&event.deltas, &mut out);
            }
            self.send(&out).await?;
            if let Some(error) = stream.broken.take() {
                return Err(error.into());
            }
            if is_done || !self.read(&mut stream, &target).await? {
                break;
            }
        }
        let mut out = Vec::new();
        for event in mem::take(&mut stream.events) {
            self.text(&event.deltas, &mut out);
        }
        self.send(&out).await?;
        Ok(stream.decoder.into_completion())
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

    /// Writes what follows the text of the last round.
    async fn last(&mut self, completion: &Completion, notice: Option<String>) -> Result<(), Stop> {
        let mut deltas = Vec::new();
        let message = &completion.message;
        if let Some(notice) = notice {
            let has_text = message.content.as_ref().is_some_and(|text| !text.is_empty());
            self.wrote_text |= has_text;
            self.text(&[Delta::Text(notice)], &mut deltas);
        }
        let mut add = |delta: &Delta| deltas.extend(self.encoder.delta(delta));
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
        deltas.extend(self.encoder.finish(finish_reason, Some(&two_api)));
        if let Some(usage) = self.chat.report.usage.clone() {
            deltas.extend(self.encoder.delta(&Delta::Usage(usage)));
        }
        deltas.extend(self.encoder.delta(&Delta::Done));
        self.send(&deltas).await
    }

    /// Reads more of a stream; false at its end. Events before an error are sent.
    async fn read(&mut self, stream: &mut OpenStream, target: &Target<'_>) -> Result<bool, Stop> {
        self.chat.time_left()?;
        match stream.read(target).await {
            Ok(more) => Ok(more),
            Err(failure) if stream.events.is_empty() => Err(failure.into_error().into()),
            Err(failure) => {
                stream.broken = Some(failure.into_error());
                Ok(true)
            }
        }
    }

    fn target(&self) -> Result<Target<'a>, GatewayError> {
        let target = self.chat.plan.targets.first().cloned();
        let none = || {
            let kind = super::error::ErrorKind::Internal;
            GatewayError::new(kind, "The request has no target")
        };
        target.ok_or_else(none)
    }

    async fn send(&self, bytes: &[u8]) -> Result<(), Stop> {
        if !bytes.is_empty() {
            self.sink.write(bytes).await?;
        }
        Ok(())
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
