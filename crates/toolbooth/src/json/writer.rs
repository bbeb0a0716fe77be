//! JSON put together piece by piece. Do not use it for anything new: derive `Serialize` and call
//! [`to_vec`](super::to_vec).

use serde::Serialize;
use serde_json::Value;

use super::to_string;

/// JSON that grows at its end.
#[derive(Debug)]
pub(crate) struct Writer(Vec<u8>);

/// The JSON of a value: the same as [`to_string`].
pub fn text(value: &Value) -> String {
    to_string(value)
}

impl Writer {
    /// An empty buffer with room for most responses.
    pub(crate) fn new() -> Self {
        Self(Vec::with_capacity(512))
    }

    /// Adds what is JSON already, or a piece of it.
    pub(crate) fn json(&mut self, piece: &str) -> &mut Self {
        self.0.extend_from_slice(piece.as_bytes());
        self
    }

    /// Adds a string.
    pub(crate) fn string(&mut self, text: &str) -> &mut Self {
        self.serialize(text)
    }

    /// Adds a value.
    pub(crate) fn value(&mut self, value: &Value) -> &mut Self {
        self.serialize(value)
    }

    fn serialize<T: Serialize + ?Sized>(&mut self, value: &T) -> &mut Self {
        // Fails on no type that is written here.
        let _ = serde_json::to_writer(&mut self.0, value);
        self
    }

    /// Adds a whole number.
    pub(crate) fn integer(&mut self, number: i64) -> &mut Self {
        self.serialize(&number)
    }

    /// Adds an array of what `one` writes of each item.
    pub(crate) fn array<T>(
        &mut self,
        items: impl IntoIterator<Item = T>,
        mut one: impl FnMut(&mut Self, T),
    ) -> &mut Self {
        self.json("[");
        let mut comma = "";
        for item in items {
            one(self.json(comma), item);
            comma = ",";
        }
        self.json("]")
    }

    /// The JSON as bytes.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    /// The JSON as a string.
    pub(crate) fn end(self) -> String {
        String::from_utf8(self.0).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn pieces() {
        let mut writer = Writer::new();
        writer.json("{\"a\":").string("b\n").json(",\"c\":").array([1, 2], |writer, item| {
            writer.value(&json!(item));
        });
        writer.json(",\"d\":").integer(i64::MIN).json("}");
        assert_eq!(writer.end(), r#"{"a":"b\n","c":[1,2],"d":-9223372036854775808}"#);
    }
}
