//! Streams of Gemini. The end of the stream is the end of the answer: calls may follow `finishReason`.

use super::response::Answer;
use crate::gateway::sse::SseEvent;
use crate::gateway::stream::{Delta, StreamEvent};
use crate::gateway::{Completion, IdSource, UpstreamError, Usage};
use crate::json;

/// The state of a stream.
#[derive(Debug)]
pub(in crate::gateway) struct Stream(Answer);

impl Stream {
    pub(in crate::gateway) fn new(ids: IdSource, collect: bool) -> Self {
        Self(Answer::new(ids, collect))
    }

    pub(in crate::gateway) fn completion(&self) -> &Completion {
        &self.0.builder.completion
    }

    pub(in crate::gateway) fn usage(&self) -> Option<Usage> {
        self.0.usage.clone()
    }

    pub(in crate::gateway) fn into_completion(self) -> Completion {
        self.0.into_completion()
    }

    pub(in crate::gateway) fn event(
        &mut self,
        event: &SseEvent<'_>,
        events: &mut Vec<StreamEvent>,
    ) -> Result<(), UpstreamError> {
        let Some(data) = &event.data else { return Ok(()) };
        let Ok(value) = json::parse(data) else {
            return Err(UpstreamError::malformed("an event of the stream is not JSON"));
        };
        let mut deltas = Vec::new();
        self.0.chunk(&value, &mut deltas)?;
        if !deltas.is_empty() {
            events.push(StreamEvent { raw: None, deltas });
        }
        Ok(())
    }

    /// The stream has ended.
    pub(in crate::gateway) fn end(
        &mut self,
        events: &mut Vec<StreamEvent>,
    ) -> Result<(), UpstreamError> {
        let Some(reason) = self.0.reason else { return Err(UpstreamError::BrokenOff) };
        let mut deltas = Vec::new();
        self.0.end(reason, &mut deltas);
        deltas.push(Delta::Done);
        events.push(StreamEvent { raw: None, deltas });
        Ok(())
    }
}
