//! What the client gets of the events that have arrived, and what is held back.

use std::mem;

use crate::gateway::answer::completion::{AssistantMessage, Completion};
use crate::gateway::answer::stream::{Delta, StreamEvent};
use crate::gateway::error::{GatewayError, Result};
use crate::gateway::format::front::EventEncoder;
use crate::gateway::relay::chat::Chat;
use crate::gateway::relay::output::stream::Incoming;
use crate::gateway::relay::report::Report;
use crate::wire::FinishReason;
use toolbooth::host::HttpError;

/// The most bytes that are held back until the end of a stream.
const MAX_BUFFERED: usize = 16 << 20;

/// Writes the events that the client gets.
pub(super) struct EventWriter {
    pub(super) encoder: Box<dyn EventEncoder>,
    /// Whether an earlier round had text.
    pub(super) wrote_text: bool,
    /// What is held back if events are forwarded; `None` if there may be several rounds.
    pub(super) buffer: Option<Buffer>,
}

/// The events that are held back until the end.
#[derive(Default)]
pub(super) struct Buffer {
    /// Whether calls are held back, because their arguments must be valid.
    calls: bool,
    /// Whether the first call has begun.
    began: bool,
    /// The events from the first call on.
    pub(super) bytes: Vec<u8>,
    /// The events from the finish reason on, which gets `_2api`.
    pub(super) tail: Vec<StreamEvent>,
    /// The bytes of these.
    tail_size: usize,
}

impl EventWriter {
    /// Writes what the client gets now of the events that have arrived. Returns whether the answer is complete.
    pub(super) fn accept(
        &mut self,
        chat: &Chat<'_>,
        incoming: &mut Incoming,
        out: &mut Vec<u8>,
    ) -> Result<bool> {
        chat.limits.check_calls(&incoming.decoder.completion().message.tool_calls)?;
        let mut is_done = false;
        for event in mem::take(&mut incoming.events) {
            is_done |= event.deltas.contains(&Delta::Done);
            if !self.write(event, out) {
                return Err(GatewayError::transport(&HttpError::TooLarge, &incoming.name));
            }
        }
        incoming.failure.take().map_or(Ok(is_done), Err)
    }

    /// Writes what the client gets of an event now. False if too much is held back.
    fn write(&mut self, event: StreamEvent, out: &mut Vec<u8>) -> bool {
        let held = match &mut self.buffer {
            Some(buffer) => {
                buffer.write(event, &mut *self.encoder, out);
                buffer.bytes.len() + buffer.tail_size
            }
            None => {
                self.text(&event.deltas, out);
                0
            }
        };
        held + self.encoder.held_bytes() <= MAX_BUFFERED
    }

    /// Writes the deltas that belong neither to a call nor to the end. The texts of rounds are separated by an empty line.
    fn text(&mut self, deltas: &[Delta], out: &mut Vec<u8>) {
        for delta in deltas {
            if let Delta::Text(_)
            | Delta::Refusal(_)
            | Delta::Reasoning(_)
            | Delta::Media(_)
            | Delta::Thinking(_)
            | Delta::TextBlock
            | Delta::Citation(_)
            | Delta::Block(_) = delta
            {
                if matches!(delta, Delta::Text(_)) && mem::take(&mut self.wrote_text) {
                    self.encoder.delta(&Delta::Text("\n\n".to_owned()), out);
                }
                self.encoder.delta(delta, out);
            }
        }
    }

    /// Writes what the provider must get back with a message.
    pub(super) fn state(&mut self, message: &AssistantMessage, out: &mut Vec<u8>) {
        let state = message.state();
        if !state.is_empty() {
            self.encoder.delta(&Delta::State(state), out);
        }
    }

    /// Writes what follows the text of the last round.
    pub(super) fn last(&mut self, completion: Completion, report: &Report, out: &mut Vec<u8>) {
        let message = completion.message;
        if let Some(notice) = report.notice() {
            self.wrote_text |= message.content.is_some_and(|text| !text.is_empty());
            self.text(&[Delta::Text(notice)], out);
        }
        let reason = match (message.tool_calls.is_empty(), completion.finish_reason) {
            (true, FinishReason::ToolCalls) => FinishReason::Stop,
            (_, reason) => reason,
        };
        let mut deltas = Vec::new();
        for (index, call) in message.tool_calls.iter().enumerate() {
            deltas.extend(Delta::of_call(index, call));
        }
        deltas.extend(message.extra.get("extra_content").cloned().map(Delta::ExtraContent));
        deltas.extend(completion.stop_sequence.map(Delta::StopSequence));
        deltas.push(Delta::Finish(reason));
        deltas.extend(report.usage.clone().map(Delta::Usage));
        deltas.push(Delta::Done);
        deltas.iter().for_each(|delta| self.encoder.delta(delta, out));
    }
}

impl Buffer {
    /// `calls` says whether calls are held back.
    pub(super) fn new(calls: bool) -> Self {
        Self { calls, ..Self::default() }
    }

    /// Writes an event, or holds it back.
    fn write(&mut self, event: StreamEvent, encoder: &mut dyn EventEncoder, out: &mut Vec<u8>) {
        if !self.tail.is_empty() {
            return self.push(event);
        }
        self.began |= event.deltas.iter().any(|delta| matches!(delta, Delta::Call { .. }));
        let into = if self.calls && self.began { &mut self.bytes } else { out };
        match event.deltas.iter().position(|delta| matches!(delta, Delta::Finish(_))) {
            None => encoder.event(&event, into),
            Some(_) if event.raw.is_some() => self.push(event),
            Some(position) => {
                let (before, after) = event.deltas.split_at(position);
                before.iter().for_each(|delta| encoder.delta(delta, into));
                self.push(StreamEvent { raw: None, deltas: after.to_vec() });
            }
        }
    }

    fn push(&mut self, event: StreamEvent) {
        // An event takes memory even if it has no bytes.
        self.tail_size += 64 + event.raw.as_ref().map_or(0, Vec::len);
        self.tail.push(event);
    }
}
