//! A request in OpenAI's Chat Completions format.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::Provider;

/// A request. What is forwarded unchanged keeps its JSON text, so that the order of members, which models follow
/// when they write structured output, is not lost.
#[derive(Debug, Clone)]
pub struct ChatRequest {
    /// The model, as the client wrote it: `provider/model`, or an alias.
    pub model: String,
    /// Whether the answer is streamed.
    pub stream: bool,
    /// Whether the stream ends with a usage chunk: `stream_options.include_usage`.
    pub include_usage: bool,
    /// The conversation.
    pub history: Vec<HistoryItem>,
    /// The client's own tools.
    pub tools: Vec<Tool>,
    /// The entries of `tools` that select compiled-in tools: `type: "toolbooth"`, or `type: "mcp"` with the
    /// `server_url` `toolbooth`.
    pub gateway_tools: Vec<Box<RawValue>>,
    /// `tool_choice`, if the client sent it.
    pub tool_choice: Option<ToolChoice>,
    /// `request_options`, which are for the gateway.
    pub request_options: Option<Box<RawValue>>,
    /// All other members, by name.
    pub members: Vec<(String, Box<RawValue>)>,
}

/// A message of the client, or a round of the server-side tool loop.
#[derive(Debug, Clone)]
pub enum HistoryItem {
    /// A message as the client sent it.
    Message {
        /// Its role.
        role: Role,
        /// The whole message.
        json: Box<RawValue>,
    },
    /// A round of the tool loop: the model's answer, and the results of all its calls.
    Turn(Turn),
}

/// The role of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// `system`
    System,
    /// `developer`, which means the same to newer models.
    Developer,
    /// `user`
    User,
    /// `assistant`
    Assistant,
    /// `tool`: the result of a call.
    Tool,
}

/// A model's answer with calls, and their results: one round of the tool loop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// The provider whose format `native` has.
    pub provider: Provider,
    /// The assistant message in OpenAI's format, for other providers.
    pub message: String,
    /// The assistant message as the provider wrote it, with signatures and reasoning: JSON.
    pub native: String,
    /// A result for each call, in the order of the calls.
    pub results: Vec<ToolResult>,
}

/// The result of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolResult {
    /// The id of the call.
    pub call_id: String,
    /// The name of the tool.
    pub name: String,
    /// The result or an error message: text, or JSON as text.
    pub content: String,
    /// Whether the tool failed.
    pub is_error: bool,
}

/// A tool that the client runs.
#[derive(Debug, Clone)]
pub enum Tool {
    /// A function.
    Function(FunctionTool),
    /// A kind of tool that only OpenAI-compatible providers know, such as `custom`.
    Other {
        /// Its `type`.
        kind: String,
        /// Its name, if it has one.
        name: Option<String>,
        /// The whole definition.
        json: Box<RawValue>,
    },
}

/// A function that the client runs (2api.ai, 2.1).
#[derive(Debug, Clone)]
pub struct FunctionTool {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: Option<String>,
    /// The schema of its arguments; `None` if it has none.
    pub parameters: Option<Box<RawValue>>,
    /// Whether the provider must enforce the schema.
    pub strict: bool,
    /// The whole definition.
    pub json: Box<RawValue>,
}

/// Which tools the model may or must call (2api.ai, 3.1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolChoice {
    /// None.
    None,
    /// Any number of any.
    Auto,
    /// At least one of any.
    Required,
    /// This function.
    Function(String),
    /// Any number of these, or at least one.
    Allowed {
        /// Whether at least one is required.
        required: bool,
        /// The names of the functions.
        names: Vec<String>,
    },
    /// A choice that only OpenAI-compatible providers know, such as a custom tool.
    Other,
}

impl ToolChoice {
    /// Whether the model must call a tool.
    pub fn forces_call(&self) -> bool {
        match self {
            Self::Required | Self::Function(_) | Self::Other => true,
            Self::Allowed { required, .. } => *required,
            Self::None | Self::Auto => false,
        }
    }
}

/// The request is invalid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestError {
    /// What is wrong, and what was expected.
    pub message: String,
    /// The member with the fault, such as `messages[2].role`.
    pub param: Option<String>,
}

impl ChatRequest {
    /// Reads the body of a request.
    ///
    /// # Errors
    /// Invalid JSON, a member of the wrong type, or a request that no provider could get (`n` above 1, no messages).
    pub fn parse(_body: &str) -> Result<Self, RequestError> {
        Err(RequestError { message: String::new(), param: None })
    }
}
