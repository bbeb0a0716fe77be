//! What a chat takes from the limits of its caller: a request, and the calls of its answers (2api.ai, 7.4).

use crate::gateway::error::Result;
use crate::gateway::relay::chat::{Chat, Sender};
use toolbooth::budget::Unit;

/// What has been counted.
#[derive(Debug)]
pub(in crate::gateway) struct Units {
    /// Whether the request has, so that it is counted once, and only if it is sent.
    request: bool,
    /// The calls of the answer that is arriving.
    of_answer: usize,
    /// Whether a call for the client has. The first one is in the unit that the request took from `RATE_LIMIT` when it arrived.
    first_call: bool,
}

impl Units {
    /// What has been counted before the chat. A request in the background was, when it was stored.
    pub(in crate::gateway) fn of(sender: &Sender<'_>) -> Self {
        Self { request: sender.background.is_some(), of_answer: 0, first_call: false }
    }

    /// A further answer follows.
    pub(in crate::gateway) fn next_answer(&mut self) {
        self.of_answer = 0;
    }
}

impl Chat<'_> {
    /// Counts the request, before anything is sent.
    pub(in crate::gateway) async fn count_request(&mut self) -> Result<()> {
        if !std::mem::replace(&mut self.units.request, true) {
            self.sender.context().purse().take(Unit::Requests, 1).await?;
        }
        Ok(())
    }

    /// Counts the calls of an answer that have not been counted. The gateway runs `own` of them: these count as calls of tools
    /// when they run.
    pub(in crate::gateway) async fn count_calls(&mut self, all: usize, own: usize) -> Result<()> {
        let calls = all.saturating_sub(self.units.of_answer);
        self.units.of_answer = all;
        let clients = calls.saturating_sub(own);
        let is_first = clients > 0 && !std::mem::replace(&mut self.units.first_call, true);
        let context = self.sender.context();
        context.count(clients - usize::from(is_first)).await?;
        context.purse().take(Unit::ToolCalls, clients as u64).await?;
        self.limits.count(calls, &context).await
    }
}
