//! Tokens that were found good. A client sends the same one with every call, and to verify it again
//! takes longer than all the rest of a call.

use std::sync::{Mutex, MutexGuard, PoisonError};

use subtle::ConstantTimeEq;

use crate::principal::Principal;

/// At most so many tokens are kept, each at the place that its signature gives it.
const PLACES: usize = 64;

/// A token that was verified.
struct Token {
    text: String,
    principal: Principal,
    /// The second at which it has expired.
    expires: u64,
    /// When the issuer's keys were fetched that verified it, in milliseconds; `None` where the
    /// secret did, which does not change while an instance lives.
    keys: Option<u64>,
}

/// Shared by all requests of an instance.
pub(super) struct TokenCache(Mutex<Vec<Option<Token>>>);

impl TokenCache {
    pub(super) fn new() -> Self {
        Self(Mutex::new((0..PLACES).map(|_| None).collect()))
    }

    fn tokens(&self) -> MutexGuard<'_, Vec<Option<Token>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whose token it is, if it is known and good at the second `now`. What the issuer's keys have
    /// verified counts no longer than they are fresh: `keys` is when those were fetched that are.
    /// The time that this takes says nothing of how much of a known token somebody has guessed.
    pub(super) fn principal(&self, token: &str, now: u64, keys: Option<u64>) -> Option<Principal> {
        let tokens = self.tokens();
        let known = tokens.get(place(token))?.as_ref()?;
        let counts = now < known.expires && (known.keys.is_none() || known.keys == keys);
        (same(known.text.as_bytes(), token.as_bytes()) && counts).then(|| known.principal.clone())
    }

    /// Keeps a token that was verified, in the place of another one.
    pub(super) fn keep(&self, token: &str, principal: &Principal, expires: u64, keys: Option<u64>) {
        let good = Token { text: token.to_owned(), principal: principal.clone(), expires, keys };
        if let Some(kept) = self.tokens().get_mut(place(token)) {
            *kept = Some(good);
        }
    }
}

/// Never a token.
impl std::fmt::Debug for TokenCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Seen")
    }
}

/// Whether two tokens are one, found a word at a time. It takes as long wherever they differ.
fn same(known: &[u8], token: &[u8]) -> bool {
    let ((words, rest), (others, other_rest)) = (known.as_chunks(), token.as_chunks());
    let mut same = words.len().ct_eq(&others.len()) & rest.ct_eq(other_rest);
    for (word, other) in words.iter().zip(others) {
        same &= u64::from_le_bytes(*word).ct_eq(&u64::from_le_bytes(*other));
    }
    same.into()
}

/// The end of a token is its signature, which nobody chooses. Its last letter has fewer bits.
fn place(token: &str) -> usize {
    let last = token.bytes().rev().skip(1).take(4);
    last.fold(0, |place, byte| (place * 31 + usize::from(byte)) % PLACES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_differ_wherever_they_do() {
        for length in 0..=25 {
            let token = vec![b'a'; length];
            assert!(same(&token, &token), "{length}");
            for at in 0..length {
                let mut other = token.clone();
                other[at] ^= 1;
                assert!(!same(&token, &other) && !same(&other, &token), "{length} {at}");
                assert!(
                    !same(&token, &token[..at]) && !same(&token[..at], &token),
                    "{length} {at}"
                );
            }
        }
    }
}
