//! Calls of tools, as models write them.

use std::borrow::Cow;

use toolbooth::json::{self, JsonError, Object, Value};

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ToolCall<'t> {
    /// Pairs the call with its result; empty if the model sent none.
    pub id: Cow<'t, str>,
    /// The tool's name; empty if the model wrote none.
    pub name: Cow<'t, str>,
    pub arguments: Arguments<'t>,
    /// Whether it is a call of a custom tool, whose argument is plain text.
    pub custom: bool,
    /// Further members, such as `extra_content`.
    pub extra: Object<'t>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Arguments<'t> {
    /// Text that the model wrote: JSON, unless it made a mistake. Empty if there are no arguments.
    Text(Cow<'t, str>),
    /// JSON that the provider has parsed.
    Json(Value<'t>),
    /// JSON in a format that requires text.
    NotText(Value<'t>),
    /// Unusable arguments, with an explanation for the model.
    Unreadable(&'static str),
}

impl Default for Arguments<'_> {
    fn default() -> Self {
        Self::Text(Cow::Borrowed(""))
    }
}

impl<'t> Arguments<'t> {
    /// The arguments of a call that may be incomplete.
    pub(crate) const TRUNCATED: Self = Self::Unreadable(
        "The call was cut off at the token limit and did not run. \
         Please retry with shorter arguments or a higher limit.",
    );

    /// Arguments in a format that has them as JSON.
    pub(super) fn from_json(member: Option<Value<'t>>) -> Self {
        member.map_or_else(Self::default, Self::Json)
    }

    /// Arguments in a format that has them as text.
    pub(super) fn from_text(member: Option<Value<'t>>) -> Self {
        match member {
            None => Self::default(),
            Some(Value::String(text)) => Self::Text(text),
            Some(value) => Self::NotText(value),
        }
    }

    pub(crate) fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Text(text) => Cow::Borrowed(text),
            Self::Json(value) | Self::NotText(value) => Cow::Owned(value.text()),
            Self::Unreadable(_) => Cow::Borrowed(""),
        }
    }

    /// Parses the arguments: at most `limit` bytes of JSON, and at most `values_left` values in a text. The error is for
    /// the model: the position, never a value.
    pub(crate) fn parse(self, limit: usize, values_left: &mut usize) -> Result<Value<'t>, String> {
        let size = self.text().len();
        if size > limit {
            return Err(format!("The arguments have {size} bytes of JSON; the limit is {limit}."));
        }
        match self {
            Self::Text(text) if text.is_empty() => Ok(Value::Object(Object::default())),
            Self::Text(Cow::Borrowed(text)) => {
                json::parse_within(text, values_left).map_err(invalid_json)
            }
            // Most texts contain quotes, and therefore escapes.
            Self::Text(Cow::Owned(text)) => {
                json::parse_within(&text, values_left).map(Value::into_owned).map_err(invalid_json)
            }
            Self::Json(value) => Ok(value),
            Self::NotText(_) => Err("The arguments must be a string of JSON.".to_owned()),
            Self::Unreadable(reason) => Err(reason.to_owned()),
        }
    }
}

fn invalid_json(error: JsonError) -> String {
    format!("Invalid JSON in arguments. Please retry with valid JSON. Found: {error}.")
}
