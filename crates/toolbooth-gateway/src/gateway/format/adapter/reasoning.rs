//! What a model has thought goes back to the provider that it came from, and to no other.

use crate::gateway::conversation::request::ChatRequest;
use crate::gateway::conversation::{Assistant, HistoryItem, Turn};
use crate::gateway::error::Result;
use crate::gateway::format::adapter::Format;
use crate::gateway::notes::Notes;
use crate::gateway::provider_state::{ProviderState, REASONING};
use crate::gateway::raw_json::parse;
use toolbooth::json::Value;

/// The request without the reasoning of other providers than this one; `None` if nothing changes.
pub(in crate::gateway::format) fn own(
    request: &ChatRequest,
    provider: &str,
    notes: &Notes,
) -> Result<Option<ChatRequest>> {
    let has_foreign = request.history.iter().any(|item| match item {
        HistoryItem::Message(_) => item.assistant().is_some_and(|it| is_foreign(it, provider)),
        HistoryItem::Turn(turn) => is_foreign_round(turn, provider),
    });
    if !has_foreign {
        return Ok(None);
    }
    // What the client calls it.
    let name = match request.native.as_ref().map(|native| native.format) {
        Some(Format::Anthropic) => "messages[].content[].thinking",
        Some(_) => "input[].encrypted_content",
        None => "messages[].reasoning_content",
    };
    let mut request = request.clone();
    for item in &mut request.history {
        if let HistoryItem::Turn(turn) = item {
            if is_foreign_round(turn, provider) && leave_out(turn)? {
                notes.drop_member(name);
            }
        } else if let Some(assistant) = item.assistant_mut()
            && is_foreign(assistant, provider)
        {
            assistant.state = ProviderState::default();
            assistant.extra_content = Default::default();
            notes.drop_member(name);
        }
    }
    Ok(Some(request))
}

fn is_foreign(assistant: &Assistant, provider: &str) -> bool {
    let from = &assistant.state.from;
    !from.is_empty() && from != provider
}

/// Whether a round of another provider has what that provider alone understands. Signatures of Anthropic and Gemini are checked where
/// they are used: their models are at several providers.
fn is_foreign_round(turn: &Turn, provider: &str) -> bool {
    let has_reasoning = match turn.format {
        Format::OpenAi | Format::OpenAiCompatible | Format::WorkersAi | Format::Responses => true,
        Format::Anthropic | Format::Gemini => false,
    };
    has_reasoning && !turn.provider.is_empty() && turn.provider != provider
}

/// Makes a round of another provider one that any can get. Returns whether it loses reasoning.
fn leave_out(turn: &mut Turn) -> Result<bool> {
    turn.native.clear();
    let Value::Object(mut message) = parse(&turn.message, "messages")? else { return Ok(false) };
    let before = message.len();
    message.retain(|name, _| name != "extra_content" && !REASONING.contains(&name));
    let is_changed = message.len() < before;
    turn.message = Value::Object(message).text();
    Ok(is_changed)
}
