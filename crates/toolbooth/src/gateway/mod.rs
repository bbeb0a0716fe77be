//! The chat gateway: any model behind OpenAI's Chat Completions format (2api.ai, "Tool Calling").
//!
//! A [`ChatRequest`] is translated into the format of a [`Provider`], and the provider's answer into a [`Completion`]
//! or, event by event, into a stream of [`StreamEvent`]s. All of that is pure: the host sends what it produces.

pub mod adapter;
mod arguments;
mod builder;
mod catalog_tools;
mod chat;
pub mod completion;
mod error;
pub mod ids;
mod limits;
mod mixed;
mod models;
mod node;
mod plan;
mod report;
pub mod request;
pub(crate) mod routes;
pub(crate) mod settings;
pub mod sse;
pub mod stream;
mod streamed;
mod unary;
mod upstream;

pub use adapter::{Provider, TranslateError, TranslateOptions, Translation};
pub(crate) use chat::{Sender, chat};
pub use completion::{
    AssistantMessage, Completion, CompletionInfo, FinishReason, ToolCall, UpstreamError, Usage,
};
pub use ids::IdSource;
pub(crate) use models::models;
pub(crate) use report::log_rejected;
pub use request::{
    ChatRequest, FunctionTool, HistoryItem, RequestError, Role, Tool, ToolChoice, ToolResult, Turn,
};
pub use stream::{ChunkEncoder, Decoder, Delta, RawEvent, StreamEvent};

#[cfg(test)]
mod tests;
