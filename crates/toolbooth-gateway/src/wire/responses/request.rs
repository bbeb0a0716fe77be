//! Requests in the format of Responses. The members have OpenAI's names and meanings.

use std::borrow::Cow;

use serde::Serialize;

use crate::wire::{Json, Members, is_default};

/// The members that have the same name and meaning in Chat Completions. So has `top_logprobs`, which other providers do not get.
pub(crate) const SAME_AS_CHAT: &[&str] = &[
    "metadata",
    "parallel_tool_calls",
    "prompt_cache_key",
    "prompt_cache_retention",
    "safety_identifier",
    "service_tier",
    "temperature",
    "top_p",
    "user",
];

#[derive(Debug, Default, Serialize)]
pub(crate) struct Request<'t> {
    pub model: &'t str,
    /// The items, each as JSON.
    pub input: Vec<Json<'t>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolDefinition<'t>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_choice: Option<Choice<'t>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_output_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<Reasoning<'t>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<Text<'t>>,
    pub include: Vec<&'static str>,
    /// The members that mean nothing here.
    #[serde(flatten)]
    pub members: Members<'t>,
    pub store: bool,
    #[serde(skip_serializing_if = "is_default")]
    pub stream: bool,
}

#[derive(Debug, Serialize)]
pub(crate) struct Reasoning<'t> {
    pub effort: Cow<'t, str>,
    pub summary: &'static str,
}

#[derive(Debug, Default, PartialEq, Serialize)]
pub(crate) struct Text<'t> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verbosity: Option<Cow<'t, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<Members<'t>>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum ToolDefinition<'t> {
    Function(Function<'t>),
    Custom {
        name: &'t str,
        #[serde(skip_serializing_if = "Option::is_none")]
        description: Option<&'t str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        format: Option<Members<'t>>,
    },
    #[serde(untagged)]
    Verbatim(Json<'t>),
}

/// A function. Without `strict`, Responses tries to be strict.
#[derive(Debug, Serialize)]
pub(crate) struct Function<'t> {
    pub name: &'t str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<&'t str>,
    pub parameters: Json<'t>,
    pub strict: bool,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Choice<'t> {
    Function {
        name: Cow<'t, str>,
    },
    Custom {
        name: Cow<'t, str>,
    },
    AllowedTools(AllowedTools<'t>),
    #[serde(untagged)]
    Word(&'static str),
    #[serde(untagged)]
    Verbatim(Json<'t>),
}

#[derive(Debug, Serialize)]
pub(crate) struct AllowedTools<'t> {
    pub mode: &'static str,
    pub tools: Vec<Choice<'t>>,
}

/// An item of the conversation.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Item<'t> {
    Message { role: &'static str, content: Vec<Part<'t>> },
    FunctionCall { call_id: Cow<'t, str>, name: Cow<'t, str>, arguments: Cow<'t, str> },
    CustomToolCall { call_id: Cow<'t, str>, name: Cow<'t, str>, input: Cow<'t, str> },
    FunctionCallOutput { call_id: Cow<'t, str>, output: Output<'t> },
    CustomToolCallOutput { call_id: Cow<'t, str>, output: Output<'t> },
}

/// The result of a call.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Output<'t> {
    Text(Cow<'t, str>),
    Parts(Vec<Part<'t>>),
}

/// A part of a message or of a result.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Part<'t> {
    InputText {
        text: Cow<'t, str>,
    },
    OutputText {
        text: Cow<'t, str>,
    },
    Refusal {
        refusal: Cow<'t, str>,
    },
    InputImage {
        image_url: Cow<'t, str>,
        detail: Cow<'t, str>,
    },
    InputFile {
        #[serde(skip_serializing_if = "Option::is_none")]
        filename: Option<Cow<'t, str>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        file_data: Option<Cow<'t, str>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        file_url: Option<Cow<'t, str>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        file_id: Option<Cow<'t, str>>,
    },
}
