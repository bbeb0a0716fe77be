//! Whole answers in OpenAI's format.

use super::{arguments, finish_reason, text, unknown_reason, usage};
use crate::gateway::adapter::reported;
use crate::gateway::builder::Builder;
use crate::gateway::{Completion, FinishReason, IdSource, UpstreamError};
use crate::json::{Object, Value};

/// Decodes the body of a response.
pub(in crate::gateway::adapter) fn decode(
    body: Value<'_>,
    ids: IdSource,
) -> Result<Completion, UpstreamError> {
    if body.get("error").is_some_and(|error| !error.is_null()) {
        return Err(reported(200, &body));
    }
    let Value::Object(mut body) = body else {
        return Err(UpstreamError::malformed("the answer is not an object"));
    };
    let Some(Value::Array(choices)) = body.take("choices") else {
        return Err(UpstreamError::malformed("the answer has no choices"));
    };
    let Some(Value::Object(mut choice)) = choices.into_iter().next() else {
        return Err(UpstreamError::malformed("the answer has no choice"));
    };
    let Some(Value::Object(message)) = choice.take("message") else {
        return Err(UpstreamError::malformed("the choice has no message"));
    };
    let mut builder = Builder::new(ids, true);
    read_message(&mut builder, message)?;
    let reason = match choice.take("finish_reason") {
        Some(Value::String(word)) => finish_reason(&word).unwrap_or_else(|| {
            builder.warn(unknown_reason(&word));
            FinishReason::Stop
        }),
        _ => FinishReason::Stop,
    };
    builder.complete_calls();
    builder.finish(reason);
    let mut completion = builder.completion;
    completion.usage = match body.take("usage") {
        Some(Value::Object(object)) => Some(usage(&object)),
        _ => None,
    };
    completion.id = text(&body, "id").map(str::to_owned);
    completion.model = text(&body, "model").map(str::to_owned);
    completion.created =
        body.get("created").and_then(Value::as_number).and_then(serde_json::Number::as_u64);
    body.retain(|name, _| !matches!(name, "id" | "object" | "created" | "model" | "_2api"));
    choice.retain(|name, _| name != "index");
    completion.extra.body = body.into_owned();
    completion.extra.choice = choice.into_owned();
    Ok(completion)
}

fn read_message(builder: &mut Builder, mut message: Object<'_>) -> Result<(), UpstreamError> {
    match message.take("content") {
        Some(Value::String(content)) => {
            builder.text(&content);
        }
        Some(Value::Array(parts)) => {
            for part in &parts {
                if let Some(content) = part.get("text").and_then(Value::as_str) {
                    builder.text(content);
                }
            }
        }
        _ => {}
    }
    if let Some(refusal) = text(&message, "refusal") {
        builder.refusal(refusal);
    }
    if let Some(Value::Array(calls)) = message.take("tool_calls") {
        for call in calls {
            let Value::Object(call) = call else {
                return Err(UpstreamError::malformed("a tool call is not an object"));
            };
            read_call(builder, call)?;
        }
    }
    message.retain(|name, _| !matches!(name, "role" | "refusal"));
    builder.completion.message.extra = message.into_owned();
    Ok(())
}

fn read_call(builder: &mut Builder, mut call: Object<'_>) -> Result<(), UpstreamError> {
    let custom = call.get("type").and_then(Value::as_str) == Some("custom");
    let (member, text_member) =
        if custom { ("custom", "input") } else { ("function", "arguments") };
    let Some(Value::Object(called)) = call.take(member) else {
        return Err(UpstreamError::malformed("a tool call names no function"));
    };
    let Some(name) = text(&called, "name") else {
        return Err(UpstreamError::malformed("a tool call names no function"));
    };
    let id = text(&call, "id").map(str::to_owned);
    call.retain(|name, _| !matches!(name, "id" | "type" | "index"));
    builder.call(id.as_deref(), name, custom, call.into_owned())?;
    let index = builder.completion.message.tool_calls.len().saturating_sub(1);
    if let Some(arguments) = arguments(&called, text_member) {
        builder.arguments(index, &arguments)?;
    }
    Ok(())
}
