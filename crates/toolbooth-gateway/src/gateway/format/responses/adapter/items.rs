//! The items of a response that arrive in parts, and which of them an event is about.

use crate::gateway::answer::builder::CallProgress;
use crate::gateway::answer::completion::{Read, UpstreamError};
use crate::wire::fields::{count, text};
use toolbooth::json::Value;

/// The most items of an answer.
const MAX_ITEMS: usize = 4096;

/// The items that have begun.
#[derive(Default)]
pub(super) struct Items(Vec<Progress>);

/// What has arrived of an item.
#[derive(Default)]
pub(super) struct Progress {
    /// Its position in the output, and its id, as the provider says. Some servers leave out either, or repeat positions.
    index: Option<u64>,
    id: Option<String>,
    /// Whether its first event has come.
    has_begun: bool,
    /// The call, if it is one.
    pub(super) call: Option<CallProgress>,
    /// Whether its text, or its arguments, have begun to arrive.
    pub(super) has_text: bool,
    pub(super) is_done: bool,
}

/// What an event says of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Moment {
    Begins,
    Grows,
    Ends,
    /// It is in the list of the complete response.
    Listed,
}

impl Items {
    /// The item that an event is about.
    pub(super) fn of_event(&mut self, event: &Value<'_>, moment: Moment) -> Read<&mut Progress> {
        let own = event.get("item").and_then(|item| text(item.get("id")));
        let id = text(event.get("item_id")).or(own);
        self.at(count(event.get("output_index")), id, moment)
    }

    /// The item with this position and this id.
    pub(super) fn at(
        &mut self,
        index: Option<u64>,
        id: Option<&str>,
        moment: Moment,
    ) -> Read<&mut Progress> {
        let at = match self.find(index, id, moment) {
            Some(at) => at,
            None if self.0.len() >= MAX_ITEMS => {
                return Err(UpstreamError::malformed("there are too many items"));
            }
            None => {
                self.0.push(Progress { index, ..Progress::default() });
                self.0.len() - 1
            }
        };
        let found = self.0.get_mut(at);
        let found = found.ok_or_else(|| UpstreamError::malformed("there are too many items"))?;
        found.has_begun |= moment == Moment::Begins;
        found.id = found.id.take().or_else(|| id.map(str::to_owned));
        Ok(found)
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Progress> {
        self.0.iter_mut()
    }

    fn find(&self, index: Option<u64>, id: Option<&str>, moment: Moment) -> Option<usize> {
        let has_id = |item: &Progress| item.id.is_some() && item.id.as_deref() == id;
        if let Some(at) = self.0.iter().rposition(has_id) {
            return Some(at);
        }
        let has_index = |item: &Progress| index.is_none() || item.index == index;
        let mut found = self.0.iter().rposition(has_index);
        if moment == Moment::Listed {
            found = found.or_else(|| self.in_order(index?));
        }
        let at = found?;
        let item = self.0.get(at)?;
        let has_other_id = id.is_some() && item.id.is_some();
        let is_other = match moment {
            Moment::Begins => item.has_begun,
            Moment::Grows | Moment::Ends => item.is_done && (has_other_id || index.is_none()),
            Moment::Listed => false,
        };
        (!is_other).then_some(at)
    }

    /// The item that was the first, the second and so on to arrive, unless it has a position of its own.
    fn in_order(&self, index: u64) -> Option<usize> {
        let at = usize::try_from(index).ok()?;
        let has_none = |item: &Progress| item.index.is_none_or(|own| own < index);
        self.0.get(at).is_some_and(has_none).then_some(at)
    }
}
