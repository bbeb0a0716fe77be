//! Gemini generateContent. Its members are read in both spellings, `functionCall` and
//! `function_call`, as the provider's own libraries write both.

use super::turn::{Arguments, Ending, Place, ToolCall, Turn, list, object, present, take, text};
use super::{Answered, Format};
use crate::json::{Object, Value, Writer};

pub(super) static FORMAT: Format = Format { read, member: "contents", write, pairs_by_id: false };

const EXPECTED: &str = "The body must be a response (an object with candidates), a candidate (with \
    content), its content (with parts) or the array of its parts";

/// The reasons to end at which a call went wrong (2api.ai, 5.3: it is not mended, the model is asked
/// again).
const FAILED: &[(&str, &str)] = &[
    (
        "MALFORMED_FUNCTION_CALL",
        "The model ended with MALFORMED_FUNCTION_CALL: it wrote a call that cannot be read. Ask it again",
    ),
    (
        "UNEXPECTED_TOOL_CALL",
        "The model ended with UNEXPECTED_TOOL_CALL: it called a tool that the request does not \
         declare. Declare the tools, and ask it again",
    ),
    (
        "TOO_MANY_TOOL_CALLS",
        "The model ended with TOO_MANY_TOOL_CALLS: it called tools too often in a row. Ask it again \
         with a smaller task",
    ),
    (
        "MALFORMED_RESPONSE",
        "The model ended with MALFORMED_RESPONSE: it wrote an answer that cannot be read. Ask it again",
    ),
];

/// What a response has. Of a prompt that was blocked there are no candidates.
const RESPONSE: &[&str] = &[
    "candidates",
    "promptFeedback",
    "prompt_feedback",
    "usageMetadata",
    "usage_metadata",
    "modelVersion",
    "model_version",
    "responseId",
    "response_id",
];

/// What parts have that wait for nobody, in both spellings.
#[rustfmt::skip]
const MEMBERS: &[&str] = &[
    "text", "thought", "thoughtSignature", "thought_signature", "inlineData", "inline_data",
    "fileData", "file_data", "functionResponse", "function_response", "codeExecutionResult",
    "code_execution_result", "toolResponse", "tool_response", "partMetadata", "part_metadata",
    "mediaResolution", "media_resolution", "mediaProcessing", "media_processing",
    "videoMetadata", "video_metadata", "speechMetadata", "speech_metadata", "audioMetadata",
    "audio_metadata", "audioTranscription", "audio_transcription", "documentMetadata",
    "document_metadata", "spreadsheetMetadata", "spreadsheet_metadata",
];

fn read(body: Value<'_>) -> Result<Turn<'_>, String> {
    let mut turn = Turn::default();
    match body {
        Value::Array(items) => parts(&mut turn, items, format_args!(""))?,
        Value::Object(body) => {
            let mut body = present(body);
            let has = |names: &[&str]| names.iter().any(|name| body.contains(name));
            if has(RESPONSE) {
                let mut candidates =
                    list(&mut body, &["candidates"], format_args!(""))?.into_iter();
                if let Some(first) = candidates.next() {
                    let first = object(first, format_args!("candidates[0]"))?;
                    candidate(&mut turn, first, format_args!("candidates[0]."))?;
                }
                turn.alternatives = candidates.next().is_some();
            } else if body.contains("parts") {
                content(&mut turn, body, format_args!(""))?;
            } else if has(&["content", "finishReason", "finish_reason"]) {
                candidate(&mut turn, body, format_args!(""))?;
            } else {
                return Err(EXPECTED.to_owned());
            }
        }
        _ => return Err(EXPECTED.to_owned()),
    }
    Ok(turn)
}

fn candidate<'t>(
    turn: &mut Turn<'t>,
    mut body: Object<'t>,
    place: Place<'_>,
) -> Result<(), String> {
    turn.ending = match text(&mut body, &["finishReason", "finish_reason"]).as_deref() {
        None | Some("STOP") => Ending::Regular,
        Some("MAX_TOKENS") => Ending::CutOff,
        Some(reason) => FAILED
            .iter()
            .find(|(failed, _)| *failed == reason)
            .map_or(Ending::Other, |(_, why)| Ending::Failed(why)),
    };
    match body.take("content") {
        None => Ok(()),
        Some(found) => {
            let found = object(found, format_args!("{place}content"))?;
            content(turn, found, format_args!("{place}content."))
        }
    }
}

fn content<'t>(turn: &mut Turn<'t>, mut body: Object<'t>, place: Place<'_>) -> Result<(), String> {
    let found = list(&mut body, &["parts"], place)?;
    parts(turn, found, format_args!("{place}parts"))
}

fn parts<'t>(turn: &mut Turn<'t>, items: Vec<Value<'t>>, place: Place<'_>) -> Result<(), String> {
    turn.length = items.len();
    for (at, item) in items.into_iter().enumerate() {
        let place = format_args!("{place}[{at}]");
        let mut part = object(item, place)?;
        let has = |names: &[&str]| names.iter().any(|name| part.contains(name));
        if has(&["functionCall", "function_call"]) {
            let call = take(&mut part, &["functionCall", "function_call"]).unwrap_or_default();
            let call = object(call, format_args!("{place}.functionCall"))?;
            turn.calls.push(function_call(at, call));
        } else if has(&["executableCode", "executable_code"]) {
            turn.hosted.push("executableCode".to_owned());
        } else if has(&["toolCall", "tool_call"]) {
            turn.hosted.push("toolCall".to_owned());
        } else if has(MEMBERS) {
            // Nothing waits for anyone.
        } else if has(&["name", "args"]) {
            // The libraries give the calls without the parts around them.
            turn.calls.push(function_call(at, part));
        } else if has(&["candidates", "role"]) {
            return Err(format!(
                "{place} is not a part; of a streamed answer or a conversation, post the model's last content"
            ));
        } else {
            return Err(format!(
                "{place} is not a part, which has a member such as text or functionCall, nor a function call, which has a name"
            ));
        }
    }
    Ok(())
}

fn function_call<'t>(place: usize, mut call: Object<'t>) -> ToolCall<'t> {
    let pieces = take(&mut call, &["partialArgs", "partial_args"]).is_some()
        || take(&mut call, &["willContinue", "will_continue"]) == Some(Value::Bool(true));
    ToolCall {
        place,
        id: text(&mut call, &["id"]),
        name: text(&mut call, &["name"]).unwrap_or_default(),
        arguments: if pieces {
            Arguments::Unreadable("The arguments came in pieces that were not put together.")
        } else {
            Arguments::object(call.take("args"))
        },
    }
}

/// All results in one content. A result has an id only where its call had one: older models refuse
/// it. Its name is the declared one, whatever the id.
fn write(writer: &mut Writer, answered: &[Answered<'_>]) {
    writer.json("[");
    if !answered.is_empty() {
        writer.json(r#"{"parts":"#).array(answered, part).json(r#","role":"user"}"#);
    }
    writer.json("]");
}

fn part(writer: &mut Writer, Answered { handle, result }: &Answered<'_>) {
    writer.json(r#"{"functionResponse":{"#);
    if handle.id_sent {
        writer.json(r#""id":"#).string(&handle.id).json(",");
    }
    writer.json(r#""name":"#).string(&handle.name).json(r#","response":{"#);
    match result {
        Ok(value) => writer.json(r#""output":"#).value(value),
        Err(text) => writer.json(r#""error":"#).string(text),
    };
    writer.json("}}}");
}
