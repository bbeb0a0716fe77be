//! Calls and results in the conversation.

use crate::gateway::conversation::{HistoryItem, MessageBody, ToolResult, Turn};
use crate::gateway::format::adapter::tests::*;

fn conversation(calls: Value, results: Value) -> Value {
    let mut messages = vec![
        json!({"role": "user", "content": "U"}),
        json!({"role": "assistant", "content": null, "tool_calls": calls}),
    ];
    messages.extend(results.as_array().unwrap().iter().cloned());
    json!({"messages": messages, "tools": [tool("a"), tool("b")]})
}

fn result(id: &str, content: Value) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": content})
}

/// Case 7: all results of a turn are in one user message, before any text, in the order of the calls.
#[test]
fn case_07_results_in_one_message() {
    let calls = json!([call("c1", "a", "{\"x\":1}"), call("c2", "b", "")]);
    let members = conversation(
        calls,
        json!([result("c2", json!("R2")), result("c1", json!("Error: no")), {"role": "user", "content": "T"}]),
    );
    let (body, dropped, _) = translated(Format::Anthropic, members.clone());
    let text = |text: &str| json!({"type": "text", "text": text});
    let expected = json!([
        {"role": "user", "content": [text("U")]},
        {"role": "assistant", "content": [
            {"type": "tool_use", "id": "c1", "name": "a", "input": {"x": 1}},
            {"type": "tool_use", "id": "c2", "name": "b", "input": {}},
        ]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "c1", "content": [text("Error: no")], "is_error": true},
            {"type": "tool_result", "tool_use_id": "c2", "content": [text("R2")]},
            text("T"),
        ]},
    ]);
    assert_eq!((&body["messages"], dropped.len()), (&expected, 0));
    let (body, _, _) = translated(Format::Gemini, members);
    let expected = json!([
        {"role": "user", "parts": [{"text": "U"}]},
        {"role": "model", "parts": [
            {"functionCall": {"name": "a", "args": {"x": 1}}},
            {"functionCall": {"name": "b", "args": {}}},
        ]},
        {"role": "user", "parts": [
            {"functionResponse": {"name": "a", "response": {"error": "Error: no"}}},
            {"functionResponse": {"name": "b", "response": {"output": "R2"}}},
        ]},
        {"role": "user", "parts": [{"text": "T"}]},
    ]);
    assert_eq!(body["contents"], expected);
}

/// Cases 8 and 9: results of every kind, named after the tool.
#[test]
fn case_08_and_09_results() {
    let image = json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}});
    for (content, gemini) in [
        (json!("plain"), json!([{"output": "plain"}])),
        (json!(""), json!([{"output": ""}])),
        (json!("42"), json!([{"output": "42"}])),
        (json!("{\"t\":22}"), json!([{"output": {"t": 22}}])),
        (json!("[1,2]"), json!([{"output": [1, 2]}])),
        (json!("{broken"), json!([{"output": "{broken"}])),
        (json!("Error: x"), json!([{"error": "Error: x"}])),
        (
            json!([{"type": "text", "text": "p"}, {"type": "text", "text": "q"}]),
            json!([{"output": "p\nq"}]),
        ),
        (json!([{"type": "text", "text": "p"}, image]), json!([{"output": "p"}, "image"])),
    ] {
        let members = conversation(json!([call("c1", "a", "{}")]), json!([result("c1", content)]));
        let (body, _, _) = translated(Format::Gemini, members.clone());
        let contents = body["contents"].as_array().unwrap();
        let parts = contents[2]["parts"].as_array().unwrap();
        assert_eq!(parts.len(), 1);
        assert_eq!(parts[0]["functionResponse"]["name"], "a");
        assert_eq!(parts[0]["functionResponse"]["response"], gemini[0]);
        assert_eq!(contents.len() - 2, gemini.as_array().unwrap().len());
        if let Some(content) = contents.get(3) {
            assert_eq!(content["parts"][0]["inlineData"]["mimeType"], "image/png");
        }
        let (body, _, _) = translated(Format::Anthropic, members);
        let block = &body["messages"][2]["content"][0];
        assert_eq!((&block["type"], &block["tool_use_id"]), (&json!("tool_result"), &json!("c1")));
    }
}

/// Only Anthropic gets a name of 128 characters.
#[test]
fn names_that_are_too_long() {
    for (format, is_short) in [
        (Format::OpenAi, true),
        (Format::OpenAiCompatible, true),
        (Format::WorkersAi, true),
        (Format::Responses, true),
        (Format::Gemini, true),
        (Format::Anthropic, false),
    ] {
        let (body, dropped, _) = translated(format, json!({"tools": [tool(&"a".repeat(128))]}));
        let beginning = format!("{}{}", "a".repeat(55), if is_short { "_" } else { "aaaaaaaaa" });
        assert!(body.to_string().contains(&format!("\"{beginning}")), "{format:?} {body}");
        assert_eq!(dropped, [""; 0], "{format:?}");
    }
}

/// 2.1: Gemini's names begin with a letter or an underscore. Others are renamed, and renamed back.
#[test]
fn names_that_gemini_does_not_accept() {
    let names = ["1abc", "-x", "_-x", "good"];
    let sent = ["_1abc", "__-x", "_-x", "good"];
    let calls = json!(names.map(|name| call(name, name, "{}")));
    let results = json!(names.map(|name| result(name, json!("R"))));
    let mut members = conversation(calls, results);
    members["tools"] = json!(names.map(tool));
    members["tool_choice"] = json!({"type": "function", "function": {"name": "1abc"}});
    let (body, dropped, warnings) = translated(Format::Gemini, members.clone());
    assert_eq!((dropped.len(), warnings.len()), (0, 0));
    let all = |path: &str, member: &str| -> Vec<Value> {
        let list = body.pointer(path).unwrap().as_array().unwrap();
        list.iter().map(|item| item.pointer(member).unwrap().clone()).collect()
    };
    assert_eq!(all("/tools/0/functionDeclarations", "/name"), sent);
    assert_eq!(all("/contents/1/parts", "/functionCall/name"), sent);
    assert_eq!(all("/contents/2/parts", "/functionResponse/name"), sent);
    let config = &body["toolConfig"]["functionCallingConfig"];
    assert_eq!(config["allowedFunctionNames"], json!(["_1abc"]));
    // Other providers accept them.
    for (provider, path) in [(Format::OpenAi, "/function/name"), (Format::Anthropic, "/name")] {
        let (body, ..) = translated(provider, members.clone());
        let tools = body["tools"].as_array().unwrap();
        assert!(
            tools.iter().zip(names).all(|(tool, name)| tool.pointer(path) == Some(&json!(name)))
        );
    }
    let parts = sent.map(|name| json!({"functionCall": {"name": name, "args": {}}}));
    let answer = json!({"candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}]});
    let (request, text) = (request(members), answer.to_string());
    let known = || Format::Gemini.names(&request);
    let whole = Format::Gemini.decode(text.as_bytes(), ids(), with(known())).unwrap();
    let stream = format!("data: {text}\n\n");
    let (_, _, decoder) = crate::gateway::format::adapter::tests::streams::decoded_with(
        Format::Gemini,
        known(),
        &[stream.as_bytes()],
    );
    for completion in [whole, decoder.into_completion()] {
        let calls = &completion.message.tool_calls;
        assert_eq!(calls.iter().map(|call| &*call.name).collect::<Vec<_>>(), names);
        // A round of the loop goes back as Gemini wrote it, and its results by the same names.
        let results = names.map(|name| ToolResult {
            call_id: name.to_owned(),
            name: name.to_owned(),
            content: "R".to_owned().into(),
            is_error: false,
        });
        let turn = completion.to_turn(Format::Gemini, results.into());
        let mut next = request.clone();
        next.history.push(HistoryItem::Turn(turn));
        let (body, ..) = translated_with(Format::Gemini, &next, &options(Format::Gemini));
        for (at, name) in sent.iter().enumerate() {
            let contents = body["contents"].as_array().unwrap();
            let [.., said, results] = &contents[..] else { panic!() };
            assert_eq!(said["parts"][at]["functionCall"]["name"], *name);
            assert_eq!(results["parts"][at]["functionResponse"]["name"], *name);
        }
    }
}

/// Case 7: each call needs exactly one result, directly after it.
#[test]
fn case_07_calls_and_results_must_match() {
    let calls = || json!([call("c1", "a", "{}"), call("c2", "b", "{}")]);
    let user = json!({"role": "user", "content": "T"});
    for (results, param) in [
        (json!([]), "messages[1].tool_calls[0]"),
        (json!([result("c1", json!("x"))]), "messages[1].tool_calls[1]"),
        (
            json!([result("c1", json!("x")), user, result("c2", json!("x"))]),
            "messages[1].tool_calls[1]",
        ),
        (json!([result("c3", json!("x"))]), "messages[2].tool_call_id"),
        (json!([result("c1", json!("x")), result("c1", json!("x"))]), "messages[3].tool_call_id"),
        (json!([{"role": "tool", "content": "x"}]), "messages[2].tool_call_id"),
    ] {
        for provider in
            [Format::OpenAi, Format::OpenAiCompatible, Format::Anthropic, Format::Gemini]
        {
            let (message, found) = rejected(provider, conversation(calls(), results.clone()));
            assert_eq!(found, param, "{message}");
        }
    }
    let without_id = json!([{"type": "function", "function": {"name": "a", "arguments": "{}"}}]);
    let (_, param) = rejected(Format::OpenAi, conversation(without_id, json!([])));
    assert_eq!(param, "messages[1].tool_calls[0].id");
}

/// 5.3: a request may have no tools although its conversation has calls. Anthropic needs their declarations.
#[test]
fn tools_of_the_conversation_are_declared_to_anthropic() {
    let calls = json!([call("c1", "a", "{"), call("c2", "b", "{}"), call("c3", "a", "{}")]);
    let results = ["c1", "c2", "c3"].map(|id| result(id, json!("R")));
    let mut members = conversation(calls, json!(results));
    members.as_object_mut().unwrap().remove("tools");
    let (body, dropped, _) = translated(Format::Anthropic, members.clone());
    let declared =
        |name: &str| json!({"name": name, "input_schema": {"type": "object", "properties": {}}});
    assert_eq!(body["tools"], json!([declared("a"), declared("b")]));
    assert_eq!((&body["tool_choice"], dropped.len()), (&json!({"type": "none"}), 0));
    for provider in [Format::OpenAi, Format::Gemini] {
        let (body, ..) = translated(provider, members.clone());
        assert_eq!((body.get("tools"), body.get("tool_choice")), (None, None), "{provider:?}");
    }
}

/// Case 17 and 5.3: the model's malformed arguments come back in the conversation.
#[test]
fn case_17_malformed_arguments_in_the_conversation() {
    for malformed in ["{\"x\":", "[1]", "text", "{\"a\":1,\"a\":2}"] {
        let members = conversation(
            json!([call("c1", "a", malformed)]),
            json!([result("c1", json!("Error: Invalid JSON"))]),
        );
        let (body, _, warnings) = translated(Format::Anthropic, members.clone());
        let input = &body["messages"][1]["content"][0]["input"];
        assert_eq!(input, &json!({"malformed_arguments": malformed}));
        assert_eq!(warnings.len(), 1);
        let (body, _, _) = translated(Format::OpenAi, members);
        assert_eq!(body["messages"][1]["tool_calls"][0]["function"]["arguments"], malformed);
    }
}

/// Case 18: ids survive a change of provider.
#[test]
fn case_18_foreign_ids() {
    let long = format!("call_x__thought__{}", "A".repeat(900));
    for (id, changed) in [
        ("toolu_01", [false, false, false]),
        (long.as_str(), [true, true, true]),
        ("functions.a:0", [true, false, true]),
    ] {
        let members = conversation(json!([call(id, "a", "{}")]), json!([result(id, json!("x"))]));
        let providers = [Format::OpenAi, Format::OpenAiCompatible, Format::Anthropic];
        for (provider, changed) in providers.into_iter().zip(changed) {
            let (body, _, _) = translated(provider, members.clone());
            let (of_call, of_result) = if provider == Format::Anthropic {
                let id = &body["messages"][1]["content"][0]["id"];
                (id, &body["messages"][2]["content"][0]["tool_use_id"])
            } else {
                let id = &body["messages"][1]["tool_calls"][0]["id"];
                (id, &body["messages"][2]["tool_call_id"])
            };
            assert_eq!(of_call, of_result);
            assert_eq!(of_call != id, changed, "{provider:?} {id}");
            assert!(of_call.as_str().unwrap().len() <= 40);
        }
    }
}

/// Case 5: a signature that is missing or that comes back.
#[test]
fn case_05_signatures_of_gemini() {
    let signed = |id: &str, signature: &str| {
        let mut call = call(id, "a", "{}");
        call["extra_content"] = json!({"google": {"thought_signature": signature}});
        call
    };
    let members = json!({"messages": [
        {"role": "user", "content": "U"},
        {"role": "assistant", "tool_calls": [call("old", "a", "{}")]},
        result("old", json!("x")),
        {"role": "user", "content": "U"},
        {"role": "assistant", "content": null, "tool_calls": [signed("c1", "S1"), call("c2", "a", "{}")]},
        result("c1", json!("x")), result("c2", json!("x")),
        {"role": "assistant", "tool_calls": [call("c3", "a", "{}")]},
        result("c3", json!("x")),
        {"role": "assistant", "content": "T", "extra_content": {"google": {"thought_signature": "S2"}}},
    ], "tools": [tool("a")]});
    let request = request(members);
    for (model, dummy) in [
        ("gemini-2.5-pro", false),
        ("gemini-3-pro", true),
        ("gemini-3.5-flash", true),
        ("gemini-3.1-pro-preview", true),
    ] {
        let options = options_for(Format::Gemini, model);
        let (body, dropped, warnings) = translated_with(Format::Gemini, &request, &options);
        let signature = |content: usize, part: usize| {
            body["contents"][content]["parts"][part]["thoughtSignature"].as_str()
        };
        assert_eq!(signature(1, 0), None, "an earlier turn is not checked");
        assert_eq!((signature(4, 0), signature(4, 1)), (Some("S1"), None));
        let expected = dummy.then_some("skip_thought_signature_validator");
        assert_eq!(signature(6, 0), expected, "{model}");
        assert_eq!(signature(8, 0), Some("S2"));
        assert_eq!((dropped.len(), warnings.len()), (0, usize::from(dummy)));
    }
}

/// A round of the tool loop goes back as the provider wrote it, and is translated for another provider.
#[test]
fn rounds_of_the_tool_loop() {
    let answer = json!({"id": "msg_1", "type": "message", "role": "assistant", "content": [
        {"type": "thinking", "thinking": "t", "signature": "sig"},
        {"type": "text", "text": "T"},
        {"type": "tool_use", "id": "toolu_1", "name": "a", "input": {"x": 1}},
    ], "stop_reason": "tool_use", "usage": {"input_tokens": 1, "output_tokens": 1}});
    let completion = Format::Anthropic
        .decode(answer.to_string().as_bytes(), ids(), DecodeOptions::default())
        .unwrap();
    let results = vec![ToolResult {
        call_id: "toolu_1".to_owned(),
        name: "a".to_owned(),
        content: "{\"r\":2}".to_owned().into(),
        is_error: false,
    }];
    let turn = completion.to_turn(Format::Anthropic, results);
    let restored: Turn = serde_json::from_str(&serde_json::to_string(&turn).unwrap()).unwrap();
    assert_eq!(restored, turn);
    let mut request = request(json!({"tools": [tool("a")]}));
    request.history.push(HistoryItem::Turn(turn));

    let (body, _, _) = translated_with(Format::Anthropic, &request, &options(Format::Anthropic));
    assert_eq!(body["messages"][1], json!({"role": "assistant", "content": answer["content"]}));
    let content = json!([{"type": "text", "text": "{\"r\":2}"}]);
    let block = json!({"type": "tool_result", "tool_use_id": "toolu_1", "content": content});
    assert_eq!(body["messages"][2], json!({"role": "user", "content": [block]}));

    let (body, _, _) = translated_with(Format::Gemini, &request, &options(Format::Gemini));
    let expected = json!([
        {"role": "model", "parts": [{"text": "T"}, {"functionCall": {"name": "a", "args": {"x": 1}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "a", "response": {"output": {"r": 2}}}}]},
    ]);
    assert_eq!(body["contents"].as_array().unwrap()[1..], expected.as_array().unwrap()[..]);

    let (body, dropped, _) = translated_with(Format::OpenAi, &request, &options(Format::OpenAi));
    let expected = json!([
        {"role": "assistant", "content": "T", "tool_calls": [call("toolu_1", "a", "{\"x\":1}")]},
        {"role": "tool", "tool_call_id": "toolu_1", "content": "{\"r\":2}"},
    ]);
    assert_eq!(body["messages"].as_array().unwrap()[1..], expected.as_array().unwrap()[..]);
    assert_eq!(dropped, ["messages[].extra_content", "messages[].reasoning_content"]);
}

/// What a client sends for its calls in a round that it continues reaches the model as in a conversation without rounds.
#[test]
fn results_of_the_client_in_a_round() {
    let image = json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}});
    let parts = json!([{"type": "text", "text": "Error: x"}, image, {"type": "text", "text": "y"}]);
    let ordinary =
        request(conversation(json!([call("c1", "a", "{}")]), json!([result("c1", parts.clone())])));
    let [user, HistoryItem::Message(said), HistoryItem::Message(answered)] = &ordinary.history[..]
    else {
        panic!()
    };
    let MessageBody::Result(answered) = &answered.body else { panic!() };
    let of_anthropic = json!([{"type": "tool_use", "id": "c1", "name": "a", "input": {}}]);
    let of_gemini = json!([{"functionCall": {"name": "a", "args": {}}}]);
    let of_responses =
        json!([{"type": "function_call", "call_id": "c1", "name": "a", "arguments": "{}"}]);
    let none = Value::Null;
    for (format, from, native) in [
        (Format::OpenAi, Format::OpenAi, &none),
        (Format::OpenAiCompatible, Format::Gemini, &of_gemini),
        (Format::WorkersAi, Format::WorkersAi, &none),
        (Format::Responses, Format::Responses, &of_responses),
        (Format::Responses, Format::OpenAi, &none),
        (Format::Anthropic, Format::Anthropic, &of_anthropic),
        (Format::Anthropic, Format::OpenAi, &none),
        (Format::Gemini, Format::Gemini, &of_gemini),
        (Format::Gemini, Format::OpenAi, &none),
    ] {
        let result = ToolResult { name: "a".to_owned(), ..answered.clone() };
        let turn = HistoryItem::Turn(Turn {
            provider: String::new(),
            format: from,
            message: said.written.as_ref().unwrap().get().to_owned(),
            native: if native.is_null() { String::new() } else { native.to_string() },
            results: vec![result],
        });
        let round = ChatRequest { history: vec![user.clone(), turn], ..ordinary.clone() };
        let expected = translated_with(format, &ordinary, &options(format));
        assert_eq!(translated_with(format, &round, &options(format)), expected, "{format:?}");
        assert!(expected.0.to_string().contains("AAAA"), "{format:?}");
    }
}

/// Case 5: within the loop, Gemini's own parts go back with their signatures, and results have the ids of its calls.
#[test]
fn case_05_rounds_of_gemini() {
    let parts = json!([
        {"functionCall": {"name": "a", "args": {}}, "thoughtSignature": "S"},
        {"functionCall": {"id": "x1", "name": "a", "args": {}}},
    ]);
    let answer = json!({"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}]});
    let completion = Format::Gemini
        .decode(answer.to_string().as_bytes(), ids(), DecodeOptions::default())
        .unwrap();
    let result = |call: &crate::wire::ToolCall<'_>| ToolResult {
        call_id: call.id.to_string(),
        name: call.name.to_string(),
        content: "Error: no".to_owned().into(),
        is_error: true,
    };
    let results = completion.message.tool_calls.iter().map(result).collect();
    let mut request = request(json!({"tools": [tool("a")]}));
    request.history.push(HistoryItem::Turn(completion.to_turn(Format::Gemini, results)));
    let (body, _, _) = translated_with(Format::Gemini, &request, &options(Format::Gemini));
    assert_eq!(body["contents"][1], json!({"role": "model", "parts": parts}));
    let response = json!({"error": "Error: no"});
    assert_eq!(
        body["contents"][2]["parts"],
        json!([
            {"functionResponse": {"name": "a", "response": response}},
            {"functionResponse": {"id": "x1", "name": "a", "response": response}},
        ])
    );
}
