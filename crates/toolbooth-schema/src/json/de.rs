//! A serde `Deserializer` over a borrowed [`Value`].
//!
//! Its error has no message: the input of a tool has already passed its schema, and of another server's answer
//! only matters whether it fits. That keeps every derived `Deserialize` small.

use std::fmt;

use serde::de::{
    DeserializeSeed, Deserializer, Error, Expected, MapAccess, SeqAccess, Unexpected, Visitor,
    value::{BorrowedStrDeserializer, MapAccessDeserializer},
};
use serde::forward_to_deserialize_any;

use super::Value;
use super::object::Member;

/// A value does not fit the type.
#[derive(Debug)]
pub struct DecodeError;

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the value does not fit the type")
    }
}

impl std::error::Error for DecodeError {}

/// All methods, because serde's defaults format messages.
impl Error for DecodeError {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }

    fn invalid_type(_: Unexpected<'_>, _: &dyn Expected) -> Self {
        Self
    }

    fn invalid_value(_: Unexpected<'_>, _: &dyn Expected) -> Self {
        Self
    }

    fn invalid_length(_: usize, _: &dyn Expected) -> Self {
        Self
    }

    fn unknown_variant(_: &str, _: &'static [&'static str]) -> Self {
        Self
    }

    fn unknown_field(_: &str, _: &'static [&'static str]) -> Self {
        Self
    }

    fn missing_field(_: &'static str) -> Self {
        Self
    }

    fn duplicate_field(_: &'static str) -> Self {
        Self
    }
}

/// Reads a value.
#[derive(Debug, Clone, Copy)]
pub struct ValueDeserializer<'de>(pub &'de Value<'de>);

/// All integers below it are exact as doubles: 2^53.
pub const EXACT_BELOW: f64 = 9_007_199_254_740_992.0;

macro_rules! kinds {
    ($($kind:ident $($method:ident($($further:ty),*))*;)*) => {$($(
        fn $method<V: Visitor<'de>>(self, $(_: $further,)* visitor: V) -> Result<V::Value, DecodeError> {
            self.$kind(visitor)
        }
    )*)*};
}

/// One method per kind of value, so that a type which asks for a kind links the code of that kind only.
impl<'de> ValueDeserializer<'de> {
    fn truth<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        let Value::Bool(truth) = self.0 else { return Err(DecodeError) };
        visitor.visit_bool(*truth)
    }

    fn number<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        let Value::Number(number) = self.0 else { return Err(DecodeError) };
        match (number.as_u64(), number.as_i64(), number.as_f64()) {
            (Some(value), _, _) => visitor.visit_u64(value),
            (_, Some(value), _) => visitor.visit_i64(value),
            (_, _, value) => visitor.visit_f64(value.ok_or(DecodeError)?),
        }
    }

    /// An integer, which may be written as 2.0: JSON Schema accepts it where it accepts 2.
    fn integer<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.0.as_f64() {
            Some(value) if value.fract() == 0.0 && value.abs() < EXACT_BELOW => {
                // The guard guarantees the range.
                #[allow(clippy::cast_possible_truncation)]
                visitor.visit_i64(value as i64)
            }
            _ => self.number(visitor),
        }
    }

    fn text<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        visitor.visit_borrowed_str(self.0.as_str().ok_or(DecodeError)?)
    }

    fn array<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        let mut items = Items(self.0.as_array().ok_or(DecodeError)?.iter());
        let read = visitor.visit_seq(&mut items)?;
        if items.0.len() == 0 { Ok(read) } else { Err(DecodeError) }
    }

    fn object<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        let mut members =
            Members { rest: self.0.as_object().ok_or(DecodeError)?.iter(), value: None };
        let read = visitor.visit_map(&mut members)?;
        if members.rest.len() == 0 { Ok(read) } else { Err(DecodeError) }
    }
}

impl<'de> Deserializer<'de> for ValueDeserializer<'de> {
    type Error = DecodeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.0 {
            Value::Null => visitor.visit_unit(),
            Value::Bool(_) => self.truth(visitor),
            Value::Number(_) => self.number(visitor),
            Value::String(_) => self.text(visitor),
            Value::Array(_) => self.array(visitor),
            Value::Object(_) => self.object(visitor),
        }
    }

    // `serde_json` also reads a struct from an array of its fields; we do not.
    kinds! {
        truth deserialize_bool();
        integer
            deserialize_i8() deserialize_i16() deserialize_i32() deserialize_i64() deserialize_i128()
            deserialize_u8() deserialize_u16() deserialize_u32() deserialize_u64() deserialize_u128();
        number
            deserialize_f32() deserialize_f64();
        text
            deserialize_char() deserialize_str() deserialize_string() deserialize_identifier();
        array
            deserialize_seq() deserialize_tuple(usize) deserialize_tuple_struct(&'static str, usize);
        object
            deserialize_map() deserialize_struct(&'static str, &'static [&'static str]);
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        if self.0.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        visitor.visit_newtype_struct(self)
    }

    /// A variant is its name, or an object of its name and its content.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        match self.0 {
            Value::String(name) => visitor.visit_enum(BorrowedStrDeserializer::new(name)),
            Value::Object(members) if members.len() == 1 => {
                let members = Members { rest: members.iter(), value: None };
                visitor.visit_enum(MapAccessDeserializer::new(members))
            }
            _ => Err(DecodeError),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! { bytes byte_buf unit unit_struct }
}

/// The items of an array.
struct Items<'de>(std::slice::Iter<'de, Value<'de>>);

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = DecodeError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, DecodeError> {
        self.0.next().map(|item| seed.deserialize(ValueDeserializer(item))).transpose()
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.0.len())
    }
}

/// The members of an object.
struct Members<'de> {
    rest: std::slice::Iter<'de, Member<'de>>,
    /// The value of the key that was read last.
    value: Option<&'de Value<'de>>,
}

impl<'de> MapAccess<'de> for Members<'de> {
    type Error = DecodeError;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, DecodeError> {
        let Some((key, value)) = self.rest.next() else { return Ok(None) };
        self.value = Some(value);
        seed.deserialize(Key(key)).map(Some)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<T::Value, DecodeError> {
        seed.deserialize(ValueDeserializer(self.value.take().ok_or(DecodeError)?))
    }
}

/// The name of a member: a string, or a number or boolean written as one.
struct Key<'de>(&'de str);

macro_rules! parsed {
    ($($method:ident $visit:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
            visitor.$visit(self.0.parse().map_err(|_| DecodeError)?)
        }
    )*};
}

impl<'de> Deserializer<'de> for Key<'de> {
    type Error = DecodeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        visitor.visit_borrowed_str(self.0)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        visitor.visit_enum(BorrowedStrDeserializer::new(self.0))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        visitor.visit_newtype_struct(self)
    }

    parsed! {
        deserialize_bool visit_bool
        deserialize_i8 visit_i8 deserialize_i16 visit_i16 deserialize_i32 visit_i32
        deserialize_i64 visit_i64 deserialize_i128 visit_i128
        deserialize_u8 visit_u8 deserialize_u16 visit_u16 deserialize_u32 visit_u32
        deserialize_u64 visit_u64 deserialize_u128 visit_u128
        deserialize_f32 visit_f32 deserialize_f64 visit_f64
    }

    forward_to_deserialize_any! {
        char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct
        identifier ignored_any
    }
}

#[cfg(test)]
mod tests;
