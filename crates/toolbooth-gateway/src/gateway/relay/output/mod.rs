//! Where answers go: into a body, or into a stream.

mod stream;

pub(in crate::gateway) use stream::{OpenStream, StreamOutput};

use crate::gateway::answer::completion::{AssistantMessage, Completion};
use crate::gateway::answer::stream::DecodeOptions;
use crate::gateway::error::{GatewayError, Result};
use crate::gateway::format::front::Answer;
use crate::gateway::format::front::EarlierRound;
use crate::gateway::relay::chat::Chat;
use crate::gateway::relay::upstream::Exchange;
use toolbooth::http::Response;

/// Where an answer goes, and how it comes.
pub(in crate::gateway) trait Output: Sized {
    /// The model's answer, or its beginning.
    type Reply;
    /// What is left to do for the caller.
    type Done;
    /// Whether the provider streams the answer.
    const STREAM: bool;

    /// Makes one attempt to get an answer.
    async fn attempt(exchange: Exchange<'_, '_>) -> Result<Self::Reply>;

    /// Asks the model for a round.
    async fn ask(&mut self, chat: &mut Chat<'_>) -> Result<Self::Reply> {
        chat.ask::<Self>().await
    }

    /// Receives the rest of an answer. The client may get parts of it.
    async fn receive(&mut self, chat: &mut Chat<'_>, reply: Self::Reply) -> Result<Completion>;

    /// Another round follows this answer. Its calls have run.
    async fn next_round(&mut self, chat: &Chat<'_>, message: AssistantMessage) -> Result<()>;

    /// Gives the client the last answer, with what the gateway adds to its text.
    async fn finish(&mut self, chat: &mut Chat<'_>, completion: Completion) -> Result<Self::Done>;
}

/// One body, with the answers of all rounds.
#[derive(Default)]
pub(in crate::gateway) struct BodyOutput {
    earlier: Vec<EarlierRound>,
}

impl Output for BodyOutput {
    type Reply = Completion;
    type Done = Response;
    const STREAM: bool = false;

    // The timeout of the request ends the answer too.
    async fn attempt(exchange: Exchange<'_, '_>) -> Result<Completion> {
        let Exchange { chat, target, request, ids } = exchange;
        let format = target.format;
        let response = target.send(chat.sender.host, request).await?;
        let (forward, names) = (chat.request.passes_to(format), format.names(&chat.request));
        let provider = target.provider.id.clone();
        let options = DecodeOptions { forward, names, provider, collect: true };
        let decoded = format.decode(&response.body, ids, options);
        let mut completion = decoded.map_err(|error| {
            GatewayError::upstream(&error, response.retry_after_ms, &target.name())
        })?;
        let front = chat.sender.front;
        let mut files = completion.message.media.iter().map(|(_, file)| file);
        if let Some(file) = files.find(|file| !front.has_place_for(file)) {
            let usage = completion.usage.as_ref();
            return Err(GatewayError::no_place(file, usage, &target.name()));
        }
        if forward {
            completion.native_body = Some(format.names(&chat.request).restored(response.body));
            // What they say of a translation is not true of the body as it is.
            completion.warnings.clear();
        }
        Ok(completion)
    }

    async fn receive(&mut self, chat: &mut Chat<'_>, reply: Completion) -> Result<Completion> {
        // Calls that the user has approved have run before.
        let ran = chat.report.ran.len();
        if self.earlier.is_empty() && ran > 0 {
            self.earlier.push(EarlierRound { message: AssistantMessage::default(), ran });
        }
        Ok(reply)
    }

    async fn next_round(&mut self, chat: &Chat<'_>, message: AssistantMessage) -> Result<()> {
        self.earlier.push(EarlierRound { message, ran: chat.report.ran.len() });
        Ok(())
    }

    async fn finish(
        &mut self,
        chat: &mut Chat<'_>,
        mut completion: Completion,
    ) -> Result<Response> {
        completion.usage.clone_from(&chat.report.usage);
        let answer = Answer {
            request: &chat.request,
            completion: &completion,
            info: &chat.info(&completion),
            earlier: &self.earlier,
            report: &chat.report,
        };
        let body = chat.sender.front.encode(&answer);
        Ok(chat.report.headers(Response::json(200, body).with("cache-control", "no-store")))
    }
}
