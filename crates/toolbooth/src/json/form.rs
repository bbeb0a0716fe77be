//! Reads a [`Value`] into a form: what a derived `Deserialize` makes of it.
//!
//! `serde_json` does the same and says what is wrong. Nobody is told that: input has been held to its
//! schema before, and of another server's answers it only counts whether they fit. A fault without
//! words makes every derived reader smaller and leaves out what writes the words.

use std::fmt;

use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, Expected, MapAccess, SeqAccess, Unexpected,
    VariantAccess, Visitor, value::BorrowedStrDeserializer,
};
use serde::forward_to_deserialize_any;

use super::Value;
use super::members::Member;

/// A value has not the form that is wanted.
#[derive(Debug)]
pub(crate) struct Misfit;

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("another form is wanted")
    }
}

impl std::error::Error for Misfit {}

/// All of them, for serde's own put words together.
impl Error for Misfit {
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

/// A value to be read.
#[derive(Clone, Copy)]
pub(super) struct Form<'de>(pub(super) &'de Value<'de>);

macro_rules! kinds {
    ($($kind:ident $($method:ident($($further:ty),*))*;)*) => {$($(
        fn $method<V: Visitor<'de>>(self, $(_: $further,)* visitor: V) -> Result<V::Value, Misfit> {
            self.$kind(visitor)
        }
    )*)*};
}

/// What is asked for by its kind is read as that alone: each reader is then no larger than it must be.
impl<'de> Form<'de> {
    fn truth<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        let Value::Bool(truth) = self.0 else { return Err(Misfit) };
        visitor.visit_bool(*truth)
    }

    fn number<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        let Value::Number(number) = self.0 else { return Err(Misfit) };
        match (number.as_u64(), number.as_i64(), number.as_f64()) {
            (Some(value), _, _) => visitor.visit_u64(value),
            (_, Some(value), _) => visitor.visit_i64(value),
            (_, _, value) => visitor.visit_f64(value.ok_or(Misfit)?),
        }
    }

    fn text<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        visitor.visit_borrowed_str(self.0.as_str().ok_or(Misfit)?)
    }

    fn array<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        let mut items = Items(self.0.as_array().ok_or(Misfit)?.iter());
        let read = visitor.visit_seq(&mut items)?;
        if items.0.len() == 0 { Ok(read) } else { Err(Misfit) }
    }

    fn object<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        let mut members = Members { rest: self.0.as_object().ok_or(Misfit)?.iter(), value: None };
        let read = visitor.visit_map(&mut members)?;
        if members.rest.len() == 0 { Ok(read) } else { Err(Misfit) }
    }
}

impl<'de> Deserializer<'de> for Form<'de> {
    type Error = Misfit;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        match self.0 {
            Value::Null => visitor.visit_unit(),
            Value::Bool(_) => self.truth(visitor),
            Value::Number(_) => self.number(visitor),
            Value::String(_) => self.text(visitor),
            Value::Array(_) => self.array(visitor),
            Value::Object(_) => self.object(visitor),
        }
    }

    // `serde_json` reads a struct from an array as well, of its fields in order.
    kinds! {
        truth deserialize_bool();
        number
            deserialize_i8() deserialize_i16() deserialize_i32() deserialize_i64() deserialize_i128()
            deserialize_u8() deserialize_u16() deserialize_u32() deserialize_u64() deserialize_u128()
            deserialize_f32() deserialize_f64();
        text
            deserialize_char() deserialize_str() deserialize_string() deserialize_identifier();
        array
            deserialize_seq() deserialize_tuple(usize) deserialize_tuple_struct(&'static str, usize);
        object
            deserialize_map() deserialize_struct(&'static str, &'static [&'static str]);
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        if self.0.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        visitor.visit_newtype_struct(self)
    }

    /// A variant by its name, or its name with what it holds.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        let mut members = match self.0 {
            Value::String(name) => return visitor.visit_enum(Variant { name, held: None }),
            Value::Object(members) => members.iter(),
            _ => return Err(Misfit),
        };
        match (members.next(), members.next()) {
            (Some((name, held)), None) => visitor.visit_enum(Variant { name, held: Some(held) }),
            _ => Err(Misfit),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! { bytes byte_buf unit unit_struct }
}

/// The items of an array.
struct Items<'de>(std::slice::Iter<'de, Value<'de>>);

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = Misfit;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Misfit> {
        self.0.next().map(|item| seed.deserialize(Form(item))).transpose()
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.0.len())
    }
}

/// The members of an object.
struct Members<'de> {
    rest: std::slice::Iter<'de, Member<'de>>,
    /// What belongs to the key that was read.
    value: Option<&'de Value<'de>>,
}

impl<'de> MapAccess<'de> for Members<'de> {
    type Error = Misfit;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Misfit> {
        let Some((key, value)) = self.rest.next() else { return Ok(None) };
        self.value = Some(value);
        seed.deserialize(Key(key)).map(Some)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Misfit> {
        seed.deserialize(Form(self.value.take().ok_or(Misfit)?))
    }
}

/// The key of a member: a text, or what is written in it.
struct Key<'de>(&'de str);

macro_rules! written {
    ($($method:ident $visit:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
            visitor.$visit(self.0.parse().map_err(|_| Misfit)?)
        }
    )*};
}

impl<'de> Deserializer<'de> for Key<'de> {
    type Error = Misfit;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        visitor.visit_borrowed_str(self.0)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        visitor.visit_enum(Variant { name: self.0, held: None })
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        visitor.visit_newtype_struct(self)
    }

    written! {
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

/// A variant of an enum.
struct Variant<'de> {
    name: &'de str,
    held: Option<&'de Value<'de>>,
}

impl<'de> EnumAccess<'de> for Variant<'de> {
    type Error = Misfit;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Misfit> {
        Ok((seed.deserialize(BorrowedStrDeserializer::new(self.name))?, self))
    }
}

impl<'de> VariantAccess<'de> for Variant<'de> {
    type Error = Misfit;

    fn unit_variant(self) -> Result<(), Misfit> {
        if self.held.is_none_or(Value::is_null) { Ok(()) } else { Err(Misfit) }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Misfit> {
        seed.deserialize(Form(self.held.ok_or(Misfit)?))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Misfit> {
        Form(self.held.ok_or(Misfit)?).array(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        Form(self.held.ok_or(Misfit)?).object(visitor)
    }
}

#[cfg(test)]
mod tests;
