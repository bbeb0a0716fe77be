//! The client's messages, read for providers whose format is not OpenAI's.

use std::borrow::Cow;

use super::GatewayError;
use super::part::{Content, Part, content};
use crate::gateway::fields::{Fields, Notes};
use crate::gateway::{ChatRequest, HistoryItem, Provider, Role, ToolResult, Turn};
use toolbooth::json::{self, Value};

/// A conversation.
#[derive(Debug, Default)]
pub(super) struct Conversation<'t> {
    /// The system and developer messages.
    pub(super) system: Vec<Part<'t>>,
    /// The other messages.
    pub(super) entries: Vec<Entry<'t>>,
}

/// A message, or an assistant message with the results of its calls.
#[derive(Debug)]
pub(super) enum Entry<'t> {
    /// A user message.
    User(Vec<Part<'t>>),
    /// An assistant message.
    Assistant(Assistant<'t>),
    /// A round of the tool loop in the provider's own format.
    Native(&'t Turn),
}

/// An assistant message with the results of its calls.
#[derive(Debug)]
pub(super) struct Assistant<'t> {
    /// Its text.
    pub(super) texts: Vec<Cow<'t, str>>,
    /// Its calls.
    pub(super) calls: Vec<Call<'t>>,
    /// What the provider added: signatures, reasoning.
    pub(super) extra_content: Option<Value<'t>>,
    /// Where it is in the request.
    path: String,
}

/// A call with its result.
#[derive(Debug)]
pub(super) struct Call<'t> {
    /// The id that the client knows.
    pub(super) id: Cow<'t, str>,
    /// The tool's name.
    pub(super) name: Cow<'t, str>,
    /// The arguments; text that is not a JSON object is wrapped in one.
    pub(super) arguments: Value<'t>,
    /// What the provider added: a signature.
    pub(super) extra_content: Option<Value<'t>>,
    /// The result, once it was found.
    pub(super) result: Option<ResultContent<'t>>,
}

/// The result of a call.
#[derive(Debug)]
pub(super) struct ResultContent<'t> {
    /// Texts and images.
    pub(super) parts: Vec<Part<'t>>,
    /// Whether the tool failed: its text begins with `Error:` (2api.ai, 8).
    pub(super) is_error: bool,
}

/// Reads the conversation for `provider`.
pub(super) fn read<'t>(
    request: &'t ChatRequest,
    provider: Provider,
    notes: &mut Notes,
) -> Result<Conversation<'t>, GatewayError> {
    let mut conversation = Conversation::default();
    for (index, item) in request.history.iter().enumerate() {
        let path = format!("messages[{index}]");
        match item {
            HistoryItem::Turn(turn) if turn.provider == provider => {
                conversation.close()?;
                conversation.entries.push(Entry::Native(turn));
            }
            HistoryItem::Turn(turn) => {
                conversation.close()?;
                let mut message = assistant(&turn.message, path, notes)?;
                for (call, result) in message.calls.iter_mut().zip(&turn.results) {
                    call.result = Some(turn_result(result));
                }
                conversation.entries.push(Entry::Assistant(message));
            }
            HistoryItem::Message { role, json } => {
                conversation.message(*role, json.get(), path, notes)?;
            }
        }
    }
    conversation.close()?;
    if conversation.entries.is_empty() {
        // The providers need a message that is not a system message.
        let system = std::mem::take(&mut conversation.system);
        conversation.entries.push(Entry::User(system));
    }
    Ok(conversation)
}

fn turn_result(result: &ToolResult) -> ResultContent<'_> {
    let parts = vec![Part::text(result.content.as_str(), String::new())];
    ResultContent { parts, is_error: result.is_error }
}

impl<'t> Conversation<'t> {
    fn message(
        &mut self,
        role: Role,
        json: &'t str,
        path: String,
        notes: &mut Notes,
    ) -> Result<(), GatewayError> {
        match role {
            Role::System | Role::Developer => {
                let mut fields = message_fields(json, path)?;
                if !self.entries.is_empty() {
                    notes.warn(format!(
                        "{}: a system message within the conversation applies to all of it",
                        fields.path()
                    ));
                }
                let parts = content(&mut fields, notes)?;
                self.system.extend(parts);
                fields.finish(notes);
            }
            Role::User => {
                self.close()?;
                let mut fields = message_fields(json, path)?;
                let parts = content(&mut fields, notes)?;
                fields.finish(notes);
                self.entries.push(Entry::User(parts));
            }
            Role::Assistant => {
                self.close()?;
                self.entries.push(Entry::Assistant(assistant(json, path, notes)?));
            }
            Role::Tool => self.tool_message(json, path, notes)?,
        }
        Ok(())
    }

    fn tool_message(
        &mut self,
        json: &'t str,
        path: String,
        notes: &mut Notes,
    ) -> Result<(), GatewayError> {
        let mut fields = message_fields(json, path)?;
        let id = fields.required_text("tool_call_id")?;
        let calls = match self.entries.last_mut() {
            Some(Entry::Assistant(message)) => message.calls.as_mut_slice(),
            _ => &mut [],
        };
        let call = calls.iter_mut().find(|call| call.id == id && call.result.is_none());
        let Some(call) = call else {
            let message = format!(
                "{} answers no call of the assistant message before it",
                fields.path_of("tool_call_id")
            );
            return Err(GatewayError::invalid(fields.path_of("tool_call_id"), message));
        };
        // The name is known from the call.
        fields.take("name");
        let parts = content(&mut fields, notes)?;
        fields.finish(notes);
        let is_error = matches!(
            parts.first(),
            Some(Part { content: Content::Text(text), .. }) if text.starts_with("Error:")
        );
        call.result = Some(ResultContent { parts, is_error });
        Ok(())
    }

    /// No results may follow any more: checks that every call has one.
    fn close(&self) -> Result<(), GatewayError> {
        let Some(Entry::Assistant(message)) = self.entries.last() else { return Ok(()) };
        match message.calls.iter().position(|call| call.result.is_none()) {
            None => Ok(()),
            Some(index) => {
                let path = format!("{}.tool_calls[{index}]", message.path);
                let message =
                    format!("{path} has no result: a tool message with its id must follow");
                Err(GatewayError::invalid(&path, message))
            }
        }
    }
}

fn message_fields(json: &str, path: String) -> Result<Fields<'_>, GatewayError> {
    let value = json::parse_within(json, &mut { usize::MAX })
        .map_err(|_| GatewayError::expected(&path, "valid JSON"))?;
    let mut fields = Fields::of(value, path)?;
    fields.take("role");
    Ok(fields)
}

fn assistant<'t>(
    json: &'t str,
    path: String,
    notes: &mut Notes,
) -> Result<Assistant<'t>, GatewayError> {
    let mut fields = message_fields(json, path)?;
    fields.take("_2api");
    let mut texts = Vec::new();
    for part in content(&mut fields, notes)? {
        match part.content {
            Content::Text(text) => texts.push(text),
            Content::Url(_) | Content::Data { .. } => {
                let message = format!("{} must be text in an assistant message", part.path);
                return Err(GatewayError::invalid(&part.path, message));
            }
        }
    }
    texts.extend(fields.text("refusal")?);
    let mut calls = Vec::new();
    if let Some(list) = fields.take("tool_calls") {
        let path = fields.path_of("tool_calls");
        let Value::Array(list) = list else {
            return Err(GatewayError::expected(&path, "an array"));
        };
        for (index, item) in list.into_iter().enumerate() {
            calls.push(call(item, format!("{path}[{index}]"), notes)?);
        }
    }
    let extra_content = fields.take("extra_content");
    let path = fields.path().to_owned();
    fields.finish(notes);
    Ok(Assistant { texts, calls, extra_content, path })
}

fn call<'t>(value: Value<'t>, path: String, notes: &mut Notes) -> Result<Call<'t>, GatewayError> {
    let mut fields = Fields::of(value, path)?;
    fields.take("index");
    let id = fields.required_text("id")?;
    if let Some(kind) = fields.text("type")?
        && kind != "function"
    {
        let path = fields.path_of("type");
        return Err(GatewayError::expected(&path, "\"function\" for this provider"));
    }
    let mut function = fields
        .fields("function")?
        .ok_or_else(|| GatewayError::expected(&fields.path_of("function"), "an object"))?;
    let name = function.required_text("name")?;
    let text = function.text("arguments")?.unwrap_or_default();
    let arguments = match parse_arguments(&text) {
        Some(arguments) => arguments,
        None => {
            let path = function.path_of("arguments");
            notes.warn(format!("{path} is not a JSON object, so it is sent as a member of one"));
            let members = [("malformed_arguments", Value::String(text))];
            Value::Object(members.into_iter().collect())
        }
    };
    let extra_content = fields.take("extra_content");
    function.finish(notes);
    fields.finish(notes);
    Ok(Call { id, name, arguments, extra_content, result: None })
}

/// Arguments as an object. No text at all means no arguments.
fn parse_arguments(text: &str) -> Option<Value<'static>> {
    if text.trim().is_empty() {
        return Some(Value::Object(json::Object::default()));
    }
    match json::parse(text) {
        Ok(Value::Object(object)) => Some(Value::Object(object.into_owned())),
        _ => None,
    }
}
