//! `context`: for whom a call is, and with which tokens and secrets. It is OXP's; Xaibo, which has
//! no place for what a tool may require, takes it as well.

use serde_json::{Map, Value};

use crate::call::{Credentials, Named, Refusal, Secret};

/// A request that is none of the protocol's; `message` says what is wrong and what was expected.
pub(super) fn malformed(message: impl Into<String>) -> Refusal {
    Refusal::Malformed(message.into())
}

/// Takes an optional string out of an object that stands at `place`.
///
/// # Errors
/// [`Refusal::Malformed`] when it is no string.
pub(super) fn text(
    object: &mut Map<String, Value>,
    key: &str,
    place: &str,
) -> Result<Option<String>, Refusal> {
    match object.remove(key) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(malformed(format!("{place}{key} must be a string"))),
    }
}

/// Takes `context` out of the body. It is open: further fields are ignored.
///
/// # Errors
/// [`Refusal::Malformed`].
pub(super) fn credentials(body: &mut Map<String, Value>) -> Result<Credentials, Refusal> {
    let mut context = match body.remove("context") {
        None => return Ok(Credentials::default()),
        Some(Value::Object(context)) => context,
        Some(_) => return Err(malformed("context must be an object")),
    };
    Ok(Credentials {
        user_id: text(&mut context, "user_id", "context.")?,
        tokens: secrets(&mut context, "authorization", "token")?,
        secrets: secrets(&mut context, "secrets", "value")?,
    })
}

/// Takes a list of `{"id": …, <key>: …}` out of the context. Of two with one id the later counts.
fn secrets(
    context: &mut Map<String, Value>,
    list: &str,
    key: &str,
) -> Result<Named<Secret>, Refusal> {
    let wrong = || {
        malformed(format!(
            "context.{list} must be an array of objects with the strings id and {key}"
        ))
    };
    let items = match context.remove(list) {
        None => return Ok(Named::default()),
        Some(Value::Array(items)) => items,
        Some(_) => return Err(wrong()),
    };
    let mut secrets = Named::default();
    for item in items {
        let Value::Object(mut item) = item else { return Err(wrong()) };
        match (item.remove("id"), item.remove(key)) {
            (Some(Value::String(id)), Some(Value::String(value))) => {
                secrets.insert(id, Secret::new(value));
            }
            _ => return Err(wrong()),
        }
    }
    Ok(secrets)
}
