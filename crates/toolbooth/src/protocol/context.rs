//! Decodes OXP's `context`, with the user, tokens and secrets of a call. Xaibo and MCP accept it too.

use std::borrow::Cow;

use super::other_protocol;
use crate::call::Rejection;
use crate::json::{Object, Value};
use crate::text::excerpt;
use crate::tool::{Credentials, Named, Secret};

/// A request that is not one of the protocol; `detail` says what is wrong and what was expected.
pub(super) fn malformed(detail: impl Into<String>) -> Rejection {
    Rejection::Malformed(detail.into())
}

/// Takes an optional member out of a request. Some serializers write every member, so `null` is absent, in every protocol.
pub(super) fn optional<'t>(object: &mut Object<'t>, key: &str) -> Option<Value<'t>> {
    object.take(key).filter(|value| !value.is_null())
}

/// Takes an optional string out of an object; anything else is malformed. `path` is that of the object, with a dot.
pub(super) fn text<'t>(
    object: &mut Object<'t>,
    key: &str,
    path: &str,
) -> Result<Option<Cow<'t, str>>, Rejection> {
    match optional(object, key) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(malformed(format!("{path}{key} must be a string"))),
    }
}

/// Takes the string that names the tool of a call.
pub(super) fn tool_text<'t>(call: &mut Object<'t>, key: &str) -> Result<Cow<'t, str>, Rejection> {
    match call.take(key) {
        Some(Value::String(text)) => Ok(text),
        Some(_) => Err(malformed(format!("{key} must be a string"))),
        None => {
            let reason = format!("{key} is missing; it must be a string");
            Err(other_protocol::rejection(call, reason))
        }
    }
}

/// Checks that a closed object has no member left. `expected` ends the sentence about the first one.
pub(super) fn check_empty(object: &Object<'_>, expected: &str) -> Result<(), Rejection> {
    let Some((field, _)) = object.iter().next() else { return Ok(()) };
    Err(malformed(format!("\"{}\" is not a field{expected}", excerpt(field))))
}

/// Decodes an optional `context`. The object is open: further members are ignored.
pub(super) fn credentials(context: Option<Value<'_>>) -> Result<Credentials, Rejection> {
    let mut context = match context {
        None | Some(Value::Null) => return Ok(Credentials::default()),
        Some(Value::Object(context)) => context,
        Some(_) => return Err(malformed("context must be an object")),
    };
    Ok(Credentials {
        user_id: text(&mut context, "user_id", "context.")?.map(Cow::into_owned),
        tokens: secrets(&mut context, "authorization", "token")?,
        secrets: secrets(&mut context, "secrets", "value")?,
    })
}

/// Takes a list of `{"id": …, <key>: …}` out of the context. If an id is repeated, the last one counts.
fn secrets(context: &mut Object<'_>, list: &str, key: &str) -> Result<Named<Secret>, Rejection> {
    let invalid = || {
        malformed(format!(
            "context.{list} must be an array of objects with the strings id and {key}"
        ))
    };
    let items = match optional(context, list) {
        None => return Ok(Named::default()),
        Some(Value::Array(items)) => items,
        Some(_) => return Err(invalid()),
    };
    let secret = |item| {
        let Value::Object(mut item) = item else { return Err(invalid()) };
        match (item.take("id"), item.take(key)) {
            (Some(Value::String(id)), Some(Value::String(value))) => {
                Ok((id.into_owned(), Secret::new(value.into_owned())))
            }
            _ => Err(invalid()),
        }
    };
    items.into_iter().map(secret).collect()
}
