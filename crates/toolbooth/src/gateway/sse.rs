//! Server-Sent Events, cut into events at any byte.

/// The data of an event, with its name and its bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SseEvent {
    /// The `event` field; empty if there is none.
    pub name: String,
    /// The `data` fields, joined by line feeds.
    pub data: String,
    /// The event as it was sent, up to and including the blank line.
    pub raw: Vec<u8>,
}
