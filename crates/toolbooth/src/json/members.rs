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

    /// Keeps the members of whose values this says so.
    pub(crate) fn retain(&mut self, keep: impl Fn(&Value<'t>) -> bool) {
        self.0.retain(|(_, value)| keep(value));
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

/// Sorts members by name. Says whether no two have one name; else their order is any.
fn sort(members: &mut Vec<Member<'_>>) -> bool {
    if members.len() > FEW {
        if !ascend(members) {
            heap(members);
            return ascend(members);
        }
        return true;
    }
    for end in 1..members.len() {
        let Some(((name, _), before)) = members.get(..=end).and_then(<[_]>::split_last) else {
            break;
        };
        match before.binary_search_by(|(known, _)| order(known, name)) {
            Ok(_) => return false,
            Err(place) if place < end => {
                let member = members.remove(end);
                members.insert(place, member);
            }
            Err(_) => {}
        }
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

/// Heapsort: n log n steps whatever a stranger sends, and a fraction of the code of `sort_unstable`.
fn heap(members: &mut [Member<'_>]) {
    for top in (0..members.len() / 2).rev() {
        sink(members, top);
    }
    for end in (1..members.len()).rev() {
        members.swap(0, end);
        sink(members.get_mut(..end).unwrap_or_default(), 0);
    }
}

/// Lets the member at `at` sink below those whose names come after its own: each place `n` of a heap
/// stands above `2n + 1` and `2n + 2`.
fn sink(members: &mut [Member<'_>], mut at: usize) {
    let before = |members: &[Member<'_>], a: usize, b: usize| {
        let pair = members.get(a).zip(members.get(b));
        pair.is_some_and(|((a, _), (b, _))| order(a, b).is_lt())
    };
    loop {
        let mut below = 2 * at + 1;
        if before(members, below, below + 1) {
            below += 1;
        }
        if !before(members, at, below) {
            return;
        }
        members.swap(at, below);
        at = below;
    }
}
