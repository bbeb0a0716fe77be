//! A map whose values expire.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Values that an instance remembers for a while, each under a key. Shared by all its requests.
///
/// A vector of key, value and end: there are a few thousand at most, each insertion looks at all of them to drop those that
/// have expired, and a map would link more code.
#[derive(Debug)]
pub struct ExpiringMap<T> {
    entries: Mutex<Vec<(String, T, u64)>>,
    most: usize,
}

impl<T: Clone> ExpiringMap<T> {
    /// A map of at most so many values. Callers could cause more, with users, clients and proofs that they make up.
    pub fn new(most: usize) -> Self {
        Self { entries: Mutex::default(), most }
    }

    fn entries(&self) -> MutexGuard<'_, Vec<(String, T, u64)>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers a value from `now_ms` on, for `life_ms`. Returns whether there was none under this key.
    pub fn insert(&self, key: &str, value: T, now_ms: u64, life_ms: u64) -> bool {
        let mut entries = self.entries();
        entries.retain(|(.., end_ms)| now_ms < *end_ms);
        let valid = entries.len();
        entries.retain(|(known, ..)| known != key);
        let is_new = entries.len() == valid;
        // The oldest makes room.
        if entries.len() >= self.most {
            entries.remove(0);
        }
        entries.push((key.to_owned(), value, now_ms.saturating_add(life_ms)));
        is_new
    }

    /// The value under a key, if its time is not over.
    pub fn get(&self, key: &str, now_ms: u64) -> Option<T> {
        let entries = self.entries();
        let (_, value, end_ms) = entries.iter().find(|(known, ..)| known == key)?;
        (now_ms < *end_ms).then(|| value.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::ExpiringMap;

    #[test]
    fn values_are_kept_until_their_end_or_until_there_are_too_many() {
        let map = ExpiringMap::new(2);
        // Each: what is inserted, at which millisecond, and whether it is new.
        for (key, value, now_ms, is_new) in
            [("a", 1, 0, true), ("b", 2, 1, true), ("a", 3, 2, false), ("c", 4, 3, true)]
        {
            assert_eq!(map.insert(key, value, now_ms, 10), is_new, "{key} at {now_ms}");
        }
        for (key, now_ms, value) in [
            ("a", 11, Some(3)),
            ("a", 12, None),
            ("b", 3, None),
            ("c", 12, Some(4)),
            ("d", 3, None),
        ] {
            assert_eq!(map.get(key, now_ms), value, "{key} at {now_ms}");
        }
        assert!(map.insert("a", 5, 12, 10), "the time of the first is over");
    }
}
