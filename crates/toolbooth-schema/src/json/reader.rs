//! Reads JSON through `serde_json` into [`Value`]s, with our limits.

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number};

use super::object::Member;
use super::{MAX_DEPTH, MAX_VALUES, Object, Value};
use crate::text::excerpt;

/// Reads exactly one value; `left` is how many values may be read.
///
/// A repeated key is noticed when its object ends, which keeps the common case fast. Then the text is read again,
/// up to the key, for the error's message and position.
pub(super) fn read<'t>(text: &'t str, left: &mut usize) -> Result<Value<'t>, serde_json::Error> {
    let limits = Limits::new(*left, None);
    let result = limits.read(text);
    *left = limits.left.get();
    match limits.repeating.take() {
        None => result,
        object => Limits::new(MAX_VALUES, object).read(text),
    }
}

/// What one reading of a text has used up and found.
struct Limits {
    /// How many more values may be read.
    left: Cell<usize>,
    /// How many objects have begun.
    objects: Cell<usize>,
    /// The first object, by that count, that ended with a repeated key.
    repeating: Cell<Option<usize>>,
    /// The object in which to report the repeated key.
    report: Option<usize>,
}

impl Limits {
    fn new(left: usize, report: Option<usize>) -> Self {
        Self { left: Cell::new(left), objects: Cell::new(0), repeating: Cell::new(None), report }
    }

    fn read<'t>(&self, text: &'t str) -> Result<Value<'t>, serde_json::Error> {
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let value = ValueSeed { depth: MAX_DEPTH, limits: self }.deserialize(&mut deserializer)?;
        deserializer.end()?;
        Ok(value)
    }
}

/// Reads a value with at most `depth` levels of nesting.
#[derive(Clone, Copy)]
struct ValueSeed<'a> {
    depth: usize,
    limits: &'a Limits,
}

impl ValueSeed<'_> {
    fn deeper<E: Error>(self) -> Result<Self, E> {
        match self.depth.checked_sub(1) {
            Some(depth) => Ok(Self { depth, ..self }),
            None => Err(E::custom(format_args!("nested deeper than {MAX_DEPTH} levels"))),
        }
    }
}

impl<'de> DeserializeSeed<'de> for ValueSeed<'_> {
    type Value = Value<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value<'de>, D::Error> {
        let Some(left) = self.limits.left.get().checked_sub(1) else {
            return Err(D::Error::custom(format_args!("more than {MAX_VALUES} values")));
        };
        self.limits.left.set(left);
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValueSeed<'_> {
    type Value = Value<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value<'de>, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value<'de>, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value<'de>, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value<'de>, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value<'de>, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("number out of range"))
    }

    fn visit_borrowed_str<E>(self, value: &'de str) -> Result<Value<'de>, E> {
        Ok(Value::String(Cow::Borrowed(value)))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value<'de>, E> {
        Ok(Value::String(Cow::Owned(value.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value<'de>, A::Error> {
        let inner = self.deeper()?;
        let mut items = Vec::new();
        while let Some(item) = access.next_element_seed(inner)? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value<'de>, A::Error> {
        let inner = self.deeper()?;
        let number = self.limits.objects.get();
        self.limits.objects.set(number + 1);
        let report = self.limits.report == Some(number);
        let mut keys = Map::new();
        let mut members: Vec<Member<'de>> = Vec::new();
        while let Some(Name(name)) = access.next_key()? {
            if report && keys.insert(name.to_string(), serde_json::Value::Null).is_some() {
                let name = excerpt(&name);
                return Err(A::Error::custom(format_args!("the key \"{name}\" is repeated")));
            }
            let value = access.next_value_seed(inner)?;
            members.push((name, value));
        }
        Object::of(members).map(Value::Object).ok_or_else(|| {
            self.limits.repeating.set(Some(number));
            A::Error::custom("a key is repeated")
        })
    }
}

/// The member `name` of the object at the beginning of `text`, which may end anywhere or go on with anything.
/// `None` if it is not there completely, or is repeated.
pub fn leading_member<'t>(text: &'t str, name: &str) -> Option<Value<'t>> {
    let mut found = Vec::new();
    let limits = &Limits::new(MAX_VALUES, None);
    let visitor = MemberVisitor { name, limits, found: &mut found };
    // An error only says where the text becomes unreadable.
    let _ = serde_json::Deserializer::from_str(text).deserialize_map(visitor);
    found.pop().filter(|_| found.is_empty())
}

/// Collects the values of one name in an object, until the object ends or cannot be read.
struct MemberVisitor<'a, 'de> {
    name: &'a str,
    limits: &'a Limits,
    found: &'a mut Vec<Value<'de>>,
}

impl<'de> Visitor<'de> for MemberVisitor<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<(), A::Error> {
        let mut value = None;
        loop {
            let name = access.next_key()?;
            // Only what follows shows that a number was complete.
            self.found.extend(value.take());
            let Some(Name(name)) = name else { return Ok(()) };
            let seed = ValueSeed { depth: MAX_DEPTH, limits: self.limits }.deeper()?;
            value = Some(access.next_value_seed(seed)?).filter(|_| name == self.name);
        }
    }
}

/// The name of a member.
#[derive(Deserialize)]
#[serde(transparent)]
struct Name<'t>(#[serde(borrow)] Cow<'t, str>);
