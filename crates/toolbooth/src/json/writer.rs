//! JSON written from its beginning to its end, as `serde_json` writes it.
//!
//! `serde_json` goes through a generic layer for each byte that it looks at, which a compiler that
//! keeps the bundle small does not take away: here a text costs a look at each of its bytes, and a
//! copy of each stretch that stands for itself.

use std::fmt::Write as _;

use serde_json::Value;

/// A text of JSON that grows at its end.
#[derive(Debug)]
pub(crate) struct Writer(String);

/// The JSON of a value. Its own `Display`, and so `to_string`, would link a second writer, and tables
/// of Unicode with it.
pub fn text(value: &Value) -> String {
    let mut writer = Writer::new();
    writer.value(value);
    writer.0
}

impl Writer {
    /// An empty text with room for what most answers are, which then need not move as they grow.
    pub(crate) fn new() -> Self {
        Self(String::with_capacity(512))
    }

    /// Adds what is JSON already, or a piece of it.
    pub(crate) fn json(&mut self, piece: &str) -> &mut Self {
        self.0.push_str(piece);
        self
    }

    /// Adds a string.
    pub(crate) fn string(&mut self, text: &str) -> &mut Self {
        self.0.push('"');
        let mut rest = text;
        while let Some((plain, byte)) = split(&mut rest) {
            self.0.push_str(plain);
            self.escape(byte);
        }
        self.0.push_str(rest);
        self.0.push('"');
        self
    }

    /// Adds a value.
    pub(crate) fn value(&mut self, value: &Value) -> &mut Self {
        match value {
            Value::Null => self.json("null"),
            Value::Bool(true) => self.json("true"),
            Value::Bool(false) => self.json("false"),
            Value::Number(number) => {
                // Writing to a String does not fail.
                let _ = write!(self.0, "{number}");
                self
            }
            Value::String(text) => self.string(text),
            Value::Array(items) => self.array(items, |writer, item| {
                writer.value(item);
            }),
            Value::Object(members) => {
                self.0.push('{');
                let mut comma = "";
                for (name, value) in members {
                    self.json(comma).string(name).json(":").value(value);
                    comma = ",";
                }
                self.json("}")
            }
        }
    }

    /// Adds an array of what `one` writes of each item.
    pub(crate) fn array<T>(
        &mut self,
        items: impl IntoIterator<Item = T>,
        mut one: impl FnMut(&mut Self, T),
    ) -> &mut Self {
        self.0.push('[');
        let mut comma = "";
        for item in items {
            one(self.json(comma), item);
            comma = ",";
        }
        self.json("]")
    }

    /// The text.
    pub(crate) fn end(self) -> String {
        self.0
    }

    fn escape(&mut self, byte: u8) {
        self.0.push('\\');
        match byte {
            b'"' | b'\\' => self.0.push(byte.into()),
            b'\n' => self.0.push('n'),
            b'\r' => self.0.push('r'),
            b'\t' => self.0.push('t'),
            0x08 => self.0.push('b'),
            0x0c => self.0.push('f'),
            _ => {
                let _ = write!(self.0, "u{byte:04x}");
            }
        }
    }
}

/// Takes off a text all up to the first byte that must be escaped, and that byte.
fn split<'a>(text: &mut &'a str) -> Option<(&'a str, u8)> {
    let at = text.bytes().position(|byte| byte < b' ' || byte == b'"' || byte == b'\\')?;
    let (plain, byte) = (text.get(..at)?, *text.as_bytes().get(at)?);
    *text = text.get(at + 1..)?;
    Some((plain, byte))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::booth::tests::properties::any_json;

    #[test]
    fn texts_and_pieces() {
        let all: String =
            (0..=0x7f_u8).map(char::from).chain("é\u{2028}\u{1f600}".chars()).collect();
        for value in [json!(all), json!(""), json!("\\"), json!({ all: [[], {}] })] {
            assert_eq!(text(&value), value.to_string());
        }
        let mut writer = Writer::new();
        writer.json("{\"a\":").string("b\n").json(",\"c\":").array([1, 2], |writer, item| {
            writer.value(&json!(item));
        });
        writer.json("}");
        assert_eq!(writer.end(), r#"{"a":"b\n","c":[1,2]}"#);
    }

    proptest! {
        #[test]
        fn values_are_written_as_serde_json_writes_them(value in any_json()) {
            prop_assert_eq!(text(&value), value.to_string());
        }
    }
}
