//! Tests of the format of Responses.

pub(in crate::gateway) mod answers;
mod properties;
mod rejected;
mod requests;

use serde_json::{Value, json};

use crate::gateway::conversation::request::ChatRequest;
use crate::gateway::error::GatewayError;
use crate::gateway::format::adapter::Format;
use crate::gateway::format::adapter::tests::{options, translated_with};
use crate::gateway::format::responses::front::Responses;
use crate::gateway::format::responses::front::request::decode;
use crate::gateway::notes::Notes;

/// The formats into which requests are translated.
const OTHERS: [Format; 4] =
    [Format::OpenAi, Format::OpenAiCompatible, Format::Anthropic, Format::Gemini];

/// A request of a user who says `hi`, with further members.
fn body(more: Value) -> Value {
    let mut body = json!({"model": "m", "input": "hi"});
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    body
}

fn read(body: &Value) -> Result<ChatRequest, GatewayError> {
    decode(&body.to_string(), &Notes::default())
}

/// The request for a provider, the members that were dropped, and the warnings.
fn sent(format: Format, body: &Value) -> (Value, Vec<String>, Vec<String>) {
    translated_with(format, &read(body).unwrap(), &options(format))
}
