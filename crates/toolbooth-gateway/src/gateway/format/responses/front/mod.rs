//! OpenAI Responses.

mod answer;
pub(in crate::gateway) mod background;
mod choice;
mod events;
mod input;
mod item;
mod open;
mod request;
mod tools;

use crate::gateway::answer::completion::CompletionInfo;
use crate::gateway::conversation::request::ChatRequest;
use crate::gateway::error::{GatewayError, Result};
use crate::gateway::format::adapter::Format;
use crate::gateway::format::chat_completions::front::error_body;
use crate::gateway::format::front::Answer;
use crate::gateway::format::front::EventEncoder;
use crate::gateway::format::front::Front;
use crate::gateway::format::front::RequestLimits;
use crate::gateway::notes::Notes;
use crate::wire::Media;
use events::ResponseEncoder;
use toolbooth::http::Headers;

/// The beginning of `encrypted_content` that has what a provider must get back.
const EXTRA: &str = "toolbooth.extra.";

/// The beginning of `encrypted_content` that has the rounds before an answer.
const ROUNDS: &str = "toolbooth.rounds.";

#[derive(Debug)]
pub(crate) struct Responses;

impl Front for Responses {
    fn decode(&self, body: &str, _: &dyn Headers, notes: &Notes) -> Result<ChatRequest> {
        request::decode(body, notes)
    }

    fn reads(&self, format: Format) -> bool {
        format == Format::Responses
    }

    fn has_place_for(&self, media: &Media<'_>) -> bool {
        media.image_data().is_some()
    }

    fn limits(&self) -> RequestLimits {
        RequestLimits::Agents
    }

    fn encode(&self, answer: &Answer<'_>) -> Vec<u8> {
        answer::encode(answer)
    }

    fn events(&self, request: &ChatRequest, info: CompletionInfo) -> Box<dyn EventEncoder> {
        Box::new(ResponseEncoder::new(request, info, true))
    }

    fn error(&self, error: &GatewayError) -> Vec<u8> {
        toolbooth::json::to_vec(&error_body(&in_own_words(error)))
    }
}

/// Members of the gateway's own form of a request, and what they are in Responses.
const NAMES: &[(&str, &str)] = &[
    ("max_completion_tokens", "max_output_tokens"),
    ("max_tokens", "max_output_tokens"),
    ("reasoning_effort", "reasoning.effort"),
    ("response_format.json_schema", "text.format"),
    ("response_format", "text.format"),
    ("verbosity", "text.verbosity"),
    ("input[].extra_content.openai", "input[].encrypted_content"),
    ("input[].content[].image_url.detail", "input[].content[].detail"),
    ("input[].content[].source.url", "input[].content[].file_url"),
    // Of a message, a part is known by its place in the item.
    ("messages[]", "input[]"),
];

/// An error with the client's names of members. Where a message or a tool of the gateway's form came from is not known.
fn in_own_words(error: &GatewayError) -> GatewayError {
    let mut error = error.clone();
    let Some(param) = &error.param else { return error };
    let own =
        NAMES.iter().find_map(|(from, to)| Some(format!("{to}{}", param.strip_prefix(from)?)));
    if let Some(own) = own {
        error.message = error.message.replace(param.as_str(), &own);
        error.param = Some(own);
    } else if param.starts_with("messages") {
        error.param = Some("input".to_owned());
    } else if param.contains("].function.") || param.contains("].custom.") {
        error.param = Some("tools".to_owned());
    }
    error
}

#[cfg(test)]
pub(in crate::gateway) mod tests;
