//! A small map with string keys, for tokens, secrets and requests for input; and what a client sends in such maps.

use std::ops::Deref;

use crate::secret::Secret;

/// Values by name, in insertion order.
///
/// A list instead of a map, because every `BTreeMap` type adds code to the Worker. `insert` does not search for
/// the name, so many values cost no more per value than a few.
#[derive(Debug, Clone, PartialEq)]
pub struct Named<T>(Vec<(String, T)>);

impl<T> Named<T> {
    /// Adds a value. If a name is repeated, the last value counts.
    pub fn insert(&mut self, name: String, value: T) {
        self.0.push((name, value));
    }

    /// The value of a name.
    pub fn get(&self, name: &str) -> Option<&T> {
        self.0.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value)
    }
}

impl<T> Deref for Named<T> {
    type Target = [(String, T)];

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<T> Default for Named<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> FromIterator<(String, T)> for Named<T> {
    fn from_iter<I: IntoIterator<Item = (String, T)>>(values: I) -> Self {
        Self(values.into_iter().collect())
    }
}

impl<T, const N: usize> From<[(String, T); N]> for Named<T> {
    fn from(values: [(String, T); N]) -> Self {
        Self(values.into())
    }
}

impl<T> IntoIterator for Named<T> {
    type Item = (String, T);
    type IntoIter = std::vec::IntoIter<(String, T)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

/// What a client sends with a call (OXP `CallToolRequest.context`).
#[derive(Debug, Default)]
pub struct Credentials {
    /// The user on whose behalf the call is made.
    pub user_id: Option<String>,
    /// Tokens by authorization provider.
    pub tokens: Named<Secret>,
    /// Secrets by name.
    pub secrets: Named<Secret>,
}
