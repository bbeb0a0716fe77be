//! Answers that are not streamed.

use crate::gateway::chat::Chat;
use crate::gateway::completion::Completion;
use crate::gateway::rounds::{Abort, Output};
use crate::gateway::upstream::Unary;
use toolbooth::http::Response;

/// One body, with the texts of all rounds.
#[derive(Default)]
pub(in crate::gateway) struct BodyOutput {
    texts: Vec<String>,
}

impl Output for BodyOutput {
    type Reply = Completion;
    type Done = Response;

    async fn ask(&mut self, chat: &mut Chat<'_>) -> Result<Completion, Abort> {
        Ok(chat.ask::<Unary>().await?)
    }

    async fn receive(&mut self, _: &mut Chat<'_>, reply: Completion) -> Result<Completion, Abort> {
        Ok(reply)
    }

    fn next_round(&mut self, text: Option<String>) {
        self.texts.extend(text);
    }

    async fn finish(
        &mut self,
        chat: &mut Chat<'_>,
        mut completion: Completion,
        notice: Option<String>,
    ) -> Result<Response, Abort> {
        self.texts.extend(completion.message.content.take());
        self.texts.extend(notice);
        self.texts.retain(|text| !text.is_empty());
        completion.message.content = Some(self.texts.join("\n\n")).filter(|text| !text.is_empty());
        completion.usage.clone_from(&chat.report.usage);
        let body = completion.encode(&chat.info(&completion), Some(&chat.report.two_api()));
        Ok(chat.report.headers(Response::json(200, body).with("cache-control", "no-store")))
    }
}
