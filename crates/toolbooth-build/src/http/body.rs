//! Checks the body of a request.

use std::collections::BTreeMap;

use toolbooth::catalog::{BodyDefinition, BodyType, HttpDefinition, ParameterStyle};

use super::sent::{Sent, is_header_value};
use super::template;
use crate::problem::Problems;

/// Checks the body of a request.
pub(super) fn check<'a>(
    http: &HttpDefinition,
    body: &'a BodyDefinition,
    sent: &mut Sent<'a>,
    problems: &mut Problems<'_>,
) {
    if http.method.is_read() {
        problems.add("body", format!("is not possible with {}", http.method.name()));
    }
    let mut names = None;
    match (&body.properties, &body.whole, &body.template) {
        (Some(properties), None, None) => {
            let mut members: BTreeMap<&str, &str> = BTreeMap::new();
            for (property, name) in properties {
                let at = format!("body.properties.{property}");
                sent.property(property, "body", &at, problems);
                if let Some(other) = members.insert(name, property) {
                    problems.add(at, format!("is {name:?}, the same member as that of {other:?}"));
                }
            }
            names = Some(members);
        }
        (None, None, Some(template)) => {
            if body.format != BodyType::Json {
                problems.add("body.template", "is only for a JSON body");
            }
            match template::compile(template) {
                Ok((_, properties)) => {
                    for property in properties {
                        sent.property(property, "body", "body.template", problems);
                    }
                }
                Err(message) => problems.add("body.template", message),
            }
        }
        (None, Some(whole), None) => {
            sent.property(whole, "body", "body.whole", problems);
            let is_object = sent.schema(whole).is_none_or(|schema| {
                schema.get("type").is_none_or(|it| {
                    it == "object"
                        || it.as_array().is_some_and(|it| it.iter().any(|it| it == "object"))
                })
            });
            let is_form = matches!(body.format, BodyType::Form | BodyType::Multipart);
            if is_form && !is_object {
                problems.add(
                    "body.whole",
                    format!("is {whole:?}, which is not an object; a form has fields"),
                );
            }
        }
        _ => problems.add("body", "must have exactly one of properties, whole and template"),
    }
    if body.format == BodyType::Raw && body.whole.is_none() {
        problems.add("body", "must have whole, because its type is raw");
    }
    match &body.content_type {
        Some(_) if body.format != BodyType::Raw => {
            problems.add("body.contentType", "is only for the type raw");
        }
        Some(kind) if !is_media_type(kind) => {
            let message = format!("is {kind:?}; expected a media type, such as text/csv");
            problems.add("body.contentType", message);
        }
        _ => {}
    }
    for (name, encoding) in &body.encoding {
        let at = format!("body.encoding.{name}");
        if names.as_ref().is_some_and(|names| !names.contains_key(&**name)) {
            problems.add(&at, "is not a member of the body");
        }
        let has_style = encoding.style.is_some() || encoding.explode.is_some();
        match (body.format, &encoding.content_type) {
            (BodyType::Json | BodyType::Raw, _) => {
                problems.add(&at, "is only for form and multipart");
            }
            (BodyType::Form, Some(kind)) if kind != "application/json" || has_style => {
                problems.add(
                    &at,
                    "must have either style and explode, or \"contentType\": \"application/json\"",
                );
            }
            (BodyType::Multipart, Some(_)) if has_style => {
                problems.add(&at, "must have either contentType, or style and explode");
            }
            (BodyType::Multipart, None) if encoding.style == Some(ParameterStyle::DeepObject) => {
                problems
                    .add(format!("{at}.style"), "is \"deepObject\", which is not for multipart");
            }
            (BodyType::Multipart, Some(kind)) if !is_media_type(kind) => {
                let message = format!("is {kind:?}; expected a media type, such as image/png");
                problems.add(format!("{at}.contentType"), message);
            }
            _ => {}
        }
        if encoding.style == Some(ParameterStyle::Simple) {
            problems.add(format!("{at}.style"), "is \"simple\", which is for path and header");
        }
    }
}

/// Whether a text is one media type, perhaps with parameters.
fn is_media_type(text: &str) -> bool {
    let (kind, subtype) =
        text.split(';').next().unwrap_or_default().split_once('/').unwrap_or_default();
    let is_name = |name: &str| {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$&-^_.+".contains(&byte);
        !name.is_empty() && name.bytes().all(fits)
    };
    is_name(kind) && is_name(subtype.trim_end()) && is_header_value(text)
}
