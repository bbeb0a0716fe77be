//! What the tests of conversations share: clients of each format, and providers that answer in theirs, whole or streamed.

use crate::gateway::tests::*;

pub(super) const CHAT: &str = "/v1/chat/completions";
pub(super) const MESSAGES: &str = "/v1/messages";
pub(super) const RESPONSES: &str = "/v1/responses";

/// Providers of each format, and of some dialects of Chat Completions. Nothing is known of `compat` and `other`.
const PROVIDERS: &[(&str, &str)] = &[
    ("ANTHROPIC_API_KEY", "k"),
    ("GEMINI_API_KEY", "k"),
    ("PROVIDERS", "compat,other,deepseek,openrouter,mistral,groq,server"),
    ("COMPAT_BASE_URL", "https://compat.example/v1"),
    ("OTHER_BASE_URL", "https://other.example/v1"),
    ("DEEPSEEK_BASE_URL", "https://api.deepseek.com/v1"),
    ("OPENROUTER_BASE_URL", "https://openrouter.ai/api/v1"),
    ("MISTRAL_BASE_URL", "https://api.mistral.ai/v1"),
    ("GROQ_BASE_URL", "https://api.groq.com/openai/v1"),
    ("SERVER_BASE_URL", "https://server.example/v1"),
    ("SERVER_API", "responses"),
];

thread_local! {
    /// What the models still say: assistant messages of Chat Completions; `null` is a failure. Then they say `ok`.
    static SAYS: RefCell<VecDeque<Value>> = RefCell::default();
}

/// What a client and a provider got of an exchange.
#[derive(Debug)]
pub(super) struct Exchanged {
    /// The answer. That of a stream is the response of its last event, or what its events add up to.
    pub(super) answer: Value,
    /// The body of the last request to a provider.
    pub(super) sent: Value,
}

impl Exchanged {
    fn report(&self) -> &Value {
        &self.answer["_2api"]
    }

    pub(super) fn dropped(&self) -> Vec<&str> {
        texts(&self.report()["dropped"])
    }

    pub(super) fn warnings(&self) -> Vec<&str> {
        texts(&self.report()["warnings"])
    }
}

fn texts(list: &Value) -> Vec<&str> {
    list.as_array().into_iter().flatten().map(|it| it.as_str().unwrap()).collect()
}

/// Asks a model, which says `ok`.
pub(super) fn ask(path: &'static str, model: &str, body: &Value) -> Exchanged {
    ask_all(path, &[], model, &[], body, false)
}

/// Asks a model, which says these messages, one for each request to it.
pub(super) fn ask_all(
    path: &'static str,
    variables: &[(&str, &str)],
    model: &str,
    says: &[Value],
    body: &Value,
    stream: bool,
) -> Exchanged {
    let gateway = loops::world(&[PROVIDERS, variables].concat());
    let host = FakeHost { upstream: any_provider, ..gateway.host };
    let gateway = TestGateway { path, host, ..gateway };
    SAYS.set(says.iter().cloned().collect());
    let mut body = body.clone();
    body["model"] = model.into();
    if path == MESSAGES && body.get("max_tokens").is_none() {
        body["max_tokens"] = json!(1000);
    }
    if stream {
        body["stream"] = json!(true);
    }
    let reply = gateway.ask(vec![], &body);
    assert_eq!(reply.status, 200, "{model} {path}: {}", reply.text);
    let answer = if stream { whole(path, &reply) } else { reply.json() };
    let sent = reply.sent.last().map_or(Value::Null, |sent| sent.body.clone());
    Exchanged { answer, sent }
}

/// The next request of a client, which sends back what it got, with the result `5` of each call.
pub(super) fn next(path: &str, body: &Value, answer: &Value) -> Value {
    let mut body = body.clone();
    let (name, more) = match path {
        RESPONSES => {
            let output = answer["output"].as_array().unwrap();
            let calls = output.iter().filter(|item| item["type"] == "function_call");
            let results = calls.map(|call| json!({"type": "function_call_output", "call_id": call["call_id"], "output": "5"}));
            ("input", output.iter().cloned().chain(results).collect::<Vec<_>>())
        }
        MESSAGES => {
            let blocks = answer["content"].as_array().unwrap();
            let calls = blocks.iter().filter(|block| block["type"] == "tool_use");
            let results = calls.map(
                |call| json!({"type": "tool_result", "tool_use_id": call["id"], "content": "5"}),
            );
            let results: Vec<_> = results.collect();
            let next = if results.is_empty() { json!("go") } else { json!(results) };
            (
                "messages",
                vec![
                    json!({"role": "assistant", "content": blocks}),
                    json!({"role": "user", "content": next}),
                ],
            )
        }
        _ => {
            let message = &answer["choices"][0]["message"];
            let results = calls_of(message)
                .map(|(id, ..)| json!({"role": "tool", "tool_call_id": id, "content": "5"}));
            ("messages", [message.clone()].into_iter().chain(results).collect())
        }
    };
    body[name].as_array_mut().unwrap().extend(more);
    body
}

/// A request of a user who says `hi`, with this tool.
pub(super) fn with_tool(path: &str, name: &str) -> Value {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}});
    let user = json!([{"role": "user", "content": "hi"}]);
    match path {
        RESPONSES => {
            json!({"input": user, "tools": [{"type": "function", "name": name, "parameters": schema, "strict": false}]})
        }
        MESSAGES => json!({"messages": user, "tools": [{"name": name, "input_schema": schema}]}),
        _ => {
            json!({"messages": user, "tools": [{"type": "function", "function": {"name": name, "parameters": schema}}]})
        }
    }
}

/// What a provider answers, in its format.
fn any_provider(request: &HttpRequest<'_>) -> Result<HttpResponse, HttpError> {
    provider(request).ok();
    let body: Value = serde_json::from_slice(request.body.as_deref().unwrap()).unwrap();
    let url = &request.url;
    let stream = body["stream"] == true || url.contains(":streamGenerateContent");
    let message = SAYS.with_borrow_mut(VecDeque::pop_front);
    let message = message.unwrap_or_else(|| json!({"role": "assistant", "content": "ok"}));
    if message.is_null() {
        return Ok(HttpResponse::new(500, "{}"));
    }
    let answer = match url {
        url if url.contains(":generateContent") || stream && url.contains("streamGenerate") => {
            gemini(&message, stream)
        }
        url if url.ends_with("/responses") => response(&message, stream),
        url if url.ends_with("/v1/messages") => anthropic(&message, stream),
        _ => completion(&message, stream),
    };
    Ok(HttpResponse::new(200, answer))
}

fn event(name: &str, data: &Value) -> String {
    let name = if name.is_empty() { String::new() } else { format!("event: {name}\n") };
    format!("{name}data: {data}\n\n")
}

fn calls_of(message: &Value) -> impl Iterator<Item = (&Value, &Value, Value)> {
    let calls = message["tool_calls"].as_array().into_iter().flatten();
    calls.map(|call| {
        let function = &call["function"];
        let arguments = serde_json::from_str(function["arguments"].as_str().unwrap());
        (&call["id"], &function["name"], arguments.unwrap())
    })
}

/// A chat completion. In a stream, each member of the message comes in a chunk of its own, calls last.
fn completion(message: &Value, stream: bool) -> String {
    let has_calls = message.get("tool_calls").is_some();
    let reason = if has_calls { "tool_calls" } else { "stop" };
    let usage = json!({"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12});
    if !stream {
        let choice = json!({"index": 0, "message": message, "finish_reason": reason});
        return json!({"id": "c1", "object": "chat.completion", "created": 1, "model": "m-1", "choices": [choice],
            "usage": usage})
        .to_string();
    }
    let chunk = |delta: Value, reason: Value| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": reason});
        event(
            "",
            &json!({"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m-1", "choices": [choice]}),
        )
    };
    let mut text = chunk(json!({"role": "assistant"}), Value::Null);
    let members = message.as_object().unwrap().iter().filter(|(_, value)| !value.is_null());
    let (calls, others): (Vec<_>, Vec<_>) = members.partition(|(name, _)| *name == "tool_calls");
    for (name, value) in others.into_iter().filter(|(name, _)| *name != "role") {
        // A text comes in two parts, and so does a list.
        let parts = match value {
            Value::String(text) if text.len() > 1 => {
                let at = text.char_indices().nth(1).unwrap().0;
                vec![json!(text[..at]), json!(text[at..])]
            }
            Value::Array(list) => list.iter().map(|item| json!([item])).collect(),
            value => vec![value.clone()],
        };
        for part in parts {
            text += &chunk(json!({name: part}), Value::Null);
        }
    }
    for (_, calls) in calls {
        for (index, call) in calls.as_array().unwrap().iter().enumerate() {
            let mut call = call.clone();
            call["index"] = json!(index);
            text += &chunk(json!({"tool_calls": [call]}), Value::Null);
        }
    }
    text += &chunk(json!({}), json!(reason));
    text += &event(
        "",
        &json!({"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m-1", "choices": [], "usage": usage}),
    );
    text + "data: [DONE]\n\n"
}

fn anthropic(message: &Value, stream: bool) -> String {
    let mut blocks = Vec::new();
    if let Some(text) = message["content"].as_str().filter(|text| !text.is_empty()) {
        blocks.push(json!({"type": "text", "text": text}));
    }
    for (id, name, input) in calls_of(message) {
        blocks.push(json!({"type": "tool_use", "id": id, "name": name, "input": input}));
    }
    let reason = if message.get("tool_calls").is_some() { "tool_use" } else { "end_turn" };
    let usage = json!({"input_tokens": 10, "output_tokens": 2});
    let mut head = json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "c-1", "content": blocks,
        "stop_reason": reason, "stop_sequence": null, "usage": usage});
    if !stream {
        return head.to_string();
    }
    head["content"] = json!([]);
    head["stop_reason"] = Value::Null;
    let mut text = event("message_start", &json!({"type": "message_start", "message": head}));
    for (index, block) in blocks.into_iter().enumerate() {
        let (mut begin, delta) = (
            block.clone(),
            match block["type"].as_str() {
                Some("text") => json!({"type": "text_delta", "text": block["text"]}),
                _ => {
                    json!({"type": "input_json_delta", "partial_json": block["input"].to_string()})
                }
            },
        );
        begin[if block["type"] == "text" { "text" } else { "input" }] =
            if block["type"] == "text" { json!("") } else { json!({}) };
        for (name, more) in [
            ("content_block_start", json!({"content_block": begin})),
            ("content_block_delta", json!({"delta": delta})),
            ("content_block_stop", json!({})),
        ] {
            let mut data = json!({"type": name, "index": index});
            data.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            text += &event(name, &data);
        }
    }
    let end = json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 2}});
    text + &event("message_delta", &end) + &event("message_stop", &json!({"type": "message_stop"}))
}

fn gemini(message: &Value, stream: bool) -> String {
    let mut parts = Vec::new();
    if let Some(text) = message["content"].as_str().filter(|text| !text.is_empty()) {
        parts.push(json!({"text": text}));
    }
    for (id, name, args) in calls_of(message) {
        parts.push(json!({"functionCall": {"id": id, "name": name, "args": args}}));
    }
    let body = json!({"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 2, "totalTokenCount": 12}});
    if stream { event("", &body) } else { body.to_string() }
}

fn response(message: &Value, stream: bool) -> String {
    let mut items = Vec::new();
    // Not a member of Chat Completions.
    if let Some(encrypted) = message.get("encrypted") {
        items.push(json!({"id": "rs_9", "type": "reasoning", "summary": [], "encrypted_content": encrypted}));
    }
    if let Some(text) = message["content"].as_str().filter(|text| !text.is_empty()) {
        items.push(
            json!({"id": "msg_9", "type": "message", "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": text, "annotations": []}]}),
        );
    }
    for (id, name, arguments) in calls_of(message) {
        items.push(json!({"id": format!("fc_{}", items.len()), "type": "function_call", "call_id": id, "name": name,
            "arguments": arguments.to_string(), "status": "completed"}));
    }
    let body = json!({"id": "resp_9", "object": "response", "created_at": 7, "model": "m-1", "status": "completed",
        "output": items, "usage": {"input_tokens": 10, "output_tokens": 2, "total_tokens": 12}});
    if !stream {
        return body.to_string();
    }
    let mut begun = body.clone();
    begun["output"] = json!([]);
    begun["status"] = json!("in_progress");
    let mut text = event(
        "response.created",
        &json!({"type": "response.created", "sequence_number": 0, "response": begun}),
    );
    for (index, item) in items.iter().enumerate() {
        for (place, name) in
            ["response.output_item.added", "response.output_item.done"].iter().enumerate()
        {
            text += &event(
                name,
                &json!({"type": name, "sequence_number": 1 + 2 * index + place, "output_index": index, "item": item}),
            );
        }
    }
    text + &event(
        "response.completed",
        &json!({"type": "response.completed", "sequence_number": 99, "response": body}),
    )
}

/// The answer that the events of a stream add up to, in the client's format.
fn whole(path: &str, reply: &Reply) -> Value {
    let events = reply.events();
    match path {
        RESPONSES => {
            events.iter().rev().find(|it| it.get("response").is_some()).unwrap()["response"].clone()
        }
        MESSAGES => whole_message(&events),
        _ => whole_completion(&events),
    }
}

fn whole_message(events: &[Value]) -> Value {
    let (mut message, mut inputs) = (Value::Null, Vec::<String>::new());
    for event in events {
        match event["type"].as_str().unwrap_or_default() {
            "message_start" => message = event["message"].clone(),
            "content_block_start" => {
                let blocks = message["content"].as_array_mut().unwrap();
                assert_eq!(event["index"], json!(blocks.len()));
                blocks.push(event["content_block"].clone());
                inputs.push(String::new());
            }
            "content_block_delta" => {
                let index = event["index"].as_u64().unwrap() as usize;
                let (block, delta) = (&mut message["content"][index], &event["delta"]);
                for name in ["text", "thinking", "signature"] {
                    if let Some(more) = delta[name].as_str() {
                        block[name] = json!(block[name].as_str().unwrap().to_owned() + more);
                    }
                }
                inputs[index] += delta["partial_json"].as_str().unwrap_or_default();
            }
            "content_block_stop" => {
                let index = event["index"].as_u64().unwrap() as usize;
                if !inputs[index].is_empty() {
                    message["content"][index]["input"] =
                        serde_json::from_str(&inputs[index]).unwrap();
                }
            }
            "message_delta" => {
                message["stop_reason"] = event["delta"]["stop_reason"].clone();
                message["_2api"] = event["_2api"].clone();
            }
            _ => {}
        }
    }
    message
}

fn whole_completion(events: &[Value]) -> Value {
    let mut message = json!({"role": "assistant", "content": null});
    let mut report = Value::Null;
    for event in events.iter().filter(|event| event.is_object()) {
        if let Some(own) = event.get("_2api") {
            report = own.clone();
        }
        for (name, value) in event["choices"][0]["delta"].as_object().into_iter().flatten() {
            match (name.as_str(), value) {
                ("role", _) | (_, Value::Null) => {}
                ("tool_calls", parts) => add_calls(&mut message, parts),
                (_, Value::String(more)) => {
                    let before = message[name].as_str().unwrap_or_default();
                    message[name] = json!(before.to_owned() + more);
                }
                (_, Value::Array(more)) => {
                    let mut all = message[name].as_array().cloned().unwrap_or_default();
                    all.extend(more.iter().cloned());
                    message[name] = json!(all);
                }
                (_, other) => message[name] = other.clone(),
            }
        }
    }
    json!({"choices": [{"index": 0, "message": message}], "_2api": report})
}

fn add_calls(message: &mut Value, parts: &Value) {
    let mut calls = message["tool_calls"].as_array().cloned().unwrap_or_default();
    for part in parts.as_array().unwrap() {
        let index = part["index"].as_u64().unwrap() as usize;
        match calls.get_mut(index) {
            None => calls.push(part.clone()),
            Some(call) => {
                let before = call["function"]["arguments"].as_str().unwrap_or_default();
                let more = part["function"]["arguments"].as_str().unwrap_or_default();
                call["function"]["arguments"] = json!(before.to_owned() + more);
            }
        }
    }
    message["tool_calls"] = json!(calls);
}
