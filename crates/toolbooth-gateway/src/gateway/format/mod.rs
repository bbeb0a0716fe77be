//! The formats of chats. Each has a folder with its `front`, for clients, and its `adapter`, for providers. What all fronts and all
//! adapters share is in `front` and `adapter`.

pub(in crate::gateway) mod adapter;
pub(in crate::gateway) mod chat_completions;
pub(in crate::gateway) mod front;
pub(in crate::gateway) mod gemini;
pub(in crate::gateway) mod messages;
pub(in crate::gateway) mod responses;
pub(in crate::gateway) mod workers_ai;
