//! `STATE_KEY`, and the previous key while it is being replaced.

use std::iter;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::sealed_token::{InvalidToken, StateKey, TokenPurpose, claims};
use crate::json;
use crate::settings::StateKeySettings;

/// The keys of tokens and hashes. The current one makes them; both are accepted.
#[derive(Debug, Clone)]
pub struct StateKeys {
    current: StateKey,
    previous: Option<StateKey>,
}

/// A hash by the current key, and by the previous one if there is one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hashes {
    /// By the current key.
    pub current: String,
    /// By the previous key.
    pub previous: Option<String>,
}

impl Hashes {
    /// Both, the current one first.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        iter::once(&*self.current).chain(self.previous.as_deref())
    }
}

impl StateKeys {
    /// The keys of the settings.
    pub fn new(settings: &StateKeySettings) -> Self {
        Self {
            current: StateKey::new(&settings.current),
            previous: settings.previous.as_ref().map(StateKey::new),
        }
    }

    /// See [`StateKey::hash`].
    pub fn hash(&self, purpose: TokenPurpose, parts: &[&str]) -> String {
        self.current.hash(purpose, parts)
    }

    /// The hashes under which something may have been stored.
    pub fn hashes(&self, purpose: TokenPurpose, parts: &[&str]) -> Hashes {
        Hashes {
            current: self.current.hash(purpose, parts),
            previous: self.previous.as_ref().map(|key| key.hash(purpose, parts)),
        }
    }

    /// The key that made this hash of the parts, compared in constant time.
    pub fn verify_hash(
        &self,
        purpose: TokenPurpose,
        parts: &[&str],
        hash: &str,
    ) -> Option<&StateKey> {
        let mut keys = iter::once(&self.current).chain(&self.previous);
        keys.find(|key| key.is_hash(purpose, parts, hash))
    }

    /// See [`StateKey::seal`].
    pub fn seal(&self, purpose: TokenPurpose, claims: &impl Serialize, expires_ms: u64) -> String {
        self.current.seal(purpose, claims, expires_ms)
    }

    /// The claims of a token that is valid at `now_ms`.
    ///
    /// # Errors
    /// See [`InvalidToken`].
    pub fn open<T: DeserializeOwned>(
        &self,
        purpose: TokenPurpose,
        token: &str,
        now_ms: u64,
    ) -> Result<T, InvalidToken> {
        let (claims, expires_ms) = self.read(purpose, token)?;
        if now_ms < expires_ms { Ok(claims) } else { Err(InvalidToken::Expired) }
    }

    /// The claims of a token, and when it expires, in milliseconds since the Unix epoch.
    ///
    /// # Errors
    /// [`InvalidToken::Forged`].
    pub fn read<T: DeserializeOwned>(
        &self,
        purpose: TokenPurpose,
        token: &str,
    ) -> Result<(T, u64), InvalidToken> {
        let text = self.open_text(purpose, token).ok_or(InvalidToken::Forged)?;
        let (claims, expires_ms) = claims(&text).ok_or(InvalidToken::Forged)?;
        let claims = json::read_value(&claims).ok_or(InvalidToken::Forged)?;
        Ok((claims, expires_ms))
    }

    // Not generic, because there are many types of claims.
    fn open_text(&self, purpose: TokenPurpose, token: &str) -> Option<Vec<u8>> {
        let mut keys = iter::once(&self.current).chain(&self.previous);
        keys.find_map(|key| key.open(purpose, token))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::secret::Secret;

    const BROWSER: TokenPurpose = TokenPurpose::new("browser");
    const STATE: TokenPurpose = TokenPurpose::new("state");

    const OLD: &str = "0123456789abcdef0123456789abcdef";
    const NEW: &str = "fedcba9876543210fedcba9876543210";

    fn keys(current: &str, previous: &str) -> StateKeys {
        let secret = |text: &str| Secret::new(text.to_owned());
        let previous = Some(secret(previous)).filter(|it| !it.expose().is_empty());
        StateKeys::new(&StateKeySettings { current: secret(current), previous })
    }

    #[test]
    fn the_current_key_makes_and_both_are_accepted() {
        let (old, both, new) = (keys(OLD, ""), keys(NEW, OLD), keys(NEW, ""));
        let token = |keys: &StateKeys| keys.seal(STATE, &"claim", 10_000);
        let open = |keys: &StateKeys, token: &str| keys.open::<String>(STATE, token, 9_999);
        for (keys, token, opens) in [
            (&both, token(&old), true),
            (&both, token(&new), true),
            (&new, token(&both), true),
            (&old, token(&both), false),
            (&new, token(&old), false),
        ] {
            assert_eq!(open(keys, &token).is_ok(), opens, "{token}");
        }
        let expired = both.open::<String>(STATE, &token(&old), 10_000);
        assert_eq!(expired, Err(InvalidToken::Expired));
        let expired = both.open::<String>(STATE, &token(&both), 10_000);
        assert_eq!(expired, Err(InvalidToken::Expired));
        let hash = |keys: &StateKeys| keys.hash(BROWSER, &["a"]);
        assert_eq!(hash(&both), hash(&new));
        assert!(both.verify_hash(BROWSER, &["a"], &hash(&old)).is_some());
        assert!(both.verify_hash(BROWSER, &["b"], &hash(&old)).is_none());
        assert!(new.verify_hash(BROWSER, &["a"], &hash(&old)).is_none());
        let hashes = both.hashes(BROWSER, &["a"]);
        assert_eq!(hashes.iter().collect::<Vec<_>>(), [&*hash(&new), &*hash(&old)]);
    }
}
