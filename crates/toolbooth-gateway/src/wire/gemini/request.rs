//! Requests to Gemini. The members have the provider's names and meanings.

use std::borrow::Cow;

use serde::Serialize;

use super::ResultPart;
use crate::wire::{Json, Members, is_default};
use toolbooth::json::Value;

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Request<'t> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_instruction: Option<System<'t>>,
    pub contents: Vec<Content<'t>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<[Tools<'t>; 1]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_config: Option<ToolConfig<'t>>,
    #[serde(skip_serializing_if = "is_default")]
    pub generation_config: Members<'t>,
}

#[derive(Debug, Serialize)]
pub(crate) struct System<'t> {
    pub parts: Vec<Part<'t>>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Content<'t> {
    pub role: &'static str,
    pub parts: Vec<Part<'t>>,
}

#[derive(Debug, Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub(crate) enum Part<'t> {
    Text {
        text: Cow<'t, str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        thought_signature: Option<Cow<'t, str>>,
    },
    Call {
        function_call: FunctionCall<'t>,
        #[serde(skip_serializing_if = "Option::is_none")]
        thought_signature: Option<Cow<'t, str>>,
    },
    Result(ResultPart<Cow<'t, str>, Value<'t>>),
    File {
        file_data: FileData<'t>,
        #[serde(skip_serializing_if = "Option::is_none")]
        thought_signature: Option<Cow<'t, str>>,
    },
    Inline {
        inline_data: InlineData<'t>,
        #[serde(skip_serializing_if = "Option::is_none")]
        thought_signature: Option<Cow<'t, str>>,
    },
    /// As Gemini wrote it.
    Native(Json<'t>),
}

impl<'t> Part<'t> {
    /// The part with a signature, if the model has signed it.
    pub(crate) fn signed(mut self, signature: Option<Cow<'t, str>>) -> Self {
        match &mut self {
            Self::Text { thought_signature, .. }
            | Self::Call { thought_signature, .. }
            | Self::File { thought_signature, .. }
            | Self::Inline { thought_signature, .. } => *thought_signature = signature,
            Self::Result(_) | Self::Native(_) => {}
        }
        self
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct FunctionCall<'t> {
    pub name: Cow<'t, str>,
    pub args: Json<'t>,
}

/// A file at an address.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FileData<'t> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<&'static str>,
    pub file_uri: Cow<'t, str>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InlineData<'t> {
    pub mime_type: Cow<'t, str>,
    pub data: Cow<'t, str>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Tools<'t> {
    pub function_declarations: Vec<Declaration<'t>>,
}

#[derive(Debug, Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub(crate) enum Declaration<'t> {
    Client {
        name: Cow<'t, str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        description: Option<&'t str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        parameters_json_schema: Option<Json<'t>>,
    },
    Server(Json<'t>),
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ToolConfig<'t> {
    pub function_calling_config: CallingConfig<'t>,
}

/// Which functions the model may or must call.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CallingConfig<'t> {
    pub mode: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowed_function_names: Option<Vec<Cow<'t, str>>>,
}
