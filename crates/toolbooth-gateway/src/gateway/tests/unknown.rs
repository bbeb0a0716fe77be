//! Items, parts, blocks and events that this server does not know.

use crate::gateway::tests::members::{PROVIDERS, hi};
use crate::gateway::tests::*;

const SETTINGS: &[(&str, &str)] = &[
    ("ANTHROPIC_API_KEY", "k"),
    ("GEMINI_API_KEY", "k"),
    ("PROVIDERS", "own,items"),
    ("OWN_BASE_URL", "https://own.example/v1"),
    ("ITEMS_BASE_URL", "https://items.example/v1"),
    ("ITEMS_API", "responses"),
];

/// Models of providers that get what a client of Responses wrote, and of others.
const SAME: [&str; 2] = ["openai/m", "items/m"];
const OTHERS: [&str; 3] = ["own/m", "anthropic/m", "google/m"];

/// An answer of OpenAI at `/responses`, with these items.
fn response(items: &Value) -> Value {
    json!({"id": "r", "object": "response", "created_at": 7, "model": "m-1", "status": "completed", "output": items,
        "usage": {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}})
}

fn message(text: &str) -> Value {
    json!({"id": "m", "type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text, "annotations": []}]})
}

fn ask(path: &'static str, model: &str, body: &Value) -> Reply {
    let answers = match path == "/v1/responses" && SAME.contains(&model) {
        true => vec![answer(200, response(&json!([message("hi")])).to_string())],
        false => vec![hi(model)],
    };
    let mut body = body.clone();
    body["model"] = json!(model);
    TestGateway { path, ..TestGateway::with(SETTINGS) }.ask(answers, &body)
}

fn dropped(reply: &Reply) -> Vec<String> {
    serde_json::from_value(reply.json()["_2api"]["dropped"].clone()).unwrap_or_default()
}

fn user(content: Value) -> Value {
    json!({"role": "user", "content": content})
}

/// A provider with the format of Responses gets them as they are; for others they are named.
#[test]
fn items_and_parts() {
    let text = json!({"type": "input_text", "text": "Found 3 bugs."});
    let secret = json!({"type": "encrypted_content", "encrypted_content": "gAAAA"});
    let agent = |content: Value| json!({"type": "agent_message", "author": "/main/a", "recipient": "/root", "content": content});
    let call = json!({"type": "function_call", "call_id": "c1", "name": "a", "arguments": "{}"});
    let output = json!({"type": "function_call_output", "call_id": "c1", "output": "R"});
    let new = json!({"type": "of_the_future", "id": "f_1", "note": {"text": "n"}});
    let searched = |kind: &str| json!({"type": kind, "execution": "server", "call_id": null});
    for (items, names, kept) in [
        (
            json!([agent(json!([text]))]),
            &["input[].author", "input[].recipient"][..],
            "Found 3 bugs.",
        ),
        (json!([agent(json!("Plain."))]), &["input[].author"], "Plain."),
        (
            json!([agent(json!([text, secret]))]),
            &["input[].content[] (encrypted_content)"],
            "Found 3 bugs.",
        ),
        (json!([agent(json!([secret]))]), &["input[].content[] (encrypted_content)"], ""),
        (json!([new]), &["input[].of_the_future"], ""),
        (json!([{"type": "context_compaction", "id": "x"}]), &["input[].context_compaction"], ""),
        (
            json!([user(json!([text, {"type": "input_scent", "data": "x"}]))]),
            &["input[].content[] (input_scent)"],
            "Found",
        ),
        (
            json!([user(json!([{"type": "input_scent", "data": "x"}]))]),
            &["input[].content[] (input_scent)"],
            "",
        ),
        (
            json!([{"role": "assistant", "content": [{"type": "output_scent"}, {"type": "output_text", "text": "Said."}]}]),
            &["input[].content[] (output_scent)"],
            "Said.",
        ),
        (json!([{"role": "user", "content": "Mine.", "mood": "good"}]), &["input[].mood"], "Mine."),
        // A call between, and results of the one type for calls of the other.
        (json!([call, new, output]), &["input[].of_the_future"], "\"R\""),
        (
            json!([call, {"type": "future_call_output", "call_id": "c1", "output": "Late."}]),
            &["input[].future_call_output"],
            "Late.",
        ),
        (
            json!([call, {"type": "future_call_output", "call_id": "c1"}]),
            &["input[].future_call_output"],
            "cannot read",
        ),
        (
            json!([{"type": "future_call", "call_id": "f1"}, {"type": "function_call_output", "call_id": "f1", "output": "R"}]),
            &["input[].future_call", "input[].output"],
            "",
        ),
        (
            json!([{"type": "local_shell_call", "call_id": "f1", "action": {}}, {"type": "function_call_output", "call_id": "f1", "output": "R"}]),
            &["input[].local_shell_call", "input[].output"],
            "",
        ),
        (
            json!([call, {"type": "function_call_output", "call_id": "c1", "output": [{"type": "input_scent"}]}]),
            &["input[].output[] (input_scent)"],
            "",
        ),
        (
            json!([searched("tool_search_call"), searched("tool_search_output")]),
            &["input[].tool_search_call", "input[].tool_search_output"],
            "",
        ),
    ] {
        let mut input = vec![user(json!("hi"))];
        input.extend(items.as_array().unwrap().iter().cloned());
        let body = json!({"input": input, "tools": [{"type": "function", "name": "a"}]});
        for model in SAME {
            let reply = ask("/v1/responses", model, &body);
            assert_eq!(reply.status, 200, "{items} {}", reply.text);
            assert_eq!(reply.sent[0].body["input"], body["input"], "{items}");
            assert_eq!(dropped(&reply), [""; 0], "{items}");
        }
        for model in OTHERS {
            let reply = ask("/v1/responses", model, &body);
            assert_eq!(reply.status, 200, "{model} {items} {}", reply.text);
            let dropped = dropped(&reply);
            assert!(
                names.iter().all(|name| dropped.iter().any(|it| it == name)),
                "{model} {items} {dropped:?}"
            );
            let sent = reply.sent[0].body.to_string();
            assert!(sent.contains(kept), "{model} {items} {sent}");
            assert!(!sent.contains("gAAAA") && !sent.contains("scent"), "{model} {sent}");
        }
    }
}

/// Without it, the model would know nothing of what was said before.
#[test]
fn compactions_need_openai() {
    for kind in ["compaction", "compaction_summary", "context_compaction"] {
        let item = json!({"type": kind, "encrypted_content": "gAAAA"});
        let body = json!({"input": [user(json!("hi")), item]});
        for model in SAME {
            assert_eq!(ask("/v1/responses", model, &body).sent[0].body["input"], body["input"]);
        }
        for model in OTHERS {
            let reply = ask("/v1/responses", model, &body);
            assert_eq!((reply.status, reply.sent.len()), (400, 0), "{}", reply.text);
            assert!(reply.text.contains("only OpenAI can read"), "{}", reply.text);
        }
    }
}

/// What is not known passes no limit of tools, models and addresses.
#[test]
fn nothing_gets_past_the_limits() {
    let search = json!({"type": "web_search"});
    let item = |members: Value| {
        let mut item = json!({"type": "of_the_future"});
        item.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        item
    };
    for (unknown, name) in [
        (item(json!({"tools": [search]})), "input[].of_the_future"),
        (item(json!({"more": [{"list": [search]}]})), "input[].of_the_future"),
        (item(json!({"with": {"model": "evil"}})), "input[].of_the_future"),
        (item(json!({"models": ["evil"]})), "input[].of_the_future"),
        (item(json!({"server_url": "https://evil.example"})), "input[].of_the_future"),
        (item(json!({"connector_id": "evil", "authorization": "x"})), "input[].of_the_future"),
        (item(json!({"image": {"url": "http://10.0.0.1/evil"}})), "input[].of_the_future"),
        (json!({"type": "tool_addition", "name": "evil"}), "input[].tool_addition"),
        (json!({"type": "web_search_2030", "name": "evil"}), "input[].web_search_2030"),
        (json!({"role": "user", "content": "x", "tools": [search], "x": "evil"}), "input[].tools"),
        (
            user(json!([{"type": "input_text", "text": "x", "model": "evil"}])),
            "input[].content[].model",
        ),
        (user(json!([{"type": "tool_part", "x": "evil"}])), "input[].content[] (tool_part)"),
        (
            user(json!([{"type": "part", "tools": [search], "x": "evil"}])),
            "input[].content[] (part)",
        ),
    ] {
        let body = json!({"input": [user(json!("hi")), unknown]});
        for model in SAME.iter().chain(&OTHERS) {
            let reply = ask("/v1/responses", model, &body);
            assert_eq!(reply.status, 200, "{model} {unknown} {}", reply.text);
            let sent = reply.sent[0].body.to_string();
            assert!(!sent.contains("web_search") && !sent.contains("evil"), "{model} {sent}");
            let dropped = dropped(&reply);
            assert!(dropped.iter().any(|it| it == name), "{model} {unknown} {dropped:?}");
        }
    }
    // An address in a content is an error, as in every message.
    let image = json!({"type": "input_scent", "url": "http://10.0.0.1/"});
    for unknown in [user(json!([image])), item(json!({"content": [image]}))] {
        let reply =
            ask("/v1/responses", "openai/m", &json!({"input": [user(json!("hi")), unknown]}));
        assert_eq!((reply.status, reply.sent.len()), (400, 0), "{}", reply.text);
    }
}

/// A conversation without anything else is one for a provider with the format; to others it would be empty.
#[test]
fn conversations_of_nothing_else() {
    let block = json!([{"type": "of_the_future"}]);
    let chat = json!({"messages": [user(block.clone())]});
    let messages = json!({"max_tokens": 9, "messages": [user(block.clone())]});
    let items = json!({"input": block});
    let parts = json!({"input": [user(block)]});
    for (path, body, takes) in [
        ("/v1/chat/completions", &chat, &["openai/m", "own/m"][..]),
        ("/v1/messages", &messages, &["anthropic/m"]),
        ("/v1/responses", &items, &SAME),
        ("/v1/responses", &parts, &SAME),
    ] {
        for model in SAME.iter().chain(&OTHERS) {
            let reply = ask(path, model, body);
            let expected = if takes.contains(model) { (200, 1) } else { (400, 0) };
            assert_eq!((reply.status, reply.sent.len()), expected, "{path} {model} {}", reply.text);
        }
    }
}

/// The rest of a message stays, and a message without a rest is none.
#[test]
fn blocks_and_parts_beside_others() {
    // Anthropic does not get it, because it may define tools.
    let block = json!({"type": "of_the_future", "tools": []});
    let text = json!({"type": "text", "text": "Rest."});
    let tool = json!({"name": "a", "input_schema": {"type": "object"}});
    let used = json!({"type": "tool_use", "id": "t1", "name": "a", "input": {}});
    let result = json!({"type": "tool_result", "tool_use_id": "t1", "content": [block]});
    for messages in [
        json!([user(json!([block, text]))]),
        json!([user(json!("Rest.")), {"role": "assistant", "content": [block]}, user(json!([block]))]),
        json!([user(json!("Rest.")), {"role": "assistant", "content": [block, used]}, user(json!([result]))]),
    ] {
        let body = json!({"max_tokens": 9, "tools": [tool], "messages": messages});
        for model in ["openai/m", "items/m", "own/m", "anthropic/m", "google/m"] {
            let gateway = TestGateway { path: "/v1/messages", ..TestGateway::with(SETTINGS) };
            let mut body = body.clone();
            body["model"] = json!(model);
            let answers = match model {
                "items/m" => vec![answer(200, response(&json!([message("hi")])).to_string())],
                _ => vec![hi(model)],
            };
            let reply = gateway.ask(answers, &body);
            assert_eq!(reply.status, 200, "{model} {messages} {}", reply.text);
            let sent = reply.sent[0].body.to_string();
            assert!(sent.contains("Rest.") && !sent.contains("future"), "{model} {sent}");
            assert!(
                reply.json()["_2api"]["dropped"].to_string().contains("of_the_future"),
                "{}",
                reply.text
            );
            for member in ["messages", "contents", "input"] {
                let empty = |it: &Value| it["content"] == json!([]) || it["parts"] == json!([]);
                let list = reply.sent[0].body[member].as_array();
                assert!(!list.is_some_and(|list| list.iter().any(empty)), "{model} {sent}");
            }
        }
    }
    // A part that only some provider of Chat Completions knows.
    let chat = json!({"messages": [user(json!("Rest.")), user(json!([block]))]});
    for model in ["anthropic/m", "google/m"] {
        let mut body = chat.clone();
        body["model"] = json!(model);
        let reply = TestGateway::with(PROVIDERS).ask(vec![hi(model)], &body);
        assert_eq!(dropped(&reply), ["messages[].content[] (of_the_future)"], "{}", reply.text);
    }
}

/// Clients of Responses get items and events as they come; others get warnings.
#[test]
fn answers() {
    let part = json!({"type": "output_scent", "data": "x"});
    let mut said = message("T");
    said["content"].as_array_mut().unwrap().push(part);
    let items = json!([{"type": "future_item", "id": "f", "data": "x"}, said]);
    let mut text = String::new();
    let mut event = |event: Value| {
        text.push_str(&format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap()));
    };
    event(json!({"type": "response.created", "response": response(&json!([]))}));
    event(json!({"type": "response.future.event", "data": "x"}));
    event(
        json!({"type": "response.future_item.delta", "item_id": "f", "output_index": 0, "delta": "x"}),
    );
    event(json!({"type": "keepalive"}));
    for (index, item) in items.as_array().unwrap().iter().enumerate() {
        event(json!({"type": "response.output_item.added", "output_index": index, "item": item}));
        event(json!({"type": "response.output_item.done", "output_index": index, "item": item}));
    }
    event(json!({"type": "response.completed", "response": response(&items)}));
    let whole = response(&items).to_string();
    for path in ["/v1/responses", "/v1/messages", "/v1/chat/completions"] {
        let request = match path {
            "/v1/responses" => json!({"model": "items/m", "input": "hi"}),
            _ => json!({"model": "items/m", "max_tokens": 20, "messages": [user(json!("hi"))]}),
        };
        for stream in [false, true] {
            let mut request = request.clone();
            request["stream"] = json!(stream);
            let gateway = TestGateway { path, ..TestGateway::with(SETTINGS) };
            let body = if stream { text.clone() } else { whole.clone() };
            let reply = gateway.ask(vec![answer(200, body)], &request);
            let warned = |kind: &str| reply.text.contains(&format!("kind \\\"{kind}\\\""));
            let is_own = path == "/v1/responses";
            for kind in ["future_item", "output_scent"] {
                assert_eq!(warned(kind), !is_own, "{path} {stream} {kind} {}", reply.text);
            }
            assert_eq!(warned("response.future.event"), !is_own && stream, "{path} {}", reply.text);
            assert!(
                !warned("keepalive") && !warned("response.future_item.delta"),
                "{}",
                reply.text
            );
            assert_eq!(reply.text.contains("\"data\":\"x\""), is_own, "{path} {}", reply.text);
        }
    }
}

/// Anthropic gets blocks of any type as they are. For others they are named, and no session fails by them.
#[test]
fn blocks() {
    let text = json!({"type": "text", "text": "Said."});
    let new = json!({"type": "of_the_future", "id": "f_1", "note": {"text": "scent"}});
    let said = |content: Value| json!({"role": "assistant", "content": content});
    let call = json!({"type": "tool_use", "id": "c1", "name": "a", "input": {}});
    let result = json!({"type": "tool_result", "tool_use_id": "c1", "content": "R"});
    let late =
        |content: Value| json!({"type": "late_result", "tool_use_id": "c1", "content": content});
    let new_call = json!({"type": "future_use", "id": "c1", "input": {}});
    for (messages, name, kept) in [
        (json!([user(json!([text, new]))]), "messages[].content[].of_the_future", "Said."),
        (
            json!([user(json!("hi")), said(json!([new, text])), user(json!("on"))]),
            "messages[].content[].of_the_future",
            "Said.",
        ),
        (
            json!([user(json!("hi")), said(json!([call])), user(json!([new, result]))]),
            "messages[].content[].of_the_future",
            "\"R\"",
        ),
        (
            json!([user(json!("hi")), said(json!([call])), user(json!([late(json!("Late."))]))]),
            "messages[].content[].late_result",
            "Late.",
        ),
        (
            json!([user(json!("hi")), said(json!([call])), user(json!([late(json!([]))]))]),
            "messages[].content[].late_result",
            "cannot read",
        ),
        (
            json!([user(json!("hi")), said(json!([text, new_call])), user(json!([result, text]))]),
            "messages[].content[].tool_result",
            "Said.",
        ),
    ] {
        let tools = json!([{"name": "a", "input_schema": {"type": "object"}}]);
        let body = json!({"max_tokens": 9, "messages": messages, "tools": tools});
        let reply = ask("/v1/messages", "anthropic/m", &body);
        assert_eq!(reply.status, 200, "{messages} {}", reply.text);
        assert_eq!(reply.sent[0].body["messages"], messages);
        assert_eq!(dropped(&reply), [""; 0], "{messages}");
        for model in ["openai/m", "own/m", "google/m"] {
            let reply = ask("/v1/messages", model, &body);
            assert_eq!(reply.status, 200, "{model} {messages} {}", reply.text);
            assert!(
                dropped(&reply).iter().any(|it| it == name),
                "{model} {messages} {:?}",
                dropped(&reply)
            );
            let sent = reply.sent[0].body.to_string();
            assert!(sent.contains(kept) && !sent.contains("scent"), "{model} {messages} {sent}");
        }
    }
}
