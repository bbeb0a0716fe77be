//! JSON values that borrow from the text.

use std::borrow::Cow;
use std::mem;

use serde::Serialize;
use serde_json::Number;

use super::{Object, to_string};

/// A JSON value. Its strings and names borrow from the text, except those written with escapes.
///
/// `From<&serde_json::Value>` makes a view of one, to check it against a schema; `From<&Value>` makes a copy that
/// does not borrow.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
#[serde(untagged)]
pub enum Value<'t> {
    /// `null`.
    #[default]
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A string.
    String(Cow<'t, str>),
    /// An array.
    Array(Vec<Value<'t>>),
    /// An object.
    Object(Object<'t>),
}

impl<'t> Value<'t> {
    /// The member `name` of an object.
    pub fn get(&self, name: &str) -> Option<&Self> {
        self.as_object()?.get(name)
    }

    /// The string, if it is one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// The items, if it is an array.
    pub fn as_array(&self) -> Option<&[Self]> {
        match self {
            Self::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The items, if it is an array of strings.
    pub fn texts(&self) -> Option<Vec<String>> {
        self.as_array()?.iter().map(|item| Some(item.as_str()?.to_owned())).collect()
    }

    /// The members, if it is an object.
    pub fn as_object(&self) -> Option<&Object<'t>> {
        match self {
            Self::Object(members) => Some(members),
            _ => None,
        }
    }

    /// The number, if it is one.
    pub fn as_number(&self) -> Option<&Number> {
        match self {
            Self::Number(number) => Some(number),
            _ => None,
        }
    }

    /// The number as the nearest double, if it is one.
    pub fn as_f64(&self) -> Option<f64> {
        self.as_number()?.as_f64()
    }

    /// Whether it is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// The value; `null` takes its place.
    pub fn take(&mut self) -> Self {
        mem::take(self)
    }

    /// The same value, with copies of what it borrows.
    pub fn into_owned(self) -> Value<'static> {
        match self {
            Self::Null => Value::Null,
            Self::Bool(truth) => Value::Bool(truth),
            Self::Number(number) => Value::Number(number),
            Self::String(text) => Value::String(Cow::Owned(text.into_owned())),
            Self::Array(items) => Value::Array(items.into_iter().map(Value::into_owned).collect()),
            Self::Object(members) => Value::Object(members.into_owned()),
        }
    }

    /// Its JSON.
    pub fn text(&self) -> String {
        to_string(self)
    }
}

impl<'t> From<&'t serde_json::Value> for Value<'t> {
    fn from(value: &'t serde_json::Value) -> Self {
        match value {
            serde_json::Value::Null => Self::Null,
            serde_json::Value::Bool(truth) => Self::Bool(*truth),
            serde_json::Value::Number(number) => Self::Number(number.clone()),
            serde_json::Value::String(text) => Self::String(Cow::Borrowed(text)),
            serde_json::Value::Array(items) => Self::Array(items.iter().map(Self::from).collect()),
            serde_json::Value::Object(members) => {
                Self::Object(members.iter().map(|(name, value)| (name.as_str(), value)).collect())
            }
        }
    }
}

impl From<&Value<'_>> for serde_json::Value {
    fn from(value: &Value<'_>) -> Self {
        serde_json::to_value(value).unwrap_or_default()
    }
}

impl<'t> From<&'t str> for Value<'t> {
    fn from(text: &'t str) -> Self {
        Self::String(Cow::Borrowed(text))
    }
}
