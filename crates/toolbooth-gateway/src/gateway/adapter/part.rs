//! The parts of messages: texts, images, audio and files.

use std::borrow::Cow;

use super::{GatewayError, Result};
use crate::gateway::{Fields, Notes};
use toolbooth::json::Value;

pub(super) struct Part<'t> {
    pub(super) content: Content<'t>,
    /// Anthropic's `cache_control`, which many clients send in OpenAI's format.
    pub(super) cache_control: Option<Value<'t>>,
    pub(super) path: String,
}

pub(super) enum Content<'t> {
    Text(Cow<'t, str>),
    /// An image, or another file, at an address.
    Url(Cow<'t, str>),
    /// An image, audio or a file.
    Data {
        media_type: Cow<'t, str>,
        base64: Cow<'t, str>,
    },
}

impl<'t> Part<'t> {
    pub(super) fn text(text: impl Into<Cow<'t, str>>, path: String) -> Self {
        Self { content: Content::Text(text.into()), cache_control: None, path }
    }
}

/// The content of a message: a string, or parts.
pub(super) fn content<'t>(fields: &mut Fields<'t>) -> Result<Vec<Part<'t>>> {
    let content = fields.take("content");
    content.map_or(Ok(Vec::new()), |value| parts(value, fields.path_of("content"), fields.notes))
}

/// A string, or parts.
pub(super) fn parts<'t>(value: Value<'t>, path: String, notes: &'t Notes) -> Result<Vec<Part<'t>>> {
    match value {
        Value::String(text) => Ok(vec![Part::text(text, path)]),
        Value::Array(parts) => {
            let parts = parts.into_iter().enumerate();
            parts.map(|(at, value)| part(value, format!("{path}[{at}]"), notes)).collect()
        }
        _ => Err(GatewayError::expected(&path, "a string or an array of parts")),
    }
}

fn part<'t>(value: Value<'t>, path: String, notes: &'t Notes) -> Result<Part<'t>> {
    let mut fields = Fields::of(value, path, notes)?;
    let kind = fields.required_text("type")?;
    let content = match kind.as_ref() {
        "text" | "refusal" => Content::Text(fields.required_text(&kind)?),
        "image_url" => {
            let mut image = fields.required_fields("image_url")?;
            let url = image.required_text("url")?;
            let content = address(url, &image.path_of("url"))?;
            image.finish();
            content
        }
        "input_audio" => {
            let mut audio = fields.required_fields("input_audio")?;
            let base64 = audio.required_text("data")?;
            let format = audio.required_text("format")?;
            audio.finish();
            Content::Data { media_type: format!("audio/{format}").into(), base64 }
        }
        "file" => {
            let mut file = fields.required_fields("file")?;
            let path = file.path_of("file_data");
            let Some(data) = file.text("file_data")? else {
                let message =
                    format!("{path} is required: this provider cannot read OpenAI's files");
                return Err(GatewayError::invalid(path, message));
            };
            let content = address(data, &path)?;
            file.finish();
            content
        }
        _ => {
            let expected = "one of text, image_url, input_audio, file for this provider";
            return fields.expected("type", expected);
        }
    };
    let cache_control = fields.take("cache_control");
    let path = fields.path.clone();
    fields.finish();
    Ok(Part { content, cache_control, path })
}

/// A `data:` URL with base64, or an `https:` URL.
fn address<'t>(url: Cow<'t, str>, path: &str) -> Result<Content<'t>> {
    let begins = |scheme: &str| {
        url.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    };
    if begins("https://") {
        return Ok(Content::Url(url));
    }
    let data = if begins("data:") { url.get(5..) } else { None };
    let (head, base64) = data.and_then(|data| data.split_once(',')).unwrap_or_default();
    let media_type = head.strip_suffix(";base64").and_then(|head| head.split(';').next());
    match media_type.filter(|media_type| media_type.contains('/')) {
        Some(media_type) => Ok(Content::Data {
            media_type: media_type.to_ascii_lowercase().into(),
            base64: base64.to_owned().into(),
        }),
        None => {
            let expected = "an https URL, or a data URL such as data:image/png;base64,…";
            Err(GatewayError::expected(path, expected))
        }
    }
}
