//! Pictures, sounds and other files in answers, as Chat Completions writes them.

use std::borrow::Cow;

use serde::Serialize;

use super::fields::text;
use toolbooth::json::{Object, Value};

/// A picture, a sound or another file that the model has made.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Media<'t> {
    /// What it is: a media type, as far as the provider names one.
    pub media_type: Cow<'t, str>,
    pub form: MediaForm<'t>,
}

/// What Chat Completions has for a file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum MediaForm<'t> {
    /// An entry of `images`, without its position. It is none of OpenAI's members, but other providers and their clients agree on it.
    Image(Object<'t>),
    /// `audio`; in streams, a part of it.
    Audio(Object<'t>),
    /// There is no member for it.
    None,
}

/// Where a file is.
pub(crate) enum MediaSource<'t> {
    Base64(Cow<'t, str>),
    Address(Cow<'t, str>),
}

/// An entry of `images`.
#[derive(Serialize)]
pub(crate) struct ImagePart<'a> {
    pub index: usize,
    #[serde(flatten)]
    pub image: &'a Object<'a>,
}

impl<'t> Media<'t> {
    /// A file. `extra_content` is what the provider must get back with it.
    pub(crate) fn of_file(
        media_type: Cow<'t, str>,
        source: MediaSource<'t>,
        extra_content: Option<Value<'t>>,
    ) -> Self {
        let kind = media_type.split('/').next().unwrap_or_default();
        let form = match (kind, source) {
            ("image", source) => {
                let url = match source {
                    MediaSource::Base64(data) => format!("data:{media_type};base64,{data}").into(),
                    MediaSource::Address(address) => address,
                };
                let url = Value::Object(Object::from_iter([("url", Value::String(url))]));
                let members = [("type", Value::from("image_url")), ("image_url", url)];
                let extra = extra_content.map(|extra| ("extra_content", extra));
                MediaForm::Image(members.into_iter().chain(extra).collect())
            }
            ("audio", MediaSource::Base64(data)) => MediaForm::Audio(Object::from_iter([
                ("data", Value::String(data)),
                // No server keeps it.
                ("expires_at", Value::Number(0.into())),
                ("transcript", Value::from("")),
            ])),
            _ => MediaForm::None,
        };
        Self { media_type, form }
    }

    /// An entry of `images`; `None` if it is none.
    pub(crate) fn of_image(entry: Value<'t>) -> Option<Self> {
        let Value::Object(mut image) = entry else { return None };
        image.take("index");
        let url = url_of(&image)?;
        let media_type = data_of(url).map_or("image", |(media_type, _)| media_type);
        let media_type = media_type.to_owned().into();
        Some(Self { media_type, form: MediaForm::Image(image) })
    }

    /// `audio`, or a part of it; `None` if it is none.
    pub(crate) fn of_audio(audio: Value<'t>) -> Option<Self> {
        let Value::Object(audio) = audio else { return None };
        Some(Self { media_type: "audio".into(), form: MediaForm::Audio(audio) })
    }

    /// Gives a sound an id, which clients expect. Returns whether it had none.
    pub(crate) fn name(&mut self, id: &str) -> bool {
        match &mut self.form {
            MediaForm::Audio(audio) if !audio.contains("id") => {
                audio.insert("id".into(), Value::String(id.to_owned().into()));
                true
            }
            _ => false,
        }
    }

    pub(crate) fn image(&self) -> Option<&Object<'t>> {
        match &self.form {
            MediaForm::Image(image) => Some(image),
            MediaForm::Audio(_) | MediaForm::None => None,
        }
    }

    pub(crate) fn audio(&self) -> Option<&Object<'t>> {
        match &self.form {
            MediaForm::Audio(audio) => Some(audio),
            MediaForm::Image(_) | MediaForm::None => None,
        }
    }

    /// The media type and the base64 of a picture that is not at an address.
    pub(crate) fn image_data(&self) -> Option<(&str, &str)> {
        data_of(url_of(self.image()?)?)
    }

    pub(crate) fn into_owned(self) -> Media<'static> {
        let media_type = self.media_type.into_owned().into();
        let form = match self.form {
            MediaForm::Image(image) => MediaForm::Image(image.into_owned()),
            MediaForm::Audio(audio) => MediaForm::Audio(audio.into_owned()),
            MediaForm::None => MediaForm::None,
        };
        Media { media_type, form }
    }
}

fn url_of<'v>(image: &'v Object<'_>) -> Option<&'v str> {
    text(image.get("image_url")?.get("url"))
}

/// The media type and the base64 of a data URL.
fn data_of(url: &str) -> Option<(&str, &str)> {
    let (head, base64) = url.strip_prefix("data:")?.split_once(',')?;
    Some((head.strip_suffix(";base64")?.split(';').next()?, base64))
}
