//! Answers that are not streamed.

use super::Output;
use crate::gateway::upstream::is_success;
use crate::gateway::{Chat, Completion, Exchange, GatewayError, Result};
use toolbooth::http::Response;

/// One body, with the texts of all rounds.
#[derive(Default)]
pub(crate) struct BodyOutput {
    texts: Vec<String>,
}

impl Output for BodyOutput {
    type Reply = Completion;
    type Done = Response;
    const STREAM: bool = false;

    // The timeout of the request ends the answer too.
    async fn send(exchange: Exchange<'_>) -> Result<Completion> {
        let Exchange { request, format, name, ids, host, .. } = exchange;
        let sent = host.send(request).await;
        let response = sent.map_err(|error| GatewayError::transport(&error, &name))?;
        let decoded = match is_success(response.status) {
            true => format.decode(&response.body, ids),
            false => Err(format.decode_error(response.status, &response.body)),
        };
        decoded.map_err(|error| GatewayError::upstream(&error, response.retry_after_ms, &name))
    }

    async fn ask(&mut self, chat: &mut Chat<'_>) -> Result<Completion> {
        chat.ask::<Self>().await
    }

    async fn receive(&mut self, _: &mut Chat<'_>, reply: Completion) -> Result<Completion> {
        Ok(reply)
    }

    fn next_round(&mut self, text: Option<String>) {
        self.texts.extend(text);
    }

    async fn finish(
        &mut self,
        chat: &mut Chat<'_>,
        mut completion: Completion,
    ) -> Result<Response> {
        self.texts.extend(completion.message.content.take());
        self.texts.extend(chat.report.notice());
        self.texts.retain(|text| !text.is_empty());
        completion.message.content = Some(self.texts.join("\n\n")).filter(|text| !text.is_empty());
        completion.usage.clone_from(&chat.report.usage);
        let body = completion.encode(&chat.info(&completion), Some(&chat.report.two_api()));
        Ok(chat.report.headers(Response::json(200, body).with("cache-control", "no-store")))
    }
}
