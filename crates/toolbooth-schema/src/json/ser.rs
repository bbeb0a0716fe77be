//! JSON written by `serde_json`: any type that derives `Serialize`.

use std::io;

use serde::ser::{Serialize, Serializer};
use serde_json::ser::Formatter;

use super::Object;

/// The size of most responses, so that their buffer rarely has to grow.
const CAPACITY: usize = 512;

/// The serializer of everything that is written.
type JsonSerializer<'a> = serde_json::Serializer<Buffer<'a>, Verbatim>;

/// Writes one value.
type WriteFn<'a> = dyn Fn(&mut JsonSerializer<'_>) -> serde_json::Result<()> + 'a;

/// The JSON of a value, as short as possible; [`Rendered`] text in it is copied.
///
/// Infallible, because what we write always has a JSON form: `serde_json` only fails on maps whose keys are
/// not strings or numbers, and on a `Serialize` written by hand that returns an error. Such a value becomes
/// `null`, never half a document.
pub fn to_vec<T: Serialize + ?Sized>(value: &T) -> Vec<u8> {
    to_vec_with(&|serializer| value.serialize(serializer))
}

/// The same as a string.
pub fn to_string<T: Serialize + ?Sized>(value: &T) -> String {
    to_string_with(&|serializer| value.serialize(serializer))
}

/// Adds the JSON of a value to a text, as [`to_vec`] writes it.
pub fn append<T: Serialize + ?Sized>(json: &mut Vec<u8>, value: &T) {
    append_with(json, &|serializer| value.serialize(serializer));
}

// What does not depend on the type is not generic, because more than a hundred types are written.

fn to_vec_with(write: &WriteFn<'_>) -> Vec<u8> {
    let mut json = Vec::with_capacity(CAPACITY);
    append_with(&mut json, write);
    json
}

fn to_string_with(write: &WriteFn<'_>) -> String {
    String::from_utf8(to_vec_with(write)).unwrap_or_else(|_| "null".to_owned())
}

fn append_with(json: &mut Vec<u8>, write: &WriteFn<'_>) {
    let start = json.len();
    let mut serializer = serde_json::Serializer::with_formatter(Buffer(json), Verbatim);
    if write(&mut serializer).is_err() {
        json.truncate(start);
        json.extend_from_slice(b"null");
    }
}

/// What `serde_json` writes to. Half of what it writes are single bytes, such as quotes, for which a copy of a slice is slow.
struct Buffer<'a>(&'a mut Vec<u8>);

impl io::Write for Buffer<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes).map(|()| bytes.len())
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match bytes {
            [byte] => self.0.push(*byte),
            _ => self.0.extend_from_slice(bytes),
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Text that is JSON already: a list that was rendered at build time, or a value that was just written.
///
/// `serde_json`'s own `RawValue` would parse the text first, and a list can have thousands of tools.
#[derive(Debug, Clone, Copy)]
pub struct Rendered<'a>(pub &'a str);

impl Serialize for Rendered<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.0.as_bytes())
    }
}

/// Writes bytes as they are. One formatter for everything keeps one copy of the serializer in the Worker.
/// Only [`Rendered`] serializes to bytes here: the values of tools are `serde_json::Value`, which has none.
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

impl Serialize for Object<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter().map(|(name, value)| (name, value)))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Serialize;
    use serde_json::json;

    use super::{Rendered, append, to_string, to_vec};
    use crate::json::{Value, parse};

    #[test]
    fn values_and_structs() {
        #[derive(Serialize)]
        struct Response<'a> {
            call_id: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            error: Option<&'a str>,
            value: Value<'a>,
        }
        let text = r#"{"a":[1,-2,0.1,true,null,"x\n\"é"],"b":{},"c":[]}"#;
        let value = parse(text).unwrap();
        assert_eq!(to_string(&value), text);
        let response = Response { call_id: "1", error: None, value };
        let expected = format!(r#"{{"call_id":"1","value":{text}}}"#);
        assert_eq!(to_vec(&response), expected.as_bytes());
        assert_eq!(to_string(&json!({"b": 1.0, "a": 1e300})), r#"{"a":1e+300,"b":1.0}"#);
    }

    #[test]
    fn rendered_text_is_copied_and_everything_else_is_serialized() {
        #[derive(Serialize)]
        struct Message<'a> {
            list: Rendered<'a>,
            text: &'a str,
        }
        let message = Message { list: Rendered(r#"[{"a":1},2]"#), text: "\"" };
        assert_eq!(to_string(&message), r#"{"list":[{"a":1},2],"text":"\""}"#);
    }

    #[test]
    fn what_has_no_json_is_null() {
        let value = ([1], BTreeMap::from([([1], 2)]));
        assert_eq!((to_vec(&value), to_string(&value)), (b"null".to_vec(), "null".to_owned()));
        let mut json = b"1,".to_vec();
        append(&mut json, &value);
        append(&mut json, &[true]);
        assert_eq!(json, b"1,null[true]");
    }
}
