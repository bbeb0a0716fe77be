//! `context`: for whom a call is, and with which tokens and secrets. It is OXP's; Xaibo, which has
//! no place for what a tool may require, takes it as well.

use std::borrow::Cow;

use crate::tool::{Credentials, Named, Secret};

use crate::call::Rejection;
use crate::json::{Object, Value};

/// A request that is none of the protocol's; `message` says what is wrong and what was expected.
pub(super) fn malformed(message: impl Into<String>) -> Rejection {
    Rejection::Malformed(message.into())
}

/// Takes an optional string out of an object that stands at `place`.
///
/// # Errors
/// [`Rejection::Malformed`] when it is no string.
pub(super) fn text<'t>(
    object: &mut Object<'t>,
    key: &str,
    place: &str,
) -> Result<Option<Cow<'t, str>>, Rejection> {
    match object.take(key) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(malformed(format!("{place}{key} must be a string"))),
    }
}

/// Reads `context`, which may be absent. It is open: further fields are ignored.
///
/// # Errors
/// [`Rejection::Malformed`].
pub(super) fn credentials(context: Option<Value<'_>>) -> Result<Credentials, Rejection> {
    let mut context = match context {
        None => return Ok(Credentials::default()),
        Some(Value::Object(context)) => context,
        Some(_) => return Err(malformed("context must be an object")),
    };
    Ok(Credentials {
        user_id: text(&mut context, "user_id", "context.")?.map(Cow::into_owned),
        tokens: secrets(&mut context, "authorization", "token")?,
        secrets: secrets(&mut context, "secrets", "value")?,
    })
}

/// Takes a list of `{"id": …, <key>: …}` out of the context. Of two with one id the later counts.
fn secrets(context: &mut Object<'_>, list: &str, key: &str) -> Result<Named<Secret>, Rejection> {
    let wrong = || {
        malformed(format!(
            "context.{list} must be an array of objects with the strings id and {key}"
        ))
    };
    let items = match context.take(list) {
        None => return Ok(Named::default()),
        Some(Value::Array(items)) => items,
        Some(_) => return Err(wrong()),
    };
    let mut secrets = Named::default();
    for item in items {
        let Value::Object(mut item) = item else { return Err(wrong()) };
        match (item.take("id"), item.take(key)) {
            (Some(Value::String(id)), Some(Value::String(value))) => {
                secrets.insert(id.into_owned(), Secret::new(value.into_owned()));
            }
            _ => return Err(wrong()),
        }
    }
    Ok(secrets)
}
