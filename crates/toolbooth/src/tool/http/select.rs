//! Selects a part of a JSON document.

use super::{Segment, Select, Selector};
use crate::json::{MAX_VALUES, Value};

impl Select {
    /// The part of `root`: the value itself or `null` if the path selects one value at most, otherwise the list of
    /// all selected values. `None` if they are more than [`MAX_VALUES`] in total.
    pub(super) fn of<'t>(&self, root: &Value<'t>) -> Option<Value<'t>> {
        let mut selected = vec![root];
        for segment in self.segments {
            selected = segment.of(&selected)?;
        }
        // Nested values may be selected several times.
        let mut left = MAX_VALUES;
        selected.iter().all(|value| take(value, &mut left)).then_some(())?;
        Some(match self.is_singular {
            true => selected.first().map_or(Value::Null, |value| (*value).clone()),
            false => Value::Array(selected.into_iter().cloned().collect()),
        })
    }
}

impl Segment {
    fn of<'v, 't>(&self, values: &[&'v Value<'t>]) -> Option<Vec<&'v Value<'t>>> {
        let mut selected = Vec::new();
        for value in values {
            self.add(value, &mut selected);
            if selected.len() > MAX_VALUES {
                return None;
            }
        }
        Some(selected)
    }

    /// Adds what the selectors select from a value and, if the segment descends, from everything below it. The depth
    /// of a document is bounded, and the build allows one such segment in a path.
    fn add<'v, 't>(&self, value: &'v Value<'t>, selected: &mut Vec<&'v Value<'t>>) {
        for selector in self.selectors {
            selector.add(value, selected);
        }
        if self.descends {
            children(value, &mut |child| self.add(child, selected));
        }
    }
}

impl Selector {
    fn add<'v, 't>(&self, value: &'v Value<'t>, selected: &mut Vec<&'v Value<'t>>) {
        let items = value.as_array().unwrap_or_default();
        match *self {
            Self::Name(name) => selected.extend(value.get(name)),
            Self::Wildcard => children(value, &mut |child| selected.push(child)),
            Self::Index(index) => {
                let at = usize::try_from(from_end(index, items.len()));
                selected.extend(at.ok().and_then(|at| items.get(at)));
            }
            Self::Slice { start, end, step } => {
                selected
                    .extend(slice(items.len(), start, end, step).filter_map(|at| items.get(at)));
            }
        }
    }
}

fn children<'v, 't>(value: &'v Value<'t>, each: &mut dyn FnMut(&'v Value<'t>)) {
    match value {
        Value::Array(items) => items.iter().for_each(each),
        Value::Object(members) => members.iter().for_each(|(_, member)| each(member)),
        _ => {}
    }
}

/// An index that counts from the end if it is negative.
fn from_end(index: i64, length: usize) -> i64 {
    let length = i64::try_from(length).unwrap_or(i64::MAX);
    if index < 0 { index.saturating_add(length) } else { index }
}

/// The indices of a slice (RFC 9535, 2.3.4.2.2).
fn slice(
    length: usize,
    start: Option<i64>,
    end: Option<i64>,
    step: i64,
) -> impl Iterator<Item = usize> {
    let last = i64::try_from(length).unwrap_or(i64::MAX);
    let (first, lowest, highest) = if step < 0 { (last - 1, -1, last - 1) } else { (0, 0, last) };
    let start = start.map_or(first, |index| from_end(index, length).clamp(lowest, highest));
    let end = match end {
        Some(index) => from_end(index, length).clamp(lowest, highest),
        None if step < 0 => -1,
        None => last,
    };
    let is_within = move |at: &i64| (step > 0 && *at < end) || (step < 0 && *at > end);
    let indices = std::iter::successors(Some(start), move |at| at.checked_add(step));
    indices.take_while(is_within).filter_map(|at| usize::try_from(at).ok())
}

/// Takes a value and all within it from what is left; false if that is too little.
fn take(value: &Value<'_>, left: &mut usize) -> bool {
    let Some(fewer) = left.checked_sub(1) else { return false };
    *left = fewer;
    match value {
        Value::Array(items) => items.iter().all(|item| take(item, left)),
        Value::Object(members) => members.iter().all(|(_, member)| take(member, left)),
        _ => true,
    }
}
