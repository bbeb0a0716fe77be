//! Compiled-in tools in the format of OpenAI Responses: items of MCP, with approval.

use crate::gateway::tests::responses::*;

const OWN: &str = "toolbooth";

fn server(approval: Value) -> Value {
    json!({"type": "mcp", "server_label": "own", "server_url": OWN, "allowed_tools": ["Echo.Say", "Echo.Narrow"],
        "require_approval": approval})
}

#[test]
fn compiled_in_tools_are_items_of_the_answer() {
    let calls =
        json!([message("One moment"), function_call("c1", "Echo_Say", &json!({"text": "a"}))]);
    let request = body(json!({"tools": [server(json!("never"))]}));
    let (result, sent) = both(&gateway(&[]), &[calls, json!([message("Done")])], &request);
    assert_eq!(kinds(&result), ["mcp_list_tools", "message", "mcp_call", "message"]);
    let output = &result["output"];
    assert_eq!(
        (&output[0]["server_label"], output[0]["tools"].as_array().unwrap().len()),
        (&json!("own"), 2)
    );
    assert_eq!(output[0]["tools"][0]["input_schema"]["type"], "object");
    let call = &output[2];
    assert_eq!(
        (&call["name"], &call["arguments"]),
        (&json!("Echo_Say"), &json!("{\"text\":\"a\"}"))
    );
    assert_eq!((&call["status"], &call["error"]), (&json!("completed"), &Value::Null));
    assert!(call["output"].as_str().unwrap().contains('a'), "{call}");
    assert_eq!(result["usage"]["input_tokens"], 20, "of both rounds");
    let second = sent[1].body["input"].as_array().unwrap();
    assert_eq!(second.last().unwrap()["type"], "function_call_output");

    // The items come back with the next request, for any provider.
    let mut input = vec![json!({"role": "user", "content": "hi"})];
    input.extend(output.as_array().unwrap().iter().cloned());
    input.push(json!({"role": "user", "content": "more"}));
    let mut next = request;
    next["input"] = json!(input);
    let reply = gateway(&[]).ask(vec![native(json!([message("x")]))], &next);
    assert_eq!(kinds(&reply.json()), ["message"], "the list is known");
    let sent: Vec<_> = reply.sent[0].body["input"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["type"].clone())
        .collect();
    assert_eq!(
        sent,
        ["message", "message", "function_call", "function_call_output", "message", "message"]
    );
    next["model"] = json!("anthropic/m");
    let reply = gateway(ANTHROPIC).ask(vec![], &next);
    assert_eq!(reply.sent[0].body["messages"][1]["content"][1]["name"], "Echo_Say");
}

#[test]
fn a_call_that_fails_has_its_error() {
    let calls = json!([function_call("c1", "Echo_Say", &json!({"text": 5}))]);
    let request = body(json!({"tools": [server(json!("never"))]}));
    let (result, _) = both(&gateway(&[]), &[calls, json!([message("Done")])], &request);
    let call = &result["output"][1];
    assert_eq!((&call["status"], &call["output"]), (&json!("failed"), &Value::Null));
    assert_eq!(call["error"]["type"], "mcp_tool_execution_error");
}

#[test]
fn calls_that_need_approval() {
    for (approval, asks) in [
        (json!("always"), true),
        (json!("never"), false),
        (Value::Null, true),
        (json!({"never": {"tool_names": ["Echo_Narrow"]}}), false),
        (json!({"always": {"tool_names": ["Echo_Narrow"]}}), true),
    ] {
        let calls = json!([function_call("c1", "Echo_Narrow", &json!({"text": "a"}))]);
        let request = body(json!({"tools": [server(approval.clone())]}));
        let answers = [calls, json!([message("Done")])];
        let answers = if asks { &answers[..1] } else { &answers };
        let (result, _) = both(&gateway(&[]), answers, &request);
        let expected = if asks { "mcp_approval_request" } else { "mcp_call" };
        assert_eq!(result["output"][1]["type"], expected, "{approval}");
    }
}

#[test]
fn an_answer_to_a_request_for_approval() {
    let calls = json!([function_call("c1", "Echo_Say", &json!({"text": "abc"}))]);
    let request = body(json!({"tools": [server(json!("always"))]}));
    let (result, _) = both(&gateway(&[]), &[calls], &request);
    let asked = &result["output"][1];
    assert_eq!((&asked["id"], &asked["name"]), (&json!("mcpr_c1"), &json!("Echo_Say")));
    assert_eq!(asked["arguments"], "{\"text\":\"abc\"}");
    let next = |approve: bool| {
        let mut next = request.clone();
        let response = json!({"type": "mcp_approval_response", "approval_request_id": "mcpr_c1", "approve": approve, "reason": "no"});
        next["input"] =
            json!([{"role": "user", "content": "hi"}, result["output"][0], asked, response]);
        next
    };
    let (approved, sent) = both(&gateway(&[]), &[json!([message("Done")])], &next(true));
    assert_eq!(kinds(&approved), ["mcp_call", "message"]);
    let call = &approved["output"][0];
    assert_eq!(
        (&call["approval_request_id"], &call["status"]),
        (&json!("mcpr_c1"), &json!("completed"))
    );
    let result_sent = &sent[0].body["input"][2];
    assert_eq!(result_sent["type"], "function_call_output");
    assert!(result_sent["output"].as_str().unwrap().contains("abc"), "{result_sent}");
    // It does not run again.
    let mut later = next(true);
    let items = later["input"].as_array_mut().unwrap();
    items.extend(approved["output"].as_array().unwrap().iter().cloned());
    items.push(json!({"role": "user", "content": "more"}));
    let (again, sent) = both(&gateway(&[]), &[json!([message("Ok")])], &later);
    assert_eq!(kinds(&again), ["message"]);
    assert!(sent[0].body["input"][2]["output"].as_str().unwrap().contains("abc"));

    let (rejected, sent) = both(&gateway(&[]), &[json!([message("Pity")])], &next(false));
    assert_eq!(kinds(&rejected), ["message"]);
    assert_eq!(
        sent[0].body["input"][2]["output"],
        "Error: The user did not allow this call. The user says: no"
    );

    // Without the tool, nothing runs.
    let mut without = next(true);
    without["tools"] = json!([{"type": "mcp", "server_label": "own", "server_url": OWN, "allowed_tools": ["Echo.Narrow"]}]);
    let reply = gateway(&[]).ask(vec![], &without);
    assert_eq!((reply.status, reply.sent.len()), (400, 0), "{}", reply.text);
}

/// With a call of the client in the same answer, the next request continues after both.
#[test]
fn the_client_continues_after_its_own_calls() {
    let calls = json!([
        function_call("c1", "Echo_Say", &json!({"text": "abc"})),
        function_call("c2", "mine", &json!({})),
    ]);
    let tools = json!([server(json!("never")), {"type": "function", "name": "mine"}]);
    for variables in [&[][..], &[("STATE_KEY", "")]] {
        let gateway = gateway(variables);
        let (result, _) =
            both(&gateway, std::slice::from_ref(&calls), &body(json!({"tools": tools})));
        let sealed = variables.is_empty();
        let expected: &[&str] = match sealed {
            true => &["mcp_list_tools", "mcp_call", "reasoning", "function_call"],
            false => &["mcp_list_tools", "mcp_call", "function_call"],
        };
        assert_eq!(kinds(&result), expected);
        let items = result["output"].as_array().unwrap();
        // Some clients keep no items of MCP.
        for keeps_items in if sealed { &[true, false][..] } else { &[true] } {
            let mut input = vec![json!({"role": "user", "content": "hi"})];
            let is_kept =
                |item: &&Value| *keeps_items || !item["type"].as_str().unwrap().starts_with("mcp");
            input.extend(items.iter().filter(is_kept).cloned());
            input.push(json!({"type": "function_call_output", "call_id": "c2", "output": "R"}));
            let next = body(json!({"tools": tools, "input": input}));
            let reply = gateway.ask(vec![native(json!([message("x")]))], &next);
            assert_eq!(reply.status, 200, "{}", reply.text);
            let sent = reply.sent[0].body["input"].as_array().unwrap();
            let sent: Vec<_> = sent
                .iter()
                .map(|item| {
                    json!([
                        item["type"],
                        item["call_id"],
                        item["output"].as_str().map(|it| it.contains("abc"))
                    ])
                })
                .collect();
            assert_eq!(
                sent,
                [
                    json!(["message", null, null]),
                    json!(["function_call", "c1", null]),
                    json!(["function_call", "c2", null]),
                    json!(["function_call_output", "c1", true]),
                    json!(["function_call_output", "c2", false]),
                ]
            );
        }
    }
}

/// What the user has answered applies to the call that was asked about, even if its id comes again.
#[test]
fn an_id_that_comes_again_approves_no_other_call() {
    let asks = |text: &str| {
        json!({"type": "mcp_approval_request", "id": "mcpr_c1", "server_label": "own", "name": "Echo_Say",
            "arguments": json!({"text": text}).to_string()})
    };
    let answers = |approve: bool| json!({"type": "mcp_approval_response", "approval_request_id": "mcpr_c1", "approve": approve});
    let ask = |items: Value| {
        let mut input = vec![json!({"role": "user", "content": "hi"})];
        input.extend(items.as_array().unwrap().iter().cloned());
        let request = body(json!({"tools": [server(json!("always"))], "input": input}));
        gateway(&[]).ask(vec![native(json!([message("Done")]))], &request)
    };
    let reply = ask(json!([asks("denied"), answers(false), asks("allowed"), answers(true)]));
    assert_eq!(reply.status, 200, "{}", reply.text);
    let outputs: Vec<_> = reply.sent[0].body["input"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|item| item["output"].as_str())
        .collect();
    assert!(outputs[0].starts_with("Error: The user did not allow"), "{outputs:?}");
    assert!(outputs[1].contains("allowed"), "{outputs:?}");
    for items in [
        json!([asks("denied"), asks("allowed"), answers(true)]),
        json!([asks("denied"), answers(false), answers(true)]),
    ] {
        let reply = ask(items);
        assert_eq!((reply.status, reply.sent.len()), (400, 0), "{}", reply.text);
    }
}

/// A request that fails after an approved call has run is not repeated by the client, which would run it again.
#[test]
fn a_failure_after_an_approved_call() {
    let asked = json!({"type": "mcp_approval_request", "id": "mcpr_c1", "server_label": "own", "name": "Echo_Say",
        "arguments": "{\"text\":\"a\"}"});
    for (approve, header) in [(true, Some("false")), (false, None)] {
        let answers = json!({"type": "mcp_approval_response", "approval_request_id": "mcpr_c1", "approve": approve});
        for stream in [false, true] {
            let request = body(json!({"tools": [server(json!("always"))], "stream": stream,
                "input": [{"role": "user", "content": "hi"}, asked, answers]}));
            let reply = gateway(&[]).ask(vec![answer(503, "{}")], &request);
            let got = (reply.status, reply.header("x-should-retry"));
            assert_eq!(got, (503, header), "{stream} {}", reply.text);
        }
    }
}

/// The client repeats a request that has failed: what can be known to fail does before approved calls run.
#[test]
fn approved_calls_run_only_if_the_model_can_be_asked() {
    // The hash is that of "key-one".
    let keys = |budgets: Value| {
        let hash = "9b346041bc9a49574eb2665b2ad2a0a3f9f9cce4e42f5d1f26deb8a256b5966a";
        json!([{"name": "one", "scopes": ["*"], "hash": hash, "budgets": budgets}]).to_string()
    };
    let models = r#"{"m": {"targets": [{"provider": "openai", "model": "m"}], "price": {"input": 1, "output": 2}, "max_output_tokens": 100},
        "g": {"targets": [{"provider": "google", "model": "g"}]}}"#;
    let headers = [JSON, ("authorization", "Bearer key-one")];
    let schema = json!({"type": "array"});
    let unsupported = json!({"type": "function", "name": "f", "parameters": schema});
    for (budgets, model, status, code) in [
        (json!([{"window": "1d", "usd": 1}]), "m", 200, ""),
        (json!([{"window": "1d", "usd": 0.0001}]), "m", 429, "budget_exceeded"),
        (json!([{"window": "1d", "requests": 1}]), "m", 429, "budget_exceeded"),
        (json!([{"window": "1d", "requests": 9}]), "g", 400, "tool_schema_incompatible"),
    ] {
        let keys = keys(budgets.clone());
        let mut gateway = gateway(&[
            ("AUTH", "api-key"),
            ("API_KEYS", &keys),
            ("MODELS", models),
            ("GEMINI_API_KEY", "k"),
        ]);
        gateway.host.bindings.insert(toolbooth::host::LEDGER);
        if budgets[0]["requests"] == 1 {
            let used = gateway.ask_with(
                vec![native(json!([message("x")]))],
                &headers,
                &body(json!({"model": "m"})),
                usize::MAX,
            );
            assert_eq!(used.status, 200, "{}", used.text);
        }
        for stream in [false, true] {
            let mut request = body(
                json!({"model": model, "stream": stream, "tools": [server(json!("always"))], "input": [
                    {"role": "user", "content": "hi"},
                    {"type": "mcp_approval_request", "id": "mcpr_c1", "server_label": "own", "name": "Echo_Say",
                        "arguments": "{\"text\":\"a\"}"},
                    {"type": "mcp_approval_response", "approval_request_id": "mcpr_c1", "approve": true},
                ]}),
            );
            if model == "g" {
                request["tools"].as_array_mut().unwrap().push(unsupported.clone());
            }
            let items = json!([message("x")]);
            let answered = if stream { answer(200, native_stream(&items)) } else { native(items) };
            let reply = gateway.ask_with(vec![answered], &headers, &request, usize::MAX);
            assert_eq!(reply.status, status, "{budgets} {}", reply.text);
            assert!(status == 200 || reply.code() == code, "{budgets} {}", reply.text);
            let has_run = reply.log.concat().contains("Echo_Say");
            assert_eq!(
                (has_run, reply.sent.len()),
                (status == 200, usize::from(status == 200)),
                "{:?}",
                reply.log
            );
        }
    }
}
