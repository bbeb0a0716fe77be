//! The content of messages: texts, images and files.

use super::Input;
use crate::gateway::raw_json::typed;
use crate::gateway::{Fields, GatewayError, Result};
use toolbooth::json::{Object, Value};
use toolbooth::schema::text::excerpt;

impl Input<'_> {
    /// The content of a message or of a result, as parts of OpenAI Chat Completions; a single text as a string.
    pub(super) fn content<'t>(&mut self, item: &mut Fields<'t>, name: &str) -> Result<Value<'t>> {
        let path = item.path_of(name);
        let parts = match item.take(name) {
            None => return Ok(Value::from("")),
            Some(text @ Value::String(_)) => return Ok(text),
            Some(Value::Array(parts)) => parts,
            Some(_) => return item.expected(name, "a string or an array of parts"),
        };
        let mut content = Vec::with_capacity(parts.len());
        for (index, part) in parts.into_iter().enumerate() {
            let part = Fields::of(part, format!("{path}[{index}]"), item.notes)?;
            content.push(self.part(part)?);
        }
        Ok(match content.as_mut_slice() {
            [Value::Object(only)] if only.len() == 2 && only.contains("text") => {
                only.take("text").unwrap_or_default()
            }
            _ => Value::Array(content),
        })
    }

    fn part<'t>(&mut self, mut part: Fields<'t>) -> Result<Value<'t>> {
        let kind = part.required_text("type")?;
        let value = match kind.as_ref() {
            "input_text" | "output_text" | "text" => {
                typed("text", Value::String(part.required_text("text")?))
            }
            "refusal" => typed("text", Value::String(part.required_text("refusal")?)),
            "input_image" => {
                let mut image = Object::default();
                match part.text("image_url")? {
                    Some(url) => {
                        image.insert("url".into(), Value::String(url));
                    }
                    None => self.only_openai(&part.path, "is no address and no data"),
                }
                if let Some(detail) = part.text("detail")? {
                    image.insert("detail".into(), Value::String(detail));
                }
                typed("image_url", Value::Object(image))
            }
            "input_file" => {
                let mut file = Object::default();
                if let Some(name) = part.take("filename") {
                    file.insert("filename".into(), name);
                }
                for (name, own) in
                    [("file_data", "file_data"), ("file_url", "file_data"), ("file_id", "file_id")]
                {
                    let Some(text) = part.text(name)? else { continue };
                    file.insert(own.into(), Value::String(text));
                }
                if file.is_empty() {
                    return part.expected("file_data", "the file, unless there is a file_url");
                }
                typed("file", Value::Object(file))
            }
            _ => {
                return part.expected(
                    "type",
                    "one of input_text, input_image, input_file, output_text, refusal",
                );
            }
        };
        self.finish_part(part);
        Ok(value)
    }

    /// What is left of a part is lost in a translation.
    fn finish_part(&mut self, part: Fields<'_>) {
        for (name, _) in part.into_object() {
            if !matches!(&*name, "annotations" | "logprobs") {
                self.tools.lost.push(format!("input[].content[].{}", excerpt(&name)));
            }
        }
    }

    fn only_openai(&mut self, path: &str, what: &str) {
        let message = format!("{path} {what}, which only OpenAI can read");
        self.untranslatable.get_or_insert(GatewayError::invalid(path, message));
    }

    pub(super) fn assistant_message(&mut self, mut item: Fields<'_>) -> Result<()> {
        let path = item.path_of("content");
        let parts = match item.take("content") {
            None => Vec::new(),
            Some(Value::String(text)) => {
                self.finish(item);
                self.round(true)?.texts.push(text.into_owned());
                return Ok(());
            }
            Some(Value::Array(parts)) => parts,
            Some(_) => return item.expected("content", "a string or an array of parts"),
        };
        let mut read = Vec::new();
        for (index, part) in parts.into_iter().enumerate() {
            let mut part = Fields::of(part, format!("{path}[{index}]"), item.notes)?;
            let kind = part.required_text("type")?;
            read.push(match kind.as_ref() {
                "output_text" | "input_text" | "text" => {
                    (false, part.required_text("text")?.into_owned())
                }
                "refusal" => (true, part.required_text("refusal")?.into_owned()),
                _ => return part.expected("type", "\"output_text\" or \"refusal\""),
            });
            self.finish_part(part);
        }
        self.finish(item);
        let open = self.round(true)?;
        for (is_refusal, text) in read {
            if is_refusal { open.refusals.push(text) } else { open.texts.push(text) }
        }
        Ok(())
    }
}
