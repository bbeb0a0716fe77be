//! The conversation in Gemini's format.

use std::borrow::Cow;

use crate::gateway::adapter::conversation::{Assistant, Conversation, Entry};
use crate::gateway::adapter::{Job, Result};
use crate::gateway::conversation::{Part as ClientPart, PartContent, Source};
use crate::gateway::raw_json::parse;
use crate::gateway::{Notes, ToolResult, Turn};
use crate::wire::Json;
use crate::wire::gemini::ResultPart;
use crate::wire::gemini::request::{Content, FileData, FunctionCall, InlineData, Part, Parts};
use toolbooth::json::{self, Object, Value};

/// The signature that Google's documentation provides for calls that another model has made.
const FOREIGN_SIGNATURE: &str = "skip_thought_signature_validator";

/// The parts of `systemInstruction`, and `contents`.
pub(super) fn contents<'e>(
    conversation: &'e Conversation<'_>,
    job: &'e Job<'_>,
) -> Result<(Vec<Part<'e>>, Vec<Content<'e>>)> {
    let notes = job.notes;
    let system = parts(conversation.system.iter().copied(), notes)?;
    // Only the calls since the last user message are checked for signatures.
    let is_user = |entry: &Entry<'_>| matches!(entry, Entry::User(_));
    let turn_begins = conversation.entries.iter().rposition(is_user).unwrap_or_default();
    let needs_signature = job.options.facts.needs_signatures();
    let mut contents = Vec::new();
    for (index, entry) in conversation.entries.iter().enumerate() {
        match entry {
            Entry::User(user) => {
                push(&mut contents, "user", parts(user.iter().copied(), notes)?);
            }
            Entry::Assistant(message) => {
                let is_checked = needs_signature && index >= turn_begins;
                assistant(message, is_checked, &mut contents, job)?;
            }
            Entry::Native(turn) => native(turn, &mut contents, job)?,
        }
    }
    Ok((system, contents))
}

fn push<'t>(contents: &mut Vec<Content<'t>>, role: &'static str, parts: Vec<Part<'t>>) {
    if !parts.is_empty() {
        contents.push(Content { role, parts: Parts::List(parts) });
    }
}

/// An assistant message and the results of its calls, which are in the order of the calls.
fn assistant<'e>(
    assistant: &'e Assistant<'_>,
    is_checked: bool,
    contents: &mut Vec<Content<'e>>,
    job: &'e Job<'_>,
) -> Result<()> {
    let notes = job.notes;
    let (mut said, mut results, mut further) = (Vec::new(), Vec::new(), Vec::new());
    let mut of_text = thought_signature(&assistant.message.extra_content);
    for text in assistant.texts(notes) {
        said.push(Part::Text { text: text.into(), thought_signature: of_text.take() });
    }
    for (index, answered) in assistant.calls(notes).enumerate() {
        let extra = answered.call.extra.get("extra_content").and_then(Value::as_object);
        let mut signature = extra.and_then(thought_signature);
        if signature.is_none() && is_checked && index == 0 {
            notes.warn(
                "messages[].tool_calls[].extra_content.google.thought_signature is missing: send back what the \
                 answer had, so that the model can continue its reasoning",
            );
            signature = Some(FOREIGN_SIGNATURE.into());
        }
        let name = job.names.sent(answered.call.name.as_ref().into());
        if let Some(result) = answered.result {
            results.push(result_part(None, name.clone(), result, &mut further, notes)?);
        }
        let function_call = FunctionCall { name, args: answered.arguments };
        said.push(Part::Call { function_call, thought_signature: signature });
    }
    results.extend(further);
    push(contents, "model", said);
    push(contents, "user", results);
    Ok(())
}

/// `extra_content.google.thought_signature`.
fn thought_signature<'e>(extra_content: &'e Object<'_>) -> Option<Cow<'e, str>> {
    let signature = extra_content.get("google")?.get("thought_signature")?;
    signature.as_str().map(Cow::from)
}

/// A result. Images follow in `further`.
fn result_part<'t>(
    id: Option<Cow<'t, str>>,
    name: Cow<'t, str>,
    result: &'t ToolResult,
    further: &mut Vec<Part<'t>>,
    notes: &Notes,
) -> Result<Part<'t>> {
    let content = &result.content.0;
    let texts: Vec<_> = content.iter().filter_map(ClientPart::as_text).collect();
    let others = content.iter().filter(|part| part.as_text().is_none());
    further.extend(parts(others, notes)?);
    let text = match texts.as_slice() {
        [only] => Cow::Borrowed(*only),
        texts => texts.join("\n").into(),
    };
    Ok(Part::Result(ResultPart::new(id, name, structured(text, result.is_error))))
}

/// A result as JSON, if it is an object or an array, and otherwise as text.
fn structured(text: Cow<'_, str>, is_error: bool) -> std::result::Result<Value<'_>, Value<'_>> {
    let value = match json::parse(&text) {
        Ok(value @ (Value::Object(_) | Value::Array(_))) => Some(value.into_owned()),
        Ok(_) | Err(_) => None,
    };
    let value = value.unwrap_or(Value::String(text));
    if is_error { Err(value) } else { Ok(value) }
}

/// A round of the tool loop, as Gemini wrote it.
fn native<'t>(turn: &'t Turn, contents: &mut Vec<Content<'t>>, job: &'t Job<'_>) -> Result<()> {
    let parts = Parts::Native(Json::Text(turn.native.as_str().into()));
    contents.push(Content { role: "model", parts });
    // A result has the id that Gemini gave the call. Older models give none and reject it.
    let parts = parse(&turn.native, "").unwrap_or_default();
    let parts = parts.as_array().unwrap_or_default();
    let call = |part: &Value<'_>| {
        let call = part.get("functionCall").or_else(|| part.get("function_call"))?;
        Some(call.get("id").and_then(Value::as_str).map(|id| Cow::Owned(id.to_owned())))
    };
    let ids = parts.iter().filter_map(call).chain(std::iter::repeat(None));
    let (mut results, mut further) = (Vec::new(), Vec::new());
    for (result, id) in turn.results.iter().zip(ids) {
        let name = job.names.sent(result.name.as_str().into());
        results.push(result_part(id, name, result, &mut further, job.notes)?);
    }
    results.extend(further);
    push(contents, "user", results);
    Ok(())
}

fn parts<'t>(all: impl Iterator<Item = &'t ClientPart>, notes: &Notes) -> Result<Vec<Part<'t>>> {
    let mut parts = Vec::new();
    for part in all {
        parts.extend(self::part(part, notes)?);
    }
    Ok(parts)
}

/// The part of Gemini that a part becomes; `None` if Gemini cannot get it.
fn part<'t>(part: &'t ClientPart, notes: &Notes) -> Result<Option<Part<'t>>> {
    let ClientPart { content, cache_control, path } = part;
    if cache_control.is_some() {
        notes.drop_member(&format!("{path}.cache_control"));
    }
    if let PartContent::Image { detail: Some(_), .. } = content {
        notes.drop_member(&format!("{path}.image_url.detail"));
    }
    let inline = |mime_type, data: &'t str| Part::Inline {
        inline_data: InlineData { mime_type, data: data.into() },
    };
    Ok(Some(match content {
        PartContent::Text(text) | PartContent::Refusal(text) if text.is_empty() => return Ok(None),
        PartContent::Text(text) | PartContent::Refusal(text) => {
            Part::Text { text: text.into(), thought_signature: None }
        }
        PartContent::Image { source, .. } | PartContent::File { source, .. } => match source {
            Source::Url(url) => {
                let file_data = FileData { mime_type: media_type(url), file_uri: url.into() };
                Part::File { file_data }
            }
            Source::Data { media_type, base64 } => inline(media_type.into(), base64),
            Source::Id(_) => return Err(part.unreadable_file()),
        },
        PartContent::Audio { format, base64 } => {
            let mime_type = match format.as_str() {
                "mp3" => Cow::Borrowed("audio/mpeg"),
                format => format!("audio/{format}").into(),
            };
            inline(mime_type, base64)
        }
        PartContent::Other(kind) => {
            notes.drop_member(&format!("{path} ({kind})"));
            return Ok(None);
        }
    }))
}

/// The media type that the name of a file tells.
fn media_type(url: &str) -> Option<&'static str> {
    let path = url.split(['?', '#']).next()?;
    let (_, extension) = path.rsplit_once('.')?;
    Some(match extension.to_ascii_lowercase().as_str() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "webp" => "image/webp",
        "gif" => "image/gif",
        "heic" => "image/heic",
        "heif" => "image/heif",
        "pdf" => "application/pdf",
        _ => return None,
    })
}
