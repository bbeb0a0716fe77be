//! Notes on a request: the members that it loses, and what is done differently than the client asked for.

use std::cell::RefCell;

use serde::Serialize;
use serde_json::value::RawValue;

use crate::gateway::answer::builder::MAX_WARNINGS;
use toolbooth::schema::text::excerpt;

/// The longest value of a header with warnings, in bytes.
const MAX_HEADER: usize = 1024;

/// The members that a request loses, and warnings about everything that is done differently than the client asked for. Each
/// translation repeats them.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Notes {
    #[serde(skip_serializing_if = "is_empty")]
    warnings: RefCell<Vec<String>>,
    /// The members that a provider does not get, sorted.
    #[serde(skip_serializing_if = "is_empty")]
    dropped: RefCell<Vec<String>>,
}

fn is_empty(list: &RefCell<Vec<String>>) -> bool {
    list.borrow().is_empty()
}

impl Notes {
    /// The provider does not get the member at `path`. Positions become `[]`, so that a long conversation has a short
    /// list.
    pub(super) fn drop_member(&self, path: &str) {
        let mut name = String::with_capacity(path.len());
        let mut inside = false;
        for character in path.chars() {
            inside &= character != ']';
            if !inside {
                name.push(character);
            }
            inside |= character == '[';
        }
        self.drop_name(name);
    }

    fn drop_name(&self, name: String) {
        let mut dropped = self.dropped.borrow_mut();
        // A request can have very many.
        if let Err(at) = dropped.binary_search(&name)
            && dropped.len() < MAX_WARNINGS
        {
            dropped.insert(at, name);
        }
    }

    /// The provider gets the member after all.
    pub(super) fn keep_member(&self, name: &str) {
        self.dropped.borrow_mut().retain(|dropped| dropped != name);
    }

    /// No provider gets the members of a request that are in none of these lists.
    pub(super) fn drop_unknown(&self, members: &[(String, &RawValue)], known: &[&[&str]]) {
        let is_known = |name: &str| known.iter().any(|list| list.contains(&name));
        for (name, _) in members.iter().filter(|(name, _)| !is_known(name)) {
            let name = excerpt(name);
            self.drop_member(&name);
            self.warn(format!(
                "{name}: the gateway does not know this member, so no provider gets it"
            ));
        }
    }

    /// Adds other notes. `names` are members, and what the client calls them.
    pub(super) fn add(&self, others: &Self, names: &[(&str, &str)]) {
        others.dropped.borrow().iter().for_each(|name| self.drop_name(renamed(name, names)));
        others.warnings.borrow().iter().for_each(|warning| self.warn(warning.as_str()));
    }

    /// All of them as the value of a header, if there are any; of those for which it has no room, or no characters, the number.
    pub(super) fn header(&self) -> Option<String> {
        let (warnings, dropped) = (self.warnings.borrow(), self.dropped.borrow());
        let dropped = dropped.iter().map(|name| format!("{name} is dropped"));
        let all: Vec<_> = warnings.iter().cloned().chain(dropped).collect();
        let mut value = String::new();
        let mut left_out = 0;
        for note in &all {
            let is_plain = note.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic());
            if !is_plain || value.len() + note.len() > MAX_HEADER {
                left_out += 1;
                continue;
            }
            value.push_str(if value.is_empty() { "" } else { "; " });
            value.push_str(note);
        }
        if left_out > 0 {
            value.push_str(if value.is_empty() { "" } else { "; " });
            value.push_str(&format!("and {left_out} more"));
        }
        (!value.is_empty()).then_some(value)
    }

    pub(super) fn warn(&self, warning: impl Into<String>) {
        let (mut warnings, warning) = (self.warnings.borrow_mut(), warning.into());
        if warnings.len() < MAX_WARNINGS && !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }
}

/// A path whose first members may have other names.
pub(super) fn renamed(path: &str, names: &[(&str, &str)]) -> String {
    let own = names.iter().find_map(|(from, to)| {
        let rest = path.strip_prefix(from)?;
        (rest.is_empty() || rest.starts_with(['.', '['])).then(|| format!("{to}{rest}"))
    });
    own.unwrap_or_else(|| path.to_owned())
}
