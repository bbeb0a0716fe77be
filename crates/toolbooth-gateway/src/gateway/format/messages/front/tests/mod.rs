//! Tests of the format.

mod answers;
mod properties;
mod recorded;
mod rejected;
mod requests;
mod streams;
mod tools;

use serde_json::{Value, json};

use crate::gateway::format::adapter::tests::options;
use crate::gateway::format::messages::front::*;
use crate::gateway::ids::IdSource;
use toolbooth::testing::Pairs;

/// The body of a request with one user message and these members.
fn body(members: Value) -> Value {
    let mut body = json!({
        "model": "m", "max_tokens": 100, "messages": [{"role": "user", "content": "Hi"}],
    });
    for (name, value) in members.as_object().unwrap() {
        body[name] = value.clone();
    }
    body
}

fn decode_with(headers: &[(&str, &str)], members: Value) -> Result<ChatRequest> {
    let front = Messages { counts_only: false };
    front.decode(&body(members).to_string(), &Pairs(headers), &Notes::default())
}

fn decode(members: Value) -> Result<ChatRequest> {
    decode_with(&[], members)
}

fn request(members: Value) -> ChatRequest {
    decode(members.clone()).unwrap_or_else(|error| panic!("{members}: {error:?}"))
}

/// The body that a provider gets, and the members that it does not.
fn sent(format: Format, request: &ChatRequest) -> (Value, Vec<String>) {
    let notes = Notes::default();
    let body = format.translate(request, &options(format), &notes);
    let body = body.unwrap_or_else(|error| panic!("{format:?}: {error:?}"));
    let dropped = json!(notes)["dropped"].clone();
    (serde_json::from_slice(&body).unwrap(), serde_json::from_value(dropped).unwrap_or_default())
}

/// What Anthropic gets if the request is translated, as it is with tools of this server.
fn translated(request: &ChatRequest) -> (Value, Vec<String>) {
    let mut request = request.clone();
    request.native.as_mut().unwrap().must_be_translated();
    sent(Format::Anthropic, &request)
}

fn ids() -> IdSource {
    IdSource::new([7; 16])
}

fn tool(name: &str) -> Value {
    json!({"name": name, "input_schema": {"type": "object", "properties": {}}})
}

/// A tool as OpenAI gets it.
fn openai_tool(name: &str) -> Value {
    json!({"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {}}}})
}
