//! Answers as providers write them, whole and as streams.

use serde_json::{Value, json};

use crate::gateway::tests::random::got::Format;
use crate::gateway::tests::random::marks;
use crate::gateway::tests::random::say::{Answer, Ending};
use crate::gateway::tests::random::{speak_messages, speak_responses};

/// An answer to a request, which has named these tools; `round` is its number in the conversation.
pub(super) struct Speech<'a> {
    pub(super) answer: &'a Answer,
    pub(super) tools: &'a [String],
    /// What a provider must get back.
    pub(super) mark: String,
    /// The member of Chat Completions with what the model thinks.
    pub(super) reasoning: &'a str,
    pub(super) round: usize,
}

/// A call with id, name and arguments.
pub(super) type Called = (String, String, &'static str);

impl Speech<'_> {
    pub(super) fn thoughts(&self) -> String {
        self.answer.thoughts.concat()
    }

    pub(super) fn text(&self) -> String {
        self.answer.texts.concat()
    }

    pub(super) fn calls(&self) -> Vec<Called> {
        let Some(count) = Some(self.tools.len()).filter(|count| *count > 0) else { return vec![] };
        let calls = self.answer.calls.iter().enumerate();
        let call = |(at, call): (usize, &super::say::Call)| {
            let id = marks::id(call.id, at, at + 10 * self.round);
            (id, self.tools[call.tool % count].clone(), call.arguments)
        };
        calls.map(call).collect()
    }

    pub(super) fn whole(&self, format: Format) -> String {
        let body = match format {
            Format::Chat => self.completion(),
            Format::Responses => speak_responses::response(self),
            Format::Messages => speak_messages::message(self),
            Format::Gemini => self.content(self.parts(), true),
        };
        body.to_string()
    }

    pub(super) fn stream(&self, format: Format) -> String {
        match format {
            Format::Chat => self.chunks(),
            Format::Responses => speak_responses::stream(self),
            Format::Messages => speak_messages::stream(self),
            Format::Gemini => self.contents(),
        }
    }

    fn finish_reason(&self) -> &'static str {
        match self.answer.ending {
            Ending::Length => "length",
            Ending::Filtered => "content_filter",
            Ending::Done if self.calls().is_empty() => "stop",
            Ending::Done => "tool_calls",
        }
    }

    fn completion(&self) -> Value {
        let mut message = json!({"role": "assistant", "content": null});
        if !self.answer.texts.is_empty() {
            message["content"] = self.text().into();
        }
        if !self.thoughts().is_empty() && !self.reasoning.is_empty() {
            message[self.reasoning] = self.thoughts().into();
        }
        let calls = self.calls();
        if !calls.is_empty() {
            let call = |(id, name, arguments): Called| json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}});
            message["tool_calls"] = calls.into_iter().map(call).collect();
        }
        let choice = json!({"index": 0, "message": message, "finish_reason": self.finish_reason()});
        let mut body = json!({"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]});
        if self.answer.has_usage {
            body["usage"] = json!({"prompt_tokens": 5, "completion_tokens": 6, "total_tokens": 11});
        }
        body
    }

    fn chunks(&self) -> String {
        let mut cuts = self.answer.cuts.clone();
        let mut deltas = vec![json!({"role": "assistant", "content": ""})];
        if !self.reasoning.is_empty() {
            let pieces = cuts.pieces(&self.thoughts()).into_iter();
            deltas.extend(pieces.map(|piece| json!({self.reasoning: piece})));
        }
        let pieces = cuts.pieces(&self.text()).into_iter();
        deltas.extend(pieces.map(|piece| json!({"content": piece})));
        let mut calls = Vec::new();
        for (at, (id, name, arguments)) in self.calls().into_iter().enumerate() {
            let head = json!({"tool_calls": [{"index": at, "id": id, "type": "function", "function": {"name": name, "arguments": ""}}]});
            let part =
                |piece| json!({"tool_calls": [{"index": at, "function": {"arguments": piece}}]});
            let pieces = cuts.pieces(arguments).into_iter().map(part);
            calls.push([head].into_iter().chain(pieces).collect::<Vec<_>>());
        }
        match self.answer.is_mixed {
            true => {
                let most = calls.iter().map(Vec::len).max().unwrap_or(0);
                for at in 0..most {
                    deltas.extend(calls.iter().filter_map(|parts| parts.get(at).cloned()));
                }
            }
            false => deltas.extend(calls.into_iter().flatten()),
        }
        let chunk = |choices: Value| json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": choices});
        let mut text = String::new();
        for delta in deltas {
            let choice = json!([{"index": 0, "delta": delta, "finish_reason": null}]);
            text += &format!("data: {}\n\n", chunk(choice));
        }
        let end = json!([{"index": 0, "delta": {}, "finish_reason": self.finish_reason()}]);
        text += &format!("data: {}\n\n", chunk(end));
        if self.answer.has_usage {
            let mut usage = chunk(json!([]));
            usage["usage"] =
                json!({"prompt_tokens": 5, "completion_tokens": 6, "total_tokens": 11});
            text += &format!("data: {usage}\n\n");
        }
        text + "data: [DONE]\n\n"
    }

    /// The parts of Gemini.
    fn parts(&self) -> Vec<Value> {
        let mut parts = Vec::new();
        if !self.thoughts().is_empty() {
            parts.push(json!({"text": self.thoughts(), "thought": true}));
        }
        if !self.text().is_empty() {
            parts.push(json!({"text": self.text()}));
        }
        for (id, name, arguments) in self.calls() {
            let arguments: Value = serde_json::from_str(arguments).unwrap();
            parts.push(json!({"functionCall": {"id": id, "name": name, "args": arguments}}));
        }
        let first_call = parts.iter().position(|part| part["functionCall"].is_object());
        let signed =
            first_call.or(parts.len().checked_sub(1).filter(|at| parts[*at]["thought"] != true));
        if let (true, Some(at)) = (self.answer.is_signed, signed) {
            parts[at]["thoughtSignature"] = self.mark.as_str().into();
        }
        parts
    }

    fn content(&self, parts: Vec<Value>, ends: bool) -> Value {
        let mut candidate = json!({"content": {"role": "model", "parts": parts}, "index": 0});
        let mut body = json!({"responseId": "r1", "modelVersion": "m"});
        if ends {
            candidate["finishReason"] = match self.answer.ending {
                Ending::Done => "STOP",
                Ending::Length => "MAX_TOKENS",
                Ending::Filtered => "SAFETY",
            }
            .into();
            if self.answer.has_usage {
                body["usageMetadata"] = json!({"promptTokenCount": 5, "candidatesTokenCount": 6, "totalTokenCount": 11});
            }
        }
        body["candidates"] = json!([candidate]);
        body
    }

    /// Texts in pieces, of which the last one has the signature.
    fn contents(&self) -> String {
        let mut cuts = self.answer.cuts.clone();
        let mut all = Vec::new();
        for part in self.parts() {
            let Some(text) = part["text"].as_str() else {
                all.push(part);
                continue;
            };
            let pieces = cuts.pieces(text);
            let last = pieces.len() - 1;
            for (at, piece) in pieces.into_iter().enumerate() {
                let mut piece = json!({"text": piece});
                for name in ["thought", "thoughtSignature"] {
                    if let Some(value) = part.get(name).filter(|_| at == last || name == "thought")
                    {
                        piece[name] = value.clone();
                    }
                }
                all.push(piece);
            }
        }
        let mut events: Vec<_> =
            all.into_iter().map(|part| self.content(vec![part], false)).collect();
        events.push(self.content(vec![], true));
        events.iter().map(|event| format!("data: {event}\r\n\r\n")).collect()
    }
}
