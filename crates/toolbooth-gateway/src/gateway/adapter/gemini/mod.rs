//! Gemini generateContent.

mod contents;
mod request;

use std::fmt::Write;

use super::{Adapter, EventDecoder, event_data, members_of_answer};
use crate::gateway::{Builder, Read, SseEvent, UpstreamError, ids};
use crate::wire::gemini::{extra_content, response};
use crate::wire::{FinishReason, Item};
use toolbooth::json::{MAX_VALUES, Value};
use toolbooth::schema::text::excerpt;

pub(super) static ADAPTER: Adapter = Adapter {
    list: "gemini",
    path,
    headers: |key| key.map(|key| ("x-goog-api-key", key.to_owned())).into_iter().collect(),
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

/// The generation of a model, such as 2 for `gemini-2.5-flash`; `None` for names without one, such as
/// `gemini-flash-latest`.
fn generation(model: &str) -> Option<u64> {
    let rest = model.strip_prefix("models/").unwrap_or(model).strip_prefix("gemini-")?;
    rest.split(['.', '-']).next()?.parse().ok()
}

/// A chunk of a stream has the same form as a whole body.
fn decode(body: Value<'_>, builder: &mut Builder) -> Read {
    let has_candidate =
        body.get("candidates").and_then(Value::as_array).is_some_and(|it| !it.is_empty());
    let mut stream = Stream::default();
    stream.chunk(body, builder)?;
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
        self.chunk(event_data(data, MAX_VALUES)?, builder)
    }

    fn end(&mut self, builder: &mut Builder) -> Read {
        let reason = self.reason.ok_or(UpstreamError::BrokenOff)?;
        if let Some(signature) = self.signature.take() {
            builder.extra_content(signature);
        }
        builder.end(reason);
        Ok(())
    }
}

impl Stream {
    /// Reads a chunk, or a whole body.
    fn chunk(&mut self, body: Value<'_>, builder: &mut Builder) -> Read {
        let body = members_of_answer(body)?;
        let content = body.get("candidates").and_then(|it| it.as_array()?.first()?.get("content"));
        let parts = content.and_then(|content| content.get("parts")?.as_array());
        if builder.collect {
            let parts = parts.into_iter().flatten();
            builder.native.extend(parts.map(|part| part.clone().into_owned()));
        }
        let mut answer = response(body).map_err(UpstreamError::Malformed)?;
        builder.head(&mut answer);
        for mut item in answer.items {
            match &mut item {
                Item::Call(call) if !ids::is_portable(&call.id) => call.id = "".into(),
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
            self.reason = Some(builder.reason(&finish));
        }
        Ok(())
    }
}
