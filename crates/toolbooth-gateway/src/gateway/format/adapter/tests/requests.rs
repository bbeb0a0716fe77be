//! Requests to Anthropic and Gemini.

use crate::gateway::format::adapter::tests::*;

const PNG: &str = "data:image/png;base64,iVBORw0KGgo=";

/// Case 15: members of the request, one by one: the member for Anthropic and for Gemini, `null` if it is dropped.
#[test]
fn case_15_members_of_the_request() {
    for (members, anthropic, gemini) in [
        (json!({}), json!({"max_tokens": 64_000}), json!({})),
        (json!({"max_tokens": 5}), json!({"max_tokens": 5}), json!({"maxOutputTokens": 5})),
        (
            json!({"max_completion_tokens": 6}),
            json!({"max_tokens": 6}),
            json!({"maxOutputTokens": 6}),
        ),
        (json!({"temperature": 0.5}), json!({"temperature": 0.5}), json!({"temperature": 0.5})),
        (json!({"temperature": 2}), json!({"temperature": 1}), json!({"temperature": 2})),
        (json!({"top_p": 0.5}), json!({"top_p": 0.5}), json!({"topP": 0.5})),
        (
            json!({"stop": "END"}),
            json!({"stop_sequences": ["END"]}),
            json!({"stopSequences": ["END"]}),
        ),
        (
            json!({"stop": ["a", " ", "b"]}),
            json!({"stop_sequences": ["a", "b"]}),
            json!({"stopSequences": ["a", " ", "b"]}),
        ),
        (json!({"seed": 7}), Value::Null, json!({"seed": 7})),
        (json!({"presence_penalty": 1.5}), Value::Null, json!({"presencePenalty": 1.5})),
        (json!({"frequency_penalty": -1}), Value::Null, json!({"frequencyPenalty": -1})),
        (json!({"user": "u"}), json!({"metadata": {"user_id": "u"}}), Value::Null),
        (json!({"logprobs": true}), Value::Null, Value::Null),
        (json!({"logit_bias": {"1": 2}}), Value::Null, Value::Null),
        (json!({"store": true}), Value::Null, Value::Null),
        (json!({"service_tier": "auto"}), Value::Null, Value::Null),
        (json!({"response_format": {"type": "text"}}), json!({}), json!({})),
        (
            json!({"n": 1, "stream": false, "stop": null, "stream_options": {"include_usage": true}}),
            json!({}),
            json!({}),
        ),
        (json!({"top_k": 3}), json!({"top_k": 3}), json!({"topK": 3})),
    ] {
        let names: Vec<String> = members.as_object().unwrap().keys().cloned().collect();
        for (provider, expected) in [(Format::Anthropic, anthropic), (Format::Gemini, gemini)] {
            let (body, dropped, _) = translated(provider, members.clone());
            let config = match provider {
                Format::Gemini => body.get("generationConfig").unwrap_or(&Value::Null),
                _ => &body,
            };
            match expected.as_object() {
                None => assert_eq!(dropped, names, "{provider:?} {members}"),
                Some(expected) => {
                    assert_eq!(dropped, Vec::<String>::new(), "{provider:?} {members}");
                    for (name, value) in expected {
                        assert_eq!(&config[name], value, "{provider:?} {members}");
                    }
                }
            }
        }
    }
    let (body, dropped, _) = translated(Format::Anthropic, json!({"temperature": 1, "top_p": 0.5}));
    assert_eq!((&body["temperature"], body.get("top_p")), (&json!(1), None));
    assert_eq!(dropped, ["top_p"]);
    let (body, dropped, _) =
        translated(Format::Gemini, json!({"max_tokens": 5, "max_completion_tokens": 6}));
    assert_eq!(body["generationConfig"]["maxOutputTokens"], 6);
    assert_eq!(dropped, ["max_tokens"]);
    for provider in [Format::Anthropic, Format::Gemini] {
        let (_, param) = rejected(provider, json!({"max_tokens": 0}));
        assert_eq!(param, "max_tokens");
    }
}

/// Anthropic needs a limit of tokens: that of the model, unless the request, `MODELS` or the caller's limit says otherwise.
#[test]
fn tokens_of_an_answer_of_anthropic() {
    for (model, of_model, most, expected) in [
        ("claude-3-haiku-20240307", None, None, 4096),
        ("claude-3-5-sonnet-latest", None, None, 8192),
        ("claude-3-7-sonnet-20250219", None, None, 64_000),
        ("claude-opus-4-1", None, None, 32_000),
        ("claude-opus-4-20250514", None, None, 32_000),
        ("claude-sonnet-4-5", None, None, 64_000),
        ("claude-opus-5-5", None, None, 128_000),
        ("claude-fable", None, None, 128_000),
        ("claude-saga-7", None, None, 32_000),
        ("kimi", None, None, 8192),
        ("claude-opus-4-1", Some(9000), Some(9000), 9000),
        ("claude-opus-4-1", Some(90_000), Some(90_000), 90_000),
        ("claude-opus-4-1", None, Some(5000), 5000),
        ("claude-3-haiku-20240307", None, Some(50_000), 4096),
    ] {
        let options = TranslateOptions {
            model_output_tokens: of_model,
            max_output_tokens: most,
            ..options_for(Format::Anthropic, model)
        };
        let (body, _, warnings) = translated_with(Format::Anthropic, &request(json!({})), &options);
        assert_eq!(body["max_tokens"], expected, "{model} {of_model:?} {most:?}");
        assert!(warnings[0].contains(&expected.to_string()), "{warnings:?}");
        let (body, _, warnings) =
            translated_with(Format::Anthropic, &request(json!({"max_tokens": 7})), &options);
        assert_eq!((&body["max_tokens"], warnings.len()), (&json!(7), 0));
    }
}

/// Anthropic writes JSON without a schema as the input of a call that it is forced to make.
#[test]
fn json_without_a_schema_of_anthropic() {
    let json_object = json!({"response_format": {"type": "json_object"}});
    let (body, dropped, warnings) = translated(Format::Anthropic, json_object.clone());
    assert_eq!((dropped.len(), warnings.len()), (0, 0));
    assert_eq!(body["tool_choice"], json!({"type": "tool", "name": "json_object"}));
    assert_eq!(body["tools"].as_array().unwrap().len(), 1);
    let call = |input: &str| {
        format!(r#"{{"type":"tool_use","id":"i","name":"json_object","input":{input}}}"#)
    };
    let whole =
        format!(r#"{{"content":[{}],"stop_reason":"tool_use"}}"#, call(r#"{"b": 1e3, "a": 2}"#));
    let stream = [
        format!(r#"{{"type":"content_block_start","index":0,"content_block":{}}}"#, call("{}")),
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"b\":1e3"}}"#.to_owned(),
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":",\"a\":2}"}}"#.to_owned(),
        r#"{"type":"content_block_stop","index":0}"#.to_owned(),
        r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"}}"#.to_owned(),
        r#"{"type":"message_stop"}"#.to_owned(),
    ];
    let stream = stream.map(|data| format!("data: {data}\n\n")).concat();
    let names = || Format::Anthropic.names(&request(json_object.clone()));
    let whole = Format::Anthropic.decode(whole.as_bytes(), ids(), with(names())).unwrap();
    let (_, error, decoder) = crate::gateway::format::adapter::tests::streams::decoded_with(
        Format::Anthropic,
        names(),
        &[stream.as_bytes()],
    );
    assert_eq!(error, None);
    for completion in [whole, decoder.into_completion()] {
        assert_eq!(completion.message.content.as_deref(), Some(r#"{"b":1e3,"a":2}"#));
        assert!(completion.message.tool_calls.is_empty());
        assert_eq!(completion.finish_reason.as_str(), "stop");
    }
    // A tool of the client may have this name.
    let own = Format::Anthropic.names(&request(json!({"tools": [tool("json_object")]})));
    assert!(!own.is_answer("json_object"));
    for more in [
        json!({"tools": [tool("a")]}),
        json!({"thinking": {"type": "enabled", "budget_tokens": 1024}}),
    ] {
        let mut members = json_object.clone();
        members.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        assert_eq!(rejected(Format::Anthropic, members).1, "response_format.type");
    }
    let request = request(json_object);
    let options = options_for(Format::Anthropic, "claude-opus-5-5");
    assert!(Format::Anthropic.translate(&request, &options, &Notes::default()).is_err());
}

/// 3.1, 6: every form of `tool_choice`.
#[test]
fn case_15_tool_choice() {
    let tools = json!([tool("a"), tool("b")]);
    let function = json!({"type": "function", "function": {"name": "a"}});
    let allowed = |mode: &str| json!({"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": [function]}});
    for (choice, anthropic, gemini) in [
        (Value::Null, Value::Null, Value::Null),
        (json!("auto"), json!({"type": "auto"}), json!({"mode": "AUTO"})),
        (json!("none"), json!({"type": "none"}), json!({"mode": "NONE"})),
        (json!("required"), json!({"type": "any"}), json!({"mode": "ANY"})),
        (
            function.clone(),
            json!({"type": "tool", "name": "a"}),
            json!({"mode": "ANY", "allowedFunctionNames": ["a"]}),
        ),
        (
            json!({"function": {"name": "a"}}),
            json!({"type": "tool", "name": "a"}),
            json!({"mode": "ANY", "allowedFunctionNames": ["a"]}),
        ),
        (
            allowed("auto"),
            json!({"type": "auto"}),
            json!({"mode": "VALIDATED", "allowedFunctionNames": ["a"]}),
        ),
        (
            allowed("required"),
            json!({"type": "any"}),
            json!({"mode": "ANY", "allowedFunctionNames": ["a"]}),
        ),
    ] {
        let members = json!({"tools": tools, "tool_choice": choice});
        let (body, _, _) = translated(Format::Anthropic, members.clone());
        assert_eq!(body.get("tool_choice").unwrap_or(&Value::Null), &anthropic, "{choice}");
        let sent = body["tools"].as_array().unwrap().len();
        assert_eq!(sent, if choice["type"] == "allowed_tools" { 1 } else { 2 }, "{choice}");
        let (body, _, _) = translated(Format::Gemini, members.clone());
        let config = body.pointer("/toolConfig/functionCallingConfig");
        assert_eq!(config.unwrap_or(&Value::Null), &gemini, "{choice}");
        for provider in [Format::OpenAi, Format::OpenAiCompatible] {
            let (body, _, _) = translated(provider, members.clone());
            let expected = if choice.get("type").is_none() && choice.is_object() {
                &function
            } else {
                &choice
            };
            assert_eq!(body.get("tool_choice").unwrap_or(&Value::Null), expected, "{choice}");
        }
    }
}

/// After the first round of the tool loop, no call is forced.
#[test]
fn a_forcing_choice_becomes_auto_after_the_first_round() {
    for choice in [json!("required"), json!({"type": "function", "function": {"name": "a"}})] {
        let request = request(json!({"tools": [tool("a")], "tool_choice": choice}));
        for provider in [Format::OpenAi, Format::Responses, Format::Anthropic, Format::Gemini] {
            let options = TranslateOptions { may_force: false, ..options(provider) };
            let (body, _, _) = translated_with(provider, &request, &options);
            let found = match provider {
                Format::Anthropic => &body["tool_choice"]["type"],
                Format::Gemini => &body["toolConfig"]["functionCallingConfig"]["mode"],
                _ => &body["tool_choice"],
            };
            assert_eq!(found.as_str().unwrap().to_lowercase(), "auto");
        }
    }
}

/// 6: the newest models of Anthropic reject forced calls.
#[test]
fn models_that_cannot_be_forced() {
    let members = json!({"tools": [tool("a")], "tool_choice": "required", "max_tokens": 5});
    let request = request(members);
    let options = options_for(Format::Anthropic, "claude-opus-5-5");
    let (body, _, warnings) = translated_with(Format::Anthropic, &request, &options);
    assert_eq!(body["tool_choice"], json!({"type": "auto"}));
    assert_eq!(warnings.len(), 1);
}

/// Case 15: the switch against several calls.
#[test]
fn case_15_parallel_tool_calls() {
    let members = |tools: Value| json!({"tools": tools, "parallel_tool_calls": false});
    let (body, dropped, _) = translated(Format::Anthropic, members(json!([tool("a")])));
    assert_eq!(body["tool_choice"], json!({"type": "auto", "disable_parallel_tool_use": true}));
    assert!(dropped.is_empty());
    let (body, dropped, _) = translated(Format::OpenAi, members(json!([tool("a")])));
    assert_eq!((&body["parallel_tool_calls"], dropped.len()), (&json!(false), 0));
    let (_, dropped, _) = translated(Format::Gemini, members(json!([tool("a")])));
    assert_eq!(dropped, ["parallel_tool_calls"]);
    // 5.1: empty tools are no tools.
    for provider in [Format::OpenAi, Format::Anthropic, Format::Gemini] {
        let (body, dropped, _) = translated(provider, members(json!([])));
        assert_eq!(body.get("tools"), None);
        assert_eq!(dropped, ["parallel_tool_calls"], "{provider:?}");
    }
}

/// Case 15: system and developer messages, also in the middle.
#[test]
fn case_15_system_messages() {
    let messages = json!([
        {"role": "system", "content": "S1"},
        {"role": "developer", "content": [{"type": "text", "text": "S2"}]},
        {"role": "user", "content": "U1", "name": "bob"},
        {"role": "system", "content": "S3"},
        {"role": "user", "content": "U2"},
    ]);
    let (body, dropped, warnings) = translated(Format::Anthropic, json!({"messages": messages}));
    let text = |text: &str| json!({"type": "text", "text": text});
    assert_eq!(body["system"], json!([text("S1"), text("S2"), text("S3")]));
    let expected = json!([{"role": "user", "content": [text("U1"), text("U2")]}]);
    assert_eq!(body["messages"], expected);
    assert_eq!(dropped, ["messages[].name"]);
    assert_eq!(
        warnings,
        ["messages[3]: a system message within the conversation applies to all of it"]
    );
    let alone = json!({"messages": [{"role": "system", "content": "S"}]});
    let (only, _, _) = translated(Format::Anthropic, alone);
    let expected = json!([{"role": "user", "content": [text("S")]}]);
    assert_eq!((only.get("system"), &only["messages"]), (None, &expected));
    let (body, _, _) = translated(Format::Gemini, json!({"messages": messages}));
    let parts = json!([{"text": "S1"}, {"text": "S2"}, {"text": "S3"}]);
    assert_eq!(body["systemInstruction"], json!({"parts": parts}));
    let expected = json!([{"role": "user", "parts": [{"text": "U1"}, {"text": "U2"}]}]);
    assert_eq!(body["contents"], expected);
}

/// Images, audio and files.
#[test]
fn case_09_parts_of_user_messages() {
    let image =
        |url: &str| json!({"type": "image_url", "image_url": {"url": url, "detail": "low"}});
    let audio = json!({"type": "input_audio", "input_audio": {"data": "AAAA", "format": "mp3"}});
    let pdf = json!({"type": "file", "file": {"file_data": "data:application/pdf;base64,AAAA"}});
    let user = |part: &Value| json!({"messages": [{"role": "user", "content": [part]}]});
    for (part, anthropic, gemini) in [
        (
            image(PNG),
            json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}),
            json!({"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo="}}),
        ),
        (
            image("https://example.com/a.JPG?x=1"),
            json!({"type": "image", "source": {"type": "url", "url": "https://example.com/a.JPG?x=1"}}),
            json!({"fileData": {"mimeType": "image/jpeg", "fileUri": "https://example.com/a.JPG?x=1"}}),
        ),
        (
            audio,
            json!({"type": "text", "text": "A sound is not shown."}),
            json!({"inlineData": {"mimeType": "audio/mpeg", "data": "AAAA"}}),
        ),
        (
            pdf,
            json!({"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "AAAA"}}),
            json!({"inlineData": {"mimeType": "application/pdf", "data": "AAAA"}}),
        ),
        (
            json!({"type": "text", "text": "T", "cache_control": {"type": "ephemeral"}}),
            json!({"type": "text", "text": "T", "cache_control": {"type": "ephemeral"}}),
            json!({"text": "T"}),
        ),
    ] {
        let (body, _, _) = translated(Format::Anthropic, user(&part));
        assert_eq!(body["messages"][0]["content"][0], anthropic);
        let (body, dropped, _) = translated(Format::Gemini, user(&part));
        assert_eq!(body["contents"][0]["parts"][0], gemini);
        let expected: &[&str] = match part["type"].as_str().unwrap() {
            "image_url" => &["messages[].content[].image_url.detail"],
            "text" => &["messages[].content[].cache_control"],
            _ => &[],
        };
        assert_eq!(dropped, expected);
    }
    for bad in [
        image("ftp://example.com/a.png"),
        image("data:image/png;base64"),
        json!({"type": "file", "file": {"file_id": "file-1"}}),
        json!("text"),
    ] {
        for provider in [Format::Anthropic, Format::Gemini] {
            let (message, param) = rejected(provider, user(&bad));
            assert!(param.starts_with("messages[0].content[0]"), "{message}");
        }
    }
    // A part that the provider does not know is named; the rest reaches it.
    let parts = json!([{"type": "video", "video": {}}, {"type": "text", "text": "T"}]);
    for (provider, text) in [
        (Format::Anthropic, "/messages/0/content/0/text"),
        (Format::Gemini, "/contents/0/parts/0/text"),
        (Format::Responses, "/input/0/content/0/text"),
    ] {
        let members = json!({"messages": [{"role": "user", "content": parts}]});
        let (body, dropped, _) = translated(provider, members);
        assert_eq!(body.pointer(text), Some(&json!("T")), "{provider:?}: {body}");
        assert_eq!(dropped, ["messages[].content[] (video)"]);
    }
}

/// Case 15: a schema for the answer.
#[test]
fn case_15_response_format() {
    let text = r#"{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"string"}},"required":["z","a"],"additionalProperties":false}"#;
    let body = format!(
        r#"{{"model":"m","messages":[{{"role":"user","content":"x"}}],"response_format":{{"type":"json_schema","json_schema":{{"name":"n","strict":true,"schema":{text}}}}}}}"#
    );
    let request = decode(&body, &Notes::default()).unwrap();
    for (provider, path) in [
        (Format::Anthropic, "/output_config/format/schema"),
        (Format::Gemini, "/generationConfig/responseJsonSchema"),
    ] {
        let (sent, dropped, _) = translated_with(provider, &request, &options(provider));
        assert_eq!(sent.pointer(path).unwrap(), &serde_json::from_str::<Value>(text).unwrap());
        // The properties keep their order, in which the model writes them.
        let body = provider.translate(&request, &options(provider), &Notes::default()).unwrap();
        assert!(String::from_utf8(body).unwrap().contains(text), "{provider:?}");
        assert_eq!(dropped, ["response_format.json_schema.name"]);
    }
    let json_object = json!({"response_format": {"type": "json_object"}});
    let (body, _, _) = translated(Format::Gemini, json_object);
    assert_eq!(body["generationConfig"], json!({"responseMimeType": "application/json"}));
    // Anthropic holds each answer to the schema, which must be closed.
    let open = json!({"type": "object", "additionalProperties": {"type": "string"}});
    let open = json!({"response_format": {"type": "json_schema", "json_schema": {"schema": open}}});
    let list = json!({"type": "array", "items": {"type": "string"}});
    let list = json!({"response_format": {"type": "json_schema", "json_schema": {"schema": list}}});
    for (provider, is_error) in [(Format::Anthropic, true), (Format::Gemini, false)] {
        for format in [&open, &list] {
            let request = crate::gateway::format::adapter::tests::request(format.clone());
            let body = provider.translate(&request, &options(provider), &Notes::default());
            let kind = body.err().map(|error| error.kind);
            let expected = is_error.then_some(ErrorKind::IncompatibleSchema);
            assert_eq!(kind, expected, "{provider:?} {format}");
        }
    }
}
