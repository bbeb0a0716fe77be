//! Objects that borrow from the text that they were read from.

use std::borrow::Cow;

use super::Value;
use crate::names::{order, same};

/// A member: its name and its value.
pub type Member<'t> = (Cow<'t, str>, Value<'t>);

/// The members of an object, sorted by name. No two have one name.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Object<'t>(Vec<Member<'t>>);

/// So many members are soonest sorted by putting each in its place, and a name among them found by
/// looking at each.
const FEW: usize = 12;

impl<'t> Object<'t> {
    /// The object of these members; nothing if two of them have one name.
    pub(super) fn of(mut members: Vec<Member<'t>>) -> Option<Self> {
        sort(&mut members).then_some(Self(members))
    }

    /// The value of the member `name`.
    pub fn get(&self, name: &str) -> Option<&Value<'t>> {
        self.0.get(self.find(name)?).map(|(_, value)| value)
    }

    /// Whether there is a member `name`.
    #[inline(always)]
    pub fn contains(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// Takes the member `name` out.
    pub fn take(&mut self, name: &str) -> Option<Value<'t>> {
        self.find(name).map(|at| self.0.remove(at).1)
    }

    /// Adds a member, in the place of one of its name. For objects of a few: those behind it move.
    pub(crate) fn insert(&mut self, name: Cow<'t, str>, value: Value<'t>) {
        match self.0.binary_search_by(|(known, _)| order(known, &name)) {
            Ok(at) => {
                if let Some((_, known)) = self.0.get_mut(at) {
                    *known = value;
                }
            }
            Err(at) => self.0.insert(at, (name, value)),
        }
    }

    /// Keeps the members of which this says so. It may change their values.
    pub(crate) fn retain(&mut self, mut keep: impl FnMut(&str, &mut Value<'t>) -> bool) {
        self.0.retain_mut(|(name, value)| keep(name, value));
    }

    /// The members, sorted by name.
    pub fn iter(&self) -> std::slice::Iter<'_, Member<'t>> {
        self.0.iter()
    }

    /// How many members there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    #[inline(never)]
    fn find(&self, name: &str) -> Option<usize> {
        if self.0.len() > FEW {
            return self.0.binary_search_by(|(known, _)| order(known, name)).ok();
        }
        self.0.iter().position(|(known, _)| same(known, name))
    }

    /// The same members on their own.
    pub(crate) fn into_owned(self) -> Object<'static> {
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

impl<'t> From<&'t serde_json::Map<String, serde_json::Value>> for Object<'t> {
    fn from(members: &'t serde_json::Map<String, serde_json::Value>) -> Self {
        // They stand sorted by name there too: a test says so.
        let mut all = Vec::with_capacity(members.len());
        for (name, value) in members {
            all.push((Cow::Borrowed(name.as_str()), value.into()));
        }
        Self(all)
    }
}

/// Sorts members by name, in n log n steps whatever a stranger sends. Says whether no two have one
/// name; else their order is any.
fn sort(members: &mut [Member<'_>]) -> bool {
    if !ascend(members) {
        members.sort_unstable_by(|(one, _), (other, _)| order(one, other));
        return ascend(members);
    }
    true
}

/// Whether each name comes after the one before it.
fn ascend(members: &[Member<'_>]) -> bool {
    let mut rest = members;
    while let [(name, _), others @ ..] = rest {
        if others.first().is_some_and(|(next, _)| order(name, next).is_ge()) {
            return false;
        }
        rest = others;
    }
    true
}
