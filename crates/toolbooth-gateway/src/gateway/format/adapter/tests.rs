mod answers;
mod contents;
mod endings;
mod loops;
mod models;
mod openai;
mod properties;
pub(in crate::gateway) mod recorded;
mod requests;
mod responses;
mod schemas;
mod shapes;
mod streams;
mod thinking;

use serde_json::{Value, json};

use crate::gateway::error::ErrorKind;

use crate::gateway::dialect::Feature;
use crate::gateway::format::adapter::errors::decode_error;
use crate::gateway::format::adapter::*;
use crate::gateway::format::chat_completions::front::decode;

/// Options for a model of the provider.
pub(in crate::gateway) fn options(provider: Format) -> TranslateOptions<'static> {
    let (model, target) = match provider {
        Format::OpenAi | Format::Responses => ("gpt-5", "openai/gpt-5"),
        Format::OpenAiCompatible => ("llama", "groq/llama"),
        Format::Anthropic => ("claude-sonnet-4-5", "anthropic/claude-sonnet-4-5"),
        Format::Gemini => ("gemini-2.5-flash", "google/gemini-2.5-flash"),
        Format::WorkersAi => ("@cf/meta/llama-3.1", "workers-ai/@cf/meta/llama-3.1"),
    };
    TranslateOptions {
        provider: target.split('/').next().unwrap(),
        model,
        target,
        dialect: Dialect::usual(),
        stream: false,
        server_tools: &[],
        may_force: true,
        max_output_tokens: None,
        facts: facts(provider, model),
        model_output_tokens: None,
        needs_limit: false,
        strict_schemas: false,
    }
}

/// What is known of a model.
pub(in crate::gateway) fn facts(provider: Format, model: &str) -> &'static Facts {
    match Facts::of(provider, model, None, Dialect::usual().facts()) {
        Cow::Borrowed(facts) => facts,
        Cow::Owned(facts) => Box::leak(Box::new(facts)),
    }
}

/// Options for this model.
pub(in crate::gateway) fn options_for(provider: Format, model: &str) -> TranslateOptions<'_> {
    TranslateOptions { model, facts: facts(provider, model), ..options(provider) }
}

/// The body of a request with one user message and these members.
fn body(members: Value) -> Value {
    let mut body = json!({"model": "m", "messages": [{"role": "user", "content": "Hi"}]});
    for (name, value) in members.as_object().unwrap() {
        body[name] = value.clone();
    }
    body
}

fn request(members: Value) -> ChatRequest {
    decode(&body(members).to_string(), &Notes::default()).unwrap()
}

/// The body for a provider, the members that were dropped, and the warnings.
fn translated(provider: Format, members: Value) -> (Value, Vec<String>, Vec<String>) {
    let (body, dropped, mut warnings) =
        translated_with(provider, &request(members), &options(provider));
    // That Anthropic gets a limit of tokens has a test of its own.
    warnings.retain(|warning| !warning.starts_with("max_tokens: Anthropic needs it"));
    (body, dropped, warnings)
}

pub(in crate::gateway) fn translated_with(
    provider: Format,
    request: &ChatRequest,
    options: &TranslateOptions<'_>,
) -> (Value, Vec<String>, Vec<String>) {
    let notes = Notes::default();
    let body = provider.translate(request, options, &notes);
    let body = body.unwrap_or_else(|error| panic!("{error:?}"));
    let notes = json!(notes);
    let texts = |name: &str| serde_json::from_value(notes[name].clone()).unwrap_or_default();
    (serde_json::from_slice(&body).unwrap(), texts("dropped"), texts("warnings"))
}

/// The message and the member of a translation's error.
fn rejected(provider: Format, members: Value) -> (String, String) {
    let notes = Notes::default();
    let request = decode(&body(members).to_string(), &notes);
    let result =
        request.and_then(|request| provider.translate(&request, &options(provider), &notes));
    let error = result.unwrap_err();
    assert_eq!(error.kind, ErrorKind::InvalidRequest, "{error:?}");
    (error.message.clone(), error.param.clone().unwrap())
}

pub(in crate::gateway) fn ids() -> IdSource {
    IdSource::new([7; 16])
}

/// Options for an answer to a request whose tools the provider knows by other names.
pub(in crate::gateway) fn with(names: Names) -> DecodeOptions {
    DecodeOptions { names, ..DecodeOptions::default() }
}

/// A function without parameters.
fn tool(name: &str) -> Value {
    json!({"type": "function", "function": {"name": name}})
}

/// A call of a function.
fn call(id: &str, name: &str, arguments: &str) -> Value {
    json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}})
}
