//! OpenAI Chat Completions, and the providers with its format.

mod request;
mod response;
mod stream;

pub(super) use request::translate;
pub(super) use response::decode;
pub(in crate::gateway) use stream::Stream;

use crate::gateway::{FinishReason, Usage};
use crate::json::{Object, Value};

/// OpenAI's word for why the model stopped; `None` for others.
fn finish_reason(word: &str) -> Option<FinishReason> {
    Some(match word {
        "stop" => FinishReason::Stop,
        "length" => FinishReason::Length,
        // A call of the deprecated `functions` is a member of the message that the gateway does not interpret.
        "tool_calls" | "function_call" => FinishReason::ToolCalls,
        "content_filter" => FinishReason::ContentFilter,
        _ => return None,
    })
}

fn unknown_reason(word: &str) -> String {
    let word = crate::text::excerpt(word);
    format!(
        "The provider ended with the unknown finish reason \"{word}\", which is reported as stop"
    )
}

fn usage(object: &Object<'_>) -> Usage {
    let count = |value: Option<&Value<'_>>| {
        value.and_then(Value::as_number).and_then(serde_json::Number::as_u64).unwrap_or_default()
    };
    let detail = |member: &str, name: &str| count(object.get(member).and_then(|it| it.get(name)));
    let prompt_tokens = count(object.get("prompt_tokens"));
    let completion_tokens = count(object.get("completion_tokens"));
    let total_tokens = count(object.get("total_tokens"));
    Usage {
        prompt_tokens,
        completion_tokens,
        total_tokens: total_tokens.max(prompt_tokens.saturating_add(completion_tokens)),
        cached_tokens: detail("prompt_tokens_details", "cached_tokens"),
        reasoning_tokens: detail("completion_tokens_details", "reasoning_tokens"),
        extra: Some(object.clone().into_owned()),
    }
}

/// A string that is not empty.
fn text<'v>(object: &'v Object<'_>, name: &str) -> Option<&'v str> {
    object.get(name).and_then(Value::as_str).filter(|text| !text.is_empty())
}

/// The arguments of a call, which some providers send as an object.
fn arguments(function: &Object<'_>, name: &str) -> Option<String> {
    match function.get(name)? {
        Value::Null => None,
        Value::String(text) => Some(text.as_ref().to_owned()),
        value => Some(value.text()),
    }
}
