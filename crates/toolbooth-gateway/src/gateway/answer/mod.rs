//! What has arrived of a model's answer: events, the calls and texts that they make, and the whole of it.

pub(in crate::gateway) mod builder;
pub(in crate::gateway) mod completion;
pub(in crate::gateway) mod sse;
pub(in crate::gateway) mod stream;
