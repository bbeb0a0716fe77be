//! Anthropic Messages.

mod messages;
mod request;
mod stream;
mod thinking;

use super::{Adapter, members_of_answer};
use crate::gateway::{Builder, Read, UpstreamError};
use crate::wire::fields::text;
use crate::wire::{ToolCall, anthropic};
use toolbooth::json::{Object, Value};

/// The version of the API. Later ones reject `temperature`, `top_p` and `top_k`.
const VERSION: &str = "2023-06-01";

pub(super) static ADAPTER: Adapter = Adapter {
    list: "anthropic",
    path: |_, _| "/v1/messages".to_owned(),
    headers: |key| {
        let key = key.map(|key| ("x-api-key", key.to_owned()));
        key.into_iter().chain([("anthropic-version", VERSION.to_owned())]).collect()
    },
    translate: request::translate,
    decode,
    decoder: || Box::<stream::Stream>::default(),
};

fn decode(body: Value<'_>, builder: &mut Builder) -> Read {
    let body = members_of_answer(body)?;
    let blocks = body.get("content").and_then(Value::as_array).unwrap_or_default();
    builder.native.extend(blocks.iter().map(|block| block.clone().into_owned()));
    builder.answer(anthropic::message(body).map_err(UpstreamError::Malformed)?)?;
    let blocks = builder.native.iter_mut().filter_map(|block| match block {
        Value::Object(block) if text(block.get("type")) == Some("tool_use") => Some(block),
        _ => None,
    });
    for (block, call) in blocks.zip(&builder.completion.message.tool_calls) {
        keep_id(block, Some(call));
    }
    keep_thinking(builder);
    Ok(())
}

/// Gives the block of a call the id of the call, which may be another one: its result refers to it.
fn keep_id(block: &mut Object<'static>, call: Option<&ToolCall<'static>>) {
    if let Some(call) = call {
        block.insert("id".into(), Value::String(call.id.clone()));
    }
}

/// Carries the thinking blocks, if there are any, in `extra_content`.
fn keep_thinking(builder: &mut Builder) {
    let thinking: Vec<_> =
        builder.native.iter().filter(|block| is_thinking(block)).cloned().collect();
    if !thinking.is_empty() {
        let own = Object::from_iter([("thinking_blocks", Value::Array(thinking))]);
        let extra = Object::from_iter([("anthropic", Value::Object(own))]);
        builder.extra_content(Value::Object(extra));
    }
}

fn is_thinking(block: &Value<'_>) -> bool {
    let kind = block.get("type").and_then(Value::as_str);
    matches!(kind, Some("thinking" | "redacted_thinking"))
}
