//! The client's messages, read for providers whose format is not OpenAI's.

use std::borrow::Cow;

use super::TranslateError;
use super::report::{Fields, Report};
use crate::gateway::{ChatRequest, HistoryItem, Provider, Role, ToolResult, Turn};
use crate::json::{self, Value};

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
    pub(super) result: Option<CallResult<'t>>,
}

/// The result of a call.
#[derive(Debug)]
pub(super) struct CallResult<'t> {
    /// Texts and images.
    pub(super) parts: Vec<Part<'t>>,
    /// Whether the tool failed: its text begins with `Error:` (2api.ai, 8).
    pub(super) is_error: bool,
}

/// A part of a message.
#[derive(Debug)]
pub(super) struct Part<'t> {
    /// What it is.
    pub(super) content: Content<'t>,
    /// Anthropic's `cache_control`, which many clients send in OpenAI's format.
    pub(super) cache_control: Option<Value<'t>>,
    /// Where it is in the request.
    pub(super) path: String,
}

/// The content of a part.
#[derive(Debug)]
pub(super) enum Content<'t> {
    /// Text.
    Text(Cow<'t, str>),
    /// An image, or another file, at an address.
    Url(Cow<'t, str>),
    /// An image, audio or a file as base64.
    Data {
        /// Its media type.
        media_type: Cow<'t, str>,
        /// The base64 text.
        base64: Cow<'t, str>,
    },
}

impl<'t> Part<'t> {
    fn text(text: impl Into<Cow<'t, str>>, path: String) -> Self {
        Self { content: Content::Text(text.into()), cache_control: None, path }
    }
}

/// Reads the conversation for `provider`.
pub(super) fn read<'t>(
    request: &'t ChatRequest,
    provider: Provider,
    report: &mut Report,
) -> Result<Conversation<'t>, TranslateError> {
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
                let mut message = assistant(&turn.message, path, report)?;
                for (call, result) in message.calls.iter_mut().zip(&turn.results) {
                    call.result = Some(turn_result(result));
                }
                conversation.entries.push(Entry::Assistant(message));
            }
            HistoryItem::Message { role, json } => {
                conversation.message(*role, json.get(), path, report)?;
            }
        }
    }
    conversation.close()?;
    Ok(conversation)
}

fn turn_result(result: &ToolResult) -> CallResult<'_> {
    let parts = vec![Part::text(result.content.as_str(), String::new())];
    CallResult { parts, is_error: result.is_error }
}

impl<'t> Conversation<'t> {
    fn message(
        &mut self,
        role: Role,
        json: &'t str,
        path: String,
        report: &mut Report,
    ) -> Result<(), TranslateError> {
        match role {
            Role::System | Role::Developer => {
                let mut fields = message_fields(json, path)?;
                if !self.entries.is_empty() {
                    report.warn(format!(
                        "{}: a system message within the conversation applies to all of it",
                        fields.path()
                    ));
                }
                let parts = content(&mut fields, report)?;
                self.system.extend(parts);
                fields.finish(report);
            }
            Role::User => {
                self.close()?;
                let mut fields = message_fields(json, path)?;
                let parts = content(&mut fields, report)?;
                fields.finish(report);
                self.entries.push(Entry::User(parts));
            }
            Role::Assistant => {
                self.close()?;
                self.entries.push(Entry::Assistant(assistant(json, path, report)?));
            }
            Role::Tool => self.tool_message(json, path, report)?,
        }
        Ok(())
    }

    fn tool_message(
        &mut self,
        json: &'t str,
        path: String,
        report: &mut Report,
    ) -> Result<(), TranslateError> {
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
            return Err(TranslateError::invalid(&fields.path_of("tool_call_id"), message));
        };
        // The name is known from the call.
        fields.take("name");
        let parts = content(&mut fields, report)?;
        fields.finish(report);
        let is_error = matches!(
            parts.first(),
            Some(Part { content: Content::Text(text), .. }) if text.starts_with("Error:")
        );
        call.result = Some(CallResult { parts, is_error });
        Ok(())
    }

    /// No results may follow any more: checks that every call has one.
    fn close(&self) -> Result<(), TranslateError> {
        let Some(Entry::Assistant(message)) = self.entries.last() else { return Ok(()) };
        match message.calls.iter().position(|call| call.result.is_none()) {
            None => Ok(()),
            Some(index) => {
                let path = format!("{}.tool_calls[{index}]", message.path);
                let message =
                    format!("{path} has no result: a tool message with its id must follow");
                Err(TranslateError::invalid(&path, message))
            }
        }
    }
}

fn message_fields(json: &str, path: String) -> Result<Fields<'_>, TranslateError> {
    let value = json::parse_within(json, &mut { usize::MAX })
        .map_err(|_| TranslateError::expected(&path, "valid JSON"))?;
    let mut fields = Fields::of(value, path)?;
    fields.take("role");
    Ok(fields)
}

fn assistant<'t>(
    json: &'t str,
    path: String,
    report: &mut Report,
) -> Result<Assistant<'t>, TranslateError> {
    let mut fields = message_fields(json, path)?;
    fields.take("_2api");
    let mut texts = Vec::new();
    for part in content(&mut fields, report)? {
        match part.content {
            Content::Text(text) => texts.push(text),
            Content::Url(_) | Content::Data { .. } => {
                let message = format!("{} must be text in an assistant message", part.path);
                return Err(TranslateError::invalid(&part.path, message));
            }
        }
    }
    texts.extend(fields.text("refusal")?);
    let mut calls = Vec::new();
    if let Some(list) = fields.take("tool_calls") {
        let path = fields.path_of("tool_calls");
        let Value::Array(list) = list else {
            return Err(TranslateError::expected(&path, "an array"));
        };
        for (index, item) in list.into_iter().enumerate() {
            calls.push(call(item, format!("{path}[{index}]"), report)?);
        }
    }
    let extra_content = fields.take("extra_content");
    let path = fields.path().to_owned();
    fields.finish(report);
    Ok(Assistant { texts, calls, extra_content, path })
}

fn call<'t>(
    value: Value<'t>,
    path: String,
    report: &mut Report,
) -> Result<Call<'t>, TranslateError> {
    let mut fields = Fields::of(value, path)?;
    fields.take("index");
    let id = fields.required_text("id")?;
    if let Some(kind) = fields.text("type")?
        && kind != "function"
    {
        let path = fields.path_of("type");
        return Err(TranslateError::expected(&path, "\"function\" for this provider"));
    }
    let mut function = fields
        .fields("function")?
        .ok_or_else(|| TranslateError::expected(&fields.path_of("function"), "an object"))?;
    let name = function.required_text("name")?;
    let text = function.text("arguments")?.unwrap_or_default();
    let arguments = match parse_arguments(&text) {
        Some(arguments) => arguments,
        None => {
            let path = function.path_of("arguments");
            report.warn(format!("{path} is not a JSON object, so it is sent as a member of one"));
            let members = [("malformed_arguments", Value::String(text))];
            Value::Object(members.into_iter().collect())
        }
    };
    let extra_content = fields.take("extra_content");
    function.finish(report);
    fields.finish(report);
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

/// The content of a message: a string, or parts.
fn content<'t>(
    fields: &mut Fields<'t>,
    report: &mut Report,
) -> Result<Vec<Part<'t>>, TranslateError> {
    let path = fields.path_of("content");
    match fields.take("content") {
        None => Ok(Vec::new()),
        Some(Value::String(text)) => Ok(vec![Part::text(text, path)]),
        Some(Value::Array(parts)) => parts
            .into_iter()
            .enumerate()
            .map(|(index, value)| part(value, format!("{path}[{index}]"), report))
            .collect(),
        Some(_) => Err(TranslateError::expected(&path, "a string or an array of parts")),
    }
}

fn part<'t>(
    value: Value<'t>,
    path: String,
    report: &mut Report,
) -> Result<Part<'t>, TranslateError> {
    let mut fields = Fields::of(value, path)?;
    let kind = fields.required_text("type")?;
    let missing = |fields: &Fields<'_>, name: &str| {
        TranslateError::expected(&fields.path_of(name), "an object")
    };
    let content = match kind.as_ref() {
        "text" => Content::Text(fields.required_text("text")?),
        "refusal" => Content::Text(fields.required_text("refusal")?),
        "image_url" => {
            let mut image =
                fields.fields("image_url")?.ok_or_else(|| missing(&fields, "image_url"))?;
            let url = image.required_text("url")?;
            let content = address(url, &image.path_of("url"))?;
            image.finish(report);
            content
        }
        "input_audio" => {
            let mut audio =
                fields.fields("input_audio")?.ok_or_else(|| missing(&fields, "input_audio"))?;
            let base64 = audio.required_text("data")?;
            let format = audio.required_text("format")?;
            audio.finish(report);
            Content::Data { media_type: format!("audio/{format}").into(), base64 }
        }
        "file" => {
            let mut file = fields.fields("file")?.ok_or_else(|| missing(&fields, "file"))?;
            let path = file.path_of("file_data");
            let Some(data) = file.text("file_data")? else {
                let message =
                    format!("{path} is required: this provider cannot read OpenAI's files");
                return Err(TranslateError::invalid(&path, message));
            };
            let content = address(data, &path)?;
            file.finish(report);
            content
        }
        _ => {
            let path = fields.path_of("type");
            let expected = "one of text, image_url, input_audio, file for this provider";
            return Err(TranslateError::expected(&path, expected));
        }
    };
    let cache_control = fields.take("cache_control");
    let path = fields.path().to_owned();
    fields.finish(report);
    Ok(Part { content, cache_control, path })
}

/// A `data:` URL with base64, or an `https:` URL.
fn address<'t>(url: Cow<'t, str>, path: &str) -> Result<Content<'t>, TranslateError> {
    let begins = |scheme: &str| {
        url.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    };
    if begins("https://") {
        return Ok(Content::Url(url));
    }
    let data = if begins("data:") { url.get(5..) } else { None };
    let (head, base64) = data.and_then(|data| data.split_once(',')).unwrap_or_default();
    let media_type = head.strip_suffix(";base64").and_then(|head| head.split(';').next());
    match media_type.filter(|media_type| media_type.contains('/')) {
        Some(media_type) => Ok(Content::Data {
            media_type: media_type.to_ascii_lowercase().into(),
            base64: base64.to_owned().into(),
        }),
        None => Err(TranslateError::expected(
            path,
            "an https URL, or a data URL such as data:image/png;base64,…",
        )),
    }
}
