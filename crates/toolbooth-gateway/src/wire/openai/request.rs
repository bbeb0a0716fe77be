//! Requests in OpenAI's format, of which most members are passed on. The members have the provider's names and meanings.

use std::borrow::Cow;

use serde::{Serialize, Serializer};

use crate::wire::{Json, is_default};

/// The body of a request.
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

/// Which tools the model may or must call.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum ToolChoice<'t> {
    Word(&'static str),
    Function(NamedFunction<'t>),
    Allowed(AllowedChoice<'t>),
    Verbatim(Json<'t>),
}

#[derive(Debug, Serialize)]
pub(crate) struct NamedFunction<'t> {
    r#type: &'static str,
    function: Name<'t>,
}

#[derive(Debug, Serialize)]
struct Name<'t> {
    name: &'t str,
}

impl<'t> NamedFunction<'t> {
    pub(crate) fn new(name: &'t str) -> Self {
        Self { r#type: "function", function: Name { name } }
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct AllowedChoice<'t> {
    r#type: &'static str,
    allowed_tools: AllowedTools<'t>,
}

#[derive(Debug, Serialize)]
struct AllowedTools<'t> {
    mode: &'static str,
    tools: Vec<NamedFunction<'t>>,
}

impl<'t> AllowedChoice<'t> {
    pub(crate) fn new(required: bool, names: &'t [String]) -> Self {
        let mode = if required { "required" } else { "auto" };
        let tools = names.iter().map(|name| NamedFunction::new(name)).collect();
        Self { r#type: "allowed_tools", allowed_tools: AllowedTools { mode, tools } }
    }
}
