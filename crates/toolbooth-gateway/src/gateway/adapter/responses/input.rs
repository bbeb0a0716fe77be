//! The conversation as the items of Responses.

use std::borrow::Cow;

use crate::gateway::adapter::{Job, Result};
use crate::gateway::raw_json::parse;
use crate::gateway::{Fields, Format, GatewayError, HistoryItem, Notes, Role, ids};
use crate::wire::Json;
use crate::wire::responses::request::{Item, Output, Part};
use toolbooth::json::{self, Value};

/// Collects items. The results of custom tools have a type of their own.
struct Items<'t> {
    items: Vec<Json<'t>>,
    custom: Vec<String>,
    notes: &'t Notes,
}

pub(super) fn input<'t>(job: &'t Job<'t>) -> Result<Vec<Json<'t>>> {
    let mut items = Items { items: Vec::new(), custom: Vec::new(), notes: job.notes };
    for (index, item) in job.request.history.iter().enumerate() {
        let path = format!("messages[{index}]");
        match item {
            HistoryItem::Message { role, json } => {
                let message = Fields::of_json(json.get(), path, job.notes)?;
                items.message(*role, message)?;
            }
            HistoryItem::Turn(turn) => {
                if turn.format == Format::Responses && !turn.native.is_empty() {
                    items.native(&turn.native)?;
                } else {
                    let message = Fields::of_json(&turn.message, path, job.notes)?;
                    items.message(Role::Assistant, message)?;
                }
                for result in &turn.results {
                    let output =
                        output(Some(result.content.value()?), "messages[].content", job.notes)?;
                    items.result(result.call_id.as_str().into(), output);
                }
            }
        }
    }
    Ok(items.items)
}

impl<'t> Items<'t> {
    fn add(&mut self, item: &Item<'_>) {
        self.items.push(Json::Text(json::to_string(item).into()));
    }

    /// Items as the provider wrote them, apart from what only answers have.
    fn native(&mut self, json: &'t str) -> Result<()> {
        let Value::Array(items) = parse(json, "input")? else { return Ok(()) };
        for mut item in items {
            if let Value::Object(item) = &mut item {
                item.retain(|name, value| name != "status" && !value.is_null());
                if item.get("type").and_then(Value::as_str) == Some("custom_tool_call") {
                    let id = item.get("call_id").and_then(Value::as_str).unwrap_or_default();
                    self.custom.push(id.to_owned());
                }
            }
            self.items.push(item.into());
        }
        Ok(())
    }

    fn result(&mut self, id: Cow<'_, str>, output: Output<'_>) {
        let is_custom = self.custom.iter().any(|known| *known == id);
        let call_id = ids::portable(id);
        self.add(&match is_custom {
            true => Item::CustomToolCallOutput { call_id, output },
            false => Item::FunctionCallOutput { call_id, output },
        });
    }

    fn message(&mut self, role: Role, mut message: Fields<'t>) -> Result<()> {
        message.take("role");
        match role {
            Role::System | Role::Developer | Role::User => {}
            Role::Assistant => return self.assistant(message),
            Role::Tool => {
                let id = message.required_text("tool_call_id")?;
                message.take("name");
                let content = message.take("content");
                let output = output(content, &message.path_of("content"), self.notes)?;
                message.finish();
                self.result(id, output);
                return Ok(());
            }
        }
        let content = message.take("content");
        let content = parts(content, &message.path_of("content"), self.notes, false)?;
        message.finish();
        self.add(&Item::Message { role: role.as_str(), content });
        Ok(())
    }

    fn assistant(&mut self, mut message: Fields<'t>) -> Result<()> {
        message.take("_2api");
        if let Some(Value::Object(mut extra)) = message.take("extra_content")
            && let Some(Value::Object(mut own)) = extra.take("openai")
            && let Some(Value::Array(reasoning)) = own.take("reasoning")
        {
            for mut item in reasoning {
                if let Value::Object(item) = &mut item {
                    item.retain(|name, value| name != "status" && !value.is_null());
                }
                self.items.push(item.into());
            }
        }
        let content = message.take("content");
        let mut content = parts(content, &message.path_of("content"), self.notes, true)?;
        if let Some(refusal) = message.text("refusal")? {
            content.push(Part::Refusal { refusal });
        }
        if !content.is_empty() {
            self.add(&Item::Message { role: "assistant", content });
        }
        // Text to read, which no provider needs back.
        message.take("reasoning_content");
        for (index, call) in message.list("tool_calls").into_iter().enumerate() {
            let path = format!("{}[{index}]", message.path_of("tool_calls"));
            self.call(Fields::of(call, path, self.notes)?)?;
        }
        message.finish();
        Ok(())
    }

    fn call(&mut self, mut call: Fields<'t>) -> Result<()> {
        let id = call.required_text("id")?;
        let is_custom = call.text("type")?.is_some_and(|kind| kind == "custom");
        for known in ["index", "extra_content"] {
            call.take(known);
        }
        let item = if is_custom {
            let mut custom = call.required_fields("custom")?;
            self.custom.push(id.to_string());
            let name = custom.required_text("name")?;
            let input = custom.text("input")?.unwrap_or_default();
            custom.finish();
            Item::CustomToolCall { call_id: ids::portable(id), name, input }
        } else {
            let mut function = call.required_fields("function")?;
            let name = function.required_text("name")?;
            let arguments = function.text("arguments")?.unwrap_or_default();
            function.finish();
            Item::FunctionCall { call_id: ids::portable(id), name, arguments }
        };
        call.finish();
        self.add(&item);
        Ok(())
    }
}

/// The result of a call, which is at `path`.
fn output<'t>(content: Option<Value<'t>>, path: &str, notes: &'t Notes) -> Result<Output<'t>> {
    match content {
        Some(Value::String(text)) => Ok(Output::Text(text)),
        content => Ok(Output::Parts(parts(content, path, notes, false)?)),
    }
}

/// The parts of a message; those of an assistant message are its output.
fn parts<'t>(
    content: Option<Value<'t>>,
    path: &str,
    notes: &'t Notes,
    is_output: bool,
) -> Result<Vec<Part<'t>>> {
    let text = |text| if is_output { Part::OutputText { text } } else { Part::InputText { text } };
    let list = match content {
        None => return Ok(Vec::new()),
        Some(Value::String(all)) if all.is_empty() => return Ok(Vec::new()),
        Some(Value::String(all)) => return Ok(vec![text(all)]),
        Some(Value::Array(list)) => list,
        Some(_) => return Err(GatewayError::expected(path, "a string or an array of parts")),
    };
    let mut parts = Vec::with_capacity(list.len());
    for (index, part) in list.into_iter().enumerate() {
        let mut part = Fields::of(part, format!("{path}[{index}]"), notes)?;
        let kind = part.required_text("type")?;
        parts.push(match kind.as_ref() {
            "text" => text(part.required_text("text")?),
            "refusal" => Part::Refusal { refusal: part.required_text("refusal")? },
            "image_url" => {
                let mut image = part.required_fields("image_url")?;
                let image_url = image.required_text("url")?;
                let detail = image.text("detail")?.unwrap_or("auto".into());
                image.finish();
                Part::InputImage { image_url, detail }
            }
            "file" => {
                let mut file = part.required_fields("file")?;
                let data = file.text("file_data")?;
                let is_address = data.as_ref().is_some_and(|it| it.starts_with("https:"));
                let (file_url, file_data) = if is_address { (data, None) } else { (None, data) };
                let (filename, file_id) = (file.text("filename")?, file.text("file_id")?);
                file.finish();
                Part::InputFile { filename, file_data, file_url, file_id }
            }
            _ => {
                let expected = "one of text, image_url, file for this provider";
                return part.expected("type", expected);
            }
        });
        part.finish();
    }
    Ok(parts)
}
