//! What comes of a call, as a `CallToolResult` wherever a model can do better the next time, else as
//! an error.

use serde::Serialize;
use serde_json::{Value, json};

use super::elicitation::{Asking, in_words};
use super::message::Era;
use super::reply::{Error, Kind, result};
use crate::call::{Outcome, Refusal, ToolError};
use crate::http::Outbound;

/// To whom a call is answered.
#[derive(Debug)]
pub(super) struct Told {
    /// The id of the request.
    pub(super) id: Value,
    /// Its era.
    pub(super) era: Era,
    /// How the user can be asked.
    pub(super) asking: Asking,
}

/// A block of `content`. All of ours are texts.
#[derive(Serialize)]
struct Text<'a> {
    r#type: &'static str,
    text: &'a str,
}

fn content<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    let blocks: Vec<_> = texts.into_iter().map(|text| Text { r#type: "text", text }).collect();
    serde_json::to_string(&blocks).unwrap_or_default()
}

/// Answers a call.
pub(super) fn encode(outcome: Outcome, told: &Told) -> Outbound {
    match outcome {
        Outcome::Done { value, .. } => done(told, value),
        Outcome::Failed { error, .. } => failure(told, &error),
        Outcome::Invalid(input) => failed(told, &format!("The arguments are invalid. {input}")),
        Outcome::Refused(Refusal::MissingRequirements(missing)) => {
            if let Some(members) = told.asking.input_required(&missing) {
                return result(&told.id, told.era, &members, Kind::InputRequired);
            }
            if let Some(error) = told.asking.error(&missing) {
                return error.told(Some(&told.id));
            }
            let words = in_words(&missing);
            failed_in(told, words.iter().map(String::as_str), Kind::Complete)
        }
        Outcome::Asks { asked, .. } => Error::refused(asked.into()).told(Some(&told.id)),
        Outcome::Refused(refusal) => Error::refused(refusal).told(Some(&told.id)),
    }
}

/// A value, once for programs and once, the same JSON, for models whose clients hand on texts only.
/// What is no object stands in one, as revisions before 2026-07-28 demand.
fn done(told: &Told, value: Value) -> Outbound {
    let json = match value {
        Value::Object(_) => value.to_string(),
        other => json!({ "result": other }).to_string(),
    };
    let members = format!(r#""content":{},"structuredContent":{json}"#, content([&*json]));
    result(&told.id, told.era, &members, Kind::Complete)
}

/// A tool's own failure: what a model must know in words; all of it for programs, but not as
/// `structuredContent`, which some clients hold to the tool's schema also where it failed.
fn failure(told: &Told, error: &ToolError) -> Outbound {
    let again = match (error.can_retry, error.retry_after_ms) {
        (_, Some(ms)) => format!("Try again after {ms} ms."),
        (true, None) => "The call may be tried again.".to_owned(),
        (false, None) => String::new(),
    };
    let prompt = error.additional_prompt_content.as_deref().unwrap_or_default();
    let texts = [&*error.message, prompt, &again].into_iter().filter(|text| !text.is_empty());
    // A struct of texts and numbers always serializes.
    let how = serde_json::to_string(error).unwrap_or_default();
    failed_in(told, texts, Kind::Failed(&how))
}

/// A result that says what went wrong.
pub(super) fn failed(told: &Told, text: &str) -> Outbound {
    failed_in(told, [text], Kind::Complete)
}

fn failed_in<'a>(
    told: &Told,
    texts: impl IntoIterator<Item = &'a str>,
    kind: Kind<'_>,
) -> Outbound {
    let members = format!(r#""content":{},"isError":true"#, content(texts));
    result(&told.id, told.era, &members, kind)
}
