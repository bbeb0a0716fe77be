//! Answers that are streamed as Server-Sent Events.

mod writer;

use std::future::poll_fn;
use std::mem;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use crate::gateway::answer::completion::{AssistantMessage, Completion, UpstreamError};
use crate::gateway::answer::stream::{DecodeOptions, Decoder, Delta, StreamEvent};
use crate::gateway::error::{GatewayError, Result};
use crate::gateway::format::adapter::errors::decode_error;
use crate::gateway::format::front::Front;
use crate::gateway::relay::chat::Chat;
use crate::gateway::relay::output::Output;
use crate::gateway::relay::output::stream::writer::{Buffer, EventWriter};
use crate::gateway::relay::upstream::{Exchange, is_success};
use toolbooth::host::ByteStream;
use toolbooth::http::{BodySink, ClientGone, KeepAlive, PipeError};

/// The largest error that is read from a stream, in bytes.
const MAX_ERROR: usize = 64 << 10;

/// The longest time for which the client gets nothing.
const LONGEST_SILENCE: Duration = Duration::from_secs(10);

/// A stream of events.
///
/// Without compiled-in tools there is one round, whose events are forwarded. With them, the client gets the text of
/// each round, and the calls of the last one that are its own.
pub(crate) struct StreamOutput {
    sink: Box<dyn BodySink>,
    events: EventWriter,
    /// The last bytes of an answer, which must not leave before the answer has been checked.
    unsent: Vec<u8>,
    /// How many of the calls that the gateway ran the client has been told of.
    ran: usize,
}

/// A provider's stream whose first event has arrived.
pub(crate) struct OpenStream {
    body: Box<dyn ByteStream>,
    incoming: Incoming,
}

/// What has arrived of a provider's stream.
struct Incoming {
    decoder: Decoder,
    /// The format of the client.
    front: &'static dyn Front,
    /// What the provider is called in errors.
    name: String,
    /// What was not looked at yet.
    events: Vec<StreamEvent>,
    /// Whether the provider has counted the tokens of the whole answer.
    is_counted: bool,
    /// Why nothing follows these events.
    failure: Option<GatewayError>,
}

impl Incoming {
    /// Decodes a chunk, or the end of the stream.
    fn decode(&mut self, chunk: Option<&[u8]>) {
        let result = match chunk {
            Some(bytes) => self.decoder.feed(bytes, &mut self.events),
            None => self.decoder.finish(&mut self.events),
        };
        let is_count = |delta: &Delta| matches!(delta, Delta::Usage(_));
        self.is_counted |= self.events.iter().flat_map(|it| &it.deltas).any(is_count);
        self.is_counted |= matches!(result, Err(UpstreamError::NoAnswer { usage: Some(_), .. }));
        self.failure = result.err().map(|error| GatewayError::upstream(&error, None, &self.name));
        self.check_files();
    }

    /// Nothing follows a file for which the client's format has no place.
    fn check_files(&mut self) {
        let front = self.front;
        let has_no_place = |event: &StreamEvent| {
            event.deltas.iter().find_map(|delta| match delta {
                Delta::Media(file) if !front.has_place_for(file) => Some(file.clone()),
                _ => None,
            })
        };
        let mut events = self.events.iter().enumerate();
        let found = events.find_map(|(at, event)| Some((at, has_no_place(event)?)));
        if let Some((at, file)) = found {
            self.events.truncate(at);
            self.failure = Some(GatewayError::no_place(&file, None, &self.name));
        }
    }

    /// How many calls have begun.
    fn calls(&self) -> usize {
        self.decoder.completion().message.tool_calls.len()
    }

    /// Whether an event has arrived that is more than a comment or a ping.
    fn has_begun(&self) -> bool {
        let has_data = |raw: &Vec<u8>| {
            let text = raw.strip_prefix("\u{feff}".as_bytes()).unwrap_or(raw);
            let mut lines = text.split(|byte| matches!(byte, b'\n' | b'\r'));
            lines.any(|line| line.starts_with(b"data"))
        };
        let mut events = self.events.iter();
        events.any(|event| !event.deltas.is_empty() || event.raw.as_ref().is_some_and(has_data))
    }
}

impl StreamOutput {
    /// A stream to `sink` that begins with `first`.
    pub(crate) fn new(sink: Box<dyn BodySink>, chat: &Chat<'_>, first: &OpenStream) -> Self {
        let info = chat.info(first.incoming.decoder.completion());
        let encoder = chat.sender.front.events(&chat.request, info);
        let buffer = Buffer::new(chat.schemas.is_some());
        let buffer = chat.tools.is_empty().then_some(buffer);
        let mut events = EventWriter { encoder, wrote_text: false, buffer };
        // Calls that the user has approved have run before.
        let (ran, mut unsent) = (&chat.report.ran, Vec::new());
        if !ran.is_empty() {
            events.encoder.ran(ran, &mut unsent);
        }
        Self { sink, events, unsent, ran: ran.len() }
    }

    /// Ends a stream that has begun with an error.
    pub(crate) async fn fail(&mut self, error: &GatewayError) -> Result<()> {
        let mut event = Vec::new();
        self.events.encoder.error(error, &mut event);
        self.send(&event).await
    }

    async fn send(&self, bytes: &[u8]) -> Result<()> {
        if !bytes.is_empty() {
            self.sink.write(bytes).await?;
        }
        Ok(())
    }

    async fn flush(&mut self) -> Result<()> {
        let bytes = mem::take(&mut self.unsent);
        self.send(&bytes).await
    }

    /// Sends the client what it gets of each event, until the stream ends.
    async fn forward(&mut self, chat: &mut Chat<'_>, stream: &mut OpenStream) -> Result<()> {
        let OpenStream { body, incoming } = stream;
        let mut is_done = self.events.accept(chat, incoming, &mut self.unsent)?;
        while !is_done {
            self.count(chat, incoming).await?;
            self.flush().await?;
            is_done = self.pipe(chat, &mut **body, incoming).await?;
        }
        self.count(chat, incoming).await
    }

    /// Counts the calls that have begun, before the client gets them. It does not, if it may have no more.
    async fn count(&mut self, chat: &mut Chat<'_>, incoming: &Incoming) -> Result<()> {
        if self.events.buffer.is_none() {
            return Ok(());
        }
        let counted = chat.count_calls(incoming.calls(), 0).await;
        if counted.is_err() {
            self.unsent.clear();
        }
        counted
    }

    /// Sends the client what it gets of each event, until a call begins that must be counted or the stream ends. Returns whether it
    /// has ended. What has not been sent is in `unsent`.
    async fn pipe(
        &mut self,
        chat: &Chat<'_>,
        body: &mut dyn ByteStream,
        incoming: &mut Incoming,
    ) -> Result<bool> {
        let known = incoming.calls();
        let has_buffer = self.events.buffer.is_some();
        let (mut is_done, mut is_paused) = (Ok(false), false);
        let mut transform = |chunk: Vec<u8>| {
            let mut ready = Vec::new();
            incoming.decode(Some(&chunk));
            is_done = self.events.accept(chat, incoming, &mut ready);
            if let Ok(false) = is_done {
                is_done = chat.time_left().map(|_| false);
            }
            let is_new = has_buffer && incoming.calls() > known;
            match is_done {
                Ok(false) if !is_new => Some(ready),
                _ => {
                    is_paused = true;
                    self.unsent = ready;
                    None
                }
            }
        };
        let bytes = chat.sender.front.keep_alive();
        let keep_alive = KeepAlive { after: longest_silence(chat), bytes };
        match self.sink.pipe(body, &mut transform, keep_alive).await {
            Ok(()) => {}
            Err(PipeError::ClientGone) => return Err(ClientGone.into()),
            Err(PipeError::Source(error)) => {
                return Err(GatewayError::transport(&error, &incoming.name));
            }
        }
        if is_done? {
            return Ok(true);
        }
        if is_paused {
            return Ok(false);
        }
        incoming.decode(None);
        self.events.accept(chat, incoming, &mut self.unsent)?;
        Ok(true)
    }
}

impl Output for StreamOutput {
    type Reply = OpenStream;
    type Done = ();
    const STREAM: bool = true;

    /// Returns when the first event has arrived.
    async fn attempt(exchange: Exchange<'_, '_>) -> Result<OpenStream> {
        let Exchange { chat, target, request, ids } = exchange;
        let (host, format, name) = (chat.sender.host, target.format, target.name());
        let opened = host.open(request).await;
        let mut response = opened.map_err(|error| GatewayError::transport(&error, &name))?;
        if !is_success(response.status) {
            let mut body = Vec::new();
            while body.len() < MAX_ERROR
                && host.now_ms() < chat.deadline_ms
                && let Ok(Some(chunk)) = response.body.next().await
            {
                body.extend(chunk);
            }
            let error = decode_error(response.status, &body);
            return Err(GatewayError::upstream(&error, response.retry_after_ms, &name));
        }
        // The whole message is needed for the next round, or to check its calls.
        let collect = !chat.tools.is_empty() || chat.schemas.is_some();
        // The answer to a request that was translated has to be translated back.
        let passes = chat.request.native.is_none() || chat.request.passes_to(format);
        let forward = chat.sender.front.reads(format) && passes;
        let names = format.names(&chat.request);
        let provider = target.provider.id.clone();
        let options = DecodeOptions { collect, forward, names, provider };
        let decoder = Decoder::new(format, ids, options);
        let mut incoming = Incoming {
            decoder,
            front: chat.sender.front,
            name,
            events: Vec::new(),
            is_counted: false,
            failure: None,
        };
        let mut has_ended = false;
        while !has_ended && incoming.failure.is_none() && !incoming.has_begun() {
            // A provider that sends nothing but comments is not silent.
            if host.now_ms() >= chat.deadline_ms {
                return Err(GatewayError::deadline());
            }
            // So far these are comments: do not keep any number of them.
            incoming.events.clear();
            let chunk = response.body.next().await;
            let chunk = chunk.map_err(|error| GatewayError::transport(&error, &incoming.name))?;
            incoming.decode(chunk.as_deref());
            has_ended = chunk.is_none();
        }
        // A failure before the first event can still be answered by another model.
        let has_begun = incoming.has_begun();
        match incoming.failure.take_if(|_| !has_begun) {
            Some(failure) => Err(failure),
            None => Ok(OpenStream { body: response.body, incoming }),
        }
    }

    /// Asks the model again. Meanwhile, the client gets comments.
    async fn ask(&mut self, chat: &mut Chat<'_>) -> Result<OpenStream> {
        let host = chat.sender.host;
        let (after, keep_alive) = (longest_silence(chat), chat.sender.front.keep_alive());
        let mut answer = pin!(chat.ask::<Self>());
        loop {
            let mut silence = host.sleep(after);
            let first = poll_fn(|context| match answer.as_mut().poll(context) {
                Poll::Ready(stream) => Poll::Ready(Some(stream)),
                Poll::Pending => silence.as_mut().poll(context).map(|()| None),
            });
            match first.await {
                Some(stream) => return stream,
                None => self.sink.write(keep_alive).await?,
            }
        }
    }

    async fn receive(&mut self, chat: &mut Chat<'_>, mut reply: OpenStream) -> Result<Completion> {
        let mut result = self.forward(chat, &mut reply).await;
        // The text of a round needs no check.
        if result.is_err() || self.events.buffer.is_none() {
            result = self.flush().await.and(result);
        }
        let is_counted = reply.incoming.is_counted;
        let completion = reply.incoming.decoder.into_completion();
        let Err(error) = result else { return Ok(completion) };
        // Before that, a provider has counted the input only.
        chat.settle(completion.usage.as_ref().filter(|_| is_counted)).await;
        // The tokens have been used, whether or not the client gets the rest of the answer.
        if let Some(usage) = completion.usage {
            chat.report.add_usage(usage);
        }
        let key = chat.answered.as_ref().and_then(|target| target.key.as_ref());
        Err(error.without(key))
    }

    async fn next_round(&mut self, chat: &Chat<'_>, message: AssistantMessage) -> Result<()> {
        self.events.state(&message, &mut self.unsent);
        self.events.wrote_text |= message.content.is_some_and(|it| !it.is_empty());
        let ran = chat.report.ran.get(self.ran..).unwrap_or_default();
        self.ran = chat.report.ran.len();
        self.events.encoder.ran(ran, &mut self.unsent);
        self.flush().await
    }

    async fn finish(&mut self, chat: &mut Chat<'_>, completion: Completion) -> Result<()> {
        if self.events.buffer.is_none() {
            self.events.state(&completion.message, &mut self.unsent);
        }
        let EventWriter { encoder, buffer, .. } = &mut self.events;
        let ran = chat.report.ran.get(self.ran..).unwrap_or_default();
        if !ran.is_empty() {
            encoder.ran(ran, &mut self.unsent);
        }
        encoder.report(&chat.report);
        match buffer.take() {
            Some(Buffer { bytes, tail, .. }) => {
                self.unsent.extend(bytes);
                for event in &tail {
                    encoder.event(event, &mut self.unsent);
                }
            }
            None => self.events.last(completion, &chat.report, &mut self.unsent),
        }
        self.flush().await
    }
}

fn longest_silence(chat: &Chat<'_>) -> Duration {
    LONGEST_SILENCE.min(chat.plan.timeout / 10)
}
