//! OpenAI Responses.

mod answer;
mod choice;
mod events;
mod input;
mod item;
mod open;
mod request;
mod tools;

use super::chat::error_body;
use super::{Answer, EventEncoder, Front, RequestLimits};
use crate::gateway::{ChatRequest, CompletionInfo, Format, GatewayError, Notes, Result};
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
        toolbooth::json::to_vec(&error_body(error))
    }
}

#[cfg(test)]
pub(in crate::gateway) mod tests;
