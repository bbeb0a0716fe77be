//! Requests to Anthropic. The members have the provider's names and meanings.

use std::borrow::Cow;

use serde::Serialize;

use super::ToolResult;
use crate::wire::{Json, is_default};
use toolbooth::json::Value;

#[derive(Debug, Default, Serialize)]
pub(crate) struct Request<'t> {
    pub model: &'t str,
    pub max_tokens: u64,
    #[serde(flatten)]
    pub sampling: Sampling<'t>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata<'t>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking: Option<Thinking<'t>>,
    #[serde(skip_serializing_if = "is_default")]
    pub output_config: OutputConfig<'t>,
    #[serde(skip_serializing_if = "is_default")]
    pub stream: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<Tool<'t>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_choice: Option<ToolChoice<'t>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub system: Vec<Block<'t>>,
    pub messages: Vec<Message<'t>>,
}

/// Members that choose among the possible next words.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Sampling<'t> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<Value<'t>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_p: Option<Value<'t>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_k: Option<Value<'t>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stop_sequences: Vec<Value<'t>>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Metadata<'t> {
    pub user_id: Cow<'t, str>,
}

#[derive(Debug, Clone, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Thinking<'t> {
    Disabled,
    BetweenTools,
    Adaptive {
        #[serde(skip_serializing_if = "Option::is_none")]
        display: Option<&'static str>,
    },
    Enabled {
        budget_tokens: u64,
    },
    #[serde(untagged)]
    Verbatim(Value<'t>),
}

#[derive(Debug, Default, PartialEq, Serialize)]
pub(crate) struct OutputConfig<'t> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<OutputFormat<'t>>,
}

#[derive(Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum OutputFormat<'t> {
    JsonSchema { schema: Json<'t> },
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Tool<'t> {
    Client {
        name: Cow<'t, str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        description: Option<&'t str>,
        input_schema: Json<'t>,
        #[serde(skip_serializing_if = "is_default")]
        strict: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<Value<'t>>,
    },
    Server(Json<'t>),
}

#[derive(Debug, Default, Serialize)]
pub(crate) struct ToolChoice<'t> {
    pub r#type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<&'t str>,
    #[serde(skip_serializing_if = "is_default")]
    pub disable_parallel_tool_use: bool,
}

#[derive(Debug, Serialize)]
pub(crate) struct Message<'t> {
    pub role: &'static str,
    pub content: Content<'t>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Content<'t> {
    Blocks(Vec<Block<'t>>),
    Native(Json<'t>),
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Block<'t> {
    Text {
        text: Cow<'t, str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<Value<'t>>,
    },
    Image {
        source: Source<'t>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<Value<'t>>,
    },
    Document {
        source: Source<'t>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<Value<'t>>,
    },
    ToolUse {
        id: Cow<'t, str>,
        name: Cow<'t, str>,
        input: Json<'t>,
    },
    #[serde(untagged)]
    Result(ToolResult<Cow<'t, str>, Vec<Block<'t>>>),
    #[serde(untagged)]
    Verbatim(Value<'t>),
}

/// An image or a PDF.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Source<'t> {
    Url { url: Cow<'t, str> },
    Base64 { media_type: Cow<'t, str>, data: Cow<'t, str> },
    Text { media_type: &'static str, data: Cow<'t, str> },
}
