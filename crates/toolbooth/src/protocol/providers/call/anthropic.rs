//! The calls and results of Anthropic Messages.

use std::borrow::Cow;

use serde::Serialize;

use super::fields::{expect_object, take_string, without_nulls};
use super::model_response::{Arguments, FinishReason, ModelResponse, ToolCall};
use super::{CallFormat, CallReport, CallResult};
use crate::http::Response;
use crate::json::Value;

pub(super) static FORMAT: CallFormat = CallFormat { decode, encode, pairs_by_id: true };

const EXPECTED: &str = "The body must be a message (an object with content) or the array of its \
    content blocks";

fn decode(body: Value<'_>) -> Result<ModelResponse<'_>, String> {
    let mut response = ModelResponse::default();
    let (blocks, path) = match body {
        Value::Array(blocks) => (blocks, ""),
        Value::Object(body) => {
            let mut body = without_nulls(body);
            response.finish_reason = match take_string(&mut body, &["stop_reason"]).as_deref() {
                None | Some("tool_use") => FinishReason::Finished,
                Some("max_tokens" | "model_context_window_exceeded") => FinishReason::Length,
                Some(_) => FinishReason::Other,
            };
            match body.take("content") {
                Some(Value::Array(blocks)) => (blocks, "content"),
                Some(Value::String(_)) => (Vec::new(), "content"),
                Some(_) => return Err("content must be an array of blocks".to_owned()),
                None => return Err(EXPECTED.to_owned()),
            }
        }
        _ => return Err(EXPECTED.to_owned()),
    };
    response.item_count = blocks.len();
    for (at, block) in blocks.into_iter().enumerate() {
        let mut block = expect_object(block, format_args!("{path}[{at}]"))?;
        match take_string(&mut block, &["type"]).as_deref() {
            Some("tool_use") => {
                response.calls.push(ToolCall {
                    index: at,
                    id: take_string(&mut block, &["id"]),
                    name: take_string(&mut block, &["name"]).unwrap_or_default(),
                    arguments: Arguments::from_object(block.take("input")),
                });
            }
            Some(kind) if kind.ends_with("_tool_use") => response.hosted.push(kind.to_owned()),
            Some(_) => {}
            None => return Err(format!("{path}[{at}] is not a content block, which has a type")),
        }
    }
    Ok(response)
}

/// What the client appends to its `messages`: one message, which must come next, with all results as its first
/// blocks.
#[derive(Serialize)]
struct MessagesResults<'r> {
    #[serde(rename = "_toolbooth")]
    report: CallReport<'r>,
    messages: Vec<UserMessage<'r>>,
}

#[derive(Serialize)]
struct UserMessage<'r> {
    role: &'static str,
    content: Vec<ToolResultBlock<'r>>,
}

/// The result of a call.
#[derive(Serialize)]
struct ToolResultBlock<'r> {
    r#type: &'static str,
    tool_use_id: &'r str,
    content: Cow<'r, str>,
    is_error: bool,
}

fn encode(report: CallReport<'_>, results: &[CallResult<'_>]) -> Response {
    let content: Vec<_> = results
        .iter()
        .map(|result| ToolResultBlock {
            r#type: "tool_result",
            tool_use_id: &result.handle.id,
            content: result.text(),
            is_error: result.result.is_err(),
        })
        .collect();
    let message = (!content.is_empty()).then_some(UserMessage { role: "user", content });
    Response::json_of(200, &MessagesResults { report, messages: message.into_iter().collect() })
}
