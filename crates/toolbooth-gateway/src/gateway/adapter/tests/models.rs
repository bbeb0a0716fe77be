//! What models accept: members that they reject, thinking, and how a conversation ends.

use super::*;

/// Which of these members a model gets, and which of them are named as dropped.
fn sampling(format: Format, model: &str, more: Value) -> (String, String) {
    let mut members = json!({"temperature": 0.2, "top_p": 0.9, "top_k": 5, "stop": ["x"]});
    for (name, value) in more.as_object().unwrap() {
        members[name] = value.clone();
    }
    let (body, dropped, _) =
        translated_with(format, &request(members), &options_for(format, model));
    let names = [
        ("temperature", &["temperature"][..]),
        ("top_p", &["top_p", "topP"]),
        ("top_k", &["top_k", "topK"]),
        ("stop", &["stop", "stop_sequences", "stopSequences"]),
    ];
    let config = body.get("generationConfig").unwrap_or(&body);
    let got = names.iter().filter(|(_, names)| names.iter().any(|it| config.get(it).is_some()));
    let got = Vec::from_iter(got.map(|(name, _)| *name)).join(" ");
    let is_of_sampling = |name: &&String| names.iter().any(|(known, _)| known == name);
    let dropped = dropped.iter().filter(is_of_sampling).cloned();
    (got, Vec::from_iter(dropped).join(" "))
}

#[test]
fn members_that_models_reject() {
    let none = json!({});
    let low = json!({"reasoning_effort": "low"});
    let off = json!({"reasoning_effort": "none"});
    for (format, model, more, got, dropped) in [
        (Format::Anthropic, "claude-opus-4-5", &none, "temperature top_k stop", "top_p"),
        (Format::Anthropic, "claude-opus-4-5", &low, "stop", "temperature top_k top_p"),
        (Format::Anthropic, "claude-sonnet-4-6", &none, "temperature top_k stop", "top_p"),
        (Format::Anthropic, "claude-opus-4-6", &low, "stop", "temperature top_k top_p"),
        (Format::Anthropic, "claude-opus-4-7", &none, "stop", "temperature top_k top_p"),
        (Format::Anthropic, "claude-opus-4-8", &off, "stop", "temperature top_k top_p"),
        (Format::Anthropic, "claude-opus-5", &none, "stop", "temperature top_k top_p"),
        (Format::Anthropic, "claude-sonnet-5-5", &none, "stop", "temperature top_k top_p"),
        (Format::Anthropic, "claude-haiku-5-5", &off, "stop", "temperature top_k top_p"),
        (Format::Anthropic, "claude-mythos-5", &none, "stop", "temperature top_k top_p"),
        (Format::Anthropic, "claude-saga-7", &none, "stop", "temperature top_k top_p"),
        (Format::Anthropic, "kimi-k3", &none, "temperature top_k stop", "top_p"),
        (Format::OpenAi, "gpt-4.1", &none, "temperature top_p top_k stop", ""),
        (Format::OpenAi, "gpt-5", &none, "top_k", "stop temperature top_p"),
        (Format::OpenAi, "gpt-5.4", &none, "temperature top_p top_k", "stop"),
        (Format::OpenAi, "gpt-5.4", &low, "top_k", "stop temperature top_p"),
        (Format::OpenAi, "gpt-5.6", &none, "top_k", "stop temperature top_p"),
        (Format::OpenAi, "gpt-5.6", &off, "temperature top_p top_k", "stop"),
        (Format::OpenAi, "o3", &none, "top_k", "stop temperature top_p"),
        (Format::Responses, "gpt-4.1", &none, "temperature top_p", "stop top_k"),
        (Format::Responses, "gpt-5.4", &none, "temperature top_p", "stop top_k"),
        (Format::Responses, "gpt-5.6", &none, "", "stop temperature top_k top_p"),
        (Format::Responses, "gpt-5.6", &off, "temperature top_p", "stop top_k"),
        (Format::OpenAiCompatible, "gpt-5", &low, "temperature top_p top_k stop", ""),
        (Format::Gemini, "gemini-3-pro-preview", &none, "temperature top_p top_k stop", ""),
        (Format::Gemini, "gemini-3.6-flash", &none, "stop", "temperature top_k top_p"),
        (Format::Gemini, "gemini-4-argon", &none, "stop", "temperature top_k top_p"),
    ] {
        let found = sampling(format, model, more.clone());
        assert_eq!(found, (got.to_owned(), dropped.to_owned()), "{model} {more}");
    }
}
