//! Answers that are not streamed.

use super::chat::{Chat, Round};
use super::completion::{Completion, CompletionInfo};
use super::error::GatewayError;
use super::upstream::Whole;
use crate::http::{Answer, Response};

/// Serves a request whose answer is not a stream.
pub(super) async fn answer(mut chat: Chat<'_>) -> Answer<'_> {
    let (response, error) = match rounds(&mut chat).await {
        Ok(response) => (response, None),
        Err(error) => (error.response(), Some(error.kind.code())),
    };
    chat.log(response.status, error);
    response.into()
}

async fn rounds(chat: &mut Chat<'_>) -> Result<Response, GatewayError> {
    let mut texts = Vec::new();
    loop {
        let completion = chat.ask(&Whole).await?;
        match chat.conclude(completion).await? {
            Round::Next { text } => texts.extend(text),
            Round::Last { mut completion, notice } => {
                texts.extend(completion.message.content.take());
                texts.extend(notice);
                texts.retain(|text| !text.is_empty());
                completion.message.content =
                    Some(texts.join("\n\n")).filter(|text| !text.is_empty());
                return Ok(encode(*completion, chat));
            }
        }
    }
}

fn encode(mut completion: Completion, chat: &Chat<'_>) -> Response {
    completion.usage.clone_from(&chat.report.usage);
    let info = info(&completion, chat);
    let body = completion.encode(&info, Some(&chat.report.two_api()));
    chat.report.headers(Response::json(200, body).with("cache-control", "no-store"))
}

/// What the client is told about an answer: the provider's words, or the gateway's if it has none.
pub(super) fn info(completion: &Completion, chat: &Chat<'_>) -> CompletionInfo {
    let now_ms = chat.sender.host.now_ms();
    CompletionInfo {
        id: completion.id.clone().unwrap_or_else(|| format!("chatcmpl-{now_ms:x}")),
        model: completion.model.clone().unwrap_or_else(|| chat.report.model.clone()),
        created: completion.created.unwrap_or(now_ms / 1000),
    }
}
