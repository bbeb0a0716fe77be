//! What a provider gets: its calls and results, in one form for all formats.

use serde_json::Value;

use crate::gateway::tests::Sent;

#[derive(Debug, Default)]
pub(super) struct Got {
    pub(super) calls: Vec<GotCall>,
    pub(super) results: Vec<GotResult>,
    /// The names of the tools that the provider may call.
    pub(super) tools: Vec<String>,
}

#[derive(Debug)]
pub(super) struct GotCall {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) arguments: String,
}

#[derive(Debug)]
pub(super) struct GotResult {
    pub(super) id: String,
    pub(super) content: String,
    pub(super) says_error: bool,
}

/// The format of a provider, by the address of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Chat,
    Responses,
    Messages,
    Gemini,
}

impl Format {
    pub(super) fn of(url: &str) -> Self {
        if url.contains("enerateContent") {
            Self::Gemini
        } else if url.ends_with("/responses") {
            Self::Responses
        } else if url.ends_with("/messages") {
            Self::Messages
        } else {
            Self::Chat
        }
    }
}

pub(super) fn read(sent: &Sent) -> Got {
    let mut got = Got::default();
    let body = &sent.body;
    match Format::of(&sent.url) {
        Format::Chat => {
            list(&body["messages"]).for_each(|message| got.chat(message));
            for tool in list(&body["tools"]) {
                got.tool(&tool["function"]["name"]);
                got.tool(&tool["custom"]["name"]);
            }
        }
        Format::Responses => {
            list(&body["input"]).for_each(|item| got.item(item));
            for tool in list(&body["tools"]) {
                got.tool(&tool["name"]);
                list(&tool["tools"]).for_each(|tool| got.tool(&tool["name"]));
            }
        }
        Format::Messages => {
            let blocks = list(&body["messages"]).flat_map(|message| list(&message["content"]));
            blocks.for_each(|block| got.block(block));
            list(&body["tools"]).for_each(|tool| got.tool(&tool["name"]));
        }
        Format::Gemini => {
            list(&body["contents"]).for_each(|content| got.content(content));
            let tools = list(&body["tools"]).flat_map(|it| list(&it["functionDeclarations"]));
            tools.for_each(|tool| got.tool(&tool["name"]));
        }
    }
    got
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

impl Got {
    fn tool(&mut self, name: &Value) {
        self.tools.extend(name.as_str().map(str::to_owned));
    }

    fn call(&mut self, id: &Value, name: &Value, arguments: &Value) {
        let (id, name, arguments) = (text(id), text(name), text(arguments));
        self.calls.push(GotCall { id, name, arguments });
    }

    fn result(&mut self, id: &Value, content: &Value) {
        let says_error = content.to_string().contains("Error:");
        self.results.push(GotResult { id: text(id), content: text(content), says_error });
    }

    fn chat(&mut self, message: &Value) {
        for call in list(&message["tool_calls"]) {
            let (function, custom) = (&call["function"], &call["custom"]);
            match custom.is_object() {
                true => self.call(&call["id"], &custom["name"], &custom["input"]),
                false => self.call(&call["id"], &function["name"], &function["arguments"]),
            }
        }
        if message["role"] == "tool" {
            self.result(&message["tool_call_id"], &message["content"]);
        }
    }

    fn item(&mut self, item: &Value) {
        match item["type"].as_str().unwrap_or_default() {
            "function_call" => self.call(&item["call_id"], &item["name"], &item["arguments"]),
            "custom_tool_call" => self.call(&item["call_id"], &item["name"], &item["input"]),
            "tool_search_call" => {
                self.call(&item["call_id"], &"tool_search".into(), &item["arguments"]);
            }
            "tool_search_output" => self.result(&item["call_id"], &item["tools"]),
            "function_call_output" | "custom_tool_call_output" => {
                self.result(&item["call_id"], &item["output"]);
            }
            _ => {}
        }
    }

    fn block(&mut self, block: &Value) {
        match block["type"].as_str().unwrap_or_default() {
            "tool_use" => self.call(&block["id"], &block["name"], &block["input"]),
            "tool_result" => {
                self.result(&block["tool_use_id"], &block["content"]);
                let last = self.results.last_mut().unwrap();
                last.says_error |= block["is_error"] == true;
            }
            _ => {}
        }
    }

    /// Calls of older models have no ids: their results are at the same place of the next content.
    fn content(&mut self, content: &Value) {
        let before = self.results.len();
        for part in list(&content["parts"]) {
            let (call, result) = (&part["functionCall"], &part["functionResponse"]);
            if call.is_object() {
                let id = Value::from(format!("{}", self.calls.len()));
                self.call(&id, &call["name"], &call["args"]);
            }
            if result.is_object() {
                let id = Value::from(format!("{}", self.results.len()));
                self.result(&id, &result["response"]);
                let last = self.results.last_mut().unwrap();
                last.says_error |= !result["response"]["error"].is_null();
            }
        }
        // As many as there are calls.
        assert!(
            self.results.len() == before || self.results.len() == self.calls.len(),
            "{content}"
        );
    }
}
