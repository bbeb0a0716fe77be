//! OpenAI Responses, and the providers with its format.

mod input;
mod items;
mod request;
mod stream;

use crate::gateway::answer::builder::Builder;
use crate::gateway::answer::completion::{Read, UpstreamError};
use crate::gateway::format::adapter::Adapter;
use crate::gateway::format::adapter::errors::reported;
use crate::gateway::format::adapter::members_of_answer;
use crate::gateway::format::chat_completions::adapter as openai;
use crate::gateway::raw_json::nested;
use crate::wire::fields::text;
use crate::wire::{Finish, FinishReason};
use toolbooth::json::Value;

pub(in crate::gateway::format) static ADAPTER: Adapter = Adapter {
    list: "openai-responses",
    function: [r#"{"type":"function","strict":false,"#, "parameters", "}"],
    path: |_, _| "/responses".to_owned(),
    translate: request::translate,
    limit_member: "max_output_tokens",
    decode,
    decoder: || Box::<stream::Stream>::default(),
    ..openai::OPENAI
};

/// A whole response is like the last event of a stream without the others.
fn decode(_: &str, body: Value<'_>, builder: &mut Builder) -> Read {
    let response = Value::Object(members_of_answer(body)?);
    if response.get("output").and_then(Value::as_array).is_none() {
        return Err(UpstreamError::malformed("the answer has no output"));
    }
    stream::Stream::default().complete(&response, builder)
}

/// Why the model stopped; the error if it has failed.
fn reason(response: &Value<'_>, builder: &mut Builder) -> Read<FinishReason> {
    let why = text(response.get("incomplete_details").and_then(|it| it.get("reason")));
    match text(response.get("status")) {
        Some("failed" | "cancelled") => Err(reported(200, response)),
        Some("incomplete") => Ok(match why {
            Some("content_filter") => {
                builder.warn("The provider withheld a part of the answer".to_owned());
                FinishReason::ContentFilter
            }
            _ => FinishReason::Length,
        }),
        None | Some("completed") => Ok(FinishReason::Stop),
        Some(word) => {
            Ok(builder.reason(&Finish { word: word.into(), reason: FinishReason::Other }))
        }
    }
}

/// Carries the reasoning items, if there are any with encrypted content, in `extra_content`.
fn keep_reasoning(items: Vec<Value<'static>>, builder: &mut Builder) {
    if !items.is_empty() {
        let own = nested("reasoning", Value::Array(items));
        builder.extra_content(nested("openai", own));
    }
}
