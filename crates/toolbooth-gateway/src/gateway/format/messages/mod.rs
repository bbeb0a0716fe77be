//! Anthropic Messages.

pub(in crate::gateway) mod adapter;
pub(in crate::gateway) mod front;
