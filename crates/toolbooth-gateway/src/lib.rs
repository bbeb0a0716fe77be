//! Model providers for Toolbooth: a chat gateway, and tools in the formats of OpenAI, Anthropic and Gemini.
//!
//! A Worker serves them if it lists [`GATEWAY`] or [`PROVIDERS`] in `serve!`.
//!
//! - `wire`: the formats of the providers, which both share;
//! - `providers`: lists of tools and calls at `/providers`, for clients that ask models themselves;
//! - `gateway`: chats with any model at `/v1`.
#![forbid(unsafe_code)]

mod gateway;
pub mod providers;
mod wire;

/// The chat gateway: any model behind one endpoint.
pub use gateway::routes::CAPABILITY as GATEWAY;
/// The function-calling formats of OpenAI, Anthropic and Gemini.
pub use providers::CAPABILITY as PROVIDERS;

#[cfg(test)]
mod tests;
