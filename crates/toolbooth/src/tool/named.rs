//! A small map with string keys, for tokens, secrets and requests for input.

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

    /// The number of added values.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the map is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All values with their names.
    pub fn iter(&self) -> std::slice::Iter<'_, (String, T)> {
        self.0.iter()
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
