//! What comes of a call, as a `CallToolResult` wherever a model can do better the next time, else as
//! an error.

use serde_json::Value;

use super::elicitation::{Asking, capabilities, in_words};
use super::message::Era;
use super::notes::NotificationPreferences;
use super::reply::{self, Code, Error, Kind, result};
use crate::call::{InvalidInput, Outcome, Rejection, RequestContext, needs_client};
use crate::http::Response;
use crate::json::{self, Writer};
use crate::tool::ToolError;

/// To whom a call is answered, and in what form.
#[derive(Debug)]
pub(super) struct Told {
    /// The id of the request.
    pub(super) id: Value,
    /// Its era.
    pub(super) era: Era,
    /// What the client can be asked.
    pub(super) asking: Asking,
    /// What it wants to hear of.
    pub(super) wishes: NotificationPreferences,
    /// Whether the tool's value is a list of content blocks.
    pub(super) content: bool,
    /// What the tool was run for.
    pub(super) purpose: RunPurpose,
}

/// What a tool was run for.
#[derive(Debug)]
pub(super) enum RunPurpose {
    /// For itself.
    Tool,
    /// For a prompt of this description.
    Prompt(String),
    /// For a resource.
    Resource {
        /// Its address.
        uri: String,
        /// Its media type.
        mime_type: String,
    },
}

/// The member `content` with blocks that are texts.
fn content<'a>(texts: impl IntoIterator<Item = &'a str>) -> Writer {
    let mut writer = Writer::new();
    writer.json(r#""content":"#).array(texts, |writer, text| {
        writer.json(r#"{"type":"text","text":"#).string(text).json("}");
    });
    writer
}

/// Answers a call.
pub(super) fn encode(outcome: Outcome, told: &Told, context: &RequestContext<'_>) -> Response {
    match outcome {
        Outcome::Done { value, notes, .. } => told.wishes.tell(&notes, done(told, value)),
        Outcome::Failed { error, notes, .. } => told.wishes.tell(&notes, failure(told, &error)),
        Outcome::InvalidInput(input) => invalid(told, &input),
        Outcome::InputRequired { required, notes } => match told.asking.questions(required) {
            Ok(members) => {
                let answer = result(&told.id, told.era, &members, Kind::InputRequired);
                told.wishes.tell(&notes, answer)
            }
            Err(rejection) => reply::reject(&rejection, Some(&told.id), context.pipeline),
        },
        Outcome::Rejected(Rejection::MissingRequirements(missing)) => {
            if let Some(members) = told.asking.input_required(&missing) {
                return result(&told.id, told.era, &members, Kind::InputRequired);
            }
            if let Some(error) = told.asking.error(&missing) {
                return error.told(Some(&told.id));
            }
            let words = in_words(&missing);
            failed_in(told, words.iter().map(String::as_str), Kind::Complete)
        }
        Outcome::Rejected(Rejection::CannotAsk { lacking, .. }) => {
            let words = needs_client(&lacking);
            if told.era == Era::Legacy {
                return failed(told, &words);
            }
            let data = json::object([("requiredCapabilities", capabilities(&lacking))]);
            Error::new(Code::MissingCapability, words).data(data).told(Some(&told.id))
        }
        Outcome::Rejected(rejection) => reply::reject(&rejection, Some(&told.id), context.pipeline),
    }
}

/// An input that the tool's schema refuses. Of a resource, that is an address which none has.
fn invalid(told: &Told, input: &InvalidInput) -> Response {
    let words = format!("The arguments are invalid. {input}");
    match &told.purpose {
        RunPurpose::Tool => failed(told, &words),
        RunPurpose::Prompt(_) => Error::new(Code::InvalidParams, words).told(Some(&told.id)),
        RunPurpose::Resource { uri, .. } => Error::no_resource(uri, told.era).told(Some(&told.id)),
    }
}

/// A value, in the form that its purpose wants. Blocks go on as they are: the schema that the value
/// was held to refuses all else, as the build has made sure.
fn done(told: &Told, value: Value) -> Response {
    let blocks = match (&told.purpose, value) {
        (_, Value::Array(blocks)) if told.content => blocks,
        (RunPurpose::Tool, value) => return structured(told, value),
        (_, Value::String(words)) => vec![text(words)],
        (_, other) => vec![text(json::text(&other))],
    };
    let (members, kind) = match &told.purpose {
        RunPurpose::Tool => (json::object([("content", blocks.into())]), Kind::Complete),
        RunPurpose::Prompt(description) => {
            let messages = blocks.into_iter().map(said).collect();
            let description = description.as_str().into();
            let members = json::object([("description", description), ("messages", messages)]);
            (members, Kind::Complete)
        }
        RunPurpose::Resource { uri, mime_type } => {
            let contents = blocks.iter().map(|block| document(block, uri, mime_type)).collect();
            (json::object([("contents", contents)]), Kind::Once)
        }
    };
    result(&told.id, told.era, &reply::members(&members), kind)
}

/// A block of text.
pub(super) fn text(words: String) -> Value {
    json::object([("type", "text".into()), ("text", words.into())])
}

/// A block as the message of a prompt.
pub(super) fn said(block: Value) -> Value {
    json::object([("role", "user".into()), ("content", block)])
}

/// A block as what stands at an address.
fn document(block: &Value, uri: &str, mime_type: &str) -> Value {
    let member = |name: &str| block.get(name).cloned().unwrap_or_default();
    let (mime_type, name, body) = match block.get("type").and_then(Value::as_str) {
        Some("resource") => return member("resource"),
        Some("resource_link") => ("text/uri-list".into(), "text", member("uri")),
        Some("image" | "audio") => (member("mimeType"), "blob", member("data")),
        _ => (mime_type.into(), "text", member("text")),
    };
    json::object([("uri", uri.into()), ("mimeType", mime_type), (name, body)])
}

/// A value, once for programs and once, the same JSON, for models whose clients hand on texts only.
/// What is no object stands in one, as revisions before 2026-07-28 demand.
fn structured(told: &Told, value: Value) -> Response {
    let mut json = Writer::new();
    match value {
        Value::Object(_) => json.value(&value),
        other => json.json(r#"{"result":"#).value(&other).json("}"),
    };
    let json = json.end();
    let mut members = content([&*json]);
    members.json(r#","structuredContent":"#).json(&json);
    result(&told.id, told.era, &members.end(), Kind::Complete)
}

/// A tool's own failure: what a model must know in words; all of it for programs, but not as
/// `structuredContent`, which some clients hold to the tool's schema also where it failed.
fn failure(told: &Told, error: &ToolError) -> Response {
    let again = match (error.can_retry, error.retry_after_ms) {
        (_, Some(ms)) => format!("Try again after {ms} ms."),
        (true, None) => "The call may be tried again.".to_owned(),
        (false, None) => String::new(),
    };
    let prompt = error.additional_prompt_content.as_deref().unwrap_or_default();
    let texts = [&*error.message, prompt, &again].into_iter().filter(|text| !text.is_empty());
    failed_in(told, texts, Kind::Failed(&json::to_string(error)))
}

/// A result that says what went wrong.
pub(super) fn failed(told: &Told, text: &str) -> Response {
    failed_in(told, [text], Kind::Complete)
}

fn failed_in<'a>(
    told: &Told,
    texts: impl IntoIterator<Item = &'a str>,
    kind: Kind<'_>,
) -> Response {
    if !matches!(told.purpose, RunPurpose::Tool) {
        // Neither has a result that says it failed.
        let words = texts.into_iter().collect::<Vec<_>>().join(" ");
        return Error::new(Code::Internal, words).status(200).told(Some(&told.id));
    }
    let mut members = content(texts);
    members.json(r#","isError":true"#);
    result(&told.id, told.era, &members.end(), kind)
}
