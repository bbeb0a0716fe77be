//! Case 6: thinking, and `reasoning_effort`.

use crate::gateway::format::adapter::tests::*;

/// Case 6: thinking blocks come first in an assistant message; other things in `extra_content` do not.
#[test]
fn case_06_thinking_blocks_come_back() {
    let blocks = json!([
        {"type": "thinking", "thinking": "t", "signature": "sig"},
        {"type": "redacted_thinking", "data": "xyz"},
        {"type": "text", "text": "not thinking"},
    ]);
    let members = json!({"messages": [
        {"role": "user", "content": "U"},
        {"role": "assistant", "content": "T", "tool_calls": [call("c1", "a", "{}")],
         "extra_content": {"anthropic": {"thinking_blocks": blocks}}},
        {"role": "tool", "tool_call_id": "c1", "content": "x"},
    ], "tools": [tool("a")], "reasoning_effort": "low", "temperature": 0.5, "top_p": 0.9});
    let (body, dropped, _) = translated(Format::Anthropic, members);
    let content = &body["messages"][1]["content"];
    assert_eq!((&content[0], &content[1]), (&blocks[0], &blocks[1]));
    assert_eq!((&content[2]["type"], &content[3]["type"]), (&json!("text"), &json!("tool_use")));
    assert_eq!(body["thinking"], json!({"type": "enabled", "budget_tokens": 1024}));
    assert_eq!(dropped, ["temperature", "top_p"]);
}

#[test]
fn reasoning_effort_of_anthropic() {
    let shown = json!({"type": "adaptive", "display": "summarized"});
    for (model, effort, thinking, level, max_tokens) in [
        ("claude-opus-4-6", "high", json!({"type": "adaptive"}), json!("high"), 4096),
        ("claude-sonnet-5", "minimal", shown.clone(), json!("low"), 4096),
        ("claude-fable", "max", shown, json!("max"), 4096),
        (
            "claude-sonnet-4-5-20250929",
            "high",
            json!({"type": "enabled", "budget_tokens": 4096}),
            Value::Null,
            8192,
        ),
        (
            "claude-sonnet-4-20250514",
            "medium",
            json!({"type": "enabled", "budget_tokens": 2048}),
            Value::Null,
            4096,
        ),
        (
            "claude-3-7-sonnet-latest",
            "low",
            json!({"type": "enabled", "budget_tokens": 1024}),
            Value::Null,
            4096,
        ),
        ("claude-3-5-haiku-20241022", "low", Value::Null, Value::Null, 4096),
        ("claude-3-5-haiku-20241022", "none", Value::Null, Value::Null, 4096),
        ("claude-opus-4-6", "none", json!({"type": "disabled"}), Value::Null, 4096),
    ] {
        let request = request(json!({"reasoning_effort": effort, "max_tokens": 4096}));
        let options = options_for(Format::Anthropic, model);
        let (body, _, _) = translated_with(Format::Anthropic, &request, &options);
        assert_eq!(body.get("thinking").unwrap_or(&Value::Null), &thinking, "{model} {effort}");
        let found = body.pointer("/output_config/effort").unwrap_or(&Value::Null);
        assert_eq!(found, &level, "{model} {effort}");
        assert_eq!(body["max_tokens"], max_tokens, "{model} {effort}");
    }
    let (body, dropped, warnings) = translated(
        Format::Anthropic,
        json!({"reasoning_effort": "low", "tools": [tool("a")], "tool_choice": "required"}),
    );
    assert_eq!((body.get("thinking"), dropped.len(), warnings.len()), (None, 1, 1));
    let own = json!({"type": "enabled", "budget_tokens": 2000});
    let (body, _, _) = translated(Format::Anthropic, json!({"thinking": own}));
    assert_eq!(body["thinking"], own);
    assert_eq!(rejected(Format::Anthropic, json!({"reasoning_effort": "x"})).1, "reasoning_effort");
}

#[test]
fn reasoning_effort_of_gemini() {
    for (model, effort, config) in [
        ("gemini-2.5-flash", "none", json!({"thinkingBudget": 0})),
        ("gemini-2.5-pro", "none", Value::Null),
        ("gemini-2.5-pro", "medium", json!({"thinkingBudget": 8192})),
        ("gemini-3-pro-preview", "minimal", json!({"thinkingLevel": "LOW"})),
        ("gemini-3-flash", "minimal", json!({"thinkingLevel": "MINIMAL"})),
        ("gemini-3-flash", "xhigh", json!({"thinkingLevel": "HIGH"})),
        ("gemini-2.0-flash", "high", Value::Null),
    ] {
        let request = request(json!({"reasoning_effort": effort}));
        let options = options_for(Format::Gemini, model);
        let (body, dropped, _) = translated_with(Format::Gemini, &request, &options);
        let found = body.pointer("/generationConfig/thinkingConfig").unwrap_or(&Value::Null);
        assert_eq!(found, &config, "{model} {effort}");
        assert_eq!(dropped.len(), usize::from(config.is_null()), "{model} {effort}");
    }
}
