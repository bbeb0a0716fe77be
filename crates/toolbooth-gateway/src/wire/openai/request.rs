//! Requests in OpenAI's format, of which most members are passed on. The members have the provider's names and meanings.

use std::borrow::Cow;

use serde::{Serialize, Serializer};

use crate::wire::{Json, is_default};

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

/// Members in the order in which they are written.
#[derive(Debug, Default)]
pub(crate) struct Members<'t>(pub Vec<(Cow<'t, str>, Json<'t>)>);

impl Serialize for Members<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
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
