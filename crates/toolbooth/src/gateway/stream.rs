//! Streams: the provider's events become deltas, and deltas become OpenAI's chunks.

use super::completion::{Completion, CompletionInfo, FinishReason, UpstreamError, Usage};
use super::{IdSource, Provider};
use crate::json::Value;

/// An event of a stream.
#[derive(Debug, Clone, PartialEq)]
pub struct StreamEvent {
    /// The event in OpenAI's format as the client gets it, if the provider's format is OpenAI's; otherwise `None`, and
    /// [`ChunkEncoder`] makes chunks from the deltas.
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
    provider: Provider,
    ids: IdSource,
    collect: bool,
    completion: Completion,
}

impl Decoder {
    /// A decoder. With `collect`, [`completion`](Self::completion) has the text and the native message too, which the
    /// tool loop needs; otherwise only calls, finish reason, usage and warnings.
    pub fn new(provider: Provider, ids: IdSource, collect: bool) -> Self {
        Self { provider, ids, collect, completion: Completion::default() }
    }

    /// Decodes the next bytes, cut anywhere.
    ///
    /// # Errors
    /// The provider reported an error, or its stream is malformed. `events` has what came before; nothing may follow.
    pub fn feed(
        &mut self,
        _bytes: &[u8],
        _events: &mut Vec<StreamEvent>,
    ) -> Result<(), UpstreamError> {
        Ok(())
    }

    /// The provider's stream has ended. Adds the last events.
    ///
    /// # Errors
    /// It ended too early.
    pub fn finish(&mut self, _events: &mut Vec<StreamEvent>) -> Result<(), UpstreamError> {
        Err(UpstreamError::BrokenOff)
    }

    /// What has been decoded so far.
    pub fn completion(&self) -> &Completion {
        &self.completion
    }

    /// What was decoded.
    pub fn into_completion(self) -> Completion {
        self.completion
    }
}

/// Writes OpenAI's chunks as Server-Sent Events.
#[derive(Debug)]
pub struct ChunkEncoder {
    info: CompletionInfo,
    include_usage: bool,
    begun: bool,
}

impl ChunkEncoder {
    /// An encoder. Without `include_usage`, usage chunks are left out.
    pub fn new(info: CompletionInfo, include_usage: bool) -> Self {
        Self { info, include_usage, begun: false }
    }

    /// The bytes for an event: its own, if it has any, otherwise a chunk for each delta. The first chunk has the role.
    pub fn event(&mut self, _event: &StreamEvent) -> Vec<u8> {
        Vec::new()
    }

    /// The bytes for a delta.
    pub fn delta(&mut self, _delta: &Delta) -> Vec<u8> {
        Vec::new()
    }

    /// The finish chunk with the member `_2api`.
    pub fn finish(&mut self, _reason: FinishReason, _two_api: Option<&Value<'_>>) -> Vec<u8> {
        Vec::new()
    }
}

/// The event with a further member `_2api`; unchanged if its data is not a JSON object.
pub fn with_two_api(event: &RawEvent, _two_api: &Value<'_>) -> RawEvent {
    event.clone()
}
