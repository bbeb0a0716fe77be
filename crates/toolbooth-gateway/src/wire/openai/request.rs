//! Requests in OpenAI's format, of which most members are passed on. The members have the provider's names and meanings.

use std::borrow::Cow;

use serde::Serialize;

use crate::wire::{Json, Members, is_default};

#[derive(Debug, Default, Serialize)]
pub(crate) struct Request<'t> {
    pub model: &'t str,
    pub messages: Vec<Json<'t>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<Json<'t>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_choice: Option<ToolChoice<'t>>,
    /// The members that mean nothing here.
    #[serde(flatten)]
    pub members: Members<'t>,
    #[serde(skip_serializing_if = "is_default")]
    pub stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream_options: Option<Members<'t>>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum ToolChoice<'t> {
    Function {
        function: Name<'t>,
    },
    AllowedTools {
        allowed_tools: AllowedTools<'t>,
    },
    #[serde(untagged)]
    Word(&'static str),
    #[serde(untagged)]
    Verbatim(Json<'t>),
}

#[derive(Debug, Serialize)]
pub(crate) struct Name<'t> {
    pub name: &'t str,
}

#[derive(Debug, Serialize)]
pub(crate) struct AllowedTools<'t> {
    pub mode: &'static str,
    pub tools: Vec<ToolChoice<'t>>,
}

/// A message that is no assistant's.
#[derive(Debug, Serialize)]
pub(crate) struct Said<'t> {
    pub role: &'static str,
    pub content: Content<'t>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Content<'t> {
    Text(Cow<'t, str>),
    Parts(Vec<Part<'t>>),
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Part<'t> {
    Text { text: Cow<'t, str> },
    ImageUrl { image_url: ImageUrl<'t> },
    InputAudio { input_audio: InputAudio<'t> },
    File { file: File<'t> },
}

#[derive(Debug, Serialize)]
pub(crate) struct ImageUrl<'t> {
    pub url: Cow<'t, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<&'t str>,
}

#[derive(Debug, Serialize)]
pub(crate) struct InputAudio<'t> {
    pub data: &'t str,
    pub format: &'t str,
}

#[derive(Debug, Serialize)]
pub(crate) struct File<'t> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_data: Option<Cow<'t, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filename: Option<&'t str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_id: Option<&'t str>,
}
