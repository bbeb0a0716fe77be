//! Which members and tools of a request arrive at the provider.

use crate::gateway::tests::loops::streamed;
use crate::gateway::tests::*;

pub(super) const PROVIDERS: &[(&str, &str)] = &[
    ("ANTHROPIC_API_KEY", "k"),
    ("GEMINI_API_KEY", "k"),
    ("PROVIDERS", "own"),
    ("OWN_BASE_URL", "https://own.example/v1"),
];

/// What no provider may get.
const MARK: &str = "https://evil.example/mcp";

/// The answer `hi` of the provider of a model.
pub(super) fn hi(model: &str) -> Result<HttpResponse, HttpError> {
    let anthropic = json!({
        "id": "m", "type": "message", "role": "assistant", "model": "c", "stop_reason": "end_turn",
        "content": [{"type": "text", "text": "hi"}], "usage": {"input_tokens": 1, "output_tokens": 1},
    });
    let gemini =
        json!({"candidates": [{"content": {"parts": [{"text": "hi"}]}, "finishReason": "STOP"}]});
    match model {
        "anthropic/m" => answer(200, anthropic.to_string()),
        "google/m" => answer(200, gemini.to_string()),
        _ => says("hi"),
    }
}

#[test]
fn unknown_members_arrive_at_no_provider() {
    let server = json!([{"type": "url", "url": MARK}]);
    for (name, value) in [
        ("plugins", json!([{"id": "web", "engine": MARK}])),
        ("mcp_servers", server.clone()),
        ("extra_body", json!({"tools": server})),
        ("models", json!([MARK])),
        ("provider", json!({"only": [MARK]})),
        ("n_predict", json!(MARK)),
        ("container", json!(MARK)),
        ("tool_config", json!({"url": MARK})),
    ] {
        for model in ["openai/m", "own/m", "anthropic/m", "google/m"] {
            let body = chat(json!({"model": model, name: value, "temperature": 0.5}));
            let reply = TestGateway::with(PROVIDERS).ask(vec![hi(model)], &body);
            assert_eq!(reply.status, 200, "{model} {name} {}", reply.text);
            let sent = reply.sent[0].body.to_string();
            assert!(!sent.contains(name) && !sent.contains(MARK), "{model} {sent}");
            assert!(sent.contains("0.5"), "{model} {sent}");
            let two_api = &reply.json()["_2api"];
            assert_eq!(two_api["dropped"], json!([name]), "{model} {two_api}");
            assert!(two_api["warnings"][0].as_str().unwrap().starts_with(name), "{two_api}");
            assert!(!reply.log.concat().contains(MARK), "{:?}", reply.log);
        }
    }
    // A request with very many of them has a short answer.
    let many = (0..5_000).map(|at| (format!("x{at}"), json!(MARK)));
    let reply = TestGateway::new().ask(vec![says("hi")], &chat(Value::Object(many.collect())));
    assert_eq!(reply.json()["_2api"]["dropped"].as_array().unwrap().len(), 64);
    assert!(!reply.sent[0].body.to_string().contains(MARK));
}

/// A header has the notes, too, if they are fit for one.
#[test]
fn a_header_has_what_was_changed() {
    let unknown = "the gateway does not know this member, so no provider gets it";
    for (members, expected) in [
        (json!({}), None),
        (json!({"models": 1}), Some(format!("models: {unknown}; models is dropped"))),
        (json!({"a\r\nset-cookie: b": 1}), Some("and 2 more".to_owned())),
        (json!({"k\u{fc}": 1, "b": 1}), Some(format!("b: {unknown}; b is dropped; and 2 more"))),
    ] {
        for stream in [false, true] {
            let mut body = chat(members.clone());
            body["stream"] = json!(stream);
            let answers = vec![if stream { streamed(says("hi")) } else { says("hi") }];
            let reply = TestGateway::new().ask(answers, &body);
            assert_eq!(reply.header("x-2api-warnings"), expected.as_deref(), "{members}");
        }
    }
    let many = (0..60).map(|at| (format!("{at}{}", "x".repeat(50)), json!(1)));
    let reply = TestGateway::new().ask(vec![says("hi")], &chat(Value::Object(many.collect())));
    let header = reply.header("x-2api-warnings").unwrap();
    assert!(header.len() < 1200 && header.ends_with(" more"), "{header}");
}

/// Some providers take tools from messages.
#[test]
fn unknown_members_of_messages_arrive_at_no_provider() {
    let search = json!([{"type": "builtin_function", "function": {"name": MARK}}]);
    let assistant = json!({"role": "assistant", "content": "x", "reasoning_content": "r"});
    for role in ["system", "developer", "user"] {
        for model in ["openai/m", "own/m", "anthropic/m", "google/m"] {
            let unknown = json!({"role": role, "content": "hi", "name": "n", "tools": search});
            let messages = json!([unknown, assistant, {"role": "user", "content": "ho"}]);
            let body = chat(json!({"model": model, "messages": messages}));
            let reply = TestGateway::with(PROVIDERS).ask(vec![hi(model)], &body);
            assert_eq!(reply.status, 200, "{model} {role} {}", reply.text);
            let sent = &reply.sent[0].body;
            assert!(!sent.to_string().contains(MARK), "{model} {sent}");
            let dropped = reply.json()["_2api"]["dropped"].to_string();
            assert!(dropped.contains("messages[].tools"), "{model} {dropped}");
            if model == "own/m" {
                let role = if role == "developer" { "system" } else { role };
                let known = json!({"role": role, "content": "hi", "name": "n"});
                let messages = sent["messages"].as_array().unwrap();
                assert!(
                    [known, assistant.clone()].iter().all(|it| messages.contains(it)),
                    "{sent}"
                );
            }
        }
    }
}

/// A model on the operator's own machines fetches them from there.
#[test]
fn addresses_of_parts_are_public() {
    for (name, url, is_sent) in [
        ("image_url", "https://example.com/a.png", true),
        ("image_url", "DATA:image/png;base64,eA==", true),
        ("image_url", "http://169.254.169.254/latest", false),
        ("image_url", "file:///etc/passwd", false),
        ("image_url", "/etc/passwd", false),
        ("video_url", "http://10.0.0.1/", false),
        ("audio_url", "ftp://a.example/", false),
        ("document_url", "http://10.0.0.1/", false),
    ] {
        for (value, place) in [(json!({"url": url}), ".url"), (json!(url), "")] {
            let part = json!({"type": name, (name): value});
            let messages = json!([{"role": "user", "content": [part]}]);
            let body = chat(json!({"model": "own/m", "messages": messages}));
            let reply = TestGateway::with(PROVIDERS).ask(vec![hi("own/m")], &body);
            assert_eq!(reply.sent.len(), usize::from(is_sent), "{name} {url} {}", reply.text);
            if is_sent {
                assert_eq!(reply.sent[0].body["messages"], messages);
            } else {
                let param = format!("messages[0].content[0].{name}{place}");
                assert_eq!((reply.status, &reply.json()["error"]["param"]), (400, &json!(param)));
            }
        }
    }
}

/// Servers with OpenAI's format read further parts, and further members.
#[test]
fn addresses_anywhere_in_a_part_are_public() {
    const PRIVATE: &str = "http://169.254.169.254/latest";
    for (part, place) in [
        (json!({"type": "image", "image": PRIVATE}), "image"),
        (json!({"type": "image", "image": " FILE:/etc/passwd"}), "image"),
        (json!({"type": "video", "video": ["https://a.example/1", PRIVATE]}), "video[1]"),
        (json!({"type": "file", "file": {"file_data": PRIVATE}}), "file.file_data"),
        (json!({"type": "x", "source": {"type": "url", "url": PRIVATE}}), "source.url"),
        (json!({"image_url": {"x": {"url": "/etc/passwd"}}}), "image_url.x.url"),
        (json!({"type": "text", "text": PRIVATE}), ""),
        (json!({"type": "text", "text": "x", "citations": [{"url": "http://a.example"}]}), ""),
        (
            json!({"type": "file", "file": {"file_data": "data:;base64,eA==", "filename": "a: b"}}),
            "",
        ),
    ] {
        let messages = json!([{"role": "user", "content": [part]}]);
        let body = chat(json!({"model": "own/m", "messages": messages}));
        let reply = TestGateway::with(PROVIDERS).ask(vec![hi("own/m")], &body);
        assert_eq!(reply.sent.len(), usize::from(place.is_empty()), "{part} {}", reply.text);
        if !place.is_empty() {
            let param = format!("messages[0].content[0].{place}");
            assert_eq!((reply.status, &reply.json()["error"]["param"]), (400, &json!(param)));
        }
    }
}

#[test]
fn the_old_form_of_tools_is_rejected() {
    let function = json!({"name": "a", "description": MARK, "parameters": {"type": "object"}});
    let called = json!({"role": "assistant", "content": null, "function_call": {"name": "a", "arguments": "{}"}});
    let result = json!({"role": "function", "name": "a", "content": "1"});
    let user = json!({"role": "user", "content": "hi"});
    for (members, param) in [
        (json!({"functions": [function]}), "functions"),
        (json!({"functions": [function], "tools": [tool("a")]}), "functions"),
        (json!({"function_call": {"name": "a"}}), "function_call"),
        (json!({"function_call": "auto"}), "function_call"),
        (json!({"messages": [user, called, result]}), "messages[1].function_call"),
        (json!({"messages": [user, result]}), "messages[1].role"),
    ] {
        for variables in [&[][..], &[("GATEWAY_TOOL_ALLOWLIST", "a")]] {
            let reply = TestGateway::with(variables).ask(vec![says("hi")], &chat(members.clone()));
            assert_eq!((reply.status, reply.sent.len()), (400, 0), "{members} {}", reply.text);
            assert_eq!(reply.json()["error"]["param"], param, "{}", reply.text);
        }
    }
    // Clients send the answers back that they got, with members that are null.
    let plain = json!({"role": "assistant", "content": "x", "function_call": null});
    let body = chat(json!({"messages": [user, plain, user], "functions": null}));
    assert_eq!(TestGateway::new().ask(vec![says("hi")], &body).status, 200);
}

#[test]
fn tools_of_a_provider_arrive_only_if_the_operator_names_them() {
    let mcp = json!({"type": "mcp", "server_label": "x", "server_url": MARK});
    let search = json!({"type": "web_search", "search_context_size": "high"});
    let run = json!({"type": "code_interpreter", "container": {"type": "auto"}});
    let custom = json!({"type": "custom", "custom": {"name": "c"}});
    let list = |names| [("GATEWAY_TOOL_ALLOWLIST", names)];
    let warn = [("GATEWAY_TOOL_ALLOWLIST", "a"), ("GATEWAY_TOOL_ALLOWLIST_MODE", "warn")];
    let off = [("GATEWAY_TOOL_ALLOWLIST", "web_search"), ("GATEWAY_TOOL_ALLOWLIST_MODE", "off")];
    for (members, variables, param) in [
        (json!({"tools": [mcp]}), &[][..], "tools[0].type"),
        (json!({"tools": [tool("a"), mcp]}), &[], "tools[1].type"),
        (json!({"tools": [search]}), &[], "tools[0].type"),
        (json!({"tools": [run]}), &[], "tools[0].type"),
        (json!({"web_search_options": {}}), &[], "web_search_options"),
        (json!({"tools": [mcp]}), &list("a,web_search"), "tools[0].type"),
        (json!({"tools": [mcp]}), &warn, "tools[0].type"),
        (json!({"tools": [mcp]}), &off, "tools[0].type"),
        (json!({"web_search_options": {}}), &list("web_search"), "web_search_options"),
        (json!({"tools": [custom]}), &list("a"), "tools[0]"),
        (json!({"tools": [search]}), &list("web_search"), ""),
        (json!({"tools": [search]}), &off, ""),
        (json!({"tools": [mcp]}), &list("mcp"), ""),
        (json!({"web_search_options": {}}), &list("web_search_options"), ""),
        (json!({"tools": [tool("a"), custom]}), &[], ""),
        (json!({"tools": [custom]}), &list("c"), ""),
    ] {
        for model in ["openai/m", "own/m"] {
            let mut body = chat(members.clone());
            body["model"] = json!(model);
            let world = TestGateway::with(&[PROVIDERS, variables].concat());
            let reply = world.ask(vec![says("hi")], &body);
            if param.is_empty() {
                assert_eq!(reply.status, 200, "{members} {variables:?} {}", reply.text);
                for (name, value) in members.as_object().unwrap() {
                    assert_eq!(&reply.sent[0].body[name], value, "{variables:?}");
                }
            } else {
                assert_eq!((reply.status, reply.sent.len()), (400, 0), "{members} {variables:?}");
                let error = &reply.json()["error"];
                assert_eq!(
                    (&error["code"], &error["param"]),
                    (&json!("tool_not_allowed"), &json!(param))
                );
            }
        }
    }
}

#[test]
fn a_choice_names_tools_of_the_request() {
    let custom = json!({"type": "custom", "custom": {"name": "c"}});
    let mcp = json!({"type": "mcp", "server_url": MARK});
    let allowed = |tool: &Value| json!({"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [tool]}});
    let function = |name: &str| json!({"type": "function", "function": {"name": name}});
    for (choice, is_known) in [
        (custom.clone(), true),
        (allowed(&custom), true),
        (allowed(&function("a")), true),
        (function("a"), true),
        (function("c"), false),
        (json!({"type": "custom", "custom": {"name": "a"}}), false),
        (json!({"type": "custom"}), false),
        (mcp.clone(), false),
        (allowed(&mcp), false),
        (json!({"type": "web_search"}), false),
        // `allowed_tools` means nothing in other choices.
        (json!({"type": "mcp", "server_url": MARK, "allowed_tools": {"tools": []}}), false),
        (
            json!({"type": "custom", "custom": {"name": "x"}, "allowed_tools": {"tools": [custom]}}),
            false,
        ),
        (allowed(&json!("mcp")), false),
        (allowed(&json!({"type": "function"})), false),
    ] {
        let body = chat(json!({"tools": [tool("a"), custom], "tool_choice": choice}));
        let reply = TestGateway::new().ask(vec![calls(&[call("1", "a", "{}")])], &body);
        assert_eq!(reply.status, if is_known { 200 } else { 400 }, "{choice} {}", reply.text);
        assert_eq!(reply.sent.len(), usize::from(is_known), "{choice}");
    }
}

#[test]
fn few_of_very_many_members_are_named() {
    let part = |at: usize| json!({"type": "text", "text": "x", (format!("member{at}")): 1});
    let parts: Vec<_> = (0..5_000).map(part).collect();
    let body =
        chat(json!({"model": "anthropic/m", "messages": [{"role": "user", "content": parts}]}));
    let gateway = TestGateway::with(&[("ANTHROPIC_API_KEY", "k")]);
    let reply = gateway.ask(vec![hi("anthropic/m")], &body);
    assert_eq!(reply.status, 200, "{}", reply.text);
    assert!(reply.json()["_2api"]["dropped"].as_array().unwrap().len() <= 64, "{}", reply.text);
}
