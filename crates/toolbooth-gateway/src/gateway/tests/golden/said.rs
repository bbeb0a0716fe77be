//! What a client reads in an answer or a stream, in one form for all formats.

use serde_json::{Value, json};

use crate::gateway::tests::Reply;

pub(super) struct Said {
    /// Its text, thinking, calls and pictures, the reason why it ends, or its error.
    pub(super) said: Value,
    pub(super) dropped: Option<Value>,
    pub(super) warnings: Option<Value>,
}

#[derive(Default)]
struct Parts {
    text: String,
    thinking: String,
    /// With id, name and arguments.
    calls: Vec<[String; 3]>,
    images: usize,
    finish: Value,
    error: Value,
    own: Value,
}

pub(super) fn said(front: &str, reply: &Reply) -> Said {
    let is_stream =
        reply.header("content-type").is_some_and(|it| it.starts_with("text/event-stream"));
    let mut parts = Parts::default();
    if is_stream {
        let events = reply.events();
        for event in events.iter().filter(|event| event.is_object()) {
            parts.own_of(event);
            match front {
                "chat" => parts.chunk(event),
                "messages" => parts.message_event(event),
                _ => parts.response_event(event),
            }
        }
    } else {
        let answer = reply.json();
        parts.own_of(&answer);
        match front {
            _ if reply.status != 200 => parts.error = answer["error"].clone(),
            "chat" => parts.chunk(&answer),
            "messages" => parts.message(&answer),
            _ => parts.response(&answer),
        }
    }
    parts.finished()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn list(value: &Value) -> impl Iterator<Item = &Value> + Clone {
    value.as_array().into_iter().flatten()
}

impl Parts {
    fn own_of(&mut self, value: &Value) {
        for own in [&value["_2api"], &value["response"]["_2api"]] {
            if own.is_object() {
                self.own = own.clone();
            }
        }
    }

    fn call(&mut self, at: usize, parts: [&Value; 3]) {
        self.calls.resize_with(self.calls.len().max(at + 1), Default::default);
        for (before, part) in self.calls[at].iter_mut().zip(parts) {
            before.push_str(text(part));
        }
    }

    fn chunk(&mut self, chunk: &Value) {
        if chunk["error"].is_object() {
            self.error = chunk["error"].clone();
        }
        let choice = &chunk["choices"][0];
        let delta = if choice["delta"].is_object() { &choice["delta"] } else { &choice["message"] };
        self.text += text(&delta["content"]);
        self.thinking += text(&delta["reasoning_content"]);
        self.images += list(&delta["images"]).count();
        for (position, call) in list(&delta["tool_calls"]).enumerate() {
            let at =
                call["index"].as_u64().map_or(position, |index| usize::try_from(index).unwrap());
            let function = &call["function"];
            self.call(at, [&call["id"], &function["name"], &function["arguments"]]);
        }
        if choice["finish_reason"].is_string() {
            self.finish = choice["finish_reason"].clone();
        }
    }

    fn message(&mut self, message: &Value) {
        for block in list(&message["content"]) {
            self.block(block);
            if block["type"] == "tool_use" {
                let input = Value::from(block["input"].to_string());
                self.call(self.calls.len(), [&block["id"], &block["name"], &input]);
            }
        }
        self.finish = message["stop_reason"].clone();
    }

    fn block(&mut self, block: &Value) {
        self.text += text(&block["text"]);
        self.thinking += text(&block["thinking"]);
        self.images += usize::from(block["type"] == "image");
    }

    fn message_event(&mut self, event: &Value) {
        let delta = &event["delta"];
        match text(&event["type"]) {
            "content_block_start" => {
                let block = &event["content_block"];
                self.block(block);
                if block["type"] == "tool_use" {
                    self.call(self.calls.len(), [&block["id"], &block["name"], &Value::Null]);
                }
            }
            "content_block_delta" => {
                self.block(delta);
                if let Some(last) = self.calls.len().checked_sub(1) {
                    self.call(last, [&Value::Null, &Value::Null, &delta["partial_json"]]);
                }
            }
            "message_delta" if delta["stop_reason"].is_string() => {
                self.finish = delta["stop_reason"].clone()
            }
            "error" => self.error = event["error"].clone(),
            _ => {}
        }
    }

    fn response(&mut self, response: &Value) {
        list(&response["output"]).for_each(|item| self.item(item));
        self.finish = response["status"].clone();
        if response["error"].is_object() {
            self.error = response["error"].clone();
        }
    }

    fn item(&mut self, item: &Value) {
        let parts = list(&item["content"]).map(|part| text(&part["text"]));
        match text(&item["type"]) {
            "message" => self.text.extend(parts),
            "reasoning" => {
                self.thinking.extend(list(&item["summary"]).map(|part| text(&part["text"])));
                self.thinking.extend(parts);
            }
            "image_generation_call" => self.images += 1,
            "function_call" => {
                self.call(self.calls.len(), [&item["call_id"], &item["name"], &item["arguments"]]);
            }
            _ => {}
        }
    }

    /// Codex takes items from the events that end them.
    fn response_event(&mut self, event: &Value) {
        match text(&event["type"]) {
            "response.output_item.done" => self.item(&event["item"]),
            "response.completed" | "response.incomplete" | "response.failed" => {
                self.finish = event["response"]["status"].clone();
                self.error = event["response"]["error"].clone();
            }
            "error" => self.error = event.clone(),
            _ => {}
        }
    }

    fn finished(self) -> Said {
        let calls = self
            .calls
            .iter()
            .map(|[id, name, arguments]| json!({"id": id, "name": name, "arguments": arguments}));
        let calls: Vec<_> = calls.collect();
        let mut said = json!({});
        for (name, value) in [
            ("text", Value::from(self.text)),
            ("thinking", Value::from(self.thinking)),
            ("calls", Value::from(calls)),
            ("images", Value::from(self.images)),
            ("finish", self.finish),
            ("error", self.error),
        ] {
            let is_nothing = value.is_null() || value == "" || value == json!([]) || value == 0;
            if !is_nothing {
                said[name] = value;
            }
        }
        let own = |name: &str| self.own.get(name).filter(|value| **value != json!([])).cloned();
        Said { dropped: own("dropped"), warnings: own("warnings"), said }
    }
}

/// The client's next request: what it got, and the result 5 for each call.
pub(super) fn next(front: &str, body: &Value, answer: &Value) -> Value {
    let mut next = body.clone();
    match front {
        "messages" => {
            let results = list(&answer["content"]).filter(|block| block["type"] == "tool_use");
            let results: Vec<_> = results
                .map(|block| json!({"type": "tool_result", "tool_use_id": block["id"], "content": "5"}))
                .collect();
            let messages = next["messages"].as_array_mut().unwrap();
            messages.push(json!({"role": "assistant", "content": answer["content"]}));
            messages.push(json!({"role": "user", "content": results}));
        }
        "responses" => {
            let before = match &body["input"] {
                Value::Array(items) => items.clone(),
                input => vec![json!({"role": "user", "content": input})],
            };
            let output = list(&answer["output"]);
            let results = output.clone().filter(|item| item["type"] == "function_call");
            let results = results
                .map(|item| json!({"type": "function_call_output", "call_id": item["call_id"], "output": "5"}));
            next["input"] = before.into_iter().chain(output.cloned()).chain(results).collect();
        }
        _ => {
            let message = &answer["choices"][0]["message"];
            let results = list(&message["tool_calls"])
                .map(|call| json!({"role": "tool", "tool_call_id": call["id"], "content": "5"}));
            let messages = next["messages"].as_array_mut().unwrap();
            messages.push(message.clone());
            messages.extend(results);
        }
    }
    next
}
