//! What compatible providers write differently, from request to response: each client gets one answer, whole and streamed.

mod formats;

use crate::gateway::tests::members::PROVIDERS;
use crate::gateway::tests::*;

const FRONTS: [&str; 3] = ["/v1/chat/completions", "/v1/responses", "/v1/messages"];

const ROME: &str = r#"{"city":"Rome"}"#;

fn request(path: &str, model: &str, stream: bool) -> Value {
    let messages = json!([{"role": "user", "content": "hi"}]);
    let parameters = json!({"type": "object", "properties": {"city": {"type": "string"}}});
    let function = json!({"name": "w", "parameters": parameters});
    match path {
        "/v1/responses" => json!({
            "model": model, "input": "hi", "stream": stream,
            "tools": [{"type": "function", "name": "w", "parameters": parameters}],
        }),
        "/v1/messages" => json!({
            "model": model, "max_tokens": 2000, "messages": messages, "stream": stream,
            "thinking": {"type": "enabled", "budget_tokens": 1024}, "tools": [{"name": "w", "input_schema": parameters}],
        }),
        _ => json!({
            "model": model, "messages": messages, "stream": stream, "tools": [{"type": "function", "function": function}],
        }),
    }
}

fn ask(path: &'static str, model: &str, stream: bool, body: String) -> Reply {
    let gateway = TestGateway { path, ..TestGateway::with(PROVIDERS) };
    gateway.ask(vec![answer(200, body)], &request(path, model, stream))
}

/// What a client makes of an answer.
#[derive(Debug, Default, PartialEq)]
struct Read {
    text: String,
    reasoning: String,
    /// Name and arguments of each call.
    calls: Vec<(String, String)>,
    ending: String,
}

fn string(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

impl Read {
    fn of(path: &str, stream: bool, reply: &Reply) -> Self {
        assert_eq!(reply.status, 200, "{path} {stream} {}", reply.text);
        match (path, stream) {
            ("/v1/responses", false) => Self::of_response(&reply.json()),
            ("/v1/responses", true) => {
                Self::of_response(&reply.events().last().unwrap()["response"])
            }
            ("/v1/messages", false) => Self::of_message(&reply.json()),
            ("/v1/messages", true) => Self::of_message(&joined(&reply.events())),
            (_, false) => {
                let body = reply.json();
                Self::of_choices([(&body["choices"][0], "message")])
            }
            _ => {
                let events = reply.events();
                Self::of_choices(events.iter().map(|event| (&event["choices"][0], "delta")))
            }
        }
    }

    /// Like OpenAI's SDKs: strings are joined, and calls are known by `index`.
    fn of_choices<'c>(choices: impl IntoIterator<Item = (&'c Value, &'static str)>) -> Self {
        let mut read = Self::default();
        for (choice, name) in choices {
            let message = &choice[name];
            assert!(message["content"].is_string() || message["content"].is_null(), "{message}");
            read.text += &string(&message["content"]);
            read.reasoning += &string(&message["reasoning_content"]);
            for call in message["tool_calls"].as_array().into_iter().flatten() {
                let index = call["index"].as_u64().unwrap() as usize;
                if index == read.calls.len() {
                    read.calls.push(Default::default());
                }
                let (name, arguments) = &mut read.calls[index];
                name.push_str(&string(&call["function"]["name"]));
                arguments.push_str(&string(&call["function"]["arguments"]));
            }
            read.ending += &string(&choice["finish_reason"]);
        }
        read
    }

    fn of_response(response: &Value) -> Self {
        let mut read = Self { ending: string(&response["status"]), ..Self::default() };
        for item in response["output"].as_array().unwrap() {
            match item["type"].as_str().unwrap() {
                "message" => read.text += &string(&item["content"][0]["text"]),
                "reasoning" => read.reasoning += &string(&item["summary"][0]["text"]),
                "function_call" => {
                    read.calls.push((string(&item["name"]), string(&item["arguments"])));
                }
                kind => panic!("{kind}"),
            }
        }
        read
    }

    fn of_message(message: &Value) -> Self {
        let mut read = Self { ending: string(&message["stop_reason"]), ..Self::default() };
        for block in message["content"].as_array().unwrap() {
            match block["type"].as_str().unwrap() {
                "text" => read.text += &string(&block["text"]),
                "thinking" => read.reasoning += &string(&block["thinking"]),
                "tool_use" => read.calls.push((string(&block["name"]), block["input"].to_string())),
                kind => panic!("{kind}"),
            }
        }
        read
    }
}

/// The message that Anthropic's SDKs put together from events.
fn joined(events: &[Value]) -> Value {
    let (mut content, mut reason) = (Vec::<Value>::new(), Value::Null);
    let mut input = String::new();
    for event in events {
        let delta = &event["delta"];
        match event["type"].as_str().unwrap() {
            "content_block_start" => {
                input.clear();
                content.push(event["content_block"].clone());
            }
            "content_block_delta" => {
                let block = content.last_mut().unwrap();
                for name in ["text", "thinking"] {
                    if delta[name].is_string() {
                        block[name] = json!(string(&block[name]) + &string(&delta[name]));
                    }
                }
                input += &string(&delta["partial_json"]);
                if !input.is_empty() {
                    block["input"] = serde_json::from_str(&input).unwrap_or_default();
                }
            }
            "message_delta" => reason = delta["stop_reason"].clone(),
            _ => {}
        }
    }
    json!({"content": content, "stop_reason": reason})
}

/// The stream and the body of an answer with these parts, which ends with this reason.
fn openai(parts: &[Value], whole: &Value, reason: &str) -> [String; 2] {
    let chunk = |delta: &Value, reason: Value| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": reason});
        let chunk = json!({"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]});
        format!("data: {chunk}\n\n")
    };
    let parts = parts.iter().map(|delta| chunk(delta, Value::Null));
    let stream = parts.chain([chunk(&json!({}), json!(reason)), "data: [DONE]\n\n".to_owned()]);
    let choice = json!({"index": 0, "message": whole, "finish_reason": reason});
    let body = json!({"id": "c1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]});
    [body.to_string(), stream.collect()]
}

fn call_part(part: Value) -> Value {
    json!({"tool_calls": [part]})
}

/// G11, G12 and G13.
#[test]
fn one_answer_for_each_client() {
    let function = |name: &str, arguments: &str| json!({"index": 0, "id": "call_7", "type": "function", "function": {"name": name, "arguments": arguments}});
    let arguments = |text: &str| call_part(json!({"index": 0, "function": {"arguments": text}}));
    let whole = json!({"role": "assistant", "content": null, "tool_calls": [function("w", ROME)]});
    let ghost = function("", "").as_object().map(|ghost| {
        let mut ghost = ghost.clone();
        ghost["id"] = json!("");
        Value::Object(ghost)
    });
    let ghost = ghost.unwrap();
    let thinking = json!({"type": "thinking", "thinking": [{"type": "text", "text": "Hmm."}]});
    let text = json!({"type": "text", "text": "Hello"});
    let reference = json!({"type": "reference", "reference_ids": [1]});
    let called = Read { calls: vec![("w".to_owned(), ROME.to_owned())], ..Read::default() };
    let said = |text: &str, reasoning: &str| Read {
        text: text.to_owned(),
        reasoning: reasoning.to_owned(),
        ..Read::default()
    };
    let of_calls = ["tool_calls", "completed", "tool_use"];
    let of_texts = ["stop", "completed", "end_turn"];
    for (what, parts, whole, reason, expected, endings, warns) in [
        (
            "G11: id, name, arguments",
            vec![
                json!({"role": "assistant", "tool_calls": [{"index": 0, "id": "call_7", "type": "function"}]}),
                call_part(json!({"index": 0, "function": {"name": "w"}})),
                arguments(ROME),
            ],
            whole.clone(),
            "tool_calls",
            &called,
            of_calls,
            false,
        ),
        (
            "G11: neither id nor name at first",
            vec![
                json!({"role": "assistant", "tool_calls": [{"index": 0, "function": {"arguments": ""}}]}),
                call_part(function("w", ROME)),
            ],
            whole.clone(),
            "tool_calls",
            &called,
            of_calls,
            false,
        ),
        (
            "G11: a ghost beside a text",
            vec![json!({"role": "assistant", "content": "Hello"}), call_part(ghost.clone())],
            json!({"role": "assistant", "content": "Hello", "tool_calls": [ghost]}),
            "stop",
            &said("Hello", ""),
            of_texts,
            true,
        ),
        (
            "G12: thoughts and text",
            vec![
                json!({"role": "assistant", "content": ""}),
                json!({"content": [thinking]}),
                json!({"content": [text]}),
                json!({"content": " there"}),
            ],
            json!({"role": "assistant", "content": [thinking, text, " there"]}),
            "stop",
            &said("Hello there", "Hmm."),
            of_texts,
            false,
        ),
        (
            "G12: a reference",
            vec![
                json!({"role": "assistant", "content": "See "}),
                json!({"content": [text, reference]}),
                json!({"content": "."}),
            ],
            json!({"role": "assistant", "content": ["See ", text, reference, "."]}),
            "stop",
            &said("See Hello.", ""),
            of_texts,
            true,
        ),
        (
            "G13: a placeholder",
            vec![
                json!({"role": "assistant", "content": null, "tool_calls": [function("w", "{}")]}),
                arguments("{\"city\":"),
                arguments("\"Rome\"}"),
            ],
            whole.clone(),
            "tool_calls",
            &called,
            of_calls,
            false,
        ),
        (
            "G13: a placeholder, and everything again",
            vec![
                json!({"role": "assistant", "tool_calls": [function("w", "{}")]}),
                call_part(function("w", ROME)),
            ],
            whole.clone(),
            "tool_calls",
            &called,
            of_calls,
            false,
        ),
        (
            "OpenAI's old form of a call",
            vec![
                json!({"role": "assistant", "content": null, "function_call": {"name": "w", "arguments": "{\"city\":"}}),
                json!({"function_call": {"arguments": "\"Rome\"}"}}),
            ],
            json!({"role": "assistant", "content": null, "function_call": {"name": "w", "arguments": ROME}}),
            "function_call",
            &called,
            of_calls,
            false,
        ),
        (
            "no finish reason in the words of OpenAI",
            vec![json!({"role": "assistant", "content": "Hello"})],
            json!({"role": "assistant", "content": "Hello"}),
            "end_turn",
            &said("Hello", ""),
            of_texts,
            false,
        ),
    ] {
        let bodies = openai(&parts, &whole, reason);
        for (path, ending) in FRONTS.into_iter().zip(endings) {
            for (stream, body) in [false, true].into_iter().zip(&bodies) {
                let reply = ask(path, "own/m", stream, body.clone());
                let read = Read::of(path, stream, &reply);
                let expected = Read {
                    text: expected.text.clone(),
                    reasoning: expected.reasoning.clone(),
                    calls: expected.calls.clone(),
                    ending: ending.to_owned(),
                };
                assert_eq!(read, expected, "{what} {path} {stream} {}", reply.text);
                let has_warning = reply.text.contains("left out");
                assert_eq!(has_warning, warns, "{what} {path} {stream} {}", reply.text);
            }
        }
    }
}

/// An answer that is empty for a reason of its own, one whose provider has failed, and a call that names no tool: errors, before
/// anything is sent.
#[test]
fn failures_are_errors_for_each_client() {
    let empty = json!({"role": "assistant", "content": ""});
    let nameless = json!({"role": "assistant", "tool_calls": [{"index": 0, "id": "c", "type": "function", "function": {"name": "", "arguments": ROME}}]});
    for (message, reason, code) in [
        (&empty, "new_reason", "provider_error"),
        (&empty, "tool_calls", "provider_error"),
        (&empty, "network_error", "provider_error"),
        (&empty, "insufficient_system_resource", "provider_error"),
        (&nameless, "tool_calls", "provider_bad_response"),
    ] {
        let choice = |name: &str| json!({"index": 0, name: message, "finish_reason": reason});
        let body = json!({"id": "c1", "choices": [choice("message")]}).to_string();
        let chunk = json!({"id": "c1", "choices": [choice("delta")]});
        let stream = format!("data: {chunk}\n\ndata: [DONE]\n\n");
        for path in FRONTS {
            for (stream, body) in [(false, &body), (true, &stream)] {
                let reply = ask(path, "own/m", stream, body.clone());
                assert_eq!(reply.status, 502, "{path} {reason} {stream} {}", reply.text);
                assert_eq!(reply.line()["error.type"], code, "{path} {reason} {stream}");
                assert!(reply.json()["error"]["message"].is_string(), "{}", reply.text);
            }
        }
    }
}
