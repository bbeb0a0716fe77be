//! What a model has thought goes back to its provider, and to no other.

use crate::gateway::tests::conversation::{
    CHAT, MESSAGES, RESPONSES, ask, ask_all, next, with_tool,
};
use crate::gateway::tests::*;

const FRONTS: [&str; 3] = [CHAT, MESSAGES, RESPONSES];

/// An assistant message with these members, which calls `w`.
fn calling(id: &str, more: Value) -> Value {
    let calls = json!([call(id, "w", r#"{"city":"Rome"}"#)]);
    let mut message = json!({"role": "assistant", "content": null, "tool_calls": calls});
    message.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    message
}

fn details(text: &str) -> Value {
    json!([{"type": "reasoning.text", "text": text, "format": "google-gemini-v1", "index": 0},
        {"type": "reasoning.encrypted", "data": "U0lH", "id": "c1", "format": "google-gemini-v1", "index": 0}])
}

/// The members with reasoning of the assistant messages that a provider got.
fn reasoning(sent: &Value) -> Vec<Value> {
    let messages = sent["messages"].as_array().unwrap().iter();
    let own = |message: &Value| {
        let members = message.as_object().unwrap().iter();
        let members = members.filter(|(name, _)| name.starts_with("reasoning"));
        Value::Object(members.map(|(name, value)| (name.clone(), value.clone())).collect())
    };
    messages.filter(|message| message["role"] == "assistant").map(own).collect()
}

/// The forms of a request in which the client sees reasoning, does not want to see it, or says nothing.
fn requests(path: &'static str) -> Vec<Value> {
    let with = |name: &str, value: Value| {
        let mut body = with_tool(path, "w");
        body[name] = value;
        body
    };
    let thinking = |more: Value| {
        let mut thinking = json!({"type": "enabled", "budget_tokens": 1024});
        thinking.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        with("thinking", thinking)
    };
    match path {
        MESSAGES => {
            vec![with_tool(path, "w"), thinking(json!({})), thinking(json!({"display": "omitted"}))]
        }
        RESPONSES => vec![
            with_tool(path, "w"),
            with("reasoning", json!({"effort": "high", "summary": "auto"})),
            with("include", json!(["reasoning.encrypted_content"])),
        ],
        _ => vec![with_tool(path, "w")],
    }
}

#[test]
fn it_goes_back_to_its_provider() {
    for (model, thought) in [
        ("compat/m", json!({"reasoning_content": "I call w."})),
        ("compat/m", json!({"reasoning": "I call w."})),
        ("compat/m", json!({"reasoning": "I call w.", "reasoning_details": details("I call w.")})),
        ("deepseek/m", json!({"reasoning_content": "I call w.", "content": "Let me see."})),
        ("openrouter/google/gemini-3-pro", json!({"reasoning_details": details("I call w.")})),
        ("groq/m", json!({"reasoning": "I call w."})),
    ] {
        let mut expected = thought.clone();
        expected.as_object_mut().unwrap().remove("content");
        let says = [calling("c1", thought.clone())];
        for path in FRONTS {
            let bodies = requests(path);
            for (body, stream) in bodies.iter().flat_map(|body| [(body, false), (body, true)]) {
                let place = format!("{path} {model} {thought} {stream} {body}");
                let first = ask_all(path, &[], model, &says, body, stream);
                let body = next(path, body, &first.answer);
                let second = ask_all(path, &[], model, &[], &body, stream);
                assert_eq!(reasoning(&second.sent), [expected.clone()], "{place}");
                let calls = &second.sent["messages"][1]["tool_calls"];
                assert_eq!(calls[0]["id"], "c1", "{place}");
                let is_lost = |it: &&str| it.starts_with("messages") || it.starts_with("input");
                assert!(!second.dropped().iter().any(is_lost), "{place} {:?}", second.dropped());
                // Nothing of the carrier is left.
                assert!(!second.sent.to_string().contains("toolbooth"), "{place}");
            }
        }
    }
}

/// Each message gets its own back, whether it calls or not.
#[test]
fn each_message_gets_its_own() {
    let twice = json!([call("c2", "w", "{}"), call("c3", "w", "{}")]);
    let turns = [
        calling("c1", json!({"reasoning_content": "one"})),
        calling("c2", json!({"reasoning_content": "two", "tool_calls": twice})),
        json!({"role": "assistant", "content": "It rains.", "reasoning_content": "three"}),
    ];
    for path in FRONTS {
        for stream in [false, true] {
            let mut body = with_tool(path, "w");
            for turn in &turns {
                let says = std::slice::from_ref(turn);
                let exchanged = ask_all(path, &[], "deepseek/m", says, &body, stream);
                body = next(path, &body, &exchanged.answer);
            }
            let name = if path == RESPONSES { "input" } else { "messages" };
            if path != MESSAGES {
                let user = json!({"role": "user", "content": "go"});
                body[name].as_array_mut().unwrap().push(user);
            }
            let last = ask(path, "deepseek/m", &body);
            let expected = ["one", "two", "three"].map(|text| json!({"reasoning_content": text}));
            assert_eq!(reasoning(&last.sent), expected, "{path} {stream}");
        }
    }
}

/// The conversation goes on with a model of another provider. Clients of Chat Completions send the members of that format themselves.
#[test]
fn it_reaches_no_other_provider() {
    let thought = json!({"reasoning_content": "SECRET", "reasoning_details": details("SECRET")});
    let says = [calling("c1", thought)];
    for (path, name) in
        [(MESSAGES, "messages[].content[].thinking"), (RESPONSES, "input[].encrypted_content")]
    {
        for body in requests(path) {
            let first = ask_all(path, &[], "compat/m", &says, &body, false);
            let body = next(path, &body, &first.answer);
            for model in
                ["other/m", "openrouter/m", "openai/m", "anthropic/m", "google/m", "server/m"]
            {
                let second = ask(path, model, &body);
                let sent = second.sent.to_string();
                let place = format!("{path} {model} {sent}");
                assert!(!sent.contains("SECRET"), "{place}");
                assert!(!sent.contains("toolbooth") && !sent.contains("U0lH"), "{place}");
                assert!(second.dropped().contains(&name), "{place} {:?}", second.dropped());
            }
        }
    }
    let body = with_tool(CHAT, "w");
    let first = ask_all(CHAT, &[], "compat/m", &says, &body, false);
    let body = next(CHAT, &body, &first.answer);
    let both = &["reasoning_content", "reasoning_details"][..];
    for (model, dropped) in [
        ("openai/m", both),
        ("anthropic/m", both),
        ("google/m", both),
        ("mistral/m", both),
        ("groq/m", both),
        ("deepseek/m", &["reasoning_details"]),
    ] {
        let second = ask(CHAT, model, &body);
        for name in dropped {
            let name = format!("messages[].{name}");
            assert!(second.dropped().contains(&&*name), "{model} {name} {:?}", second.dropped());
        }
    }
}

/// A tool of this server in a request at each front.
fn own_tool(path: &str, body: &mut Value) {
    let own = match path {
        RESPONSES => json!({"type": "mcp", "server_label": "own", "server_url": "toolbooth",
            "allowed_tools": ["Echo.Say"], "require_approval": "never"}),
        MESSAGES => {
            json!({"type": "mcp_toolset", "mcp_server_name": "own", "require_approval": "never",
            "default_config": {"enabled": false}, "configs": {"Echo_Say": {"enabled": true}}})
        }
        _ => json!({"type": "toolbooth", "allowed": ["Echo.Say"], "require_approval": "never"}),
    };
    body["tools"].as_array_mut().unwrap().push(own);
    if path == MESSAGES {
        body["mcp_servers"] = json!([{"type": "url", "name": "own", "url": "toolbooth"}]);
    }
}

/// The rounds of this server's tools, while they run and in the next request.
#[test]
fn in_the_loop() {
    let say = |text: &str, thought: &str| {
        let call = call(text, "Echo_Say", &json!({"text": text}).to_string());
        json!({"role": "assistant", "content": null, "reasoning_content": thought, "tool_calls": [call]})
    };
    let says = [
        say("one", "first"),
        say("two", "second"),
        json!({"role": "assistant", "content": "done", "reasoning_content": "third"}),
    ];
    let expected = ["first", "second", "third"].map(|text| json!({"reasoning_content": text}));
    for path in FRONTS {
        for stream in [false, true] {
            let mut body = with_tool(path, "w");
            own_tool(path, &mut body);
            let first = ask_all(path, &[], "deepseek/m", &says, &body, stream);
            assert_eq!(reasoning(&first.sent), expected[..2], "{path} {stream}");
            // Clients of Chat Completions get no rounds.
            if path == CHAT {
                continue;
            }
            let mut body = next(path, &body, &first.answer);
            if path == RESPONSES {
                let user = json!({"role": "user", "content": "go"});
                body["input"].as_array_mut().unwrap().push(user);
            }
            let second = ask(path, "deepseek/m", &body);
            assert_eq!(reasoning(&second.sent), expected, "{path} {stream} {}", second.sent);
        }
    }
}

/// The second round is answered by another model.
#[test]
fn after_a_fallback_in_the_loop() {
    let targets =
        json!([{"provider": "compat", "model": "a"}, {"provider": "other", "model": "b"}]);
    let models = json!({"two": {"targets": targets, "mode": "fallback"}}).to_string();
    let call = call("c1", "Echo_Say", r#"{"text":"x"}"#);
    let says = [
        json!({"role": "assistant", "content": null, "reasoning_content": "SECRET", "tool_calls": [call]}),
        Value::Null,
        json!({"role": "assistant", "content": "done"}),
    ];
    let mut body = json!({"messages": [{"role": "user", "content": "hi"}], "tools": []});
    own_tool(CHAT, &mut body);
    for stream in [false, true] {
        let got = ask_all(CHAT, &[("MODELS", &models)], "two", &says, &body, stream);
        assert_eq!((&got.sent["model"], reasoning(&got.sent)), (&json!("b"), vec![json!({})]));
        assert_eq!(got.dropped(), ["messages[].reasoning_content"], "{stream}");
    }
}

/// Responses are sealed, which needs a key. DeepSeek accepts that there is no reasoning, if the message says so.
#[test]
fn without_a_key_of_the_server() {
    let no_key = [("STATE_KEY", "")];
    let says = [calling("c1", json!({"reasoning_content": "r"}))];
    for stream in [false, true] {
        let body = with_tool(RESPONSES, "w");
        let first = ask_all(RESPONSES, &no_key, "deepseek/m", &says, &body, stream);
        let warning =
            "STATE_KEY is not set, so the provider does not get its signatures and reasoning back";
        assert!(first.warnings().contains(&warning), "{:?}", first.warnings());
        let body = next(RESPONSES, &body, &first.answer);
        let second = ask_all(RESPONSES, &no_key, "deepseek/m", &[], &body, false);
        assert_eq!(reasoning(&second.sent), [json!({"reasoning_content": ""})]);
        // A client of Messages needs none.
        let body = with_tool(MESSAGES, "w");
        let first = ask_all(MESSAGES, &no_key, "deepseek/m", &says, &body, stream);
        let body = next(MESSAGES, &body, &first.answer);
        let second = ask_all(MESSAGES, &no_key, "deepseek/m", &[], &body, false);
        assert_eq!(reasoning(&second.sent), [json!({"reasoning_content": "r"})]);
    }
}

/// Encrypted reasoning of a provider with OpenAI's Responses format.
#[test]
fn encrypted_items_go_back() {
    for path in FRONTS {
        for stream in [false, true] {
            let body = with_tool(path, "w");
            let says = [calling("c1", json!({"encrypted": "gAAA"}))];
            let first = ask_all(path, &[], "server/m", &says, &body, stream);
            let body = next(path, &body, &first.answer);
            let second = ask(path, "server/m", &body);
            let input = second.sent["input"].as_array().unwrap();
            let kinds: Vec<_> =
                input.iter().map(|item| item["type"].as_str().unwrap_or("message")).collect();
            let expected = ["message", "reasoning", "function_call", "function_call_output"];
            assert_eq!(kinds, expected, "{path} {stream}");
            assert_eq!(input[1]["encrypted_content"], "gAAA", "{path} {stream}");
            let third = ask(path, "compat/m", &body);
            assert!(!third.sent.to_string().contains("gAAA"), "{path} {stream}");
            assert!(!third.dropped().is_empty(), "{path} {stream}");
        }
    }
}
