//! The calls and results of Gemini generateContent.
//!
//! Members are read in both spellings, `functionCall` and `function_call`, because the provider's own libraries
//! write both.

use serde::Serialize;

use super::fields::{JsonPath, expect_object, take_any, take_array, take_string, without_nulls};
use super::model_response::{Arguments, FinishReason, ModelResponse, ToolCall};
use super::{CallFormat, CallReport, CallResult};
use crate::http::Response;
use crate::json::{Object, Value};

pub(super) static FORMAT: CallFormat = CallFormat { decode, encode, pairs_by_id: false };

const EXPECTED: &str = "The body must be a response (an object with candidates), a candidate (with \
    content), its content (with parts) or the array of its parts";

/// Finish reasons of a failed call, with advice. The call is not repaired; the client should ask the model again
/// (2api.ai, 5.3).
const FAILED_CALLS: &[(&str, &str)] = &[
    (
        "MALFORMED_FUNCTION_CALL",
        "The model ended with MALFORMED_FUNCTION_CALL: it wrote a malformed call. Ask it again",
    ),
    (
        "UNEXPECTED_TOOL_CALL",
        "The model ended with UNEXPECTED_TOOL_CALL: it called a tool that the request does not \
         declare. Declare the tools, and ask it again",
    ),
    (
        "TOO_MANY_TOOL_CALLS",
        "The model ended with TOO_MANY_TOOL_CALLS: it called tools too many times in a row. Ask it again \
         with a smaller task",
    ),
    (
        "MALFORMED_RESPONSE",
        "The model ended with MALFORMED_RESPONSE: it wrote a malformed response. Ask it again",
    ),
];

/// Members that identify a response. If the prompt was blocked, it has no `candidates`.
const RESPONSE_MEMBERS: &[&str] = &[
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

/// Members of parts that are not calls, in both spellings.
#[rustfmt::skip]
const OTHER_PART_MEMBERS: &[&str] = &[
    "text", "thought", "thoughtSignature", "thought_signature", "inlineData", "inline_data",
    "fileData", "file_data", "functionResponse", "function_response", "codeExecutionResult",
    "code_execution_result", "toolResponse", "tool_response", "partMetadata", "part_metadata",
    "mediaResolution", "media_resolution", "mediaProcessing", "media_processing",
    "videoMetadata", "video_metadata", "speechMetadata", "speech_metadata", "audioMetadata",
    "audio_metadata", "audioTranscription", "audio_transcription", "documentMetadata",
    "document_metadata", "spreadsheetMetadata", "spreadsheet_metadata",
];

fn decode(body: Value<'_>) -> Result<ModelResponse<'_>, String> {
    let mut response = ModelResponse::default();
    match body {
        Value::Array(items) => parts(&mut response, items, format_args!(""))?,
        Value::Object(body) => {
            let mut body = without_nulls(body);
            let has = |names: &[&str]| names.iter().any(|name| body.contains(name));
            if has(RESPONSE_MEMBERS) {
                let mut candidates =
                    take_array(&mut body, "candidates", format_args!(""))?.into_iter();
                if let Some(first) = candidates.next() {
                    let first = expect_object(first, format_args!("candidates[0]"))?;
                    candidate(&mut response, first, format_args!("candidates[0]."))?;
                }
                response.has_alternatives = candidates.next().is_some();
            } else if body.contains("parts") {
                content(&mut response, body, format_args!(""))?;
            } else if has(&["content", "finishReason", "finish_reason"]) {
                candidate(&mut response, body, format_args!(""))?;
            } else {
                return Err(EXPECTED.to_owned());
            }
        }
        _ => return Err(EXPECTED.to_owned()),
    }
    Ok(response)
}

fn candidate<'t>(
    response: &mut ModelResponse<'t>,
    mut body: Object<'t>,
    path: JsonPath<'_>,
) -> Result<(), String> {
    response.finish_reason =
        match take_string(&mut body, &["finishReason", "finish_reason"]).as_deref() {
            None | Some("STOP") => FinishReason::Finished,
            Some("MAX_TOKENS") => FinishReason::Length,
            Some(reason) => FAILED_CALLS
                .iter()
                .find(|(failed, _)| *failed == reason)
                .map_or(FinishReason::Other, |(_, advice)| FinishReason::CallFailed(advice)),
        };
    match body.take("content") {
        None => Ok(()),
        Some(found) => {
            let found = expect_object(found, format_args!("{path}content"))?;
            content(response, found, format_args!("{path}content."))
        }
    }
}

fn content<'t>(
    response: &mut ModelResponse<'t>,
    mut body: Object<'t>,
    path: JsonPath<'_>,
) -> Result<(), String> {
    let found = take_array(&mut body, "parts", path)?;
    parts(response, found, format_args!("{path}parts"))
}

fn parts<'t>(
    response: &mut ModelResponse<'t>,
    items: Vec<Value<'t>>,
    path: JsonPath<'_>,
) -> Result<(), String> {
    response.item_count = items.len();
    for (at, item) in items.into_iter().enumerate() {
        let path = format_args!("{path}[{at}]");
        let mut part = expect_object(item, path)?;
        let has = |names: &[&str]| names.iter().any(|name| part.contains(name));
        if has(&["functionCall", "function_call"]) {
            let call = take_any(&mut part, &["functionCall", "function_call"]).unwrap_or_default();
            let call = expect_object(call, format_args!("{path}.functionCall"))?;
            response.calls.push(function_call(at, call));
        } else if has(&["executableCode", "executable_code"]) {
            response.hosted.push("executableCode".to_owned());
        } else if has(&["toolCall", "tool_call"]) {
            response.hosted.push("toolCall".to_owned());
        } else if has(OTHER_PART_MEMBERS) {
            // Not a call.
        } else if has(&["name", "args"]) {
            // The libraries return calls without the parts around them.
            response.calls.push(function_call(at, part));
        } else if has(&["candidates", "role"]) {
            return Err(format!(
                "{path} is not a part; for a streamed response or a conversation, post the model's last content"
            ));
        } else {
            return Err(format!(
                "{path} is neither a part, which has a member such as text or functionCall, nor a function call, which has a name"
            ));
        }
    }
    Ok(())
}

fn function_call<'t>(index: usize, mut call: Object<'t>) -> ToolCall<'t> {
    let is_partial = take_any(&mut call, &["partialArgs", "partial_args"]).is_some()
        || take_any(&mut call, &["willContinue", "will_continue"]) == Some(Value::Bool(true));
    ToolCall {
        index,
        id: take_string(&mut call, &["id"]),
        name: take_string(&mut call, &["name"]).unwrap_or_default(),
        arguments: if is_partial {
            Arguments::Unreadable(
                "The arguments are incomplete: their streamed pieces were not joined.",
            )
        } else {
            Arguments::from_object(call.take("args"))
        },
    }
}

/// What the client appends to its `contents`: one content with all results.
#[derive(Serialize)]
struct GeminiResults<'r> {
    #[serde(rename = "_toolbooth")]
    report: CallReport<'r>,
    contents: Vec<UserContent<'r>>,
}

#[derive(Serialize)]
struct UserContent<'r> {
    role: &'static str,
    parts: Vec<FunctionResponsePart<'r>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FunctionResponsePart<'r> {
    function_response: FunctionResponse<'r>,
}

/// The result of a call.
#[derive(Serialize)]
struct FunctionResponse<'r> {
    /// Present only if the call had one: older models reject it.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'r str>,
    name: &'r str,
    response: ResultObject<'r>,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum ResultObject<'r> {
    Output(&'r serde_json::Value),
    Error(&'r str),
}

fn encode(report: CallReport<'_>, results: &[CallResult<'_>]) -> Response {
    let parts: Vec<_> = results.iter().map(function_response).collect();
    let content = (!parts.is_empty()).then_some(UserContent { role: "user", parts });
    Response::json_of(200, &GeminiResults { report, contents: content.into_iter().collect() })
}

fn function_response<'r>(
    CallResult { handle, result }: &'r CallResult<'_>,
) -> FunctionResponsePart<'r> {
    FunctionResponsePart {
        function_response: FunctionResponse {
            id: handle.id_sent.then_some(&*handle.id),
            name: &handle.name,
            response: match result {
                Ok(value) => ResultObject::Output(value),
                Err(message) => ResultObject::Error(message),
            },
        },
    }
}
