//! Reads members of a provider's JSON. Errors name the member and what it must be, never its value.
//!
//! The tolerance is deliberate: a response may contain members that this server does not know, and the
//! providers' libraries write absent members as `null`.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Deserializer};

use toolbooth::json::{Object, Value};

/// The path of a value in the body, such as `choices[0].message`. It is only formatted for an error.
pub type JsonPath<'a> = fmt::Arguments<'a>;

/// Whether an object has a member with one of these names.
pub fn has(object: &Object<'_>, names: &[&str]) -> bool {
    names.iter().any(|name| object.get(name).is_some_and(|value| !value.is_null()))
}

/// Takes the member that has one of these names out of an object.
pub fn take<'t>(object: &mut Object<'t>, names: &[&str]) -> Option<Value<'t>> {
    names.iter().filter_map(|name| object.take(name)).find(|value| !value.is_null())
}

/// Takes a string out of an object; `None` if it is absent, empty or not a string.
pub fn take_text<'t>(object: &mut Object<'t>, names: &[&str]) -> Option<Cow<'t, str>> {
    match take(object, names) {
        Some(Value::String(text)) if !text.is_empty() => Some(text),
        _ => None,
    }
}

/// Takes an array out of an object. An absent one is empty.
///
/// # Errors
/// It is not an array.
pub fn take_list<'t>(
    object: &mut Object<'t>,
    name: &str,
    path: JsonPath<'_>,
) -> Result<Vec<Value<'t>>, String> {
    match take(object, &[name]) {
        None => Ok(Vec::new()),
        Some(Value::Array(items)) => Ok(items),
        Some(_) => Err(format!("{path}{name} must be an array")),
    }
}

/// The members of an object.
///
/// # Errors
/// It is not an object.
pub fn object<'t>(value: Value<'t>, path: JsonPath<'_>) -> Result<Object<'t>, String> {
    match value {
        Value::Object(object) => Ok(object),
        _ => Err(format!("{path} must be an object")),
    }
}

/// Deserializes a member of a [`Value`]; what does not fit counts as absent.
pub(super) fn lenient<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    Ok(T::deserialize(deserializer).unwrap_or_default())
}
