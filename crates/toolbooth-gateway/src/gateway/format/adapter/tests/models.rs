//! What models accept: members that they reject, thinking, and how a conversation ends.

use crate::gateway::format::adapter::tests::*;

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

/// `thinking`, the effort and the number of warnings for a request to Anthropic.
fn thinking(model: &str, members: &Value) -> (Value, Value, usize) {
    let request = request(members.clone());
    let options = options_for(Format::Anthropic, model);
    let (body, _, mut warnings) = translated_with(Format::Anthropic, &request, &options);
    warnings.retain(|warning| !warning.starts_with("max_tokens"));
    (body["thinking"].clone(), body["output_config"]["effort"].clone(), warnings.len())
}

/// No effort: a model that cannot stop to think thinks as little as it can.
#[test]
fn no_thinking() {
    for (model, mode, effort) in [
        ("claude-3-5-haiku-latest", Value::Null, Value::Null),
        ("claude-haiku-4-5", json!({"type": "disabled"}), Value::Null),
        ("claude-opus-4-6", json!({"type": "disabled"}), Value::Null),
        ("claude-opus-4-8", json!({"type": "disabled"}), Value::Null),
        ("claude-opus-5", json!({"type": "disabled"}), Value::Null),
        ("claude-opus-5-5", Value::Null, json!("low")),
        ("claude-sonnet-5", json!({"type": "disabled"}), Value::Null),
        ("claude-sonnet-5-5", json!({"type": "between_tools"}), Value::Null),
        ("claude-haiku-5-5", json!({"type": "disabled"}), Value::Null),
        ("claude-mythos-preview", Value::Null, json!("low")),
        ("claude-fable-5", Value::Null, json!("low")),
        ("claude-mythos-5-1", Value::Null, json!("low")),
        ("claude-saga-7", Value::Null, json!("low")),
    ] {
        let warnings = usize::from(effort.is_string());
        let expected = (mode, effort, warnings);
        assert_eq!(thinking(model, &json!({"reasoning_effort": "none"})), expected, "{model}");
    }
}

#[test]
fn efforts_of_anthropic() {
    for (model, effort, expected) in [
        ("claude-opus-4-6", "xhigh", "high"),
        ("claude-sonnet-4-6", "xhigh", "high"),
        ("claude-sonnet-4-6", "max", "max"),
        ("claude-sonnet-4-6", "minimal", "low"),
        ("claude-opus-4-7", "xhigh", "xhigh"),
        ("claude-opus-5", "max", "max"),
        ("claude-mythos-preview", "xhigh", "high"),
        ("claude-haiku-5-5", "xhigh", "xhigh"),
        ("claude-saga-7", "max", "high"),
    ] {
        let (mode, found, warnings) = thinking(model, &json!({"reasoning_effort": effort}));
        assert_eq!((&mode["type"], &found), (&json!("adaptive"), &json!(expected)), "{model}");
        assert_eq!(warnings, usize::from(effort != expected), "{model} {effort}");
    }
}

#[test]
fn efforts_of_openai() {
    for (model, effort, chat, responses) in [
        ("gpt-4.1", "low", "", ""),
        ("gpt-5", "none", "minimal", "minimal"),
        ("gpt-5", "xhigh", "high", "high"),
        ("gpt-5.1", "minimal", "low", "low"),
        ("gpt-5.2", "none", "none", "none"),
        ("gpt-5.6", "max", "xhigh", "max"),
        ("gpt-6-astra", "none", "low", "low"),
        ("gpt-5-pro", "low", "high", "high"),
        ("o3", "minimal", "low", "low"),
        ("m", "max", "max", "max"),
    ] {
        let expected = [(Format::OpenAi, chat), (Format::Responses, responses)];
        for (format, expected) in expected.into_iter().chain([(Format::OpenAiCompatible, effort)]) {
            let request = request(json!({"reasoning_effort": effort}));
            let options = options_for(format, model);
            let (body, dropped, warnings) = translated_with(format, &request, &options);
            let found = body.pointer("/reasoning/effort").unwrap_or(&body["reasoning_effort"]);
            assert_eq!(found.as_str().unwrap_or_default(), expected, "{format:?} {model}");
            assert_eq!(warnings.len(), usize::from(effort != expected), "{format:?} {model}");
            assert_eq!(dropped.len(), usize::from(expected.is_empty()), "{format:?} {model}");
        }
    }
}

/// A client of chats may write Anthropic's own member. The model gets a type that it takes.
#[test]
fn own_thinking_of_anthropic() {
    let adaptive = json!({"type": "adaptive"});
    let shown = json!({"type": "adaptive", "display": "summarized"});
    let hidden = json!({"type": "adaptive", "display": "omitted"});
    let budget = |tokens: u64| json!({"type": "enabled", "budget_tokens": tokens});
    let disabled = json!({"type": "disabled"});
    let none = Value::Null;
    for (model, own, mode, effort) in [
        ("claude-opus-4-8", &adaptive, &shown, &none),
        ("claude-opus-4-8", &hidden, &hidden, &none),
        ("claude-opus-4-8", &budget(2000), &shown, &json!("low")),
        ("claude-fable-5", &budget(20_000), &shown, &json!("high")),
        ("claude-opus-4-6", &budget(2000), &budget(2000), &none),
        ("claude-opus-4-6", &adaptive, &adaptive, &none),
        ("claude-sonnet-4-5", &adaptive, &budget(4096), &none),
        ("claude-fable-5", &disabled, &none, &json!("low")),
        ("claude-sonnet-5-5", &disabled, &json!({"type": "between_tools"}), &none),
        ("claude-opus-5", &json!({"type": "between_tools"}), &disabled, &none),
    ] {
        let (found, level, warnings) = thinking(model, &json!({"thinking": own}));
        assert_eq!((&found, &level), (mode, effort), "{model} {own}");
        let is_other = own["type"] != mode["type"];
        assert_eq!(warnings > 0, is_other, "{model} {own}");
    }
}

/// A model whose thoughts are omitted unless a request asks for a summary.
#[test]
fn summaries_of_what_models_think() {
    for (model, display) in [
        ("claude-opus-4-6", Value::Null),
        ("claude-opus-4-7", json!("summarized")),
        ("claude-sonnet-5", json!("summarized")),
        ("claude-haiku-5-5", json!("summarized")),
        ("claude-fable-5", json!("summarized")),
    ] {
        let (mode, ..) = thinking(model, &json!({"reasoning_effort": "high"}));
        assert_eq!((&mode["type"], &mode["display"]), (&json!("adaptive"), &display), "{model}");
        assert_eq!(thinking(model, &json!({})).0, Value::Null, "{model}");
    }
}

#[test]
fn conversations_that_end_with_the_assistant() {
    let text = |role: &str, text: &str| json!({"role": role, "content": text});
    let (hi, part, system) = (text("user", "hi"), text("assistant", "part"), text("system", "S"));
    for (format, model, messages, goes_on) in [
        (Format::Anthropic, "claude-haiku-4-5", json!([hi, part]), false),
        (Format::Anthropic, "claude-opus-4-6", json!([hi, part]), true),
        (Format::Anthropic, "claude-opus-5", json!([hi, part]), true),
        (Format::Anthropic, "claude-opus-5", json!([hi, part, system]), true),
        (Format::Anthropic, "claude-opus-5", json!([hi, part, hi]), false),
        (Format::Anthropic, "claude-opus-5", json!([hi, part, text("user", "\n")]), true),
        (Format::Anthropic, "claude-saga-7", json!([hi, part]), true),
        (Format::Anthropic, "kimi-k3", json!([hi, part]), false),
        (Format::OpenAi, "gpt-5", json!([hi, part]), false),
        (Format::Responses, "gpt-5", json!([hi, part]), false),
        (Format::Gemini, "gemini-2.5-flash", json!([hi, part]), false),
        (Format::Gemini, "gemini-3-pro-preview", json!([hi, part]), false),
        (Format::Gemini, "gemini-3.5-flash-lite", json!([hi, part]), true),
        (Format::Gemini, "gemini-3.7-flash", json!([hi, part]), true),
        (Format::Gemini, "gemini-3.8-pro", json!([hi, part]), true),
        (Format::WorkersAi, "@cf/zai-org/glm-5.2", json!([hi, part]), true),
        (Format::OpenAiCompatible, "llama", json!([hi, part]), true),
    ] {
        let request = request(json!({"messages": messages}));
        let (last, warns) = last_message(format, &request, &options_for(format, model));
        assert_eq!(last.contains("Continue."), goes_on, "{model} {last}");
        assert_eq!(warns, goes_on, "{model}");
    }
}

/// The last message of a request, and whether there is a warning about the messages.
fn last_message(
    format: Format,
    request: &ChatRequest,
    options: &TranslateOptions<'_>,
) -> (String, bool) {
    let (body, _, warnings) = translated_with(format, request, options);
    let list = ["messages", "contents", "input"].iter().find_map(|name| body[name].as_array());
    let last = list.unwrap().last().unwrap().to_string();
    (last, warnings.iter().any(|warning| warning.starts_with("messages: ")))
}

/// Some providers with OpenAI's format continue a message of the assistant, others only if the request says so in their way.
#[test]
fn dialects_that_continue_messages() {
    let hi = json!({"role": "user", "content": "hi"});
    let part = json!({"role": "assistant", "content": "part"});
    let marked = |name: &str| {
        let mut part = part.clone();
        part[name] = true.into();
        json!({"messages": [hi, part]})
    };
    let plain = json!({"messages": [hi, part]});
    for (dialect, members, goes_on) in [
        ("default", plain.clone(), true),
        ("openai", plain.clone(), false),
        ("groq", plain.clone(), false),
        ("mistral", plain.clone(), true),
        ("mistral", marked("prefix"), false),
        ("deepseek", marked("prefix"), false),
        ("moonshot", marked("partial"), false),
        ("openrouter", plain, true),
    ] {
        let dialect = Dialect::named(dialect).unwrap();
        let format = Format::OpenAiCompatible;
        let options = TranslateOptions { dialect, ..options(format) };
        let (last, warns) = last_message(format, &request(members.clone()), &options);
        assert_eq!((last.contains("Continue."), warns), (goes_on, goes_on), "{members}");
    }
}

#[test]
fn models_that_cannot_be_forced() {
    let named = json!({"type": "function", "function": {"name": "a"}});
    let allowed =
        json!({"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [named]}});
    for choice in [json!("required"), named, allowed] {
        for (model, can) in [
            ("claude-haiku-4-5", true),
            ("claude-opus-5", true),
            ("claude-fable-5", true),
            ("claude-haiku-5-5", true),
            ("claude-opus-5-5", false),
            ("claude-sonnet-5-5", false),
            ("claude-mythos-5-1", false),
            ("claude-fable-5-2", false),
            ("claude-saga-7", false),
        ] {
            let members = json!({"tools": [tool("a")], "tool_choice": choice, "max_tokens": 9});
            let options = options_for(Format::Anthropic, model);
            let (body, _, warnings) =
                translated_with(Format::Anthropic, &request(members), &options);
            assert_eq!(body["tool_choice"]["type"] != "auto", can, "{model} {choice}");
            let warns = warnings.iter().any(|warning| warning.contains("cannot be forced"));
            assert_eq!(warns, !can, "{model} {warnings:?}");
        }
    }
}

/// The API in which OpenAI's own models are asked.
#[test]
fn formats_of_models() {
    use crate::gateway::facts::Effort::{High, None as Off};
    let own = [Format::OpenAi, Format::Responses];
    for (model, has_tools, effort, expected) in [
        ("gpt-4.1", true, Some(High), Format::OpenAi),
        ("gpt-5", true, Some(High), Format::OpenAi),
        ("gpt-5.2", true, Some(High), Format::OpenAi),
        ("gpt-5.4", true, None, Format::OpenAi),
        ("gpt-5.4", true, Some(Off), Format::OpenAi),
        ("gpt-5.4", false, Some(High), Format::OpenAi),
        ("gpt-5.4-mini", true, Some(High), Format::Responses),
        ("gpt-5.5", true, None, Format::Responses),
        ("gpt-5.5", true, Some(High), Format::Responses),
        ("gpt-5.6-sol", true, None, Format::Responses),
        ("gpt-5.6-terra", true, Some(Off), Format::OpenAi),
        ("gpt-5.6", false, Some(High), Format::OpenAi),
        ("gpt-6-sol", true, Some(Off), Format::OpenAi),
        // It does not know this effort.
        ("gpt-6-astra", true, Some(Off), Format::Responses),
        ("gpt-8", true, None, Format::Responses),
        ("gpt-5-pro", false, None, Format::Responses),
        ("o3-deep-research", false, None, Format::Responses),
        ("gpt-5.3-codex", false, None, Format::Responses),
    ] {
        let facts = facts(Format::OpenAi, model);
        let found = facts.format(&own, Format::OpenAi, has_tools, effort);
        assert_eq!(found, expected, "{model} {has_tools} {effort:?}");
        // What a client of Responses has written stays there, and a provider with one format has no choice.
        let found = facts.format(&own, Format::Responses, has_tools, effort);
        assert_eq!(found, Format::Responses, "{model}");
        let found = facts.format(&own[..1], Format::OpenAi, has_tools, effort);
        assert_eq!(found, Format::OpenAi, "{model}");
    }
}
