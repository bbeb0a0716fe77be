//! The search in the server's tools: the model finds those whose definitions it does not get.

use crate::gateway::tests::approval::{narrow, select};
use crate::gateway::tests::loops::{both, names, say, world};
use crate::gateway::tests::*;
use crate::tests::CAPABILITIES;
use toolbooth::capabilities::SEARCH;

fn searching(variables: &[(&str, &str)]) -> TestGateway {
    let capabilities = [CAPABILITIES, &[&SEARCH]].concat();
    TestGateway { capabilities: capabilities.leak(), ..world(variables) }
}

const KEYS: &[(&str, &str)] = &[("ANTHROPIC_API_KEY", "sk-ant"), ("GEMINI_API_KEY", "sk-gem")];

fn search(id: &str, query: &str) -> Value {
    call(id, "search_tools", &json!({"query": query}).to_string())
}

fn found(id: &str, name: &str, text: &str) -> Value {
    let input = json!({"name": name, "arguments": {"text": text}});
    call(id, "call_tool", &input.to_string())
}

/// The contents of the results that the model got last.
fn results(sent: &[Sent]) -> Vec<String> {
    let messages = sent.last().unwrap().body["messages"].as_array().unwrap();
    let results = messages.iter().rev().take_while(|message| message["role"] == "tool");
    let mut results: Vec<_> =
        results.map(|message| message["content"].as_str().unwrap().to_owned()).collect();
    results.reverse();
    results
}

#[test]
fn which_definitions_the_model_gets() {
    let short = ["Echo_Private", "search_tools", "call_tool"];
    for (entries, expected) in [
        (vec![select(json!({"search": true}))], &short[..]),
        (vec![json!({"type": "mcp", "server_url": "toolbooth", "defer_loading": true})], &short),
        (vec![select(json!({"search": false}))], &["Echo_Narrow", "Echo_Private", "Echo_Say"]),
        // What a different entry selects is listed.
        (
            vec![select(json!({"search": true})), select(json!({"allowed": ["Echo.Say"]}))],
            &["Echo_Private", "Echo_Say", "search_tools", "call_tool"],
        ),
        // There is nothing to search for.
        (vec![select(json!({"search": true, "allowed": ["Echo.Private"]}))], &["Echo_Private"]),
    ] {
        let reply = searching(&[]).ask(vec![says("hi")], &chat(json!({"tools": entries})));
        let tools = reply.sent[0].body["tools"].as_array().unwrap();
        assert_eq!(names(tools), expected, "{entries:?}");
    }
}

#[test]
fn each_format_has_the_tools_of_the_search() {
    for (model, tools, schema) in [
        ("openai/m", "/tools", "/function/parameters"),
        ("anthropic/m", "/tools", "/input_schema"),
        ("google/gemini-3-pro", "/tools/0/functionDeclarations", "/parametersJsonSchema"),
    ] {
        let tool = select(json!({"search": true}));
        let body = chat(json!({"model": model, "tools": [tool]}));
        let reply = searching(KEYS).ask(vec![says("hi")], &body);
        let tools = reply.sent[0].body.pointer(tools).unwrap().as_array().unwrap();
        let searches = &tools[tools.len() - 2];
        assert!(searches.to_string().contains("search_tools"), "{searches}");
        let schema = searches.pointer(schema).unwrap_or_else(|| panic!("{searches}"));
        assert_eq!(schema["required"], json!(["query"]));
    }
}

#[test]
fn the_model_searches_and_calls_what_it_has_found() {
    let gateway = searching(&[]);
    let tools = json!({"tools": [select(json!({"search": true, "require_approval": "never"}))]});
    let answers = [
        calls(&[search("c1", "say")]),
        calls(&[found("c2", "Echo_Say", "one"), found("c3", "Echo.Say", "two")]),
        says("done"),
    ];
    let (result, sent) = both(&gateway, &answers, &chat(tools));
    assert_eq!((&result["text"], &result["finish_reason"]), (&json!("done"), &json!("stop")));
    let ran = result["_2api"]["tool_calls"].as_array().unwrap();
    let ran: Vec<_> = ran.iter().map(|it| (&it["tool"], it["error"].is_null())).collect();
    let expected = ["search_tools", "Echo_Say", "Echo_Say"].map(Value::from);
    assert_eq!(ran, expected.iter().map(|name| (name, true)).collect::<Vec<_>>());
    let listed = results(&sent[..2]).remove(0);
    let listed: Value = serde_json::from_str(&listed).unwrap();
    let listed = listed["tools"].as_array().unwrap().iter().map(|tool| tool["name"].clone());
    assert_eq!(listed.collect::<Vec<_>>(), ["Echo_Say", "Echo_Narrow"]);
    assert_eq!(results(&sent), ["one", "two"]);
    // The log has the tools that ran.
    let reply = gateway.ask(
        answers.to_vec(),
        &chat(json!({"tools": [select(json!({"search": true, "require_approval": "never"}))]})),
    );
    let log = reply.log.join("\n");
    assert!(log.contains("Echo_Say") && log.contains("search_tools"), "{log}");
    assert!(!log.contains("call_tool"), "{log}");
}

/// Neither the search nor `call_tool` leads to a tool that the request does not select, or that the caller may not run.
#[test]
fn a_search_stays_within_the_selection() {
    let entry =
        || select(json!({"search": true, "allowed": ["Echo.Say"], "require_approval": "never"}));
    for (variables, entry) in [
        (&[][..], entry()),
        (
            &[("TOOL_ALLOWLIST", "Echo_Say")],
            select(json!({"search": true, "require_approval": "never"})),
        ),
    ] {
        let answers = [
            calls(&[
                search("c1", "echo"),
                found("c2", "Echo_Narrow", "x"),
                found("c3", "Echo_Narrow__1_0_0", "x"),
                found("c4", "Echo.Narrow@1.0.0", "x"),
                found("c5", "Echo_Say__1_0_0", "x"),
                found("c6", "Echo_Scoped", "x"),
                call("c7", "call_tool", "{}"),
                call("c8", "call_tool", r#"{"name": "call_tool"}"#),
            ]),
            says("done"),
        ];
        let (_, sent) = both(&searching(variables), &answers, &chat(json!({"tools": [entry]})));
        let results = results(&sent);
        assert!(results[0].contains("Echo_Say") && !results[0].contains("Narrow"), "{results:?}");
        for result in &results[1..6] {
            assert!(result.starts_with("Error: Tool "), "{result}");
            assert!(
                result.contains("There is no such tool") || result.contains("no such version"),
                "{result}"
            );
        }
        assert!(
            results[6].starts_with("Error: Invalid arguments for tool 'call_tool'"),
            "{results:?}"
        );
        assert!(results[7].starts_with("Error: name must be that of another tool"), "{results:?}");
    }
}

#[test]
fn calls_of_found_tools_need_approval_like_others() {
    let tools = json!({"tools": [select(json!({"search": true}))]});
    for name in ["Echo_Narrow", "Echo_Narrow__1_0_0", "Echo.Narrow", "Echo.Narrow@1.0.0"] {
        let answers = [calls(&[found("c1", name, "x")])];
        let (result, _) = both(&searching(&[]), &answers, &chat(tools.clone()));
        assert_eq!(result["calls"], json!(["call_tool"]), "{name}");
        assert_eq!(result["_2api"]["tool_calls"], Value::Null, "{name}");
    }
    // A model may call by its name what it has found.
    let answers = [calls(&[say("c1", "one")]), says("done")];
    let (result, _) = both(&searching(&[]), &answers, &chat(tools.clone()));
    assert_eq!(result["_2api"]["tool_calls"][0]["tool"], "Echo_Say");
    let (result, _) = both(&searching(&[]), &[calls(&[narrow("c1", "one")])], &chat(tools));
    assert_eq!(result["calls"], json!(["Echo_Narrow"]));
}

#[test]
fn a_search_that_is_not_possible() {
    let entry = || select(json!({"search": true}));
    for (gateway, tools, expected) in [
        (world(&[]), json!([entry()]), "tools[0].search"),
        (searching(&[]), json!([select(json!({"search": "yes"}))]), "tools[0].search"),
        (searching(&[]), json!([entry(), tool("search_tools")]), "tools"),
        (searching(&[]), json!([entry(), tool("call_tool")]), "tools"),
        (searching(&[]), json!([entry(), tool("Echo_Say")]), "tools"),
    ] {
        let reply = gateway.ask(vec![], &chat(json!({"tools": tools})));
        assert_eq!((reply.status, reply.sent.len()), (400, 0), "{}", reply.text);
        assert_eq!(reply.json()["error"]["param"], expected, "{}", reply.text);
    }
    // Without the search, the names are free.
    let tools = json!([tool("search_tools"), select(json!({}))]);
    assert_eq!(searching(&[]).ask(vec![says("hi")], &chat(json!({"tools": tools}))).status, 200);
}

#[test]
fn responses_defer_tools() {
    let gateway = |path| TestGateway { path, ..searching(KEYS) };
    let tools = json!([{"type": "mcp", "server_label": "own", "server_url": "toolbooth", "defer_loading": true, "require_approval": "always"}]);
    let body = json!({"model": "google/gemini-3-pro", "input": "hi", "tools": tools});
    let part = json!({"functionCall": {"id": "c1", "name": "call_tool", "args": {"name": "Echo_Say", "arguments": {"text": "x"}}}});
    let candidate = json!({"content": {"role": "model", "parts": [part]}, "finishReason": "STOP"});
    let asked = answer(200, json!({"candidates": [candidate]}).to_string());
    let reply = gateway("/v1/responses").ask(vec![asked], &body).json();
    let [list, asked] = &reply["output"].as_array().unwrap()[..] else { panic!("{reply}") };
    let listed = list["tools"].as_array().unwrap().iter().map(|tool| tool["name"].clone());
    assert_eq!(listed.collect::<Vec<_>>(), ["Echo_Private", "search_tools", "call_tool"]);
    assert_eq!(
        (&asked["type"], &asked["name"]),
        (&json!("mcp_approval_request"), &json!("call_tool"))
    );
    let response = json!({"type": "mcp_approval_response", "approval_request_id": asked["id"], "approve": true});
    let mut next = body.clone();
    next["input"] = json!([{"role": "user", "content": "hi"}, list, asked, response]);
    let candidate =
        json!({"content": {"role": "model", "parts": [{"text": "done"}]}, "finishReason": "STOP"});
    let done = answer(200, json!({"candidates": [candidate]}).to_string());
    let reply = gateway("/v1/responses").ask(vec![done], &next).json();
    let ran = &reply["output"][0];
    assert_eq!(
        (&ran["type"], &ran["name"], &ran["output"]),
        (&json!("mcp_call"), &json!("call_tool"), &json!("x"))
    );
    // What is approved must be selected.
    next["tools"][0]["allowed_tools"] = json!(["Echo.Narrow"]);
    let reply = gateway("/v1/responses").ask(vec![], &next);
    assert_eq!((reply.status, reply.sent.len()), (400, 0), "{}", reply.text);
}

#[test]
fn messages_defer_tools() {
    let names = |default: Value, configs: Value| {
        let body = json!({
            "model": "anthropic/m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}],
            "mcp_servers": [{"type": "url", "name": "own", "url": "toolbooth"}],
            "tools": [{"type": "mcp_toolset", "mcp_server_name": "own", "default_config": default, "configs": configs}],
        });
        let gateway = TestGateway { path: "/v1/messages", ..searching(KEYS) };
        let reply = gateway.ask(vec![], &body);
        match reply.sent.first() {
            None => json!(reply.json()["error"]["message"].as_str().unwrap().split(' ').next()),
            Some(sent) => {
                sent.body["tools"].as_array().unwrap().iter().map(|it| it["name"].clone()).collect()
            }
        }
    };
    let deferred = || json!({"defer_loading": true});
    for (default, configs, expected) in [
        (deferred(), json!({}), json!(["Echo_Private", "search_tools", "call_tool"])),
        (
            deferred(),
            json!({"Echo_Say": {"defer_loading": false}, "Echo_Narrow": {"defer_loading": true}}),
            json!(["Echo_Private", "Echo_Say", "search_tools", "call_tool"]),
        ),
        (
            json!({"enabled": false}),
            json!({"Echo_Say": {"enabled": true, "defer_loading": true}, "Echo_Narrow": {"enabled": true}}),
            json!(["Echo_Narrow", "search_tools", "call_tool"]),
        ),
        (
            json!({"enabled": false, "defer_loading": true}),
            json!({"Echo_Say": {"enabled": true}}),
            json!(["search_tools", "call_tool"]),
        ),
        (
            json!({}),
            json!({"Echo_Say": {"defer_loading": true}}),
            json!("tools[0].configs.Echo_Say.defer_loading"),
        ),
        (json!({"enabled": false, "defer_loading": true}), json!({}), json!("tools[0].allowed:")),
    ] {
        assert_eq!(names(default.clone(), configs.clone()), expected, "{default} {configs}");
    }
}
