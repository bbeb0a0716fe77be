//! Requests, as each provider gets them.

use crate::gateway::format::responses::front::tests::*;

fn conversation() -> Value {
    json!([
        {"role": "developer", "content": [{"type": "input_text", "text": "Be brief."}]},
        {"type": "message", "id": "msg_a", "role": "user", "content": [{"type": "input_text", "text": "Look"}]},
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAAA"},
        {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": "Yes", "annotations": []}]},
        {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "read", "arguments": "{\"path\":\"a\"}"},
        {"type": "function_call", "id": "fc_2", "call_id": "c2", "name": "read", "arguments": ""},
        {"type": "function_call_output", "call_id": "c1", "output": "A"},
        {"type": "function_call_output", "call_id": "c2", "output": [{"type": "input_text", "text": "B"}]},
        {"role": "user", "content": "Go on"},
    ])
}

fn tools() -> Value {
    let parameters = json!({"type": "object", "properties": {"path": {"type": "string"}}});
    json!([{"type": "function", "name": "read", "description": "Reads", "strict": false, "parameters": parameters}])
}

#[test]
fn a_conversation_reaches_each_provider() {
    let request = body(json!({
        "instructions": "Obey.", "input": conversation(), "tools": tools(), "max_output_tokens": 9,
        "reasoning": {"effort": "low"}, "store": true, "client_metadata": {"a": "b"},
    }));
    let chat_call = |id: &str, arguments: &str| json!({"id": id, "type": "function", "function": {"name": "read", "arguments": arguments}});
    for format in [Format::OpenAi, Format::OpenAiCompatible] {
        let (sent, dropped, _) = sent(format, &request);
        let mut expected = match format {
            Format::OpenAi => vec![
                json!({"role": "system", "content": "Obey."}),
                json!({"role": "developer", "content": "Be brief."}),
            ],
            _ => vec![json!({"role": "system", "content": "Obey.\n\nBe brief."})],
        };
        expected.extend([
            json!({"role": "user", "content": "Look"}),
            json!({"role": "assistant", "content": "Yes", "tool_calls": [
                chat_call("c1", "{\"path\":\"a\"}"), chat_call("c2", "{}"),
            ]}),
            json!({"role": "tool", "tool_call_id": "c1", "content": "A"}),
            json!({"role": "tool", "tool_call_id": "c2", "content": "B"}),
            json!({"role": "user", "content": "Go on"}),
        ]);
        assert_eq!(sent["messages"], json!(expected), "{format:?}");
        assert_eq!(sent["tools"][0]["function"]["name"], "read");
        assert_eq!(sent["reasoning_effort"], "low");
        assert_eq!(dropped, ["input[].encrypted_content"]);
    }
    let (anthropic, ..) = sent(Format::Anthropic, &request);
    assert_eq!(anthropic["system"][1]["text"], "Be brief.");
    assert_eq!(anthropic["max_tokens"], 9);
    assert_eq!(
        anthropic["messages"][1]["content"][1],
        json!({"type": "tool_use", "id": "c1", "name": "read", "input": {"path": "a"}})
    );
    assert_eq!(anthropic["messages"][2]["content"][1]["tool_use_id"], "c2");
    let (gemini, ..) = sent(Format::Gemini, &request);
    assert_eq!(gemini["contents"][1]["parts"][1]["functionCall"]["args"], json!({"path": "a"}));
    let (native, dropped, _) = sent(Format::Responses, &request);
    assert_eq!((&native["input"], &native["tools"]), (&request["input"], &request["tools"]));
    assert_eq!((&native["store"], &native["model"]), (&json!(false), &json!("gpt-5")));
    assert_eq!((native.get("client_metadata"), dropped.len()), (None, 0));
}

/// A different server whose label is the usual one of this server: its items are not ours, and ours have another label.
#[test]
fn labels_of_servers() {
    let server =
        |label: &str, url: &str| json!({"type": "mcp", "server_label": label, "server_url": url});
    let other = server("toolbooth", "https://other.example/mcp");
    for (tools, own_label, is_ours) in [
        (json!([]), "toolbooth", true),
        (json!([server("own", "toolbooth")]), "own", true),
        (json!([other]), "toolbooth-gateway", false),
        (json!([other, server("own", "toolbooth")]), "own", false),
    ] {
        let call = json!({"type": "mcp_call", "id": "mcp_1", "server_label": "toolbooth", "name": "N", "arguments": "{}", "output": "r"});
        let message = json!({"role": "user", "content": "hi"});
        let request = read(&body(json!({"tools": tools, "input": [message, call]}))).unwrap();
        assert_eq!((request.server_name(), request.history.len() == 3), (own_label, is_ours));
        // Requests of other servers for approval have ids that look like ours.
        let approval = json!([
            message,
            {"type": "mcp_approval_request", "id": "mcpr_1", "server_label": "toolbooth", "name": "N", "arguments": "{}"},
            {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": true},
        ]);
        let request = read(&body(json!({"tools": tools, "input": approval}))).unwrap();
        assert_eq!(request.responses.unwrap().approved.len() == 1, is_ours, "{tools}");
    }
}

/// The members are in the client's order.
#[test]
fn openai_gets_the_members_as_the_client_wrote_them() {
    let text = r#"{"top_p": 1.0, "model":"m","input":"hi","b":1,"text":{ "verbosity":"low" },"metadata":{"z":"1","a":"2"}}"#;
    let notes = Notes::default();
    let request = decode(text, &notes).unwrap();
    let sent = Format::Responses.translate(&request, &options(Format::Responses), &notes).unwrap();
    assert_eq!(
        String::from_utf8(sent).unwrap(),
        r#"{"model":"gpt-5","top_p":1.0,"input":"hi","text":{ "verbosity":"low" },"metadata":{"z":"1","a":"2"},"store":false}"#
    );
    assert_eq!(json!(notes)["dropped"], json!(["b"]));
}

#[test]
fn members_become_those_of_chat_completions() {
    let schema =
        json!({"type": "object", "properties": {"b": {"type": "string"}, "a": {"type": "string"}}});
    let request = body(json!({
        "temperature": 0.5, "top_p": 0.5, "metadata": {"a": "b"}, "user": "u", "parallel_tool_calls": false,
        "safety_identifier": "s", "prompt_cache_key": "k", "service_tier": "auto", "truncation": "auto",
        "text": {"verbosity": "low", "format": {"type": "json_schema", "name": "n", "strict": true, "schema": schema}},
        "reasoning": {"effort": "high", "summary": "auto"}, "top_logprobs": 2, "max_tool_calls": 3,
        "include": ["reasoning.encrypted_content", "file_search_call.results", "message.output_text.logprobs"], "stream_options": {"include_obfuscation": false},
        "tools": tools(),
    }));
    let (sent, dropped, _) = sent(Format::OpenAiCompatible, &request);
    let mut sent = sent;
    for (name, expected) in [
        ("temperature", json!(0.5)),
        ("top_p", json!(0.5)),
        ("metadata", json!({"a": "b"})),
        ("user", json!("u")),
        ("parallel_tool_calls", json!(false)),
        ("safety_identifier", json!("s")),
        ("prompt_cache_key", json!("k")),
        ("service_tier", json!("auto")),
        ("verbosity", json!("low")),
        ("reasoning_effort", json!("high")),
        (
            "response_format",
            json!({"type": "json_schema", "json_schema": {"name": "n", "strict": true, "schema": schema}}),
        ),
    ] {
        assert_eq!(sent.as_object_mut().unwrap().remove(name), Some(expected), "{name}");
    }
    let left: Vec<_> = sent.as_object().unwrap().keys().collect();
    assert_eq!(left, ["messages", "model", "tools"]);
    assert_eq!(
        dropped,
        [
            "include.file_search_call.results",
            "include.message.output_text.logprobs",
            "max_tool_calls",
            "reasoning.summary",
            "stream_options",
            "top_logprobs",
            "truncation",
        ]
    );
}

/// What is dropped has the client's names.
#[test]
fn dropped_members_are_named_as_the_client_wrote_them() {
    let request = body(json!({"text": {"verbosity": "low"}, "prompt_cache_key": "k"}));
    let (_, dropped, _) = sent(Format::Anthropic, &request);
    assert_eq!(dropped, ["prompt_cache_key", "text.verbosity"]);
}

#[test]
fn images_and_files() {
    let request = body(json!({"input": [{"role": "user", "content": [
        {"type": "input_text", "text": "See"},
        {"type": "input_image", "image_url": "data:image/png;base64,AAAA", "detail": "low"},
        {"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,BBBB"},
    ]}]}));
    let (chat, ..) = sent(Format::OpenAi, &request);
    assert_eq!(
        chat["messages"][0]["content"],
        json!([
            {"type": "text", "text": "See"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA", "detail": "low"}},
            {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,BBBB"}},
        ])
    );
    let (anthropic, ..) = sent(Format::Anthropic, &request);
    assert_eq!(anthropic["messages"][0]["content"][1]["source"]["data"], "AAAA");
    assert_eq!(anthropic["messages"][0]["content"][2]["type"], "document");
    let (gemini, ..) = sent(Format::Gemini, &request);
    assert_eq!(gemini["contents"][0]["parts"][1]["inlineData"]["data"], "AAAA");
}

/// Chat Completions has images only in messages of the user. One follows the results.
#[test]
fn images_in_results() {
    let image = json!({"type": "input_image", "image_url": "data:image/png;base64,AAAA"});
    let call =
        |id: &str| json!({"type": "function_call", "call_id": id, "name": "a", "arguments": "{}"});
    let output = |id: &str, output: Value| json!({"type": "function_call_output", "call_id": id, "output": output});
    let text = |text: &str| json!({"type": "input_text", "text": text});
    let request = body(json!({"input": [
        {"role": "user", "content": "hi"},
        call("c1"), call("c2"), output("c1", json!([text("x"), image])), output("c2", json!("r")),
    ]}));
    let shown = json!([
        {"type": "text", "text": "From the results of the tools:"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
    ]);
    for format in [Format::OpenAi, Format::OpenAiCompatible] {
        let (chat, ..) = sent(format, &request);
        let expected = json!([
            {"role": "tool", "tool_call_id": "c1", "content": "x"},
            {"role": "tool", "tool_call_id": "c2", "content": "r"},
            {"role": "user", "content": shown},
        ]);
        assert_eq!(json!(chat["messages"].as_array().unwrap()[2..]), expected, "{format:?}");
    }
    let (anthropic, ..) = sent(Format::Anthropic, &request);
    assert_eq!(anthropic["messages"][2]["content"][0]["content"][1]["source"]["data"], "AAAA");
}

/// `apply_patch`: the text of a call, whole and with a grammar.
#[test]
fn custom_tools_become_functions_with_one_text() {
    let grammar = json!({"type": "grammar", "syntax": "lark", "definition": "start: \"x\""});
    let request = body(json!({
        "tools": [{"type": "custom", "name": "patch", "description": "Patches", "format": grammar}],
        "tool_choice": {"type": "custom", "name": "patch"},
        "input": [
            {"role": "user", "content": "hi"},
            {"type": "custom_tool_call", "id": "ctc_1", "call_id": "c1", "name": "patch", "input": "*** \"a\"\n"},
            {"type": "custom_tool_call_output", "call_id": "c1", "output": "done"},
        ],
    }));
    for format in OTHERS {
        let (sent, ..) = sent(format, &request);
        let (name, description, input, choice) = match format {
            Format::Anthropic => (
                &sent["tools"][0]["name"],
                &sent["tools"][0]["description"],
                sent["messages"][1]["content"][0]["input"].clone(),
                sent["tool_choice"]["name"].clone(),
            ),
            Format::Gemini => (
                &sent["tools"][0]["functionDeclarations"][0]["name"],
                &sent["tools"][0]["functionDeclarations"][0]["description"],
                sent["contents"][1]["parts"][0]["functionCall"]["args"].clone(),
                sent["toolConfig"]["functionCallingConfig"]["allowedFunctionNames"][0].clone(),
            ),
            Format::OpenAi => {
                let call = &sent["messages"][1]["tool_calls"][0];
                assert_eq!(call["custom"], json!({"name": "patch", "input": "*** \"a\"\n"}));
                assert_eq!(sent["tools"][0]["custom"]["format"]["grammar"]["syntax"], "lark");
                continue;
            }
            _ => {
                let call = &sent["messages"][1]["tool_calls"][0];
                let arguments = call["function"]["arguments"].as_str().unwrap();
                (
                    &sent["tools"][0]["function"]["name"],
                    &sent["tools"][0]["function"]["description"],
                    serde_json::from_str(arguments).unwrap(),
                    sent["tool_choice"]["function"]["name"].clone(),
                )
            }
        };
        assert_eq!((name, &choice), (&json!("patch"), &json!("patch")), "{format:?}");
        let description = description.as_str().unwrap();
        assert!(description.starts_with("Patches\n\n"), "{description}");
        assert!(description.ends_with("start: \"x\""), "{description}");
        assert_eq!(input, json!({"input": "*** \"a\"\n"}), "{format:?}");
    }
}

#[test]
fn namespaces_are_flattened() {
    let long = "n".repeat(70);
    let member = |name: &str| json!({"type": "function", "name": name, "parameters": {"type": "object", "properties": {}}});
    let request = body(json!({
        "tools": [
            {"type": "namespace", "name": "mcp__a", "description": "A", "tools": [member("add"), {"type": "custom", "name": "run"}]},
            {"type": "namespace", "name": "b", "description": "B", "tools": [member("add"), member(&long)]},
        ],
        "input": [
            {"role": "user", "content": "hi"},
            {"type": "function_call", "call_id": "c1", "namespace": "mcp__a", "name": "add", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c1", "output": "3"},
        ],
        "tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "namespace": "b", "name": "add"}]},
    }));
    let read = read(&request).unwrap();
    let names: Vec<_> = read.tools.iter().filter_map(|tool| tool.name()).collect();
    assert_eq!(names[..3], ["mcp__a__add", "mcp__a__run", "b__add"]);
    assert_eq!(names[3].len(), 64);
    let (sent, dropped, _) = sent(Format::OpenAiCompatible, &request);
    assert_eq!(sent["messages"][1]["tool_calls"][0]["function"]["name"], "mcp__a__add");
    let allowed = &sent["tool_choice"]["allowed_tools"]["tools"];
    assert_eq!(allowed[0]["function"]["name"], "b__add");
    assert_eq!(dropped, ["tools[].description (namespace)"]);
}

/// What Codex does to find tools, and its tools in an item of the conversation.
#[test]
fn tools_that_the_conversation_adds() {
    let found = json!([{"type": "namespace", "name": "own", "description": "d", "tools": [
        {"type": "function", "name": "add", "defer_loading": true, "parameters": {"type": "object", "properties": {}}}]}]);
    let request = body(json!({
        "tools": [{"type": "tool_search", "execution": "client", "description": "Finds tools"}],
        "input": [
            {"type": "additional_tools", "role": "developer", "tools": [{"type": "function", "name": "more", "parameters": null}]},
            {"role": "user", "content": "hi"},
            {"type": "tool_search_call", "call_id": "c1", "execution": "client", "arguments": {"query": "add"}},
            {"type": "tool_search_output", "call_id": "c1", "execution": "client", "tools": found},
        ],
    }));
    let (sent, ..) = sent(Format::OpenAiCompatible, &request);
    let names: Vec<_> =
        sent["tools"].as_array().unwrap().iter().map(|it| &it["function"]["name"]).collect();
    assert_eq!(names, ["tool_search", "more", "own__add"]);
    let messages = &sent["messages"];
    assert_eq!(messages[1]["tool_calls"][0]["function"]["arguments"], "{\"query\":\"add\"}");
    assert_eq!(messages[2]["content"], "These tools can be called now: own__add");
}

/// The first definition of a tool holds, and was checked. OpenAI does not get a different one of the same name either.
#[test]
fn tools_that_are_defined_again() {
    let member = |namespace: &str, name: &str| json!({"type": "namespace", "name": namespace, "tools": [{"type": "function", "name": name}]});
    let function = |text: &str| json!({"type": "function", "name": "a", "description": text});
    for (first, again, passes) in [
        (function("First"), function("First"), true),
        (function("First"), function("Second"), false),
        (function("First"), json!({"type": "custom", "name": "a", "description": "First"}), false),
        (member("a__b", "c"), member("a__b", "c"), true),
        (member("a__b", "c"), member("a", "b__c"), false),
    ] {
        let request = body(json!({"tools": [first], "input": [
            {"role": "user", "content": "hi"}, {"type": "additional_tools", "tools": [again]}]}));
        let (native, dropped, _) = sent(Format::Responses, &request);
        assert_eq!(native["input"] == request["input"], passes, "{native}");
        assert_eq!(native["tools"].as_array().unwrap().len(), 1, "{native}");
        assert!(!native.to_string().contains("Second"), "{native}");
        let is_named = dropped.iter().any(|it| it.ends_with("defined again)"));
        assert_eq!(is_named, !passes, "{dropped:?}");
        assert_eq!(read(&request).unwrap().tools.len(), 1);
    }
}

#[test]
fn what_only_openai_can_read_is_named() {
    for (item, dropped) in [
        (
            json!({"type": "web_search_call", "id": "ws_1", "status": "completed"}),
            "input[].web_search_call",
        ),
        (
            json!({"type": "local_shell_call", "call_id": "c", "action": {}}),
            "input[].local_shell_call",
        ),
        (
            json!({"type": "shell_call_output", "call_id": "c", "output": []}),
            "input[].shell_call_output",
        ),
    ] {
        let request = body(json!({"input": [{"role": "user", "content": "hi"}, item]}));
        for format in OTHERS {
            assert_eq!(sent(format, &request).1, [dropped], "{format:?}");
        }
        let (native, dropped, _) = sent(Format::Responses, &request);
        assert_eq!((&native["input"], dropped.len()), (&request["input"], 0));
    }
    // So are members of items and of choices.
    let request = body(json!({
        "input": [
            {"role": "user", "content": "hi"},
            {"type": "message", "id": "msg_1", "status": "completed", "role": "assistant", "phase": "commentary", "content": [
                {"type": "output_text", "text": "T", "annotations": [], "style": "x"}]},
            {"type": "function_call", "id": "fc_1", "call_id": "c", "name": "a", "arguments": "{}", "caller": {"type": "direct"}},
            {"type": "function_call_output", "call_id": "c", "output": "R"},
        ],
        "tools": [{"type": "function", "name": "a"}, {"type": "apply_patch"}],
        "tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "apply_patch"}, {"type": "function", "name": "a"}]},
    }));
    let lost = [
        "input[].caller",
        "input[].content[].style",
        "input[].phase",
        "tool_choice.tools[] (apply_patch)",
        "tools[] (apply_patch)",
    ];
    assert_eq!(sent(Format::OpenAiCompatible, &request).1, lost);
    // What cannot be left out is an error.
    let known = |kind: &str| (json!({"type": kind, "id": "x"}), "input[1]");
    for (item, param) in [
        known("compaction_trigger"),
        known("configuration_update"),
        known("program"),
        known("program_output"),
        (json!({"type": "compaction", "encrypted_content": "x"}), "input[1]"),
        (
            json!({"role": "user", "content": [{"type": "input_image", "file_id": "f"}]}),
            "input[1].content[0]",
        ),
    ] {
        let request =
            read(&body(json!({"input": [{"role": "user", "content": "hi"}, item]}))).unwrap();
        for format in OTHERS {
            let error =
                format.translate(&request, &options(format), &Notes::default()).unwrap_err();
            assert_eq!(error.param.as_deref(), Some(param), "{format:?}");
        }
        let native = Format::Responses;
        assert!(native.translate(&request, &options(native), &Notes::default()).is_ok());
    }
}

/// Messages between a call and its result follow the result, because no other provider takes them there.
#[test]
fn messages_between_calls_and_results() {
    let request = body(json!({"input": [
        {"role": "user", "content": "hi"},
        {"type": "function_call", "call_id": "c1", "name": "a", "arguments": "{}"},
        {"role": "developer", "content": "Note"},
        {"type": "function_call_output", "call_id": "c1", "output": "1"},
    ]}));
    for (format, expected) in [
        (Format::OpenAi, ["user", "assistant", "tool", "developer"]),
        (Format::OpenAiCompatible, ["system", "user", "assistant", "tool"]),
    ] {
        let (sent, ..) = sent(format, &request);
        let messages = sent["messages"].as_array().unwrap();
        let roles: Vec<_> = messages.iter().map(|it| &it["role"]).collect();
        assert_eq!(roles, expected);
    }
}
