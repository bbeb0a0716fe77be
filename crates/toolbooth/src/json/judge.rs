//! The same reader once more, by way of `serde_json`: what [`parse`](super::parse) must agree with, to
//! the column.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use super::MAX_DEPTH;
use crate::text::excerpt;

/// The value, or what `serde_json` says is wrong and where.
///
/// A repeated key is seen where its object ends: what is wrong before that, or in an object that
/// ends before, is told instead. So a first reading finds the object, and a second one its key.
pub(crate) fn judge(text: &str) -> Result<Value, String> {
    let (opened, faulty) = (Cell::new(0), Cell::new(None));
    read(text, Strict { room: MAX_DEPTH, opened: &opened, faulty: &faulty, look: None }).or_else(
        |fault| match faulty.take() {
            None => Err(fault),
            look => {
                opened.set(0);
                read(text, Strict { room: MAX_DEPTH, opened: &opened, faulty: &faulty, look })
            }
        },
    )
}

fn read(text: &str, strict: Strict<'_>) -> Result<Value, String> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = strict.deserialize(&mut reader);
    value.and_then(|value| reader.end().map(|()| value)).map_err(|error| error.to_string())
}

/// Builds a [`Value`] with `room` levels of nesting left.
#[derive(Clone, Copy)]
struct Strict<'a> {
    room: usize,
    /// How many objects have begun.
    opened: &'a Cell<usize>,
    /// Which of them, by that count, was the first to end with a key twice.
    faulty: &'a Cell<Option<usize>>,
    /// Which one is to be refused at the key itself.
    look: Option<usize>,
}

impl Strict<'_> {
    fn deeper<E: serde::de::Error>(self) -> Result<Self, E> {
        match self.room.checked_sub(1) {
            Some(room) => Ok(Self { room, ..self }),
            None => Err(E::custom(format_args!("nested deeper than {MAX_DEPTH} levels"))),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
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
        let number = self.opened.get();
        self.opened.set(number + 1);
        let (mut members, mut repeated) = (Map::new(), false);
        while let Some(key) = access.next_key::<String>()? {
            if members.contains_key(&key) {
                if self.look == Some(number) {
                    let key = excerpt(&key);
                    return Err(A::Error::custom(format_args!("the key \"{key}\" is repeated")));
                }
                repeated = true;
            }
            members.insert(key, access.next_value_seed(inner)?);
        }
        if repeated {
            self.faulty.set(Some(number));
            return Err(A::Error::custom("a key is repeated"));
        }
        Ok(Value::Object(members))
    }
}
