//! Streams: a provider's events become deltas.

use super::adapter::EventDecoder;
use super::builder::Builder;
use super::completion::{Completion, UpstreamError};
use super::sse::{SseError, SseParser};
use super::{IdSource, Provider};
use crate::wire::{FinishReason, Usage};
use toolbooth::json::Value;

/// An event of a stream.
#[derive(Debug, Clone, PartialEq)]
pub struct StreamEvent {
    /// The event in OpenAI's format as the client gets it, if the provider's format is OpenAI's; otherwise `None`, and
    /// [`ChunkEncoder`](super::ChunkEncoder) makes chunks from the deltas.
    pub raw: Option<RawEvent>,
    /// What the event means, in order. Empty for what carries nothing (comments, pings).
    pub deltas: Vec<Delta>,
}

/// An event in OpenAI's format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawEvent {
    /// Its bytes, up to and including the blank line.
    pub bytes: Vec<u8>,
    /// Whether these are the provider's bytes; otherwise the event had to be changed.
    pub unchanged: bool,
}

/// A part of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Delta {
    /// More text.
    Text(String),
    /// More of a refusal.
    Refusal(String),
    /// More readable reasoning.
    Reasoning(String),
    /// A call begins.
    Call {
        /// Its position among the calls.
        index: usize,
        /// Its id.
        id: String,
        /// The tool's name.
        name: String,
        /// Whether it is a call of a custom tool.
        custom: bool,
        /// `extra_content` of the call.
        extra_content: Option<Value<'static>>,
    },
    /// More arguments of a call.
    Arguments {
        /// The position of the call.
        index: usize,
        /// The next part of the text.
        fragment: String,
    },
    /// `extra_content` of the message: what the provider must get back.
    ExtraContent(Value<'static>),
    /// The model stopped. Exactly one per stream.
    Finish(FinishReason),
    /// The tokens. At most one per stream, after [`Delta::Finish`].
    Usage(Usage),
    /// The stream is complete. The last delta.
    Done,
}

/// Decodes a provider's stream.
#[derive(Debug)]
pub struct Decoder {
    parser: SseParser,
    builder: Builder,
    events: Box<dyn EventDecoder>,
    stopped: bool,
}

impl Decoder {
    /// A decoder. With `collect`, [`completion`](Self::completion) has the text and the native message too, which the
    /// tool loop needs; otherwise only calls, finish reason, usage and warnings.
    pub fn new(provider: Provider, ids: IdSource, collect: bool) -> Self {
        Self {
            parser: SseParser::default(),
            builder: Builder::new(ids, collect),
            events: (provider.adapter().decoder)(),
            stopped: false,
        }
    }

    /// Decodes the next bytes, cut anywhere.
    ///
    /// # Errors
    /// The provider reported an error, or its stream is malformed. `events` has what came before; nothing follows.
    pub fn feed(
        &mut self,
        bytes: &[u8],
        events: &mut Vec<StreamEvent>,
    ) -> Result<(), UpstreamError> {
        if self.stopped {
            return Ok(());
        }
        let result = self.parser.push(bytes).map_err(UpstreamError::from);
        let result = result.and_then(|()| self.drain(events));
        self.stopped |= result.is_err();
        result
    }

    /// The provider's stream has ended. Adds the last events.
    ///
    /// # Errors
    /// It ended too early.
    pub fn finish(&mut self, events: &mut Vec<StreamEvent>) -> Result<(), UpstreamError> {
        if self.stopped {
            return Ok(());
        }
        self.parser.end();
        let mut result = self.drain(events);
        if result.is_ok() && !self.stopped {
            result = self.events.end(&mut self.builder, events);
        }
        self.stopped = true;
        result
    }

    fn drain(&mut self, events: &mut Vec<StreamEvent>) -> Result<(), UpstreamError> {
        while let Some(event) = self.parser.next_event()? {
            self.events.event(&event, &mut self.builder, events)?;
            if events.last().is_some_and(|event| event.deltas.last() == Some(&Delta::Done)) {
                self.stopped = true;
                break;
            }
        }
        Ok(())
    }

    /// What has been decoded so far.
    pub fn completion(&self) -> &Completion {
        &self.builder.completion
    }

    /// What was decoded.
    pub fn into_completion(self) -> Completion {
        self.builder.into_completion()
    }
}

impl From<SseError> for UpstreamError {
    fn from(error: SseError) -> Self {
        Self::malformed(match error {
            SseError::TooLarge => "an event of the stream is too large",
            SseError::NotUtf8 => "an event of the stream is not UTF-8",
        })
    }
}
