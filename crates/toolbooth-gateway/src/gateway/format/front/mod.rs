//! The formats of clients. Each has a folder with its [`Front`], and routes.

pub(in crate::gateway::format) mod address;
pub(in crate::gateway::format) mod unknown;

use serde::Serialize;

use crate::gateway::answer::completion::{AssistantMessage, Completion, CompletionInfo};
use crate::gateway::answer::stream::{Delta, StreamEvent};
use crate::gateway::conversation::request::ChatRequest;
use crate::gateway::error::{GatewayError, Result};
use crate::gateway::format::adapter::Format;
use crate::gateway::notes::Notes;
use crate::gateway::relay::report::{RanCall, Report};
use crate::wire::Media;
use toolbooth::http::Headers;
use toolbooth::json;

/// A format of clients: how they write requests, and how they get answers and errors.
pub(in crate::gateway) trait Front: Sync {
    /// Reads a request. The notes get the members that mean nothing to the gateway.
    fn decode(&self, body: &str, headers: &dyn Headers, notes: &Notes) -> Result<ChatRequest>;

    /// Whether clients can read answers in this format of a provider. They get its events as they are.
    fn reads(&self, format: Format) -> bool;

    /// Whether its answers have a place for a picture, a sound or another file.
    fn has_place_for(&self, media: &Media<'_>) -> bool;

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

    /// The status of a response with an error.
    fn status(&self, error: &GatewayError) -> u16 {
        error.kind.status()
    }

    /// The body of a response with an error.
    fn error(&self, error: &GatewayError) -> Vec<u8>;
}

/// Which limits the tools of a request have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::gateway) enum RequestLimits {
    /// Those of chats (2api.ai, 7.1).
    Chat,
    /// Those of coding agents, whose tools have long descriptions.
    Agents,
}

/// An answer for the client.
pub(in crate::gateway) struct Answer<'a> {
    pub(in crate::gateway) request: &'a ChatRequest,
    /// The last round, with the tokens of all rounds. It has no calls of compiled-in tools.
    pub(in crate::gateway) completion: &'a Completion,
    pub(in crate::gateway) info: &'a CompletionInfo,
    /// The rounds before it.
    pub(in crate::gateway) earlier: &'a [EarlierRound],
    pub(in crate::gateway) report: &'a Report,
}

/// A round whose calls were run by the gateway.
pub(in crate::gateway) struct EarlierRound {
    pub(in crate::gateway) message: AssistantMessage,
    /// How many of the calls in [`Report::ran`] there were at its end.
    pub(in crate::gateway) ran: usize,
}

/// What the model said in a round, and the calls of it that the gateway ran.
pub(in crate::gateway) struct AnsweredRound<'a> {
    pub(in crate::gateway) message: &'a AssistantMessage,
    pub(in crate::gateway) ran: &'a [RanCall],
}

impl<'a> Answer<'a> {
    /// All rounds. The last one may have calls of the client too.
    pub(in crate::gateway) fn rounds(&self) -> impl Iterator<Item = AnsweredRound<'a>> {
        let Self { completion, earlier, report, .. } = *self;
        let earlier = earlier.iter().map(|round| (&round.message, round.ran));
        let mut done = 0;
        earlier.chain([(&completion.message, report.ran.len())]).map(move |(message, end)| {
            let ran = report.ran.get(done..end).unwrap_or_default();
            done = end;
            AnsweredRound { message, ran }
        })
    }
}

/// Texts with empty lines between them; `None` if there are none.
pub(in crate::gateway) fn paragraphs<'t>(texts: impl Iterator<Item = &'t str>) -> Option<String> {
    let texts: Vec<_> = texts.filter(|text| !text.is_empty()).collect();
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}

/// Writes the events of a stream as the client gets them.
pub(in crate::gateway) trait EventEncoder {
    /// Writes an event: its own bytes, if the client reads the provider's format, otherwise its deltas.
    fn event(&mut self, event: &StreamEvent, out: &mut Vec<u8>) {
        match &event.raw {
            Some(raw) => self.forward(raw, &event.deltas, out),
            None => event.deltas.iter().for_each(|delta| self.delta(delta, out)),
        }
    }

    /// Writes an event as the provider sent it. It means these deltas.
    fn forward(&mut self, raw: &[u8], deltas: &[Delta], out: &mut Vec<u8>);

    /// Writes a delta.
    fn delta(&mut self, delta: &Delta, out: &mut Vec<u8>);

    /// Writes calls that the gateway has run, with their results.
    fn ran(&mut self, _calls: &[RanCall], _out: &mut Vec<u8>) {}

    /// How many bytes of the answer it holds back.
    fn held_bytes(&self) -> usize {
        0
    }

    /// Sets the gateway's own member of the answer. It comes with the finish reason, or after it.
    fn report(&mut self, report: &Report);

    /// Writes the last event of a stream that fails.
    fn error(&mut self, error: &GatewayError, out: &mut Vec<u8>);
}

/// Writes an event with this data. Its name is left out if it is empty.
pub(in crate::gateway) fn write_event(name: &str, data: &impl Serialize, out: &mut Vec<u8>) {
    if !name.is_empty() {
        out.extend_from_slice(b"event: ");
        out.extend_from_slice(name.as_bytes());
        out.push(b'\n');
    }
    out.extend_from_slice(b"data: ");
    out.extend(json::to_vec(data));
    out.extend_from_slice(b"\n\n");
}

/// Writes an event as the provider sent it. The one with the finish reason gets the report, as [`with_report`] says.
pub(in crate::gateway::format) fn write_raw(
    raw: &[u8],
    deltas: &[Delta],
    name: Option<&str>,
    report: &mut Option<String>,
    out: &mut Vec<u8>,
) {
    let finishes = deltas.iter().any(|delta| matches!(delta, Delta::Finish(_)));
    match report.take_if(|_| finishes) {
        Some(report) => out.extend(with_report(raw, name, &report)),
        None => out.extend_from_slice(raw),
    }
}

/// A JSON object, alone or in an event, with a further member `_2api`, or the object that is its member `name`. It is unchanged if it
/// is no object.
pub(in crate::gateway) fn with_report(json: &[u8], name: Option<&str>, report: &str) -> Vec<u8> {
    let mut changed = json.to_vec();
    let end = match name {
        None => json.iter().rposition(|byte| *byte == b'}'),
        Some(name) => end_of_member(json, name),
    };
    if let Some(end) = end {
        let before = json.get(..end).unwrap_or_default().trim_ascii_end();
        let comma = if before.ends_with(b"{") { "" } else { "," };
        changed.splice(end..end, format!("{comma}\"_2api\":{report}").into_bytes());
    }
    changed
}

/// Where the object ends that is the value of the first member with this name.
pub(in crate::gateway::format) fn end_of_member(json: &[u8], name: &str) -> Option<usize> {
    // Quotes in strings are escaped, so that a name in quotes before a colon is that of a member.
    let name = format!("\"{name}\"").into_bytes();
    let ends = json.windows(name.len()).enumerate().filter(|(_, it)| *it == name);
    let start = ends.map(|(at, _)| at + name.len()).find_map(|end| {
        let value = json.get(end..)?.trim_ascii_start().strip_prefix(b":")?;
        value.trim_ascii_start().starts_with(b"{").then_some(json.len() - value.len())
    })?;
    let (mut depth, mut in_string, mut is_escaped) = (0_usize, false, false);
    for (at, byte) in json.iter().enumerate().skip(start) {
        match byte {
            b'{' if !in_string => depth += 1,
            b'}' if !in_string => depth = depth.checked_sub(1)?,
            b'"' if !is_escaped => in_string = !in_string,
            _ => {}
        }
        is_escaped = in_string && *byte == b'\\' && !is_escaped;
        if depth == 0 && *byte == b'}' {
            return Some(at);
        }
    }
    None
}
