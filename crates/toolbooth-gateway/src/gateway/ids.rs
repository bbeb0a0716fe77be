//! Ids of calls: those that the gateway makes, and a form that every provider accepts.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Write;

use sha2::{Digest, Sha256};

/// The longest id that every provider accepts (OpenAI's limit).
pub(crate) const MAX_LENGTH: usize = 40;

/// Makes ids that are unique within a request and unlikely to repeat elsewhere.
#[derive(Debug, Clone)]
pub(crate) struct IdSource {
    seed: [u8; 16],
    count: u32,
    /// The ids of calls in earlier answers.
    earlier: Vec<String>,
}

impl IdSource {
    pub(crate) fn new(seed: [u8; 16]) -> Self {
        Self { seed, count: 0, earlier: Vec::new() }
    }

    /// Calls of earlier answers have these ids.
    pub(crate) fn after(self, earlier: Vec<String>) -> Self {
        Self { earlier, ..self }
    }

    /// Whether a call of an earlier answer has the id.
    pub(crate) fn is_taken(&self, id: &str) -> bool {
        self.earlier.iter().any(|known| known == id)
    }

    /// The next id: `call_`, 24 hexadecimal digits, `_` and a number.
    pub(crate) fn next_id(&mut self) -> String {
        let mut id = hexadecimal(self.seed.iter().take(12));
        let _ = write!(id, "_{}", self.count);
        self.count = self.count.wrapping_add(1);
        id
    }
}

/// Gives each call of a conversation an id that no other has. The same conversation always gets the same ids.
#[derive(Debug, Default)]
pub(crate) struct UniqueIds {
    known: BTreeSet<String>,
    /// The calls that have no result yet: the id of each, and its new one.
    open: Vec<(String, String)>,
}

impl UniqueIds {
    /// No call may get one of these.
    pub(crate) fn except<'i>(taken: impl Iterator<Item = &'i String>) -> Self {
        let mut known = BTreeSet::new();
        known.extend(taken.cloned());
        Self { known, open: Vec::new() }
    }

    /// The new id of a call, if it must have one.
    pub(crate) fn of_call(&mut self, id: &str) -> Option<String> {
        let mut new = id.to_owned();
        let mut count = 1;
        while !self.known.insert(new.clone()) {
            count += 1;
            new = digest(&format!("{id} {count}"));
        }
        self.open.push((id.to_owned(), new.clone()));
        (new != id).then_some(new)
    }

    /// The new id of the call that a result answers, if it has one.
    pub(crate) fn of_result(&mut self, id: &str) -> Option<String> {
        let at = self.open.iter().position(|(known, _)| known == id)?;
        let (_, new) = self.open.remove(at);
        (new != id).then_some(new)
    }
}

/// Whether every provider accepts the id: `[A-Za-z0-9_-]{1,40}`.
pub(crate) fn is_portable(id: &str) -> bool {
    id.len() <= MAX_LENGTH && is_plain(id)
}

/// Whether every provider accepts the characters of the id.
pub(crate) fn is_plain(id: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    !id.is_empty() && id.bytes().all(plain)
}

/// The id in a form that every provider accepts. The same id always gives the same result, so that calls and results
/// still match.
pub(crate) fn portable(id: Cow<'_, str>) -> Cow<'_, str> {
    if is_portable(&id) { id } else { digest(&id).into() }
}

/// The id in the form that Mistral insists on: nine letters and digits.
pub(crate) fn nine(id: Cow<'_, str>) -> Cow<'_, str> {
    if id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return id;
    }
    let digits = digest(&id);
    digits.chars().skip("call_".len()).take(9).collect::<String>().into()
}

/// The id, shortened like [`portable`] only if it is too long. Some providers with OpenAI's format insist on their own
/// ids, which may have other characters.
pub(crate) fn short(id: Cow<'_, str>) -> Cow<'_, str> {
    if (1..=MAX_LENGTH).contains(&id.len()) { id } else { digest(&id).into() }
}

fn digest(id: &str) -> String {
    hexadecimal(Sha256::digest(id).iter().take(16))
}

fn hexadecimal<'b>(bytes: impl Iterator<Item = &'b u8>) -> String {
    let mut text = "call_".to_owned();
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Case 18: ids survive a change of provider.
    #[test]
    fn ids_that_every_provider_accepts() {
        let mut source = IdSource::new([0xab; 16]);
        source.count = u32::MAX - 1;
        let ids = [source.next_id(), source.next_id(), source.next_id()];
        assert!(ids.iter().all(|id| is_portable(id)), "{ids:?}");
        assert_ne!(ids[0], ids[1]);
        for kept in ["a", "call_1", "toolu_01A-b", &"x".repeat(40)] {
            assert_eq!(portable(kept.into()), kept);
        }
        for mapped in ["", "é", "functions.a:0", "a b", &"x".repeat(41)] {
            let id = portable(mapped.into());
            assert!(is_portable(&id), "{id}");
            assert_eq!(id, portable(mapped.into()));
        }
        assert_ne!(portable("a.1".into()), portable("a:1".into()));
        assert_eq!(short("functions.a:0".into()), "functions.a:0");
        assert_eq!(short("x".repeat(41).into()), portable("x".repeat(41).into()));
        assert_eq!(nine("aB3456789".into()), "aB3456789");
        let other = nine("call_1".into());
        assert!(other.len() == 9 && other.bytes().all(|it| it.is_ascii_alphanumeric()), "{other}");
        assert_ne!(other, nine("call_2".into()));
    }

    #[test]
    fn ids_of_a_conversation() {
        let mut ids = UniqueIds::except(["taken".to_owned()].iter());
        assert_eq!((ids.of_call("a"), ids.of_call("b")), (None, None));
        assert_eq!((ids.of_result("b"), ids.of_result("a")), (None, None));
        let second = ids.of_call("a").unwrap();
        let third = ids.of_call("a").unwrap();
        assert!(is_portable(&second) && second != third);
        assert_eq!(ids.of_result("a"), Some(second.clone()));
        assert_eq!(ids.of_result("a"), Some(third));
        assert_eq!(ids.of_result("a"), None);
        assert!(ids.of_call("taken").is_some());
        let mut again = UniqueIds::default();
        assert_eq!((again.of_call("a"), again.of_call("a")), (None, Some(second)));
    }
}
