//! Ids that pair calls with their results.

use std::borrow::Cow;

use super::Handle;
use super::turn::ToolCall;

/// The longest id that is made: the least that a provider allows (OpenAI Responses, `call_id`).
const LONGEST: usize = 64;

/// Gives every call a handle. Ids that the model sent stay as they are; those made here have the
/// form `call_{timestamp}_{name}` (2api.ai, 3.2), with a number behind where it is taken.
pub(super) fn assign<'t>(calls: &mut [ToolCall<'t>], now_ms: u64) -> Vec<Handle<'t>> {
    let sent: Vec<_> = calls.iter_mut().map(|call| call.id.take()).collect();
    let mut taken: Vec<Cow<'t, str>> = sent.iter().flatten().cloned().collect();
    let handle = |(call, sent): (&mut ToolCall<'t>, Option<Cow<'t, str>>)| {
        let id_sent = sent.is_some();
        let id = sent.unwrap_or_else(|| {
            let id: Cow<'t, str> = make(&call.name, now_ms, &taken).into();
            taken.push(id.clone());
            id
        });
        Handle { id, id_sent, name: call.name.clone() }
    };
    calls.iter_mut().zip(sent).map(handle).collect()
}

fn make(name: &str, now_ms: u64, taken: &[Cow<'_, str>]) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let mut id = format!("call_{now_ms}_");
    // Every character of it is one byte.
    id.extend(name.chars().map(plain).take(LONGEST));
    id.truncate(LONGEST);
    let mut unique = id.clone();
    let mut number = 1_usize;
    while taken.iter().any(|known| *known == unique) {
        number += 1;
        let end = format!("_{number}");
        unique.clone_from(&id);
        unique.truncate(LONGEST.saturating_sub(end.len()));
        unique.push_str(&end);
    }
    unique
}

/// What the client should know of the ids.
pub(super) fn warnings(handles: &[Handle<'_>], pairs_by_id: bool) -> Vec<String> {
    let mut warnings = Vec::new();
    if pairs_by_id && handles.iter().any(|handle| !handle.id_sent) {
        warnings.push(
            "Some calls had no id. Their results have ids that were made here; give them to the \
             calls before you send both to the model"
                .to_owned(),
        );
    }
    // There are too few of them for anything but looking at all.
    let comes_again = |(at, one): (usize, &Handle<'_>)| {
        handles.iter().skip(at + 1).any(|other| other.id == one.id)
    };
    if handles.iter().enumerate().any(comes_again) {
        warnings.push(
            "Several calls have one id. Each has a result, in the order of the calls".to_owned(),
        );
    }
    warnings
}
