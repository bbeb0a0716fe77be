//! Streams: a provider's events become deltas.

use crate::gateway::answer::builder::Builder;
use crate::gateway::answer::completion::{Completion, Read, UpstreamError};
use crate::gateway::answer::sse::{SseError, SseParser};
use crate::gateway::format::adapter::{EventDecoder, Format, Names};
use crate::gateway::ids::IdSource;
use crate::gateway::provider_state::ProviderState;
use crate::wire::openai::message::Call;
use crate::wire::{FinishReason, Media, ToolCall, Usage};
use toolbooth::json::Value;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StreamEvent {
    /// The event as the provider sent it, up to and including the blank line, if the client reads its format. Otherwise
    /// the [`EventEncoder`](super::front::EventEncoder) writes the deltas.
    pub raw: Option<Vec<u8>>,
    /// What the event means, in order. Empty for what carries nothing (comments, pings).
    pub deltas: Vec<Delta>,
}

/// A part of an answer. Calls are known by their position among the calls.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Delta {
    Text(String),
    Refusal(String),
    Reasoning(String),
    Call {
        index: usize,
        id: String,
        name: String,
        custom: bool,
        extra_content: Option<Value<'static>>,
    },
    Arguments {
        index: usize,
        custom: bool,
        fragment: String,
    },
    /// A picture, or a part of a sound.
    Media(Media<'static>),
    /// A block of thinking of Anthropic is complete: the reasoning before it, with the signature, or one that cannot be read.
    Thinking(Value<'static>),
    /// A block of text of Anthropic begins, which may have citations.
    TextBlock,
    /// A citation of that block.
    Citation(Value<'static>),
    /// A block of Anthropic that only its clients can read is complete.
    Block(Value<'static>),
    /// `extra_content` of the message, for clients of Chat Completions.
    ExtraContent(Value<'static>),
    /// What the provider must get back with the message, as far as it has come since the last one.
    State(ProviderState),
    /// The model stopped at this sequence of the request. It comes before [`Delta::Finish`].
    StopSequence(String),
    /// The model stopped. Exactly one per stream.
    Finish(FinishReason),
    /// The tokens. At most one per stream, after [`Delta::Finish`].
    Usage(Usage),
    /// The stream is complete. The last delta.
    Done,
}

impl Delta {
    /// The deltas of a whole call.
    pub(in crate::gateway) fn of_call(index: usize, call: &ToolCall<'_>) -> [Self; 2] {
        let extra_content = call.extra.get("extra_content").cloned().map(Value::into_owned);
        let (id, name, custom) = (call.id.to_string(), call.name.to_string(), call.custom);
        let fragment = call.arguments.text().into_owned();
        [
            Self::Call { index, id, name, custom, extra_content },
            Self::Arguments { index, custom, fragment },
        ]
    }

    /// A part of a call as OpenAI writes it; `None` for other deltas.
    pub(in crate::gateway) fn call_part(&self) -> Option<Call<'_>> {
        match self {
            Self::Call { index, id, name, custom, extra_content } => Some(Call {
                index: Some(*index),
                extra_content: extra_content.as_ref(),
                ..Call::begin(*custom, id, name, "")
            }),
            Self::Arguments { index, custom, fragment } => {
                Some(Call { index: Some(*index), ..Call::arguments(*custom, None, fragment) })
            }
            _ => None,
        }
    }
}

pub(crate) struct Decoder {
    parser: SseParser,
    builder: Builder,
    format: Box<dyn EventDecoder>,
    stopped: bool,
}

/// What a decoder keeps of a stream.
#[derive(Debug, Clone, Default)]
pub(crate) struct DecodeOptions {
    /// Whether [`Decoder::completion`] has the text and the native message too, which the tool loop needs; otherwise it
    /// only has calls, finish reason, usage and warnings.
    pub collect: bool,
    /// Whether events keep their bytes, because the client reads the provider's format.
    pub forward: bool,
    /// The functions that the provider knows by other names.
    pub names: Names,
    /// The id of the provider.
    pub provider: String,
}

impl Decoder {
    pub(crate) fn new(format: Format, ids: IdSource, options: DecodeOptions) -> Self {
        Self {
            parser: SseParser::default(),
            builder: Builder::new(ids, options),
            format: (format.adapter().decoder)(),
            stopped: false,
        }
    }

    /// Decodes the next bytes, cut anywhere. After an error, which the provider reported or made, `events` has what came
    /// before, and nothing follows.
    pub(crate) fn feed(&mut self, bytes: &[u8], events: &mut Vec<StreamEvent>) -> Read {
        if self.stopped {
            return Ok(());
        }
        let result = self.parser.push(bytes).map_err(UpstreamError::from);
        let result = result.and_then(|()| self.drain(events));
        self.stopped |= result.is_err();
        result
    }

    /// The provider's stream has ended: adds the last events, unless it ended too early.
    pub(crate) fn finish(&mut self, events: &mut Vec<StreamEvent>) -> Read {
        if self.stopped {
            return Ok(());
        }
        self.parser.end();
        let mut result = self.drain(events);
        if result.is_ok() && !self.stopped {
            result = self.format.end(&mut self.builder);
            self.take_events(result.is_ok(), events);
        }
        self.stopped = true;
        result
    }

    fn drain(&mut self, events: &mut Vec<StreamEvent>) -> Read {
        while !self.stopped
            && let Some(event) = self.parser.next_event()?
        {
            if event.is_keep_alive() {
                continue;
            }
            let result = self.format.event(&event, &mut self.builder);
            self.take_events(result.is_ok(), events);
            result?;
            self.stopped = events.last().is_some_and(|it| it.deltas.last() == Some(&Delta::Done));
        }
        Ok(())
    }

    /// Moves the events to the caller. The last one is complete if it was read without an error.
    fn take_events(&mut self, is_complete: bool, events: &mut Vec<StreamEvent>) {
        if is_complete {
            self.builder.end_event(None);
        }
        events.append(&mut self.builder.events);
    }

    pub(crate) fn completion(&self) -> &Completion {
        &self.builder.completion
    }

    pub(crate) fn into_completion(self) -> Completion {
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
