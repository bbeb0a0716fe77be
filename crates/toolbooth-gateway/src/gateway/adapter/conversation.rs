//! The client's messages, read for providers whose format is not OpenAI's.

use std::borrow::Cow;

use super::part::{self, Content, Part, content};
use super::{GatewayError, Job, MAX_EVENT_VALUES, Result};
use crate::gateway::raw_json::nested;
use crate::gateway::{Fields, Format, HistoryItem, Notes, Role, ToolResult, Turn};
use crate::wire::Json;
use toolbooth::json::{self, Value};

#[derive(Default)]
pub(super) struct Conversation<'t> {
    /// The system and developer messages.
    pub(super) system: Vec<Part<'t>>,
    /// The other messages.
    pub(super) entries: Vec<Entry<'t>>,
}

/// A message, or an assistant message with the results of its calls.
pub(super) enum Entry<'t> {
    User(Vec<Part<'t>>),
    Assistant(Assistant<'t>),
    /// A round of the tool loop in the provider's own format, with the results of its calls.
    Native(&'t Turn, Vec<ResultContent<'t>>),
}

pub(super) struct Assistant<'t> {
    pub(super) texts: Vec<Cow<'t, str>>,
    pub(super) calls: Vec<Call<'t>>,
    /// What the provider added: signatures, reasoning.
    pub(super) extra_content: Option<Value<'t>>,
}

pub(super) struct Call<'t> {
    /// The id that the client knows.
    pub(super) id: Cow<'t, str>,
    pub(super) name: Cow<'t, str>,
    /// The arguments; text that is not a JSON object is wrapped in one.
    pub(super) arguments: Json<'t>,
    /// What the provider added: a signature.
    pub(super) extra_content: Option<Value<'t>>,
    /// The result, once it was found.
    pub(super) result: Option<ResultContent<'t>>,
}

/// The result of a call: texts and images.
pub(super) struct ResultContent<'t> {
    pub(super) parts: Vec<Part<'t>>,
    /// Whether the tool failed: its text begins with `Error:` (2api.ai, 8).
    pub(super) is_error: bool,
}

/// A result in a round of the tool loop, which is at `path`.
pub(super) fn result<'t>(
    result: &'t ToolResult,
    path: &str,
    notes: &'t Notes,
) -> Result<ResultContent<'t>> {
    let parts = part::parts(result.content.value()?, format!("{path}.content"), notes)?;
    Ok(ResultContent { parts, is_error: result.is_error })
}

/// Reads the messages. The front has checked that each result answers a call before it, and that each call has one.
pub(super) fn read<'t>(job: &'t Job<'t>, format: Format) -> Result<Conversation<'t>> {
    let mut conversation = Conversation::default();
    for (index, item) in job.request.history.iter().enumerate() {
        let path = format!("messages[{index}]");
        match item {
            HistoryItem::Turn(turn) => {
                let results = turn.results.iter().map(|it| result(it, &path, job.notes));
                let results = results.collect::<Result<Vec<_>>>()?;
                if turn.format == format {
                    conversation.entries.push(Entry::Native(turn, results));
                    continue;
                }
                let mut message = assistant(message_fields(&turn.message, path, job.notes)?)?;
                for (call, result) in message.calls.iter_mut().zip(results) {
                    call.result = Some(result);
                }
                conversation.entries.push(Entry::Assistant(message));
            }
            HistoryItem::Message { role, json } => {
                let message = message_fields(json.get(), path, job.notes)?;
                conversation.message(*role, message)?;
            }
        }
    }
    if conversation.entries.is_empty() {
        // The providers need a message that is not a system message.
        let system = std::mem::take(&mut conversation.system);
        conversation.entries.push(Entry::User(system));
    }
    Ok(conversation)
}

impl<'t> Conversation<'t> {
    fn message(&mut self, role: Role, mut fields: Fields<'t>) -> Result<()> {
        match role {
            Role::System | Role::Developer => {
                if !self.entries.is_empty() {
                    fields.notes.warn(format!(
                        "{}: a system message within the conversation applies to all of it",
                        fields.path
                    ));
                }
                self.system.extend(content(&mut fields)?);
                fields.finish();
            }
            Role::User => {
                let parts = content(&mut fields)?;
                fields.finish();
                self.entries.push(Entry::User(parts));
            }
            Role::Assistant => self.entries.push(Entry::Assistant(assistant(fields)?)),
            Role::Tool => self.tool_message(fields)?,
        }
        Ok(())
    }

    fn tool_message(&mut self, mut fields: Fields<'t>) -> Result<()> {
        let id = fields.required_text("tool_call_id")?;
        let calls = match self.entries.last_mut() {
            Some(Entry::Assistant(message)) => message.calls.as_mut_slice(),
            _ => &mut [],
        };
        let call = calls.iter_mut().find(|call| call.id == id && call.result.is_none());
        // The name is known from the call.
        fields.take("name");
        let parts = content(&mut fields)?;
        fields.finish();
        let is_error = matches!(
            parts.first(),
            Some(Part { content: Content::Text(text), .. }) if text.starts_with("Error:")
        );
        if let Some(call) = call {
            call.result = Some(ResultContent { parts, is_error });
        }
        Ok(())
    }
}

fn message_fields<'t>(json: &'t str, path: String, notes: &'t Notes) -> Result<Fields<'t>> {
    let mut fields = Fields::of_json(json, path, notes)?;
    fields.take("role");
    Ok(fields)
}

fn assistant(mut fields: Fields<'_>) -> Result<Assistant<'_>> {
    fields.take("_2api");
    let mut texts = Vec::new();
    for part in content(&mut fields)? {
        match part.content {
            Content::Text(text) => texts.push(text),
            Content::Url(_) | Content::Data { .. } => {
                let expected = "text in an assistant message";
                return Err(GatewayError::expected(&part.path, expected));
            }
        }
    }
    texts.extend(fields.text("refusal")?);
    // Providers reject empty text.
    texts.retain(|text| !text.is_empty());
    let mut calls = Vec::new();
    match fields.take("tool_calls") {
        None => {}
        Some(Value::Array(list)) => {
            let path = fields.path_of("tool_calls");
            for (index, item) in list.into_iter().enumerate() {
                calls.push(call(Fields::of(item, format!("{path}[{index}]"), fields.notes)?)?);
            }
        }
        Some(_) => return fields.expected("tool_calls", "an array"),
    }
    let extra_content = fields.take("extra_content");
    fields.finish();
    Ok(Assistant { texts, calls, extra_content })
}

fn call(mut fields: Fields<'_>) -> Result<Call<'_>> {
    fields.take("index");
    let id = fields.required_text("id")?;
    if fields.text("type")?.is_some_and(|kind| kind != "function") {
        return fields.expected("type", "\"function\" for this provider");
    }
    let mut function = fields.required_fields("function")?;
    let name = function.required_text("name")?;
    let text = function.text("arguments")?.unwrap_or_default();
    let is_object = json::parse_within(&text, &mut { MAX_EVENT_VALUES })
        .is_ok_and(|value| value.as_object().is_some());
    let arguments = match text {
        // As the model wrote it, with its order of members.
        text if is_object => Json::Text(text),
        text if text.trim().is_empty() => Json::Text("{}".into()),
        text => {
            let path = function.path_of("arguments");
            let warning = format!("{path} is not a JSON object, so it is sent as a member of one");
            fields.notes.warn(warning);
            Json::Value(nested("malformed_arguments", Value::String(text)))
        }
    };
    let extra_content = fields.take("extra_content");
    function.finish();
    fields.finish();
    Ok(Call { id, name, arguments, extra_content, result: None })
}
