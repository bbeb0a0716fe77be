//! A cache of verified tokens: a client sends the same token with every call, and verifying it takes
//! longer than the rest of the call.

use std::sync::{Mutex, MutexGuard, PoisonError};

use subtle::ConstantTimeEq;

use super::claims::Verified;

/// How many tokens are cached. The signature of a token determines its slot.
const SLOTS: usize = 64;

/// A token that was verified.
struct CachedToken {
    text: String,
    verified: Verified,
    /// The second at which it has expired.
    expires: u64,
    /// When the issuer's keys that verified it were fetched, in milliseconds; `None` if the secret
    /// verified it, which does not change while an instance lives.
    keys_ms: Option<u64>,
}

/// Shared by all requests of an instance.
pub(super) struct TokenCache(Mutex<Vec<Option<CachedToken>>>);

impl TokenCache {
    pub(super) fn new() -> Self {
        Self(Mutex::new((0..SLOTS).map(|_| None).collect()))
    }

    fn tokens(&self) -> MutexGuard<'_, Vec<Option<CachedToken>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a token says that is cached and valid at the second `now`. A token that an
    /// issuer's keys have verified is valid only while they are fresh: `keys_ms` is when the fresh keys
    /// were fetched. Takes the same time however much of a cached token a caller has guessed.
    pub(super) fn verified(&self, token: &str, now: u64, keys_ms: Option<u64>) -> Option<Verified> {
        let tokens = self.tokens();
        let known = tokens.get(slot(token))?.as_ref()?;
        let is_valid = now < known.expires && (known.keys_ms.is_none() || known.keys_ms == keys_ms);
        (is_equal(known.text.as_bytes(), token.as_bytes()) && is_valid)
            .then(|| known.verified.clone())
    }

    /// Caches a verified token, in place of the one in its slot.
    pub(super) fn insert(
        &self,
        token: &str,
        verified: &Verified,
        expires: u64,
        keys_ms: Option<u64>,
    ) {
        let verified = verified.clone();
        let cached = CachedToken { text: token.to_owned(), verified, expires, keys_ms };
        if let Some(slot) = self.tokens().get_mut(slot(token)) {
            *slot = Some(cached);
        }
    }
}

/// Shows no token.
impl std::fmt::Debug for TokenCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TokenCache")
    }
}

/// Whether two tokens are equal, compared eight bytes at a time. Takes the same time wherever they differ.
fn is_equal(known: &[u8], token: &[u8]) -> bool {
    let ((words, rest), (others, other_rest)) = (known.as_chunks(), token.as_chunks());
    let mut same = words.len().ct_eq(&others.len()) & rest.ct_eq(other_rest);
    for (word, other) in words.iter().zip(others) {
        same &= u64::from_le_bytes(*word).ct_eq(&u64::from_le_bytes(*other));
    }
    same.into()
}

/// Hashes the end of the signature, which no caller can choose. Its last character has fewer bits.
fn slot(token: &str) -> usize {
    let last = token.bytes().rev().skip(1).take(4);
    last.fold(0, |slot, byte| (slot * 31 + usize::from(byte)) % SLOTS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_that_differ_anywhere_are_not_equal() {
        for length in 0..=25 {
            let token = vec![b'a'; length];
            assert!(is_equal(&token, &token), "{length}");
            for at in 0..length {
                let mut other = token.clone();
                other[at] ^= 1;
                assert!(!is_equal(&token, &other) && !is_equal(&other, &token), "{length} {at}");
                assert!(
                    !is_equal(&token, &token[..at]) && !is_equal(&token[..at], &token),
                    "{length} {at}"
                );
            }
        }
    }
}
