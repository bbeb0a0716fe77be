//! The formats of clients. Each has a folder with its [`Front`], and routes.

mod address;
pub(super) mod chat;
pub(super) mod messages;
pub(super) mod responses;

use super::report::RanCall;
use super::{
    ChatRequest, Completion, CompletionInfo, Delta, Format, GatewayError, Notes, Report, Result,
    StreamEvent,
};
use toolbooth::http::Headers;

/// A format of clients: how they write requests, and how they get answers and errors.
pub(super) trait Front: Sync {
    /// Reads a request. The notes get the members that mean nothing to the gateway.
    fn decode(&self, body: &str, headers: &dyn Headers, notes: &Notes) -> Result<ChatRequest>;

    /// Whether clients can read answers in this format of a provider. They get its events as they are.
    fn reads(&self, format: Format) -> bool;

    /// The limits of its requests.
    fn limits(&self) -> RequestLimits;

    /// The body of an answer.
    fn encode(&self, answer: &Answer<'_>) -> Vec<u8>;

    /// Writes the events of an answer that is streamed.
    fn events(&self, request: &ChatRequest, info: CompletionInfo) -> Box<dyn EventEncoder>;

    /// Sent while the provider is silent.
    fn keep_alive(&self) -> &'static [u8] {
        b": keep-alive\n\n"
    }

    /// The body of a response with an error.
    fn error(&self, error: &GatewayError) -> Vec<u8>;
}

/// Which limits the tools of a request have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RequestLimits {
    /// Those of 2api.ai, 7.1.
    Seed,
    /// Those of coding agents, whose tools have long descriptions.
    Agents,
}

/// An answer for the client.
pub(super) struct Answer<'a> {
    pub(super) request: &'a ChatRequest,
    /// The last round, with the tokens of all rounds. It has no calls of compiled-in tools.
    pub(super) completion: &'a Completion,
    pub(super) info: &'a CompletionInfo,
    /// The rounds before it.
    pub(super) earlier: &'a [EarlierRound],
    pub(super) report: &'a Report,
}

/// A round whose calls were run by the gateway.
pub(super) struct EarlierRound {
    pub(super) text: Option<String>,
    /// How many of the calls in [`Report::ran`] there were at its end.
    pub(super) ran: usize,
}

impl Answer<'_> {
    /// The texts of all rounds, and the gateway's own, separated by empty lines.
    pub(super) fn text(&self) -> Option<String> {
        let notice = self.report.notice();
        let texts = self.earlier.iter().map(|round| round.text.as_deref());
        let texts = texts.chain([self.completion.message.content.as_deref(), notice.as_deref()]);
        let texts: Vec<_> = texts.flatten().filter(|text| !text.is_empty()).collect();
        Some(texts.join("\n\n")).filter(|text| !text.is_empty())
    }
}

/// Writes the events of a stream as the client gets them.
pub(super) trait EventEncoder {
    /// Writes an event: its own bytes, if the client reads the provider's format, otherwise its deltas.
    fn event(&mut self, event: &StreamEvent, out: &mut Vec<u8>);

    /// Writes a delta.
    fn delta(&mut self, delta: &Delta, out: &mut Vec<u8>);

    /// Writes calls that the gateway has run, with their results.
    fn ran(&mut self, _calls: &[RanCall], _out: &mut Vec<u8>) {}

    /// Sets the gateway's own member of the answer. It comes with the finish reason, or after it.
    fn report(&mut self, report: &Report);

    /// Writes the last event of a stream that fails.
    fn error(&mut self, error: &GatewayError, out: &mut Vec<u8>);
}

/// A JSON object, alone or in an event, with a further member `_2api`. It is unchanged if it is no object.
pub(super) fn with_report(json: &[u8], report: &str) -> Vec<u8> {
    let mut json = json.to_vec();
    // It has other members, and none of this name.
    if let Some(end) = json.iter().rposition(|byte| *byte == b'}') {
        json.splice(end..end, format!(",\"_2api\":{report}").into_bytes());
    }
    json
}
