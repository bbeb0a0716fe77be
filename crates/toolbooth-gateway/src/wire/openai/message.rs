//! Assistant messages and their calls in OpenAI's format, whole or as parts of a stream.

use serde::Serialize;

use super::argument_of;
use crate::wire::{Arguments, ImagePart, ToolCall};
use toolbooth::json::{Object, Value};

/// A message, or a part of one.
#[derive(Default, Serialize)]
pub(crate) struct Message<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<&'static str>,
    /// `Some(None)` is `null`, which whole messages require.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<Option<&'a str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refusal: Option<Option<&'a str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_content: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extra_content: Option<&'a Value<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<ImagePart<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audio: Option<&'a Object<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<Call<'a>>,
    /// Further members.
    #[serde(flatten)]
    pub extra: Option<&'a Object<'a>>,
}

/// A call, or a part of one.
#[derive(Default, Serialize)]
pub(crate) struct Call<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r#type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function: Option<Function<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub custom: Option<Custom<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extra_content: Option<&'a Value<'a>>,
    /// Further members.
    #[serde(flatten)]
    pub extra: Option<&'a Object<'a>>,
}

#[derive(Serialize)]
pub(crate) struct Function<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    arguments: &'a str,
}

#[derive(Serialize)]
pub(crate) struct Custom<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    input: &'a str,
}

impl<'a> Call<'a> {
    /// A part of the arguments.
    pub(crate) fn arguments(custom: bool, name: Option<&'a str>, arguments: &'a str) -> Self {
        match custom {
            true => Self { custom: Some(Custom { name, input: arguments }), ..Self::default() },
            false => Self { function: Some(Function { name, arguments }), ..Self::default() },
        }
    }

    /// The beginning of a call, with its name and perhaps its arguments.
    pub(crate) fn begin(custom: bool, id: &'a str, name: &'a str, arguments: &'a str) -> Self {
        let r#type = Some(argument_of(custom).0);
        Self { id: Some(id), r#type, ..Self::arguments(custom, Some(name), arguments) }
    }

    pub(crate) fn whole(call: &'a ToolCall<'_>) -> Self {
        let Arguments::Text(arguments) = &call.arguments else { return Self::default() };
        Self {
            extra: Some(&call.extra),
            ..Self::begin(call.custom, &call.id, &call.name, arguments)
        }
    }
}
