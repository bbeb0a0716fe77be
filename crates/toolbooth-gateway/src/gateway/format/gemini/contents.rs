//! The conversation in Gemini's format.

use std::borrow::Cow;

use crate::gateway::conversation::{Part as ClientPart, PartContent, Source, ToolResult, Turn};
use crate::gateway::error::Result;
use crate::gateway::format::adapter::conversation::{self, Assistant, Conversation, Entry};
use crate::gateway::format::adapter::job::Job;
use crate::gateway::format::adapter::raw;
use crate::gateway::media_type::{canonical, is_text};
use crate::gateway::notes::Notes;
use crate::gateway::raw_json::{parse, raw_items};
use crate::wire::gemini::ResultPart;
use crate::wire::gemini::request::{Content, FileData, FunctionCall, InlineData, Part};
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
    let is_said = |part: &&ClientPart| part.as_text().is_none_or(|text| !text.is_empty());
    let is_user = |entry: &Entry<'_>| match entry {
        Entry::User(parts) => parts.iter().any(is_said),
        Entry::Assistant(_) | Entry::Native(_) => false,
    };
    let turn_begins = conversation.entries.iter().rposition(is_user).unwrap_or_default();
    let needs_signature = job.options.facts.needs_signatures();
    let mut contents = Contents { list: Vec::new(), last: Kind::Results, notes };
    for (index, entry) in conversation.entries.iter().enumerate() {
        match entry {
            Entry::User(user) => contents.push(Kind::User, parts(user.iter().copied(), notes)?),
            Entry::Assistant(message) => {
                let is_checked = needs_signature && index >= turn_begins;
                assistant(message, is_checked, &mut contents, job)?;
            }
            Entry::Native(turn) => native(turn, &mut contents, job)?,
        }
    }
    match contents.list.is_empty() {
        true => Err(conversation::is_empty()),
        false => Ok((system, contents.list)),
    }
}

/// Contents as Gemini accepts them: the first one is of the user, and those of one role in a row are one. Only results stand alone:
/// a call is followed by a content with as many parts as there are calls (vellum-ai/vellum-assistant#39495).
struct Contents<'t> {
    list: Vec<Content<'t>>,
    last: Kind,
    notes: &'t Notes,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    User,
    Model,
    Results,
}

impl<'t> Contents<'t> {
    fn push(&mut self, kind: Kind, mut parts: Vec<Part<'t>>) {
        if parts.is_empty() {
            return;
        }
        let role = if kind == Kind::Model { "model" } else { "user" };
        if self.list.is_empty() && kind != Kind::User {
            let text = conversation::begins_with_assistant(self.notes).into();
            let parts = vec![Part::Text { text, thought_signature: None }];
            self.list.push(Content { role: "user", parts });
        }
        match self.list.last_mut() {
            Some(last) if self.last == kind && kind != Kind::Results => {
                last.parts.append(&mut parts);
            }
            _ => self.list.push(Content { role, parts }),
        }
        self.last = kind;
    }
}

/// An assistant message and the results of its calls, which are in the order of the calls.
fn assistant<'e>(
    assistant: &'e Assistant<'_>,
    is_checked: bool,
    contents: &mut Contents<'e>,
    job: &'e Job<'_>,
) -> Result<()> {
    let notes = job.notes;
    let (mut said, mut results, mut further) = (Vec::new(), Vec::new(), Vec::new());
    let mut of_text = thought_signature(&assistant.message.extra_content);
    for said_part in &assistant.message.content {
        match &said_part.content {
            PartContent::Text(_) | PartContent::Refusal(_) => {
                let text = part(said_part, notes)?;
                said.extend(text.map(|text| text.signed(of_text.take())));
            }
            PartContent::Image { .. } => {
                let of_picture = signature_of_picture(said_part, job);
                said.extend(part(said_part, notes)?.map(|picture| picture.signed(of_picture)));
            }
            _ => notes.drop_member(&said_part.path),
        }
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
        let name = Cow::Borrowed(answered.call.name.as_ref());
        if let Some(result) = answered.result {
            results.push(result_part(None, name.clone(), result, &mut further, notes)?);
        }
        let function_call = FunctionCall { name, args: answered.arguments };
        said.push(Part::Call { function_call, thought_signature: signature });
    }
    contents.push(Kind::Model, said);
    contents.push(Kind::Results, results);
    contents.push(Kind::User, further);
    Ok(())
}

/// The signature of a picture that the model has made. Models that need signatures check those of all turns.
fn signature_of_picture<'e>(picture: &'e ClientPart, job: &Job<'_>) -> Option<Cow<'e, str>> {
    let extra = picture.extra_content.as_ref().and_then(Value::as_object);
    let signature = extra.and_then(thought_signature);
    if signature.is_some() || !job.options.facts.needs_signatures() {
        return signature;
    }
    job.notes.warn(format!(
        "{}[].extra_content.google.thought_signature is missing: send back what the answer had, so that the model \
         knows the picture as its own",
        picture.path
    ));
    Some(FOREIGN_SIGNATURE.into())
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
fn native<'t>(turn: &'t Turn, contents: &mut Contents<'t>, job: &'t Job<'_>) -> Result<()> {
    let said = raw_items(raw(&turn.native)).into_iter().map(|part| Part::Native(part.into()));
    contents.push(Kind::Model, said.collect());
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
        let name = Cow::Borrowed(result.name.as_str());
        results.push(result_part(id, name, result, &mut further, job.notes)?);
    }
    contents.push(Kind::Results, results);
    contents.push(Kind::User, further);
    Ok(())
}

fn parts<'t>(all: impl Iterator<Item = &'t ClientPart>, notes: &Notes) -> Result<Vec<Part<'t>>> {
    let mut parts = Vec::new();
    for part in all {
        parts.extend(crate::gateway::format::gemini::contents::part(part, notes)?);
    }
    Ok(parts)
}

/// The part of Gemini that a part becomes; `None` if Gemini cannot get it.
fn part<'t>(part: &'t ClientPart, notes: &Notes) -> Result<Option<Part<'t>>> {
    let ClientPart { content, cache_control, path, .. } = part;
    if cache_control.is_some() {
        notes.drop_member(&format!("{path}.cache_control"));
    }
    if let PartContent::Image { detail: Some(_), .. } = content {
        notes.drop_member(&format!("{path}.image_url.detail"));
    }
    let inline = |mime_type, data: &'t str| Part::Inline {
        inline_data: InlineData { mime_type, data: data.into() },
        thought_signature: None,
    };
    Ok(Some(match content {
        PartContent::Text(text) | PartContent::Refusal(text) if text.is_empty() => return Ok(None),
        PartContent::Text(text) | PartContent::Refusal(text) => {
            Part::Text { text: text.into(), thought_signature: None }
        }
        PartContent::Image { source, .. } | PartContent::File { source, .. } => match source {
            // Gemini knows a few types of texts, and reads all others as plain text.
            Source::Data { media_type, base64 } if is_text(media_type) => {
                inline("text/plain".into(), base64)
            }
            Source::Url(url) => {
                let file_data = FileData { mime_type: media_type(url), file_uri: url.into() };
                Part::File { file_data, thought_signature: None }
            }
            Source::Data { media_type, base64 } if is_accepted(media_type) => {
                inline(media_type.into(), base64)
            }
            Source::Data { .. } => {
                let text = conversation::not_shown(part, notes).into();
                Part::Text { text, thought_signature: None }
            }
            Source::Id(_) => return Err(part.unreadable_file()),
        },
        PartContent::Audio { format, base64 } => {
            let media_type = format!("audio/{format}");
            inline(canonical(&media_type).into_owned().into(), base64)
        }
        PartContent::Other(kind) => {
            notes.drop_member(&format!("{path} ({kind})"));
            return Ok(None);
        }
    }))
}

/// Whether Gemini accepts data of a media type that is no text (ai.google.dev/gemini-api/docs, pages on images, audio, video and documents;
/// 2026-11).
fn is_accepted(media_type: &str) -> bool {
    let images = ["image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"];
    let kinds = ["audio/", "video/"];
    media_type == "application/pdf"
        || images.contains(&media_type)
        || kinds.iter().any(|kind| media_type.starts_with(kind))
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
