//! What providers get.

use crate::gateway::format::messages::front::tests::*;

/// The messages of a request as OpenAI gets them, and the members that are left out.
fn messages(members: Value) -> (Value, Vec<String>) {
    let (mut body, dropped) = sent(Format::OpenAi, &request(members));
    (body["messages"].take(), dropped)
}

#[test]
fn the_conversation() {
    let text = |text: &str| json!({"type": "text", "text": text});
    let image = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}});
    let url = json!({"type": "image", "source": {"type": "url", "url": "https://a.example/b.png"}});
    let picture = json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}});
    let cached = json!({"type": "text", "text": "C", "cache_control": {"type": "ephemeral"}});
    let use_tool =
        json!({"type": "tool_use", "id": "toolu_1", "name": "a", "input": {"z": 1e3, "a": "x"}});
    let assistant = json!({"role": "assistant", "content": [text("T"), use_tool]});
    let called = |content: Value| {
        json!({"role": "assistant", "content": content, "tool_calls": [{
            "id": "toolu_1", "type": "function", "function": {"name": "a", "arguments": "{\"a\":\"x\",\"z\":1000.0}"},
        }]})
    };
    let result = |content: Value| {
        let block = json!({"type": "tool_result", "tool_use_id": "toolu_1", "content": content});
        json!({"messages": [assistant, {"role": "user", "content": [block, text("go")]}]})
    };
    let answered = |content: &str, more: Value| {
        let tool = json!({"role": "tool", "tool_call_id": "toolu_1", "content": content});
        let mut all = vec![called("T".into()), tool];
        all.extend(more.as_array().unwrap().iter().cloned());
        all.push(json!({"role": "user", "content": "go"}));
        Value::Array(all)
    };
    for (members, expected) in [
        (json!({}), json!([{"role": "user", "content": "Hi"}])),
        (
            json!({"system": "S"}),
            json!([{"role": "system", "content": "S"}, {"role": "user", "content": "Hi"}]),
        ),
        (
            json!({"system": [text("S"), cached], "messages": [
                {"role": "user", "content": [text("U"), text(""), image, url]},
                {"role": "assistant", "content": "A"},
                {"role": "system", "content": [text("M")]},
                {"role": "user", "content": [text("x"), text("y")]},
            ]}),
            json!([
                {"role": "system", "content": "S\n\nC"},
                {"role": "user", "content": [
                    text("U"), picture, {"type": "image_url", "image_url": {"url": "https://a.example/b.png"}},
                ]},
                {"role": "assistant", "content": "A"},
                {"role": "system", "content": "M"},
                {"role": "user", "content": "x\n\ny"},
            ]),
        ),
        (
            json!({"messages": [{"role": "user", "content": [
                {"type": "document", "title": "N", "context": "X", "source": {"type": "base64", "media_type": "application/pdf", "data": "BB"}},
                {"type": "document", "title": "N", "source": {"type": "text", "media_type": "text/plain", "data": "D"}},
                {"type": "document", "source": {"type": "content", "content": [text("E")]}},
                {"type": "search_result", "title": "F", "source": "https://f", "content": [text("G")]},
            ]}]}),
            json!([{"role": "user", "content": [
                text("X"), {"type": "file", "file": {"file_data": "data:application/pdf;base64,BB", "filename": "N"}},
                text("N"), text("D"), text("E"), text("F\nhttps://f"), text("G"),
            ]}]),
        ),
        // The conversation before it, in short.
        (
            json!({"messages": [
                {"role": "assistant", "content": [{"type": "compaction", "content": "S", "encrypted_content": null}]},
                {"role": "user", "content": "x"},
            ]}),
            json!([{"role": "assistant", "content": "S"}, {"role": "user", "content": "x"}]),
        ),
        (result(json!("R")), answered("R", json!([]))),
        (result(Value::Null), answered("", json!([]))),
        (result(json!([text("p"), text("q")])), answered("p\n\nq", json!([]))),
        (
            result(json!([{"type": "tool_reference", "tool_name": "b"}])),
            answered("The tool b is available now.", json!([])),
        ),
        (
            result(json!([text("p"), image])),
            answered(
                "p",
                json!([{"role": "user", "content": [text("From the results of the tools:"), picture]}]),
            ),
        ),
        (
            result(json!([image])),
            answered(
                "The result is shown in the message that follows.",
                json!([{"role": "user", "content": [text("From the results of the tools:"), picture]}]),
            ),
        ),
    ] {
        let (found, _) = messages(members.clone());
        // OpenAI's arguments are text, which is compared below.
        assert_eq!(found, expected, "{members}");
    }
}

/// The order of keys and the form of numbers in a call stay; a result of a tool that failed says so.
#[test]
fn calls_and_their_results() {
    let body = r#"{"model":"m","max_tokens":9,"messages":[
        {"role":"assistant","content":[{"type":"tool_use","id":"t","name":"a","input":{"z":1e3,"a":1.0}}]},
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"no","is_error":true}]}]}"#;
    let front = Messages { counts_only: false };
    let request = front.decode(body, &Pairs(&[]), &Notes::default()).unwrap();
    let (body, _) = sent(Format::OpenAi, &request);
    let arguments = &body["messages"][0]["tool_calls"][0]["function"]["arguments"];
    assert_eq!(arguments, r#"{"z":1e3,"a":1.0}"#);
    assert_eq!(body["messages"][1]["content"], "Error: no");
    let (body, _) = translated(&request);
    let block = &body["messages"][2]["content"][0];
    assert_eq!((&block["is_error"], &block["tool_use_id"]), (&json!(true), &json!("t")));
    let (body, _) = sent(Format::Gemini, &request);
    let part = &body["contents"][2]["parts"][0]["functionResponse"];
    assert_eq!(part["response"], json!({"error": "Error: no"}));
}

/// Results may come in several messages, and what is said between them follows.
#[test]
fn results_in_several_messages() {
    let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "a", "input": {}});
    let result = |id: &str| json!({"type": "tool_result", "tool_use_id": id, "content": id});
    let (found, _) = messages(json!({"messages": [
        {"role": "assistant", "content": [call("t1"), call("t2")]},
        {"role": "user", "content": [{"type": "text", "text": "x"}, result("t2")]},
        {"role": "system", "content": "s"},
        {"role": "user", "content": [result("t1"), {"type": "text", "text": "y"}]},
    ]}));
    let roles: Vec<_> = found.as_array().unwrap().iter().map(|it| &it["role"]).collect();
    assert_eq!(roles, ["assistant", "tool", "tool", "user", "system", "user"]);
    assert_eq!((&found[1]["content"], &found[3]["content"]), (&json!("t2"), &json!("x")));
}

#[test]
fn members_and_their_names() {
    let schema =
        json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false});
    let all = json!({
        "stop_sequences": ["1", "2", "3", "4", "5"], "diagnostics": {}, "temperature": 0.5, "top_p": 0.4, "top_k": 3,
        "metadata": {"user_id": "u"}, "service_tier": "standard_only", "tools": [tool("a")],
        "tool_choice": {"type": "auto", "disable_parallel_tool_use": true},
        "thinking": {"type": "enabled", "budget_tokens": 5000},
        "output_config": {"format": {"type": "json_schema", "schema": schema}},
    });
    let request = request(all);
    let (body, dropped) = sent(Format::OpenAiCompatible, &request);
    let format = json!({"type": "json_schema", "json_schema": {"name": "answer", "schema": schema, "strict": true}});
    let expected = json!({
        "model": "llama", "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 100, "temperature": 0.5,
        "top_p": 0.4, "stop": ["1", "2", "3", "4"], "user": "u", "tools": [openai_tool("a")], "tool_choice": "auto",
        "parallel_tool_calls": false, "response_format": format,
    });
    assert_eq!(body, expected);
    assert_eq!(dropped, ["diagnostics", "service_tier", "thinking", "top_k"]);
    // A model that thinks does not choose its words by these members.
    let (body, dropped) = sent(Format::OpenAi, &request);
    let expected = json!({
        "model": "gpt-5", "messages": [{"role": "user", "content": "Hi"}], "max_completion_tokens": 100,
        "safety_identifier": "u", "tools": [openai_tool("a")], "tool_choice": "auto", "parallel_tool_calls": false,
        "response_format": format, "reasoning_effort": "medium", "service_tier": "default",
    });
    assert_eq!(body, expected);
    assert_eq!(dropped, ["diagnostics", "stop_sequences", "temperature", "top_k", "top_p"]);
    let (body, dropped) = sent(Format::Gemini, &request);
    let config = &body["generationConfig"];
    assert_eq!((&config["topK"], &config["maxOutputTokens"]), (&json!(3), &json!(100)));
    assert_eq!(config["responseJsonSchema"]["type"], "object");
    assert_eq!(
        dropped,
        [
            "diagnostics",
            "metadata.user_id",
            "service_tier",
            "tool_choice.disable_parallel_tool_use",
            "user"
        ]
    );
}

/// OpenAI enforces no schema with optional members, as Anthropic does.
#[test]
fn formats_that_openai_does_not_enforce() {
    let schema = json!({"type": "object", "properties": {"b": {"type": "string"}, "a": {"type": "string"}}, "additionalProperties": false});
    for members in [
        json!({"output_config": {"format": {"type": "json_schema", "schema": schema}}}),
        json!({"output_format": {"type": "json_schema", "schema": schema}}),
    ] {
        let (body, _) = sent(Format::OpenAi, &request(members));
        let format = &body["response_format"]["json_schema"];
        assert_eq!((&format["schema"], &format["strict"]), (&schema, &json!(false)));
    }
}

#[test]
fn effort() {
    let effort = |members: Value| {
        let (body, _) = sent(Format::OpenAi, &request(members.clone()));
        let (own, _) = translated(&request(members));
        let own = json!([own["thinking"]["type"], own["output_config"]["effort"]]);
        (body["reasoning_effort"].clone(), own)
    };
    for (members, expected, own) in [
        (json!({}), Value::Null, json!([null, null])),
        (json!({"thinking": {"type": "disabled"}}), json!("minimal"), json!(["disabled", null])),
        (json!({"thinking": {"type": "adaptive"}}), Value::Null, json!(["enabled", null])),
        (
            json!({"thinking": {"type": "enabled", "budget_tokens": 1024}}),
            json!("low"),
            json!(["enabled", null]),
        ),
        (
            json!({"thinking": {"type": "enabled", "budget_tokens": 31_999}}),
            json!("high"),
            json!(["enabled", null]),
        ),
        (
            json!({"thinking": {"type": "adaptive"}, "output_config": {"effort": "max"}}),
            json!("high"),
            json!(["enabled", null]),
        ),
    ] {
        assert_eq!(effort(members.clone()), (expected, own), "{members}");
    }
}

/// Anthropic's thinking goes back to Anthropic only, and reasoning of others to no model.
#[test]
fn thinking_that_comes_back() {
    let own = json!({"type": "thinking", "thinking": "T", "signature": "U2ln"});
    let redacted = json!({"type": "redacted_thinking", "data": "ZGF0YQ=="});
    let foreign = json!({"type": "thinking", "thinking": "F", "signature": thinking::SIGNATURE});
    let text = json!({"type": "text", "text": "A"});
    let request = request(json!({"messages": [
        {"role": "user", "content": "x"},
        {"role": "assistant", "content": [own, redacted, foreign, text]},
        {"role": "user", "content": "y"},
    ]}));
    let kept = json!({"role": "assistant", "content": [own, redacted, text]});
    assert_eq!(sent(Format::Anthropic, &request).0["messages"][1], kept);
    assert_eq!(translated(&request).0["messages"][1], kept);
    for format in [Format::OpenAi, Format::OpenAiCompatible] {
        let (body, dropped) = sent(format, &request);
        assert_eq!(body["messages"][1], json!({"role": "assistant", "content": "A"}));
        assert_eq!(dropped, ["messages[].content[].thinking"]);
    }
    let (body, _) = sent(Format::Gemini, &request);
    assert_eq!(body["contents"][1], json!({"role": "model", "parts": [{"text": "A"}]}));
    // Nothing is left of a message with nothing else.
    let request = crate::gateway::format::messages::front::tests::request(json!({"messages": [
        {"role": "user", "content": "x"}, {"role": "assistant", "content": [foreign]}, {"role": "user", "content": "y"},
    ]}));
    for format in [Format::OpenAi, Format::Anthropic] {
        assert_eq!(sent(format, &request).0["messages"].as_array().unwrap().len(), 2);
    }
}

/// What a different provider must get back with a call, such as Gemini's signature, travels in a block before the call.
#[test]
fn signatures_of_calls_come_back() {
    let extra = toolbooth::json::parse(r#"{"google":{"thought_signature":"S"}}"#).unwrap();
    let block = json!({"type": "redacted_thinking", "data": thinking::data(&extra)});
    let request = request(json!({"tools": [tool("a")], "messages": [
        {"role": "user", "content": "x"},
        {"role": "assistant", "content": [block, {"type": "tool_use", "id": "t", "name": "a", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "r"}]},
    ]}));
    let (body, _) = sent(Format::Gemini, &request);
    assert_eq!(body["contents"][1]["parts"][0]["thoughtSignature"], "S");
    let (body, _) = sent(Format::Anthropic, &request);
    assert_eq!(body["messages"][1]["content"].as_array().unwrap().len(), 1);
    let (body, _) = sent(Format::OpenAi, &request);
    assert_eq!(body["messages"][1]["tool_calls"][0].get("extra_content"), None);
}

/// To Anthropic: the client's members in its order and its bytes, its headers, and only the model replaced.
#[test]
fn requests_that_pass() {
    let rest = r#""system":[{"type":"text","text":"S","cache_control":{"ttl":"1h","type":"ephemeral"}}],"max_tokens":9,"tools":[{"name":"a","input_schema":{"type":"object","x":1e3}, "input_examples":[]}],"messages":[ {"role":"user","content":"x"} ],"context_management":{"edits":[]},"stream":true}"#;
    let body = format!(r#"{{"model":"anthropic/m","speed":"fast","_2api":{{}},{rest}"#);
    let headers =
        [("anthropic-beta", "b-2,a-1"), ("anthropic-version", "2026-10-21"), ("x-api-key", "k")];
    let notes = Notes::default();
    let front = Messages { counts_only: false };
    let request = front.decode(&body, &Pairs(&headers), &notes).unwrap();
    let native = request.native_for(Format::Anthropic).unwrap();
    assert_eq!(
        native.headers,
        [("anthropic-beta", "b-2,a-1".to_owned()), ("anthropic-version", "2026-10-21".to_owned())]
    );
    let sent = Format::Anthropic.translate(&request, &options(Format::Anthropic), &notes).unwrap();
    assert_eq!(
        String::from_utf8(sent).unwrap(),
        format!(r#"{{"model":"claude-sonnet-4-5",{rest}"#)
    );
    assert_eq!(json!(notes)["dropped"], json!(["speed"]));
}

/// Calls that the gateway ran come back as the rounds that they were.
#[test]
fn calls_that_the_gateway_ran() {
    let call = |id: &str| json!({"type": "mcp_tool_use", "id": id, "name": "N", "server_name": "toolbooth", "input": {"x": 1}});
    let result = |id: &str, is_error: bool| json!({"type": "mcp_tool_result", "tool_use_id": id, "is_error": is_error, "content": [{"type": "text", "text": id}]});
    let text = |text: &str| json!({"type": "text", "text": text});
    let content = json!([
        text("A"),
        call("1"),
        call("2"),
        result("1", false),
        result("2", true),
        call("3"),
        result("3", false),
        text("B"),
    ]);
    let request = request(json!({"messages": [
        {"role": "user", "content": "x"}, {"role": "assistant", "content": content}, {"role": "user", "content": "y"},
    ]}));
    // For Anthropic, they are calls of the request's tools. All else is as the client wrote it.
    let (body, _) = sent(Format::Anthropic, &request);
    let use_of = |id: &str| json!({"type": "tool_use", "id": id, "name": "N", "input": {"x": 1}});
    let result_of = |id: &str, is_error: bool| json!({"type": "tool_result", "tool_use_id": id, "is_error": is_error, "content": [text(id)]});
    let said = |role: &str, content: Value| json!({"role": role, "content": content});
    assert_eq!(
        body["messages"],
        json!([
            said("user", json!("x")),
            said("assistant", json!([text("A"), use_of("1"), use_of("2")])),
            said("user", json!([result_of("1", false), result_of("2", true)])),
            said("assistant", json!([use_of("3")])),
            said("user", json!([result_of("3", false)])),
            said("assistant", json!([text("B")])),
            said("user", json!("y")),
        ])
    );
    let (body, _) = sent(Format::OpenAi, &request);
    let messages = body["messages"].as_array().unwrap();
    let shapes: Vec<_> = messages
        .iter()
        .map(|it| {
            let calls = it["tool_calls"].as_array().map_or(0, Vec::len);
            (it["role"].as_str().unwrap(), it["content"].as_str().unwrap_or_default(), calls)
        })
        .collect();
    assert_eq!(
        shapes,
        [
            ("user", "x", 0),
            ("assistant", "A", 2),
            ("tool", "1", 0),
            ("tool", "Error: 2", 0),
            ("assistant", "", 1),
            ("tool", "3", 0),
            ("assistant", "B", 0),
            ("user", "y", 0),
        ]
    );
}

/// What the messages of the assistant become for Anthropic: blocks of ours and empty results do not stay, all others do.
#[test]
fn blocks_of_the_gateway_for_anthropic() {
    let own = json!({"type": "mcp_tool_use", "id": "1", "name": "N", "server_name": "toolbooth", "input": {"b": 1, "a": 2}, "cache_control": {"type": "ephemeral"}});
    let other = json!({"type": "mcp_tool_use", "id": "2", "name": "N", "server_name": "other", "input": {}});
    let result = |id: &str, content: Value| json!({"type": "mcp_tool_result", "tool_use_id": id, "content": content});
    let (empty, text) = (json!({"type": "text", "text": ""}), json!({"type": "text", "text": "t"}));
    let thinking = json!({"type": "thinking", "thinking": "T", "signature": "U2ln"});
    let ours = json!({"type": "thinking", "thinking": "T", "signature": "toolbooth:reasoning"});
    let cited = json!({"type": "text", "text": "x", "citations": [{"type": "page_location"}]});
    let call = json!({"type": "tool_use", "id": "1", "name": "N", "cache_control": {"type": "ephemeral"}, "input": {"b": 1, "a": 2}});
    for (content, expected) in [
        (json!([ours, text]), json!([["assistant", [text]]])),
        (json!([ours]), json!([])),
        (json!([thinking, cited]), json!([["assistant", [thinking, cited]]])),
        (
            json!([
                other,
                result("2", json!([text])),
                own,
                result("1", json!([empty])),
                thinking,
                cited
            ]),
            json!([
                ["assistant", [other, result("2", json!([text])), call]],
                ["user", [{"type": "tool_result", "tool_use_id": "1"}]],
                ["assistant", [thinking, cited]],
            ]),
        ),
        (
            json!([thinking, own, result("1", json!("t"))]),
            json!([
                ["assistant", [thinking, call]],
                ["user", [{"type": "tool_result", "tool_use_id": "1", "content": "t"}]],
            ]),
        ),
    ] {
        let messages =
            json!([{"role": "assistant", "content": content}, {"role": "user", "content": "y"}]);
        let body = sent(Format::Anthropic, &request(json!({"messages": messages}))).0;
        let [known @ .., _] = &body["messages"].as_array().unwrap()[..] else { panic!("{body}") };
        let known: Vec<_> = known.iter().map(|it| json!([it["role"], it["content"]])).collect();
        assert_eq!(json!(known), expected, "{content}");
    }
}

/// Anthropic rejects ids with characters that those of other providers have.
#[test]
fn ids_of_other_providers_for_anthropic() {
    let id = "functions.N:0";
    let messages = json!([
        {"role": "assistant", "content": [
            {"type": "mcp_tool_use", "id": id, "name": "N", "server_name": "toolbooth", "input": {}},
            {"type": "mcp_tool_result", "tool_use_id": id, "content": "t"},
        ]},
        {"role": "user", "content": "y"},
    ]);
    let body = sent(Format::Anthropic, &request(json!({"messages": messages}))).0;
    let used = &body["messages"][0]["content"][0]["id"];
    assert!(crate::gateway::ids::is_portable(used.as_str().unwrap()), "{body}");
    assert_eq!(&body["messages"][1]["content"][0]["tool_use_id"], used, "{body}");
}

/// A different server whose name is the usual one of this server: its calls are not ours, and ours have another name.
#[test]
fn names_of_servers() {
    let server = |name: &str, url: &str| json!({"type": "url", "name": name, "url": url});
    let (own, other) =
        (server("own", "toolbooth"), server("toolbooth", "https://other.example/mcp"));
    for (servers, own_name, ours) in [
        (json!([]), "toolbooth", vec!["toolbooth"]),
        (json!([own]), "own", vec!["own", "toolbooth"]),
        (json!([other]), "toolbooth-gateway", vec!["toolbooth-gateway"]),
        (json!([other, own]), "own", vec!["own", "toolbooth-gateway"]),
    ] {
        for name in ["own", "toolbooth", "toolbooth-gateway"] {
            let content = json!([
                {"type": "mcp_tool_use", "id": "1", "name": "N", "server_name": name, "input": {}},
                {"type": "mcp_tool_result", "tool_use_id": "1", "is_error": false, "content": []},
                {"type": "text", "text": "x"},
            ]);
            let messages = json!([
                {"role": "user", "content": "x"}, {"role": "assistant", "content": content}, {"role": "user", "content": "y"},
            ]);
            let request = request(json!({"mcp_servers": servers, "messages": messages}));
            assert_eq!(request.server_name(), own_name, "{servers}");
            // The call and its result are messages of their own.
            let is_ours = request.history.len() == 5;
            assert_eq!(is_ours, ours.contains(&name), "{servers} {name}");
        }
    }
}

/// A user's name is one on whose behalf tools run, unless an agent has written ids of its own into it.
#[test]
fn users() {
    for (id, user) in [("ada", true), (r#"{"device_id":"d","session_id":"s"}"#, false)] {
        let request = request(json!({"metadata": {"user_id": id}}));
        assert_eq!(request.members.get("user").is_some(), user);
        assert_eq!(translated(&request).0["metadata"]["user_id"], id);
    }
    let long = "x".repeat(65);
    let (body, dropped) = sent(Format::OpenAi, &request(json!({"metadata": {"user_id": long}})));
    assert_eq!(
        (body.get("safety_identifier"), dropped),
        (None, vec!["metadata.user_id".to_owned()])
    );
}

/// A provider with the format of OpenAI Responses gets what it knows.
#[test]
fn to_responses() {
    let cached = json!({"type": "text", "text": "S", "cache_control": {"type": "ephemeral"}});
    let image = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}});
    let request = request(json!({
        "system": [cached], "top_k": 3, "stop_sequences": ["x"], "thinking": {"type": "enabled", "budget_tokens": 20_000},
        "metadata": {"user_id": "u"}, "tools": [tool("a")], "messages": [
            {"role": "user", "content": "q"},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "T", "signature": "U2ln"}, {"type": "tool_use", "id": "t", "name": "a", "input": {}},
            ]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "R"}, image]}]},
        ],
    }));
    let (body, dropped) = sent(Format::Responses, &request);
    let input = body["input"].as_array().unwrap();
    let kinds: Vec<_> = input.iter().map(|it| it["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["message", "message", "function_call", "function_call_output"]);
    assert_eq!(input[3]["output"][1]["image_url"], "data:image/png;base64,AAAA");
    assert_eq!(
        (&body["max_output_tokens"], &body["safety_identifier"]),
        (&json!(100), &json!("u"))
    );
    assert_eq!(body["reasoning"]["effort"], "high");
    let thinking = "messages[].content[].thinking";
    assert_eq!(dropped, [thinking, "stop_sequences", "system[].cache_control", "top_k"]);
}
