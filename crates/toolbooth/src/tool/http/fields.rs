//! Writes values as text: OpenAPI's styles for parameters and forms.

use std::borrow::Cow;

use super::Style;
use crate::json::{Value, number_text, to_string};
use crate::url::query_value;

/// The fields of a query or of a form: `name=value`, encoded and separated by `&`.
#[derive(Debug, Default)]
pub(super) struct Fields(pub(super) String);

impl Fields {
    /// Adds the fields of a parameter. `null`, empty lists and empty objects add none.
    pub(super) fn add(&mut self, name: &str, value: &Value<'_>, style: Style, explode: bool) {
        match (style, value) {
            (_, Value::Null) => {}
            (Style::Json, value) => self.field(name, &to_string(value)),
            (Style::DeepObject, value) => self.add_deep(&mut name.to_owned(), value),
            (_, Value::Array(items)) if explode => {
                for item in items.iter().filter(|item| !item.is_null()) {
                    self.field(name, &text(item));
                }
            }
            (_, Value::Object(members)) if explode => {
                for (member, item) in members.iter().filter(|(_, item)| !item.is_null()) {
                    self.field(member, &text(item));
                }
            }
            (_, Value::Array(_) | Value::Object(_)) => {
                let delimiter = match style {
                    Style::SpaceDelimited => "%20",
                    Style::PipeDelimited => "%7C",
                    _ => ",",
                };
                let joined = joined(value, delimiter, delimiter, encoded);
                if !joined.is_empty() {
                    self.raw(name, &joined);
                }
            }
            (_, value) => self.field(name, &text(value)),
        }
    }

    /// Adds a field.
    pub(super) fn field(&mut self, name: &str, value: &str) {
        self.raw(name, &encoded(value));
    }

    /// Adds a field whose value is encoded.
    fn raw(&mut self, name: &str, value: &str) {
        let separator = if self.0.is_empty() { "" } else { "&" };
        self.0.extend([separator, &encoded(name), "=", value]);
    }

    /// Adds a field for each value in a list or an object: `name[member][0]=value`.
    fn add_deep(&mut self, name: &mut String, value: &Value<'_>) {
        let length = name.len();
        let mut within = |fields: &mut Self, key: &str, value: &Value<'_>| {
            name.extend(["[", key, "]"]);
            fields.add_deep(name, value);
            name.truncate(length);
        };
        match value {
            Value::Null => {}
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    within(self, &index.to_string(), item);
                }
            }
            Value::Object(members) => {
                for (key, member) in members.iter() {
                    within(self, key, member);
                }
            }
            value => self.field(name, &text(value)),
        }
    }
}

/// A value in the style `simple`: `a,b` and `name,value` or, exploded, `name=value`. Empty if there is nothing to write.
pub(super) fn simple(value: &Value<'_>, explode: bool, encode: fn(&str) -> String) -> String {
    joined(value, ",", if explode { "=" } else { "," }, encode)
}

/// The texts of a list or of an object in one text, as a part of a form has them.
pub(super) fn delimited(value: &Value<'_>, style: Style) -> String {
    let delimiter = match style {
        Style::SpaceDelimited => " ",
        Style::PipeDelimited => "|",
        _ => ",",
    };
    joined(value, delimiter, delimiter, str::to_owned)
}

/// The texts of a value, joined; names and values of an object are joined by `assign`.
fn joined(value: &Value<'_>, delimiter: &str, assign: &str, encode: fn(&str) -> String) -> String {
    let mut all = String::new();
    let mut add = |texts: &[&str]| {
        if !all.is_empty() {
            all.push_str(delimiter);
        }
        all.extend(texts.iter().copied());
    };
    match value {
        Value::Null => {}
        Value::Array(items) => {
            for item in items.iter().filter(|item| !item.is_null()) {
                add(&[&encode(&text(item))]);
            }
        }
        Value::Object(members) => {
            for (name, member) in members.iter().filter(|(_, member)| !member.is_null()) {
                add(&[&encode(name), assign, &encode(&text(member))]);
            }
        }
        value => add(&[&encode(&text(value))]),
    }
    all
}

/// A text without reserved characters.
pub(super) fn encoded(text: &str) -> String {
    query_value(text).to_string()
}

/// The text of a value: that of a string is itself, whole numbers have no fraction, and lists and objects are JSON.
pub(super) fn text<'v>(value: &'v Value<'_>) -> Cow<'v, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        // Schemas accept 2.0 as an integer, but services do not.
        Value::Number(number) if number.is_f64() => {
            Cow::Owned(number.as_f64().map(number_text).unwrap_or_default())
        }
        value => Cow::Owned(to_string(value)),
    }
}
