//! Gemini generateContent.

mod contents;
mod request;

use std::fmt::Write;

use serde_json::value::RawValue;

use crate::gateway::answer::builder::Builder;
use crate::gateway::answer::completion::{Read, UpstreamError};
use crate::gateway::answer::sse::SseEvent;
use crate::gateway::format::adapter::names::{MAX_SENT_NAME, is_plain};
use crate::gateway::format::adapter::{
    Adapter, EventDecoder, MAX_EVENT_VALUES, event_data, members_of_answer, raw,
};
use crate::gateway::ids;
use crate::gateway::raw_json::{compact, raw_items, raw_member};
use crate::wire::gemini::{extra_content, response};
use crate::wire::{Arguments, FinishReason, Item};
use toolbooth::json::Value;
use toolbooth::schema::text::excerpt;

pub(in crate::gateway::format) static ADAPTER: Adapter = Adapter {
    list: "gemini",
    function: ["{", "parametersJsonSchema", "}"],
    path,
    models: Some("/v1beta/models?pageSize=1000"),
    headers: |key| key.map(|key| ("x-goog-api-key", key.to_owned().into())).into_iter().collect(),
    accepts_name: |name| {
        let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        begins && is_plain(name, MAX_SENT_NAME)
    },
    translate: request::translate,
    // It is a member of `generationConfig`, and no client has this format.
    limit_member: "maxOutputTokens",
    decode,
    decoder: || Box::<Stream>::default(),
};

/// The path and query of a request. A model's name is one segment; other characters are escaped.
fn path(model: &str, stream: bool) -> String {
    let mut path = "/v1beta/models/".to_owned();
    for byte in model.strip_prefix("models/").unwrap_or(model).bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~@".contains(&byte) {
            path.push(char::from(byte));
        } else {
            let _ = write!(path, "%{byte:02X}");
        }
    }
    path.push_str(if stream { ":streamGenerateContent?alt=sse" } else { ":generateContent" });
    path
}

/// A chunk of a stream has the same form as a whole body.
fn decode(text: &str, body: Value<'_>, builder: &mut Builder) -> Read {
    let has_candidate =
        body.get("candidates").and_then(Value::as_array).is_some_and(|it| !it.is_empty());
    let mut stream = Stream::default();
    stream.chunk(text, body, builder)?;
    if stream.reason.is_none() && !has_candidate {
        return Err(UpstreamError::malformed("the answer has no candidates"));
    }
    stream.reason.get_or_insert(FinishReason::Stop);
    stream.end(builder)
}

/// The state of a stream. Its end is the end of the answer: calls may follow `finishReason`.
#[derive(Default)]
struct Stream {
    /// Why the model stopped, once it has said so.
    reason: Option<FinishReason>,
    /// The signature of a part that is not a call.
    signature: Option<Value<'static>>,
}

impl EventDecoder for Stream {
    fn event(&mut self, event: &SseEvent<'_>, builder: &mut Builder) -> Read {
        let Some(data) = &event.data else { return Ok(()) };
        self.chunk(data, event_data(data, MAX_EVENT_VALUES)?, builder)
    }

    fn end(&mut self, builder: &mut Builder) -> Read {
        let reason = self.reason.ok_or(UpstreamError::BrokenOff)?;
        if let Some(signature) = self.signature.take() {
            builder.extra_content(signature);
        }
        builder.end(reason)
    }
}

/// The arguments of the calls of a chunk that have some, as Gemini wrote them.
fn arguments(chunk: &str) -> Vec<String> {
    let candidates = raw_items(raw(chunk).and_then(|json| raw_member(json, &["candidates"])));
    let parts = candidates.first().and_then(|json| raw_member(json, &["content", "parts"]));
    let of_part = |part: &RawValue| {
        let places = [&["functionCall", "args"][..], &["function_call", "args"], &["args"]];
        let mut found = places.into_iter().filter_map(|names| raw_member(part, names));
        found.find(|json| json.get() != "null").map(compact)
    };
    raw_items(parts).into_iter().filter_map(of_part).collect()
}

impl Stream {
    /// Reads a chunk, or a whole body: its text, and the value of that.
    fn chunk(&mut self, text: &str, body: Value<'_>, builder: &mut Builder) -> Read {
        let body = members_of_answer(body)?;
        let content = body.get("candidates").and_then(|it| it.as_array()?.first()?.get("content"));
        let parts = content.and_then(|content| content.get("parts")?.as_array());
        if builder.collect {
            let parts = parts.into_iter().flatten();
            builder.native.extend(parts.map(|part| part.clone().into_owned()));
        }
        let mut answer = response(body).map_err(UpstreamError::Malformed)?;
        builder.head(&mut answer);
        let has_calls = answer.items.iter().any(|item| matches!(item, Item::Call(_)));
        let written = if has_calls { arguments(text) } else { Vec::new() };
        let mut written = written.into_iter();
        for mut item in answer.items {
            match &mut item {
                Item::Call(call) => {
                    if !ids::is_portable(&call.id) {
                        call.id = "".into();
                    }
                    if let Arguments::Json(_) = call.arguments
                        && let Some(json) = written.next()
                    {
                        call.arguments = Arguments::Text(json.into());
                    }
                }
                Item::Signature(signature) => {
                    let signature = signature.as_ref().to_owned();
                    self.signature = Some(extra_content(signature.into()));
                }
                _ => {}
            }
            builder.item(item)?;
        }
        if let Some(finish) = answer.finish {
            if finish.reason == FinishReason::ContentFilter {
                let word = excerpt(&finish.word);
                builder.warn(format!("Gemini withheld the answer, or a part of it: {word}"));
            }
            self.reason = Some(match builder.reason(&finish) {
                // The same word ends texts and calls.
                FinishReason::ToolCalls => FinishReason::Stop,
                reason => reason,
            });
        }
        Ok(())
    }
}
