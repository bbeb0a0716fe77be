//! Roles and the order of messages, as each provider takes them.

use crate::gateway::tests::conversation::{CHAT, MESSAGES, RESPONSES, ask};
use crate::gateway::tests::*;

const LATER: &str = "a system message within the conversation applies to all of it";

fn system(text: &str) -> Value {
    json!({"role": "system", "content": text})
}

fn user(content: impl Into<Value>) -> Value {
    json!({"role": "user", "content": content.into()})
}

fn assistant(text: &str) -> Value {
    json!({"role": "assistant", "content": text})
}

fn message(role: &str, kind: &str, text: &str) -> Value {
    json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]})
}

/// Providers of which nothing is known get one system message, the first, with all texts in their order.
#[test]
fn one_leading_system_message() {
    let developer = json!({"role": "developer", "content": "Permissions."});
    let codex =
        [message("developer", "input_text", "Permissions."), message("user", "input_text", "hi")];
    let late = json!([user("hi"), system("agents available"), assistant("yes"), user("go")]);
    let merged =
        json!([system("Base.\n\nagents available"), user("hi"), assistant("yes"), user("go")]);
    for (path, body, expected, warns) in [
        (
            CHAT,
            json!({"messages": [developer, user("hi")]}),
            json!([system("Permissions."), user("hi")]),
            false,
        ),
        (
            CHAT,
            json!({"messages": [system("A"), developer, system("B"), user("hi")]}),
            json!([system("A\n\nPermissions.\n\nB"), user("hi")]),
            false,
        ),
        (
            CHAT,
            json!({"messages": [user("hi"), assistant("x"), developer, user("go")]}),
            json!([system("Permissions."), user("hi"), assistant("x"), user("go")]),
            true,
        ),
        (
            CHAT,
            json!({"messages": [system("A"), developer]}),
            json!([user("A\n\nPermissions.")]),
            false,
        ),
        (
            CHAT,
            json!({"messages": [system(" "), developer, user("hi")]}),
            json!([system("Permissions."), user("hi")]),
            false,
        ),
        (
            RESPONSES,
            json!({"instructions": "Base.", "input": codex}),
            json!([system("Base.\n\nPermissions."), user("hi")]),
            false,
        ),
        (
            RESPONSES,
            json!({"input": [user("hi"), message("assistant", "output_text", "x"), codex[0], user("go")]}),
            json!([system("Permissions."), user("hi"), assistant("x"), user("go")]),
            true,
        ),
        (MESSAGES, json!({"system": "Base.", "messages": late}), merged.clone(), true),
        (
            MESSAGES,
            json!({"system": [{"type": "text", "text": "A"}, {"type": "text", "text": "B"}], "messages": [user("hi")]}),
            json!([system("A\n\nB"), user("hi")]),
            false,
        ),
    ] {
        for model in ["compat/deepseek-v4", "mistral/m"] {
            let got = ask(path, model, &body);
            assert_eq!(got.sent["messages"], expected, "{path} {model} {body}");
            let warned = got.warnings().iter().any(|warning| warning.ends_with(LATER));
            assert_eq!(warned, warns, "{path} {model} {body}: {:?}", got.warnings());
        }
    }
}

/// A dialect says who takes more.
#[test]
fn roles_by_dialect() {
    let developer = json!({"role": "developer", "content": "P"});
    let body = json!({"messages": [developer, user("a"), user("b"), developer, user("c")]});
    let merged = json!([system("P\n\nP"), user("a\n\nb\n\nc")]);
    let as_system = json!([system("P"), user("a"), user("b"), system("P"), user("c")]);
    for (model, variable, expected) in [
        ("openai/m", "", &body["messages"]),
        ("openrouter/m", "", &body["messages"]),
        ("groq/m", "", &body["messages"]),
        ("deepseek/m", "", &as_system),
        ("mistral/m", "", &json!([system("P\n\nP"), user("a"), user("b"), user("c")])),
        ("compat/m", "", &merged),
        ("compat/m", "qwen", &merged),
        ("compat/m", "deepseek", &as_system),
        ("compat/m", "openai", &body["messages"]),
    ] {
        let got =
            conversation::ask_all(CHAT, &[("COMPAT_DIALECT", variable)], model, &[], &body, false);
        assert_eq!(&got.sent["messages"], expected, "{model} {variable}");
    }
}

/// Most providers reject a message of the assistant that is empty, and do not know the members of one who refuses or speaks.
#[test]
fn messages_of_the_assistant_that_say_nothing() {
    let refused =
        |content: Value| json!({"role": "assistant", "content": content, "refusal": "No."});
    let part = json!([{"type": "refusal", "refusal": "No."}]);
    let of_part = json!({"role": "assistant", "content": part});
    let sound = json!({"role": "assistant", "audio": {"id": "audio_1"}});
    let item = json!({"type": "message", "role": "assistant", "content": part});
    let thought = json!({"role": "assistant", "content": "", "reasoning_content": "hm"});
    let empty = |content: Value| json!({"role": "assistant", "content": content});
    let no_calls = json!({"role": "assistant", "content": null, "tool_calls": [], "refusal": null});
    let [mine, yours] = [user("a"), user("b")];
    let alone = json!([mine, yours]);
    let with = |message: Value| json!([mine, message, yours]);
    let merged = json!([user("a\n\nb")]);
    for (path, message, compat, mistral, openrouter, openai) in [
        (CHAT, empty(Value::Null), &merged, &alone, &alone, &alone),
        (CHAT, empty(json!("")), &merged, &alone, &alone, &alone),
        (CHAT, empty(json!([])), &merged, &alone, &alone, &alone),
        (CHAT, empty(json!([{"type": "text", "text": ""}])), &merged, &alone, &alone, &alone),
        (CHAT, no_calls, &merged, &alone, &alone, &alone),
        (CHAT, thought.clone(), &with(thought.clone()), &alone, &with(thought), &alone),
        (
            CHAT,
            empty(json!(" ")),
            &with(assistant(" ")),
            &with(assistant(" ")),
            &with(assistant(" ")),
            &with(assistant(" ")),
        ),
        (
            CHAT,
            refused(Value::Null),
            &with(assistant("No.")),
            &with(assistant("No.")),
            &with(refused(Value::Null)),
            &with(refused(Value::Null)),
        ),
        (
            CHAT,
            of_part.clone(),
            &with(assistant("No.")),
            &with(assistant("No.")),
            &with(of_part.clone()),
            &with(of_part),
        ),
        (
            RESPONSES,
            item,
            &with(assistant("No.")),
            &with(assistant("No.")),
            &with(refused(Value::Null)),
            &with(refused(Value::Null)),
        ),
        (CHAT, sound.clone(), &merged, &alone, &with(sound.clone()), &with(sound)),
    ] {
        let member = if path == CHAT { "messages" } else { "input" };
        let body = json!({member: [mine, message, yours]});
        for (model, expected) in [
            ("compat/m", compat),
            ("mistral/m", mistral),
            ("openrouter/m", openrouter),
            ("openai/gpt-4.1", openai),
        ] {
            // OpenAI gets a request in its format as it was written.
            if path == RESPONSES && model.starts_with("openai/") {
                continue;
            }
            let got = ask(path, model, &body);
            assert_eq!(&got.sent["messages"], expected, "{path} {model} {body}");
            let is_lost =
                !got.sent.to_string().contains("audio_1") && body.to_string().contains("audio_1");
            assert_eq!(
                got.dropped().contains(&"messages[].audio"),
                is_lost,
                "{model} {:?}",
                got.dropped()
            );
        }
    }
}

/// Servers that read arguments for a chat template reject others than objects, and so the rest of the session.
#[test]
fn arguments_of_calls_in_conversations() {
    let malformed = |text: &str| json!({"malformed_arguments": text}).to_string();
    for (written, compat, openai, warns) in [
        (
            json!(r#"{"city": "Rome"}"#),
            r#"{"city": "Rome"}"#.to_owned(),
            r#"{"city": "Rome"}"#,
            false,
        ),
        (json!({"city": "Rome"}), r#"{"city":"Rome"}"#.to_owned(), r#"{"city":"Rome"}"#, false),
        (Value::Null, "{}".to_owned(), "{}", false),
        (json!(""), "{}".to_owned(), "{}", false),
        (json!(r#"{"city":"#), malformed(r#"{"city":"#), r#"{"city":"#, true),
        (json!("[1]"), malformed("[1]"), "[1]", true),
        (json!(r#""Rome""#), malformed(r#""Rome""#), r#""Rome""#, true),
        (json!("null"), malformed("null"), "null", true),
    ] {
        let mut call = json!({"id": "c", "function": {"name": "w", "arguments": written}});
        if written.is_null() {
            call["function"].as_object_mut().unwrap().remove("arguments");
        }
        let chat = json!({"messages": [user("a"), {"role": "assistant", "content": null, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c", "content": "r"}]});
        let item =
            json!({"type": "function_call", "call_id": "c", "name": "w", "arguments": written});
        let items = json!({"input": [user("a"), item, {"type": "function_call_output", "call_id": "c", "output": "r"}]});
        for (path, body) in [(CHAT, &chat), (RESPONSES, &items)] {
            // The format of Responses has only texts.
            if path == RESPONSES && written.is_object() {
                continue;
            }
            for (model, expected) in [
                ("compat/m", compat.as_str()),
                ("deepseek/m", &compat),
                ("mistral/m", &compat),
                ("openai/gpt-4.1", openai),
                ("openai/gpt-5.6-sol", openai),
            ] {
                let got = ask(path, model, body);
                let messages = got.sent["messages"].as_array();
                let sent = match messages {
                    Some(messages) => {
                        let call = &messages[1]["tool_calls"][0];
                        assert_eq!(call["type"], "function", "{path} {model} {call}");
                        &call["function"]["arguments"]
                    }
                    // OpenAI gets a request in its format as it was written.
                    None if path == RESPONSES => continue,
                    None => &got.sent["input"][1]["arguments"],
                };
                assert_eq!(sent, expected, "{path} {model} {body}");
                let warned = got.warnings().iter().any(|it| it.contains("is not a JSON object"));
                assert_eq!(warned, warns && !model.starts_with("openai"), "{path} {model} {body}");
            }
        }
    }
}

/// Members that not all providers know.
#[test]
fn members_by_dialect() {
    for (model, members, expected) in [
        ("compat/m", json!({"max_completion_tokens": 5}), json!({"max_tokens": 5})),
        (
            "compat/m",
            json!({"max_completion_tokens": 5, "max_tokens": 6}),
            json!({"max_tokens": 6}),
        ),
        ("openrouter/m", json!({"max_completion_tokens": 5}), json!({"max_completion_tokens": 5})),
        ("openai/m", json!({"max_completion_tokens": 5}), json!({"max_completion_tokens": 5})),
    ] {
        let mut body = members.clone();
        body["messages"] = json!([user("hi")]);
        let mut sent = ask(CHAT, model, &body).sent;
        sent.as_object_mut().unwrap().retain(|name, _| name.starts_with("max"));
        assert_eq!(sent, expected, "{model} {members}");
    }
    let body = json!({"messages": [user("hi")], "stream_options": {"include_usage": true}});
    for (model, expected) in
        [("compat/m", json!({"include_usage": true})), ("mistral/m", Value::Null)]
    {
        let got = conversation::ask_all(CHAT, &[], model, &[], &body, true);
        assert_eq!(got.sent["stream_options"], expected, "{model}");
    }
}

/// Mistral rejects members that it does not know.
#[test]
fn to_mistral() {
    let calls = json!({"role": "assistant", "content": null, "refusal": null, "annotations": [],
        "tool_calls": [call("aaaaaaaa1", "a", "{}")]});
    let result = json!({"role": "tool", "tool_call_id": "aaaaaaaa1", "content": "5"});
    let body = json!({"messages": [user("hi"), calls, result], "seed": 7, "store": false, "user": "u",
        "max_completion_tokens": 9});
    let got = ask(CHAT, "mistral/m", &body);
    let sent = json!({"role": "assistant", "content": null, "tool_calls": calls["tool_calls"]});
    assert_eq!(got.sent["messages"], json!([user("hi"), sent, result]));
    let [seed, limit, store] = ["random_seed", "max_tokens", "store"].map(|name| &got.sent[name]);
    assert_eq!((seed, limit, store), (&json!(7), &json!(9), &Value::Null));
    assert_eq!(got.dropped(), ["messages[].annotations", "store", "user"]);
}

/// What stands in a system message beside texts is named.
#[test]
fn what_a_system_message_loses() {
    let text = json!({"type": "text", "text": "A", "cache_control": {"type": "ephemeral"}});
    let image = json!({"type": "image_url", "image_url": {"url": "https://a.example/i.png"}});
    let first = json!({"role": "system", "content": [text, image], "name": "n"});
    let body = json!({"messages": [first, system("B"), user("hi")]});
    let got = ask(CHAT, "compat/m", &body);
    assert_eq!(got.sent["messages"], json!([system("A\n\nB"), user("hi")]));
    let expected =
        ["messages[].content[]", "messages[].content[].cache_control", "messages[].name"];
    assert_eq!(got.dropped(), expected);
}

/// A content that is only text is a string for those that know no other. Two messages of the same role are one.
#[test]
fn contents_and_repeated_roles() {
    let text = |text: &str| json!({"type": "text", "text": text});
    let image = json!({"type": "image_url", "image_url": {"url": "https://a.example/i.png"}});
    let call = call("c1", "a", "{}");
    let calls =
        |content: Value| json!({"role": "assistant", "content": content, "tool_calls": [call]});
    let result = json!({"role": "tool", "tool_call_id": "c1", "content": "5"});
    let thought = json!({"role": "assistant", "content": "x", "reasoning_content": "r"});
    for (messages, expected) in [
        (json!([user(json!([text("a"), text("b")]))]), json!([user("a\n\nb")])),
        (json!([user(json!([text("a"), image]))]), json!([user(json!([text("a"), image]))])),
        (
            json!([user("a"), user(json!([text("b"), image]))]),
            json!([user(json!([text("a"), text("b"), image]))]),
        ),
        (
            json!([user("a"), assistant("x"), assistant("y"), user("b")]),
            json!([user("a"), assistant("x\n\ny"), user("b")]),
        ),
        (
            json!([user("a"), assistant("x"), calls(Value::Null), result]),
            json!([user("a"), calls(json!("x")), result]),
        ),
        (
            json!([user("a"), thought, assistant("y"), user("b")]),
            json!([user("a"), thought, assistant("y"), user("b")]),
        ),
    ] {
        let got = ask(CHAT, "compat/m", &json!({"messages": messages}));
        assert_eq!(got.sent["messages"], expected, "{messages}");
        let got = ask(CHAT, "openrouter/m", &json!({"messages": messages}));
        assert_eq!(got.sent["messages"], messages);
    }
}

/// Mistral wants an answer between a result and the user.
#[test]
fn the_user_after_a_result() {
    let calls =
        json!({"role": "assistant", "content": null, "tool_calls": [call("a00000001", "a", "{}")]});
    let result = json!({"role": "tool", "tool_call_id": "a00000001", "content": "5"});
    let body = json!({"messages": [user("a"), calls, result, user("b")]});
    let got = ask(CHAT, "mistral/m", &body);
    let roles: Vec<_> =
        got.sent["messages"].as_array().unwrap().iter().map(|it| &it["role"]).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "assistant", "user"]);
    assert_eq!(got.warnings().len(), 1, "{:?}", got.warnings());
    let got = ask(CHAT, "compat/m", &body);
    assert_eq!(got.sent["messages"].as_array().unwrap().len(), 4);
}

/// Results follow their calls, whatever a client says between them.
#[test]
fn between_calls_and_results() {
    let calls = |id: &str| json!({"role": "assistant", "content": null, "tool_calls": [call(id, "a", "{}"), call("c2", "a", "{}")]});
    let result = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": "5"});
    let late = json!({"role": "developer", "content": "late"});
    let chat = json!({"messages": [user("hi"), calls("c1"), late, result("c1"), system("later"), result("c2"), user("go")]});
    let item =
        |id: &str| json!({"type": "function_call", "call_id": id, "name": "a", "arguments": "{}"});
    let output = |id: &str| json!({"type": "function_call_output", "call_id": id, "output": "5"});
    let items = json!({"input": [user("hi"), item("c1"), item("c2"), late, output("c1"), system("later"), output("c2"), user("go")]});
    for (path, body) in [(CHAT, &chat), (RESPONSES, &items)] {
        for model in ["openrouter/m", "groq/m"] {
            let got = ask(path, model, body);
            let sent = got.sent["messages"].as_array().unwrap().iter();
            let roles: Vec<_> = sent.map(|it| it["role"].as_str().unwrap()).collect();
            let expected = ["user", "assistant", "tool", "tool", "developer", "system", "user"];
            assert_eq!(roles, expected, "{path} {model}");
        }
    }
    let got = ask(CHAT, "openrouter/m", &chat);
    let expected =
        [2, 4].map(|at| format!("messages[{at}] follows the results of the calls before it"));
    assert_eq!(got.warnings(), expected);
}
