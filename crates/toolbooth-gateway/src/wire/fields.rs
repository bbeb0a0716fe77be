//! Reads members of a provider's JSON. Errors name the member and what it must be, never its value.
//!
//! The tolerance is deliberate: a response may contain members that this server does not know, and the
//! providers' libraries write absent members as `null`.

use std::borrow::Cow;
use std::fmt;

use super::Read;
use toolbooth::json::{Object, Value};

/// The path of a value in the body, such as `choices[0].message`. It is only formatted for an error.
pub(crate) type JsonPath<'a> = fmt::Arguments<'a>;

/// Whether an object has a member with one of these names.
pub(crate) fn has(object: &Object<'_>, names: &[&str]) -> bool {
    names.iter().any(|name| object.get(name).is_some_and(|value| !value.is_null()))
}

/// Takes the member that has one of these names out of an object.
pub(crate) fn take<'t>(object: &mut Object<'t>, names: &[&str]) -> Option<Value<'t>> {
    names.iter().filter_map(|name| object.take(name)).find(|value| !value.is_null())
}

/// Takes a string out of an object; `None` if it is absent, empty or not a string.
pub(crate) fn take_text<'t>(object: &mut Object<'t>, names: &[&str]) -> Option<Cow<'t, str>> {
    match take(object, names) {
        Some(Value::String(text)) if !text.is_empty() => Some(text),
        _ => None,
    }
}

/// Takes an array out of an object; an absent one is empty.
pub(crate) fn take_list<'t>(
    object: &mut Object<'t>,
    name: &str,
    path: JsonPath<'_>,
) -> Read<Vec<Value<'t>>> {
    match take(object, &[name]) {
        None => Ok(Vec::new()),
        Some(Value::Array(items)) => Ok(items),
        Some(_) => Err(format!("{path}{name} must be an array")),
    }
}

pub(crate) fn object<'t>(value: Value<'t>, path: JsonPath<'_>) -> Read<Object<'t>> {
    match value {
        Value::Object(object) => Ok(object),
        _ => Err(format!("{path} must be an object")),
    }
}

/// A string; `None` if it is absent, empty or not a string.
pub(crate) fn text<'v>(member: Option<&'v Value<'_>>) -> Option<&'v str> {
    member.and_then(Value::as_str).filter(|text| !text.is_empty())
}

/// A count; `None` if it is absent or no whole number.
pub(crate) fn count(member: Option<&Value<'_>>) -> Option<u64> {
    member?.as_number()?.as_u64()
}
