//! The parts of messages: texts, images, audio and files.

use std::borrow::Cow;

use super::GatewayError;
use crate::gateway::fields::{Fields, Notes};
use toolbooth::json::Value;

/// A part of a message.
#[derive(Debug)]
pub(super) struct Part<'t> {
    /// What it is.
    pub(super) content: Content<'t>,
    /// Anthropic's `cache_control`, which many clients send in OpenAI's format.
    pub(super) cache_control: Option<Value<'t>>,
    /// Where it is in the request.
    pub(super) path: String,
}

/// The content of a part.
#[derive(Debug)]
pub(super) enum Content<'t> {
    /// Text.
    Text(Cow<'t, str>),
    /// An image, or another file, at an address.
    Url(Cow<'t, str>),
    /// An image, audio or a file as base64.
    Data {
        /// Its media type.
        media_type: Cow<'t, str>,
        /// The base64 text.
        base64: Cow<'t, str>,
    },
}

impl<'t> Part<'t> {
    pub(super) fn text(text: impl Into<Cow<'t, str>>, path: String) -> Self {
        Self { content: Content::Text(text.into()), cache_control: None, path }
    }
}

/// The content of a message: a string, or parts.
pub(super) fn content<'t>(
    fields: &mut Fields<'t>,
    notes: &mut Notes,
) -> Result<Vec<Part<'t>>, GatewayError> {
    let path = fields.path_of("content");
    match fields.take("content") {
        None => Ok(Vec::new()),
        Some(Value::String(text)) => Ok(vec![Part::text(text, path)]),
        Some(Value::Array(parts)) => parts
            .into_iter()
            .enumerate()
            .map(|(index, value)| part(value, format!("{path}[{index}]"), notes))
            .collect(),
        Some(_) => Err(GatewayError::expected(&path, "a string or an array of parts")),
    }
}

fn part<'t>(value: Value<'t>, path: String, notes: &mut Notes) -> Result<Part<'t>, GatewayError> {
    let mut fields = Fields::of(value, path)?;
    let kind = fields.required_text("type")?;
    let missing = |fields: &Fields<'_>, name: &str| {
        GatewayError::expected(&fields.path_of(name), "an object")
    };
    let content = match kind.as_ref() {
        "text" => Content::Text(fields.required_text("text")?),
        "refusal" => Content::Text(fields.required_text("refusal")?),
        "image_url" => {
            let mut image =
                fields.fields("image_url")?.ok_or_else(|| missing(&fields, "image_url"))?;
            let url = image.required_text("url")?;
            let content = address(url, &image.path_of("url"))?;
            image.finish(notes);
            content
        }
        "input_audio" => {
            let mut audio =
                fields.fields("input_audio")?.ok_or_else(|| missing(&fields, "input_audio"))?;
            let base64 = audio.required_text("data")?;
            let format = audio.required_text("format")?;
            audio.finish(notes);
            Content::Data { media_type: format!("audio/{format}").into(), base64 }
        }
        "file" => {
            let mut file = fields.fields("file")?.ok_or_else(|| missing(&fields, "file"))?;
            let path = file.path_of("file_data");
            let Some(data) = file.text("file_data")? else {
                let message =
                    format!("{path} is required: this provider cannot read OpenAI's files");
                return Err(GatewayError::invalid(&path, message));
            };
            let content = address(data, &path)?;
            file.finish(notes);
            content
        }
        _ => {
            let path = fields.path_of("type");
            let expected = "one of text, image_url, input_audio, file for this provider";
            return Err(GatewayError::expected(&path, expected));
        }
    };
    let cache_control = fields.take("cache_control");
    let path = fields.path().to_owned();
    fields.finish(notes);
    Ok(Part { content, cache_control, path })
}

/// A `data:` URL with base64, or an `https:` URL.
fn address<'t>(url: Cow<'t, str>, path: &str) -> Result<Content<'t>, GatewayError> {
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
        None => Err(GatewayError::expected(
            path,
            "an https URL, or a data URL such as data:image/png;base64,…",
        )),
    }
}
