//! The conversation in Gemini's format.

use std::borrow::Cow;

use super::generation;
use crate::gateway::Turn;
use crate::gateway::adapter::conversation::{Assistant, CallResult, Conversation, Entry};
use crate::gateway::adapter::part::{Content, Part};
use crate::gateway::adapter::report::Report;
use crate::gateway::adapter::{TranslateError, TranslateOptions};
use crate::gateway::node::{Members, Node, members_of, object};
use crate::json::{self, Value};

/// The signature that Google's documentation provides for calls that another model has made.
const FOREIGN_SIGNATURE: &str = "skip_thought_signature_validator";

/// `systemInstruction` and `contents`.
pub(super) fn contents<'t>(
    conversation: Conversation<'t>,
    options: &TranslateOptions<'_>,
    body: &mut Members<'t>,
    report: &mut Report,
) -> Result<(), TranslateError> {
    let system = parts(conversation.system, report)?;
    if !system.is_empty() {
        body.put("systemInstruction", object([("parts", system.into())]));
    }
    // Only the calls since the last user message are checked for signatures.
    let is_user = |entry: &Entry<'_>| matches!(entry, Entry::User(_));
    let turn_begins = conversation.entries.iter().rposition(is_user).unwrap_or_default();
    let needs_signature = generation(options.model).is_none_or(|generation| generation >= 3);
    let mut contents = Contents::default();
    for (index, entry) in conversation.entries.into_iter().enumerate() {
        match entry {
            Entry::User(user) => contents.push("user", parts(user, report)?),
            Entry::Assistant(message) => {
                let checked = needs_signature && index >= turn_begins;
                assistant(message, checked, &mut contents, report)?;
            }
            Entry::Native(turn) => native(turn, &mut contents),
        }
    }
    body.put("contents", contents.0);
    Ok(())
}

/// Contents, in order.
#[derive(Default)]
struct Contents<'t>(Vec<Node<'t>>);

impl<'t> Contents<'t> {
    fn push(&mut self, role: &'static str, parts: Vec<Node<'t>>) {
        if !parts.is_empty() {
            self.0.push(object([("role", role.into()), ("parts", parts.into())]));
        }
    }
}

/// An assistant message and the results of its calls, which are in the order of the calls.
fn assistant<'t>(
    message: Assistant<'t>,
    is_checked: bool,
    contents: &mut Contents<'t>,
    report: &mut Report,
) -> Result<(), TranslateError> {
    let (mut said, mut results, mut further) = (Vec::new(), Vec::new(), Vec::new());
    let signature = message.extra_content.and_then(thought_signature);
    let has_texts = message.texts.iter().any(|text| !text.is_empty());
    let mut of_text = signature.filter(|_| message.calls.is_empty() || has_texts);
    for text in message.texts {
        if !text.is_empty() {
            let mut part = members_of([("text", text.into())]);
            part.put_some("thoughtSignature", of_text.take());
            said.push(part.into());
        }
    }
    for (index, call) in message.calls.into_iter().enumerate() {
        let function = [("name", call.name.clone().into()), ("args", call.arguments.into())];
        let mut part = members_of([("functionCall", object(function))]);
        let signature = call.extra_content.and_then(thought_signature);
        if signature.is_none() && is_checked && index == 0 {
            report.warn(
                "messages[].tool_calls[].extra_content.google.thought_signature is missing: send back what the \
                 answer had, so that the model can continue its reasoning"
                    .to_owned(),
            );
            part.put("thoughtSignature", FOREIGN_SIGNATURE);
        }
        part.put_some("thoughtSignature", signature);
        said.push(part.into());
        if let Some(result) = call.result {
            results.push(result_part(call.name, result, &mut further, report)?);
        }
    }
    results.extend(further);
    contents.push("model", said);
    contents.push("user", results);
    Ok(())
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
    name: Cow<'t, str>,
    result: CallResult<'t>,
    further: &mut Vec<Node<'t>>,
    report: &mut Report,
) -> Result<Node<'t>, TranslateError> {
    let CallResult { parts: all, is_error } = result;
    let mut texts = Vec::new();
    let mut others = Vec::new();
    for part in all {
        match part {
            Part { content: Content::Text(text), .. } => texts.push(text),
            part => others.push(part),
        }
    }
    further.extend(parts(others, report)?);
    let text = match texts.len() {
        1 => texts.swap_remove(0),
        _ => texts.join("\n").into(),
    };
    Ok(object([("functionResponse", response(None, name, text, is_error))]))
}

/// `functionResponse`. Gemini requires an object, whose members `output` and `error` it knows.
fn response<'t>(
    id: Option<String>,
    name: Cow<'t, str>,
    text: Cow<'t, str>,
    is_error: bool,
) -> Node<'t> {
    let structured = match json::parse(&text) {
        Ok(value @ (Value::Object(_) | Value::Array(_))) => Some(value.into_owned()),
        Ok(_) | Err(_) => None,
    };
    let value = structured.unwrap_or(Value::String(text));
    let member = if is_error { "error" } else { "output" };
    let mut members = Members::default();
    members.put_some("id", id);
    members.put("name", name);
    members.put("response", object([(member, value.into())]));
    members.into()
}

/// A round of the tool loop, as Gemini wrote it.
fn native<'t>(turn: &'t Turn, contents: &mut Contents<'t>) {
    let said =
        object([("role", "model".into()), ("parts", Node::Raw(turn.native.as_str().into()))]);
    contents.0.push(said);
    // A result has the id that Gemini gave the call. Older models give none and reject it.
    let parts = json::parse_within(&turn.native, &mut { usize::MAX }).unwrap_or_default();
    let parts = parts.as_array().unwrap_or_default();
    let call = |part: &Value<'_>| {
        let call = part.get("functionCall").or_else(|| part.get("function_call"))?;
        Some(call.get("id").and_then(Value::as_str).map(str::to_owned))
    };
    let ids = parts.iter().filter_map(call).chain(std::iter::repeat(None));
    let results = turn.results.iter().zip(ids).map(|(result, id)| {
        let (name, text) = (result.name.as_str().into(), result.content.as_str().into());
        object([("functionResponse", response(id, name, text, result.is_error))])
    });
    contents.push("user", results.collect());
}

/// Parts of a message.
fn parts<'t>(all: Vec<Part<'t>>, report: &mut Report) -> Result<Vec<Node<'t>>, TranslateError> {
    let mut nodes = Vec::new();
    for Part { content, cache_control, path } in all {
        if cache_control.is_some() {
            report.drop_member(&format!("{path}.cache_control"));
        }
        nodes.push(match content {
            Content::Text(text) if text.is_empty() => continue,
            Content::Text(text) => object([("text", text.into())]),
            Content::Url(url) => {
                let mut file = Members::default();
                file.put_some("mimeType", media_type(&url));
                file.put("fileUri", url);
                object([("fileData", file.into())])
            }
            Content::Data { media_type, base64 } => {
                let media_type = match media_type.as_ref() {
                    "audio/mp3" => Cow::Borrowed("audio/mpeg"),
                    _ => media_type,
                };
                let data = [("mimeType", media_type.into()), ("data", base64.into())];
                object([("inlineData", object(data))])
            }
        });
    }
    Ok(nodes)
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
