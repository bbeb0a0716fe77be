//! Requests in OpenAI's format, of which most members are passed on. The members have the provider's names and meanings.

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
