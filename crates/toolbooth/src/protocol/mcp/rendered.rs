//! JSON text inside a response: the one place where JSON is written without being serialized again.

use std::io;

use serde::{Serialize, Serializer};
use serde_json::ser::Formatter;

/// Text that is JSON already: a list that was rendered at build time, or a value that was just written.
///
/// `serde_json`'s own `RawValue` would parse the text first, and a list can have thousands of tools.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rendered<'a>(pub(super) &'a str);

impl Serialize for Rendered<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.0.as_bytes())
    }
}

/// Writes bytes as they are. Only [`Rendered`] serializes to bytes here: the values of tools are
/// `serde_json::Value`, which has none.
struct Verbatim;

impl Formatter for Verbatim {
    fn write_byte_array<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        json: &[u8],
    ) -> io::Result<()> {
        writer.write_all(json)
    }
}

/// The JSON of a message that may contain [`Rendered`] text.
pub(super) fn to_vec(message: &impl Serialize) -> Vec<u8> {
    let mut json = Vec::with_capacity(512);
    let mut serializer = serde_json::Serializer::with_formatter(&mut json, Verbatim);
    match message.serialize(&mut serializer) {
        Ok(()) => json,
        // None of our messages fails to serialize. Half of one would be worse than none.
        Err(_) => b"null".to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn text_is_copied_and_everything_else_is_serialized() {
        #[derive(Serialize)]
        struct Message<'a> {
            list: Rendered<'a>,
            text: &'a str,
            value: Value,
        }
        let value = json!([1, {"a": null}]);
        let message = Message { list: Rendered(r#"[{"a":1},2]"#), text: "\"", value };
        let expected = br#"{"list":[{"a":1},2],"text":"\"","value":[1,{"a":null}]}"#;
        assert_eq!(to_vec(&message), expected);
    }
}
