//! The chat gateway: any model behind OpenAI's Chat Completions format (2api.ai, "Tool Calling").
//!
//! A [`ChatRequest`] is translated into the format of a [`Provider`], and the provider's answer into a [`Completion`]
//! or, event by event, into a stream of [`StreamEvent`]s. All of that is pure: the host sends what it produces.

pub mod adapter;
mod builder;
pub mod completion;
pub mod ids;
mod node;
pub mod request;
pub mod sse;
pub mod stream;

pub use adapter::{Provider, TranslateError, TranslateOptions, Translation};
pub use completion::{
    AssistantMessage, Completion, CompletionInfo, FinishReason, ToolCall, UpstreamError, Usage,
};
pub use ids::IdSource;
pub use request::{
    ChatRequest, FunctionTool, HistoryItem, RequestError, Role, Tool, ToolChoice, ToolResult, Turn,
};
pub use stream::{ChunkEncoder, Decoder, Delta, RawEvent, StreamEvent};
