//! Tests of what is known of models.

use crate::gateway::dialect::Dialect;
use crate::gateway::facts::*;

/// The facts in a few words: how the model thinks, what it rejects, whether it can be forced (`F`) and continues a message (`P`).
fn described(format: Format, model: &str) -> String {
    let facts = Facts::of(format, model, None, Dialect::usual().facts());
    let thinking = facts.thinking.as_ref().map(|ways| format!("{ways:?}").to_lowercase());
    let rejected = facts.rejects.as_ref().map_or(0, Vec::len);
    let tokens = facts.max_output_tokens.unwrap_or_default() / 1000;
    let can = |name, can: Option<bool>| if can.unwrap_or(true) { name } else { "" };
    format!(
        "{} {rejected} {}{} {tokens}",
        thinking.unwrap_or_default(),
        can("F", facts.forced_calls),
        can("P", facts.prefill)
    )
}

#[test]
fn models_of_anthropic() {
    for (model, expected) in [
        ("claude-3-haiku-20240307", "[] 0 FP 4"),
        ("claude-3-5-sonnet-latest", "[] 0 FP 8"),
        ("claude-3-7-sonnet-20250219", "[enabled, disabled] 0 FP 64"),
        ("claude-sonnet-4-20250514", "[enabled, disabled] 0 FP 64"),
        ("claude-opus-4-1", "[enabled, disabled] 0 FP 32"),
        ("claude-haiku-4-5@20251001", "[enabled, disabled] 0 FP 64"),
        ("us.anthropic.claude-opus-4-6-v1", "[adaptive, enabled, disabled] 0 F 128"),
        ("claude-sonnet-4-6", "[adaptive, enabled, disabled] 0 F 128"),
        ("claude-opus-4-7", "[adaptive, disabled] 3 F 128"),
        ("claude-opus-4.8:thinking", "[adaptive, disabled] 3 F 128"),
        ("claude-opus-5", "[adaptive, disabled] 3 F 128"),
        ("claude-opus-5-5", "[adaptive] 3  128"),
        ("claude-sonnet-5", "[adaptive, disabled] 3 F 128"),
        ("claude-sonnet-5-5", "[adaptive, betweentools] 3  128"),
        ("claude-haiku-5-5", "[adaptive, disabled] 3 F 128"),
        ("claude-mythos-preview", "[adaptive, enabled] 3 F 128"),
        ("claude-fable-5", "[adaptive] 3 F 128"),
        ("claude-mythos-5", "[adaptive] 3 F 128"),
        ("claude-mythos-5-1", "[adaptive] 3  128"),
        ("claude-fable-5-2", "[adaptive] 3  128"),
        // A newer version, or a name without one, is like the newest of its family.
        ("claude-opus-7", "[adaptive] 3  128"),
        ("claude-sonnet-latest", "[adaptive, betweentools] 3  128"),
        // Of a family that is not known, the least is assumed.
        ("claude-saga-6", "[adaptive] 3  32"),
        ("kimi-k3", "[enabled, disabled] 0 FP 8"),
    ] {
        assert_eq!(described(Format::Anthropic, model), expected, "{model}");
    }
}

#[test]
fn models_of_openai() {
    for (model, efforts, default, api) in [
        ("gpt-4.1", "", false, None),
        ("ft:gpt-4o-mini-2024-07-18:org::id", "", false, None),
        ("gpt-5-2025-08-07", "minimal low medium high", true, None),
        ("gpt-5-chat-latest", "", false, None),
        ("gpt-5-pro", "high", true, Some(Api::Responses)),
        ("gpt-5-codex", "low medium high", true, Some(Api::Responses)),
        ("gpt-5.1", "none low medium high", false, None),
        ("gpt-5.2-chat-latest", "medium", true, None),
        ("gpt-5.3-codex", "low medium high xhigh", true, Some(Api::Responses)),
        (
            "gpt-5.4-mini-2026-03-17",
            "none low medium high xhigh",
            false,
            Some(Api::ResponsesForToolsWithEffort),
        ),
        ("gpt-5.5", "none low medium high xhigh", true, Some(Api::ResponsesForTools)),
        ("gpt-5.6-sol", "none low medium high xhigh", true, Some(Api::ResponsesForTools)),
        ("gpt-6-luna", "none low medium high xhigh", true, Some(Api::ResponsesForTools)),
        ("gpt-6-astra", "low medium high xhigh", true, Some(Api::ResponsesForTools)),
        ("gpt-6.1-sol", "low medium high xhigh", true, Some(Api::ResponsesForTools)),
        ("gpt-7", "low medium high xhigh", true, Some(Api::ResponsesForTools)),
        ("gpt-oss-120b", "", false, None),
        ("o3-mini", "low medium high", true, None),
        ("o3-pro", "low medium high", true, Some(Api::Responses)),
        ("m", "", false, None),
    ] {
        for format in [Format::OpenAi, Format::Responses] {
            let facts = Facts::of(format, model, None, Dialect::usual().facts());
            let known = facts.efforts.iter().flatten().map(|effort| effort.as_str());
            assert_eq!(Vec::from_iter(known).join(" "), efforts, "{model}");
            let thinks_by_default = facts.thinks_by_default.unwrap_or(false);
            assert_eq!((thinks_by_default, facts.api), (default, api), "{model}");
        }
        // A router knows what its models accept.
        assert_eq!(
            *Facts::of(Format::OpenAiCompatible, model, None, Dialect::usual().facts()),
            Facts::default()
        );
    }
}

#[test]
fn models_of_google() {
    for (model, expected, signatures) in [
        ("gemini-2.0-flash", "[]", false),
        ("models/gemini-2.5-flash-lite", "[budget]", false),
        ("gemini-2.5-flash-image", "[]", false),
        ("gemini-3-pro-preview", "[level]", true),
        ("gemini-3.8-flash", "[level]", true),
        ("gemini-4-argon", "[level]", true),
        ("gemini-flash-latest", "[level]", true),
        ("gemma-4-31b-it", "", true),
    ] {
        let described = described(Format::Gemini, model);
        assert_eq!(described.split(' ').next(), Some(expected), "{model}");
        let facts = Facts::of(Format::Gemini, model, None, Dialect::usual().facts());
        assert_eq!(facts.needs_signatures(), signatures, "{model}");
    }
}
