//! The calls and results of OpenAI Chat Completions.

use std::borrow::Cow;

use serde::Serialize;

use super::fields::{JsonPath, expect_object, take_array, take_string, without_nulls};
use super::model_response::{Arguments, FinishReason, ModelResponse, ToolCall};
use super::{CallFormat, CallReport, CallResult};
use crate::http::Response;
use crate::json::{Object, Value};

pub(super) static FORMAT: CallFormat = CallFormat { decode, encode, pairs_by_id: true };

const EXPECTED: &str = "The body must be a chat completion (an object with choices), its assistant \
    message (an object with role or tool_calls) or the array of its tool calls";

fn decode(body: Value<'_>) -> Result<ModelResponse<'_>, String> {
    let mut response = ModelResponse::default();
    match body {
        Value::Array(calls) => tool_calls(&mut response, calls, format_args!(""))?,
        Value::Object(body) => completion(&mut response, without_nulls(body))?,
        _ => return Err(EXPECTED.to_owned()),
    }
    Ok(response)
}

/// Reads a chat completion, or its message alone.
fn completion<'t>(response: &mut ModelResponse<'t>, mut body: Object<'t>) -> Result<(), String> {
    if !body.contains("choices") {
        let is_assistant = body.contains("tool_calls")
            || body.get("role").and_then(Value::as_str) == Some("assistant");
        return match is_assistant {
            true => message(response, body, format_args!("")),
            false => Err(EXPECTED.to_owned()),
        };
    }
    let mut choices = take_array(&mut body, "choices", format_args!(""))?.into_iter();
    if let Some(first) = choices.next() {
        let mut first = expect_object(first, format_args!("choices[0]"))?;
        response.finish_reason = match take_string(&mut first, &["finish_reason"]).as_deref() {
            None | Some("tool_calls") => FinishReason::Finished,
            Some("length") => FinishReason::Length,
            Some(_) => FinishReason::Other,
        };
        let first_message = first
            .take("message")
            .ok_or("choices[0].message is missing; join the chunks of a streamed response first")?;
        let first_message = expect_object(first_message, format_args!("choices[0].message"))?;
        message(response, first_message, format_args!("choices[0].message."))?;
    }
    response.has_alternatives = choices.next().is_some();
    Ok(())
}

fn message<'t>(
    response: &mut ModelResponse<'t>,
    mut message: Object<'t>,
    path: JsonPath<'_>,
) -> Result<(), String> {
    // The deprecated predecessor of tool_calls, whose result is a message of another role.
    if matches!(message.get("function_call"), Some(Value::Object(_))) {
        response.client_calls.push("function_call".to_owned());
    }
    let calls = take_array(&mut message, "tool_calls", path)?;
    tool_calls(response, calls, format_args!("{path}tool_calls"))
}

fn tool_calls<'t>(
    response: &mut ModelResponse<'t>,
    calls: Vec<Value<'t>>,
    path: JsonPath<'_>,
) -> Result<(), String> {
    response.item_count = calls.len();
    for (at, call) in calls.into_iter().enumerate() {
        let path = format_args!("{path}[{at}]");
        let mut call = expect_object(call, path)?;
        let kind = take_string(&mut call, &["type"]);
        let function = match call.take("function") {
            Some(function) => expect_object(function, format_args!("{path}.function"))?,
            None if kind.as_deref() == Some("function") => Object::default(),
            None => {
                let kind = kind.ok_or_else(|| {
                    format!(
                        "{path} is not a tool call, which has the members id, type and function"
                    )
                })?;
                response.client_calls.push(kind.into_owned());
                continue;
            }
        };
        response.calls.push(function_call(at, take_string(&mut call, &["id"]), function));
    }
    Ok(())
}

fn function_call<'t>(
    index: usize,
    id: Option<Cow<'t, str>>,
    mut function: Object<'t>,
) -> ToolCall<'t> {
    ToolCall {
        index,
        id,
        name: take_string(&mut function, &["name"]).unwrap_or_default(),
        arguments: Arguments::from_text(function.take("arguments")),
    }
}

/// What the client appends to its `messages`.
#[derive(Serialize)]
struct ChatResults<'r> {
    #[serde(rename = "_toolbooth")]
    report: CallReport<'r>,
    messages: Vec<ToolMessage<'r>>,
}

/// The result of a call.
#[derive(Serialize)]
struct ToolMessage<'r> {
    role: &'static str,
    tool_call_id: &'r str,
    content: Cow<'r, str>,
}

fn encode(report: CallReport<'_>, results: &[CallResult<'_>]) -> Response {
    let messages = results
        .iter()
        .map(|result| ToolMessage {
            role: "tool",
            tool_call_id: &result.handle.id,
            content: result.text(),
        })
        .collect();
    Response::json_of(200, &ChatResults { report, messages })
}
