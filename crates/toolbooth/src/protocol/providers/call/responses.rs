//! The calls and results of OpenAI Responses.

use std::borrow::Cow;

use serde::Serialize;

use super::fields::{expect_object, take_array, take_string, without_nulls};
use super::model_response::{Arguments, FinishReason, ModelResponse, ToolCall};
use super::{CallFormat, CallReport, CallResult};
use crate::http::Response;
use crate::json::Value;

pub(super) static FORMAT: CallFormat = CallFormat { decode, encode, pairs_by_id: true };

const EXPECTED: &str =
    "The body must be a response (an object with output) or the array of its output items";

/// Calls that the provider executes itself.
const HOSTED: &[&str] = &[
    "code_interpreter_call",
    "file_search_call",
    "image_generation_call",
    "mcp_call",
    "web_search_call",
];

fn decode(body: Value<'_>) -> Result<ModelResponse<'_>, String> {
    let mut response = ModelResponse::default();
    let (items, path) = match body {
        Value::Array(items) => (items, ""),
        Value::Object(body) => {
            let mut body = without_nulls(body);
            if !body.contains("output") {
                return Err(EXPECTED.to_owned());
            }
            response.finish_reason = match take_string(&mut body, &["status"]).as_deref() {
                None | Some("completed") => FinishReason::Finished,
                Some("incomplete") => FinishReason::Length,
                Some(_) => FinishReason::Other,
            };
            (take_array(&mut body, "output", format_args!(""))?, "output")
        }
        _ => return Err(EXPECTED.to_owned()),
    };
    response.item_count = items.len();
    for (at, item) in items.into_iter().enumerate() {
        let mut item = expect_object(item, format_args!("{path}[{at}]"))?;
        match take_string(&mut item, &["type"]).as_deref() {
            Some("function_call") => {
                let truncated =
                    take_string(&mut item, &["status"]).as_deref() == Some("incomplete");
                response.calls.push(ToolCall {
                    index: at,
                    id: take_string(&mut item, &["call_id"]),
                    name: take_string(&mut item, &["name"]).unwrap_or_default(),
                    arguments: if truncated {
                        Arguments::TRUNCATED
                    } else {
                        Arguments::from_text(item.take("arguments"))
                    },
                });
            }
            // A call of an earlier response, which must not run again.
            Some("function_call_output") => {
                let completed = take_string(&mut item, &["call_id"]);
                response.calls.retain(|call| call.id.is_none() || call.id != completed);
            }
            Some(kind) if HOSTED.contains(&kind) => response.hosted.push(kind.to_owned()),
            Some(kind) if kind.ends_with("_call") || kind == "mcp_approval_request" => {
                response.client_calls.push(kind.to_owned());
            }
            Some(_) => {}
            None if item.contains("role") => {}
            None => return Err(format!("{path}[{at}] is not an output item, which has a type")),
        }
    }
    Ok(response)
}

/// What the client appends to its `input`.
#[derive(Serialize)]
struct ResponsesResults<'r> {
    #[serde(rename = "_toolbooth")]
    report: CallReport<'r>,
    input: Vec<FunctionCallOutput<'r>>,
}

/// The result of a call.
#[derive(Serialize)]
struct FunctionCallOutput<'r> {
    r#type: &'static str,
    call_id: &'r str,
    output: Cow<'r, str>,
}

fn encode(report: CallReport<'_>, results: &[CallResult<'_>]) -> Response {
    let input = results
        .iter()
        .map(|result| FunctionCallOutput {
            r#type: "function_call_output",
            call_id: &result.handle.id,
            output: result.text(),
        })
        .collect();
    Response::json_of(200, &ResponsesResults { report, input })
}
