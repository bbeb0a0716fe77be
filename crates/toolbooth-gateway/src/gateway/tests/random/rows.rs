//! Conversations that once failed, each as small as it could be.

use serde_json::{Value, json};

use crate::gateway::tests::golden::{provider, rules};
use crate::gateway::tests::random::requests::{has_rules, report};
use crate::gateway::tests::random::world::{Front, World};

/// Asks a model. Returns what it gets, and what is lost.
fn sent(front: Front, model: &str, body: &Value) -> (Value, Vec<String>) {
    let reply = World::new(provider::answer).ask(front, model, body);
    assert_eq!(reply.status, 200, "{}", reply.text);
    let sent = reply.sent.last().unwrap();
    if has_rules(sent) {
        assert_eq!(rules::broken(sent), None, "{sent:?}");
    }
    let dropped = report(&reply)["dropped"].clone();
    (sent.body.clone(), serde_json::from_value(dropped).unwrap_or_default())
}

#[test]
fn conversations_that_failed() {
    use Front::{Chat, Messages, Responses};
    let user = |text: &str| json!({"role": "user", "content": text});
    let image = "data:image/png;base64,AAAA";
    let call = json!({"type": "function_call", "call_id": "c", "name": "w", "arguments": "{}"});
    let thought =
        json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "e"});
    let said = |text: &str| json!({"type": "message", "role": "assistant", "content": text});
    let thinking = json!({"type": "thinking", "thinking": "hm", "signature": "s"});
    let of_openai = json!({"openai": {"reasoning": [thought]}});
    let called = |extra: Value| {
        json!({"role": "assistant", "content": null, "tool_calls": [{"id": "c", "type": "function",
            "function": {"name": "w", "arguments": "{}"}, "extra_content": extra}]})
    };
    let result = json!({"role": "tool", "tool_call_id": "c", "content": "5"});
    let google = json!({"google": {"thought_signature": "s"}});
    let tool = |name: &str| json!({"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {}}}});
    let allowed =
        json!({"mode": "required", "tools": [{"type": "function", "function": {"name": "b"}}]});
    for (front, model, body, expected, lost) in [
        // The images of results and the user's next message are one.
        (
            Responses,
            "qwen/q",
            json!({"input": [user("a"), call, {"type": "function_call_output", "call_id": "c",
                "output": [{"type": "input_image", "image_url": image}]}, user("b")]}),
            vec![("/messages/3/content/2/text", json!("b")), ("/messages/4", Value::Null)],
            "",
        ),
        // Of what an assistant only thought, nothing is left.
        (
            Messages,
            "qwen/q",
            json!({"max_tokens": 9, "messages": [user("a"), {"role": "assistant", "content": [thinking]}]}),
            vec![("/messages/0/content", json!("a")), ("/messages/1", Value::Null)],
            "messages[].content[].thinking",
        ),
        (
            Messages,
            "qwen/q",
            json!({"max_tokens": 9, "messages": [user("a"), {"role": "assistant", "content": [thinking]}, user("b")]}),
            vec![("/messages/0/content", json!("a\n\nb")), ("/messages/1", Value::Null)],
            "messages[].content[].thinking",
        ),
        // After a blank message, that of the system is the first.
        (
            Messages,
            "anthropic/claude-sonnet-4-5",
            json!({"max_tokens": 9, "messages": [user("  "), {"role": "system", "content": "s"}, user("b")]}),
            vec![
                ("/system/0/text", json!("s")),
                ("/messages/0/content/0/text", json!("b")),
                ("/messages/1", Value::Null),
            ],
            "",
        ),
        // What the provider does not get is no reason for two messages.
        (
            Responses,
            "qwen/q",
            json!({"input": [user("a"), thought, said("x"), thought, said("y"), user("b")]}),
            vec![("/messages/1/content", json!("x\n\ny")), ("/messages/3", Value::Null)],
            "input[].encrypted_content",
        ),
        // A message that is written anew loses nothing without a word.
        (
            Chat,
            "qwen/q",
            json!({"messages": [user("a"), {"role": "assistant", "content": [{"type": "text", "text": "x"}],
                "audio": {"id": "i"}}, user("b")]}),
            vec![("/messages/1/audio", Value::Null)],
            "messages[].audio",
        ),
        (
            Responses,
            "qwen/q",
            json!({"input": [{"type": "image_generation_call", "id": "ig_1", "status": "completed", "result": "AAAA"},
                user("a")]}),
            vec![("/messages/0/content", json!("a")), ("/messages/1", Value::Null)],
            "input[].image_generation_call",
        ),
        // A blank message of the user is the last one for providers that get it.
        (
            Chat,
            "qwen/q",
            json!({"messages": [user("a"), {"role": "assistant", "content": "x"}, user("")]}),
            vec![("/messages/2/content", json!("")), ("/messages/3", Value::Null)],
            "",
        ),
        // Nor is it an answer to a result.
        (
            Messages,
            "mistral/m",
            json!({"max_tokens": 9, "messages": [user("a"),
                {"role": "assistant", "content": [{"type": "tool_use", "id": "a00000001", "name": "w", "input": {}}]},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a00000001", "content": "5"}]},
                {"role": "assistant", "content": [thinking]}, user("b")]}),
            vec![("/messages/3/role", json!("assistant")), ("/messages/4/content", json!("b"))],
            "messages[].content[].thinking",
        ),
        // A provider that can force no call knows no allowed tools.
        (
            Chat,
            "deepseek/deepseek-v4-pro",
            json!({"messages": [user("a")], "tools": [tool("a"), tool("b")],
                "tool_choice": {"type": "allowed_tools", "allowed_tools": allowed}}),
            vec![
                ("/tool_choice", json!("auto")),
                ("/tools/0/function/name", json!("b")),
                ("/tools/1", Value::Null),
            ],
            "",
        ),
        // OpenAI knows no mark for the cache at messages.
        (
            Chat,
            "openai/gpt-4.1",
            json!({"messages": [{"role": "user", "content": "a", "cache_control": {"type": "ephemeral"}}]}),
            vec![("/messages/0/cache_control", Value::Null)],
            "messages[].cache_control",
        ),
        // An empty message of the user begins no turn.
        (
            Chat,
            "google/gemini-3-pro-preview",
            json!({"messages": [user("a"), called(Value::Null), result, user("")]}),
            vec![(
                "/contents/1/parts/0/thoughtSignature",
                json!("skip_thought_signature_validator"),
            )],
            "",
        ),
        // What only another provider can read is named.
        (
            Responses,
            "anthropic/claude-sonnet-4-5",
            json!({"input": [user("a"), thought, said("x"), user("b")]}),
            vec![],
            "input[].encrypted_content",
        ),
        (
            Messages,
            "google/gemini-2.5-flash",
            json!({"max_tokens": 9, "messages": [user("a"), {"role": "assistant", "content": [thinking,
                {"type": "text", "text": "x"}]}, user("b")]}),
            vec![],
            "messages[].content[].thinking",
        ),
        (
            Chat,
            "openai/gpt-5.3-codex",
            json!({"messages": [user("a"), called(google.clone()), result]}),
            vec![],
            "messages[].tool_calls[].extra_content.google",
        ),
        (
            Chat,
            "anthropic/claude-sonnet-4-5",
            json!({"messages": [user("a"), called(google), result]}),
            vec![],
            "messages[].tool_calls[].extra_content.google",
        ),
        // Something follows OpenAI's reasoning.
        (
            Chat,
            "openai/gpt-5.3-codex",
            json!({"messages": [user("a"), {"role": "assistant", "content": "", "extra_content": of_openai}, user("b")]}),
            vec![("/input/1/role", json!("user"))],
            "messages[].extra_content.openai",
        ),
        // Anthropic rejects empty texts in `system`, too.
        (
            Messages,
            "anthropic/claude-sonnet-4-5",
            json!({"max_tokens": 9, "system": [{"type": "text", "text": "s"}, {"type": "text", "text": ""}],
                "messages": [user("a")]}),
            vec![("/system/0/text", json!("s")), ("/system/1", Value::Null)],
            "",
        ),
        (
            Messages,
            "anthropic/claude-sonnet-4-5",
            json!({"max_tokens": 9, "system": [{"type": "text", "text": " "}], "messages": [user("a")]}),
            vec![("/system", Value::Null)],
            "",
        ),
    ] {
        let (got, dropped) = sent(front, model, &body);
        for (pointer, expected) in expected {
            let found = got.pointer(pointer).cloned().unwrap_or_default();
            assert_eq!(found, expected, "{front:?} to {model}: {pointer} of {got}");
        }
        assert_eq!(dropped.join(" "), lost, "{front:?} to {model}: {body}");
    }
}
