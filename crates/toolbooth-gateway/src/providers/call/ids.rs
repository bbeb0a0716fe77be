//! Ids that pair calls with their results.

use std::borrow::Cow;

use super::CallHandle;
use crate::wire::ToolCall;

/// The longest generated id: the smallest limit of a provider (OpenAI Responses, `call_id`).
const MAX_LENGTH: usize = 64;

/// Gives every call a handle. Ids that the model sent are kept. Generated ones have the form
/// `call_{timestamp}_{name}` (2api.ai, 3.2), with a numeric suffix if that id is taken.
pub(super) fn assign<'t>(calls: &mut [ToolCall<'t>], now_ms: u64) -> Vec<CallHandle<'t>> {
    let sent: Vec<_> = calls.iter_mut().map(|call| std::mem::take(&mut call.id)).collect();
    let mut taken = sent.clone();
    let handle = |(call, sent): (&mut ToolCall<'t>, Cow<'t, str>)| {
        let id_sent = !sent.is_empty();
        let id = if id_sent {
            sent
        } else {
            let id: Cow<'t, str> = generate(&call.name, now_ms, &taken).into();
            taken.push(id.clone());
            id
        };
        CallHandle { id, id_sent, name: call.name.clone() }
    };
    calls.iter_mut().zip(sent).map(handle).collect()
}

fn generate(name: &str, now_ms: u64, taken: &[Cow<'_, str>]) -> String {
    let sanitize = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    // All characters are ASCII, so `truncate` cannot split one.
    let mut id = format!("call_{now_ms}_");
    id.extend(name.chars().map(sanitize).take(MAX_LENGTH));
    id.truncate(MAX_LENGTH);
    let mut unique = id.clone();
    let mut number = 1_usize;
    while taken.iter().any(|known| *known == unique) {
        number += 1;
        let suffix = format!("_{number}");
        unique.clone_from(&id);
        unique.truncate(MAX_LENGTH.saturating_sub(suffix.len()));
        unique.push_str(&suffix);
    }
    unique
}

/// What the client should know about the ids.
pub(super) fn warnings(handles: &[CallHandle<'_>], pairs_by_id: bool) -> Vec<String> {
    let mut warnings = Vec::new();
    if pairs_by_id && handles.iter().any(|handle| !handle.id_sent) {
        warnings.push(
            "Some calls had no id. Their results have generated ids; add these to the calls before \
             you send both to the model"
                .to_owned(),
        );
    }
    // A request has too few calls for a faster search to pay off.
    let is_repeated = |(at, one): (usize, &CallHandle<'_>)| {
        handles.iter().skip(at + 1).any(|other| other.id == one.id)
    };
    if handles.iter().enumerate().any(is_repeated) {
        warnings.push(
            "Several calls have the same id. Each has a result, in the order of the calls"
                .to_owned(),
        );
    }
    warnings
}
