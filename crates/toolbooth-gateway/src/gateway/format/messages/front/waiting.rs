//! Parts of an answer that wait until a call is complete, because blocks come one after the other.

use crate::gateway::answer::stream::Delta;
use toolbooth::json::{Value, to_string};

/// The memory that a part takes, apart from its text.
const PART: usize = 64;

/// The parts in their order. The arguments of each call are joined, and follow it at once.
#[derive(Default)]
pub(super) struct Waiting {
    parts: Vec<Delta>,
    /// The position of each call among the calls, in which they come, and where its arguments are.
    arguments: Vec<(usize, usize)>,
    bytes: usize,
}

impl Waiting {
    pub(super) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// About how much memory the parts take.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn into_parts(self) -> Vec<Delta> {
        self.parts
    }

    pub(super) fn add(&mut self, part: &Delta) {
        self.bytes += match part {
            Delta::Text(text) | Delta::Refusal(text) | Delta::Reasoning(text) => PART + text.len(),
            Delta::Arguments { fragment, .. } => fragment.len(),
            Delta::Call { id, name, extra_content, .. } => {
                2 * PART + id.len() + name.len() + extra_content.as_ref().map_or(0, length)
            }
            Delta::Thinking(block) | Delta::Block(block) | Delta::Citation(block) => {
                PART + length(block)
            }
            _ => PART,
        };
        if let Delta::Arguments { index, fragment, .. } = part {
            let found = self.arguments.binary_search_by_key(index, |(call, _)| *call).ok();
            let place = found.and_then(|found| self.arguments.get(found));
            let known = place.and_then(|(_, at)| self.parts.get_mut(*at));
            // Those of a call that has been written can have no further part.
            if let Some(Delta::Arguments { fragment: known, .. }) = known {
                known.push_str(fragment);
            }
            return;
        }
        self.parts.push(part.clone());
        if let Delta::Call { index, custom, .. } = part {
            self.arguments.push((*index, self.parts.len()));
            let (index, custom, fragment) = (*index, *custom, String::new());
            self.parts.push(Delta::Arguments { index, custom, fragment });
        }
    }
}

/// The length of a value in JSON.
fn length(value: &Value<'_>) -> usize {
    to_string(value).len()
}
