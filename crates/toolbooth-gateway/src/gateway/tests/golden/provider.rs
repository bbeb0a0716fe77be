//! The provider behind the gateway: it gives the answers of a case, and then says that it is done.

use std::cell::RefCell;
use std::collections::VecDeque;

use serde_json::{Value, json};

use crate::gateway::tests::*;

thread_local! {
    static SCRIPT: RefCell<VecDeque<Value>> = RefCell::default();
}

/// Sets the answers.
pub(super) fn script(answers: &[Value]) {
    SCRIPT.set(answers.iter().cloned().collect());
}

pub(in crate::gateway::tests) fn answer(
    request: &HttpRequest<'_>,
) -> Result<HttpResponse, HttpError> {
    // It keeps the request. Its own answers are used up.
    let _ = provider(request);
    let body: Value =
        serde_json::from_slice(request.body.as_deref().unwrap_or_default()).unwrap_or_default();
    let format = Format::of(&request.url);
    let scripted = SCRIPT.with_borrow_mut(VecDeque::pop_front);
    let content = match scripted {
        Some(Value::Array(parts)) => match parts.as_slice() {
            [Value::Number(status), message] => {
                let error = json!({"type": "invalid_request_error", "message": message});
                let status = status.as_u64().unwrap().try_into().unwrap();
                return answer_with(status, &json!({"type": "error", "error": error}).to_string());
            }
            events => return answer_with(200, &events.iter().map(event).collect::<String>()),
        },
        Some(Value::String(_)) => format.calls(&body),
        Some(answer) => answer,
        None => format.done(),
    };
    let is_stream = body["stream"] == true || request.url.contains("stream");
    let text = if is_stream { format.stream(&content) } else { content.to_string() };
    answer_with(200, &text)
}

fn answer_with(status: u16, text: &str) -> Result<HttpResponse, HttpError> {
    Ok(HttpResponse::new(status, text))
}

fn event(event: &Value) -> String {
    let data = event.as_str().map_or_else(|| event.to_string(), str::to_owned);
    match event["type"].as_str() {
        Some(kind) => format!("event: {kind}\ndata: {data}\n\n"),
        None => format!("data: {data}\n\n"),
    }
}

/// The format of a provider's answers.
#[derive(Clone, Copy)]
enum Format {
    Chat,
    Responses,
    Messages,
    Gemini,
}

impl Format {
    fn of(url: &str) -> Self {
        let is = |part| url.contains(part);
        if is("/responses") {
            Self::Responses
        } else if is("/messages") {
            Self::Messages
        } else if is("GenerateContent") || is("generateContent") {
            Self::Gemini
        } else {
            Self::Chat
        }
    }

    fn done(self) -> Value {
        match self {
            Self::Chat => completion_of(&json!({"role": "assistant", "content": "Done"}), "stop"),
            Self::Responses => response_of(&json!({
                "id": "msg_1", "type": "message", "role": "assistant", "status": "completed",
                "content": [{"type": "output_text", "text": "Done", "annotations": [], "logprobs": []}],
            })),
            Self::Messages => message_of(&json!({"type": "text", "text": "Done"}), "end_turn"),
            Self::Gemini => content_of(&json!({"text": "Done"})),
        }
    }

    /// A call of the first tool.
    fn calls(self, body: &Value) -> Value {
        let tool = &body["tools"][0];
        let name =
            [&tool["function"]["name"], &tool["name"], &tool["functionDeclarations"][0]["name"]];
        let name = name.into_iter().find(|name| name.is_string()).unwrap_or(&Value::Null);
        let input = json!({"city": "Rome"});
        match self {
            Self::Chat => {
                let function = json!({"name": name, "arguments": input.to_string()});
                let call = json!({"id": "call_1", "type": "function", "function": function});
                completion_of(
                    &json!({"role": "assistant", "content": null, "tool_calls": [call]}),
                    "tool_calls",
                )
            }
            Self::Responses => response_of(&json!({
                "id": "fc_1", "type": "function_call", "status": "completed", "call_id": "call_1",
                "name": name, "arguments": input.to_string(),
            })),
            Self::Messages => message_of(
                &json!({"type": "tool_use", "id": "toolu_1", "name": name, "input": input}),
                "tool_use",
            ),
            Self::Gemini => content_of(&json!({"functionCall": {"name": name, "args": input}})),
        }
    }

    /// The answer as a stream of one piece.
    fn stream(self, answer: &Value) -> String {
        match self {
            Self::Chat => {
                let mut chunk = answer.clone();
                chunk["object"] = "chat.completion.chunk".into();
                let choice = &mut chunk["choices"][0];
                choice["delta"] = choice["message"].take();
                choice.as_object_mut().unwrap().remove("message");
                for (at, call) in
                    choice["delta"]["tool_calls"].as_array_mut().into_iter().flatten().enumerate()
                {
                    call["index"] = at.into();
                }
                event(&chunk) + "data: [DONE]\n\n"
            }
            Self::Responses => event(
                &json!({"type": "response.completed", "sequence_number": 0, "response": answer}),
            ),
            Self::Messages => message_events(answer).iter().map(event).collect(),
            Self::Gemini => event(answer),
        }
    }
}

fn completion_of(message: &Value, finish_reason: &str) -> Value {
    let choice = json!({"index": 0, "message": message, "finish_reason": finish_reason});
    let usage = json!({"prompt_tokens": 5, "completion_tokens": 6, "total_tokens": 11});
    json!({"id": "c1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage})
}

fn response_of(item: &Value) -> Value {
    let usage = json!({
        "input_tokens": 5, "output_tokens": 6, "total_tokens": 11,
        "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0},
    });
    json!({
        "id": "resp_1", "object": "response", "created_at": 1, "status": "completed", "model": "m",
        "output": [item], "usage": usage, "error": null, "incomplete_details": null,
    })
}

fn message_of(block: &Value, stop_reason: &str) -> Value {
    json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [block],
        "stop_reason": stop_reason, "stop_sequence": null,
        "usage": {"input_tokens": 5, "output_tokens": 6},
    })
}

fn content_of(part: &Value) -> Value {
    let candidate =
        json!({"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0});
    let usage = json!({"promptTokenCount": 5, "candidatesTokenCount": 6, "totalTokenCount": 11});
    json!({"candidates": [candidate], "usageMetadata": usage})
}

fn message_events(answer: &Value) -> Vec<Value> {
    let block = &answer["content"][0];
    let (empty, delta) = match block["type"].as_str() {
        Some("tool_use") => {
            let mut empty = block.clone();
            empty["input"] = json!({});
            (empty, json!({"type": "input_json_delta", "partial_json": block["input"].to_string()}))
        }
        _ => (
            json!({"type": "text", "text": ""}),
            json!({"type": "text_delta", "text": block["text"]}),
        ),
    };
    let mut message = answer.clone();
    message["content"] = json!([]);
    message["stop_reason"] = Value::Null;
    let end = json!({"stop_reason": answer["stop_reason"], "stop_sequence": null});
    vec![
        json!({"type": "message_start", "message": message}),
        json!({"type": "content_block_start", "index": 0, "content_block": empty}),
        json!({"type": "content_block_delta", "index": 0, "delta": delta}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": end, "usage": answer["usage"]}),
        json!({"type": "message_stop"}),
    ]
}
