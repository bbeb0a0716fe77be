//! Writes `multipart/form-data` (RFC 7578).

use std::borrow::Cow;

use base64ct::{Base64, Encoding};

use super::FormStyle;
use super::body::Written;
use super::fields::{delimited, text};
use crate::json::Value;
use crate::tool::ToolError;

/// The parts of a body that is being written.
#[derive(Default)]
pub(super) struct Multipart(Vec<Part>);

struct Part {
    /// The lines before the content.
    head: String,
    content: Vec<u8>,
}

impl Multipart {
    /// Writes members as parts; each item of a list is a part of its own, unless `styles` say otherwise. `types` has the
    /// media types of some of them. The `boundary` is random, so no input can end a part.
    ///
    /// # Errors
    /// A file is not valid.
    pub(super) fn write(
        members: &[(&str, &Value<'_>)],
        types: &[(&str, &str)],
        styles: &[FormStyle],
        boundary: &str,
    ) -> Result<Written, ToolError> {
        let mut parts = Self::default();
        for (name, value) in members {
            let fixed = types.iter().find(|(known, _)| known == name).map(|(_, fixed)| *fixed);
            let style = styles.iter().find(|style| style.name == *name && !style.explode);
            match (value, style) {
                (Value::Array(items), Some(style)) if items.iter().all(is_plain) => {
                    let text = Value::String(delimited(value, style.style).into());
                    parts.add(name, &text, fixed)?;
                }
                (Value::Array(items), _) => {
                    for item in items.iter().filter(|item| !item.is_null()) {
                        parts.add(name, item, fixed)?;
                    }
                }
                (value, _) => parts.add(name, value, fixed)?,
            }
        }
        Ok(parts.joined(boundary))
    }

    fn add(&mut self, name: &str, value: &Value<'_>, fixed: Option<&str>) -> Result<(), ToolError> {
        let mut head = format!("content-disposition: form-data; name=\"{}\"", quoted(name));
        let (kind, content) = match file(name, value)? {
            Some(file) => {
                let kind = fixed.or(file.kind).unwrap_or("application/octet-stream");
                // Servers take a part without it for a text.
                let file_name = match file.name {
                    Some(given) if !given.is_empty() => Cow::Borrowed(given),
                    _ => Cow::Owned(usual_name(name, kind)),
                };
                head.extend(["; filename=\"", &quoted(&file_name), "\""]);
                (Some(kind), file.content)
            }
            None => {
                let is_json = matches!(value, Value::Array(_) | Value::Object(_));
                let kind = fixed.or(is_json.then_some("application/json"));
                (kind, text(value).into_owned().into_bytes())
            }
        };
        head.extend(kind.into_iter().flat_map(|kind| ["\r\ncontent-type: ", kind]));
        self.0.push(Part { head, content });
        Ok(())
    }

    fn joined(self, boundary: &str) -> Written {
        let mut body = Vec::new();
        for Part { head, content } in &self.0 {
            let lines = ["--", boundary, "\r\n", head, "\r\n\r\n"];
            lines.iter().for_each(|text| body.extend_from_slice(text.as_bytes()));
            body.extend_from_slice(content);
            body.extend_from_slice(b"\r\n");
        }
        let end = ["--", boundary, "--\r\n"].concat();
        body.extend_from_slice(end.as_bytes());
        (Cow::Owned(["multipart/form-data; boundary=", boundary].concat()), body)
    }
}

/// A file in the input: `{"name", "type", "data"}`, of which only `data` is required.
pub(super) struct File<'v> {
    name: Option<&'v str>,
    /// The media type.
    pub(super) kind: Option<&'v str>,
    pub(super) content: Vec<u8>,
}

/// The file, if a value is one: an object with these members and no others. `place` is the name of the value.
///
/// # Errors
/// Its type is not a media type, or its data not base64.
pub(super) fn file<'v>(place: &str, value: &'v Value<'_>) -> Result<Option<File<'v>>, ToolError> {
    let invalid =
        |expected| ToolError::new("A file is not valid").prompt(format!("{place}: {expected}."));
    let Some(members) = value.as_object() else { return Ok(None) };
    let text = |name| members.get(name).and_then(Value::as_str);
    let is_known = |(name, value): &(Cow<'_, str>, Value<'_>)| {
        matches!(&**name, "name" | "type" | "data") && value.as_str().is_some()
    };
    let Some(data) = text("data").filter(|_| members.iter().all(is_known)) else { return Ok(None) };
    let kind = text("type");
    if kind.is_some_and(|kind| !is_media_type(kind)) {
        return Err(invalid("type must be a media type, such as image/png"));
    }
    let content = Base64::decode_vec(data).map_err(|_| invalid("data must be base64"))?;
    Ok(Some(File { name: text("name"), kind, content }))
}

/// Whether a value is no file, and nothing else that has parts.
fn is_plain(value: &Value<'_>) -> bool {
    !matches!(value, Value::Array(_) | Value::Object(_))
}

/// The name of a file without one: that of its field, with the extension of its media type.
fn usual_name(field: &str, kind: &str) -> String {
    let fits = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let name: String = field.chars().filter(fits).collect();
    let name = if name.is_empty() { "file" } else { &name };
    let kind = kind.split(';').next().unwrap_or_default().trim();
    let (_, subtype) = kind.split_once('/').unwrap_or_default();
    let subtype = subtype.split('+').next().unwrap_or_default();
    let subtype = subtype.strip_prefix("x-").unwrap_or(subtype);
    let is_extension = (2..=5).contains(&subtype.len())
        && subtype.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let extension = match subtype {
        "plain" => "txt",
        "markdown" => "md",
        other if is_extension => other,
        _ => "bin",
    };
    [name, ".", &extension.to_ascii_lowercase()].concat()
}

/// A text within quotation marks, as browsers write it.
fn quoted(text: &str) -> String {
    text.replace('\r', "%0D").replace('\n', "%0A").replace('"', "%22")
}

/// Whether a text is a media type, which has no line breaks.
fn is_media_type(text: &str) -> bool {
    text.contains('/') && text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}
