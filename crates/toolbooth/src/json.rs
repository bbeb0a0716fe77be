//! JSON from strangers: parsed strictly, or refused with the place of the fault.
//!
//! Beyond what `serde_json` refuses, a body is refused when an object repeats a key (two readers
//! could disagree on which value counts) and when it nests deeper than [`MAX_DEPTH`] (everything
//! that later walks the value does so recursively).

mod form;
mod object;
mod writer;

use std::fmt;

use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor,
};
use serde_json::map::Entry;
use serde_json::{Map, Number, Value};

use crate::call::excerpt;
pub(crate) use object::object;
pub(crate) use writer::{Writer, text};

/// The deepest nesting of arrays and objects that is read. `[[1]]` has depth 2.
pub const MAX_DEPTH: usize = 64;

/// Why a body is not JSON that can be served.
///
/// Displays the reason with line and column. It can name a repeated key, never a value.
#[derive(Debug)]
pub struct JsonError(serde_json::Error);

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for JsonError {}

/// Reads exactly one JSON value from `text`.
///
/// # Errors
/// Invalid JSON, a repeated key, nesting deeper than [`MAX_DEPTH`], a number beyond the range of a
/// double, anything after the value.
pub fn parse(text: &str) -> Result<Value, JsonError> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = Strict { room: MAX_DEPTH }.deserialize(&mut reader).map_err(JsonError)?;
    reader.end().map_err(JsonError)?;
    Ok(value)
}

/// Reads exactly one JSON value from `bytes`; `None` when they are not that.
pub(crate) fn parse_bytes(bytes: &[u8]) -> Option<Value> {
    parse(str::from_utf8(bytes).ok()?).ok()
}

/// Reads JSON of the form of `T`; `None` when it is not that.
///
/// By way of a [`Value`], as the inputs of tools are read: a second reader for each form would take
/// more room in the Worker than the detour takes time.
pub(crate) fn read<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    read_value(&parse_bytes(bytes)?)
}

/// Reads a value of the form of `T`; `None` when it is not that.
pub(crate) fn read_value<T: DeserializeOwned>(value: &Value) -> Option<T> {
    T::deserialize(form::Form(value)).ok()
}

/// Builds a [`Value`] with `room` levels of nesting left.
#[derive(Clone, Copy)]
struct Strict {
    room: usize,
}

impl Strict {
    fn deeper<E: serde::de::Error>(self) -> Result<Self, E> {
        match self.room.checked_sub(1) {
            Some(room) => Ok(Self { room }),
            None => Err(E::custom(format_args!("nested deeper than {MAX_DEPTH} levels"))),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("number out of range"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut items = Vec::new();
        while let Some(item) = access.next_element_seed(inner)? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let inner = self.deeper()?;
        let mut members = Map::new();
        while let Some(key) = access.next_key::<String>()? {
            match members.entry(key) {
                Entry::Vacant(place) => {
                    place.insert(access.next_value_seed(inner)?);
                }
                Entry::Occupied(known) => {
                    let key = excerpt(known.key());
                    return Err(A::Error::custom(format_args!("the key \"{key}\" is repeated")));
                }
            }
        }
        Ok(Value::Object(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nested(depth: usize) -> String {
        "[".repeat(depth) + &"]".repeat(depth)
    }

    #[test]
    fn what_is_read_and_what_is_refused() {
        let deep = nested(MAX_DEPTH);
        let too_deep = nested(MAX_DEPTH + 1);
        let long = format!("{{\"{0}\":1,\"{0}\":2}}", "k".repeat(5000));
        let cut = format!("the key \"{}…\" is repeated at line 1 column 10008", "k".repeat(64));
        let rows: &[(&str, Result<&str, &str>)] = &[
            (&long, Err(&cut)),
            ("{\"a\":[1,-2,0.1,true,null,\"x\"]}", Ok("{\"a\":[1,-2,0.1,true,null,\"x\"]}")),
            (" 1 ", Ok("1")),
            ("18446744073709551615", Ok("18446744073709551615")),
            ("-9223372036854775808", Ok("-9223372036854775808")),
            ("\"\\ud83d\\ude00\"", Ok("\"\u{1f600}\"")),
            (&deep, Ok(&deep)),
            (&too_deep, Err("nested deeper than 64 levels at line 1 column 66")),
            ("{\"a\":1,\"a\":2}", Err("the key \"a\" is repeated at line 1 column 10")),
            ("{\"a\":{\"b\":1,\"b\":1}}", Err("the key \"b\" is repeated at line 1 column 15")),
            ("1e999", Err("number out of range at line 1 column 5")),
            ("1 2", Err("trailing characters at line 1 column 3")),
            ("", Err("EOF while parsing a value at line 1 column 0")),
            ("{\"a\":", Err("EOF while parsing a value at line 1 column 5")),
            ("\"\\ud800\"", Err("unexpected end of hex escape at line 1 column 8")),
            ("\u{feff}{}", Err("expected value at line 1 column 1")),
            ("NaN", Err("expected value at line 1 column 1")),
        ];
        for (body, expected) in rows {
            let got = parse(body).map(|value| value.to_string()).map_err(|error| error.to_string());
            let expected = expected.map(str::to_owned).map_err(str::to_owned);
            assert_eq!(got, expected, "{body}");
        }
    }
}
