//! The formats of clients. Each has a folder with its [`Front`], and routes.

pub(super) mod chat;

use super::{
    ChatRequest, Completion, CompletionInfo, Delta, GatewayError, Notes, Result, StreamEvent,
};

/// A format of clients: how they write requests, and how they get answers and errors.
pub(super) trait Front: Sync {
    /// Reads a request. The notes get the members that mean nothing to the gateway.
    fn decode(&self, body: &str, notes: &Notes) -> Result<ChatRequest>;

    /// The body of an answer. `report` is the gateway's own member of it: the JSON of an object.
    fn encode(&self, completion: &Completion, info: &CompletionInfo, report: &str) -> Vec<u8>;

    /// Writes the events of an answer that is streamed.
    fn events(&self, request: &ChatRequest, info: CompletionInfo) -> Box<dyn EventEncoder>;

    /// The body of a response with an error.
    fn error(&self, error: &GatewayError) -> Vec<u8>;

    /// The last event of a stream that has begun.
    fn error_event(&self, error: &GatewayError) -> Vec<u8>;
}

/// Writes the events of a stream as the client gets them.
pub(super) trait EventEncoder {
    /// Writes an event: its own bytes, if they have the client's format, otherwise its deltas.
    fn event(&mut self, event: &StreamEvent, out: &mut Vec<u8>);

    /// Writes a delta.
    fn delta(&mut self, delta: &Delta, out: &mut Vec<u8>);

    /// Sets the gateway's own member of the answer, as JSON. It comes with the finish reason, or after it.
    fn report(&mut self, report: String);
}
