//! OpenAI Chat Completions.

mod answer;
pub(in crate::gateway) mod message;
mod request;
mod tools;

use serde::Serialize;

use crate::gateway::answer::completion::CompletionInfo;
use crate::gateway::conversation::request::ChatRequest;
use crate::gateway::error::{ErrorDetails, GatewayError, Result};
use crate::gateway::format::adapter::Format;
use crate::gateway::format::front::Answer;
use crate::gateway::format::front::EventEncoder;
use crate::gateway::format::front::Front;
use crate::gateway::format::front::RequestLimits;
use crate::gateway::notes::Notes;
use crate::providers::{ErrorBody, ErrorType};
use crate::wire::{Media, MediaForm};
use answer::ChunkEncoder;
use toolbooth::call::{Pipeline, Rejection};
use toolbooth::http::{Headers, Response};
use toolbooth::protocol::rejection_response;

#[derive(Debug)]
pub(crate) struct ChatCompletions;

impl Front for ChatCompletions {
    fn decode(&self, body: &str, _: &dyn Headers, notes: &Notes) -> Result<ChatRequest> {
        request::decode(body, notes)
    }

    fn reads(&self, format: Format) -> bool {
        matches!(format, Format::OpenAi | Format::OpenAiCompatible)
    }

    fn has_place_for(&self, media: &Media<'_>) -> bool {
        media.form != MediaForm::None
    }

    fn limits(&self) -> RequestLimits {
        RequestLimits::Chat
    }

    fn encode(&self, answer: &Answer<'_>) -> Vec<u8> {
        answer::encode(answer)
    }

    fn events(&self, request: &ChatRequest, info: CompletionInfo) -> Box<dyn EventEncoder> {
        Box::new(ChunkEncoder::new(info, request.include_usage))
    }

    fn error(&self, error: &GatewayError) -> Vec<u8> {
        toolbooth::json::to_vec(&error_body(error))
    }
}

/// An error as OpenAI writes it.
#[derive(Serialize)]
pub(in crate::gateway) struct ErrorObject<'a> {
    message: &'a str,
    r#type: ErrorType,
    param: Option<&'a str>,
    code: &'a str,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    incompatible_features: &'a [String],
}

pub(in crate::gateway) fn error_body(error: &GatewayError) -> ErrorBody<ErrorObject<'_>> {
    let ErrorDetails { kind, message, param, features, .. } = &**error;
    ErrorBody {
        error: ErrorObject {
            message,
            r#type: kind.r#type(),
            param: param.as_deref(),
            code: kind.code(),
            incompatible_features: features,
        },
    }
}

/// The response to a request that the policy of its route rejects.
pub(crate) fn encode_rejection(rejection: &Rejection, _: &Pipeline) -> Response {
    let description = rejection.describe();
    let kind = description.kind;
    let error = ErrorObject {
        message: &description.to_string(),
        r#type: ErrorType::of(kind),
        param: None,
        code: kind.code(),
        incompatible_features: &[],
    };
    rejection_response(kind.status(), rejection, &ErrorBody { error })
}

#[cfg(test)]
pub(in crate::gateway) use request::decode;
