//! Anthropic Messages.

mod messages;
mod request;
mod response;
mod stream;
mod thinking;

pub(super) use request::translate;
pub(super) use response::decode;
pub(in crate::gateway) use stream::Stream;

/// The version of the API. Later ones reject `temperature`, `top_p` and `top_k`.
pub(super) const VERSION: &str = "2023-06-01";
