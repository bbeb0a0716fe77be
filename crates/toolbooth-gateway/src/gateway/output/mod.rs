//! Where answers go: into a body, or into a stream.

mod body;
mod stream;

pub(super) use body::BodyOutput;
pub(super) use stream::{OpenStream, StreamOutput};

use super::{Chat, Completion, Exchange, Result};

/// Where an answer goes, and how it comes.
pub(super) trait Output {
    /// The model's answer, or its beginning.
    type Reply;
    /// What is left to do for the caller.
    type Done;
    /// Whether the provider streams the answer.
    const STREAM: bool;

    /// Sends a request to a provider.
    async fn send(exchange: Exchange<'_>) -> Result<Self::Reply>;

    async fn ask(&mut self, chat: &mut Chat<'_>) -> Result<Self::Reply>;

    /// Receives the rest of an answer. The client may get parts of it.
    async fn receive(&mut self, chat: &mut Chat<'_>, reply: Self::Reply) -> Result<Completion>;

    /// Another round follows an answer with this text.
    fn next_round(&mut self, text: Option<String>);

    /// Gives the client the last answer, with what the gateway adds to its text.
    async fn finish(&mut self, chat: &mut Chat<'_>, completion: Completion) -> Result<Self::Done>;
}
