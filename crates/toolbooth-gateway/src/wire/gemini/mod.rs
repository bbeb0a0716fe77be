//! Gemini generateContent.
//!
//! Members are read in both spellings, `functionCall` and `function_call`, because the provider's own libraries
//! write both.

mod finish;
pub(crate) mod request;

use std::borrow::Cow;

use serde::Serialize;

use super::fields::{JsonPath, count, has, object, take, take_list, take_text};
use super::{
    Arguments, Finish, FinishReason, Item, Media, MediaSource, ModelAnswer, Read, ToolCall, Usage,
};
use finish::{UNSPECIFIED, finish_reason};
use toolbooth::json::{Object, Value};

const EXPECTED: &str = "The body must be a response (an object with candidates), a candidate (with \
    content), its content (with parts) or the array of its parts";

/// Members that identify a response. If the prompt was blocked, it has no `candidates`.
#[rustfmt::skip]
const RESPONSE_MEMBERS: &[&str] = &[
    "candidates", "promptFeedback", "prompt_feedback", "usageMetadata", "usage_metadata",
    "modelVersion", "model_version", "responseId", "response_id",
];

/// Members of parts that are neither calls nor text, in both spellings. Files without content are among them.
#[rustfmt::skip]
const OTHER_PARTS: &[&str] = &[
    "inlineData", "inline_data", "fileData", "file_data", "functionResponse", "function_response",
    "codeExecutionResult", "code_execution_result", "toolResponse", "tool_response",
    "mediaResolution", "media_resolution", "mediaProcessing", "media_processing", "videoMetadata",
    "video_metadata", "speechMetadata", "speech_metadata", "audioMetadata", "audio_metadata",
    "audioTranscription", "audio_transcription", "documentMetadata", "document_metadata",
    "spreadsheetMetadata", "spreadsheet_metadata",
];

/// Members of parts that say something about the others.
const ANNOTATIONS: &[&str] =
    &["text", "thought", "thoughtSignature", "thought_signature", "partMetadata", "part_metadata"];

/// Reads a response, a candidate, its content, or the array of its parts.
pub(crate) fn read(body: Value<'_>) -> Read<ModelAnswer<'_>> {
    match body {
        Value::Array(parts) => Ok(ModelAnswer {
            items: read_parts(parts, format_args!(""))?,
            ..ModelAnswer::default()
        }),
        Value::Object(body) if has(&body, RESPONSE_MEMBERS) => response(body),
        Value::Object(body) if has(&body, &["parts"]) => Ok(ModelAnswer {
            items: read_content(body, format_args!(""))?,
            ..ModelAnswer::default()
        }),
        Value::Object(body) if has(&body, &["content", "finishReason", "finish_reason"]) => {
            let mut answer = ModelAnswer::default();
            read_candidate(body, format_args!(""), &mut answer)?;
            Ok(answer)
        }
        _ => Err(EXPECTED.to_owned()),
    }
}

/// Reads a response, or a chunk of a stream, which has the same form.
pub(crate) fn response(mut body: Object<'_>) -> Read<ModelAnswer<'_>> {
    let mut answer = ModelAnswer {
        id: take_text(&mut body, &["responseId", "response_id"]),
        model: take_text(&mut body, &["modelVersion", "model_version"]),
        usage: take(&mut body, &["usageMetadata", "usage_metadata"]).as_ref().and_then(usage),
        ..ModelAnswer::default()
    };
    let mut candidates = take_list(&mut body, "candidates", format_args!(""))?.into_iter();
    if let Some(first) = candidates.next() {
        let first = object(first, format_args!("candidates[0]"))?;
        read_candidate(first, format_args!("candidates[0]."), &mut answer)?;
    } else if let Some(Value::Object(mut feedback)) =
        take(&mut body, &["promptFeedback", "prompt_feedback"])
    {
        let word = take_text(&mut feedback, &["blockReason", "block_reason"]);
        answer.finish = word.map(|word| Finish { word, reason: FinishReason::ContentFilter });
    }
    answer.has_alternatives = candidates.next().is_some();
    Ok(answer)
}

fn read_candidate<'t>(
    mut candidate: Object<'t>,
    path: JsonPath<'_>,
    answer: &mut ModelAnswer<'t>,
) -> Read {
    if let Some(content) = take(&mut candidate, &["content"]) {
        let content = object(content, format_args!("{path}content"))?;
        answer.items = read_content(content, format_args!("{path}content."))?;
    }
    answer.finish = take_text(&mut candidate, &["finishReason", "finish_reason"])
        .filter(|word| word != UNSPECIFIED)
        .map(|word| Finish::new(word, finish_reason));
    Ok(())
}

fn read_content<'t>(mut content: Object<'t>, path: JsonPath<'_>) -> Read<Vec<Item<'t>>> {
    let parts = take_list(&mut content, "parts", path)?;
    read_parts(parts, format_args!("{path}parts"))
}

fn read_parts<'t>(parts: Vec<Value<'t>>, path: JsonPath<'_>) -> Read<Vec<Item<'t>>> {
    let mut items = Vec::new();
    for (at, part) in parts.into_iter().enumerate() {
        let path = format_args!("{path}[{at}]");
        read_part(object(part, path)?, path, &mut items)?;
    }
    Ok(items)
}

fn read_part<'t>(mut part: Object<'t>, path: JsonPath<'_>, items: &mut Vec<Item<'t>>) -> Read {
    let is_annotated = has(&part, ANNOTATIONS);
    let signature = take_text(&mut part, &["thoughtSignature", "thought_signature"]);
    let kind = OTHER_PARTS.iter().find(|kind| has(&part, &[kind]));
    if let Some(call) = take(&mut part, &["functionCall", "function_call"]) {
        let call = object(call, format_args!("{path}.functionCall"))?;
        items.push(Item::Call(function_call(call, signature)));
        return Ok(());
    }
    if let Some((media_type, source)) = file(&mut part) {
        items.push(match part.get("thought") {
            Some(Value::Bool(true)) => Item::Other("thought".into()),
            _ => Item::Media(Media::of_file(media_type, source, signature.map(extra_content))),
        });
        return Ok(());
    }
    if has(&part, &["executableCode", "executable_code"]) {
        items.push(Item::Hosted("executableCode".into()));
    } else if has(&part, &["toolCall", "tool_call"]) {
        items.push(Item::Hosted("toolCall".into()));
    } else if let Some(kind) = kind {
        items.push(Item::Other((*kind).into()));
    } else if is_annotated {
        let text = take_text(&mut part, &["text"]).unwrap_or_default();
        let is_thought = part.get("thought") == Some(&Value::Bool(true));
        items.push(if is_thought { Item::Reasoning(text) } else { Item::Text(text) });
    } else if has(&part, &["name", "args"]) {
        // The libraries return calls without the parts around them.
        items.push(Item::Call(function_call(part, None)));
    } else if has(&part, &["candidates", "role"]) {
        return Err(format!(
            "{path} is not a part; for a streamed response or a conversation, post the model's last content"
        ));
    } else {
        return Err(format!(
            "{path} is neither a part, which has a member such as text or functionCall, nor a function call, which has a name"
        ));
    }
    items.extend(signature.map(Item::Signature));
    Ok(())
}

/// The media type and the source of the file in a part, if it has one.
fn file<'t>(part: &mut Object<'t>) -> Option<(Cow<'t, str>, MediaSource<'t>)> {
    let inline = take(part, &["inlineData", "inline_data"]);
    let file = inline.or_else(|| take(part, &["fileData", "file_data"]))?;
    let Value::Object(mut file) = file else { return None };
    let data = take_text(&mut file, &["data"]).map(MediaSource::Base64);
    let address = || take_text(&mut file, &["fileUri", "file_uri"]).map(MediaSource::Address);
    let source = data.or_else(address)?;
    let media_type = take_text(&mut file, &["mimeType", "mime_type"]);
    Some((media_type.unwrap_or("application/octet-stream".into()), source))
}

fn function_call<'t>(mut call: Object<'t>, signature: Option<Cow<'t, str>>) -> ToolCall<'t> {
    let is_partial = has(&call, &["partialArgs", "partial_args"])
        || take(&mut call, &["willContinue", "will_continue"]) == Some(Value::Bool(true));
    let signed = |signature| ("extra_content", extra_content(signature));
    ToolCall {
        id: take_text(&mut call, &["id"]).unwrap_or_default(),
        name: take_text(&mut call, &["name"]).unwrap_or_default(),
        arguments: if is_partial {
            Arguments::Unreadable(
                "The arguments are incomplete: their streamed pieces were not joined.",
            )
        } else {
            Arguments::from_json(take(&mut call, &["args"]))
        },
        custom: false,
        extra: signature.map(signed).into_iter().collect(),
    }
}

/// A signature as Google's own OpenAI-compatible interface carries it.
pub(crate) fn extra_content(signature: Cow<'_, str>) -> Value<'_> {
    let own = Object::from_iter([("thought_signature", Value::String(signature))]);
    Value::Object(Object::from_iter([("google", Value::Object(own))]))
}

/// The counts of tokens in `usageMetadata`; `None` if it is not an object.
fn usage(metadata: &Value<'_>) -> Option<Usage> {
    metadata.as_object()?;
    let count =
        |name, other| count(metadata.get(name)).or(count(metadata.get(other))).unwrap_or_default();
    let tool_use = count("toolUsePromptTokenCount", "tool_use_prompt_token_count");
    let prompt = count("promptTokenCount", "prompt_token_count").saturating_add(tool_use);
    // `candidatesTokenCount` leaves out the thoughts.
    let thoughts = count("thoughtsTokenCount", "thoughts_token_count");
    let answer = count("candidatesTokenCount", "candidates_token_count").saturating_add(thoughts);
    let total = count("totalTokenCount", "total_token_count").max(prompt.saturating_add(answer));
    Some(Usage {
        prompt_tokens: prompt,
        completion_tokens: total.saturating_sub(prompt),
        total_tokens: total,
        cached_tokens: count("cachedContentTokenCount", "cached_content_token_count"),
        cache_write_tokens: 0,
        long_cache_write_tokens: 0,
        reasoning_tokens: thoughts,
        extra: None,
    })
}

/// A part with the result of a call.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ResultPart<T, V> {
    function_response: FunctionResponse<T, V>,
}

#[derive(Debug, Serialize)]
struct FunctionResponse<T, V> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<T>,
    name: T,
    response: ResultObject<V>,
}

/// Gemini requires an object, and knows these two members.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
enum ResultObject<V> {
    Output(V),
    Error(V),
}

impl<T, V> ResultPart<T, V> {
    /// The result of a call of `name`. It has an id only if the call had one: older models reject it.
    pub(crate) fn new(id: Option<T>, name: T, result: Result<V, V>) -> Self {
        let response = match result {
            Ok(value) => ResultObject::Output(value),
            Err(message) => ResultObject::Error(message),
        };
        Self { function_response: FunctionResponse { id, name, response } }
    }
}
