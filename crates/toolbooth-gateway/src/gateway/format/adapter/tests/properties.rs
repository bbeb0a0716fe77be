//! Properties: how a stream is cut does not matter, no member of a request is lost unnoticed, and nothing panics.

use proptest::prelude::*;

use crate::gateway::format::adapter::tests::recorded::{
    ANTHROPIC, ANTHROPIC_ERROR, GEMINI, OPENAI, OPENROUTER_ERROR, RESPONSES, RESPONSES_ERROR,
};
use crate::gateway::format::adapter::tests::streams::{
    chunks as chunks_of, decoded, decoded_with, joined,
};
use crate::gateway::format::adapter::tests::*;

const ALL: [Format; 5] = [
    Format::OpenAi,
    Format::OpenAiCompatible,
    Format::Responses,
    Format::Anthropic,
    Format::Gemini,
];

const RECORDED: [(Format, &str); 7] = [
    (Format::Responses, RESPONSES),
    (Format::Responses, RESPONSES_ERROR),
    (Format::OpenAi, OPENAI),
    (Format::Anthropic, ANTHROPIC),
    (Format::Gemini, GEMINI),
    (Format::OpenAiCompatible, OPENROUTER_ERROR),
    (Format::Anthropic, ANTHROPIC_ERROR),
];

#[test]
fn a_stream_that_is_cut_between_all_bytes() {
    for (provider, text) in RECORDED {
        let (whole, error, _) = decoded(provider, &[text.as_bytes()]);
        let bytes: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
        let (cut, cut_error, _) = decoded(provider, &bytes);
        assert_eq!((cut, cut_error), (whole, error));
    }
}

/// The members of a request that a test may add, each with a marker in it.
fn members() -> Vec<(&'static str, &'static str, Value)> {
    vec![
        ("", "max_tokens", json!(90001)),
        ("", "temperature", json!(0.90002)),
        ("", "top_p", json!(0.90003)),
        ("", "seed", json!(90004)),
        ("", "stop", json!(["mark05"])),
        ("", "user", json!("mark06")),
        ("", "metadata", json!({"k": "mark07"})),
        ("", "logit_bias", json!({"mark08": 1})),
        ("", "prediction", json!({"content": "mark09"})),
        ("", "reasoning", json!({"a": ["mark10"]})),
        ("", "presence_penalty", json!(0.90011)),
        ("", "prompt_cache_key", json!("mark12")),
        ("", "web_search_options", json!({"x": "mark13"})),
        ("messages[0]", "name", json!("mark14")),
        ("messages[0]", "unknown", json!("mark15")),
        ("messages[0].content[0]", "unknown", json!("mark16")),
        ("messages[0].content[1].image_url", "detail", json!("mark17")),
        ("messages[1]", "audio", json!({"id": "mark18"})),
        ("messages[1].tool_calls[0]", "unknown", json!("mark19")),
        ("messages[1].tool_calls[0].function", "unknown", json!("mark20")),
        ("messages[2]", "unknown", json!("mark21")),
        ("tools[0]", "unknown", json!("mark22")),
        ("tools[0].function", "unknown", json!("mark23")),
        ("tools[0].function", "description", json!("mark24")),
        ("tools[0].function.parameters", "x-unknown", json!("mark25")),
        ("tools[0].function.parameters", "$comment", json!("mark26")),
        ("tools[0].function.parameters", "description", json!("mark27")),
        ("response_format", "unknown", json!("mark28")),
        ("response_format.json_schema", "name", json!("mark29")),
        ("response_format.json_schema.schema", "title", json!("mark30")),
    ]
}

/// The value at a path such as `messages[0].content`.
fn at<'v>(value: &'v mut Value, path: &str) -> &'v mut Value {
    let pointer = path.replace('[', "/").replace(']', "").replace('.', "/");
    let pointer = if pointer.is_empty() { String::new() } else { format!("/{pointer}") };
    value.pointer_mut(&pointer).unwrap()
}

proptest! {
    #[test]
    fn any_split_of_any_recorded_stream_gives_the_same_events(
        recorded in 0..RECORDED.len(),
        cuts in prop::collection::vec(0.0..1.0, 0..12),
        end in 0.0..1.2,
    ) {
        let (provider, text) = RECORDED[recorded];
        let end = ((end * text.len() as f64) as usize).min(text.len());
        let bytes = &text.as_bytes()[..end];
        let mut cuts: Vec<usize> =
            cuts.into_iter().map(|cut: f64| (cut * bytes.len() as f64) as usize).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let pieces: Vec<&[u8]> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
        let (cut, cut_error, _) = decoded(provider, &pieces);
        let (whole, error, _) = decoded(provider, &[bytes]);
        prop_assert_eq!((cut, cut_error), (whole, error));
    }

    #[test]
    fn a_call_that_is_split_in_any_way_is_the_same(
        name_cuts in prop::collection::vec(0.0..1.0, 0..3),
        argument_cuts in prop::collection::vec(0.0..1.0, 0..8),
        placeholder in 0..4_usize,
        [id_first, arguments_first, has_index, repeats_id] in any::<[bool; 4]>(),
    ) {
        const ARGUMENTS: &str = r#"{"city":"Rome","days":[{},{"a":"}{"}]}"#;
        let cut = |text: &'static str, cuts: &[f64]| {
            let mut cuts: Vec<_> = cuts.iter().map(|cut| (cut * text.len() as f64) as usize).collect();
            cuts.extend([0, text.len()]);
            cuts.sort_unstable();
            cuts.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect::<Vec<_>>()
        };
        let name = cut("get_weather", &name_cuts).into_iter().map(|it| json!({"function": {"name": it}}));
        let id = [json!({"id": "c", "type": "function"})].into_iter();
        // With arguments, a call begins at its name: an id that follows is too late.
        let head: Vec<_> = if id_first || arguments_first { id.chain(name).collect() } else { name.chain(id).collect() };
        let placeholder = ["", "{}", "null", "\"\""][placeholder];
        let arguments = [placeholder].into_iter().chain(cut(ARGUMENTS, &argument_cuts));
        let arguments = arguments.map(|it| json!({"function": {"arguments": it}}));
        let parts: Vec<_> = match arguments_first {
            true => arguments.chain(head).collect(),
            false => head.into_iter().chain(arguments).collect(),
        };
        let chunks = parts.into_iter().map(|mut part| {
            if has_index {
                part["index"] = json!(0);
            }
            if repeats_id {
                part["id"] = json!("c");
            }
            format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": {"tool_calls": [part]}}]}))
        });
        let end = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]});
        let text: String = chunks.chain([format!("data: {end}\n\ndata: [DONE]\n\n")]).collect();
        let provider = Format::OpenAiCompatible;
        let names = provider.names(&request(json!({"tools": [tool("get_weather")]})));
        let (events, error, decoder) = decoded_with(provider, names, &[text.as_bytes()]);
        prop_assert_eq!(error, None, "{}", text);
        let expected = json!([{"id": "c", "name": "get_weather", "arguments": ARGUMENTS}]);
        prop_assert_eq!(&joined(&chunks_of(&events, false))["calls"], &expected, "{}", text);
        let calls = decoder.into_completion().message.tool_calls;
        let calls = calls.iter().map(|it| json!({"id": it.id, "name": it.name, "arguments": it.arguments.text()}));
        prop_assert_eq!(Value::Array(calls.collect()), expected, "{}", text);
    }

    #[test]
    fn every_member_is_translated_or_named(chosen in prop::collection::vec(any::<bool>(), 30)) {
        let mut body = json!({
            "model": "m",
            "messages": [
                {"role": "user", "content": [
                    {"type": "text", "text": "Hi"},
                    {"type": "image_url", "image_url": {"url": "https://example.com/x.png"}},
                ]},
                {"role": "assistant", "content": "T", "tool_calls": [call("c1", "f", "{}")]},
                {"role": "tool", "tool_call_id": "c1", "content": "R"},
            ],
            "tools": [{"type": "function", "function": {"name": "f",
                "parameters": {"type": "object", "properties": {}}}}],
            "response_format": {"type": "json_schema", "json_schema": {"schema":
                {"type": "object", "properties": {}, "additionalProperties": false}}},
        });
        let members: Vec<_> = members().into_iter().zip(chosen).filter(|(_, chosen)| *chosen).collect();
        for ((path, name, value), _) in &members {
            at(&mut body, path)[*name] = value.clone();
        }
        for provider in ALL {
            let notes = Notes::default();
            let request = decode(&body.to_string(), &notes).unwrap();
            let sent = provider.translate(&request, &options(provider), &notes).unwrap();
            let (sent, notes) = (String::from_utf8(sent).unwrap(), json!(notes));
            let dropped = notes["dropped"].as_array().cloned().unwrap_or_default();
            for ((path, name, value), _) in &members {
                let path = if path.is_empty() { (*name).to_owned() } else { format!("{path}.{name}") };
                let path = path.replace("[0]", "[]").replace("[1]", "[]").replace("[2]", "[]");
                let value = value.to_string();
                let at = value.find("mark").unwrap_or(0);
                let marker = if at > 0 { &value[at..at + 6] } else { value.as_str() };
                prop_assert!(
                    sent.contains(marker) || dropped.contains(&json!(path)),
                    "{provider:?}: {path} is lost: {sent} {dropped:?}"
                );
            }
        }
    }

    #[test]
    fn nothing_panics(text in ".{0,200}", pick in 0..6_usize, position in 0.0..1.0) {
        // Broken requests, answers and streams: a byte of a good one is replaced.
        let (provider, stream) = RECORDED[pick % RECORDED.len()];
        let mut bytes = stream.as_bytes().to_vec();
        let at = (position * bytes.len() as f64) as usize;
        if let Some(byte) = bytes.get_mut(at) {
            *byte = text.bytes().next().unwrap_or(b'}');
        }
        let _ = decoded(provider, &[&bytes]);
        let _ = provider.decode(text.as_bytes(), ids(), DecodeOptions::default());
        let _ = decode_error(500, text.as_bytes());
        let _ = decode(&text, &Notes::default());
        let body = format!(r#"{{"model":"m","messages":[{{"role":"user","content":{text}}}]}}"#);
        if let Ok(request) = decode(&body, &Notes::default()) {
            for provider in ALL {
                let _ = provider.translate(&request, &options(provider), &Notes::default());
            }
        }
    }
}
