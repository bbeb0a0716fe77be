//! Names of the client's tools that not every provider accepts.

use crate::gateway::tests::approval::select;
use crate::gateway::tests::loops::{streamed, world};
use crate::gateway::tests::*;

const PATHS: [&str; 3] = ["/v1/chat/completions", "/v1/messages", "/v1/responses"];

/// Models, and the longest name that their provider gets.
const MODELS: [(&str, usize); 5] =
    [("openai/m", 64), ("own/m", 64), ("items/m", 64), ("google/m", 64), ("anthropic/m", 128)];

const PROVIDERS: &[(&str, &str)] = &[
    ("ANTHROPIC_API_KEY", "k"),
    ("GEMINI_API_KEY", "k"),
    ("PROVIDERS", "own,items"),
    ("OWN_BASE_URL", "https://own.example/v1"),
    ("ITEMS_BASE_URL", "https://items.example/v1"),
    ("ITEMS_API", "responses"),
];

/// A name with so many characters.
fn long(start: &str, length: usize) -> String {
    format!("{start}{}", "x".repeat(length - start.len()))
}

/// A request whose conversation has called the first tool and one that is no longer there. The model must call the last one.
fn request(path: &str, model: &str, names: &[String], gone: &str) -> Value {
    let schema = json!({"type": "object", "properties": {"tool": {"enum": names}}});
    let first = names[0].as_str();
    let last = names.last().unwrap();
    match path {
        "/v1/messages" => {
            let tools = names.iter().map(|name| json!({"name": name, "input_schema": schema}));
            let call = |id, name| json!({"type": "tool_use", "id": id, "name": name, "input": {"name": name}});
            let result = |id| json!({"type": "tool_result", "tool_use_id": id, "content": "r"});
            json!({"model": model, "max_tokens": 100, "tools": tools.collect::<Vec<_>>(),
            "tool_choice": {"type": "tool", "name": last},
            "messages": [
                {"role": "user", "content": "hi"},
                {"role": "assistant", "content": [call("c1", first), call("c2", gone)]},
                {"role": "user", "content": [result("c1"), result("c2")]}
            ]})
        }
        "/v1/responses" => {
            let function = |name| json!({"type": "function", "name": name, "parameters": schema});
            let call = |id, name| json!({"type": "function_call", "call_id": id, "name": name, "arguments": "{}"});
            let result = |id| json!({"type": "function_call_output", "call_id": id, "output": "r"});
            json!({"model": model, "tools": names.iter().map(function).collect::<Vec<_>>(),
                "tool_choice": {"type": "allowed_tools", "mode": "required", "tools": names.iter().map(|name| json!({"type": "function", "name": name})).collect::<Vec<_>>()},
                "input": [{"role": "user", "content": "hi"}, call("c1", first), call("c2", gone), result("c1"), result("c2")]})
        }
        _ => {
            let function = |name| json!({"type": "function", "function": {"name": name, "parameters": schema}});
            let message = json!({"role": "assistant", "content": null, "tool_calls": [call("c1", first, "{}"), call("c2", gone, "{}")]});
            json!({"model": model, "tools": names.iter().map(function).collect::<Vec<_>>(),
            "tool_choice": {"type": "function", "function": {"name": last}},
            "messages": [
                {"role": "user", "content": "hi"}, message,
                {"role": "tool", "tool_call_id": "c1", "content": "r"},
                {"role": "tool", "tool_call_id": "c2", "name": gone, "content": "r"}
            ]})
        }
    }
}

/// All names of functions in a request: of tools, choices, calls and results.
fn names_in(body: &Value, names: &mut Vec<String>) {
    match body {
        Value::Array(items) => items.iter().for_each(|item| names_in(item, names)),
        Value::Object(members) => {
            for (name, value) in members {
                match value {
                    Value::String(found) if name == "name" => names.push(found.clone()),
                    Value::Array(found) if name == "allowedFunctionNames" => {
                        names.extend(found.iter().map(|it| it.as_str().unwrap().to_owned()));
                    }
                    // What a schema and arguments have is none.
                    _ if ["parameters", "input_schema", "parametersJsonSchema", "args"]
                        .contains(&name.as_str())
                        || name == "input" && value.is_object() => {}
                    _ => names_in(value, names),
                }
            }
        }
        _ => {}
    }
}

/// An answer of the provider at this address that calls a function of this name.
fn calling(url: &str, name: &str, stream: bool) -> Result<HttpResponse, HttpError> {
    let events = |events: &[Value]| {
        let event = |it: &Value| match it["type"].as_str() {
            Some(kind) => format!("event: {kind}\ndata: {it}\n\n"),
            None => format!("data: {it}\n\n"),
        };
        answer(200, events.iter().map(event).collect::<String>())
    };
    let arguments = json!({"tool": "t"}).to_string();
    if url.contains("enerateContent") {
        let part = json!({"functionCall": {"name": name, "args": {}}});
        let body = json!({"candidates": [{"content": {"parts": [part]}, "finishReason": "STOP"}]});
        return if stream { events(&[body]) } else { answer(200, body.to_string()) };
    }
    if url.ends_with("/messages") {
        let block = json!({"type": "tool_use", "id": "n1", "name": name, "input": {}});
        let message = |content: Value, reason: Value| {
            json!({"id": "m", "type": "message", "role": "assistant", "model": "c", "content": content,
                "stop_reason": reason, "usage": {"input_tokens": 1, "output_tokens": 1}})
        };
        if !stream {
            return answer(200, message(json!([block]), json!("tool_use")).to_string());
        }
        return events(&[
            json!({"type": "message_start", "message": message(json!([]), Value::Null)}),
            json!({"type": "content_block_start", "index": 0, "content_block": block}),
            json!({"type": "content_block_stop", "index": 0}),
            json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 1}}),
            json!({"type": "message_stop"}),
        ]);
    }
    if url.ends_with("/responses") {
        let item = json!({"id": "fc_1", "type": "function_call", "call_id": "n1", "name": name, "arguments": arguments});
        let response = |output: Value, status: &str| {
            json!({"id": "r", "object": "response", "created_at": 1, "model": "m", "status": status, "output": output,
                "tools": [{"type": "function", "name": name}], "usage": {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}})
        };
        if !stream {
            return answer(200, response(json!([item]), "completed").to_string());
        }
        return events(&[
            json!({"type": "response.created", "response": response(json!([]), "in_progress")}),
            json!({"type": "response.output_item.added", "output_index": 0, "item": item}),
            json!({"type": "response.output_item.done", "output_index": 0, "item": item}),
            json!({"type": "response.completed", "response": response(json!([item]), "completed")}),
        ]);
    }
    let whole = calls(&[call("n1", name, &arguments)]);
    if stream { streamed(whole) } else { whole }
}

fn ask(path: &'static str, answers: Vec<Result<HttpResponse, HttpError>>, body: &Value) -> Reply {
    let gateway = TestGateway { path, ..TestGateway::with(PROVIDERS) };
    gateway.ask(answers, body)
}

#[test]
fn long_names_come_back() {
    // Two have the same first 64 characters.
    let same = "mcp__plugin_chrome-devtools-mcp_chrome-devtools__performance_analyze_";
    let names = [64, 65, 128].map(|length| long("mcp__a_", length)).to_vec();
    let names = [names, vec![format!("{same}insight"), format!("{same}trace")]].concat();
    let gone = long("gone-", 100);
    for path in PATHS {
        for (model, most) in MODELS {
            let mut body = request(path, model, &names, &gone);
            // Without an answer, the test sees what the provider gets.
            let probe = ask(path, vec![], &body);
            assert_eq!(probe.sent.len(), 1, "{path} {model} {}", probe.text);
            let (url, sent) = (&probe.sent[0].url, &probe.sent[0].body);
            let mut found = Vec::new();
            names_in(sent, &mut found);
            let is_accepted = |name: &String| {
                name.len() <= most && name.starts_with(|c: char| c.is_ascii_alphabetic())
            };
            assert!(found.iter().all(is_accepted), "{path} {model} {sent}");
            let tools: Vec<_> = found.iter().filter(|it| !it.starts_with("gone-")).collect();
            let distinct: std::collections::BTreeSet<_> = tools.iter().collect();
            assert_eq!(distinct.len(), names.len(), "{path} {model} {distinct:?}");
            assert!(distinct.contains(&&names[0]), "64 characters are few enough: {distinct:?}");
            assert_eq!(distinct.contains(&&names[1]), most == 128, "{model}");
            let gone_sent = found.iter().find(|it| it.starts_with("gone-"));
            assert!(gone_sent.is_some(), "{path} {model} {sent}");
            assert!(
                sent.to_string().contains(&format!("\"{}\"", names[1])),
                "a schema keeps its enum"
            );
            // The model calls the tool of each name that the provider has got.
            for stream in [false, true] {
                body["stream"] = json!(stream);
                let mut left: Vec<_> = names.iter().collect();
                for sent in &distinct {
                    let reply = ask(path, vec![calling(url, sent, stream)], &body);
                    assert_eq!(reply.status, 200, "{path} {model} {}", reply.text);
                    let called = called(&reply);
                    let position = left.iter().position(|name| **name == called);
                    let position = position.unwrap_or_else(|| panic!("{path} {model} {called}"));
                    left.remove(position);
                    let is_renamed = **sent != &called;
                    assert!(!is_renamed || !reply.text.contains(sent.as_str()), "{}", reply.text);
                }
            }
        }
    }
}

/// The name of the function that an answer calls, wherever the format has it.
fn called(reply: &Reply) -> String {
    let answers = match serde_json::from_str(&reply.text) {
        Ok(answer) => vec![answer],
        Err(_) => reply.events(),
    };
    let places = [
        "/choices/0/message/tool_calls/0/function/name",
        "/choices/0/delta/tool_calls/0/function/name",
        "/content/0/name",
        "/content_block/name",
        "/output/0/name",
        "/item/name",
        "/response/output/0/name",
    ];
    let found = answers.iter().flat_map(|it| places.iter().filter_map(|place| it.pointer(place)));
    let found: std::collections::BTreeSet<_> = found.filter_map(Value::as_str).collect();
    assert_eq!(found.len(), 1, "all events agree: {}", reply.text);
    found.into_iter().collect()
}

#[test]
fn names_have_at_most_128_characters() {
    for path in PATHS {
        for model in ["openai/m", "anthropic/m"] {
            let body = request(path, model, &[long("a", 129)], "gone");
            let reply = ask(path, vec![], &body);
            assert_eq!((reply.status, reply.sent.len()), (400, 0), "{path} {}", reply.text);
            assert!(reply.text.contains("1 to 128 letters"), "{}", reply.text);
        }
    }
}

/// Models call functions by names that no provider takes back, and the client answers that there is none.
#[test]
fn calls_of_names_that_no_provider_accepts() {
    let names = [long("tool", 20)];
    for gone in ["functions.w", "wetter für", "ns/w:0", &long("gone-", 200)] {
        for path in PATHS {
            for (model, most) in MODELS {
                let body = request(path, model, &names, gone);
                let probe = ask(path, vec![], &body);
                assert_eq!(probe.sent.len(), 1, "{path} {model} {}", probe.text);
                let mut found = Vec::new();
                names_in(&probe.sent[0].body, &mut found);
                let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
                let is_accepted = |it: &String| it.len() <= most && it.chars().all(is_plain);
                assert!(found.iter().all(is_accepted), "{path} {model} {found:?}");
                let sent = found.iter().find(|it| **it != names[0]);
                let sent = sent.unwrap_or_else(|| panic!("{path} {model} {found:?}"));
                // The model may call it so again.
                for stream in [false, true] {
                    let mut body = body.clone();
                    body["stream"] = json!(stream);
                    let url = &probe.sent[0].url;
                    let reply = ask(path, vec![calling(url, sent, stream)], &body);
                    assert_eq!(called(&reply), gone, "{path} {model} {}", reply.text);
                }
            }
        }
    }
}

/// A choice of several tools, custom tools, and a name that another tool has as its own.
#[test]
fn choices_and_custom_tools() {
    let name = long("mcp__a_", 80);
    let custom = json!({"type": "custom", "custom": {"name": name}});
    let choice = json!({"type": "custom", "custom": {"name": name}});
    let allowed = json!({"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [{"type": "function", "function": {"name": name}}]}});
    for (tools, choice) in [(json!([custom]), choice), (json!([tool(&name)]), allowed)] {
        for model in ["openai/m", "own/m", "items/m"] {
            let body = chat(json!({"model": model, "tools": tools, "tool_choice": choice}));
            let sent = ask(PATHS[0], vec![], &body).sent.remove(0).body;
            let mut found = Vec::new();
            names_in(&sent, &mut found);
            assert_eq!(found.len(), 2, "{sent}");
            assert!(found[0] == found[1] && found[0].len() == 64, "{sent}");
            // A tool that has the short name keeps it.
            let mut tools = tools.as_array().unwrap().clone();
            tools.push(tool(&found[0]));
            let body = chat(json!({"model": model, "tools": tools}));
            let sent = ask(PATHS[0], vec![], &body).sent.remove(0).body;
            let mut others = Vec::new();
            names_in(&sent, &mut others);
            assert!(others[1] == found[0] && others[0] != found[0], "{sent}");
        }
    }
}

/// The calls of an answer of both kinds, and the request that continues after them.
#[test]
fn sealed_rounds_have_the_names_of_the_provider() {
    let name = long("mcp__a_", 80);
    let own = select(json!({"allowed": ["Echo.Say"], "require_approval": "never"}));
    for model in ["openai/m", "items/m", "google/m"] {
        let mut body = chat(json!({"model": model, "tools": [own, tool(&name)]}));
        let gateway = world(PROVIDERS);
        let probe = gateway.ask(vec![], &body);
        let mut found = Vec::new();
        names_in(&probe.sent[0].body["tools"], &mut found);
        let sent = found.iter().find(|it| it.starts_with("mcp__a_")).unwrap();
        let url = &probe.sent[0].url;
        let say = json!({"text": "a"});
        let both = match model {
            "openai/m" => {
                calls(&[call("c1", "Echo_Say", &say.to_string()), call("c2", sent, "{}")])
            }
            "items/m" => {
                let item = |id, name, arguments: &Value| json!({"type": "function_call", "call_id": id, "name": name, "arguments": arguments.to_string()});
                let items = [item("c1", "Echo_Say", &say), item("c2", sent, &json!({}))];
                let body = json!({"id": "r", "model": "m", "status": "completed", "output": items});
                answer(200, body.to_string())
            }
            _ => {
                let part =
                    |name, args: &Value| json!({"functionCall": {"name": name, "args": args}});
                let parts = [part("Echo_Say", &say), part(sent, &json!({}))];
                let body =
                    json!({"candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}]});
                answer(200, body.to_string())
            }
        };
        let reply = gateway.ask(vec![both], &body);
        let message = &reply.json()["choices"][0]["message"];
        assert_eq!(message["tool_calls"][0]["function"]["name"], json!(name), "{}", reply.text);
        let result =
            json!({"role": "tool", "tool_call_id": message["tool_calls"][0]["id"], "content": "r"});
        body["messages"].as_array_mut().unwrap().extend([message.clone(), result]);
        let reply = gateway.ask(vec![calling(url, sent, false)], &body);
        let text = reply.sent[0].body.to_string();
        assert!(!text.contains(&name), "{model} {text}");
        assert!(text.matches(sent.as_str()).count() >= 2, "{model} {text}");
        assert!(reply.text.contains(&format!("\"{name}\"")), "{model} {}", reply.text);
    }
}
