//! Writes `multipart/form-data` (RFC 7578).

use std::borrow::Cow;

use base64ct::{Base64, Encoding};

use super::body::Written;
use super::fields::text;
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
    /// Writes members as parts; each item of a list is a part of its own. `types` has the media types of some of
    /// them. The `boundary` is random, so no input can end a part.
    ///
    /// # Errors
    /// A file is not valid.
    pub(super) fn write(
        members: &[(&str, &Value<'_>)],
        types: &[(&str, &str)],
        boundary: &str,
    ) -> Result<Written, ToolError> {
        let mut parts = Self::default();
        for (name, value) in members {
            let fixed = types.iter().find(|(known, _)| known == name).map(|(_, fixed)| *fixed);
            match value {
                Value::Array(items) => {
                    for item in items.iter().filter(|item| !item.is_null()) {
                        parts.add(name, item, fixed)?;
                    }
                }
                value => parts.add(name, value, fixed)?,
            }
        }
        Ok(parts.joined(boundary))
    }

    fn add(&mut self, name: &str, value: &Value<'_>, fixed: Option<&str>) -> Result<(), ToolError> {
        let mut head = format!("content-disposition: form-data; name=\"{}\"", quoted(name));
        let (kind, content) = match file(name, value)? {
            Some(file) => {
                if let Some(file_name) = file.name {
                    head.extend(["; filename=\"", &quoted(file_name), "\""]);
                }
                (fixed.or(file.kind).or(Some("application/octet-stream")), file.content)
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

/// A text within quotation marks, as browsers write it.
fn quoted(text: &str) -> String {
    text.replace('\r', "%0D").replace('\n', "%0A").replace('"', "%22")
}

/// Whether a text is a media type, which has no line breaks.
fn is_media_type(text: &str) -> bool {
    text.contains('/') && text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}
