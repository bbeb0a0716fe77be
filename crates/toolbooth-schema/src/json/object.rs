//! Objects with their members sorted by name.

use std::borrow::Cow;

use super::Value;
use crate::text::{is_equal, order};

/// A member: name and value.
pub type Member<'t> = (Cow<'t, str>, Value<'t>);

/// The members of an object, sorted by name, each name once.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Object<'t>(Vec<Member<'t>>);

/// Up to this many members are searched one by one, which is faster than a binary search.
const FEW: usize = 12;

impl<'t> Object<'t> {
    /// The object with these members, in any order; `None` if a name is repeated.
    pub(super) fn of(mut members: Vec<Member<'t>>) -> Option<Self> {
        sort(&mut members).then_some(Self(members))
    }

    /// The value of the member `name`.
    pub fn get(&self, name: &str) -> Option<&Value<'t>> {
        self.0.get(self.find(name)?).map(|(_, value)| value)
    }

    /// Whether the object has a member `name`.
    #[inline(always)]
    pub fn contains(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// Whether it has no other members than `names`.
    pub fn has_only(&self, names: &[&str]) -> bool {
        self.0.iter().all(|(name, _)| names.contains(&&**name))
    }

    /// Removes the member `name` and returns its value.
    pub fn take(&mut self, name: &str) -> Option<Value<'t>> {
        self.find(name).map(|at| self.0.remove(at).1)
    }

    /// Adds a member, or replaces the value of one with this name. Slow for large objects: later members move.
    pub fn insert(&mut self, name: Cow<'t, str>, value: Value<'t>) {
        match self.0.binary_search_by(|(known, _)| known.cmp(&name)) {
            Ok(at) => {
                if let Some((_, known)) = self.0.get_mut(at) {
                    *known = value;
                }
            }
            Err(at) => self.0.insert(at, (name, value)),
        }
    }

    /// Keeps the members for which `keep` returns true; it may change their values.
    pub fn retain(&mut self, mut keep: impl FnMut(&str, &mut Value<'t>) -> bool) {
        self.0.retain_mut(|(name, value)| keep(name, value));
    }

    /// The members, sorted by name.
    pub fn iter(&self) -> std::slice::Iter<'_, Member<'t>> {
        self.0.iter()
    }

    /// The number of members.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether it has no members.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    #[inline(never)]
    fn find(&self, name: &str) -> Option<usize> {
        if self.0.len() > FEW {
            return self.0.binary_search_by(|(known, _)| order(known, name)).ok();
        }
        self.0.iter().position(|(known, _)| is_equal(known, name))
    }

    /// The same members, with copies of what they borrow.
    pub fn into_owned(self) -> Object<'static> {
        let owned = |(name, value): Member<'_>| (Cow::Owned(name.into_owned()), value.into_owned());
        Object(self.0.into_iter().map(owned).collect())
    }
}

impl<'t> IntoIterator for Object<'t> {
    type Item = Member<'t>;
    type IntoIter = std::vec::IntoIter<Member<'t>>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

/// From members in any order; of members with the same name, one is kept.
impl<'t, V: Into<Value<'t>>> FromIterator<(&'t str, V)> for Object<'t> {
    fn from_iter<I: IntoIterator<Item = (&'t str, V)>>(members: I) -> Self {
        let members = members.into_iter().map(|(name, value)| (Cow::Borrowed(name), value.into()));
        let mut members: Vec<_> = members.collect();
        // A map of `serde_json` is sorted, unless a dependency enables its feature `preserve_order`.
        if !sort(&mut members) {
            members.dedup_by(|(later, _), (name, _)| later == name);
        }
        Self(members)
    }
}

/// Sorts members by name, in n log n steps whatever order they come in. Returns whether each name occurs once.
fn sort(members: &mut [Member<'_>]) -> bool {
    if !is_ascending(members) {
        members.sort_unstable_by(|(one, _), (other, _)| order(one, other));
        return is_ascending(members);
    }
    true
}

/// Whether each name is greater than the one before it.
fn is_ascending(members: &[Member<'_>]) -> bool {
    let mut rest = members;
    while let [(name, _), others @ ..] = rest {
        if others.first().is_some_and(|(next, _)| order(name, next).is_ge()) {
            return false;
        }
        rest = others;
    }
    true
}
