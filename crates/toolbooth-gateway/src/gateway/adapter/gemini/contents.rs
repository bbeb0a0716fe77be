//! The conversation in Gemini's format.

use std::borrow::Cow;

use super::generation;
use crate::gateway::adapter::Job;
use crate::gateway::adapter::conversation::{Assistant, Conversation, Entry, ResultContent};
use crate::gateway::adapter::part::{self, Part as ClientPart};
use crate::gateway::raw_json::parse;
use crate::gateway::{Notes, Turn};
use crate::wire::Json;
use crate::wire::gemini::ResultPart;
use crate::wire::gemini::request::{Content, FileData, FunctionCall, InlineData, Part, Parts};
use toolbooth::json::{self, Value};

/// The signature that Google's documentation provides for calls that another model has made.
const FOREIGN_SIGNATURE: &str = "skip_thought_signature_validator";

/// The parts of `systemInstruction`, and `contents`.
pub(super) fn contents<'t>(
    conversation: Conversation<'t>,
    job: &Job<'_>,
) -> (Vec<Part<'t>>, Vec<Content<'t>>) {
    let notes = job.notes;
    let system = parts(conversation.system, notes);
    // Only the calls since the last user message are checked for signatures.
    let is_user = |entry: &Entry<'_>| matches!(entry, Entry::User(_));
    let turn_begins = conversation.entries.iter().rposition(is_user).unwrap_or_default();
    let needs_signature = generation(job.options.model).is_none_or(|generation| generation >= 3);
    let mut contents = Vec::new();
    for (index, entry) in conversation.entries.into_iter().enumerate() {
        match entry {
            Entry::User(user) => push(&mut contents, "user", parts(user, notes)),
            Entry::Assistant(message) => {
                let is_checked = needs_signature && index >= turn_begins;
                assistant(message, is_checked, &mut contents, job);
            }
            Entry::Native(turn, results) => native(turn, results, &mut contents, job),
        }
    }
    (system, contents)
}

fn push<'t>(contents: &mut Vec<Content<'t>>, role: &'static str, parts: Vec<Part<'t>>) {
    if !parts.is_empty() {
        contents.push(Content { role, parts: Parts::List(parts) });
    }
}

/// An assistant message and the results of its calls, which are in the order of the calls.
fn assistant<'t>(
    message: Assistant<'t>,
    is_checked: bool,
    contents: &mut Vec<Content<'t>>,
    job: &Job<'_>,
) {
    let notes = job.notes;
    let (mut said, mut results, mut further) = (Vec::new(), Vec::new(), Vec::new());
    let mut of_text = message.extra_content.and_then(thought_signature);
    for text in message.texts {
        said.push(Part::Text { text, thought_signature: of_text.take() });
    }
    for (index, call) in message.calls.into_iter().enumerate() {
        let mut signature = call.extra_content.and_then(thought_signature);
        if signature.is_none() && is_checked && index == 0 {
            notes.warn(
                "messages[].tool_calls[].extra_content.google.thought_signature is missing: send back what the \
                 answer had, so that the model can continue its reasoning",
            );
            signature = Some(FOREIGN_SIGNATURE.into());
        }
        let name = job.names.sent(call.name);
        if let Some(result) = call.result {
            results.push(result_part(None, name.clone(), result, &mut further, notes));
        }
        let function_call = FunctionCall { name, args: call.arguments };
        said.push(Part::Call { function_call, thought_signature: signature });
    }
    results.extend(further);
    push(contents, "model", said);
    push(contents, "user", results);
}

/// `extra_content.google.thought_signature`.
fn thought_signature(extra_content: Value<'_>) -> Option<Cow<'_, str>> {
    let Value::Object(mut extra) = extra_content else { return None };
    let Some(Value::Object(mut own)) = extra.take("google") else { return None };
    match own.take("thought_signature") {
        Some(Value::String(signature)) => Some(signature),
        _ => None,
    }
}

/// A result. Images follow in `further`.
fn result_part<'t>(
    id: Option<Cow<'t, str>>,
    name: Cow<'t, str>,
    result: ResultContent<'t>,
    further: &mut Vec<Part<'t>>,
    notes: &Notes,
) -> Part<'t> {
    let mut texts = Vec::new();
    let mut others = Vec::new();
    for part in result.parts {
        match part {
            ClientPart { content: part::Content::Text(text), .. } => texts.push(text),
            part => others.push(part),
        }
    }
    further.extend(parts(others, notes));
    let text = texts.join("\n").into();
    Part::Result(ResultPart::new(id, name, structured(text, result.is_error)))
}

/// A result as JSON, if it is an object or an array, and otherwise as text.
fn structured(text: Cow<'_, str>, is_error: bool) -> Result<Value<'_>, Value<'_>> {
    let value = match json::parse(&text) {
        Ok(value @ (Value::Object(_) | Value::Array(_))) => Some(value.into_owned()),
        Ok(_) | Err(_) => None,
    };
    let value = value.unwrap_or(Value::String(text));
    if is_error { Err(value) } else { Ok(value) }
}

/// A round of the tool loop, as Gemini wrote it.
fn native<'t>(
    turn: &'t Turn,
    results: Vec<ResultContent<'t>>,
    contents: &mut Vec<Content<'t>>,
    job: &Job<'_>,
) {
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
    let names = turn.results.iter().map(|result| job.names.sent(result.name.as_str().into()));
    let mut further = Vec::new();
    let results = results.into_iter().zip(names).zip(ids);
    let results =
        results.map(|((result, name), id)| result_part(id, name, result, &mut further, job.notes));
    let mut results = Vec::from_iter(results);
    results.extend(further);
    push(contents, "user", results);
}

fn parts<'t>(all: Vec<ClientPart<'t>>, notes: &Notes) -> Vec<Part<'t>> {
    let mut parts = Vec::new();
    for ClientPart { content, cache_control, path } in all {
        if cache_control.is_some() {
            notes.drop_member(&format!("{path}.cache_control"));
        }
        parts.push(match content {
            part::Content::Text(text) if text.is_empty() => continue,
            part::Content::Text(text) => Part::Text { text, thought_signature: None },
            part::Content::Url(url) => {
                Part::File { file_data: FileData { mime_type: media_type(&url), file_uri: url } }
            }
            part::Content::Data { media_type, base64 } => {
                let mime_type = match media_type.as_ref() {
                    "audio/mp3" => Cow::Borrowed("audio/mpeg"),
                    _ => media_type,
                };
                Part::Inline { inline_data: InlineData { mime_type, data: base64 } }
            }
        });
    }
    parts
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
