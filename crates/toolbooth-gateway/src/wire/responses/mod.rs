//! OpenAI Responses.

pub(crate) mod request;

use std::borrow::Cow;

use serde::Serialize;

use crate::wire::fields::{has, object, take, take_list, take_text, text};
use crate::wire::{Arguments, Finish, FinishReason, Item, ModelAnswer, Read, ToolCall};
use toolbooth::json::{Object, Value};

const EXPECTED: &str =
    "The body must be a response (an object with output) or the array of its output items";

/// Calls that only the provider runs.
const HOSTED: &[&str] = &[
    "code_interpreter_call",
    "file_search_call",
    "image_generation_call",
    "mcp_call",
    "web_search_call",
];

/// Reads a response, or the array of its output items.
pub(crate) fn read(body: Value<'_>) -> Read<ModelAnswer<'_>> {
    let mut answer = ModelAnswer::default();
    let (items, path) = match body {
        Value::Array(items) => (items, ""),
        Value::Object(mut body) if has(&body, &["output"]) => {
            answer.finish =
                take_text(&mut body, &["status"]).map(|it| Finish::new(it, finish_reason));
            (take_list(&mut body, "output", format_args!(""))?, "output")
        }
        _ => return Err(EXPECTED.to_owned()),
    };
    for (at, item) in items.into_iter().enumerate() {
        let mut item = object(item, format_args!("{path}[{at}]"))?;
        let Some(kind) = take_text(&mut item, &["type"]) else {
            if !has(&item, &["role"]) {
                return Err(format!("{path}[{at}] is not an output item, which has a type"));
            }
            answer.items.push(Item::Other("message".into()));
            continue;
        };
        answer.items.push(match &*kind {
            "function_call" => Item::Call(function_call(&mut item)),
            "function_call_output" => Item::Result(take_text(&mut item, &["call_id"])),
            it if HOSTED.contains(&it) || runs_at_provider(it, &item) => Item::Hosted(kind),
            it if it.ends_with("_call") || it == "mcp_approval_request" => Item::ClientCall(kind),
            _ => Item::Other(kind),
        });
    }
    Ok(answer)
}

/// Whether the provider has run a call that the client can run as well: a search in the tools of the request, or a command.
fn runs_at_provider(kind: &str, item: &Object<'_>) -> bool {
    match kind {
        "tool_search_call" => text(item.get("execution")) != Some("client"),
        "shell_call" => {
            let environment = item.get("environment").and_then(|it| text(it.get("type")));
            environment == Some("container_reference")
        }
        _ => false,
    }
}

fn function_call<'t>(item: &mut Object<'t>) -> ToolCall<'t> {
    let arguments = Arguments::from_text(take(item, &["arguments"]));
    let is_cut = take_text(item, &["status"]).as_deref() == Some("incomplete");
    ToolCall {
        id: take_text(item, &["call_id"]).unwrap_or_default(),
        name: take_text(item, &["name"]).unwrap_or_default(),
        arguments: if is_cut { Arguments::TRUNCATED } else { arguments },
        ..ToolCall::default()
    }
}

fn finish_reason(word: &str) -> FinishReason {
    match word {
        "completed" => FinishReason::ToolCalls,
        "incomplete" => FinishReason::Length,
        _ => FinishReason::Other,
    }
}

/// The result of a call.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "function_call_output")]
pub(crate) struct FunctionCallOutput<'r> {
    pub call_id: &'r str,
    pub output: Cow<'r, str>,
}
