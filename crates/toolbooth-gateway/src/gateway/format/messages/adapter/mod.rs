//! Anthropic Messages.

pub(in crate::gateway::format) mod extended;
mod messages;
mod request;
mod stream;
mod thinking;

use crate::gateway::answer::builder::Builder;
use crate::gateway::answer::completion::{Read, UpstreamError};
use crate::gateway::format::adapter::names::is_plain;
use crate::gateway::format::adapter::{Adapter, EventDecoder, members_of_answer, raw};
use crate::gateway::limits::MAX_NAME;
use crate::gateway::raw_json::{nested, raw_items, raw_member, typed};
use toolbooth::json::Value;

/// The version of the API. Later ones reject `temperature`, `top_p` and `top_k`.
const VERSION: &str = "2023-06-01";

pub(in crate::gateway::format) static ADAPTER: Adapter = Adapter {
    list: "anthropic",
    function: ["{", "input_schema", "}"],
    path: |_, _| "/v1/messages".to_owned(),
    models: Some("/v1/models?limit=1000"),
    headers: |key| {
        let key = key.map(|key| ("x-api-key", key.to_owned().into()));
        key.into_iter().chain([("anthropic-version", VERSION.into())]).collect()
    },
    accepts_name: |name| is_plain(name, MAX_NAME),
    translate: request::translate,
    limit_member: "max_tokens",
    decode,
    decoder: || Box::<stream::Stream>::default(),
};

/// A whole message is like a stream whose blocks begin complete.
fn decode(text: &str, body: Value<'_>, builder: &mut Builder) -> Read {
    let mut body = members_of_answer(body)?;
    let blocks = match body.take("content") {
        Some(Value::Array(blocks)) => blocks,
        Some(text @ Value::String(_)) => vec![typed("text", text)],
        _ => return Err(UpstreamError::malformed("the answer has no content")),
    };
    let body = Value::Object(body);
    let raw_blocks = raw_items(raw(text).and_then(|json| raw_member(json, &["content"])));
    let mut raw_blocks = raw_blocks.into_iter();
    let mut stream = stream::Stream::default();
    stream.head(&body, builder);
    for block in blocks {
        stream.begin(0, block, raw_blocks.next(), builder)?;
        stream.close(0, builder)?;
    }
    stream.stop(Some(&body), builder);
    stream.reason.get_or_insert_with(|| builder.no_reason());
    stream.end(builder)
}

/// Carries the thinking blocks, if there are any, in `extra_content`.
fn keep_thinking(builder: &mut Builder) {
    let thinking: Vec<_> =
        builder.native.iter().filter(|block| is_thinking(block)).cloned().collect();
    if !thinking.is_empty() {
        let own = nested("thinking_blocks", Value::Array(thinking));
        builder.extra_content(nested("anthropic", own));
    }
}

/// Keeps the blocks but calls, if text and thinking do not tell all of them.
fn keep_blocks(builder: &mut Builder) {
    let is = |block: &Value<'_>, kind| block.get("type").and_then(Value::as_str) == Some(kind);
    let is_told = |block: &Value<'_>| {
        is(block, "text") && !has_citations(block) || is(block, "tool_use") || is_thinking(block)
    };
    if builder.collect && !builder.native.iter().all(is_told) {
        let blocks = builder.native.iter().filter(|block| !is(block, "tool_use"));
        builder.completion.message.blocks = blocks.cloned().collect();
    }
}

fn has_citations(block: &Value<'_>) -> bool {
    let citations = block.get("citations").and_then(Value::as_array);
    citations.is_some_and(|citations| !citations.is_empty())
}

fn is_thinking(block: &Value<'_>) -> bool {
    let kind = block.get("type").and_then(Value::as_str);
    matches!(kind, Some("thinking" | "redacted_thinking"))
}
