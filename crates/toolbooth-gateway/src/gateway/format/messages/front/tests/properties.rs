//! Properties of any request and any stream.

use proptest::prelude::*;

use crate::gateway::format::messages::front::tests::streams::{decoded, events, joined, written};
use crate::gateway::format::messages::front::tests::*;

/// JSON with the words of the format.
fn values() -> impl Strategy<Value = Value> {
    const WORDS: &[&str] = &[
        "user",
        "assistant",
        "system",
        "text",
        "image",
        "document",
        "tool_use",
        "tool_result",
        "thinking",
        "redacted_thinking",
        "mcp_tool_use",
        "mcp_tool_result",
        "tool_reference",
        "toolbooth",
        "toolbooth:{}",
        "base64",
        "url",
        "a",
        "https://a",
        "image/png",
        "auto",
        "any",
        "tool",
        "custom",
        "mcp_toolset",
        "enabled",
    ];
    const NAMES: &[&str] = &[
        "role",
        "content",
        "type",
        "text",
        "source",
        "id",
        "name",
        "input",
        "tool_use_id",
        "is_error",
        "thinking",
        "signature",
        "data",
        "server_name",
        "cache_control",
        "url",
        "media_type",
        "tool_name",
        "input_schema",
        "mcp_server_name",
        "configs",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        prop::sample::select(WORDS).prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 48, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((prop::sample::select(NAMES), inner), 0..6).prop_map(|members| {
                Value::Object(
                    members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
                )
            }),
        ]
    })
}

/// Events of a stream in OpenAI's format, of which some make no sense.
fn deltas() -> impl Strategy<Value = Vec<Value>> {
    let call = (
        0..3_usize,
        prop::option::of(0..3_usize),
        prop::sample::select(&["", "{", "{}", "\"x\":1", "}"][..]),
    );
    let call = call.prop_map(|(index, id, arguments)| {
        let name = id.map(|_| "f");
        let id = id.map(|id| format!("c{id}"));
        json!({"tool_calls": [{"index": index, "id": id, "function": {"name": name, "arguments": arguments}}]})
    });
    let text = prop::sample::select(&["content", "refusal", "reasoning_content"][..]);
    prop::collection::vec(prop_oneof![call, text.prop_map(|name| json!({name: "t"}))], 0..12)
}

proptest! {
    #[test]
    fn any_request_is_accepted_or_rejected(name in prop::sample::select(&["messages", "system", "tools", "tool_choice", "mcp_servers", "thinking", "output_config", "metadata"][..]), value in values()) {
        let Ok(request) = decode(json!({name: value})) else { return Ok(()) };
        for format in [Format::OpenAi, Format::OpenAiCompatible, Format::Anthropic, Format::Gemini, Format::Responses, Format::WorkersAi] {
            let _ = format.translate(&request, &options(format), &Notes::default());
        }
    }

    #[test]
    fn any_stream_is_in_order_and_ends_once(deltas in deltas(), finish in prop::sample::select(&["stop", "tool_calls", "length"][..]), ends in any::<bool>()) {
        let text = crate::gateway::format::messages::front::tests::streams::openai(&deltas, finish);
        let text = if ends { text.as_str() } else { text.strip_suffix("data: [DONE]\n\n").unwrap() };
        let (all, error) = decoded(Format::OpenAi, &[text.as_bytes()], false);
        let text = written(json!({"thinking": {"type": "adaptive"}}), &all, error.as_ref());
        prop_assert_eq!(joined(&events(&text)).is_some(), error.is_none());
    }
}
