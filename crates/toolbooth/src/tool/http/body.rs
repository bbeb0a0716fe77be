//! Writes the body of a request: JSON, or a form.

use std::borrow::Cow;

use uuid::Builder;

use super::fields::{Fields, text};
use super::multipart::{Multipart, file};
use super::{BodyFormat, Content, HttpBody, HttpCall, Style, given, template};
use crate::json::{Object, Value, to_vec};
use crate::tool::{Context, ToolError};

/// The media type of a body, and its bytes.
pub(super) type Written = (Cow<'static, str>, Vec<u8>);

/// The body of a call; `None` if there is nothing to send.
///
/// # Errors
/// A file is not valid, or a boundary cannot be made.
pub(super) fn write(
    call: &HttpCall,
    input: &Value<'_>,
    context: &Context<'_>,
) -> Result<Option<Written>, ToolError> {
    let Some(HttpBody { content, format, required }) = call.body else { return Ok(None) };
    if let BodyFormat::Json = format {
        let value = match content {
            Content::Whole(property) => input.get(property).cloned(),
            Content::Template(members) => Some(template::fill(members, input)?),
            Content::Members(_) => {
                let members: Object<'_> = members(content, input)
                    .into_iter()
                    .map(|(name, it)| (name, it.clone()))
                    .collect();
                (required || !members.is_empty()).then_some(Value::Object(members))
            }
        };
        return Ok(value.map(|value| ("application/json".into(), to_vec(&value))));
    }
    if let (BodyFormat::Raw(kind), Content::Whole(property)) = (format, content) {
        return match given(input, property) {
            Some(value) => raw(property, value, kind).map(Some),
            None => Ok(None),
        };
    }
    let members = members(content, input);
    let members = members.into_iter().filter(|(_, value)| !value.is_null());
    let members: Vec<_> = members.collect();
    if members.is_empty() && !required {
        return Ok(None);
    }
    match format {
        BodyFormat::Multipart(types, styles) => {
            let random = context.host.random_16();
            let random = random.map_err(|_| ToolError::new("The server has no random bytes"))?;
            let boundary = Builder::from_random_bytes(random).into_uuid().hyphenated().to_string();
            Multipart::write(&members, types, styles, &boundary).map(Some)
        }
        BodyFormat::Form(styles) => {
            let mut fields = Fields::default();
            for (name, value) in members {
                let style = styles.iter().find(|it| it.name == name);
                // Without a style, OpenAPI writes objects in forms as JSON.
                let style = style.map_or_else(
                    || match value {
                        Value::Object(_) => (Style::Json, true),
                        _ => (Style::Form, true),
                    },
                    |it| (it.style, it.explode),
                );
                fields.add(name, value, style.0, style.1);
            }
            Ok(Some(("application/x-www-form-urlencoded".into(), fields.0.into_bytes())))
        }
        BodyFormat::Json | BodyFormat::Raw(_) => Ok(None),
    }
}

/// A text or a file as it is.
fn raw(
    property: &str,
    value: &Value<'_>,
    kind: Option<&'static str>,
) -> Result<Written, ToolError> {
    let (own, content) = match file(property, value)? {
        Some(file) => (file.kind.unwrap_or("application/octet-stream"), file.content),
        None => ("text/plain; charset=utf-8", text(value).into_owned().into_bytes()),
    };
    Ok((kind.map_or_else(|| Cow::Owned(own.to_owned()), Cow::Borrowed), content))
}

/// The members of a body that the input has, with their names in the body.
fn members<'v, 't>(content: Content, input: &'v Value<'t>) -> Vec<(&'v str, &'v Value<'t>)> {
    match content {
        Content::Whole(property) => {
            let members = given(input, property).and_then(Value::as_object);
            let members = members.into_iter().flat_map(|members| members.iter());
            members.map(|(name, value)| (&**name, value)).collect()
        }
        Content::Members(members) => {
            let member = |(property, name): &(&'static str, &'static str)| {
                Some((*name, input.get(property)?))
            };
            members.iter().filter_map(member).collect()
        }
        // The build allows it in a body of JSON only.
        Content::Template(_) => Vec::new(),
    }
}
