//! The conversation as the items of Responses.

use std::borrow::Cow;

use crate::gateway::conversation::{
    Assistant, HistoryItem, Message, MessageBody, Part, PartContent, Source, ToolResult,
};
use crate::gateway::error::Result;
use crate::gateway::format::adapter::Format;
use crate::gateway::format::adapter::job::Job;
use crate::gateway::format::chat_completions::front::message::of_turn;
use crate::gateway::ids;
use crate::gateway::notes::Notes;
use crate::gateway::raw_json::parse;
use crate::wire::responses::request::{Item, Output, Part as SentPart};
use crate::wire::{Json, ToolCall};
use toolbooth::json::{self, Value};

/// Collects items. The results of custom tools have a type of their own.
struct Items<'j, 't> {
    items: Vec<Json<'t>>,
    /// The ids of calls of custom tools.
    custom: Vec<Cow<'t, str>>,
    notes: &'j Notes,
}

pub(super) fn input<'t>(job: &Job<'t>) -> Result<Vec<Json<'t>>> {
    let mut items = Items { items: Vec::new(), custom: Vec::new(), notes: job.notes };
    for (index, item) in job.history().enumerate() {
        match item {
            HistoryItem::Message(Message { body, .. }) => match body {
                MessageBody::System(parts) => items.say("system", parts),
                MessageBody::Developer(parts) => items.say("developer", parts),
                MessageBody::User(parts) => items.say("user", parts),
                MessageBody::Assistant(assistant) => {
                    items.customs(&assistant.calls);
                    items.assistant(assistant);
                }
                MessageBody::Result(result) => items.result(result),
            },
            HistoryItem::Turn(turn) => {
                if turn.format == Format::Responses && !turn.native.is_empty() {
                    items.native(&turn.native)?;
                } else {
                    let path = format!("messages[{index}]");
                    let assistant = of_turn(&turn.message, &path, job.notes)?;
                    let custom = assistant.calls.iter().filter(|call| call.custom);
                    items.custom.extend(custom.map(|call| call.id.clone()));
                    items.assistant(&assistant);
                }
                turn.results.iter().for_each(|result| items.result(result));
            }
        }
    }
    Ok(items.items)
}

impl<'t> Items<'_, 't> {
    fn add(&mut self, item: &Item<'_>) {
        self.items.push(Json::Text(json::to_string(item).into()));
    }

    /// Items as the provider wrote them, apart from what only answers have.
    fn native(&mut self, json: &'t str) -> Result<()> {
        let Value::Array(items) = parse(json, "input")? else { return Ok(()) };
        for item in items {
            if item.get("type").and_then(Value::as_str) == Some("custom_tool_call") {
                let id = item.get("call_id").and_then(Value::as_str).unwrap_or_default();
                self.custom.push(id.to_owned().into());
            }
            self.verbatim(item);
        }
        Ok(())
    }

    /// An item as the provider wrote it, apart from what only answers have. Messages need their status.
    fn verbatim(&mut self, mut item: Value<'t>) {
        let is_message = item.get("type").and_then(Value::as_str) == Some("message");
        if let Value::Object(item) = &mut item {
            item.retain(|name, value| (is_message || name != "status") && !value.is_null());
        }
        self.items.push(item.into());
    }

    fn customs(&mut self, calls: &'t [ToolCall<'static>]) {
        let custom = calls.iter().filter(|call| call.custom);
        self.custom.extend(custom.map(|call| Cow::from(&*call.id)));
    }

    fn result(&mut self, result: &'t ToolResult) {
        let ToolResult { call_id, content, .. } = result;
        let is_text = content.0.iter().all(|part| part.as_text().is_some());
        let output = match is_text {
            true => Output::Text(content.text()),
            false => Output::Parts(self.parts(&content.0, false)),
        };
        let is_custom = self.custom.iter().any(|known| *known == call_id.as_str());
        let call_id = ids::portable(call_id.into());
        self.add(&match is_custom {
            true => Item::CustomToolCallOutput { call_id, output },
            false => Item::FunctionCallOutput { call_id, output },
        });
    }

    fn say(&mut self, role: &'static str, parts: &[Part]) {
        let content = self.parts(parts, false);
        self.add(&Item::Message { role, content });
    }

    fn assistant(&mut self, assistant: &Assistant) {
        let content = self.parts(&assistant.content, true);
        // OpenAI rejects reasoning that nothing follows.
        let says_something = !content.is_empty() || !assistant.calls.is_empty();
        for (name, value) in assistant.extra_content.iter() {
            let reasoning = value.get("reasoning").and_then(Value::as_array);
            match (&**name, reasoning) {
                ("openai", Some(items)) if says_something => {
                    items.iter().for_each(|item| self.verbatim(item.clone()));
                }
                ("toolbooth", _) => {}
                _ => self.notes.drop_member(&format!("messages[].extra_content.{name}")),
            }
        }
        if !content.is_empty() {
            self.add(&Item::Message { role: "assistant", content });
        }
        assistant.calls.iter().for_each(|call| self.call(call));
    }

    fn call(&mut self, call: &ToolCall<'static>) {
        let extra = call.extra.get("extra_content").and_then(Value::as_object);
        for (name, _) in extra.into_iter().flat_map(|extra| extra.iter()) {
            if **name != *"toolbooth" {
                let path = "messages[].tool_calls[].extra_content";
                self.notes.drop_member(&format!("{path}.{name}"));
            }
        }
        let call_id = ids::portable(call.id.as_ref().into());
        let (name, text) = (call.name.as_ref().into(), call.arguments.text());
        self.add(&match call.custom {
            true => Item::CustomToolCall { call_id, name, input: text },
            false => {
                let arguments = if text.trim().is_empty() { "{}".into() } else { text };
                Item::FunctionCall { call_id, name, arguments }
            }
        });
    }

    /// The parts of a message; those of an assistant message are its output.
    fn parts<'p>(&self, parts: &'p [Part], is_output: bool) -> Vec<SentPart<'p>> {
        parts.iter().filter_map(|part| self.part(part, is_output)).collect()
    }

    /// A part as the provider gets it; `None` if it cannot get it.
    fn part<'p>(&self, part: &'p Part, is_output: bool) -> Option<SentPart<'p>> {
        let Part { content, cache_control, path, .. } = part;
        if cache_control.is_some() {
            self.notes.drop_member(&format!("{path}.cache_control"));
        }
        Some(match content {
            PartContent::Text(text) if text.is_empty() => return None,
            PartContent::Text(text) if is_output => SentPart::OutputText { text: text.into() },
            PartContent::Text(text) => SentPart::InputText { text: text.into() },
            PartContent::Refusal(text) => SentPart::Refusal { refusal: text.into() },
            PartContent::Image { source, detail } if !is_output => {
                let detail = detail.as_deref().unwrap_or("auto").into();
                SentPart::InputImage { image_url: source.address()?, detail }
            }
            PartContent::File { source, name } if !is_output => {
                let address = source.address();
                let is_url = matches!(source, Source::Url(_));
                let (file_url, file_data) = if is_url { (address, None) } else { (None, address) };
                let (filename, file_id) = (name.as_deref(), source.id());
                SentPart::InputFile {
                    filename: filename.map(Cow::from),
                    file_data,
                    file_url,
                    file_id: file_id.map(Cow::from),
                }
            }
            PartContent::Audio { .. } | PartContent::Image { .. } | PartContent::File { .. } => {
                self.notes.drop_member(path);
                return None;
            }
            PartContent::Other(kind) => {
                self.notes.drop_member(&format!("{path} ({kind})"));
                return None;
            }
        })
    }
}
