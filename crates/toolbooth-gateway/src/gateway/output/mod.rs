//! Where answers go: into a body, or into a stream.

mod body;
mod stream;

pub(super) use body::BodyOutput;
pub(super) use stream::{OpenStream, StreamOutput};

use super::{Chat, Completion, Exchange, Failure, GatewayError};
use toolbooth::http::ClientGone;

/// Where an answer goes, and how it comes.
pub(super) trait Output {
    /// The model's answer, or its beginning.
    type Reply;
    /// What is left to do for the caller.
    type Done;
    /// Whether the provider streams the answer.
    const STREAM: bool;

    /// Sends a request to a provider.
    async fn send(exchange: Exchange<'_>) -> Result<Self::Reply, Failure>;

    async fn ask(&mut self, chat: &mut Chat<'_>) -> Result<Self::Reply, Abort>;

    /// Receives the rest of an answer. The client may get parts of it.
    async fn receive(
        &mut self,
        chat: &mut Chat<'_>,
        reply: Self::Reply,
    ) -> Result<Completion, Abort>;

    /// Another round follows an answer with this text.
    fn next_round(&mut self, text: Option<String>);

    /// Gives the client the last answer, with what the gateway adds to its text.
    async fn finish(
        &mut self,
        chat: &mut Chat<'_>,
        completion: Completion,
        notice: Option<String>,
    ) -> Result<Self::Done, Abort>;
}

pub(super) enum Abort {
    Failed(GatewayError),
    ClientGone,
}

impl From<GatewayError> for Abort {
    fn from(error: GatewayError) -> Self {
        Self::Failed(error)
    }
}

impl From<ClientGone> for Abort {
    fn from(_: ClientGone) -> Self {
        Self::ClientGone
    }
}
