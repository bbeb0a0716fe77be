//! Fills the template of a body of JSON with properties of the input.

use std::borrow::Cow;

use base64ct::{Base64, Encoding};

use super::fields::text;
use super::{Template, email};
use crate::json::{Object, Value, parse};
use crate::tool::ToolError;

/// Members, with their parts of the template.
type Members = [(&'static str, Template)];

/// The body.
///
/// # Errors
/// An e-mail is not valid.
pub(super) fn fill<'v>(members: &Members, input: &Value<'v>) -> Result<Value<'v>, ToolError> {
    let mut all = Object::default();
    object(members, input, &mut all)?;
    Ok(Value::Object(all))
}

/// Adds the members of an object. Returns whether a property was given.
fn object<'v>(
    members: &Members,
    input: &Value<'v>,
    all: &mut Object<'v>,
) -> Result<bool, ToolError> {
    let mut is_given = false;
    for (name, part) in members {
        if let Some(value) = value(part, input)? {
            is_given |= !matches!(part, Template::Fixed(_));
            all.insert(Cow::Borrowed(name), value);
        }
    }
    Ok(is_given)
}

/// The value of a part; `None` if none of its properties is given.
fn value<'v>(part: &Template, input: &Value<'v>) -> Result<Option<Value<'v>>, ToolError> {
    Ok(match part {
        Template::Fixed(json) => parse(json).ok(),
        Template::Property(property) => input.get(property).cloned(),
        Template::Object(members) => {
            let mut all = Object::default();
            object(members, input, &mut all)?.then_some(Value::Object(all))
        }
        Template::Array(parts) => {
            let mut all = Vec::new();
            let mut is_given = false;
            for part in *parts {
                if let Some(value) = value(part, input)? {
                    is_given |= !matches!(part, Template::Fixed(_));
                    all.push(value);
                }
            }
            is_given.then_some(Value::Array(all))
        }
        Template::Base64(part) => value(part, input)?
            .map(|value| Value::String(Base64::encode_string(text(&value).as_bytes()).into())),
        Template::Email(members) => {
            let mut all = Object::default();
            object(members, input, &mut all)?;
            Some(Value::String(email::write(&all)?.into()))
        }
    })
}
