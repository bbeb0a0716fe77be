//! Requests to OpenAI and to providers with its format.

use crate::gateway::format::adapter::tests::*;

fn sent(provider: Format, body: &str) -> String {
    let request = decode(body, &Notes::default()).unwrap();
    String::from_utf8(provider.translate(&request, &options(provider), &Notes::default()).unwrap())
        .unwrap()
}

/// What the gateway need not change is forwarded as text, with its members in the client's order.
#[test]
fn members_are_forwarded_unchanged() {
    let messages = r#"[{"role":"user","content":[{"type":"x","z":1,"a":1.50}],"name":"n"},{"role":"assistant","content":"a"},{"role":"user","content":"b"}]"#;
    let tools = r#"[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"string"}}}}},{"type":"custom","custom":{"name":"c"}}]"#;
    let format = r#"{"type":"json_schema","json_schema":{"name":"n","schema":{"z":1,"a":2}}}"#;
    let body = format!(
        r#"{{"model":"openai/gpt-5","messages":{messages},"tools":{tools},"seed":7,"metadata":{{"z":1,"a":null}},"response_format":{format},"stop":null,"request_options":{{}},"_2api":{{}}}}"#
    );
    for (provider, model) in [(Format::OpenAi, "gpt-5"), (Format::OpenAiCompatible, "llama")] {
        let expected = format!(
            r#"{{"model":"{model}","messages":{messages},"tools":{tools},"seed":7,"metadata":{{"z":1,"a":null}},"response_format":{format}}}"#
        );
        assert_eq!(sent(provider, &body), expected);
    }
}

/// OpenAI's models that think know only the newer name of the limit.
#[test]
fn limits_of_tokens() {
    let old = json!({"max_tokens": 9});
    let both = json!({"max_tokens": 9, "max_completion_tokens": 8});
    for (format, model, members, expected, dropped) in [
        (Format::OpenAi, "gpt-5", &old, json!([null, 9]), 0),
        (Format::OpenAi, "o3", &old, json!([null, 9]), 0),
        (Format::OpenAi, "gpt-5", &both, json!([null, 8]), 1),
        (Format::OpenAi, "gpt-4.1", &old, json!([9, null]), 0),
        (Format::OpenAiCompatible, "gpt-5", &old, json!([9, null]), 0),
    ] {
        let request = request(members.clone());
        let (body, lost, _) = translated_with(format, &request, &options_for(format, model));
        let found = json!([body["max_tokens"], body["max_completion_tokens"]]);
        assert_eq!((found, lost.len()), (expected, dropped), "{model} {members}");
    }
}

#[test]
fn streams_always_ask_for_usage() {
    for members in [
        json!({"stream": true}),
        json!({"stream": true, "stream_options": {"include_usage": false}}),
        json!({"stream": true, "stream_options": {"include_obfuscation": false}}),
    ] {
        let request = request(members.clone());
        let options = TranslateOptions { stream: true, ..options(Format::OpenAi) };
        let (body, _, _) = translated_with(Format::OpenAi, &request, &options);
        let mut expected = json!({"include_usage": true});
        if let Some(other) = members.pointer("/stream_options/include_obfuscation") {
            expected["include_obfuscation"] = other.clone();
        }
        assert_eq!((&body["stream"], &body["stream_options"]), (&json!(true), &expected));
        assert!(!request.include_usage);
    }
    let (body, dropped, _) =
        translated(Format::OpenAi, json!({"stream_options": {"include_usage": true}}));
    assert_eq!((body.get("stream_options"), dropped.len()), (None, 1));
}

/// What other providers and the gateway add to an assistant message.
#[test]
fn assistant_messages_without_what_openai_does_not_know() {
    let mut own = call("c1", "a", "{}");
    own["index"] = json!(0);
    own["extra_content"] = json!({"google": {"thought_signature": "S"}});
    let members = json!({"messages": [
        {"role": "user", "content": "U"},
        {"role": "assistant", "content": null, "tool_calls": [own], "reasoning_content": "R",
         "extra_content": {"toolbooth": {"state": "s"}}, "_2api": {}, "audio": null},
        {"role": "tool", "tool_call_id": "c1", "content": "x"},
        {"role": "assistant", "content": "T", "tool_calls": []},
    ]});
    let (body, dropped, _) = translated(Format::OpenAi, members.clone());
    let expected = json!({"role": "assistant", "content": null, "tool_calls": [call("c1", "a", "{}")], "audio": null});
    assert_eq!(body["messages"][1], expected);
    assert_eq!(body["messages"][3], json!({"role": "assistant", "content": "T"}));
    assert_eq!(dropped, ["messages[].reasoning_content", "messages[].tool_calls[].extra_content"]);
    let google = TranslateOptions {
        dialect: Dialect::named("google").unwrap(),
        ..options(Format::OpenAiCompatible)
    };
    let (body, dropped, _) =
        translated_with(Format::OpenAiCompatible, &request(members.clone()), &google);
    let message = &body["messages"][1];
    assert_eq!(message.get("reasoning_content"), None);
    assert_eq!(message["tool_calls"][0]["extra_content"]["google"]["thought_signature"], "S");
    assert_eq!((message.get("extra_content"), message["tool_calls"][0].get("index")), (None, None));
    assert_eq!(dropped, ["messages[].reasoning_content"]);
    let (body, dropped, _) = translated(Format::OpenAiCompatible, members);
    let message = &body["messages"][1];
    assert_eq!(message["reasoning_content"], "R");
    assert_eq!(message["tool_calls"][0].get("extra_content"), None);
    assert_eq!(dropped, ["messages[].tool_calls[].extra_content.google"]);
}

/// What Anthropic and OpenAI have thought is for them only. What Google's compatible interface needs passes.
#[test]
fn thoughts_of_one_provider_reach_no_other() {
    let blocks =
        json!({"thinking_blocks": [{"type": "thinking", "thinking": "R", "signature": "S"}]});
    let google = json!({"thought_signature": "G"});
    let openai = json!({"reasoning": [{"type": "reasoning", "encrypted_content": "E"}]});
    let names = |names: &[&str]| -> Vec<_> {
        names.iter().map(|name| format!("messages[].{name}")).collect()
    };
    for (extra, left, reasoning, expected) in [
        (
            json!({"anthropic": blocks}),
            Value::Null,
            Value::Null,
            names(&["extra_content.anthropic", "reasoning_content"]),
        ),
        (
            json!({"anthropic": blocks, "google": google, "toolbooth": {"state": "s"}}),
            json!({"google": google}),
            Value::Null,
            names(&["extra_content.anthropic", "reasoning_content"]),
        ),
        (json!({"openai": openai}), Value::Null, json!("R"), names(&["extra_content.openai"])),
        (json!({"google": google}), json!({"google": google}), json!("R"), names(&[])),
    ] {
        let members = json!({"messages": [
            {"role": "user", "content": "U"},
            {"role": "assistant", "content": "T", "reasoning_content": "R", "extra_content": extra},
            {"role": "user", "content": "V"},
        ]});
        let dialect =
            Box::leak(Box::new(Dialect::of(&[Feature::ExtraContent], &["reasoning_content"])));
        let options = TranslateOptions { dialect, ..options(Format::OpenAiCompatible) };
        let (body, dropped, _) =
            translated_with(Format::OpenAiCompatible, &request(members), &options);
        let message = &body["messages"][1];
        assert_eq!(
            (&message["extra_content"], &message["reasoning_content"]),
            (&left, &reasoning),
            "{extra}"
        );
        assert_eq!((dropped, &message["content"]), (expected, &json!("T")), "{extra}");
    }
}

/// The compiled-in tools follow the client's.
#[test]
fn server_tools() {
    let request = request(json!({"tools": [tool("a"), {"type": "toolbooth", "allowed": ["*"]}]}));
    assert_eq!(request.selections.len(), 1);
    for (provider, definition, path) in [
        (
            Format::OpenAi,
            r#"{"type":"function","function":{"name":"b"}}"#,
            "/tools/1/function/name",
        ),
        (Format::Anthropic, r#"{"name":"b","input_schema":{}}"#, "/tools/1/name"),
        (Format::Gemini, r#"{"name":"b"}"#, "/tools/0/functionDeclarations/1/name"),
    ] {
        let options = TranslateOptions { server_tools: &[definition.into()], ..options(provider) };
        let (body, _, _) = translated_with(provider, &request, &options);
        assert_eq!(body.pointer(path), Some(&json!("b")), "{provider:?}");
    }
}

#[test]
fn addresses_and_headers() {
    for (provider, stream, path) in [
        (Format::OpenAi, true, "/chat/completions"),
        (Format::OpenAiCompatible, false, "/chat/completions"),
        (Format::Anthropic, true, "/v1/messages"),
        (Format::Gemini, false, "/v1beta/models/gemini-2.5-pro:generateContent"),
        (Format::Gemini, true, "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse"),
    ] {
        assert_eq!(provider.path("gemini-2.5-pro", stream), path);
        assert!(provider.headers(Some("KEY")).iter().any(|(_, value)| value.contains("KEY")));
    }
    assert!(Format::OpenAiCompatible.headers(None).is_empty());
    let path = Format::Gemini.path("models/../x?y#é", false);
    assert_eq!(path, "/v1beta/models/..%2Fx%3Fy%23%C3%A9:generateContent");
}
