//! Properties: nothing panics, and no stream that is incomplete looks complete.

use proptest::prelude::*;
use proptest::sample::select;

use crate::gateway::format::adapter::tests::recorded::{ANTHROPIC, GEMINI, OPENAI, RESPONSES};
use crate::gateway::format::responses::front::tests::answers::{events, plain};
use crate::gateway::format::responses::front::tests::*;

/// Types of items, tools and parts, and names of their members.
const WORDS: &[&str] = &[
    "additional_tools",
    "allowed_tools",
    "approval_request_id",
    "approve",
    "arguments",
    "assistant",
    "call_id",
    "compaction",
    "content",
    "custom",
    "custom_tool_call",
    "encrypted_content",
    "execution",
    "function",
    "function_call",
    "function_call_output",
    "id",
    "input",
    "input_file",
    "input_image",
    "input_text",
    "mcp",
    "mcp_approval_request",
    "mcp_approval_response",
    "mcp_call",
    "mcp_list_tools",
    "message",
    "name",
    "namespace",
    "output",
    "output_text",
    "reasoning",
    "role",
    "server_label",
    "server_url",
    "summary",
    "text",
    "tool_search",
    "tool_search_call",
    "tool_search_output",
    "toolbooth",
    "toolbooth.extra.x",
    "toolbooth.rounds.x",
    "tools",
    "type",
    "user",
    "web_search",
];

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        select(WORDS).prop_map(Value::from),
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 64, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map(select(WORDS).prop_map(str::to_owned), inner, 0..6)
                .prop_map(|members| json!(members)),
        ]
    })
}

/// An item or a tool: an object with a type.
fn typed() -> impl Strategy<Value = Value> {
    (select(WORDS), value()).prop_map(|(kind, value)| {
        let mut members = value.as_object().cloned().unwrap_or_default();
        members.insert("type".to_owned(), kind.into());
        json!(members)
    })
}

proptest! {
    #[test]
    fn any_request_is_read_or_rejected(
        input in prop::collection::vec(typed(), 0..6),
        tools in prop::collection::vec(typed(), 0..4),
        choice in value(),
    ) {
        for body in [
            json!({"model": "m", "input": input, "tools": tools}),
            json!({"model": "m", "input": "hi", "tools": tools, "tool_choice": choice}),
            json!({"model": "m", "input": [{"role": "user", "content": choice}], "text": choice, "reasoning": choice}),
        ] {
            let Ok(request) = read(&body) else { continue };
            for format in OTHERS {
                let _ = format.translate(&request, &options(format), &Notes::default());
            }
        }
    }

    /// A stream that is cut anywhere, and of which a byte is different.
    #[test]
    fn any_stream_ends_with_one_of_three_events(
        recorded in 0..4_usize,
        cut in 0.0..1.1,
        at in 0.0..1.0,
        byte in any::<u8>(),
    ) {
        let (format, text) = [
            (Format::OpenAi, OPENAI),
            (Format::Anthropic, ANTHROPIC),
            (Format::Gemini, GEMINI),
            (Format::Responses, RESPONSES),
        ][recorded];
        let mut bytes = text.as_bytes().to_vec();
        let place = |part: f64| (bytes.len() as f64 * part) as usize;
        let (cut, at) = (place(cut).min(bytes.len()), place(at));
        // A provider whose own numbers or lines are broken cannot be mended.
        let is_digit = |byte: u8| byte.is_ascii_digit() || byte.is_ascii_control();
        if format != Format::Responses && !is_digit(byte) {
            bytes[at] = byte;
        }
        let events = events(&plain(), format, &[&bytes[..cut]]);
        let last = |kind: &Value| {
            ["response.completed", "response.incomplete", "response.failed"].iter().any(|it| kind == it)
        };
        for (number, event) in events.iter().enumerate() {
            prop_assert_eq!(event["sequence_number"].as_u64(), Some(number as u64));
            prop_assert_eq!(last(&event["type"]), number + 1 == events.len());
        }
    }
}
