//! `STATE_KEY`, and the key before it for as long as it is being replaced.

use std::iter;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::token::{InvalidToken, StateKey, TokenPurpose};
use crate::host::Variables;

/// The keys of tokens and hashes. The current one makes them, both are accepted.
#[derive(Debug, Clone)]
pub(super) struct StateKeys {
    current: StateKey,
    previous: Option<StateKey>,
}

/// The hash by the current key, and by the previous one if there is one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hashes {
    pub(super) current: String,
    pub(super) previous: Option<String>,
}

impl Hashes {
    /// Both, the current one first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        iter::once(&*self.current).chain(self.previous.as_deref())
    }
}

impl StateKeys {
    /// Reads `STATE_KEY` and `STATE_KEY_PREVIOUS`, which need not be set. What is wrong goes to
    /// `problem` with the name of the variable.
    pub(super) fn read(
        source: &dyn Variables,
        problem: &mut dyn FnMut(&str, &str),
    ) -> Option<Self> {
        const CURRENT: &str = "STATE_KEY";
        const PREVIOUS: &str = "STATE_KEY_PREVIOUS";
        let secret = source.variable(CURRENT).unwrap_or_default();
        let old = source.variable(PREVIOUS).filter(|old| !old.is_empty());
        let mut parse = |name: &str, secret: &str| {
            StateKey::parse(secret).inspect_err(|wanted| problem(name, wanted)).ok()
        };
        let current = parse(CURRENT, &secret)?;
        let previous = match old {
            None => None,
            Some(old) if old == secret => {
                problem(PREVIOUS, "must be another than STATE_KEY, or not be set");
                return None;
            }
            Some(old) => Some(parse(PREVIOUS, &old)?),
        };
        Some(Self { current, previous })
    }

    /// See [`StateKey::hash`].
    pub(super) fn hash(&self, purpose: TokenPurpose, parts: &[&str]) -> String {
        self.current.hash(purpose, parts)
    }

    /// The hashes under which something may have been stored.
    pub(super) fn hashes(&self, purpose: TokenPurpose, parts: &[&str]) -> Hashes {
        Hashes {
            current: self.current.hash(purpose, parts),
            previous: self.previous.as_ref().map(|key| key.hash(purpose, parts)),
        }
    }

    /// The key that made a hash of the parts, compared in constant time.
    pub(super) fn maker(
        &self,
        purpose: TokenPurpose,
        parts: &[&str],
        hash: &str,
    ) -> Option<&StateKey> {
        let mut keys = iter::once(&self.current).chain(&self.previous);
        keys.find(|key| key.is_hash(purpose, parts, hash))
    }

    /// See [`StateKey::seal`].
    pub(super) fn seal(
        &self,
        purpose: TokenPurpose,
        claims: &impl Serialize,
        expires_ms: u64,
    ) -> String {
        self.current.seal(purpose, claims, expires_ms)
    }

    /// The claims of a token, if they still count at `now_ms`.
    ///
    /// # Errors
    /// See [`InvalidToken`].
    pub(super) fn open<T: DeserializeOwned>(
        &self,
        purpose: TokenPurpose,
        token: &str,
        now_ms: u64,
    ) -> Result<T, InvalidToken> {
        match (self.current.open(purpose, token, now_ms), &self.previous) {
            (Err(InvalidToken::Forged), Some(previous)) => previous.open(purpose, token, now_ms),
            (opened, _) => opened,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::FakeHost;

    const OLD: &str = "0123456789abcdef0123456789abcdef";
    const NEW: &str = "fedcba9876543210fedcba9876543210";

    fn keys(current: &str, previous: &str) -> Result<StateKeys, Vec<String>> {
        let host = FakeHost::with(&[("STATE_KEY", current), ("STATE_KEY_PREVIOUS", previous)]);
        let mut problems = Vec::new();
        StateKeys::read(&host, &mut |name, _| problems.push(name.to_owned())).ok_or(problems)
    }

    #[test]
    fn variables() {
        for (current, previous, wrong) in [
            (NEW, "", None),
            (NEW, OLD, None),
            ("", "", Some("STATE_KEY")),
            ("", OLD, Some("STATE_KEY")),
            ("short", OLD, Some("STATE_KEY")),
            (NEW, "short", Some("STATE_KEY_PREVIOUS")),
            (NEW, NEW, Some("STATE_KEY_PREVIOUS")),
        ] {
            let problems = keys(current, previous).err().unwrap_or_default();
            assert_eq!(problems, wrong.into_iter().collect::<Vec<_>>(), "{current} {previous}");
        }
    }

    #[test]
    fn the_current_key_makes_and_both_are_accepted() {
        let (old, both, new) =
            (keys(OLD, "").unwrap(), keys(NEW, OLD).unwrap(), keys(NEW, "").unwrap());
        let token = |keys: &StateKeys| keys.seal(TokenPurpose::State, &"claim", 10_000);
        let open =
            |keys: &StateKeys, token: &str| keys.open::<String>(TokenPurpose::State, token, 9_999);
        for (keys, token, opens) in [
            (&both, token(&old), true),
            (&both, token(&new), true),
            (&new, token(&both), true),
            (&old, token(&both), false),
            (&new, token(&old), false),
        ] {
            assert_eq!(open(keys, &token).is_ok(), opens, "{token}");
        }
        let expired = both.open::<String>(TokenPurpose::State, &token(&old), 10_000);
        assert_eq!(expired, Err(InvalidToken::Expired));
        let expired = both.open::<String>(TokenPurpose::State, &token(&both), 10_000);
        assert_eq!(expired, Err(InvalidToken::Expired));
        let hash = |keys: &StateKeys| keys.hash(TokenPurpose::Browser, &["a"]);
        assert_eq!(hash(&both), hash(&new));
        assert!(both.maker(TokenPurpose::Browser, &["a"], &hash(&old)).is_some());
        assert!(both.maker(TokenPurpose::Browser, &["b"], &hash(&old)).is_none());
        assert!(new.maker(TokenPurpose::Browser, &["a"], &hash(&old)).is_none());
        let hashes = both.hashes(TokenPurpose::Browser, &["a"]);
        assert_eq!(hashes.iter().collect::<Vec<_>>(), [&*hash(&new), &*hash(&old)]);
    }
}
