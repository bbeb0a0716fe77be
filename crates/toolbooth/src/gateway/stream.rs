//! Streams: a provider's events become deltas, and deltas become OpenAI's chunks.

use super::adapter::{anthropic, gemini, openai};
use super::completion::{Completion, CompletionInfo, FinishReason, UpstreamError, Usage};
use super::node::{Members, Node, members_of, object};
use super::sse::{SseError, SseParser};
use super::{IdSource, Provider};
use crate::json::{self, Value};

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
    parser: SseParser,
    state: State,
    stopped: bool,
}

/// The state of a provider's stream.
#[derive(Debug)]
enum State {
    OpenAi(openai::Stream),
    Anthropic(anthropic::Stream),
    Gemini(gemini::Stream),
}

impl Decoder {
    /// A decoder. With `collect`, [`completion`](Self::completion) has the text and the native message too, which the
    /// tool loop needs; otherwise only calls, finish reason, usage and warnings.
    pub fn new(provider: Provider, ids: IdSource, collect: bool) -> Self {
        let state = match provider {
            Provider::OpenAi | Provider::OpenAiCompatible => {
                State::OpenAi(openai::Stream::new(ids, collect))
            }
            Provider::Anthropic => State::Anthropic(anthropic::Stream::new(ids, collect)),
            Provider::Gemini => State::Gemini(gemini::Stream::new(ids, collect)),
        };
        Self { parser: SseParser::default(), state, stopped: false }
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
        let result = self.drain(events).and_then(|()| {
            if self.stopped {
                return Ok(());
            }
            match &mut self.state {
                State::OpenAi(state) => state.end(events),
                State::Anthropic(state) => state.end(events),
                State::Gemini(state) => state.end(events),
            }
        });
        self.stopped = true;
        result
    }

    fn drain(&mut self, events: &mut Vec<StreamEvent>) -> Result<(), UpstreamError> {
        while let Some(event) = self.parser.next_event()? {
            match &mut self.state {
                State::OpenAi(state) => state.event(&event, events)?,
                State::Anthropic(state) => state.event(&event, events)?,
                State::Gemini(state) => state.event(&event, events)?,
            }
            if events.last().is_some_and(|event| event.deltas.last() == Some(&Delta::Done)) {
                self.stopped = true;
                break;
            }
        }
        Ok(())
    }

    /// What has been decoded so far.
    pub fn completion(&self) -> &Completion {
        match &self.state {
            State::OpenAi(state) => state.completion(),
            State::Anthropic(state) => state.completion(),
            State::Gemini(state) => state.completion(),
        }
    }

    /// The tokens that the provider has counted so far.
    pub fn usage(&self) -> Option<Usage> {
        match &self.state {
            State::OpenAi(state) => state.completion().usage.clone(),
            State::Anthropic(state) => state.usage(),
            State::Gemini(state) => state.usage(),
        }
    }

    /// What was decoded.
    pub fn into_completion(self) -> Completion {
        match self.state {
            State::OpenAi(state) => state.into_completion(),
            State::Anthropic(state) => state.into_completion(),
            State::Gemini(state) => state.into_completion(),
        }
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

    /// An encoder for events within a stream that has begun.
    pub(super) fn continuing(info: CompletionInfo) -> Self {
        Self { info, include_usage: true, begun: true }
    }

    /// The bytes for an event: its own, if it has any, otherwise a chunk for each delta.
    pub fn event(&mut self, event: &StreamEvent) -> Vec<u8> {
        let is_usage = matches!(event.deltas.as_slice(), [Delta::Usage(_)]);
        match &event.raw {
            Some(_) if is_usage && !self.include_usage => Vec::new(),
            Some(raw) => {
                self.begun |= !event.deltas.is_empty();
                raw.bytes.clone()
            }
            None => event.deltas.iter().flat_map(|delta| self.delta(delta)).collect(),
        }
    }

    /// The bytes for a delta. The first one is preceded by a chunk with the role.
    pub fn delta(&mut self, delta: &Delta) -> Vec<u8> {
        let delta = match delta {
            Delta::Text(text) => object([("content", text.as_str().into())]),
            Delta::Refusal(text) => object([("refusal", text.as_str().into())]),
            Delta::Reasoning(text) => object([("reasoning_content", text.as_str().into())]),
            Delta::ExtraContent(value) => object([("extra_content", Node::Ref(value))]),
            Delta::Call { index, id, name, custom, extra_content } => {
                let (kind, text) =
                    if *custom { ("custom", "input") } else { ("function", "arguments") };
                let called = [("name", name.as_str().into()), (text, "".into())];
                let mut call = members_of([
                    ("index", (*index).into()),
                    ("id", id.as_str().into()),
                    ("type", kind.into()),
                    (kind, object(called)),
                ]);
                call.put_some("extra_content", extra_content.as_ref().map(Node::Ref));
                object([("tool_calls", vec![call.into()].into())])
            }
            Delta::Arguments { index, fragment } => {
                let function = object([("arguments", fragment.as_str().into())]);
                let call = object([("index", (*index).into()), ("function", function)]);
                object([("tool_calls", vec![call].into())])
            }
            Delta::Finish(reason) => return self.finish(*reason, None),
            Delta::Usage(usage) => return self.usage(usage),
            Delta::Done => return b"data: [DONE]\n\n".to_vec(),
        };
        let mut bytes = self.role();
        bytes.extend(self.choice(delta, None, None));
        bytes
    }

    /// The finish chunk with the member `_2api`.
    pub fn finish(&mut self, reason: FinishReason, two_api: Option<&Value<'_>>) -> Vec<u8> {
        let mut bytes = self.role();
        bytes.extend(self.choice(Members::default().into(), Some(reason), two_api));
        bytes
    }

    /// The usage chunk; nothing if the client has not asked for it.
    fn usage(&self, usage: &Usage) -> Vec<u8> {
        if !self.include_usage {
            return Vec::new();
        }
        let mut chunk = self.chunk(Vec::new());
        chunk.put("usage", usage.node());
        event_bytes(&chunk)
    }

    /// The chunk with the role, if no chunk has been written.
    fn role(&mut self) -> Vec<u8> {
        if std::mem::replace(&mut self.begun, true) {
            return Vec::new();
        }
        self.choice(object([("role", "assistant".into()), ("content", "".into())]), None, None)
    }

    fn choice(
        &self,
        delta: Node<'_>,
        reason: Option<FinishReason>,
        two_api: Option<&Value<'_>>,
    ) -> Vec<u8> {
        let reason = reason.map_or(Node::Value(Value::Null), |reason| reason.as_str().into());
        let choice = [("index", 0_u64.into()), ("delta", delta), ("finish_reason", reason)];
        let mut chunk = self.chunk(vec![object(choice)]);
        chunk.put_some("_2api", two_api.map(|value| Node::Raw(value.text().into())));
        event_bytes(&chunk)
    }

    fn chunk<'a>(&'a self, choices: Vec<Node<'a>>) -> Members<'a> {
        members_of([
            ("id", self.info.id.as_str().into()),
            ("object", "chat.completion.chunk".into()),
            ("created", self.info.created.into()),
            ("model", self.info.model.as_str().into()),
            ("choices", choices.into()),
        ])
    }
}

/// An event with this data.
pub(super) fn event_bytes(data: &impl serde::Serialize) -> Vec<u8> {
    let mut bytes = b"data: ".to_vec();
    bytes.extend(json::to_vec(data));
    bytes.extend(b"\n\n");
    bytes
}

/// The event with a further member `_2api`; unchanged if its data is not a JSON object.
pub fn with_two_api(event: &RawEvent, two_api: &Value<'_>) -> RawEvent {
    let mut parser = SseParser::default();
    let changed = parser.push(&event.bytes).ok().and_then(|()| {
        parser.end();
        let data = parser.next_event().ok()??.data?;
        let Ok(Value::Object(mut chunk)) = json::parse(&data) else { return None };
        chunk.insert("_2api".into(), two_api.clone());
        Some(RawEvent { bytes: event_bytes(&Value::Object(chunk)), unchanged: false })
    });
    changed.unwrap_or_else(|| event.clone())
}

#[cfg(test)]
mod tests;
