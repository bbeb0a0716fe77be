//! The content of messages: texts, images and files.

use std::borrow::Cow;

use crate::gateway::conversation::{Part, PartContent, Source};
use crate::gateway::error::{GatewayError, Result};
use crate::gateway::fields::Fields;
use crate::gateway::format::front::unknown::defines;
use crate::gateway::format::responses::front::input::Input;
use toolbooth::json::Value;
use toolbooth::schema::text::excerpt;

impl Input<'_> {
    /// The content of a message or of a result.
    pub(super) fn content(&mut self, item: &mut Fields<'_>, name: &str) -> Result<Vec<Part>> {
        let path = item.path_of(name);
        let parts = match item.take(name) {
            None => return Ok(Vec::new()),
            Some(Value::String(text)) => return Ok(vec![Part::text(text, path)]),
            Some(Value::Array(parts)) => parts,
            Some(_) => return item.expected(name, "a string or an array of parts"),
        };
        let mut content = Vec::with_capacity(parts.len());
        for (index, part) in parts.into_iter().enumerate() {
            let part = Fields::of(part, format!("{path}[{index}]"), item.notes)?;
            content.extend(self.part(part)?);
        }
        Ok(content)
    }

    /// A part; `None` if only providers with this format know its type.
    fn part(&mut self, mut part: Fields<'_>) -> Result<Option<Part>> {
        let kind = part.required_text("type")?;
        let content = match kind.as_ref() {
            "input_text" | "output_text" | "text" => {
                PartContent::Text(part.required_text("text")?.into_owned())
            }
            "refusal" => PartContent::Text(part.required_text("refusal")?.into_owned()),
            "input_image" => {
                let detail = part.text("detail")?.map(Cow::into_owned);
                let source = match part.text("image_url")? {
                    Some(url) => self.source(url, &part.path),
                    None => {
                        self.only_openai(&part.path, "is no address and no data");
                        let id = part.text("file_id")?.unwrap_or_default();
                        Source::Id(id.into_owned())
                    }
                };
                PartContent::Image { source, detail }
            }
            "input_file" => {
                let name = part.text("filename")?.map(Cow::into_owned);
                let source = match (part.text("file_data")?, part.text("file_url")?) {
                    (Some(data), _) => self.source(data, &part.path),
                    (None, Some(url)) => self.source(url, &part.path),
                    (None, None) => match part.text("file_id")? {
                        Some(id) => Source::Id(id.into_owned()),
                        None => {
                            let expected = "the file, unless there is a file_url";
                            return part.expected("file_data", expected);
                        }
                    },
                };
                PartContent::File { source, name }
            }
            unknown => {
                self.unknown_part(unknown, part);
                return Ok(None);
            }
        };
        let path = part.path.clone();
        self.finish_part(part);
        Ok(Some(Part::new(content, path)))
    }

    /// What is left of a part is lost in a translation.
    fn finish_part(&mut self, part: Fields<'_>) {
        let mut members = part.into_object();
        for known in ["annotations", "logprobs"] {
            members.take(known);
        }
        self.needs_translation |= defines(&members);
        for (name, _) in members {
            self.tools.lost.push(format!("input[].content[].{}", excerpt(&name)));
        }
    }

    /// The source that an address means.
    fn source(&mut self, address: Cow<'_, str>, path: &str) -> Source {
        Source::of_address(&address).unwrap_or_else(|| {
            self.only_openai(path, "is neither at an https URL nor in a data URL");
            Source::Url(address.into_owned())
        })
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
                unknown => {
                    self.unknown_part(unknown, part);
                    continue;
                }
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
