//! Reads members of a provider's JSON. Errors name the member and what it must be, never its value.
//!
//! The tolerance is deliberate: a response may contain members that this server does not know, and the
//! providers' libraries write absent members as `null`.

use std::borrow::Cow;
use std::fmt;

use crate::json::{Object, Value};

/// The path of a value in the body, such as `choices[0].message`. It is only formatted for an error.
pub(super) type JsonPath<'a> = fmt::Arguments<'a>;

/// Takes a string out of an object; `None` if it is absent, empty or not a string.
pub(super) fn take_string<'t>(object: &mut Object<'t>, names: &[&str]) -> Option<Cow<'t, str>> {
    match take_any(object, names) {
        Some(Value::String(text)) if !text.is_empty() => Some(text),
        _ => None,
    }
}

/// Takes the member that has one of these names out of an object.
pub(super) fn take_any<'t>(object: &mut Object<'t>, names: &[&str]) -> Option<Value<'t>> {
    names.iter().find_map(|name| object.take(name))
}

/// Takes an array out of an object. An absent one is empty.
///
/// # Errors
/// It is not an array.
pub(super) fn take_array<'t>(
    object: &mut Object<'t>,
    name: &str,
    path: JsonPath<'_>,
) -> Result<Vec<Value<'t>>, String> {
    match object.take(name) {
        None => Ok(Vec::new()),
        Some(Value::Array(items)) => Ok(items),
        Some(_) => Err(format!("{path}{name} must be an array")),
    }
}

/// An object, without the members that are `null`.
///
/// # Errors
/// It is not an object.
pub(super) fn expect_object<'t>(
    value: Value<'t>,
    path: JsonPath<'_>,
) -> Result<Object<'t>, String> {
    match value {
        Value::Object(object) => Ok(without_nulls(object)),
        _ => Err(format!("{path} must be an object")),
    }
}

/// An object without the members that are `null`, which count as absent. Do not use it for a call's
/// arguments, where the tool's schema decides what `null` means.
pub(super) fn without_nulls(mut object: Object<'_>) -> Object<'_> {
    object.retain(|_, value| !value.is_null());
    object
}
